"""Plans with their operands: executing one is a single C call."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import raw
from ...raw import cudnnHandle_t
from ...raw.bare import bare
from ...raw.function import binding, watched
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.values import described
from ...resource import Closing, Pointers, Uncopied
from ...runtime.launching.machine_code import fixed_call, is_available
from ...runtime.launching.sequence import FixedLaunch, as_machine_code

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from .plan import ExecutionPlan
    from .scratch import Writing

    class _Partial:
        """``functools.partial`` as far as it is used here."""

        def __new__(cls, function: Callable[..., Any]) -> Self: ...
        def __call__(self) -> None: ...

else:
    _Partial = functools.partial


class BoundPlan(Uncopied, _Partial, Closing):
    """A plan with its operands and workspace, which it keeps alive; call it to execute.

    ``ExecutionPlan.bind`` makes it.

    Attributes
    ----------
    handle : Handle
    plan : ExecutionPlan
    variant_pack : BackendDescriptor
        The addresses.
    operands
        What the addresses belong to.

    Examples
    --------
    >>> graph = Graph(io_data_type="float32")
    >>> x = graph.tensor((1, 2, 2), name="x")
    >>> y = graph.relu(x).set_output(name="y")
    >>> memory = DeviceTensor.full((1, 2, 2), -1, "float32")
    >>> with Handle() as handle:
    ...     bound = graph.build(handle).bind(handle, {x.uid: memory, y.uid: memory})
    ...     bound()
    >>> memory.numpy().ravel()
    array([0., 0., 0., 0.], dtype=float32)
    """

    # A partial without arguments, whose function a call reaches without a method in between.

    handle: Handle
    plan: ExecutionPlan
    variant_pack: BackendDescriptor
    operands: Any
    _prepare: Writing | None
    _fixed: FixedLaunch | None

    def __new__(
        cls,
        handle: Handle,
        plan: ExecutionPlan,
        variant_pack: BackendDescriptor,
        prepare: Writing | None = None,
    ) -> Self:
        """`prepare` is called before each execution."""
        call, fixed = _bound(handle, plan.descriptor, variant_pack)
        self = super().__new__(cls, call if prepare is None else _in_order(prepare, call))
        self._fixed = fixed if prepare is None else None
        self.handle = handle
        self.plan = plan
        self.variant_pack = variant_pack
        self.operands = None
        self._prepare = prepare
        return self

    @property
    def fixed(self) -> FixedLaunch | None:
        """For machine code; None where there can be none."""
        return self._fixed

    def execute(self) -> None:
        """Run the plan, as calling this does."""
        self()

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that these operands need; at most those of the plan for fixed shapes.

        Follows ``cudnnGetExecutionPlanWorkspaceSize``, which cuDNN has since 9.23; raises
        `SymbolNotFoundError` for an older one.
        """
        size = ctypes.c_size_t()
        raw.cudnnGetExecutionPlanWorkspaceSize(
            self.handle, self.plan.descriptor, self.variant_pack, size
        )
        return self.plan.scratch.total(size.value)

    def close(self) -> None:
        """Let the operands go. The plan stays."""
        self.variant_pack.close()
        if self._prepare is not None:
            self._prepare.close()
        self.operands = None

    def __repr__(self) -> str:
        return f"BoundPlan({self.plan!r}{', closed' if self.variant_pack.closed else ''})"


def _in_order(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        first()
        then()

    return call


def _bound(handle: Any, *descriptors: BackendDescriptor) -> tuple[Callable[[], Any], Any]:
    """The C call for a plan and a variant pack, and the same for machine code, if it can be."""
    pointer = getattr(handle, "_as_parameter_", handle)
    if pointer is not None and not isinstance(pointer, cudnnHandle_t):
        raise TypeError(f"handle: expected a Handle, got {described(handle)}")
    through_raw = functools.partial(raw.cudnnBackendExecute, handle, *descriptors)
    if pointer is None or pointer is handle:  # nobody tells when it is destroyed
        return through_raw, None
    native, settle = bare.cudnnBackendExecute, binding("cudnnBackendExecute").settle
    pointers = Pointers(handle, *descriptors)

    def by_ctypes(_: int = 0) -> None:
        if watched or ordinals:
            through_raw()
            return
        if logged:
            forget()
        try:
            arguments = pointers.arguments
        except AttributeError:  # one is closed
            through_raw()
            return
        if code := native(*arguments):
            if not arguments[0]:
                through_raw()  # cuDNN refuses NULL; this says more
            settle(code, (handle, *descriptors))

    call = fixed_call(native, pointers.arguments) if pointer and is_available() else None
    if call is None:  # with handles on several GPUs, too
        return by_ctypes, None

    def settled(_: int, code: int) -> None:
        settle(code, (handle, *descriptors))

    fixed = FixedLaunch([call], settled, by_ctypes, pointers)
    return as_machine_code([fixed], by_ctypes) or by_ctypes, fixed
