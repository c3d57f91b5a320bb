"""The warden: child processes that ask cuDNN in this one's place what may end the process.

The set of graphs on which cuDNN ends the process is open. So whoever only asks, asks the warden; a
program does where it wants to. A child is a fresh interpreter with the stand-in for the driver: it
uses no GPU, and compiles for the properties of one. Each serves one question at a time; there are
as many as there are questions at once. An idle one waits for the next, and ends with this process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from ...arguments import flag
from ...raw import callback, log
from ...raw.library import load
from ...raw.process import in_child, new_lock
from ...raw.values import described

if TYPE_CHECKING:
    from .children import Child
    from .engine import EngineChoice

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_WARDEN"

_SECONDS = 120.0  # of one step: some engines compile for many seconds
_IDLE = 2  # children that are kept
_CASES = 500  # of one child: without a GPU, up to 1.5 megabytes of each graph are lost
_OF_THIS_PROCESS = (  # of the environment: what a child must not do, too
    "CUDNN_CTYPES_DEVICE",
    "CUDNN_CTYPES_TRACE",
    "CUDNN_CTYPES_CHECK",
    "CUDNN_LOGLEVEL_DBG",
    "CUDNN_LOGDEST_DBG",
)
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")

_chosen: bool | None = None
_seconds = _SECONDS
_asking: ContextVar[bool | None] = ContextVar("asking", default=None)


def use_warden(active: bool = True, *, seconds: float | None = None) -> Any:
    """Have builds ask cuDNN in a helper process from now on; False asks in this one.

    What ends or stops the helper is a `CrashError`, and is kept in the user's folder for caches:
    builds of graphs of the same form on this GPU are refused, or pass over the engine, from then
    on, also those that ask in this process. Commands and ``Graph.explain``, which only ask, use the
    helper unless it is False.

    Parameters
    ----------
    active : bool
        Whether to use it. Initially as the environment variable ``CUDNN_CTYPES_WARDEN`` says (1 or
        0).
    seconds : float, optional
        How long one step may take, as compiling one engine. Default: unchanged; initially 120.

    Returns
    -------
    context manager
        It restores the previous mode at the end of ``with``.

    Raises
    ------
    ValueError
        If `seconds` is no positive number.

    Examples
    --------
    >>> with use_warden():
    ...     plan = graph.build("H200")  # doctest: +SKIP
    """
    global _chosen, _seconds
    if seconds is not None and not (
        isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0
    ):
        raise ValueError(f"use_warden: seconds: expected more than 0, got {described(seconds)}")
    stack = contextlib.ExitStack()
    stack.callback(_restore, _chosen, _seconds)
    _chosen = flag("active", active)
    _seconds = _seconds if seconds is None else float(seconds)
    return stack


def _restore(chosen: bool | None, seconds: float) -> None:
    global _chosen, _seconds
    _chosen, _seconds = chosen, seconds


@contextlib.contextmanager
def asking(wanted: bool | None, *, default: bool = False) -> Iterator[bool]:
    """Have `active` say `wanted` in here; None: what was chosen before, or else `default`."""
    if wanted is not None:
        flag("warden", wanted)
    else:
        wanted = _asking.get()
    if wanted is None:
        wanted = _chosen_or(default)
    token = _asking.set(wanted)
    try:
        yield wanted
    finally:
        _asking.reset(token)


def active() -> bool:
    """Whether the warden is asked."""
    own = _asking.get()
    return _chosen_or(False) if own is None else own


def _chosen_or(default: bool) -> bool:
    if _chosen is not None:
        return _chosen
    value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if value not in ("", "0", "1"):
        raise ValueError(f"{ENVIRONMENT_VARIABLE}={value!r}: expected 1 or 0")
    return value == "1" if value else default


class Step(NamedTuple):
    """The question that a child is about to ask cuDNN, in words, and its mode or engine config."""

    text: str
    mode: str = ""
    choice: EngineChoice | None = None


class Death(Exception):
    """A child ended or hung: the step, the signal, and the last that cuDNN or the child said."""

    def __init__(self, step: Step, signal: str, message: str) -> None:
        super().__init__(step, signal, message)
        self.step: Step = step
        self.signal: str = signal
        self.message: str = message

    @property
    def from_outside(self) -> bool:
        """Whether somebody else ended it, twice."""
        return self.signal in _FROM_OUTSIDE


_BEGINNING = Step("beginning")
_note: Callable[[Any], object] | None = None


def step(text: str, *, mode: str = "", choice: EngineChoice | None = None) -> None:
    """Note what cuDNN is about to be asked, if this process is a warden's child."""
    if _note is not None:
        _note(Step(text, mode, choice))


def tell(*progress: Any) -> None:
    """Pass arguments on to the function `noted` of `ask`."""
    if _note is not None:
        _note(progress)


_lock = new_lock()
_idle: list[Child[bytes]] = []
in_child(_idle.clear)


def ask(
    function: Callable[..., Any],
    *arguments: Any,
    noted: Callable[..., object] = lambda *progress: None,
    **options: Any,
) -> Any:
    """Return what `function` gives in a child, or raise what it raises; all of it is pickled.

    A child that somebody ended from outside is replaced once.

    Raises Death if the child ended. Raises RuntimeError if no child can begin.
    """
    question = pickle.dumps((function, arguments, options))
    at = _BEGINNING

    def note(each: Any) -> None:
        nonlocal at
        if isinstance(each, Step):
            at = each
        else:
            noted(*each)

    for last in (False, True):
        child = _taken()
        try:
            outcome = child.perform(question, _seconds, note)
        except BaseException:  # an interrupt, say
            child.end()
            raise
        if not outcome.died:
            _give_back(child)
            right, value = pickle.loads(outcome.result)
            if right:
                return value
            raise value
        printed = outcome.printed.strip().splitlines()
        death = Death(at, outcome.result, printed[-1].strip() if printed else "")
        if last or not (death.from_outside or at == _BEGINNING):
            raise death
    raise AssertionError


def begin(wanted: bool | None, module: str, *, default: bool = False) -> None:
    """Start a child that will be asked: it loads Python, cuDNN and `module` meanwhile.

    `wanted` and `default` are those of `asking`.
    """
    # What fails here fails again, and is told, when something is asked.
    with contextlib.suppress(Exception), asking(wanted, default=default) as wanted:
        if wanted and not _idle:
            _give_back(_started(module))


def _taken() -> Child[bytes]:
    with _lock:
        while _idle:
            child = _idle.pop()
            if not child.ended:
                return child
    return _started()


def _started(module: str = __name__) -> Child[bytes]:
    from .children import Child

    own = {name: each for name, each in os.environ.items() if name not in _OF_THIS_PROCESS}
    library = load()
    chosen = {"CUDNN_CTYPES_LIBRARY": str(library.path)}
    calm = {ENVIRONMENT_VARIABLE: "0", "CUDNN_CTYPES_CACHE": "0"}
    prepare = functools.partial(_prepared, module, library.cuda_major)
    return Child(prepare, fresh=True, environment={**own, **chosen, **calm})


def _give_back(child: Child[bytes]) -> None:
    with _lock:
        if not child.ended and len(_idle) < _IDLE and child.cases < _CASES:
            _idle.append(child)
            return
    child.end()


def _prepared(
    module: str, cuda_major: int, note: Callable[[Any], None]
) -> Callable[[bytes], bytes]:
    """In a child: use no GPU, and print what cuDNN says."""
    from ...absent_gpu.driver_stub import use_stub

    use_stub(cuda_major)
    load()
    importlib.import_module(module)

    global _note
    _note = note
    errors_and_warnings = 1 << 2  # CUDNN_SEV_WARNING_EN
    _listening.enter_context(callback.listening(errors_and_warnings, _print))
    return _answer


_listening = contextlib.ExitStack()


def _print(severity: int, debug: int, message: int) -> None:
    os.write(2, "".join(f"{reason}\n" for reason in log.reasons(message)).encode())


def _answer(question: bytes) -> bytes:
    try:
        function, arguments, options = pickle.loads(question)
        value: Any = function(*arguments, **options)
    except Exception as error:
        return _pickled(False, error)
    return _pickled(True, value)


def _pickled(right: bool, value: Any) -> bytes:
    try:
        return pickle.dumps((right, value))
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}: {value!r}")))
