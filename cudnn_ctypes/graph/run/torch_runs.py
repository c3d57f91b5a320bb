"""Runs of a built graph on tensors of PyTorch alone, like one that was made before.

The caller knows, by a key of its own, that shapes, strides, data types, GPU and alignment are those
of that run. So nothing is looked at: results and workspace are allocated, the addresses are put
together, and the plan is executed on a default handle in the order of PyTorch's current stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...raw.bare import bare, watched
from ...raw.function import binding
from ...raw.log import forget, logged
from ...runtime import pytorch
from ...runtime.launching.forms import function_of
from .given_memory import give_back, taken

if TYPE_CHECKING:
    from ..backend.descriptor import BackendDescriptor
    from ..describe.tensor import Tensor
    from .operands import Operands
    from .plan import ExecutionPlan
    from .results import ResultMemory
    from .variant_packs import VariantPacks

__all__ = ["TorchRun", "torch_run"]

TorchRun = Callable[..., Any]
"""From the tensors that were given to the results; None if it must be done the long way."""

_RUN = """\
def run({inputs}):
    to_plan = plan.get("_as_parameter_")
    if watched or to_plan is None:
        return None
    {allocations}
    key = ({addresses})
    pack = pack_for(key)
    lent = taken(ordinal, current_stream(ordinal))
    try:
        if logged:
            forget()
        code = bare.cudnnBackendExecute(lent[0]._as_parameter_, to_plan, pack.argument)
        if code:
            settle(code, (lent[0], descriptor, pack.descriptor))
    finally:
        give_back(ordinal, lent)
    last.append(pack)
    return {returned}
"""


def torch_run(
    plan: ExecutionPlan,
    operands: Operands,
    inputs: Sequence[Tensor | None],
    results: Sequence[ResultMemory],
    returned: Tensor | tuple[Tensor, ...],
    like: Any,
) -> TorchRun | None:
    """A function for runs with tensors like those of the one that was just made.

    Parameters
    ----------
    plan : ExecutionPlan
    operands : Operands
        Of the graph.
    inputs : sequence of Tensor or None
        What the arguments of the function stand for; None is not looked at.
    results : sequence of ResultMemory
        What is allocated.
    returned : Tensor or tuple of Tensor
        What the function gives of it.
    like : torch.Tensor
        One on the GPU.

    Returns
    -------
    callable or None
        None if a run needs other memory than inputs, results and workspace, or something is to be
        written there before.
    """
    result_names = {id(each.tensor): f"y{i}" for i, each in enumerate(results)}
    names = {f"x{i}": tensor for i, tensor in enumerate(inputs) if tensor is not None}
    names |= {result_names[id(each.tensor)]: each.tensor for each in results}
    addresses = _addresses(operands, names)
    if addresses is None or plan.scratch.must_write:
        return None
    offsets, size = plan.scratch_offsets, plan.workspace_size
    addresses += [f"space.data_ptr() + {offset}" for offset in offsets.values()]
    allocations, scope = _allocations(results, size)
    several = returned if isinstance(returned, tuple) else (returned,)
    given = ", ".join(result_names[id(each)] for each in several)
    source = _RUN.format(
        inputs=", ".join(f"x{i}" for i in range(len(inputs))),
        allocations="\n    ".join(allocations),
        addresses=", ".join([*addresses, "space.data_ptr()" if size else "0"]),
        returned=f"({given},)" if isinstance(returned, tuple) else given,
    )
    packs = plan.packs((*operands.uids, *offsets))
    return function_of(source, "a graph", {**scope, **_scope(plan.descriptor, packs, like)})


def _addresses(operands: Operands, names: Mapping[str, Tensor]) -> list[str] | None:
    """Expressions for the addresses, in order; None if `names` are not all that have memory."""
    launched = operands.launched(dict.fromkeys(names.values()))
    if launched is None:
        return None
    name_at = {operands.place_of(tensor): name for name, tensor in names.items()}
    found = []
    for place, operand in enumerate(launched[0]):
        if operand.number is not None:
            found.append(str(operand.number))
        elif operand.base is not None:
            found.append(f"{name_at[operand.base]}.data_ptr() + {operand.offset}")
        else:
            found.append(f"{name_at[place]}.data_ptr()")
    return found


def _allocations(
    results: Sequence[ResultMemory], workspace_size: int
) -> tuple[list[str], dict[str, Any]]:
    """Statements that allocate, and the values that they name."""
    wanted = {f"y{i}": each.torch_form() for i, each in enumerate(results)}
    if workspace_size:
        wanted["space"] = pytorch.bytes_form(workspace_size)
    lines, scope = [], {}
    for name, (shape, strides, dtype) in wanted.items():
        lines.append(f"{name} = empty({shape}, {strides}, dtype=type_{name}, device=device)")
        scope[f"type_{name}"] = dtype
    return lines, scope


def _scope(plan: BackendDescriptor, packs: VariantPacks, like: Any) -> Mapping[str, Any]:
    return {
        "watched": watched,
        "plan": vars(plan),
        "descriptor": plan,
        "pack_for": packs.taken,
        "last": packs.last,
        "ordinal": like.get_device(),
        "device": like.device,
        "empty": sys.modules["torch"].empty_strided,
        "current_stream": pytorch.current_stream,
        "taken": taken,
        "give_back": give_back,
        "bare": bare,
        "logged": logged,
        "forget": forget,
        "settle": binding("cudnnBackendExecute").settle,
    }
