"""Enumerators by short names, as the whole package has them."""

from __future__ import annotations

from ..enumerators import enumerator, short_name, shown

__all__ = ["enumerator", "short_name", "shown"]
