"""How long an execution takes on the GPU, by CUDA events around each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....resource import Closing
from ....runtime import DeviceBuffer, Event, elapsed_ms

if TYPE_CHECKING:
    from ....handle import Handle

__all__ = ["Timer"]

# More than any level-two cache holds (126 MB on a B200), and so long to write (64 us on an H200)
# that the host has queued the execution and both events before the GPU gets there. A convolution
# of 7 us is measured as 12 us after 16 MiB, as 7.2 us after 256 MiB, and as 7.7 us after 1 GiB.
_SWEPT = 256 << 20


class Timer(Closing):
    """Measures on one handle's stream; owns memory by which it empties the cache.

    Parameters
    ----------
    handle : Handle
    cold_cache : bool
        Whether operands come from memory in each run, or an execution just before has brought
        into the level-two cache what fits there.
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
