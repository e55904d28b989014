"""Modules of other worlds."""
