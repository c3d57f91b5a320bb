"""Targets of lowering: a version of cuDNN and a GPU."""

from __future__ import annotations

from typing import NamedTuple

from ... import raw
from ...runtime import cuda
from ..backend.device_properties import DeviceLike, DeviceProperties, as_device, is_absent


class Target(NamedTuple):
    """The cuDNN and the GPU that a graph is lowered for.

    - `version`: of cuDNN, as ``cudnnGetVersion`` tells it: 92800.
    - `capability`: compute capability of the GPU: 90 for an H200.
    - `by_properties`: whether the GPU is known by its properties only, and need not be there.
    - `small`: whether this build of cuDNN has no precompiled engines.
    """

    version: int
    capability: int
    by_properties: bool = False
    small: bool = False

    @property
    def beside_another(self) -> bool:
        """Whether this machine has a GPU, of another compute capability than the one meant."""
        return self.by_properties and cuda.first_capability() not in (0, self.capability)

    @classmethod
    def of(cls, device: DeviceLike) -> Target:
        """The loaded cuDNN, and the GPU that is meant.

        Raises ValueError or TypeError as in `as_device`.
        """
        meant = as_device(device)
        by_properties = is_absent(meant)
        told = meant if isinstance(meant, DeviceProperties) else meant.device
        major, minor = told.compute_capability
        library = raw.load()
        small = not library.has_precompiled_engines
        return cls(library.version, 10 * major + minor, by_properties, small)


NO_GPU = Target(0, 0)
"""The target of graphs that cuDNN does not carry out: its faults do not matter."""
