"""``python -m tools.fuzz NAME``: one of the fuzzers, by the name of its module."""

from __future__ import annotations

import importlib
import sys

NAMES = ("attributes", "calls", "libraries", "nulls", "numbers", "pairs", "rows")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m tools.fuzz {{{','.join(NAMES)}}} ...")
    sys.exit(importlib.import_module(f"tools.fuzz.{sys.argv[1]}").main(sys.argv[2:]))
