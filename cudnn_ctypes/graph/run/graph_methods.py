"""The method of `Graph` that runs it with as little as a program wants to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...handle import Handle
from ...raw import mode
from ...raw.locks import new_reentrant_lock
from ...raw.values import described
from ...runtime import pytorch
from .execution_methods import ExecutionMethods
from .given_memory import GivenMemory
from .results import Outputs

if TYPE_CHECKING:
    from ..describe.tensor import Tensor
    from .execution import Execution
    from .plan import ExecutionPlan
    from .torch_runs import TorchRun

__all__ = ["RunMethods"]

_building = new_reentrant_lock()


class RunMethods(ExecutionMethods):
    """Methods of `Graph` that take inputs and return outputs."""

    if TYPE_CHECKING:

        @property
        def outputs(self) -> Sequence[Tensor]: ...

        build: Callable[..., ExecutionPlan]

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
        if handle is not None and not isinstance(handle, Handle):
            raise TypeError(f"handle: expected a Handle, got {described(handle)}")
        chosen = self._handle if handle is None else handle
        given = GivenMemory(memory, chosen, check=check)
        if chosen is None:
            with given.on(None) as lent:
                made, outputs = self._run(lent, given, workspace, check=check, kept=False)
        elif given.torch is None or chosen.on_reference_device:
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
        self,
        handle: Handle,
        given: GivenMemory,
        workspace: Any,
        *,
        check: bool,
        kept: bool = True,
    ) -> tuple[dict[Tensor, Any], Outputs]:
        """Run it on the handle's stream; `kept`: whether `execute` may use the handle, too.

        Returns the memory that was allocated for outputs, and all of these.
        """
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
        """After a run of tensors of PyTorch without a handle: a function for more of them.

        Parameters
        ----------
        inputs : sequence of Tensor or None
            What the arguments of the function stand for.
        returned : Tensor or tuple of Tensor
            The outputs that it gives.
        like : torch.Tensor
            On the GPU.
        """
        execution, results = self._execution, self._outputs
        if execution is None or results is None or mode.reference_device_active:
            return None
        return execution.torch_run(inputs, results.memory, returned, like)

    def _ready(self, handle: Handle, *, kept: bool) -> tuple[Execution, Outputs]:
        """The execution of the plan, which is built for the handle if there is none.

        Another thread may close the graph at any time.
        """
        execution, outputs = self._execution, self._outputs
        if execution is None or outputs is None:
            with _building:
                plan = None if self._has_grown() else self._plan
                if plan is None:
                    build = self.build if kept else self._build_without_handle
                    plan = build(handle)
                execution = self._execution or self._made_execution(plan)
                outputs = self._outputs = Outputs(self.outputs, execution.operands)
        return execution, outputs
