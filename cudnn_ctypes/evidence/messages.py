"""cuDNN's log messages as objects.

>>> from cudnn_ctypes import raw
>>> with log_messages("info") as messages:
...     descriptor = raw.cudnnTensorDescriptor_t()
...     _ = raw.cudnnCreateTensorDescriptor(descriptor)
...     _ = raw.cudnnSetTensor4dDescriptor(
...         descriptor, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, 2, 3, 4, 5)
>>> messages[0].function
'cudnnCreateTensorDescriptor'
>>> messages[1].arguments["format"].value
cudnnTensorFormat_t.CUDNN_TENSOR_NHWC

This package's exceptions and a callback set with ``raw.cudnnSetCallback`` still receive messages
while a block listens. The reference device logs nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .. import raw
from ..arguments import enumerator
from ..raw.callback import listening
from ..raw.ctypes_support import CudnnEnum
from ..raw.log import message_lines

_LINE = re.compile(
    r"^(?P<indent>\s+)(?P<name>[^:]*): "
    r"(?:type=(?P<type>.*?)|location=(?P<location>.*?))"
    r"(?:; (?:val|addr)=(?P<value>.*?))?[;:]?\s*$"
)
_ENUMERATOR = re.compile(r"^\S+ \((-?\w+)\)$")  # name or names, and the number
_LIST = re.compile(r"^\[(.*)\]$")


@dataclass(frozen=True)
class LoggedArgument:
    """An argument of a call in cuDNN's log, or one field of a descriptor.

    ``argument["strideA"]`` is the field of that name; ``str(argument)`` is one line of text.

    Attributes
    ----------
    type : str
        The C type, or the type of the backend descriptor; "" for memory.
    value : int, float, bool, str, cudnn enum, tuple or None
        A number, text, an enumerator, or several numbers; an address for memory and for objects of
        which cuDNN only logs the address. None for NULL, and for arguments with fields.
    location : str
        "host" or "dev" for memory, else "".
    fields : dict of str to LoggedArgument
        The contents of a descriptor, by cuDNN's names; empty for other arguments. A repeated name
        gets a number: "operation", "operation[1]" for the operations of a graph.

    Examples
    --------
    >>> with log_messages("info") as messages:
    ...     TensorDescriptor((1, 3, 4, 4)).close()
    >>> messages[1].arguments["c"].type, messages[1].arguments["c"].value
    ('int', 3)
    """

    type: str
    value: Any = None
    location: str = ""
    fields: Mapping[str, LoggedArgument] = field(default_factory=dict)

    def __getitem__(self, name: str) -> LoggedArgument:
        try:
            return self.fields[name]
        except KeyError:
            known = ", ".join(self.fields) or "no fields"
            raise KeyError(f"{name}: this {self.type or 'memory'} has {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __str__(self) -> str:
        if self.fields:
            inside = ", ".join(f"{name}={each}" for name, each in self.fields.items())
            return f"{self.type}({inside})"
        if self.value is None:
            return "NULL"
        is_descriptor = self.type.endswith(("_DESCRIPTOR", "Descriptor_t", "*"))
        is_address = type(self.value) is int and (self.location or is_descriptor)
        return f"{self.value:#x}" if is_address else str(self.value)


def logged_arguments(lines: Iterable[str]) -> dict[str, LoggedArgument]:
    """The arguments in the lines of a message, by name, each with its fields."""
    found: dict[str, LoggedArgument] = {}
    open_: list[tuple[int, dict[str, LoggedArgument]]] = [(-1, found)]
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        indent, fields = len(match["indent"]), dict[str, LoggedArgument]()
        while open_[-1][0] >= indent:
            open_.pop()
        siblings = open_[-1][1]
        siblings[_unused(match["name"], siblings)] = LoggedArgument(
            match["type"] or "",
            _value(match["type"] or "", match["value"]),
            match["location"] or "",
            fields,
        )
        open_.append((indent, fields))
    return found


def _unused(name: str, siblings: Mapping[str, LoggedArgument]) -> str:
    count, found = 0, name
    while found in siblings:
        count += 1
        found = f"{name}[{count}]"
    return found


def _value(kind: str, text: str | None) -> Any:
    if text is None or text in ("NULL", "NULL_PTR"):
        return None
    if kind == "bool":
        return text == "true"
    if kind == "string":
        return text.removeprefix('"').removesuffix('"')
    enum = getattr(raw, kind, None) if kind.startswith("cudnn") else None
    if match := _ENUMERATOR.match(text):
        number = int(match[1], 0)
        is_enum = isinstance(enum, type) and issubclass(enum, CudnnEnum)
        return enum(number) if is_enum else number  # type: ignore[misc]
    if match := _LIST.match(text):
        return tuple(_number(each.strip()) for each in match[1].split(",") if each.strip())
    return _number(text)


def _number(text: str) -> Any:
    """A text as a number if possible, else the text."""
    for read in (lambda each: int(each, 0), float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


_ENABLED = {
    raw.CUDNN_SEV_ERROR: raw.CUDNN_SEV_ERROR_EN,
    raw.CUDNN_SEV_WARNING: raw.CUDNN_SEV_WARNING_EN,
    raw.CUDNN_SEV_INFO: raw.CUDNN_SEV_INFO_EN,
}

_HEAD = re.compile(r"CuDNN \(v(\d+)(?: \d+)?\) function (\w+)\(\)")
_REASON = re.compile(r"^\s*(?:Error|Warning|Info):(?!\s*Traceback contains)\s*(.*)", re.MULTILINE)
_STATUS = re.compile(r"\b(CUDNN_STATUS_\w+)")
_TIME = re.compile(r"Time: (\d[-\dT:.]+)")
_PLACE = re.compile(r"Process=(\d+); Thread=(\d+); GPU=(\w+)")
_SUCCESS = raw.CUDNN_STATUS_SUCCESS


@dataclass(frozen=True)
class Message:
    """One message of cuDNN's log.

    Attributes
    ----------
    severity : cudnnSeverity_t
    function : str
        C name of the called function; "" if the message names none.
    version : int
        The cuDNN that wrote it: 91900 for 9.19.0; 0 if it does not say.
    arguments : dict of str to LoggedArgument
        The call's arguments by cuDNN's names, descriptors with their contents; only in information
        messages.
    reasons : tuple of str
        The reasons for errors and warnings; outermost last.
    status : cudnnStatus_t
    time : datetime.datetime
        In UTC for a message that was heard. One that was read from a file has the local time of
        the program, and no time zone.
    process, thread : int
    device : int or None
        Ordinal of the GPU, None if the call concerns none.
    text : str
        The whole message.

    Examples
    --------
    >>> with log_messages("info") as messages:
    ...     TensorDescriptor((1, 3, 4, 4)).close()
    >>> messages[0].function, messages[0].status.name
    ('cudnnCreateTensorDescriptor', 'CUDNN_STATUS_SUCCESS')
    """

    severity: raw.cudnnSeverity_t
    function: str
    version: int
    status: raw.cudnnStatus_t
    time: datetime
    process: int
    thread: int
    device: int | None
    text: str

    @classmethod
    def of(cls, severity: int, text: str, debug: raw.cudnnDebug_t | None = None) -> Message:
        """The message from its text, and the callback's struct if there is one.

        Parameters
        ----------
        severity : int
            Number of C's ``cudnnSeverity_t``.
        text : str
            The lines, without the letters before them in a log file.
        debug : cudnnDebug_t, optional
            The struct with time, process, thread and status.
        """
        head = _HEAD.match(text)
        place = _PLACE.match(text, max(text.rfind("Process="), 0))
        if debug is not None:
            status = raw.cudnnStatus_t(debug.cudnnStatus)
            time = datetime.fromtimestamp(debug.time_sec, timezone.utc)
            time = time.replace(microsecond=debug.time_usec)
        else:
            second = text.find("\n") + 1
            says = severity < 3 or text.startswith("status: ", second + 4)
            found = _STATUS.search(text, second) if says else None
            status = getattr(raw, found[1], _SUCCESS) if found else _SUCCESS
            clock = _TIME.match(text, max(text.rfind("Time: "), 0))
            time = datetime.fromisoformat(clock[1]) if clock else datetime.min
        return cls(
            raw.cudnnSeverity_t(severity),
            head[2] if head else "",
            int(head[1]) if head else 0,
            status,
            time,
            int(place[1]) if place else 0,
            int(place[2]) if place else 0,
            # The struct's cudaDeviceId is undefined if the text names no device.
            int(place[3]) if place and place[3].isdigit() else None,
            text,
        )

    @functools.cached_property
    def arguments(self) -> dict[str, LoggedArgument]:
        return logged_arguments(self.text.splitlines())

    @functools.cached_property
    def reasons(self) -> tuple[str, ...]:
        return tuple(_REASON.findall(self.text))

    def __str__(self) -> str:
        return self.text


@contextmanager
def log_messages(
    *severities: Any, callback: Callable[[Message], object] | None = None
) -> Iterator[list[Message]]:
    """Collect cuDNN's log messages of all threads while a ``with`` block runs.

    Follows ``cudnnSetCallback`` and ``cudnnGetCallback``.

    Parameters
    ----------
    *severities : cudnnSeverity_t or str
        The wanted messages: "error", "warning", "info". Default: errors and warnings. "info" logs
        every call with its arguments.
    callback : callable, optional
        Called with each message, in the thread that made the call. Its exceptions are raised at the
        end of the block.

    Yields
    ------
    list of Message
        The messages so far, in the order of their arrival.

    Raises
    ------
    TypeError
        If a severity is neither text nor an enumerator.
    ValueError
        For an unknown severity.

    Examples
    --------
    >>> with log_messages("info") as messages:
    ...     TensorDescriptor((1, 3, 4, 4)).close()
    >>> messages[0].function
    'cudnnCreateTensorDescriptor'
    """
    wanted = {
        enumerator(raw.cudnnSeverity_t, severity, "severities")
        for severity in severities or ("error", "warning")
    }
    messages: list[Message] = []

    def receive(message: Message) -> None:
        messages.append(message)
        if callback is not None:
            callback(message)

    with hearing(wanted, receive):
        yield messages


@contextmanager
def hearing(
    wanted: Collection[raw.cudnnSeverity_t], receive: Callable[[Message], object]
) -> Iterator[None]:
    """Call `receive` with cuDNN's messages of these severities, in the threads that made the calls.

    Its exceptions are raised at the end of the block.
    """
    raised: list[BaseException] = []

    def heard(severity: int, debug: int, message: int) -> None:
        member = raw.cudnnSeverity_t(severity)
        if member not in wanted and member in _ENABLED:
            return
        try:
            text = "\n".join(message_lines(message))
            receive(Message.of(severity, text, raw.cudnnDebug_t.from_address(debug)))
        except BaseException as error:  # no exception may escape into C
            raised.append(error)

    mask = 0
    for member in wanted:
        mask |= _ENABLED.get(member, 0)
    raw.load()
    with listening(mask, heard):
        yield
    if raised:
        raise raised[0]
