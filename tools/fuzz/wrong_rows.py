"""Whether the loaded cuDNN still computes wrong what a row of the known faults says.

The smallest program of a row runs on the GPU, with each of the row's engines or with the plan that
a build without the table takes, beside the formulas of the reference device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest import mock

import numpy as np

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    EngineChoice,
    Handle,
    use_reference_device,
)
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.lower import faults, preludes
from cudnn_ctypes.graph.lower.expand import attention
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.faults import Fault, Finding
from cudnn_ctypes.raw.faults.calls import CALL_FAULTS
from tools.fault_programs import CALLS, PROGRAMS, Program, described

__all__ = ["UNSEEN", "measured_rows", "verdict", "without_rules"]

UNSEEN = (
    *("ends the process", "loses the CUDA context", "leaves the memory", "does not end", "slow"),
    "refuses what is right",
)
"""Effects that no result shows."""

_LARGEST = 1 << 28  # elements
_ROOM = 4096  # bytes on both sides of an operand
# Relative to the largest element.
_ALLOWED = {"gelu of a product": 1e-5}
# What is dropped by a seed only cuDNN knows; the gradient of the sink does not depend on it.
_COMPARED = {
    "gradient of a sink with dropout": ("dsink",),
    "gradient of a sequence without queries": ("dk", "dv"),  # all of dq is padding there
}
# Of queries and keys; by default the queries are more, in the last sequence.
_LENGTHS = {
    "sequence without keys": ([128, 128], [192, 0]),
    "gradient of a sequence without queries": ([128, 0], [192, 192]),
    "pages of one query with alibi": ([1], [300]),
}

Arrays = Mapping[str, Any]


def verdict(row: Fault, handle: Handle) -> str:
    """What became of a row's program: "wrong", "right", "no engine", "not …" if not asked."""
    if not row.ranges_at(Target.of(handle)):
        return "not known here"
    if row.name in CALLS:
        program = CALLS[row.name]
        if program is None:
            return "not shown by a program"
        return "right" if program(handle) else "wrong"
    # No operand is computed beforehand, so that engines do not misread it.
    with mock.patch.object(preludes, "prepared", lambda expansion: expansion):
        return _verdict_of_a_graph(row, handle)


def _verdict_of_a_graph(row: Fault, handle: Handle) -> str:
    from tests.reference.device.evaluation import evaluate

    (program, *_) = PROGRAMS[row.name]
    with described(program) as graph:
        if any(math.prod(each.dims or ()) > _LARGEST for each in graph.inputs):
            return "not asked: it is large"
    if row.form and _form(program, handle) == _form(program, handle, ruled=False):
        return "not asked: it is built so by itself"
    with use_reference_device(), described(program) as graph:
        arrays = _inputs(row.name, graph)
        expected = evaluate(graph, arrays)
        assert all(np.isfinite(each.astype(np.float64)).all() for each in expected.values())
    # Some engines of attention have no kernel by default.
    here = Finding(row, "", row.ranges_at(Target.of(handle)))
    kernels: tuple[dict[str, int], ...] = ({}, {"kernel_cfg": 25}, {"kernel_cfg": 26})
    choices: list[EngineChoice | None] = [
        EngineChoice(engine, knobs)
        for engine in here.engines
        for knobs in kernels
        if here.has(engine, knobs.get("kernel_cfg"))
    ]
    with without_rules():
        right = [_is_right(handle, row.name, arrays, expected, each) for each in choices or [None]]
    return "wrong" if False in right else "right" if True in right else "no engine"


@contextmanager
def without_rules() -> Iterator[None]:
    """What is built in it is built as it is described, whatever the table of faults says."""
    with (
        mock.patch.object(faults, "FAULTS", ()),
        mock.patch.object(attention, "TAKEN", False),
    ):
        yield


def _form(program: Program, handle: Handle, *, ruled: bool = True) -> list[str]:
    """The operations of a program's graph; without the rules as they are described."""
    with nullcontext() if ruled else without_rules(), described(program) as graph:
        return [str(node) for node in graph.expansion(handle).nodes]


def measured_rows(names: Sequence[str]) -> Iterator[tuple[Fault, str]]:
    """Rows of these names with their verdicts, each measured in a child process, on the GPU.

    A row whose program ends the child, or its CUDA context, gets what it said.
    """
    rows = [row for row in (*faults.FAULTS, *CALL_FAULTS) if row.name in names]

    def prepare(note: Callable[[str], None]) -> Callable[[int], str]:
        handle = Handle()

        def perform(place: int) -> str:  # of a row, whose functions cannot be sent to a child
            try:
                found = verdict(rows[place], handle)
                handle.synchronize()
            except Exception as error:  # cuda.core has errors of its own; the context is lost
                raise Spent(f"wrong: {type(error).__name__}: {error}".partition("\n")[0]) from None
            return found

        return perform

    for each in outcomes(range(len(rows)), prepare, seconds=120, megabytes=8192, maps_a_gpu=True):
        yield rows[each.case], each.result


def _inputs(name: str, graph: Graph) -> dict[str, Any]:
    """Random numbers; statistics of attention are near those of scores of 0."""
    from tests.reference.device.evaluation import expansion

    rng, lengths = np.random.default_rng(3), _LENGTHS.get(name, ([128, 128], [160, 97]))
    arrays = {}
    offsets = {each.ragged_offset: each for each in graph.tensors if each.ragged_offset is not None}
    for tensor in expansion(graph).tensors:
        if tensor in graph.inputs:
            array = rng.standard_normal(tensor.dims)
            if tensor.name == "stats":
                heads, queries = tensor.dims[1:3]
                slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
                slopes *= graph.nodes[0].options.get("use_alibi_mask", False)
                (keys,) = (each.dims[2] for each in graph.inputs if each.name == "k")
                scores = slopes[:, None, None] * (np.arange(keys) - np.arange(queries)[:, None])
                array += np.logaddexp.reduce(scores, axis=-1)[..., None]
            elif tensor.name.startswith(("scale_", "descale_")):
                array = np.ones(tensor.dims)
            elif tensor.name.startswith("seq_len_"):
                array = np.array(lengths[tensor.name.endswith("kv")])
                if tensor.dims[0] == 1 and name not in _LENGTHS:
                    of = "k" if tensor.name.endswith("kv") else "q"
                    array = next(each.dims[2:3] for each in graph.inputs if each.name == of)
                array = np.reshape(array, tensor.dims)
            elif tensor.name == "begins":  # of the tokens of experts
                (tokens,) = (each.dims[1] for each in graph.inputs if each.name == "token")
                begins = np.linspace(0, tokens, array.size, endpoint=False)
                array = np.reshape(begins, tensor.dims)
            elif tensor.name.endswith("_table"):  # of pages
                array = np.arange(array.size).reshape(tensor.dims)
            elif tensor in offsets:
                ends = np.linspace(0, math.prod(offsets[tensor].dims), tensor.dims[0])
                array = np.reshape(ends, tensor.dims)
            arrays[tensor.name] = array.astype(numpy_dtype(tensor.data_type))
    return arrays


def _is_right(
    handle: Handle, name: str, arrays: Arrays, expected: Arrays, choice: EngineChoice | None
) -> bool | None:
    """Whether a plan gives what is expected; None if cuDNN makes none."""
    with described(PROGRAMS[name][0]) as graph, ExitStack() as stack:
        try:
            plan = graph.build(handle, config=choice)
        except (NotSupportedError, ValueError):  # ValueError: no such engine or knob
            return None
        types = {name: array.dtype for name, array in {**arrays, **expected}.items()}
        memory: dict[Any, Any] = {}
        for each in (*graph.inputs, *graph.outputs):
            given = arrays.get(each.name)
            if given is None:
                given = np.full(each.dims, np.nan, types[each.name])
            # What lies around is not a number: some faults are to read or to write there.
            size = max(4, given.itemsize) * _span(each) + 2 * _ROOM
            memory[each] = room = stack.enter_context(DeviceBuffer(size))
            room.fill(255)
            with DeviceTensor.from_numpy(given, strides=each.strides) as tensor:
                room.copy_from(tensor, offset=_ROOM)
        workspace = stack.enter_context(DeviceBuffer(max(plan.workspace_size, 1)))
        workspace.fill(255)  # not a number
        graph.execute({each: _address(m) + _ROOM for each, m in memory.items()}, workspace)
        handle.synchronize()
        for each in graph.outputs:
            if each.name not in _COMPARED.get(name, expected):
                continue
            dtype = types[each.name]
            flat = memory[each].copy_to_host()[_ROOM:]
            found = np.ndarray(
                each.dims, dtype, flat, strides=[s * dtype.itemsize for s in each.strides]
            )
            wanted = expected[each.name].astype(np.float64)
            error = np.abs(found.astype(np.float64) - wanted).max()
            allowed = _ALLOWED.get(name, 0.4 if "8 bits" in name else 2e-2)
            if not error <= allowed * np.abs(wanted).max():  # NaN is wrong too
                return False
    return True


def _span(tensor: Tensor) -> int:
    """Elements from the first to the last."""
    steps = zip(tensor.dims or (), tensor.strides or (), strict=True)
    return 1 + sum((size - 1) * stride for size, stride in steps)


def _address(memory: Any) -> int:
    return int(memory._as_parameter_.value)
