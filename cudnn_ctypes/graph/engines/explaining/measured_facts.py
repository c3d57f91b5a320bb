"""Measured slow cases and their factors: the only ground on which advice says "faster".

A case is named where it is described, in `describe.variants`. A case without a row here is known to
be worth a trial, and nothing more is said of it: images stored as in C (NCHW).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FACTS", "Fact"]


@dataclass(frozen=True)
class Fact:
    """One measurement.

    Attributes
    ----------
    case : str
        The case as ``Step.known`` names it.
    least, most : float
        How many times faster the graph is without it.
    gpu, cudnn : str
        Where it was measured.
    evidence : str
        What was compared.
    """

    case: str
    least: float
    most: float
    gpu: str
    cudnn: str
    evidence: str

    def __str__(self) -> str:
        return (
            f"{self.least:g} to {self.most:g} times faster on an {self.gpu} with cuDNN "
            f"{self.cudnn} ({self.evidence})"
        )


FACTS = (
    Fact(
        "float32 scale of a norm of rows",
        2.0,
        4.5,
        "H200",
        "9.19",
        "layer and RMS norm of float16: 0.9 to 1.2 TB/s with float32 scales; with float16 scales "
        "71 us for 8192 x 8192",
    ),
)
