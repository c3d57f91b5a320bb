"""The progress display of commands: a bar with the time left, and results as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text

__all__ = ["Steps", "steps"]


class Steps:
    """The steps of a command; `steps` creates it."""

    def __init__(self, bar: Progress | None, what: str, total: int | None) -> None:
        self._bar = bar
        self._what = what
        self._task = None if bar is None else bar.add_task(what, total=total)
        self._out = Console(highlight=False)

    def begin(self, name: str) -> None:
        """Show the name of the current step."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{self._what}: {name}")

    def expect(self, total: int) -> None:
        """Set the expected number of steps."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=total)

    def advance(self) -> None:
        """Count a step as done."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    @property
    def console(self) -> Console:
        """A console that prints on the standard output, above the bar."""
        if self._bar is not None and self._out.is_terminal:
            return self._bar.console
        return self._out

    def tell(self, result: str | Text) -> None:
        """Print a result without wrapping lines."""
        self.console.print(result, markup=False, soft_wrap=True)


@contextmanager
def steps(what: str, total: int | None = None) -> Iterator[Steps]:
    """Show a bar on the standard error output, if that is a terminal, until the block ends.

    Parameters
    ----------
    what : str
        A name for the work.
    total : int, optional
        The number of steps; the time left is shown once it is known.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Steps(None, what, total)
        return
    from rich import progress

    times = progress.TimeRemainingColumn(elapsed_when_finished=True)
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), times)
    # With redirection, output to a pipe would go to the terminal.
    bar = progress.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with bar:
        yield Steps(bar, what, total)
        sys.stdout.flush()
