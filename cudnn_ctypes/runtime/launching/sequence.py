"""Many bound launches in one call."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.raw.function import watched
from cudnn_ctypes.raw.gpus import ordinals
from cudnn_ctypes.raw.log import logged
from cudnn_ctypes.resource import Pointers

from .machine_code import FixedCall, Words, count_address, function_of_calls


class FixedLaunch(NamedTuple):
    """A bound launch for machine code.

    - `settle`: raises the error of a call, given by its index, that returned a status.
    - `make`: makes a call, given by its index, by ctypes.
    - `pointers`: of what the launch needs open; ``cudnnDestroy`` sets them to NULL.
    - `prepare`: to be called before each launch.
    - `in_order`: whether `prepare` belongs between this launch and those before it.
    - `kept`: what its arguments refer to.
    """

    calls: Sequence[FixedCall]
    settle: Callable[[int, int], Any]
    make: Callable[[int], Any]
    pointers: Pointers
    prepare: Callable[[], None] | None = None
    in_order: bool = False
    kept: Any = None


class Bound(Protocol):
    """A bound plan or operation: call it to launch."""

    @property
    def fixed(self) -> FixedLaunch | None:
        """For machine code; None where there can be none."""

    def __call__(self) -> Any: ...


def as_machine_code(
    launches: Sequence[FixedLaunch], slow: Callable[[], Any], result: Any = None
) -> Callable[[], Any] | None:
    """A function that makes all launches; None where there can be no machine code.

    While calls are watched, after cuDNN logged something, with handles on several GPUs, and once
    something is closed, it calls `slow`.
    """
    pointers = list(dict.fromkeys(each.pointers for each in launches))
    whose = [(at, i) for at, each in enumerate(launches) for i in range(len(each.calls))]

    def let_go() -> None:
        for each in pointers:
            each.let_go()

    def failed(told: int) -> Any:
        let_go()
        index, status = told >> 32, told & 0xFFFFFFFF
        position, call = whose[index]
        try:
            launches[position].settle(call, status)
            for position, call in whose[index + 1 :]:  # a second try in a context of CUDA succeeded
                launches[position].make(call)
        except CudnnError as error:
            if len(launches) > 1:
                _note(error, position, len(launches))
            raise
        return result

    return function_of_calls(
        [call for each in launches for call in each.calls],
        words=Words(
            [count_address(watched), count_address(ordinals), count_address(logged)],
            [ctypes.addressof(each.closed) for each in pointers],
            [ctypes.addressof(one) for each in pointers for one in each.arguments],
            [ctypes.addressof(each.busy) for each in pointers],
        ),
        slow=slow,
        failed=failed,
        late=let_go,
        result=result,
        kept=(list(launches), pointers),
    )


def _note(error: CudnnError, position: int, count: int) -> None:
    error.arguments = {"launch": f"{position} of {count} in a sequence", **error.arguments}


def sequence(*bound: Bound) -> Callable[[], None]:
    """A function that makes bound launches one after the other, in one call without the GIL.

    Parameters
    ----------
    *bound : BoundPlan or BoundOperation
        In order; each is looked at again at every call: what is closed raises, what is traced is
        seen.

    Returns
    -------
    callable
        Its error for a bad status is that of the launch, with the argument ``launch``: which one
        it was, from 0. The launches behind it are not made.

    Raises
    ------
    TypeError
        If something is no bound launch.

    Examples
    --------
    >>> step = sequence(graph.bind(memory), cudnn_ctypes.bind(softmax_forward, handle, x))
    ... # doctest: +SKIP
    >>> step()  # doctest: +SKIP
    """
    for position, each in enumerate(bound):
        if not hasattr(type(each), "fixed"):
            raise TypeError(f"bound[{position}]: expected a bound plan or operation, got {each!r}")

    def one_by_one() -> None:
        for position, each in enumerate(bound):
            try:
                each()
            except CudnnError as error:
                if len(bound) > 1:
                    _note(error, position, len(bound))
                raise

    launches = [each.fixed for each in bound]
    fixed = [each for each in launches if each is not None and not each.in_order]
    if not fixed or len(fixed) < len(bound):
        return one_by_one
    code = as_machine_code(fixed, one_by_one)
    prepare = [each.prepare for each in fixed if each.prepare is not None]
    if code is None or not prepare:
        return code or one_by_one
    return functools.partial(_after, prepare, code)


def _after(prepare: Sequence[Callable[[], None]], code: Callable[[], Any]) -> None:
    for each in prepare:
        each()
    code()
