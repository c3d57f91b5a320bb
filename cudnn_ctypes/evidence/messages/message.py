"""A message of cuDNN's log, and a context manager that listens to messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from ... import raw
from ...arguments import enumerator
from ...raw.callback import listening
from ...raw.log import message_lines
from .arguments import LoggedArgument, logged_arguments

__all__ = ["Message", "log_messages"]

_ENABLED = {
    raw.CUDNN_SEV_ERROR: raw.CUDNN_SEV_ERROR_EN,
    raw.CUDNN_SEV_WARNING: raw.CUDNN_SEV_WARNING_EN,
    raw.CUDNN_SEV_INFO: raw.CUDNN_SEV_INFO_EN,
}

_FUNCTION = re.compile(r"function (\w+)\(\)")
_REASON = re.compile(r"^\s*(?:Error|Warning|Info):\s*(.*)")
_PLACE = re.compile(r"GPU=(\w+); Handle=(\w+); StreamId=(\w+)")


@dataclass(frozen=True)
class Message:
    """One message of cuDNN's log.

    Attributes
    ----------
    severity : cudnnSeverity_t
    function : str
        C name of the called function; "" if the message names none.
    arguments : dict of str to LoggedArgument
        The call's arguments by cuDNN's names, descriptors with their contents; only in information
        messages.
    reasons : tuple of str
        The reasons for errors and warnings; outermost last.
    status : cudnnStatus_t
    time : datetime.datetime
        In UTC.
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
    arguments: dict[str, LoggedArgument] = field(compare=False)
    reasons: tuple[str, ...]
    status: raw.cudnnStatus_t
    time: datetime
    process: int
    thread: int
    device: int | None
    text: str

    @classmethod
    def of(cls, severity: int, debug: raw.cudnnDebug_t, lines: list[str]) -> Message:
        """The message from a callback's arguments.

        Parameters
        ----------
        severity : int
            Number of C's ``cudnnSeverity_t``.
        debug : cudnnDebug_t
            The struct with time, process, thread and function.
        lines : list of str
            The lines of the text.
        """
        text = "\n".join(lines)
        function, place = _FUNCTION.search(text), _PLACE.search(text)
        reasons = [match[1] for line in lines if (match := _REASON.match(line))]
        # The struct's cudaDeviceId is undefined if the text names no device.
        device = int(place[1]) if place and place[1].isdigit() else None
        time = datetime.fromtimestamp(debug.time_sec, timezone.utc)
        return cls(
            raw.cudnnSeverity_t(severity),
            function[1] if function else "",
            logged_arguments(lines),
            tuple(reasons),
            raw.cudnnStatus_t(debug.cudnnStatus),
            time.replace(microsecond=debug.time_usec),
            int(debug.pid),
            int(debug.tid),
            device,
            text,
        )

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
    raised: list[BaseException] = []

    def receive(severity: int, debug: int, message: int) -> None:
        member = raw.cudnnSeverity_t(severity)
        if member not in wanted and member in _ENABLED:
            return
        try:
            received = Message.of(
                severity, raw.cudnnDebug_t.from_address(debug), message_lines(message)
            )
            messages.append(received)
            if callback is not None:
                callback(received)
        except BaseException as error:  # no exception may escape into C
            raised.append(error)

    mask = 0
    for member in wanted:
        mask |= _ENABLED.get(member, 0)
    raw.load()
    with listening(mask, receive):
        yield messages
    if raised:
        raise raised[0]
