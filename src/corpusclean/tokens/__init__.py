"""Tokenizers, and token parts: the ids of kept documents, sorted by order key."""

VERSION = "2"
