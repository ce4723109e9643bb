"""Benchmark items in training text: the index, the scan, and what is removed."""

VERSION = "1"
