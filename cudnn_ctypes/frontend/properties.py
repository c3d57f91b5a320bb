"""Device properties and kernel caches by the front end's names."""

from __future__ import annotations

from ..graph.backend.device_properties import DeviceProperties
from ..graph.run.kernel_cache import KernelCache

__all__ = [
    "create_device_properties",
    "create_kernel_cache",
    "device_properties",
    "kernel_cache",
]


class device_properties(DeviceProperties):
    """The properties of a GPU, for which a graph can be built where that GPU is not."""

    def serialize(self) -> str:
        """JSON text, which `create_device_properties` takes."""
        return self.to_json()


def create_device_properties(device: int | str) -> device_properties:
    """The properties of a GPU of this machine by its number, or those in JSON text."""
    if isinstance(device, bool) or not isinstance(device, (int, str)):
        raise TypeError(
            f"expected a GPU's number or JSON text, got {device!r} ({type(device).__name__})"
        )
    if isinstance(device, str):
        return device_properties(device)
    properties = device_properties.from_device(device)
    assert isinstance(properties, device_properties)
    return properties


class kernel_cache(KernelCache):
    """Kernels that graphs of the same operations with other shapes share. cuDNN 9.4.

    Pass it to ``pygraph(kernel_cache=…, is_dynamic_shape_enabled=True)``.
    """

    def revision(self) -> int:  # type: ignore[override]
        """A number that grows with each change; cuDNN 9.27."""
        found: int = vars(KernelCache)["revision"].fget(self)
        return found

    def size(self) -> int:
        """How many kernels it holds; cuDNN 9.27."""
        return self.entry_count

    def serialize(self) -> str:
        """JSON text; a graph must have been built with the cache. cuDNN 9.10."""
        return self.to_json()

    def deserialize(self, text: str) -> None:
        """Take over the content of text that `serialize` returned.

        Raises
        ------
        ValueError
            If the text is damaged, or was made by another version of cuDNN.
        RuntimeError
            If a graph was built with this cache, or it took over another one.
        """
        if self._descriptor is not None:
            raise RuntimeError("this kernel cache is in use: take over a text with an empty one")
        other = KernelCache(text)
        self.close()
        self._descriptor = other.descriptor


def create_kernel_cache() -> kernel_cache:
    """An empty `kernel_cache`."""
    return kernel_cache()
