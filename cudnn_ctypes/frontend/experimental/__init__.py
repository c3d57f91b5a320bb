"""``cudnn.experimental`` of NVIDIA's Python front end."""

from __future__ import annotations

from . import ops

__all__ = ["ops"]
