"""Building and executing: what is refused, and what is left behind."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import CudnnError, NotSupportedError, SymbolNotFoundError, raw
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run.operands import Operands
from cudnn_ctypes.graph.run.tensor_memory import host_value


def _product() -> tuple[Graph, Tensor, Tensor, Tensor]:
    graph = Graph("product", io_data_type="float16")
    a, b = graph.tensor((4, 64, 128), name="a"), graph.tensor((4, 128, 256), name="b", uid=9)
    return graph, a, b, graph.mul(graph.matmul(a, b), 0.5).set_output(name="c")


def test_only_the_plan_is_left(a100: DeviceProperties) -> None:
    gc.collect()
    before = [each for each in gc.get_objects() if type(each) is BackendDescriptor]
    graph, *_ = _product()
    graph.build(a100)
    gc.collect()
    known = {id(each) for each in before}
    new = [
        each
        for each in gc.get_objects()
        if type(each) is BackendDescriptor and id(each) not in known and not each.closed
    ]
    assert [each.name for each in new] == ["execution_plan"]
    graph.close()
    assert new[0].closed
    with pytest.raises(ValueError, match="graph 'product' is not built"):
        _ = graph.plan


def test_a_graph_can_be_changed_and_built_again(a100: DeviceProperties) -> None:
    graph, _, _, c = _product()
    first = graph.build(a100)
    graph.relu(c).set_output()
    with graph.build(a100) as second:
        assert first.descriptor.closed
        assert not second.descriptor.closed


def test_no_engine_says_why(a100: DeviceProperties) -> None:
    graph = Graph(io_data_type="float16")
    graph.reduction(graph.tensor((4, 64, 128)), "add", axes=(2,), name="rows").set_output()
    with pytest.raises(NotSupportedError, match=r"(?s)engine .*reduction 'rows'") as caught:
        graph.build(a100)
    assert any("CUDNN_DATA_FLOAT" in message for message in caught.value.messages)


def test_what_cudnn_refuses_names_the_operation(a100: DeviceProperties) -> None:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((4, 64, 128))
    graph.transpose(x, (0, 2, 1), name="turned").set_output(data_type="float32")
    with pytest.raises((CudnnError, SymbolNotFoundError), match="turned"):
        graph.build(a100)


def test_an_older_cudnn_says_which_version_has_it(
    a100: DeviceProperties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw.load(), "version", 92100)
    graph = Graph(io_data_type="float16")
    graph.transpose(graph.tensor((4, 64, 128)), (0, 2, 1), name="turned").set_output()
    with pytest.raises(SymbolNotFoundError, match=r"transpose 'turned': .* needs cuDNN 9\.22\.0"):
        graph.build(a100)


def test_a_workspace_limit_is_kept(a100: DeviceProperties) -> None:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((4, 32, 14, 14), (6272, 1, 448, 32))
    scale, bias = (graph.tensor((1, 32, 1, 1), data_type="float32") for _ in range(2))
    for tensor in graph.batchnorm(x, scale, bias)[:3]:
        tensor.set_output()
    assert graph.build(a100).workspace_size > 0
    with pytest.raises(NotSupportedError, match="needs a workspace of"):
        graph.build(a100, workspace_limit=0)


# --- arguments of an execution -------------------------------------------------------------------


def test_memory_goes_by_tensor_uid_or_name() -> None:
    graph, a, _, c = _product()
    graph.validate()
    found = Operands(graph.tensors).by_uid({a: 0x1000, 9: 0x2000, "c": 0x3000})
    scalar = next(tensor for tensor in graph.tensors if tensor.by_value)
    assert found[a.uid or 0] == 0x1000
    assert found[9] == 0x2000
    assert found[c.uid or 0] == 0x3000
    assert found[scalar.uid or 0].value == 0.5
    changed = Operands(graph.tensors).by_uid({a: 1, 9: 2, c: 3, scalar: 4.0})
    assert changed[scalar.uid or 0].value == 4.0


@pytest.mark.parametrize(
    ("memory", "error", "message"),
    [
        ({"a": 1}, ValueError, r"no memory was given for 'b' \(uid 9\), 'c'"),
        ({"a": 1, "d": 2}, KeyError, "no tensor with memory is called 'd'"),
        ({"a": 1, "matmul": 2}, KeyError, "no tensor with memory is called 'matmul'"),
        ({"b": 1, 9: 2}, ValueError, "'b' .uid 9. is given twice"),
    ],
)
def test_wrong_memory_is_refused(
    memory: dict[Any, Any], error: type[Exception], message: str
) -> None:
    graph, *_ = _product()
    graph.validate()
    with pytest.raises(error, match=message):
        Operands(graph.tensors).by_uid(memory)


@pytest.mark.usefixtures("reference_device")
def test_memory_that_is_too_small_is_refused() -> None:
    from cudnn_ctypes import DeviceTensor

    graph, a, *_ = _product()
    graph.validate()
    with (
        DeviceTensor.from_numpy(np.zeros((4, 64, 127), np.float16)) as small,
        pytest.raises(ValueError, match=r"tensor 'a' \(4, 64, 128\) needs 65536 bytes, got 65024"),
    ):
        Operands(graph.tensors).by_uid({a: small})


@pytest.mark.parametrize(
    ("data_type", "ctype"),
    [
        ("float32", ctypes.c_float),
        ("float64", ctypes.c_double),
        ("float16", ctypes.c_uint16),
        ("bfloat16", ctypes.c_uint16),
        ("int32", ctypes.c_int32),
        ("int64", ctypes.c_int64),
    ],
)
def test_numbers_by_value_have_the_tensors_type(data_type: str, ctype: type) -> None:
    graph = Graph()
    scalar = host_value(3, graph.tensor_scalar(0, data_type))
    assert type(scalar) is ctype
    dtype = np.dtype(getattr(ml_dtypes, data_type, data_type))
    assert np.frombuffer(bytes(scalar), dtype)[0] == 3


def test_executing_needs_a_handle(a100: DeviceProperties) -> None:
    graph, a, b, c = _product()
    with graph:
        graph.build(a100)
        with pytest.raises(ValueError, match="graph 'product' was built without a handle"):
            graph.execute({a: 1, b: 2, c: 3})


def test_a_variant_pack_takes_what_an_execution_gives(a100: DeviceProperties) -> None:
    graph, a, b, c = _product()
    with graph:
        plan = graph.build(a100)
        found = Operands(graph.tensors).by_uid({a: 0x1000, b: 0x2000, c: 0x3000})
        with plan.variant_pack(found, 0x4000) as pack:
            assert sorted(pack["unique_ids"]) == sorted(found)


def test_a_graph_of_an_epilogue_by_rows(a100: DeviceProperties) -> None:
    """A matrix product with one bias for each row."""
    graph = Graph(io_data_type="float16")
    product = graph.matmul(A=graph.tensor((4, 64, 128)), B=graph.tensor((4, 128, 256)))
    graph.bias(input=product, bias=graph.tensor((4, 64, 1)), name="bias").set_output()
    with graph:
        assert graph.build(a100, ["a"]).workspace_size >= 0


def test_only_a_gpu_is_built_for() -> None:
    with Graph(io_data_type="float16") as graph:
        graph.relu(graph.tensor((4, 8))).set_output()
        for wrong in (None, 3):
            with pytest.raises(
                TypeError, match="device: expected a Handle, DeviceProperties, the name"
            ):
                graph.build(wrong)  # type: ignore[arg-type]
