"""How long an execution takes on the GPU, by CUDA events around each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ....resource import Closing
from ....runtime import DeviceBuffer, Event, elapsed_ms

if TYPE_CHECKING:
    from ....handle import Handle

# More than any level-two cache holds (126 MB on a B200), and so long to write (64 us on an H200)
# that the host has queued the execution and both events before the GPU gets there. A convolution
# of 7 us is measured as 12 us after 16 MiB, as 7.2 us after 256 MiB, and as 7.7 us after 1 GiB.
_SWEPT = 256 << 20


class Timer(Closing):
    """Measures on one handle's stream; owns memory by which it empties the cache.

    With `cold_cache` operands come from memory in each run; else an execution just before has
    brought into the level-two cache what fits there.
    """

    def __init__(self, handle: Handle, *, cold_cache: bool = True) -> None:
        self._stream = handle.stream
        self._cold = cold_cache
        self._swept = DeviceBuffer(_SWEPT, device=handle.device, stream=self._stream)

    def warm_up(self, times: int = 200) -> None:
        """Work for some milliseconds, in which the GPU's clocks rise."""
        for _ in range(times):
            self._swept.fill(0, stream=self._stream)

    def __call__(self, execute: Callable[[], object], runs: int) -> list[float]:
        """Microseconds of each of `runs` executions; returns when they are done."""
        events: list[tuple[Event, Event]] = []
        try:
            for _ in range(runs):
                self._swept.fill(0, stream=self._stream)
                if not self._cold:
                    execute()
                start = Event(self._stream)
                execute()
                events.append((start, Event(self._stream)))
            return [1e3 * elapsed_ms(start, end) for start, end in events]
        finally:
            for pair in events:
                for event in pair:
                    event.close()

    def close(self) -> None:
        self._swept.close()


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
