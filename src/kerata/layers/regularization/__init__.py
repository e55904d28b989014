"""Noise and penalties."""
