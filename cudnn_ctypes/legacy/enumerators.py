"""Enumerators by short names, as the whole package has them."""

from __future__ import annotations

from ..arguments import enumerator, short_name, shown

__all__ = ["enumerator", "short_name", "shown"]
