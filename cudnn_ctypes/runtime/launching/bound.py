"""Operations with fixed operands: what is left to do is the C call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast

from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw import mode
from cudnn_ctypes.resource import Closing, Pointers, Resource, Uncopied

from ..tensor import DeviceTensor
from .machine_code import FixedCall, fixed_call, is_available
from .plan import Plan
from .recording import Launcher
from .sequence import FixedLaunch, as_machine_code

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
            plan.zeroes,
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
