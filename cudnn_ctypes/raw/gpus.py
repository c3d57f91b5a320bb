"""The GPU of a handle: each call runs on it, whichever is current.

The first handle created in a process with several GPUs wraps every C function that takes a handle
or an attribute that may be a handle. With one GPU nothing is wrapped: a call that fails in a thread
in which no GPU is current is made again. A plan or stream of another GPU than the handle's is
refused, and so is memory of another GPU, unless the handle's GPU has access to it. Plain addresses
are not checked.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import live, log
from .ctypes_support import OpaquePointer
from .dlpack import ON_CUDA
from .memory import memory_pointer

if TYPE_CHECKING:
    from .function import Binding

_BAD_PARAM = 2000  # cudnnStatus_t
_NO_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT
# CU_POINTER_ATTRIBUTE_...; its ACCESS_FLAGS do not cover peers (driver 580).
_CONTEXT, _IS_MANAGED, _MEMPOOL_HANDLE = 1, 8, 17
_DEVICE, _READ_WRITE = 1, 3  # CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_ALREADY_ENABLED = 704  # CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED


class Driver:
    """The CUDA driver's functions that this module calls."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def _call(self, name: str, *arguments: Any) -> None:
        status = self._library[name](*arguments)
        if status:
            raise OSError(status, f"{name} failed")

    def count(self) -> int:
        """Number of GPUs that this process sees."""
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def current(self) -> int | None:
        """Ordinal of the current context's GPU; None without a context."""
        ordinal = ctypes.c_int()
        try:
            self._call("cuCtxGetDevice", ctypes.byref(ordinal))
        except OSError as error:
            if error.errno == _NO_CONTEXT:
                return None
            raise
        return ordinal.value

    def context(self) -> Any:
        """The current context."""
        context = ctypes.c_void_p()
        self._call("cuCtxGetCurrent", ctypes.byref(context))
        return context

    def set(self, context: Any) -> None:
        self._call("cuCtxSetCurrent", context)

    def push(self, context: Any) -> None:
        self._call("cuCtxPushCurrent_v2", context)

    def pop(self) -> None:
        self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def accessible(self, address: int) -> bool:
        """Whether the current GPU has access to memory: its own, a peer's, or managed."""
        if self._attribute(_IS_MANAGED, ctypes.c_int(), address):
            return True
        pool = self._attribute(_MEMPOOL_HANDLE, ctypes.c_void_p(), address)
        if pool:
            location = (ctypes.c_int * 2)(_DEVICE, self.current() or 0)
            flags = ctypes.c_int()
            self._call("cuMemPoolGetAccess", ctypes.byref(flags), ctypes.c_void_p(pool), location)
            return flags.value == _READ_WRITE
        owner = self._attribute(_CONTEXT, ctypes.c_void_p(), address)
        if not owner:
            return False
        # CUDA does not tell whether peer access is enabled, but refuses to enable it twice.
        status = self._library.cuCtxEnablePeerAccess(ctypes.c_void_p(owner), 0)
        if status == 0:
            self._call("cuCtxDisablePeerAccess", ctypes.c_void_p(owner))
        return bool(status == _ALREADY_ENABLED)

    def _attribute(self, attribute: int, value: Any, address: int) -> Any:
        """A pointer attribute of an address; None for an address unknown to the driver."""
        pointer = ctypes.c_uint64(address)
        if self._library.cuPointerGetAttribute(ctypes.byref(value), attribute, pointer):
            return None
        return value.value


@functools.cache
def driver() -> Driver:
    return Driver()


_contexts: dict[int, Any] = {}
"""The context in which a GPU's handles were created, by the GPU's ordinal."""

ordinals: dict[int, int] = {}
"""The GPU's ordinal by the address of a handle, or of a backend descriptor made with one. Empty
with one GPU."""


def ordinal_of(handle: Any) -> int | None:
    """The GPU of a handle or backend descriptor; None if it is unknown or the only GPU."""
    return ordinals.get(live.address(handle) or 0) if ordinals else None


def created(argument: Any) -> None:
    """Note the GPU of a handle that ``cudnnCreate`` made."""
    address = live.address(live.out_variable(argument))
    if address is None:
        return
    ordinal = driver().current()
    if ordinal is None:
        return
    _contexts.setdefault(ordinal, driver().context())
    if driver().count() > 1:
        ordinals[address] = ordinal
        _watch()


def context_was_missing() -> bool:
    """Whether no context was current in this thread; now the one of the only GPU's handles is.

    The CUDA runtime does so by itself, but cuDNN launches many kernels through the driver. A call
    that fails for want of a context has launched nothing: the runtime would have made one current.
    """
    if ordinals or not _contexts:
        return False
    try:
        if driver().context():
            return False
        (context,) = _contexts.values()
        driver().set(context)
    except OSError:  # the context is gone
        return False
    return True


@contextmanager
def on(ordinal: int) -> Iterator[None]:
    """Make the GPU `ordinal` the current one."""
    if driver().current() == ordinal:
        yield
        return
    driver().push(_contexts[ordinal])
    try:
        yield
    finally:
        driver().pop()


def check_memory(handle: Any, operands: Iterable[tuple[object, Any]]) -> None:
    """Refuse memory on another GPU to which the handle's GPU has no access.

    - `operands`: pairs of a name, for the message, and memory.

    Raises ValueError.
    """
    ordinal = ordinal_of(handle)
    if ordinal is not None:
        check_memory_on(ordinal, operands, "the handle's")


def check_memory_on(
    ordinal: int, operands: Iterable[tuple[object, Any]], whose: str = "the current one"
) -> None:
    """Refuse memory to which the GPU `ordinal` has no access; `whose` describes that GPU.

    Raises ValueError.
    """
    for name, memory in operands:
        if reason := _elsewhere(ordinal, str(name), memory, whose):
            raise ValueError(reason)


def _elsewhere(ordinal: int, name: str, memory: Any, whose: str = "the handle's") -> str:
    there = _said_by(memory)
    if there is None or there == ordinal:
        return ""
    address = memory_pointer(memory, name)
    with on(ordinal):
        if not address or driver().accessible(address):
            return ""
    return (
        f"{name} is memory of GPU {there}, to which GPU {ordinal}, {whose}, has no access: "
        f"copy it, or enable peer access"
    )


def _said_by(thing: Any) -> int | None:
    """The GPU's ordinal that an object of memory or a stream reports; None if it reports none."""
    if thing is None or type(thing) is int:
        return None
    # A DeviceTensor, cuda.core's Buffer; a torch tensor, whose device has an index; CuPy's an id.
    device = getattr(thing, "device", None)
    for owner, attribute in (
        (thing, "device_id"),
        (device, "index"),
        (device, "id"),
        (device, "device_id"),
    ):
        ordinal = getattr(owner, attribute, None)
        if isinstance(ordinal, int):
            return ordinal
    try:
        device_type, ordinal = thing.__dlpack_device__()
    except Exception:  # an exporter's own code; what is no memory of a GPU is refused by its reader
        return None
    return int(ordinal) if device_type in ON_CUDA else None


# --- wrappers of the C functions -----------------------------------------------------------------


@functools.cache
def _watch() -> None:
    """Wrap the C functions that take handles, once."""
    from . import functions
    from .bare import bare
    from .function import binding

    for name in functions.FUNCTIONS:
        bound = binding(name)
        if _handle_position(bound) is not None or name in _WRAPPERS:
            bound.wrap(functools.partial(_WRAPPERS.get(name, _on_handles_gpu), bound))
    vars(bare).clear()  # looked up again, with the wrappers


def _handle_position(binding: Binding) -> int | None:
    for position, p in enumerate(binding.parameters):
        if p.type.kind == "value" and getattr(p.type.base, "__name__", "") == "cudnnHandle_t":
            return position
    return None


def _on_handles_gpu(binding: Binding, callee: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a C function that takes a handle: it runs on that handle's GPU."""
    handle_position = _handle_position(binding)
    assert handle_position is not None
    kinds = [
        (i, p.name, getattr(p.type.base, "__name__", "")) for i, p in enumerate(binding.parameters)
    ]
    plans = [(i, name) for i, name, kind in kinds if kind == "cudnnBackendDescriptor_t"]
    streams = [(i, name) for i, name, kind in kinds if kind == "cudaStream_t"]
    memory = [(i, p.name) for i, p in enumerate(binding.parameters) if p.type.kind == "device"]

    def refusal(ordinal: int, args: tuple[Any, ...]) -> str:
        for i, name in plans:
            if (other := ordinal_of(args[i])) not in (None, ordinal):
                return f"{name} was made for GPU {other}, the handle belongs to GPU {ordinal}"
        for i, name in streams:
            if (other := _said_by(args[i])) not in (None, ordinal):
                return f"{name} is a stream of GPU {other}, the handle belongs to GPU {ordinal}"
        for i, name in memory:
            if reason := _elsewhere(ordinal, name, args[i]):
                return reason
        return ""

    def call(*args: Any) -> Any:
        ordinal = ordinal_of(args[handle_position])
        if ordinal is None:
            return callee(*args)
        if reason := refusal(ordinal, args):
            log.put(reason, source=log.GUARD)
            return _BAD_PARAM
        with on(ordinal):
            return callee(*args)

    return call


def _destroying(binding: Binding, callee: Callable[..., Any]) -> Callable[..., Any]:
    def call(handle: Any) -> Any:
        address, ordinal = live.address(handle), ordinal_of(handle)
        if ordinal is None:
            return callee(handle)
        with on(ordinal):
            status = callee(handle)
        if not status:
            ordinals.pop(address or 0, None)
        return status

    return call


def _finalizing(binding: Binding, callee: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap finalizing: heuristics and plans load kernels on the GPU of their handle."""

    def call(descriptor: Any) -> Any:
        ordinal = ordinal_of(descriptor)
        if ordinal is None:
            return callee(descriptor)
        with on(ordinal):
            return callee(descriptor)

    return call


def _attribute(binding: Binding, callee: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap attribute calls: a descriptor belongs to the GPU of a handle or descriptor in it."""
    from .enums import cudnnBackendAttributeType_t as types

    handle, other = int(types.CUDNN_TYPE_HANDLE), int(types.CUDNN_TYPE_BACKEND_DESCRIPTOR)
    sets = binding.name == "cudnnBackendSetAttribute"

    def call(descriptor: Any, name: Any, kind: Any, count: Any, *rest: Any) -> Any:
        status = callee(descriptor, name, kind, count, *rest)
        if status or getattr(kind, "value", kind) not in (handle, other):
            return status
        address = live.address(descriptor) or 0
        items = _pointers(rest[-1], int(getattr(count, "value", count)))
        if sets:
            of_items = {ordinals[item] for item in items if item in ordinals}
            if len(of_items) == 1:
                (ordinals[address],) = of_items
        elif address in ordinals:
            ordinals.update(dict.fromkeys(items, ordinals[address]))
        return status

    return call


def _pointers(array: Any, count: int) -> list[int]:
    """The addresses in an array of handles or descriptors, of any type that C accepts."""
    if array is None:
        return []
    if isinstance(array, bytes):
        return list(memoryview(array).cast("Q"))[:count]
    array = getattr(array, "ctypes", array)  # numpy.ndarray
    array = getattr(array, "_as_parameter_", array)
    if isinstance(array, OpaquePointer):  # a variable that holds one
        return [live.address(array) or 0]
    return [item for item in ctypes.cast(array, ctypes.POINTER(ctypes.c_uint64))[:count] if item]


_WRAPPERS: dict[str, Callable[[Any, Callable[..., Any]], Callable[..., Any]]] = {
    "cudnnDestroy": _destroying,
    "cudnnBackendDestroyDescriptor": _destroying,
    "cudnnBackendFinalize": _finalizing,
    "cudnnBackendSetAttribute": _attribute,
    "cudnnBackendGetAttribute": _attribute,
}
