"""copy, deepcopy, pickle: another object with the same contents, or a refusal; never an alias."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.runtime import Event

pytestmark = pytest.mark.usefixtures("without_engines", "reference_device")

DESCRIPTORS: list[Callable[[], Any]] = [
    lambda: cudnn.ActivationDescriptor("clipped_relu", coef=2.5, nan_propagation="propagate_nan"),
    lambda: attention(),
    lambda: cudnn.ConvolutionDescriptor(padding=(1, 2), stride=(2, 1), dilation=(1, 3), groups=2),
    lambda: cudnn.ConvolutionDescriptor(padding=(1, 2, 0), mode="convolution"),
    lambda: cudnn.CTCLossDescriptor(),
    lambda: cudnn.FilterDescriptor((4, 2, 3, 5), "float16", layout="NHWC"),
    lambda: cudnn.FilterDescriptor(),
    lambda: cudnn.LRNDescriptor(7, alpha=0.5, beta=0.25, k=1.5),
    lambda: cudnn.OpTensorDescriptor("mul"),
    lambda: cudnn.PoolingDescriptor((2, 3), (1, 0), (2, 1), mode="average_count_include_padding"),
    lambda: cudnn.ReduceTensorDescriptor("max"),
    lambda: cudnn.RNNDataDescriptor([3, 2], 5, padding_fill=1.5),
    lambda: cudnn.RNNDescriptor("gru", input_size=4, hidden_size=6, layers=2, bidirectional=True),
    lambda: cudnn.RNNDescriptor("lstm", input_size=4, hidden_size=6, clip=(-1.0, 2.0)),
    lambda: cudnn.SeqDataDescriptor((3, 2, 1, 8), lengths=[3, 2]),
    lambda: cudnn.SpatialTransformerDescriptor((2, 3, 4, 5)),
    lambda: cudnn.TensorDescriptor((2, 3, 4, 5), "float16", layout="NHWC"),
    lambda: cudnn.TensorDescriptor((2, 3, 4), strides=(100, 10, 2)),
    lambda: cudnn.TensorDescriptor((2, 8, 4, 5), "int8x4"),
    lambda: cudnn.TensorDescriptor(),
    lambda: cudnn.TensorTransformDescriptor(pad_before=(0, 1, 2, 3), pad_after=(0, 0, 1, 0)),
]


FUSED = "bn_finalize_statistics_training"


def gru() -> cudnn.RNNDescriptor:
    return cudnn.RNNDescriptor("gru", input_size=4, hidden_size=6)


def lstm(dropout: cudnn.DropoutDescriptor) -> cudnn.RNNDescriptor:
    return cudnn.RNNDescriptor("lstm", input_size=4, hidden_size=6, layers=2, dropout=dropout)


def attention() -> cudnn.AttnDescriptor:
    return cudnn.AttnDescriptor(
        2, q_size=8, qo_max_length=5, kv_max_length=6, q_projection=4, k_projection=4
    )


def built(handle: cudnn.Handle) -> cudnn.Graph:
    graph = cudnn.Graph(io_data_type="float32", name="sum")
    a, b = (graph.tensor((1, 2, 4), name=name) for name in "ab")
    graph.relu(graph.add(a, b)).set_output(name="y")
    graph.build(handle)
    return graph


def plan(handle: cudnn.Handle) -> Any:
    return built(handle).build(handle, without_engine=False)


def bound(handle: cudnn.Handle) -> Any:
    graph = built(handle)
    values = np.ones((1, 2, 4), np.float32)
    memory = {name: cudnn.DeviceTensor.from_numpy(values) for name in "aby"}
    return graph.bind(memory, cudnn.DeviceBuffer(max(graph.workspace_size, 1)))


def program(handle: cudnn.Handle) -> Any:
    graph = cudnn.Graph(io_data_type="float32")
    graph.softmax(graph.tensor((2, 4, 8)))["y"].set_output()
    return graph.build(handle)


REFUSED: dict[str, Callable[[cudnn.Handle], Any]] = {
    "Handle": lambda handle: cudnn.Handle(),
    "BackendDescriptor": lambda handle: cudnn.BackendDescriptor("tensor"),
    "DeviceBuffer": lambda handle: cudnn.DeviceBuffer(64),
    "view": lambda handle: cudnn.DeviceBuffer(64).view(16, 16),
    "DropoutDescriptor": lambda handle: cudnn.DropoutDescriptor(handle, 0.5),
    "FusedOpsConstParamPack": lambda handle: cudnn.FusedOpsConstParamPack(FUSED),
    "FusedOpsVariantParamPack": lambda handle: cudnn.FusedOpsVariantParamPack(FUSED),
    "FusedOpsPlan": lambda handle: cudnn.FusedOpsPlan(FUSED),
    "KernelCache": lambda handle: cudnn.KernelCache(),
    "Trace": lambda handle: cudnn.trace(),
    "ExecutionPlan": plan,
    "Program": program,
    "BoundPlan": bound,
    "EngineConfig": lambda handle: plan(handle).config,
    "Engine": lambda handle: plan(handle).config.engine,
    "RNN": lambda handle: cudnn.RNN(gru(), cudnn.RNNDataDescriptor([3, 2], 4)),
    "RNNWeights": lambda handle: cudnn.RNNWeights(handle, gru()),
    "AttentionWeights": lambda handle: cudnn.AttentionWeights(handle, attention()),
    "Event": lambda handle: Event(),
    "cudnnTensorDescriptor_t": lambda handle: raw.cudnnTensorDescriptor_t(),
}


@pytest.fixture
def handle(reference_device: None) -> Iterator[cudnn.Handle]:
    with cudnn.Handle() as handle:
        yield handle


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
@pytest.mark.parametrize("make", DESCRIPTORS)
def test_a_copied_descriptor_is_another_one_with_the_same_contents(make, copied):
    with make() as original:
        text = repr(original)
        other = copied(original)
        assert type(other) is type(original)
        assert other == original
        assert repr(other) == text
        assert other._as_parameter_.value != original._as_parameter_.value
        other.close()
        assert other.closed
        assert repr(original) == text  # lives on
    with pytest.raises(cudnn.ClosedError):
        copied(original)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_had_twice_says_so(handle, kind):
    original = REFUSED[kind](handle)
    expected = r"cannot be (copied|pickled)|is (the|an) address"
    for copied in (copy.copy, copy.deepcopy, again):
        with pytest.raises(TypeError, match=expected) as caught:
            copied(original)
        assert type(original).__name__ in str(caught.value)
    if hasattr(original, "close"):
        original.close()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_a_copied_device_tensor_has_memory_of_its_own(copied, dtype):
    values = np.arange(1, 25).reshape(1, 2, 3, 4).astype(dtype)
    with cudnn.DeviceTensor.from_numpy(values, layout="NHWC") as original:
        other = copied(original)
        np.testing.assert_array_equal(other.numpy(), values)
        assert other.strides == original.strides
        other.copy_from(values[::-1] * 2)
        np.testing.assert_array_equal(original.numpy(), values)
        original.copy_from(values * 3)
    np.testing.assert_array_equal(other.numpy(), values * 2)
    with pytest.raises(TypeError, match="DeviceTensor cannot be pickled"):
        pickle.dumps(other)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_a_copied_graph_is_described_alike_and_not_built(handle, copied):
    original = built(handle)
    other = copied(original)
    original.close()
    assert other.to_json() == original.to_json()
    with pytest.raises(ValueError, match="not built"):
        _ = other.plan
    other.build(handle)
    values = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 2, 4)
    memory = {name: cudnn.DeviceTensor.from_numpy(values) for name in "aby"}
    other.execute(memory, cudnn.DeviceBuffer(max(other.workspace_size, 1)))
    np.testing.assert_allclose(memory["y"].numpy(), np.maximum(values * 2, 0))
    other.close()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_copied_device_properties(copied: Callable[[Any], Any]) -> None:
    original = cudnn.DeviceProperties.preset("H200")
    other = copied(original)
    original.close()
    assert other == original
    assert other.descriptor.get("json_representation")
    other.close()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_errors_structs_and_functions_are_copied(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(cudnn.BadParamError) as caught, cudnn.TensorDescriptor() as x:
        raw.cudnnSetTensor4dDescriptor(x, 0, 0, 0, 1, 1, 1)
    other = copied(caught.value)
    assert str(other) == str(caught.value)
    assert other.status is raw.CUDNN_STATUS_BAD_PARAM
    perf = raw.cudnnConvolutionFwdAlgoPerf_t()
    perf.time = 1.5
    other = copied(perf)
    perf.time = 2.5
    assert other.time == 1.5
    assert copied(raw.cudnnGetVersion) is raw.cudnnGetVersion


def test_an_rnn_descriptor_s_copy_shares_its_dropout(handle: cudnn.Handle) -> None:
    with cudnn.DropoutDescriptor(handle, 0.5) as dropout, ExitStack() as owned:
        original = owned.enter_context(lstm(dropout))
        other = owned.enter_context(copy.deepcopy(original))
        assert other.dropout is dropout
        with pytest.raises(TypeError, match="DropoutDescriptor cannot be pickled"):
            pickle.dumps(original)


def test_every_public_class_that_closes_is_tested() -> None:
    tested = {type(make()).__name__ for make in DESCRIPTORS} | set(REFUSED)
    tested |= {"DeviceTensor", "Graph", "DeviceProperties"}
    tested |= {"CapturedGraph", "NativeGraph"}  # made on a GPU only; below
    tested |= {"BoundOperation", "FoldedBackwardData"}  # of other objects; below
    closing = {
        cls.__name__
        for name in cudnn.__all__
        if inspect.isclass(cls := getattr(cudnn, name)) and hasattr(cls, "close")
    }
    assert closing <= tested
    for name in ("BoundOperation", "CapturedGraph", "NativeGraph", "FoldedBackwardData"):
        cls = getattr(cudnn, name)
        with pytest.raises(TypeError, match=f"a {name} cannot be copied"):
            copy.copy(object.__new__(cls))
