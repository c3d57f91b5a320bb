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
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_void_p
from threading import get_ident
from types import FunctionType
from typing import Any, TypeVar, cast

from ..device import DeviceBuffer, DeviceTensor
from ..handle import Handle
from ..raw.compiled_functions import code_of, function_of
from ..raw.function import Function
from ..raw.tokens import unique
from .bound_operation import BoundOperation
from .launch_keys import ALIGNMENT, NoKey, is_foreign, looks
from .launch_plan import Plan
from .launch_source import looked_up_source, operation_source
from .recording import Launcher, Memory, Recording
from .stream_launcher import StreamLauncher

__all__ = ["Memory", "keep", "launch", "launched", "launched_by_alignment", "recording"]

_KEPT = 1024  # plans of one handle

F = TypeVar("F", bound=Callable[..., Any])


_recordings: dict[int, Recording] = {}
"""Recordings by thread; most of the time there is none."""


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return _recordings.get(get_ident())


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    current = recording()
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
            "_recordings": _recordings,
            "_thread": get_ident,
            "_function": self.function,
            "_long_way": self._long_way,
            "_number": unique(),
            "_looks": looks,
            "_default": ((), None),
            "_aligned": _aligned,
            "_NoKey": NoKey,
            "_own": frozenset({DeviceTensor, DeviceBuffer}),
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
        """The function that reads the arguments of `call`."""
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
        given = dict(bound.arguments)
        given.pop("handle" if self._of_handle else "stream")
        if isinstance(launcher, StreamLauncher):  # layer 1 looks at what a handle's functions get
            launcher.check_memory(given)
        recording = Recording(launcher, given, launches=launches)
        result, plan = _recorded(recording, self.function, args, kwargs)
        if plan is not None and key is not None:
            keep(launcher._plans, key, plan)
        return result, plan


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of an operation's function until it is called."""
    return _operation.compile()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


def _aligned(at: tuple[Any, ...]) -> tuple[bool, ...]:
    """Which addresses are multiples of `ALIGNMENT` bytes; the key's other parts say whose."""
    return tuple([(each.value or 0) % ALIGNMENT == 0 for each in at if each.__class__ is c_void_p])


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
    """Like `launched`, with separate keys for addresses that are multiples of `ALIGNMENT` bytes."""
    return cast(F, _Operation(operation, by_alignment=True).call)


def _recorded(
    recording: Recording, operation: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Any, Plan | None]:
    _recordings[get_ident()] = recording
    try:
        result = operation(*args, **kwargs)
    except BaseException:
        recording.stack.close()
        raise
    finally:
        _recordings.pop(get_ident(), None)
    if recording.calls:
        try:
            return result, Plan(recording, result)
        except NoKey:
            pass
    recording.stack.close()
    return result, None
