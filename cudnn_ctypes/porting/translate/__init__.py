"""Translates C programs that use cuDNN, and small ones in C++, to Python.

`translate` reads the program with tree-sitter and writes Python with the same statements. It knows
C's types, so that integers divide and wrap and floats round as in C. What it does not know stays as
a comment and raises `NotTranslatedError` when it is reached.
"""

from __future__ import annotations

from .translator import Translation, translate

__all__ = ["Translation", "translate"]
