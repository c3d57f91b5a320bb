"""``python -m tools.fuzz NAME``: one of the fuzzers, by the name of its module."""

from __future__ import annotations

import importlib
import os
import sys

NAMES = (
    *("attentions", "attributes", "broadcasts", "calls", "devices", "libraries", "misuse", "nulls"),
    *("campaign", "front_ends", "numbers", "pairs", "reports", "rows", "warded"),
)

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m tools.fuzz {{{','.join(NAMES)}}} ...")
    if os.environ.get("CUDNN_CTYPES_LIBRARY"):
        # PyTorch brings a cuDNN of its own, and takes one that is loaded before it.
        importlib.import_module("cudnn_ctypes.raw").load()
    # For NumPy and PyTorch, whose threads only hinder many processes with small products.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(importlib.import_module(f"tools.fuzz.{sys.argv[1]}").main(sys.argv[2:]))
