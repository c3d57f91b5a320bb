"""Calls by executors: results with their tasks, dead workers, places, what is read when."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from typing import Any

import pytest

from cudnn_ctypes.graph.engines.tuning.executors import spread, worker_count


def _square(task: Any, place: Any) -> Any:
    """Of a number, or of all in a tuple. 13 ends the process, 7 raises."""
    numbers = task if isinstance(task, tuple) else (task,)
    if 13 in numbers:
        os._exit(1)
    if 7 in numbers:
        raise ValueError("seven")
    squares = tuple(number * number for number in numbers)
    return squares if isinstance(task, tuple) else squares[0]


def _processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, get_context("spawn"))


@contextmanager
def _dask() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


EXECUTORS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": _processes,
    "dask": _dask,
}


def _results(found: Iterator[tuple[Any, Any]]) -> dict[Any, Any]:
    return {task: str(got) if isinstance(got, Exception) else got for task, got in found}


@pytest.mark.parametrize("kind", EXECUTORS)
def test_results_and_errors_come_with_their_tasks(kind):
    with EXECUTORS[kind]() as executor:
        found = _results(spread(executor, _square, range(10)))
    assert found == {n: n * n if n != 7 else "seven" for n in range(10)}


def _parts(task: Any) -> Any:
    return task if isinstance(task, tuple) else (task,)


@pytest.mark.soak
def test_a_dead_worker_loses_only_its_task():
    with _processes() as executor:
        found = dict(spread(executor, _square, [*range(12), 13, *range(14, 20)]))
        assert isinstance(found.pop(13), BrokenProcessPool)
        assert isinstance(found.pop(7), ValueError)
        assert found == {n: n * n for n in (*range(7), *range(8, 12), *range(14, 20))}
        with pytest.raises(BrokenProcessPool):  # the user's own stays as it is
            executor.submit(_square, 1, None)


@pytest.mark.soak
def test_what_a_dead_worker_was_at_is_tried_in_parts():
    tasks = [(1, 2), (7, 8, 10), (3, 13, 4), (5, 6), (9,)]
    with _processes() as executor:
        found = dict(spread(executor, _square, tasks, parts=lambda t: [(each,) for each in t]))
    errors = {task: type(got) for task, got in found.items() if isinstance(got, Exception)}
    assert errors == {(13,): BrokenProcessPool, (7,): ValueError}
    squares = {
        n: s
        for task, got in found.items()
        if task not in errors
        for n, s in zip(task, got, strict=True)
    }
    assert squares == {n: n * n for n in (1, 2, 3, 4, 5, 6, 8, 9, 10)}


def _fail() -> None:
    os._exit(1)


@pytest.mark.soak
def test_workers_that_cannot_live_are_given_up():
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=_fail) as executor:
        found = dict(spread(executor, _square, range(20)))
    assert set(found) == set(range(20))
    assert all(isinstance(each, BrokenExecutor) for each in found.values())


class _Breaking(Executor):
    """Breaks with its third task, as other executors than the standard library's may."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        if self.count > 3:
            raise BrokenExecutor("it broke before")
        future: Future[Any] = Future()
        if self.count == 3:
            future.set_exception(BrokenExecutor("it broke"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_what_a_broken_executor_had_left_comes_back():
    found = _results(spread(_Breaking(), _square, range(5), places=[0]))
    assert found == {0: 0, 1: 1, 2: "it broke", 3: "it broke", 4: "it broke"}


class _Busy:
    """Notes whether two tasks are at one place at a time."""

    def __init__(self) -> None:
        self.at = {"a": 0, "b": 0}
        self.most = 0
        self.used: set[str] = set()
        self.lock = threading.Lock()

    def __call__(self, task: int, place: str) -> None:
        with self.lock:
            self.at[place] += 1
            self.most = max(self.most, self.at[place])
            self.used.add(place)
        time.sleep(0.01)
        with self.lock:
            self.at[place] -= 1


def test_one_task_is_at_a_place_at_a_time():
    busy = _Busy()
    with ThreadPoolExecutor(8) as executor:
        assert len(list(spread(executor, busy, range(12), places=["a", "b"]))) == 12
    assert (busy.most, busy.used) == (1, {"a", "b"})


def test_tasks_are_read_as_there_is_room():
    done = []

    def tasks():
        for number in range(100):
            if len(done) >= 4:
                return
            assert number - len(done) <= 2
            yield number

    with ThreadPoolExecutor(2) as executor:
        for task, _ in spread(executor, _square, tasks()):
            done.append(task)
    assert 4 <= len(done) <= 6


class _Forgetting(Executor):
    """Loses two calls with one worker, as Dask may, and 4 always."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        future: Future[Any] = Future()
        if self.count in (3, 4) or args[1] == 4:
            future.set_exception(OSError("the worker is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_what_was_lost_with_another_worker_is_tried_again():
    executor = _Forgetting()
    found = _results(spread(executor, _square, range(7), places=[0]))
    assert found == {n: n * n if n != 4 else "the worker is gone" for n in range(7)}
    assert executor.count == 7 + 3


def test_workers_are_counted_where_they_are_known():
    with ThreadPoolExecutor(3) as executor:
        assert worker_count(executor) == 3
    assert worker_count(_Breaking()) is None
