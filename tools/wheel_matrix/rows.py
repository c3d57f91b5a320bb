"""The rows of the matrix: one environment each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CUDNN_VERSIONS", "EXTRAS", "PYTHONS", "Row", "rows_of_cudnn", "rows_of_dependencies"]

CUDNN_VERSIONS = ("9.0", "9.1", "9.5", "9.8", "9.10", "9.14", "9.19", "9.24", "9.28")
"""The versions of cuDNN that are tried: the first, those with large changes, the newest."""

PYTHONS = ("3.10", "3.13")
"""The oldest and the newest Python."""

EXTRAS = {
    "cu12": "nvidia-cudnn-cu12",
    "cu13": "nvidia-cudnn-cu13",
    "jit12": "nvidia-cudnn-jit-cu12",
    "jit13": "nvidia-cudnn-jit-cu13",
}
"""By extra of this package: the package that it takes cuDNN from."""

_FIRST_MINOR = {"cu12": 0, "cu13": 12, "jit12": 14, "jit13": 14}
_LAST_MINOR = {"jit12": 27, "jit13": 27}


@dataclass(frozen=True)
class Row:
    """One environment: a Python, an extra ("" for none), dependencies, and a version of cuDNN."""

    python: str
    extra: str
    resolution: str = "highest"
    cudnn: str = ""

    @property
    def requirement(self) -> str:
        """What pins cuDNN; empty where the extra decides."""
        return f"{EXTRAS[self.extra]}=={self.cudnn}.*" if self.cudnn else ""

    def __str__(self) -> str:
        dependencies = "lowest" if self.resolution.startswith("lowest") else "newest"
        cudnn = f", cuDNN {self.cudnn}" if self.cudnn else ""
        return f"Python {self.python}, {self.extra or 'no extra'}, {dependencies}{cudnn}"


def rows_of_dependencies(pythons: tuple[str, ...], extras: tuple[str, ...]) -> list[Row]:
    """The lowest and the newest dependencies, with each extra and with none."""
    return [
        Row(python, extra, resolution)
        for python in pythons
        for extra in ("", *extras)
        for resolution in ("lowest-direct", "highest")
    ]


def rows_of_cudnn(
    versions: tuple[str, ...], extras: tuple[str, ...], python: str = PYTHONS[0]
) -> list[Row]:
    """Each version of cuDNN from each package that has it."""
    return [
        Row(python, extra, cudnn=version)
        for version in versions
        for extra in extras
        if _FIRST_MINOR[extra] <= int(version.split(".")[1]) <= _LAST_MINOR.get(extra, 10**6)
    ]
