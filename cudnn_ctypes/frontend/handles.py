"""Handles, and the handle of graphs that were given none."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .. import raw
from ..arguments import integer
from ..errors import ClosedError
from ..graph.backend.device_properties import DeviceProperties
from ..graph.run.stored_plan import KernelCache
from ..handle import Handle as Owner
from ..raw import mode
from ..runtime import current_device


class Handle:
    """A cuDNN handle, as `create_handle` makes it. Functions of layer 1 take it too.

    Parameters
    ----------
    owner : cudnn_ctypes.Handle
        The handle of layer 2 that it stands for.
    """

    def __init__(self, owner: Owner) -> None:
        if not isinstance(owner, Owner):
            raise TypeError(
                f"owner: expected a cudnn_ctypes.Handle, got {owner!r} ({type(owner).__name__}); "
                "the address of a handle of another library cannot be checked and is not taken"
            )
        self.owner = owner
        self._device: DeviceInfo | None = None

    @property
    def backend_handle(self) -> int | None:
        """The address of cuDNN's handle; None once it is destroyed."""
        return None if self.owner.closed else self.owner._as_parameter_.value

    @property
    def stream(self) -> int | None:
        """The address of its stream; None once it is destroyed."""
        return None if self.owner.closed else self.owner.stream_pointer

    @property
    def device(self) -> DeviceInfo:
        """The GPU to which it belongs."""
        if self._device is None:
            self._device = DeviceInfo(int(self.owner.device.device_id))
        return self._device

    @property
    def _as_parameter_(self) -> Any:
        return self.owner._as_parameter_

    def __repr__(self) -> str:
        address = self.backend_handle
        return f"cudnn.Handle({'destroyed' if address is None else hex(address)})"


AnyHandle = Handle | Owner | int
"""Forms of a handle; an int is the address of one that `create_handle` returned."""

# By address: what create_handle made.
_created: dict[int, Handle] = {}
# By device: the handles of graphs without one, made on first use. None of them is ever replaced.
_default: dict[tuple[bool, int], Owner] = {}


def create_handle() -> Handle:
    """A cuDNN handle on the current device; follows ``cudnnCreate``.

    Returns
    -------
    Handle
        `destroy_handle` destroys it.
    """
    handle = Handle(Owner())
    _created[handle.backend_handle or 0] = handle
    return handle


def destroy_handle(handle: AnyHandle) -> None:
    """Destroy a handle; follows ``cudnnDestroy``. One that is destroyed already stays so.

    Raises
    ------
    ValueError
        If it is an address that is not that of a handle of `create_handle`.
    """
    if isinstance(handle, Handle) and handle.backend_handle is None:
        return
    owner = as_handle(handle)
    _created.pop(owner._as_parameter_.value or 0, None)
    owner.close()


def as_handle(handle: AnyHandle) -> Owner:
    """The object behind what a program uses as a handle.

    Raises TypeError or ValueError if it is none, or is destroyed. An unknown address would crash
    cuDNN.
    """
    if isinstance(handle, Handle):
        handle = handle.owner
    if isinstance(handle, Owner):
        if handle.closed:
            raise ClosedError("this handle is destroyed")
        return handle
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise TypeError(
            f"handle: expected what create_handle() returns or a cudnn_ctypes.Handle, got "
            f"{handle!r} ({type(handle).__name__})"
        )
    if handle not in _created:
        raise ValueError(
            f"handle: {handle:#x} is no handle of create_handle(), or was destroyed; a handle of "
            "another library cannot be checked and is not taken"
        )
    return _created[handle].owner


def default_handle() -> Owner:
    """The current device's handle, on its default stream, for graphs without one."""
    key = (mode.runtime, int(current_device().device_id))
    if key not in _default or _default[key].closed:
        _default[key] = Owner()
    return _default[key]


def set_stream(handle: AnyHandle, stream: Any) -> None:
    """Have all work of a handle done on `stream`; follows ``cudnnSetStream``.

    Parameters
    ----------
    stream : int, or object with ``__cuda_stream__``
        ``torch.cuda.current_stream().cuda_stream``, for instance.
    """
    as_handle(handle).stream = stream


def get_stream(handle: AnyHandle) -> int:
    """The address of a handle's stream; follows ``cudnnGetStream``."""
    stream = raw.cudaStream_t()
    raw.cudnnGetStream(as_handle(handle), stream)
    return stream.value or 0


def backend_version() -> int:
    """The loaded cuDNN's version as one number: 91900 for 9.19.0."""
    return int(raw.cudnnGetVersion())


def backend_version_string() -> str:
    """The loaded cuDNN's version: "9.19.0"."""
    version = backend_version()
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def get_last_error_string() -> str:
    """cuDNN's message about this thread's last failure; follows ``cudnnGetLastErrorString``."""
    buffer = ctypes.create_string_buffer(4096)
    raw.cudnnGetLastErrorString(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


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


def sdpa_capabilities() -> frozenset[str]:
    """Features that the front end's own attention kernels add to cuDNN's: none here."""
    return frozenset()


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
