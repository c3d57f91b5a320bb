"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
Each later call with the same key fills in the addresses.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_void_p
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from ..device import DeviceTensor
from ..errors import ClosedError
from ..handle import Handle
from ..raw import mode
from ..raw.bare import watched
from ..raw.function import Function
from ..raw.tokens import unique
from ..resource import Uncopied
from .launch_keys import NoKey, is_foreign, looks
from .launch_plan import Launcher, Memory, Plan, Recording, fill, make_call
from .launch_source import code_of, function_of, looked_up_source, operation_source
from .stream_launcher import StreamLauncher

__all__ = ["BoundOperation", "Memory", "bind", "keep", "launch", "launched", "recording"]

_KEPT = 1024  # plans of one handle
ALIGNMENT = 16
"""What cuDNN's kernels for fused operations may be told about addresses."""

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
P = ParamSpec("P")


class _Current(threading.local):
    recording: Recording | None = None


_current = _Current()


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return _current.recording


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    current = _current.recording
    if current is None or current.launches:
        function(*arguments)
    if current is not None:
        current.calls.append((cast(Function, function), arguments))


class _Operation:
    """A function that launches; the first call of a key goes through it, and makes a plan.

    Attributes
    ----------
    call : function
        What takes its place for users. It is compiled when it is first called.
    """

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        self.function = function
        self._by_alignment = by_alignment
        self.call = FunctionType(_first_call.__code__, {"_operation": self}, function.__name__)
        functools.update_wrapper(self.call, function)
        vars(self.call)["_operation"] = self

    @functools.cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        """One of them is `handle`, or, keyword-only, `stream`."""
        return list(inspect.signature(self.function).parameters.values())

    @functools.cached_property
    def _scope(self) -> dict[str, Any]:
        defaults = {f"_default_{p.name}": p.default for p in self._parameters}
        return {
            "_current": _current,
            "_function": self.function,
            "_long_way": self._long_way,
            "_number": unique(),
            "_looks": looks,
            "_default": ((), None),
            "_aligned": _aligned,
            "_NoKey": NoKey,
            "_Tensor": DeviceTensor,
            "_Handle": Handle,
            "_StreamLauncher": StreamLauncher,
            **defaults,
        }

    def compile(self) -> Callable[..., Any]:
        """Give `call` the code of this operation."""
        name, call, function = self.function.__name__, self.call, self.function
        source = operation_source(name, self._parameters, by_alignment=self._by_alignment)
        call.__globals__.update(self._scope)
        call.__defaults__, call.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        call.__code__ = code_of(source, name)
        return self.call

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        signature = inspect.signature(self.function).bind(*args, **kwargs)
        if self._of_handle and type(signature.arguments.get("handle")) is not Handle:
            return None
        launcher, key, at, given = self._looked_up(*args, **kwargs)
        if any(map(is_foreign, given)):
            return None
        plan = launcher._plans.get(key)
        if plan is None or not plan.fits(launcher):
            plan = self._recorded(launcher, key, args, kwargs, launches=False)[1]
        if plan is None or key is None:
            return None
        return BoundOperation(plan, launcher, at, given)

    @functools.cached_property
    def _of_handle(self) -> bool:
        return any(p.name == "handle" for p in self._parameters)

    @functools.cached_property
    def _looked_up(self) -> Callable[..., tuple[Launcher, Any, Any, Any]]:
        """What `call` finds out about its arguments."""
        name, function = self.function.__name__, self.function
        source = looked_up_source(name, self._parameters, by_alignment=self._by_alignment)
        found: Any = function_of(source, name, self._scope)
        found.__defaults__, found.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return cast(Callable[..., Any], found)

    def _long_way(
        self, launcher: Launcher, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._recorded(launcher, key, args, kwargs, launches=True)[0]

    def _recorded(
        self,
        launcher: Launcher,
        key: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        launches: bool,
    ) -> tuple[Any, Plan | None]:
        """Go the long way; the result, and the plan that was made of it."""
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        given: dict[str, Any] = {}
        for parameter in self._parameters:
            value = bound.arguments[parameter.name]
            given.update(
                value if parameter.kind is parameter.VAR_KEYWORD else {parameter.name: value}
            )
        given.pop("handle" if self._of_handle else "stream")
        recording = Recording(launcher, given, launches=launches)
        result, plan = _recorded(recording, self.function, args, kwargs)
        if plan is not None and key is not None:
            keep(launcher._plans, key, plan)
        return result, plan


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of an operation's function until it is called."""
    return _operation.compile()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


def _aligned(at: tuple[Any, ...]) -> tuple[bool, ...]:
    """Which addresses are multiples of `ALIGNMENT` bytes."""
    return tuple(each.__class__ is c_void_p and (each.value or 0) % ALIGNMENT == 0 for each in at)


def keep(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a bounded cache, the oldest goes first."""
    while len(cache) >= _KEPT:
        with suppress(RuntimeError, StopIteration):  # another thread changes it meanwhile
            cache.pop(next(iter(cache)), None)
    cache[key] = value


def launched(operation: F) -> F:
    """Have a function launch what it launched before by its key.

    It has a parameter ``handle``, or a keyword-only parameter ``stream``.
    """
    return cast(F, _Operation(operation, by_alignment=False).call)


def launched_by_alignment(operation: F) -> F:
    """As `launched`; addresses that are multiples of `ALIGNMENT` bytes have keys of their own."""
    return cast(F, _Operation(operation, by_alignment=True).call)


def _recorded(
    recording: Recording, operation: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Any, Plan | None]:
    _current.recording = recording
    try:
        result = operation(*args, **kwargs)
    except BaseException:
        recording.stack.close()
        raise
    finally:
        _current.recording = None
    if recording.calls:
        try:
            return result, Plan(recording, result)
        except NoKey:
            pass
    recording.stack.close()
    return result, None


class BoundOperation(Uncopied, Generic[R]):
    """An operation with its operands: each call is one call of C. Made by `bind`.

    Fused operations take their pointers by calls before that one.

    Attributes
    ----------
    result
        What the operation returns: the results that were given or made.
    """

    def __init__(self, plan: Plan, handle: Launcher, at: Any, given: Any) -> None:
        self._scratch = [handle.allocator.allocate(size) for size in plan.scratch_sizes]
        made, values = plan.fill(handle, at, self._scratch)
        self._plan, self._handle = plan, handle
        self._kept = given, made
        self._zeroed = plan.zeroed(made, self._scratch)
        self._native = list(plan.filled(values, checked=False))
        self._checked = list(plan.filled(values, checked=True))
        self.result: R = plan.returns(made, given)

    def __call__(self) -> R:
        """Launch; returns `result`.

        Raises
        ------
        ClosedError
            If this or the handle is closed.
        ValueError
            If the reference device was activated or left since it was bound.
        CudnnError
            If cuDNN refuses.
        """
        if self._plan is None:
            raise ClosedError("this BoundOperation is closed")
        _ = self._handle._as_parameter_
        if mode.reference_device_active is not self._plan.on_host:
            bound_on, active = ("the reference device", "a GPU")[:: 1 if self._plan.on_host else -1]
            raise ValueError(f"this was bound on {bound_on}, but work goes to {active} now")
        self._plan.follow(self._handle)
        for memory, nbytes in self._zeroed:
            fill(memory, nbytes, self._handle.stream)
        for function, callee, arguments in self._checked if watched else self._native:
            make_call(function, callee, arguments)
        return self.result

    def close(self) -> None:
        """Let go of the operands, and free the workspaces; a second call does nothing."""
        self._plan = self._kept = None  # type: ignore[assignment]
        self._zeroed = []
        for block in self._scratch:
            block.release()
        self._scratch = []

    def __enter__(self) -> BoundOperation[R]:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def bind(operation: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> BoundOperation[R]:
    """Fix the operands of an operation, so that launching it is one call of C.

    Nothing is launched. Results that are not given are made once, workspaces are kept, and a
    captured CUDA graph may hold the calls.

    Parameters
    ----------
    operation
        A function of the legacy API that launches, or a method such as ``ConvolutionForward.run``.
    *args, **kwargs
        Its arguments.

    Raises
    ------
    TypeError
        If `operation` is not one that can be bound, or an operand is a tensor of a library other
        than PyTorch, whose memory is only lent for one call.

    Examples
    --------
    >>> relu = bind(activation_forward, handle, x, "relu", y)  # doctest: +SKIP
    >>> relu()  # doctest: +SKIP
    """
    function: Any = getattr(operation, "__func__", operation)
    known = getattr(function, "_operation", None)
    if known is None:
        raise TypeError(f"operation: expected a launching function of cuDNN, got {operation!r}")
    given: tuple[Any, ...] = args
    if function is not operation:
        given = (operation.__self__, *args)  # type: ignore[attr-defined]
    bound: BoundOperation[R] | None = known.bound(given, kwargs)
    if bound is None:
        raise TypeError(
            f"{known.function.__name__}: these operands cannot be bound: give DeviceTensors, "
            f"DeviceBuffers, addresses or tensors of PyTorch"
        )
    return bound
