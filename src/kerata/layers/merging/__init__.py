"""Layers of several inputs."""
