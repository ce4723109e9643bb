"""Rule sets: loaded from files, checked, and applied to signals."""

VERSION = "1"
"""Raised when the same rules and signals give other decisions."""
