"""Executes an operation graph in NumPy, on the memory of a variant pack.

It follows the operations' definitions, except for the gradient of attention's sink, which it
negates like the engines. Engines of cuDNN 9.14 and 9.19 on an H200 differ here (measured):

- Products and convolutions of float32 are computed in TF32 there, with 10 bits of mantissa.
- Random numbers differ; see ``reference.graph.random``.
- A matrix product outside of attention ignores sizes by batch.
- Element-wise graphs of three dimensions give wrong results from the second batch on if an operand
  broadcasts along two of them.
"""

from __future__ import annotations

from collections.abc import Callable

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from . import backend_layers, backend_operations
from .backend_layers import evaluate_in_blocks
from .backend_memory import GraphMemory
from .backend_records import Record
from .backend_steps import Overrides, Step, Values, evaluate, in_order, refuse
from .backend_stored import operation_graph
from .memory import scribble
from .registry import Refused

_FAMILIES = (backend_layers, backend_operations)
_POINTWISE = raw.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR


def execute(plan: Record, pack: Record, workspace_size: int) -> None:
    """Execute a plan's operation graph with the addresses of a variant pack.

    Raises Refused if the graph is unknown, memory is missing, or an operation is not implemented
    here.
    """
    graph = operation_graph_of(plan)
    if workspace_size:
        workspace = pack.one(Name.CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
        scribble(workspace, workspace_size, "the workspace of the variant pack")
    uids = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
    addresses = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
    # So do the engines of runtime fusion (H200, 9.19), also for one of these operations alone; of
    # others it is not known.
    operations = graph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)
    fused = len(operations) > 1 or operations[0].kind == _POINTWISE
    if fused and (unknown := set(uids) - _in_memory(graph)):
        told = ", ".join(map(str, sorted(unknown)))
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
            f"the variant pack has tensors that the plan does not know: uid {told}",
        )
    carry_out(
        graph, GraphMemory(dict(zip(uids, addresses, strict=False))), overrides_of(graph, pack)
    )


def _in_memory(record: Record) -> set[int]:
    """The unique ids of the tensors below a descriptor that have memory."""
    found: set[int] = set()
    uid = record.one(Name.CUDNN_ATTR_TENSOR_UNIQUE_ID)
    if uid is not None and not record.one(Name.CUDNN_ATTR_TENSOR_IS_VIRTUAL, False):
        found.add(uid)
    for _, values in record.values.values():
        found.update(*(_in_memory(each) for each in values if isinstance(each, Record)))
    return found


def operation_graph_of(plan: Record) -> Record:
    """The operation graph of a plan; if need be, as its JSON has it."""
    if plan.graph is not None:
        return plan.graph
    if not plan.text:
        raise refuse("this plan was made before the reference device was used: build it again")
    try:
        plan.source = operation_graph(plan.text)
    except ValueError as error:
        raise refuse(
            f"the operation graph of this plan, which another process serialized, cannot be read: "
            f"{error}"
        ) from error
    return plan.source


def overrides_of(graph: Record, pack: Record) -> Overrides:
    """Overriding dims and strides of this execution; ignored unless the graph enables them."""
    if not graph.one(Name.CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, False):
        return {}
    uids, dims, strides = (
        pack.all(Name[f"CUDNN_ATTR_VARIANT_PACK_OVERRIDE_{each}"])
        for each in ("UNIQUE_IDS", "SHAPES", "STRIDES")
    )
    return dict(zip(uids, zip(dims, strides, strict=True), strict=True))


def carry_out(
    graph: Record,
    memory: GraphMemory,
    overrides: Overrides | None = None,
    *,
    change: Callable[[Step], object] | None = None,
) -> None:
    """Execute an operation graph; each tensor is rounded to its data type, also virtual ones.

    GPUs round virtual tensors as well: engines of cuDNN 9.14 and 9.19 on an H200 that fuse
    element-wise operations, products and convolutions with others.

    - `overrides`: dims and strides that replace the graph's, by unique id.
    - `change`: called with each step before any is carried out.
    """
    values: Values = {}
    operations = graph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)
    steps = in_order([Step(each, memory, values, overrides or {}) for each in operations])
    attends = sum(step.name == "matmul" for step in steps) > 1
    for step in steps:
        step.last, step.attends = step is steps[-1], attends
        if change is not None:
            change(step)
    if not attends:
        _keep_apart(steps, memory)
    carry = evaluate_in_blocks if attends and not overrides and change is None else evaluate
    outputs = carry(steps, frozenset(_gradients_of_sinks(steps)))
    for uid in outputs:  # at the end: an output may take the place of an input
        memory.store(*values[uid])


def _keep_apart(steps: list[Step], memory: GraphMemory) -> None:
    """Tell of results in the place of what products, convolutions and windows read."""
    results = [info for step in steps for _, info in step.writes if not info.virtual]
    for step in steps:
        if step.name.startswith(("convolution", "matmul", "resample")):
            for info in step.reads:
                if not info.virtual:
                    memory.keep_apart(results, info)


def _gradients_of_sinks(steps: list[Step]) -> set[int]:
    """Unique ids of the sums of exp(sink - stats) * row in the backward pass of attention.

    Engines negate them: the gradient of the sink is the negative sum (H200, 9.14 and 9.19).
    """
    found: set[int] = set()
    if sum(step.name == "matmul" for step in steps) < 4:
        return found
    made_by = {info.uid: step for step in steps for _, info in step.writes}
    for step in steps:
        product = made_by.get(step.tensor("XDESC").uid) if step.name == "reduction" else None
        if _mode(product) != raw.CUDNN_POINTWISE_MUL:
            continue
        assert product is not None
        for port in ("XDESC", "BDESC"):
            power = made_by.get(product.tensor(port).uid)
            difference = made_by.get(power.tensor("XDESC").uid) if power is not None else None
            modes = (_mode(power), _mode(difference))
            if modes == (raw.CUDNN_POINTWISE_EXP, raw.CUDNN_POINTWISE_SUB):
                assert difference is not None
                sink = difference.tensor("XDESC")
                one_a_head = [sink.dims[axis] for axis in (0, 2, 3)] == [1, 1, 1]
                if not sink.virtual and one_a_head:
                    found.add(step.tensor("YDESC").uid)
    return found


def _mode(step: Step | None) -> raw.cudnnPointwiseMode_t | None:
    """The mode of an element-wise operation; None for other operations."""
    if step is None or step.name != "pointwise":
        return None
    return raw.cudnnPointwiseMode_t(step.inner("PW_DESCRIPTOR").one("POINTWISE_MODE", 0))
