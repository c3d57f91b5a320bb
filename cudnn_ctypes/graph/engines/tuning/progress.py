"""A bar with the time left, for what asks or measures one engine config after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(what: str, wanted: bool | None) -> Iterator[Callable[[str, int], None]]:
    """Yield a function to call after each step with a text and the number of steps.

    It draws a bar on the standard error output, by default only if that is a terminal.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not (console.is_terminal if wanted is None else wanted):
        yield lambda text, total: None
        return
    with Progress(console=console, transient=True, redirect_stdout=False) as progress:
        task = progress.add_task(what, total=None)

        def advance(text: str, total: int) -> None:
            progress.update(task, advance=1, total=total, description=text or what)

        yield advance
