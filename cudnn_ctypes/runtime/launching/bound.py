"""Launches with fixed operands, alone and many in one call: what is left to do are the C calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from cudnn_ctypes.errors import ClosedError, CudnnError
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.function import watched
from cudnn_ctypes.raw.gpus import ordinals
from cudnn_ctypes.raw.log import logged
from cudnn_ctypes.resource import Closing, Pointers, Resource, Uncopied

from ..tensor import DeviceTensor
from .machine_code import FixedCall, fixed_call, function_of_calls, is_available
from .plan import Launcher, Plan


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
    whose = [(at, i) for at, each in enumerate(launches) for i in range(len(each.calls))]

    def failed(told: int) -> Any:
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
        slow=slow,
        failed=failed,
        empty=(watched, ordinals, logged),
        pointers=list(dict.fromkeys(each.pointers for each in launches)),
        result=result,
        kept=list(launches),
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
    code = as_machine_code(fixed, one_by_one) or one_by_one
    prepare = [each.prepare for each in fixed if each.prepare is not None]

    def prepared() -> None:
        for each in prepare:
            each()
        code()

    return prepared if prepare and code is not one_by_one else code


R = TypeVar("R")
P = ParamSpec("P")


class BoundOperation(Closing, Uncopied, Generic[R]):
    """An operation with its operands: each call is one call of C. Made by `bind`.

    Fused operations take their pointers by calls before that one.

    Attributes
    ----------
    result
        What the operation returns: the results that were given or made.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 1, 2), -1, "float32")
    >>> with Handle() as handle:
    ...     relu = bind(activation_forward, handle, x, "relu")
    ...     y = relu()
    >>> y is relu.result
    True
    """

    def __init__(
        self,
        handle: Launcher,
        given: Sequence[Any],
        plan: Plan,
        values: Sequence[Any],
        made: Sequence[DeviceTensor],
        result: R,
    ) -> None:
        self._scratch = [handle.allocator.allocate(size) for size in plan.scratch_sizes]
        self._values = [*values, *(block.pointer for block in self._scratch)]
        self._plan, self._handle, self.result = plan, handle, result
        self._kept = given, made
        self._pointers = Pointers(*([handle] if isinstance(handle, Resource) else []))
        self._prepare: Callable[[], None] | None = None
        if plan.prepares:
            self._prepare = functools.partial(plan.prepare, handle, made, self._scratch)
        fixed = self.fixed
        self._launch: Callable[[], R] | None = None
        if fixed is not None:
            self._launch = as_machine_code([fixed], self._by_ctypes, self.result)

    @property
    def fixed(self) -> FixedLaunch | None:
        """For machine code; None where there can be none."""
        plan = self._plan
        if plan is None or not (plan.runtime.bare_calls and is_available()):
            return None
        arguments = [call.filled(self._values, call.native) for call in plan.calls]
        calls = [
            fixed_call(call.symbol, native, call.function._binding.reals)
            for call, native in zip(plan.calls, arguments, strict=True)
        ]
        if None in calls:  # with handles on several GPUs
            return None
        values = self._values
        return FixedLaunch(
            cast("list[FixedCall]", calls),
            lambda index, code: plan.settle(index, code, values),
            lambda index: plan.run(index, values),
            self._pointers,
            self._prepare,
            bool(plan.zeroed),
            (arguments, self._kept, self._scratch),
        )

    def __call__(self) -> R:
        """Launch; returns `result`.

        Raises
        ------
        ClosedError
            If this or the handle is closed.
        ValueError
            If the reference device was activated or left since it was bound.
        CudnnError
            If cuDNN refuses.
        """
        if self._prepare is not None:
            self._check()
            self._prepare()
        return (self._launch or self._by_ctypes)()

    def _check(self) -> None:
        plan = self._plan
        if plan is None:
            raise ClosedError("this BoundOperation is closed")
        _ = self._handle._as_parameter_
        if mode.runtime is not plan.runtime:
            raise ValueError(
                f"this was bound on {plan.runtime.name}, but work goes to {mode.runtime.name} now"
            )

    def _by_ctypes(self) -> R:
        self._check()
        for index in range(len(self._plan.calls)):
            self._plan.run(index, self._values)
        return self.result

    def close(self) -> None:
        """Let go of the operands, and free the workspaces; a second call does nothing."""
        self._pointers.close()
        self._plan = self._kept = self._launch = self._prepare = None  # type: ignore[assignment]
        for block in self._scratch:
            block.release()
        self._scratch = []


def bind(operation: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> BoundOperation[R]:
    """Fix the operands of an operation, so that launching it is one call of C.

    Nothing is launched. Results that are not given are made once, workspaces are kept, and a
    captured CUDA graph may hold the calls.

    Parameters
    ----------
    operation
        A function of the legacy API that launches, or a method such as ``ConvolutionForward.run``.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    BoundOperation
        Call it to launch.

    Raises
    ------
    TypeError
        If `operation` is not one that can be bound, or an operand is a tensor of a library other
        than PyTorch, whose memory is only lent for one call.

    Examples
    --------
    >>> relu = bind(activation_forward, handle, x, "relu", y)  # doctest: +SKIP
    >>> relu()  # doctest: +SKIP
    """
    function: Any = getattr(operation, "__func__", operation)
    known = getattr(function, "_operation", None)
    if known is None:
        raise TypeError(f"operation: expected a launching function of cuDNN, got {operation!r}")
    arguments: tuple[Any, ...] = args
    if function is not operation:
        arguments = (operation.__self__, *args)  # type: ignore[attr-defined]
    bound: BoundOperation[R] | None = known.bound(arguments, kwargs)
    if bound is None:
        raise TypeError(
            f"{known.function.__name__}: these operands cannot be bound: give DeviceTensors, "
            f"DeviceBuffers, addresses or tensors of PyTorch"
        )
    return bound
