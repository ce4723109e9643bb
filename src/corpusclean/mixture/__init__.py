"""Mixture and budget: how many tokens to train on, and how many of each source."""

VERSION = "1"
