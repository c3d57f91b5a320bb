"""Execution of one plan with whatever a program calls its operands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from ...raw import gpus
from ...raw.function import watched
from ...runtime import pytorch
from .given_memory import give_back, taken

if TYPE_CHECKING:
    from ...handle import Handle
    from ...runtime.launching.executions import Executions
    from ..describe.tensor import Tensor
    from .operands import Operands
    from .plan import BoundPlan, ExecutionPlan
    from .tensor_memory import ResultMemory, Shape


TorchRun = Callable[..., Any]
"""From the tensors that were given to the results; None if it must be done the long way."""


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    - `known`: for memory in a ``dict`` that is checked, without `shapes`: try ``known.execute``
      first.
    """

    def __init__(self, plan: ExecutionPlan, operands: Operands) -> None:
        self._plan = plan
        self.operands = operands
        self.workspace_size: int = plan.workspace_size
        self.known: Executions = plan.executions()
        operands.renamed = self.known.clear

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """Run the plan on the handle's stream; parameters and errors as for ``Graph.execute``.

        `shapes` are the dims and strides, by unique id, of operands that have others this time.
        """
        learns = type(memory) is dict and check and not shapes
        if learns and self.known.tried(handle, memory, workspace):  # type: ignore[arg-type]
            return
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        addresses, numbers = self.operands.addresses(memory, shapes, check=check)
        plan, uids = self._plan, self.operands.uids
        space = self.check_workspace(workspace)
        if plan.scratch or not plan.is_one_call or shapes or watched:
            by_uid = dict(zip(uids, addresses, strict=True))
            plan.execute(handle, by_uid, workspace, shapes=shapes)
            return
        packs = plan.packs(uids)
        packs.execute(handle, plan.descriptor, (*addresses, space), numbers)
        operands = self.operands.launched(memory) if learns and not numbers else None
        if operands is not None:
            self.known.learn(memory, workspace if space else None, packs, *operands)

    def bind(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> BoundPlan:
        """The plan with these operands, which it keeps alive; parameters as for a call."""
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        by_uid = self.operands.by_uid(memory, shapes, check=check)
        bound = self._plan.bind(handle, by_uid, workspace, shapes=shapes)
        bound.operands = tuple(memory.values())
        return bound

    def torch_run(
        self,
        inputs: Sequence[Tensor | None],
        results: Sequence[ResultMemory],
        returned: Tensor | tuple[Tensor, ...],
        like: Any,
    ) -> TorchRun | None:
        """A function for runs on tensors of PyTorch alone like those of the one that was just made.

        The caller knows, by a key of its own, that shapes, strides, data types, GPU and alignment
        are those of that run. So nothing is looked at: results and workspace are allocated, and the
        plan is executed on a default handle in the order of PyTorch's current stream. None if a run
        needs other memory than that, or something is to be written there before.

        - `inputs`: tensors that the arguments of the function stand for; None is not looked at.
        - `results`: memory that is allocated, of which the function gives `returned`.
        - `like`: one on the GPU.
        """
        tensors = [
            *(each for each in inputs if each is not None),
            *(each.tensor for each in results),
        ]
        launched = self.operands.launched(dict.fromkeys(tensors))
        if launched is None or not self._plan.is_one_call:
            return None
        # Each address is that of the tensor at an index, and bytes behind it; or is a number alone.
        index = {place: i for i, place in enumerate(launched[1])}
        wanted: list[tuple[int | None, int]] = [
            (None, each.number)
            if each.number is not None
            else (index[place if each.base is None else each.base], each.offset)
            for place, each in enumerate(launched[0])
        ]
        forms, size, offsets = [each.torch_form() for each in results], self.workspace_size, {}
        if size:
            forms.append(pytorch.bytes_form(size))
            offsets = self._plan.scratch_offsets
            wanted += [(len(tensors), offset) for offset in offsets.values()]
        wanted.append((len(tensors) if size else None, 0))
        of_result = {id(each.tensor): i for i, each in enumerate(results)}
        several = (
            [of_result[id(each)] for each in returned] if isinstance(returned, tuple) else None
        )
        only = of_result[id(returned)] if several is None else 0
        descriptor, packs = self._plan.descriptor, self._plan.packs((*self.operands.uids, *offsets))
        ordinal, device, empty = like.get_device(), like.device, sys.modules["torch"].empty_strided
        is_used = [each is not None for each in inputs]

        def run(*given: Any) -> Any:
            if watched or descriptor.closed:
                return None
            made = [
                empty(shape, steps, dtype=dtype, device=device) for shape, steps, dtype in forms
            ]
            at = [each.data_ptr() for each in (*compress(given, is_used), *made)]
            key = tuple([number if i is None else at[i] + number for i, number in wanted])
            lent = taken(ordinal, pytorch.current_stream(ordinal))
            try:
                packs.execute(lent[0], descriptor, key)
            finally:
                give_back(ordinal, lent)
            return made[only] if several is None else tuple([made[i] for i in several])

        return run

    def check_workspace(self, workspace: Any) -> int:
        """The address of a workspace, which must be large enough; 0 if none is needed."""
        return self._plan.check_workspace(workspace)
