"""Shards: where every document-copy goes, the files that hold them, and their verification."""

VERSION = "2"
