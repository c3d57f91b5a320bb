"""cuDNN's one log callback, shared by our exceptions, the user's callback and listeners.

While a callback is set, cuDNN does not write its own log (``CUDNN_LOGLEVEL_DBG``,
``CUDNN_LOGDEST_DBG``), and it truncates the log file when the callback is removed. So our callback
stays set. It passes messages to the user's callback; without one, it writes cuDNN's log itself.

A mask is a level: its highest bit includes the lower ones, and errors are always reported.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import log
from .process import at_end

CallbackType: type[ctypes._CFunctionType] = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
"""``cudnnCallback_t`` with addresses: a message goes on after its first NUL."""

_SetType = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)
_GetType = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_void_p),
)

_ERROR, _WARNING, _INFO = 1 << 1, 1 << 2, 1 << 3  # CUDNN_SEV_…_EN
_OWN = _ERROR | _WARNING
_NOT_SUPPORTED = 3000  # CUDNN_STATUS_NOT_SUPPORTED
_STREAMS = {"stdout": 1, "stderr": 2}
_LETTERS = {0: "F", 1: "E", 2: "W", 3: "I"}  # by cudnnSeverity_t

Listener = Callable[[int, int, int], object]
"""Called with the severity and the addresses of the ``cudnnDebug_t`` and of the message."""


def _level(mask: int) -> int:
    if mask & _INFO:
        return _ERROR | _WARNING | _INFO
    return _ERROR | _WARNING if mask & _WARNING else _ERROR


@dataclass
class _Destination:
    """The place to which cuDNN logs without a callback; `begun` is True once cuDNN opened it."""

    begun: bool
    _descriptor: int | None = None

    def write(self, severity: int, message: int) -> None:
        letter = _LETTERS.get(severity, "I")
        lines = log.message_lines(message)
        marks = [letter, *letter.lower() * len(lines)]
        text = "".join(f"{mark}! {line}\n" for mark, line in zip(marks, lines, strict=False))
        if self._descriptor is None:
            self._descriptor = self._open()
        with contextlib.suppress(OSError):
            os.write(self._descriptor, f"\n{text}\n".encode())

    @property
    def name(self) -> str:
        return os.environ.get("CUDNN_LOGDEST_DBG", "stderr").replace("%i", str(os.getpid()))

    @property
    def is_file(self) -> bool:
        return self.name not in _STREAMS

    @property
    def lost(self) -> bool:
        """Whether cuDNN could not open the file. Setting a callback closes the file, which then
        ends the process with a signal."""
        usable = os.access(self.name, os.W_OK) and not os.path.isdir(self.name)
        return self.begun and self.is_file and not usable

    @property
    def loss(self) -> str:
        return f"CUDNN_LOGDEST_DBG={self.name} cannot be written: cuDNN would end the process"

    def _open(self) -> int:
        if not self.is_file:
            return _STREAMS[self.name]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if self.begun else os.O_TRUNC)
        try:
            return os.open(self.name, flags, 0o666)
        except OSError:
            return -1  # nothing is written, as with cuDNN


@dataclass
class _Callback:
    """State of the shared callback: the user's callback, the log destination and the listeners."""

    native_set: Any = None
    native_get: Any = None
    mask: int = 0
    user_data: int | None = None
    function: int | None = None  # the user's; None: the destination
    from_python: bool = False
    destination: _Destination = field(default_factory=lambda: _Destination(begun=False))
    listeners: list[tuple[int, Listener]] = field(default_factory=list)
    quiet_threads: set[int] = field(default_factory=set)

    def register(self) -> int:
        if self.destination.lost:
            return _NOT_SUPPORTED
        mask = _OWN | self.mask
        for wanted, _ in self.listeners:
            mask |= wanted
        return int(self.native_set(mask, None, _receive))

    def receive(self, severity: int, debug: int, message: int) -> None:
        if severity < 3:  # errors and warnings are reasons, information is none
            log.put(*log.reasons(message))
        elif threading.get_ident() in self.quiet_threads:
            return
        bit = 1 << severity
        for wanted, listener in tuple(self.listeners):
            if wanted & bit or not severity:
                listener(severity, debug, message)
        if not self.mask & bit and severity:
            return
        if self.function:
            CallbackType(self.function)(severity, self.user_data, debug, message)
        elif self.mask:
            self.destination.write(severity, message)


_callback = _Callback()


@CallbackType  # type: ignore[untyped-decorator]
def _receive(severity: int, user_data: Any, debug: int, message: int) -> None:
    _callback.receive(severity, debug, message)


@_SetType  # type: ignore[untyped-decorator]
def _set(mask: int, user_data: int | None, function: int | None) -> int:
    before = _callback.mask, _callback.user_data, _callback.function, _callback.from_python
    _callback.mask, _callback.user_data = _level(mask), user_data
    _callback.function, _callback.from_python = function, True
    status = _callback.register()
    if status:
        _callback.mask, _callback.user_data, _callback.function, _callback.from_python = before
        log.put(_callback.destination.loss, source=log.GUARD)
    return status


@_GetType  # type: ignore[untyped-decorator]
def _get(mask: Any, user_data: Any, function: Any) -> int:
    status = int(_callback.native_get(mask, user_data, function))
    if not status:
        mask[0] = _callback.mask
        user_data[0] = _callback.user_data
        function[0] = _callback.function
    return status


_STAND_INS = {"cudnnSetCallback": (_SetType, _set), "cudnnGetCallback": (_GetType, _get)}


def stand_in(name: str) -> Any | None:
    """A new object of the C function that replaces cuDNN's `name`; None if none replaces it."""
    if name not in _STAND_INS:
        return None
    prototype, function = _STAND_INS[name]
    return prototype(ctypes.cast(function, ctypes.c_void_p).value or 0)


def install(native_set: Any, native_get: Any) -> None:
    """Share cuDNN's callback, until the interpreter exits.

    - `native_set`, `native_get`: ``cudnnSetCallback`` and ``cudnnGetCallback``.
    """
    native_set.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p]
    native_get.argtypes = list(_GetType._argtypes_)
    mask, user_data, function = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_void_p()
    native_get(ctypes.byref(mask), ctypes.byref(user_data), ctypes.byref(function))
    _callback.native_set, _callback.native_get = native_set, native_get
    _callback.mask, _callback.user_data = mask.value, user_data.value
    _callback.function = function.value
    _callback.destination = _Destination(begun=bool(mask.value) and not function.value)
    if not _callback.destination.lost:
        _callback.register()
        at_end(_leave)


def _leave() -> None:
    """Unregister every callback that calls Python: cuDNN's own clean-up at exit may log."""
    ours = _callback
    ours.quiet_threads.add(threading.get_ident())
    if ours.function and not ours.from_python:
        ours.native_set(ours.mask, ours.user_data, ours.function)
    elif ours.mask and not ours.function and not ours.destination.is_file:
        ours.native_set(ours.mask, None, None)
    else:
        # A C function that ignores its arguments. Without a callback cuDNN would truncate the log
        # file, or write errors to stderr.
        silent = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p)
        ours.native_set(_ERROR, None, silent)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep this package's own calls, which the user did not make, out of the log."""
    thread = threading.get_ident()
    outermost = thread not in _callback.quiet_threads
    _callback.quiet_threads.add(thread)
    try:
        yield
    finally:
        if outermost:
            _callback.quiet_threads.discard(thread)


@contextlib.contextmanager
def listening(mask: int, listener: Listener) -> Iterator[None]:
    """Call `listener` with the messages of a level, in addition to the user's callback."""
    if _callback.destination.lost:
        raise OSError(_callback.destination.loss)
    entry = (_level(mask), listener)
    _callback.listeners.append(entry)
    _callback.register()
    try:
        yield
    finally:
        _callback.listeners.remove(entry)
        _callback.register()
