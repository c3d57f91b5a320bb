"""Arguments of another kind than expected are refused by their names, in every layer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import Graph, Handle, arguments, frontend
from cudnn_ctypes.graph.backend.engine import engine_count
from cudnn_ctypes.legacy.convolution_algorithms import AlgorithmTable


def front() -> Any:
    graph = frontend.pygraph(io_data_type="float32")
    x = graph.tensor(name="x", dim=(1, 2, 4, 4), stride=(32, 16, 4, 1))
    graph.relu(x).set_output(True)
    return graph


# A class where an object is wanted, an array for a flag, text for a list: the name, and the call.
CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("rows", lambda: AlgorithmTable(Handle, "here")),  # type: ignore[arg-type]
    ("properties", lambda: cudnn.DeviceProperties(Graph)),
    ("operation_graph", lambda: engine_count(Handle)),  # type: ignore[arg-type]
    ("operation_graph", lambda: cudnn.heuristics(Graph, device="H200")),  # type: ignore[arg-type]
    ("deterministic", lambda: cudnn.Selection(deterministic=np.zeros(3))),  # type: ignore[arg-type]
    ("only", lambda: cudnn.Trace(only=Handle)),  # type: ignore[arg-type]
    ("json", lambda: cudnn.Trace(json="calls.json")),  # type: ignore[arg-type]
    ("file", lambda: cudnn.Trace(file=Handle)),  # type: ignore[arg-type]
    ("c", lambda: cudnn.Trace(c=Handle)),  # type: ignore[arg-type]
    ("path", lambda: cudnn.read_trace(Handle)),  # type: ignore[arg-type]
    ("path", lambda: Graph().to_svg(Handle)),  # type: ignore[arg-type]
    ("heuristics", lambda: cudnn.compile_graphs([], "H200", heuristics=Handle)),  # type: ignore[arg-type]
    ("backward_data", lambda: cudnn.folded_backward_data(None, Handle)),  # type: ignore[arg-type]
    ("layout", lambda: cudnn.DeviceTensor.empty((2, 3), "float32", [])),  # type: ignore[arg-type]
    ("replaced: tensors", lambda: Graph().replaced(tensors=np.zeros(3))),  # type: ignore[arg-type]
    ("ordinal", lambda: frontend.DeviceInfo(Handle)),  # type: ignore[arg-type]
    ("heuristics", lambda: frontend.Graph(heuristics=Handle)),  # type: ignore[arg-type]
    ("engine_names", lambda: front().deselect_engines("eng0")),
    ("workspace_limit", lambda: front().deselect_workspace_greater_than(Handle)),
    ("notes", lambda: front().deselect_behavior_notes(Handle)),
    ("override_uids", lambda: front().execute_plan_at_index({}, override_uids=Handle)),
    ("heuristics", lambda: front().create_execution_plans(Handle)),
]


@pytest.mark.usefixtures("reference_device")
@pytest.mark.parametrize(("name", "call"), CALLS)
def test_the_argument_is_named(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}: expected "):
        call()


def test_items() -> None:
    assert arguments.items("a", [1, 2], "numbers") == (1, 2)
    for wrong in ("ab", b"ab", 3, Handle, None):
        with pytest.raises(TypeError, match=r"^a: expected numbers, got"):
            arguments.items("a", wrong, "numbers")  # type: ignore[arg-type]


def test_paths() -> None:
    assert arguments.file_path("a", "b/c") == Path("b/c")
    with pytest.raises(TypeError, match=r"^a: expected a path, got 3 \(int\)"):
        arguments.file_path("a", 3)
