"""The session of active traces: the one observer of all C calls.

While no trace is active, `raw` goes straight to C, and layers 2 and 3 call C through `bare`. The
first trace installs the observer (`raw.function.observe`), the last one removes it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from ..errors import CudnnError
from ..process import new_reentrant_lock
from ..raw import live, log
from ..raw.ctypes_support import CudnnEnum
from ..raw.function import Function, observe
from ..runtime.watching import unwatch, watch
from .arguments import Decoder, Names
from .backend_calls import Execution, Graphs
from .call_records import Argument, CallRecord
from .moment import Moment
from .numbers import not_finite
from .places import place_in_program
from .regions import Region
from .words import plain

__all__ = ["Listener", "listen", "overhearing", "stop"]

_EXECUTE = "cudnnBackendExecute"


class Listener(Protocol):
    """An object that is told about calls."""

    looks_at_numbers: bool

    def wants(self, function: str) -> bool:
        """Whether the listener wants calls of a C function."""

    def allocated(self, region: Region) -> None:
        """Called before the first call that uses an allocation."""

    def freed(self, region: Region) -> None:
        """Called after an allocation that calls used was freed."""

    def prepare(self, moment: Moment) -> None:
        """Called before a C call."""

    def hear(self, call: CallRecord, moment: Moment) -> None:
        """Called after a C call."""


Overhear = Callable[[Function, Mapping[str, Any]], None]


class _Thread(threading.local):
    inside = False
    overhear: Overhear | None = None


_thread = _Thread()
_lock = new_reentrant_lock()
_listeners: tuple[Listener, ...] = ()
_session: _Session | None = None


def listen(listener: Listener) -> None:
    """Report all calls to `listener` from now on, in all threads.

    Raises
    ------
    RuntimeError
        If it is listening already.
    """
    global _listeners, _session
    with _lock:
        if any(each is listener for each in _listeners):
            raise RuntimeError("this trace is open already")
        _listeners = (*_listeners, listener)
        if _session is None:
            _session = _Session()
            watch(_session.places)
            observe(_session.call)


def stop(listener: Listener) -> None:
    """Stop reporting calls to `listener`; a second call does nothing."""
    global _listeners, _session
    with _lock:
        _listeners = tuple(each for each in _listeners if each is not listener)
        if not _listeners and _session is not None:
            unwatch(_session.places)
            _session = None
            observe(None)


@contextmanager
def overhearing(overhear: Overhear) -> Iterator[None]:
    """Report the calls that a listener itself makes inside ``with`` to `overhear`."""
    _thread.overhear = overhear
    try:
        yield
    finally:
        _thread.overhear = None


def _by_name(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    names = [parameter.name for parameter in function.parameters]
    return {**dict(zip(names, args, strict=False)), **kwargs}


class _Session:
    """The time from the start of the first open trace to the end of the last; they share names."""

    def __init__(self) -> None:
        self._names = Names()
        self.places = self._names.places
        self._graphs = Graphs()

    def call(self, function: Function, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call, and report it to the listeners.

        Calls within a call are not reported: by the reference device, guards or this module.
        """
        if _thread.inside:
            result = function.unobserved(*args, **kwargs)
            if _thread.overhear is not None:
                _thread.overhear(function, _by_name(function, args, kwargs))
            return result
        _thread.inside = True
        try:
            return self._told(function, args, kwargs)
        finally:
            _thread.inside = False

    def _told(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = _by_name(function, args, kwargs)
        self._tell_of_freed_memory()
        decoder = Decoder(function, arguments, self._names)
        addresses: dict[str, int | None] = {}
        with suppress(Exception):  # a trace never stops a program
            addresses = {each: live.address(value) for each, value in arguments.items()}
        place = place_in_program()
        moment = Moment(function, arguments, self._names, self._graphs, *place)
        if function.__name__ == _EXECUTE:
            with suppress(Exception):
                moment.execution = self._graphs.execution(arguments)
        for listener in _listeners:
            if listener.wants(function.__name__):
                listener.prepare(moment)
        with suppress(Exception):  # the call itself raises the error
            function.bind()
        start = time.perf_counter()
        try:
            result = function.unobserved(*args, **kwargs)
        except BaseException as error:
            seconds = time.perf_counter() - start
            moment.refused = getattr(error, "source", log.GUARD) == log.GUARD
            self._tell(decoder, _of_error(error), seconds, moment)
            raise
        seconds = time.perf_counter() - start
        outcome = _of_result(result)
        if outcome[1]:
            reasons = log.logged.get(threading.get_ident())
            moment.refused = getattr(reasons, "source", "") == log.GUARD
        else:
            with suppress(Exception):
                self._follow(function, arguments, addresses)
        self._tell(decoder, outcome, seconds, moment)
        return result

    def _tell_of_freed_memory(self) -> None:
        with _lock, suppress(Exception):  # a trace never stops a program
            for region in self.places.settle():
                for listener in _listeners:
                    listener.freed(region)

    def _follow(
        self, function: Function, arguments: Mapping[str, Any], addresses: Mapping[str, int | None]
    ) -> None:
        name = function.__name__
        if name.startswith("cudnnBackend"):
            self._graphs.follow(name, arguments)
        if "Destroy" in name:
            for parameter in function.parameters:
                address = addresses.get(parameter.name)
                self._names.objects.forget(parameter.type.base, address)
                if name.startswith("cudnnBackend"):
                    self._graphs.forget(address)

    def _tell(
        self,
        decoder: Decoder,
        outcome: tuple[str, bool, str],
        seconds: float,
        moment: Moment,
    ) -> None:
        function, execution = decoder.function, moment.execution
        with _lock:
            for region in self.places.fresh():
                for listener in _listeners:
                    listener.allocated(region)
        listeners = [each for each in _listeners if each.wants(function.__name__)]
        status, failed, reason = outcome
        arguments = decoder.arguments(not failed)
        if not listeners:
            return
        if execution is not None:
            arguments = tuple(self._with_operands(each, execution) for each in arguments)
        bad: dict[str, str] = {}
        if not failed and any(each.looks_at_numbers for each in listeners):
            with suppress(Exception):
                bad = not_finite(function, decoder.values, execution, outputs=True)
                if bad:
                    read = not_finite(function, decoder.values, execution, outputs=False)
                    bad |= {f"{name}, which it read": text for name, text in read.items()}
        with _lock:
            call = CallRecord(
                0,
                function.__name__,
                arguments,
                status,
                failed,
                reason,
                seconds,
                moment.file,
                moment.line,
                threading.current_thread().name,
                bad,
            )
            for listener in listeners:
                listener.hear(call, moment)

    def _with_operands(self, argument: Argument, execution: Execution) -> Argument:
        """The argument with the plan's operations or the variant pack's operands added."""
        if not isinstance(argument.value, dict):
            return argument
        if argument.name == "executionPlan":
            holds: dict[str, Any] = {"operations": execution.operations}
        elif argument.name == "variantPack":
            holds = {str(info.uid): self._operand(info, at) for info, at in execution.tensors}
        else:
            return argument
        return Argument(argument.name, {**argument.value, "holds": holds})

    def _operand(self, info: Any, address: int) -> dict[str, Any]:
        name, offset = self._names.places.place(address, None, "memory")
        return {
            "allocation": name,
            "offset": offset,
            "data_type": plain(info.data_type),
            "shape": list(info.dims),
            "strides": list(info.strides),
        }


def _of_result(result: Any) -> tuple[str, bool, str]:
    """The status as text, whether it is a failure, and the reason."""
    if type(result).__name__ != "cudnnStatus_t":
        name = result.name if isinstance(result, CudnnEnum) else repr(result)
        return ("" if result is None else name), False, ""
    reasons = log.logged.get(threading.get_ident(), ()) if result else ()
    return result.name.removeprefix("CUDNN_STATUS_"), bool(result), _reason(reasons)


def _of_error(error: BaseException) -> tuple[str, bool, str]:
    if isinstance(error, CudnnError):
        status = str(error.status).removeprefix("CUDNN_STATUS_")
        return status, True, _reason(error.messages or [error.detail])
    return type(error).__name__, True, str(error)


def _reason(messages: Iterable[str]) -> str:
    """The innermost reason; single words such as "status", which cuDNN also logs, are skipped."""
    return next((message for message in messages if " " in message or "(" in message), "")
