"""C's flow of a program: labels, exit and time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np


class NotTranslatedError(Exception):
    """The program reached C code that was not translated; the message holds line and reason.

    It is none of C++'s exceptions, so ``catch`` lets it pass.
    """


class _Goto(Exception):
    pass


class Label:
    """The target of ``goto``: what stands after ``with Label() as cleanup:``.

    Examples
    --------
    >>> from cudnn_ctypes.porting.runtime import Label
    >>> with Label() as cleanup:
    ...     cleanup.goto()
    ...     print("never printed")
    """

    def __enter__(self) -> Label:
        return self

    def goto(self) -> None:
        """Leave the block."""
        raise _Goto(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return isinstance(error, _Goto) and error.args[0] is self


def c_exit(status: int = 0) -> None:
    """C's ``exit``."""
    sys.stdout.flush()
    raise SystemExit(status)


def c_time() -> int:
    """C's ``time(NULL)``."""
    return int(time.time())


def clock() -> int:
    """C's ``clock``: microseconds of this process."""
    return int(time.process_time() * 1e6)


def run(main: Callable[..., Any]) -> None:
    """Call C's ``main`` with the command line and end with its status.

    Float arithmetic goes to infinity and NaN without warnings, as in C.
    """
    if int(np.__version__.partition(".")[0]) < 2:
        raise ImportError(
            f"expected NumPy 2, which computes with float as C does, got {np.__version__}"
        )
    arguments = [len(sys.argv), list(sys.argv)] if main.__code__.co_argcount else []
    try:
        with np.errstate(all="ignore"):
            status = main(*arguments)
    finally:
        sys.stdout.flush()
    sys.exit(status or 0)
