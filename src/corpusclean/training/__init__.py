"""Training: what a launcher is told, in which order it reads, and the way back to documents."""

from corpusclean.training.blend import blend_order
from corpusclean.training.gpt_dataset import gpt_dataset_order

__all__ = ["VERSION", "blend_order", "gpt_dataset_order"]

VERSION = "1"
