"""The reference device: calls of the C API carried out in NumPy, on host memory.

While it is active, ``cudnnCreate`` creates made-up handles. Every C function that takes a handle is
intercepted: with a made-up handle it runs the implementation in `registry`, with a real handle
cuDNN's. A made-up handle never reaches cuDNN. Descriptors are cuDNN's own; their values are read
back from them. A function without a handle goes to cuDNN, unless it has an implementation and the
reference device is active. Functions of the backend API, whose attributes can be handles, are
watched in both modes (`takes_over`).

After deactivation and the destruction of the last made-up handle, calls go straight to cuDNN again.
Only functions that create or set descriptors with notes here are still watched.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ... import raw
from ...absent_gpu.properties import gpu_values
from ...arguments import flag
from ...raw import function as raw_function
from ...raw import live, log, mode
from ...raw.function import Function
from ...runtime.cuda import CUDA
from ...runtime.interface import Runtime
from . import backend_records, lent, made_up_handles, registry
from .host import HOST
from .made_up_handles import made_up

_BINDINGS = {name: raw_function.binding(name) for name in raw.FUNCTIONS}

# By C function, the module that carries out, follows or takes over its calls: `registry` explains
# the three. The first call imports it.
CARRIED_OUT = {name: bound.carried_out for name, bound in _BINDINGS.items() if bound.carried_out}
FOLLOWED = {name: bound.followed for name, bound in _BINDINGS.items() if bound.followed}
TAKEN_OVER = {name: bound.taken_over for name, bound in _BINDINGS.items() if bound.taken_over}
_MODULES = CARRIED_OUT | FOLLOWED | TAKEN_OVER
_REFUSED = {"cudnnBackendPopulateCudaGraph", "cudnnBackendUpdateCudaGraph"}


def native(name: str) -> Callable[..., int]:
    """cuDNN's own function `name`."""
    function: Callable[..., int] = raw_function.binding(name).native
    return function


def is_active() -> bool:
    """Whether work goes to the reference device."""
    return mode.runtime is HOST


def implemented() -> frozenset[str]:
    """C names of the functions that the reference device carries out."""
    return frozenset(CARRIED_OUT) - _REFUSED


@contextmanager
def _previous(before: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    finally:
        _set_mode(**before)


def use_reference_device(
    active: bool = True,
    *,
    device: Any = None,
    strict: bool | None = None,
    guard_pages: bool | None = None,
) -> Any:
    """Carry out everything from now on in NumPy, on host memory; False goes back to the GPU.

    Existing handles, buffers and tensors keep their device. In ``with`` it restores the previous
    mode at the end.

    Parameters
    ----------
    active : bool
        Whether to use it.
    device : str, os.PathLike, mapping or DeviceProperties, optional
        The GPU that it stands for, whose engines the graph API has: the name of a preset ("B200")
        or a file of properties. Default: unchanged; initially an H200, or the GPU in the
        environment variable (``CUDNN_CTYPES_DEVICE=reference:B200``). The conditions of the legacy
        API are always an H200's.
    strict : bool, optional
        Whether reading unwritten memory, or a result in memory that a GPU still reads, raises an
        `ExecutionFailedError`, or else gives a `DeviceMemoryWarning` once per place. Default:
        unchanged; initially from the environment variable ``CUDNN_CTYPES_MEMCHECK`` (``strict``,
        ``guard_pages``, or both with a comma).
    guard_pages : bool, optional
        Whether an inaccessible page follows memory that is allocated from now on: a stray access
        then ends the process. Default: as for `strict`.

    Returns
    -------
    context manager
        It restores the previous mode at the end of ``with``.

    Examples
    --------
    >>> with use_reference_device(device="B200"), Handle() as handle:
    ...     print(handle)
    Handle(reference device, cuDNN ...)
    """
    for name, value in (("active", active), ("strict", strict), ("guard_pages", guard_pages)):
        if value is not None or name == "active":
            flag(name, value)
    before = {
        "runtime": mode.runtime,
        "gpu": mode.reference_gpu,
        "strict": mode.strict,
        "guard_pages": mode.guard_pages,
    }
    _set_mode(
        HOST if active else CUDA,
        mode.reference_gpu if device is None else gpu_values(device),
        mode.strict if strict is None else strict,
        mode.guard_pages if guard_pages is None else guard_pages,
    )
    return _previous(before)


def use_requested_device() -> None:
    """Begin as the environment asks."""
    use_reference_device(mode.reference_device_requested, device=mode.requested_gpu or None)


def _set_mode(
    runtime: Runtime, gpu: Mapping[str, Any] | None, strict: bool, guard_pages: bool
) -> None:
    mode.use(runtime)
    mode.reference_gpu = gpu
    mode.strict, mode.guard_pages = bool(strict), bool(guard_pages)
    _route()


@functools.cache
def _load(module: str) -> None:
    """Import a module of this folder, which registers its functions."""
    importlib.import_module(f"..{module}", __name__)


_routed = False
"""Whether calls come here."""


def _route() -> None:
    """Have calls come here while the mode is on or a made-up handle lives, and only then."""
    global _routed
    wanted = is_active() or bool(made_up_handles.open_handles)
    if wanted == _routed:
        return
    _routed = wanted
    for name, interceptor in _interceptors().items():
        # Descriptors are created and set at addresses that may have notes.
        follows = name in FOLLOWED or (name in TAKEN_OVER and backend_records.any_known())
        raw_function.intercept(name, interceptor if wanted or follows else None)
        if not wanted:
            raw_function.watched.discard(name)


def reconsider() -> None:
    """Stop intercepting backend functions if the last backend descriptor with notes is gone."""
    if not _routed and not backend_records.any_known():
        for name in TAKEN_OVER:
            raw_function.intercept(name, None)


@functools.cache
def _interceptors() -> dict[str, Callable[..., int]]:
    return {
        name: _followed(function) if name in FOLLOWED else _interceptor(function)
        for name, function in raw.FUNCTIONS.items()
        if name in _MODULES or _handle_position(function) is not None
    }


def _handle_position(function: Function) -> int | None:
    """Which parameter is the handle; the second one in the dropout descriptor's functions.

    Read from the words of the declaration: evaluating all declarations takes as long as NumPy.
    """
    words = raw_function.binding(function.__name__).stub.__annotations__.values()
    known = ("Handle[cudnnHandle_t]", "Const[Handle[cudnnHandle_t]]")
    return next((at for at, each in enumerate(words) if each in known), None)


def _followed(function: Function) -> Callable[..., int]:
    name = function.__name__
    binding = raw_function.binding(name)

    def call(*args: Any) -> int:
        status = int(binding.native(*args))
        if status == 0 and args[0] is not None:  # destroying NULL succeeds
            from .call import Call

            _load(FOLLOWED[name])
            registry.implementations[name](Call(function, args))
        return status

    return call


def forget(handle: Any) -> None:
    """Destroy a made-up handle."""
    made_up_handles.open_handles.pop(handle.value)
    live.never_again.add(handle.value)
    handle.value = None
    _route()


def _interceptor(function: Function) -> Callable[..., int]:
    """A function of C, whose calls go to its implementation where the reference device takes them.

    It takes those with a made-up handle; of functions without a handle all while it is on, and of
    those in `TAKEN_OVER` also those with descriptors that have notes.
    """
    name, position = function.__name__, _handle_position(function)
    binding = raw_function.binding(name)

    def takes(*args: Any) -> bool:
        if position is not None:
            return made_up(args[position])
        if name in TAKEN_OVER:
            return _routed or backend_records.is_known(args[0])
        return is_active()

    def call(*args: Any) -> int:
        if not takes(*args):
            return int(binding.native(*args))
        if name not in _MODULES:
            raise NotImplementedError(
                f"{name} is not carried out by the reference device; it needs a GPU"
            )
        _load(_MODULES[name])
        return _carry_out(registry.implementations[name], function, args)

    return call


def _carry_out(
    implementation: registry.Implementation, function: Function, args: tuple[Any, ...]
) -> int:
    from .call import Call

    try:
        call = Call(function, args)
    except (TypeError, ValueError) as error:
        raise ctypes.ArgumentError(str(error)) from error
    before = lent.begin(call.memory)
    try:
        status = implementation(call)
    except MemoryError as error:
        log.put(f"not enough host memory for what this needs: {error}", source=log.REFERENCE_DEVICE)
        status = raw.CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED
    except registry.Refused as refused:
        log.put(refused.reason, source=log.REFERENCE_DEVICE)
        status = refused.status
    finally:
        lent.end(before)
    return int(status or 0)
