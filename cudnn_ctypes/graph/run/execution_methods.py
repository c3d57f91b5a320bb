"""The methods of `Graph` that execute its plan, and `run`, which makes what is missing first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...raw import mode
from ...raw.process import new_reentrant_lock
from ...raw.values import described
from ...resource import Closing

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.device_properties import DeviceProperties
    from ..describe.node import Node
    from ..describe.tensor import Tensor
    from .execution import Execution, TorchRun
    from .given_memory import GivenMemory
    from .plan import BoundPlan, ExecutionPlan
    from .tensor_memory import Outputs

    # A mapping of one kind of key is none of several kinds, to a type checker.
    MemoryMap = (
        Mapping[Tensor, Any]
        | Mapping[int, Any]
        | Mapping[str, Any]
        | Mapping[Tensor | int | str, Any]
    )
    """Memory by tensor, unique id or name."""
    DimsMap = (
        Mapping[Tensor, Sequence[int]]
        | Mapping[int, Sequence[int]]
        | Mapping[str, Sequence[int]]
        | Mapping[Tensor | int | str, Sequence[int]]
    )

_building = new_reentrant_lock()


class ExecutionMethods(Closing):
    """Methods of `Graph` that use its plan."""

    name: str
    nodes: list[Node]

    if TYPE_CHECKING:

        @property
        def outputs(self) -> Sequence[Tensor]: ...

        build: Callable[..., ExecutionPlan]

    def __init__(self) -> None:
        super().__init__()
        # Without defaults in the class, beside which Python 3.11 finds them less fast.
        self._plan: ExecutionPlan | None = None
        self._execution: Execution | None = None
        self._handle: Handle | None = None
        self._outputs: Outputs | None = None
        self._node_count = 0  # when the plan was built
        self._operands: list[Tensor] = []
        """The tensors of the plan, once there is one."""

    @property
    def plan(self) -> ExecutionPlan:
        """The plan that `build` made."""
        if self._plan is None:
            raise ValueError(f"graph {self.name!r} is not built; call its build()")
        return self._plan

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that `execute` needs beside the tensors."""
        return self.plan.workspace_size

    def _hold(
        self, plan: ExecutionPlan, device: Handle | DeviceProperties, tensors: list[Tensor]
    ) -> None:
        from ..backend.device_properties import DeviceProperties

        self.close()
        plan.names = {each.uid: each.name for each in tensors if each.uid is not None}
        self._plan, self._operands, self._node_count = plan, tensors, len(self.nodes)
        self._handle = None if isinstance(device, DeviceProperties) else device

    def execute(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> None:
        """Run it on the handle's stream; follows ``cudnnBackendExecute``.

        Parameters
        ----------
        memory : mapping
            By tensor, uid or name: device memory for `inputs` and `outputs`, numbers for those
            passed by value.
        workspace : device memory, optional
            At least `workspace_size` bytes.
        dims : mapping, optional
            By tensor, uid or name: those of all tensors with memory that have others this time,
            packed, if it was built with ``override_shapes``.
        handle : Handle, optional
            By default that of `build`.
        check : bool
            Whether memory that says its data type, dims and strides is held against its tensor.
            It may tell the same memory in other words: without dims of one element, with
            neighbouring dims joined, or as bytes.

        Raises
        ------
        ValueError
            If a tensor has no memory, or memory that contradicts it; if there is no handle.
        KeyError
            If a key is no tensor with memory of this graph.
        """
        execution = self._execution or self._made_execution(self.plan)
        chosen = self._handle if handle is None else handle
        if chosen is None:
            chosen = self._chosen(None)
        is_plain = type(memory) is dict and check and not dims
        if is_plain and execution.known.execute(chosen, memory, workspace):  # type: ignore[arg-type]
            return
        execution(chosen, memory, workspace, self._new_shapes(dims), check=check)

    def _new_shapes(self, dims: DimsMap | None) -> Any:
        if not dims:
            return None
        from .tensor_memory import new_shapes

        return new_shapes(self._operands, dims)

    def bind(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> BoundPlan:
        """`execute` for memory that stays where it is: each call of the result is one C call."""
        plan, new = self.plan, self._new_shapes(dims)
        execution = self._execution or self._made_execution(plan)
        return execution.bind(self._chosen(handle), memory, workspace, new, check=check)

    def _made_execution(self, plan: ExecutionPlan) -> Execution:
        if self._has_grown():
            raise ValueError(
                f"graph {self.name!r}: operations were added after it was built: build it again"
            )
        from .execution import Execution, Operands

        execution = self._execution = Execution(plan, Operands(self._operands))
        return execution  # another thread may close the graph

    def _has_grown(self) -> bool:
        """Whether operations were added after the build."""
        return len(self.nodes) != self._node_count

    def _chosen(self, handle: Handle | None) -> Handle:
        chosen = self._handle if handle is None else handle
        if chosen is None:
            raise ValueError(f"graph {self.name!r} was built without a handle: pass one")
        return chosen

    def run(
        self,
        memory: Mapping[Any, Any],
        workspace: Any = None,
        *,
        handle: Handle | None = None,
        check: bool = True,
    ) -> dict[str, Any]:
        """Execute it, after building it if that was not done yet; outputs are allocated.

        Without a handle it runs on the GPU that has the memory: PyTorch's tensors in PyTorch's
        current stream, other memory in the legacy default stream. With a handle it runs on the
        handle's stream, before and after which PyTorch's current one waits for the other.

        Parameters
        ----------
        memory : mapping
            By tensor, uid or name: device memory for `inputs`, numbers for those passed by value;
            memory for `outputs` that are to be written there.
        workspace : device memory, optional
            At least `workspace_size` bytes; by default what is needed is allocated.
        handle : Handle, optional
            By default that of `build`, if it was called with one.
        check : bool
            As for `execute`.

        Returns
        -------
        dict of str to memory
            All outputs by name: those that were given, else tensors of PyTorch if an input is one,
            else `DeviceTensor`. Types of less than a byte, and booleans, are bytes in PyTorch.

        Raises
        ------
        ValueError
            As in `build` and `execute`; for a tensor of PyTorch that requires gradients, while
            PyTorch computes some; if two outputs have one name.
        TypeError
            For host memory, for what is no memory, and for what is no handle.
        KeyError
            If a key is no tensor with memory of this graph.
        NotSupportedError
            If no engine can do it.

        Examples
        --------
        >>> from cudnn_ctypes import Graph
        >>> graph = Graph(io_data_type="float16")
        >>> a, b = graph.tensor((1, 8, 64), name="a"), graph.tensor((1, 64, 32), name="b")
        >>> y = (a @ b).set_output(name="y")
        >>> graph.run({"a": x, "b": w})["y"]  # doctest: +SKIP
        """
        from ...handle import Handle
        from ...runtime import pytorch
        from .given_memory import GivenMemory

        if handle is not None and not isinstance(handle, Handle):
            raise TypeError(f"handle: expected a Handle, got {described(handle)}")
        chosen = self._handle if handle is None else handle
        given = GivenMemory(memory, chosen, check=check)
        if chosen is None:
            with given.on(None) as lent:
                made, outputs = self._run(lent, given, workspace, check=check, kept=False)
        elif given.torch is None or not given.torch.is_cuda:
            made, outputs = self._run(chosen, given, workspace, check=check)
        else:
            ordinal = given.ordinal
            pytorch.follow(ordinal, chosen.stream_pointer)
            made, outputs = self._run(chosen, given, workspace, check=check)
            pytorch.precede(ordinal, chosen.stream_pointer)
        return outputs.by_name(memory, made)

    def _build_without_handle(self, handle: Handle, **options: Any) -> ExecutionPlan:
        """`build`, for later runs with handles of their own."""
        plan = self.build(handle, **options)
        self._handle = None
        return plan

    def _run(
        self, handle: Handle, given: GivenMemory, workspace: Any, *, check: bool, kept: bool = True
    ) -> tuple[dict[Tensor, Any], Outputs]:
        """Run it on the handle's stream; `kept`: whether `execute` may use the handle, too.

        Returns the memory that was allocated for outputs, and all of these.
        """
        from ...runtime import pytorch

        execution, outputs = self._ready(handle, kept=kept)
        missing, torch = outputs.missing(given.memory), given.torch
        needed = execution.workspace_size if workspace is None else 0
        if torch is not None:
            made = {each.tensor: each.in_torch(torch) for each in missing}
            if needed:
                workspace = pytorch.empty_bytes(torch, needed)
        else:
            made = {each.tensor: each.in_order_of(handle.allocator) for each in missing}
            if needed:  # what a default handle kept, nobody could give back
                block = handle.workspace(needed) if kept else handle.allocator.allocate(needed)
                workspace = block.ptr
        execution(handle, {**given.memory, **made}, workspace, check=check)
        return made, outputs

    def _torch_run(
        self, inputs: Sequence[Tensor | None], returned: Tensor | tuple[Tensor, ...], like: Any
    ) -> TorchRun | None:
        """After a run of tensors of PyTorch without a handle: a function for more; `torch_run`."""
        execution, results = self._execution, self._outputs
        if execution is None or results is None or not mode.runtime.bare_calls:
            return None
        return execution.torch_run(inputs, results.memory, returned, like)

    def _ready(self, handle: Handle, *, kept: bool) -> tuple[Execution, Outputs]:
        """The execution of the plan, which is built for the handle if there is none.

        Another thread may close the graph at any time.
        """
        execution, outputs = self._execution, self._outputs
        if execution is None or outputs is None:
            from .tensor_memory import Outputs

            with _building:
                plan = None if self._has_grown() else self._plan
                if plan is None:
                    build = self.build if kept else self._build_without_handle
                    plan = build(handle)
                execution = self._execution or self._made_execution(plan)
                outputs = self._outputs = Outputs(self.outputs, execution.operands)
        return execution, outputs

    def close(self) -> None:
        """Destroy the plan. The graph can be built again."""
        if self._plan is not None:
            self._plan.close()
            self._plan = self._execution = self._outputs = None
