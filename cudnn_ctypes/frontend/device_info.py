"""Properties of a GPU by the front end's names."""

from __future__ import annotations

import functools

from ..arguments import integer
from ..graph.backend.device_properties import DeviceProperties

__all__ = ["DeviceInfo"]


class DeviceInfo:
    """A GPU of this machine, or the reference device.

    Each property is cuDNN's (``CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR``, cuDNN 9.8), read on first
    use.

    Parameters
    ----------
    ordinal : int
        The number of the GPU.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal: int = integer("ordinal", ordinal)

    @functools.cached_property
    def _properties(self) -> DeviceProperties:
        return DeviceProperties.from_device(self.ordinal)

    def _of(self, key: str) -> int:
        properties = self._properties
        return int(properties[key]) if key in properties else 0  # older cuDNNs have fewer

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Major and minor: (9, 0) for an H200."""
        return self._properties.compute_capability

    @property
    def sm_version(self) -> int:
        """The compute capability as one number: 90."""
        major, minor = self.compute_capability
        return 10 * major + minor

    @property
    def sm_count(self) -> int:
        """How many multiprocessors it has."""
        return self._of("multiProcessorCount")

    @property
    def shared_memory_per_block_optin(self) -> int:
        """Bytes of shared memory that a block may ask for."""
        return self._of("maxSharedMemoryPerBlockOptin")

    @property
    def oversized_shared_memory_per_block(self) -> int:
        """Bytes that a block gets in exchange for the level-one cache; 0 where there is no way."""
        return self._of("oversizedSharedMemoryPerBlock")

    @property
    def l2_cache_bytes(self) -> int:
        """Bytes of the level-two cache."""
        return self._of("l2CacheSize")

    @property
    def device_name(self) -> str:
        """The GPU's name: "NVIDIA H200"."""
        return self._properties.name

    def __repr__(self) -> str:
        return f"DeviceInfo(cuda:{self.ordinal})"
