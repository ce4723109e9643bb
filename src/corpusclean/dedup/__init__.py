"""Exact and near duplicates: signatures, candidates, and which document is kept."""

VERSION = "1"
