"""Blocks of models, described in one graph each, with what PyTorch computes for them.

``python -m tools.model_blocks`` prints for each block and GPU whether one engine takes it, or a
program of several, without a GPU; with ``--compute`` also how far the reference device is from
PyTorch's float64.
"""

from . import images, rows, transformers
from .blocks import BLOCKS, Block, described, error_of, kind, operands

__all__ = [
    "BLOCKS",
    "Block",
    "described",
    "error_of",
    "images",
    "kind",
    "operands",
    "rows",
    "transformers",
]
