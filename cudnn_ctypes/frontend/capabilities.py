"""What NVIDIA's own kernels can do, which are not here."""

from __future__ import annotations

__all__ = ["sdpa_capabilities"]


def sdpa_capabilities() -> frozenset[str]:
    """What the front end's own kernels of attention take beyond cuDNN's: nothing, without them."""
    return frozenset()
