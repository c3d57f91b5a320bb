"""Calls carried out elsewhere, by any executor; a worker that dies loses no other call."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Executor", "spread", "worker_count"]

_Task = TypeVar("_Task")

_AT_ONCE = 32  # calls at a time for an executor that does not tell how many workers it has
_DEATHS = 8  # of workers, without a result between them, after which the rest is given up


class Executor(Protocol):
    """An object that runs calls elsewhere: ``concurrent.futures``, Dask, ``mpi4py.futures``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Start ``fn(*args, **kwargs)``; the future's ``result()`` waits for its value."""


def worker_count(executor: Executor) -> int | None:
    """How many workers an executor of the standard library has; None for others."""
    count = getattr(executor, "_max_workers", None)
    return count if isinstance(count, int) else None


def spread(
    executor: Executor,
    function: Callable[[_Task, Any], Any],
    tasks: Iterable[_Task],
    *,
    places: Sequence[Any] = (),
    parts: Callable[[_Task], Sequence[_Task]] = lambda task: (task,),
) -> Iterator[tuple[_Task, Any]]:
    """Each task with what `function` returned for it, or raised, as they end.

    Tasks that get lost with a worker that dies are tried again in the end, each alone, since others
    than the one that was to blame get lost, too. A task that gets lost again comes back with the
    executor's exception. A ``ProcessPoolExecutor`` is broken by the death of a worker: another one
    like it takes its place. What other executors that break had left comes back with theirs.

    Parameters
    ----------
    executor : Executor
        Its futures have ``result`` and ``add_done_callback``.
    function : callable
        Takes a task and a place. Tasks, places and results are pickled where workers are processes.
    tasks : iterable
        Read as there is room for them, so that it may go by earlier results.
    places : sequence, optional
        At each is one task at a time: GPUs, say. By default as many as there are workers, all None.
    parts : callable, optional
        From a task that failed to smaller ones, which are tried instead; or itself alone.
    """
    return _Spread(executor, function, places, parts).run(_Tasks(tasks))


def _carried_out(function: Callable[[Any, Any], Any], task: Any, place: Any) -> tuple[bool, Any]:
    """Whether `function` raised, and what it returned or raised; by this it is told from death."""
    try:
        return False, function(task, place)
    except Exception as error:
        return True, error


class _Tasks(Generic[_Task]):
    """Tasks from an iterable, after those that are added."""

    def __init__(self, tasks: Iterable[_Task]) -> None:
        self.added: deque[_Task] = deque()
        self._rest = iter(tasks)

    def __iter__(self) -> _Tasks[_Task]:
        return self

    def __next__(self) -> _Task:
        return self.added.popleft() if self.added else next(self._rest)


class _Spread(Generic[_Task]):
    def __init__(
        self,
        executor: Executor,
        function: Callable[[_Task, Any], Any],
        places: Sequence[Any],
        parts: Callable[[_Task], Sequence[_Task]],
    ) -> None:
        self._executor = executor
        self._function = function
        self._parts = parts
        self._free = deque(places or [None] * (worker_count(executor) or _AT_ONCE))
        self._ended: queue.SimpleQueue[tuple[_Task, Any, Any]] = queue.SimpleQueue()
        self._broken = False
        self._error: Exception | None = None  # the last one of the executor's own
        self._deaths = 0
        self._replacement: ProcessPoolExecutor | None = None

    def run(self, tasks: _Tasks[_Task]) -> Iterator[tuple[_Task, Any]]:
        try:
            while lost := (yield from self._results(tasks)):
                suspects = deque(part for task in lost for part in self._parts(task))
                if self._broken and len(lost) == len(suspects) == 1:  # its worker, and no other
                    yield suspects.popleft(), self._error
                while self._replace() and suspects:
                    suspect = suspects.popleft()
                    if (yield from self._results(_Tasks([suspect]))):
                        yield suspect, self._error
                if self._broken:
                    yield from ((task, self._error) for task in (*suspects, *tasks))
        finally:
            if self._replacement is not None:
                self._replacement.shutdown(wait=False, cancel_futures=True)

    def _results(self, tasks: _Tasks[_Task]) -> Generator[tuple[_Task, Any], None, list[_Task]]:
        """Results, until there is no task left or the executor is broken; what has none then."""
        running, lost = 0, []
        while True:
            while self._free and not self._broken:
                task = next(tasks, None)
                if task is None:
                    break
                if self._send(task):
                    running += 1
                else:
                    lost.append(task)
            if not running:
                return lost
            task, place, future = self._ended.get()
            running -= 1
            self._free.append(place)
            try:
                raised, result = future.result()
            except Exception as error:  # of the executor: a worker has died
                self._error = error
                self._broken = self._broken or isinstance(error, BrokenExecutor)
                lost.append(task)
                continue
            self._deaths = 0
            smaller = self._parts(task) if raised else ()
            if len(smaller) > 1:
                tasks.added.extend(smaller)
            else:
                yield task, result

    def _send(self, task: _Task) -> bool:
        """Whether the executor took it; else it is broken."""
        place = self._free.popleft()
        try:
            future = self._executor.submit(_carried_out, self._function, task, place)
        except BrokenExecutor as error:
            self._broken, self._error = True, error
            self._free.append(place)
            return False
        future.add_done_callback(lambda ended: self._ended.put((task, place, ended)))
        return True

    def _replace(self) -> bool:
        """Put another executor in the place of one that is broken; whether there is a whole one."""
        if not self._broken:
            return True
        broken: Any = self._executor  # the arguments that it was made with are private
        self._deaths += 1
        replaceable = type(broken) is ProcessPoolExecutor
        if not replaceable or self._deaths >= _DEATHS:
            return False
        broken.shutdown(wait=False)
        another: Any = ProcessPoolExecutor(
            broken._max_workers, broken._mp_context, broken._initializer, broken._initargs
        )
        self._executor = self._replacement = another
        self._broken = False
        return True
