"""Kernels over text: buffers in, numbers out. Nothing here knows of documents or recipes."""
