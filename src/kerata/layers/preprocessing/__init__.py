"""Preprocessing."""
