"""What a command shows while it works: a bar with the time left, and results as they come."""

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
    """The steps of a command; made by `steps`."""

    def __init__(self, bar: Progress | None, what: str, total: int | None) -> None:
        self._bar = bar
        self._what = what
        self._task = None if bar is None else bar.add_task(what, total=total)
        self._out = Console(highlight=False)

    def begin(self, name: str) -> None:
        """Show which step is done now."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{self._what}: {name}")

    def expect(self, total: int) -> None:
        """Say how many steps there are, once that is known, or better known."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=total)

    def advance(self) -> None:
        """Count a step as done."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    @property
    def console(self) -> Console:
        """Prints on the standard output, above the bar."""
        if self._bar is not None and self._out.is_terminal:
            return self._bar.console
        return self._out

    def tell(self, result: str | Text) -> None:
        """Print a result; lines are as long as they are."""
        self.console.print(result, markup=False, soft_wrap=True)


@contextmanager
def steps(what: str, total: int | None = None) -> Iterator[Steps]:
    """A bar on the standard error output, if that is a terminal; it goes when the block ends.

    Parameters
    ----------
    what : str
        What is being done.
    total : int, optional
        How many steps there are; until it is known, no time that is left is shown.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Steps(None, what, total)
        return
    from rich import progress

    times = progress.TimeRemainingColumn(elapsed_when_finished=True)
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), times)
    # Redirected, what goes into a pipe would go to the terminal.
    bar = progress.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with bar:
        yield Steps(bar, what, total)
        sys.stdout.flush()
