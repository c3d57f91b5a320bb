"""The exceptions of cudnn_ctypes.

``CudnnError`` and its subclasses report that a C call returned a status other than success; the
subclasses follow the categories of ``cudnnStatus_t``. Other exceptions come from this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "BadParamError",
    "CleanUpWarning",
    "ClosedError",
    "CrashError",
    "CudnnError",
    "CudnnWarning",
    "DeviceMemoryWarning",
    "ExecutionFailedError",
    "FaultWarning",
    "InternalError",
    "LibraryNotFoundError",
    "NoDeviceError",
    "NotInitializedError",
    "NotSupportedError",
    "OwnReason",
    "PlanCacheWarning",
    "SymbolNotFoundError",
    "UnclosedWarning",
    "error_class",
]


class OwnReason(str):
    """A reason given by this package among cuDNN's reasons; an error's text marks it."""

    __slots__ = ()
    source = "cudnn_ctypes"

    @classmethod
    def of(cls, error: CudnnError, text: str) -> str:
        """`text`, made from an error's reason; marked as this package's if not cuDNN's."""
        return text if error.source == "cuDNN" else cls(text)


_STATE = ("arguments", "detail", "messages", "source", "hint", "advice")


class CudnnError(RuntimeError):
    """A cuDNN function returned a status other than ``CUDNN_STATUS_SUCCESS``.

    Attributes
    ----------
    function : str
        C name of the function.
    status : cudnnStatus_t
        The status that it returned.
    arguments : dict of str to str
        Parameter names and the arguments as text.
    detail : str
        cuDNN's last error string, "" without one.
    messages : tuple of str
        The reasons for the failure, outermost last.
    source : str
        The origin of the reasons: "cuDNN", which logged them; "cudnn_ctypes", if this package
        refused the call before C; "reference device". A message of this package among cuDNN's
        messages has this attribute, too.
    hint : str
        The usual cause, "" if unknown.
    advice : tuple of str
        For a graph that could not be built: changes with which it can be built, one line each. They
        are searched for at most half a second, or three where kernels could not be compiled, when
        the message or `advice` is first read.

    Examples
    --------
    >>> try:
    ...     raw.cudnnCreate(None)
    ... except CudnnError as error:
    ...     print(error.function, error.status.name)
    cudnnCreate CUDNN_STATUS_BAD_PARAM
    """

    def __init__(
        self,
        function: str,
        status: int,
        *,
        arguments: Mapping[str, str] | None = None,
        detail: str = "",
        messages: Sequence[str] = (),
        source: str = "cuDNN",
        hint: str = "",
        advice: Sequence[str] = (),
    ) -> None:
        self.function = function
        self.status = status
        self.arguments: dict[str, str] = dict(arguments or {})
        self.detail = detail
        self.messages: tuple[str, ...] = tuple(messages)
        self.source = source
        self.hint = hint
        self._advice = tuple(advice)
        self._adviser: Callable[[], Sequence[str]] | None = None
        super().__init__(self._text())

    @property
    def advice(self) -> tuple[str, ...]:
        adviser, self._adviser = self._adviser, None
        if adviser is not None:
            self._advice = tuple(adviser())
        return self._advice

    def advised_by(self, adviser: Callable[[], Sequence[str]]) -> None:
        """Set `adviser`, a function that returns `advice`; it is called once, on first access."""
        self._adviser = adviser

    def __str__(self) -> str:
        return self._text(self.advice)

    def _text(self, advice: Sequence[str] = ()) -> str:
        lines = [f"{self.function} returned {self.status!s} ({int(self.status)})"]
        lines += [f"  advice: {each}" for each in advice]
        lines += [f"  hint: {self.hint}"] if self.hint else []
        reasons = self.messages or ((self.detail,) if self.detail else ())
        lines += [f"  {getattr(reason, 'source', self.source)}: {reason}" for reason in reasons]
        if self.arguments:
            lines += ["  called with", *_rows(self.arguments)]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: getattr(self, name) for name in _STATE}
        return _rebuild, (type(self), self.function, self.status, state)


_WIDTH = 100  # characters of an argument in a message


def _rows(arguments: Mapping[str, str]) -> Iterator[str]:
    """An argument a line; what is cut off is in the error's `arguments`."""
    for name, value in arguments.items():
        is_long = len(value) > _WIDTH
        yield f"    {name}={value[:_WIDTH] + '…' if is_long else value}"
    if any(len(value) > _WIDTH for value in arguments.values()):
        yield "    … whole in the error's `arguments`"


def _rebuild(
    cls: type[CudnnError], function: str, status: int, state: dict[str, Any]
) -> CudnnError:
    return cls(function, status, **state)


class NotInitializedError(CudnnError):
    """Status 1xxx: no usable GPU or driver, or libraries that do not belong together."""


class BadParamError(CudnnError):
    """Status 2xxx: cuDNN refused a parameter."""


class NotSupportedError(CudnnError):
    """Status 3xxx: the combination is valid, but this library or GPU has no kernel for it."""


class CrashError(NotSupportedError):
    """A graph ended the process that asked cuDNN about it, or cuDNN did not answer.

    A warden was asked (`use_warden`), now or earlier, so that this process goes on.

    Attributes
    ----------
    step : str
        What cuDNN was doing: "asking heuristics a".
    signal : str
        The signal's name; "hang" after a time-out; "memory" or "exit" with the code.
    graph : str
        JSON of the graph, for ``Graph.from_json``; "" if it is not known.
    """

    step: str = ""
    signal: str = ""
    graph: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), {n: getattr(self, n) for n in ("step", "signal", "graph")})


class InternalError(CudnnError):
    """Status 4xxx: an allocation, a compilation or cuDNN itself failed."""


class ExecutionFailedError(CudnnError):
    """Status 5xxx: a kernel could not be launched or failed."""


_BY_CATEGORY = {
    1: NotInitializedError,
    2: BadParamError,
    3: NotSupportedError,
    4: InternalError,
    5: ExecutionFailedError,
}


def error_class(status: int) -> type[CudnnError]:
    """The exception class for a status code, by its category (the thousands)."""
    return _BY_CATEGORY.get(int(status) // 1000, CudnnError)


class LibraryNotFoundError(OSError):
    """No libcudnn could be loaded; the message lists every place that was tried."""


class SymbolNotFoundError(AttributeError):
    """The loaded libcudnn lacks a function; the message says which version has it."""


class NoDeviceError(RuntimeError):
    """An operation needs an NVIDIA GPU, but there is none."""


class ClosedError(ValueError):
    """An object was used after ``close()``."""


class CudnnWarning(Warning):
    """Base of this package's warnings; each is also a subclass of one of Python's warnings.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", CudnnWarning)  # doctest: +SKIP
    """


class UnclosedWarning(CudnnWarning, ResourceWarning):
    """An object that owns a C object or memory was not closed, and is cleaned up."""


class CleanUpWarning(CudnnWarning, RuntimeWarning):
    """cuDNN refused to destroy the C object of an unclosed object or one closed during a call."""


class FaultWarning(CudnnWarning, RuntimeWarning):
    """A graph or call that cuDNN computes wrong without a status: for some data, or for all."""


class PlanCacheWarning(CudnnWarning, RuntimeWarning):
    """The plan cache's folder cannot be used; graphs are built without it."""


class DeviceMemoryWarning(CudnnWarning, RuntimeWarning):
    """A program used device memory wrongly, and could go on.

    On the reference device it read memory that was never written, wrote outside of its allocations,
    or gave a result memory that threads of a GPU still read operands from. In `frontend` it gave
    memory of another type than its tensor's.
    """
