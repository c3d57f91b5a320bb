"""Capabilities of NVIDIA's own kernels, which are not here."""

from __future__ import annotations

__all__ = ["sdpa_capabilities"]


def sdpa_capabilities() -> frozenset[str]:
    """Features that the front end's own attention kernels add to cuDNN's: none here."""
    return frozenset()
