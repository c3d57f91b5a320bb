"""Every operation: in the table, launched by its key, bound, and captured in a CUDA graph."""

from __future__ import annotations

import gc
import inspect
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import CudnnError, DeviceBuffer, DeviceTensor, Handle, legacy, raw
from cudnn_ctypes.raw.function import Function
from cudnn_ctypes.reference.device import dispatch
from cudnn_ctypes.runtime.launching import operation

from .bare_launches import (  # noqa: F401
    handle_each_way,
    reference_handle_each_way,
)
from .operation_table import FAMILIES, LACKING, Case, rows, tensors_of
from .test_launch import c_calls

Arrays = list[NDArray[Any]]
by_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)

# Functions and methods that take a handle or a stream and launch nothing.
QUERIES = {
    "attention_buffer_sizes",
    "batch_normalization_ex_sizes",
    "ctc_loss_v8_workspace_size",
    "ctc_loss_workspace_size",
    "dropout_states_size",
    "folded_backward_data",
    "normalization_sizes",
    "rnn_weight_params",
    "FusedOpsPlan.make",
    "RNN.temp_space_sizes",
    "RNNDescriptor.build_dynamic",
    "RNNDescriptor.temp_space_sizes",
    "RNNDescriptor.weight_space_size",
    "ReduceTensorDescriptor.indices_size",
    "ReduceTensorDescriptor.workspace_size",
    *(
        f"Convolution{direction}.{query}"
        for direction in ("Forward", "BackwardData", "BackwardFilter")
        for query in (
            *("algorithms", "find", "find_ex"),
            *("max_algorithm_count", "workspace_size"),
        )
    ),
}
# C functions that launch, and are not operations: measurements, and a random generator's states.
NO_OPERATIONS = {
    "cudnnFindConvolutionBackwardDataAlgorithmEx",
    "cudnnFindConvolutionBackwardFilterAlgorithmEx",
    "cudnnFindConvolutionForwardAlgorithmEx",
    "cudnnRestoreDropoutDescriptor",
    "cudnnSetDropoutDescriptor",
}


def launching(function: Function) -> bool:
    """Whether a C function works on memory, on a handle's stream or one of its own."""
    bases = {getattr(p.type.base, "__name__", "") for p in function.parameters}
    works = any(p.type.kind == "device" and p.direction != "in" for p in function.parameters)
    works = works or function.__name__ == "cudnnFusedOpsExecute"
    return works and not bases.isdisjoint({"cudnnHandle_t", "cudaStream_t"})


def takers() -> set[str]:
    """Exported functions and methods of layer 2 that take a handle or a stream."""
    found: set[str] = set()
    for name in legacy.__all__:
        thing = getattr(cudnn, name)
        if inspect.isclass(thing):
            for base in thing.__mro__:
                found |= {
                    f"{name}.{method}"
                    for method, function in vars(base).items()
                    if not method.startswith("_") and takes(function)
                }
        elif takes(thing):
            found.add(name)
    return found


def takes(function: Any) -> bool:
    if not inspect.isfunction(function):
        return False
    names = inspect.signature(function).parameters
    # Streams of methods are those that copies are put on.
    return "handle" in names or ("stream" in names and "." not in function.__qualname__)


@pytest.mark.needs("cudnnGnnMhaGatV2Forward")
def test_every_operation_is_in_the_table(reference_handle: Handle) -> None:
    names: list[str] = []
    called: set[str] = set()
    for family in FAMILIES:
        with rows(family, reference_handle) as made:
            names += made
            for case in made.values():
                called.update(c_calls(case))
    assert len(names) == len(set(names))
    assert set(names) == takers() - QUERIES
    assert takers() >= QUERIES
    wanted = {name for name, function in raw.FUNCTIONS.items() if launching(function)}
    # Channels innermost is another C function, of the same operation.
    wanted -= {name for name in wanted if "Nwh" in name}
    assert wanted - called == NO_OPERATIONS


class carried_out:
    """The rows of a family; the test is skipped if this cuDNN or GPU has none of them."""

    def __init__(self, family: Any, handle: Handle) -> None:
        self._rows = rows(family, handle)

    def __enter__(self) -> dict[str, Case]:
        try:
            return self._rows.__enter__()
        except LACKING as error:
            pytest.skip(str(error))

    def __exit__(self, *exception: Any) -> None:
        self._rows.__exit__(*exception)


def called(family: Any, handle: Handle) -> Iterator[tuple[str, Case, Arrays, Arrays]]:
    """Each row of a family, what its operands held, and what a plain call of it gave."""
    with carried_out(family, handle) as made:
        for name, case in made.items():
            contents = case.contents()
            try:
                expected = numbers(case, case())
            except LACKING:
                continue
            yield name, case, contents, expected


# --- by one key, and bound ------------------------------------------------------------------------


def numbers(case: Case, result: Any) -> Arrays:
    """What a call gave: the tensors that it returned, and its operands, of which some change."""
    found = [tensor.numpy() for tensor in tensors_of(result)]
    return found + [
        memory.numpy() for memory in case.operands if isinstance(memory, cudnn.DeviceTensor)
    ]


def check_equal(name: str, actual: Arrays, expected: Arrays, *, exact: bool) -> None:
    for one, other in zip(actual, expected, strict=True):
        if exact or one.dtype.kind in "iub":
            np.testing.assert_array_equal(one, other, err_msg=name)
            continue
        wide, exactly = one.astype(np.float64), other.astype(np.float64)
        largest = np.abs(exactly).max(initial=1)
        assert np.allclose(wide, exactly, rtol=2e-3, atol=2e-3 * largest, equal_nan=True), name


def spoil(case: Case, contents: Arrays, bound: Any) -> None:
    """Restore the operands; what a bound call writes is 77 before."""
    case.restore(contents)
    for tensor in tensors_of(bound.result):
        if not any(tensor is operand for operand in case.operands):
            tensor.fill(77)


def check_bound(name: str, case: Case, contents: Arrays, expected: Arrays, exact: bool) -> None:
    with case.bind() as bound:
        for _ in range(2):
            spoil(case, contents, bound)
            check_equal(f"{name}, bound", numbers(case, bound()), expected, exact=exact)


def check_launched_by_key(
    name: str, case: Case, contents: Arrays, expected: Arrays, exact: bool, long_ways: list[Any]
) -> None:
    before = len(long_ways)
    for _ in range(2):
        case.restore(contents)
        check_equal(f"{name}, launched again", numbers(case, case()), expected, exact=exact)
    assert len(long_ways) == before, f"{name}: a later call went the long way"
    # On a GPU, where results need not be exact, the C function is called bare.
    calls = [call for call in c_calls(case) if call != "cudnnSetFusedOpsVariantParamPackAttribute"]
    assert len(calls) == exact, name


@pytest.mark.thinned(4)
@by_family
def test_launched_by_one_key_and_bound(handle, family, monkeypatch):
    long_ways: list[Any] = []
    recorded = operation._Operation._recorded

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        long_ways.append(self)
        return recorded(self, *args, **kwargs)

    monkeypatch.setattr(operation._Operation, "_recorded", counted)
    for name, case, contents, expected in called(family, handle):
        given = (name, case, contents, expected, handle.on_reference_device)
        assert case.launcher is not None, f"{name}: nothing finds it by a key"
        check_launched_by_key(*given, long_ways)
        check_bound(*given)
        handle.synchronize()


# --- operands, results and workspaces in all the forms that they may be given in -----------------

RESULTS = [
    *("y", "dx", "dw", "db", "c", "grid", "dgrid", "dtheta"),
    *("columns", "reordered_w", "costs", "output"),
]
"""Names by which an operation of one result may be given it."""


def named_results(case: Case, result: Any) -> dict[str, Any]:
    """New memory that a call returned, by the names of the parameters that it could be given by."""
    parameters = case.parameters - case.arguments.keys()
    if hasattr(result, "_asdict"):
        found = result._asdict()
    else:
        name = next((each for each in RESULTS if each in parameters), "")
        found = {name: result}
    return {
        name: value
        for name, value in found.items()
        if name in parameters and isinstance(value, (DeviceTensor, DeviceBuffer))
    }


def zeros_like(memory: Any) -> Any:
    if isinstance(memory, DeviceBuffer):
        (buffer := DeviceBuffer(memory.nbytes)).fill(0)
        return buffer
    return DeviceTensor.zeros(memory.shape, memory.data_type, strides=memory.strides)


@by_family
def test_results_may_be_given(handle: Handle, family: Any) -> None:
    with carried_out(family, handle) as made:
        for name, case in made.items():
            contents = case.contents()
            try:
                first = case()
            except LACKING:
                continue
            expected, new = numbers(case, first), named_results(case, first)
            given = {each: zeros_like(memory) for each, memory in new.items()}
            if handle.on_reference_device and "workspace" in case.parameters:
                given["workspace"] = DeviceBuffer(1 << 20)
            case.restore(contents)
            again = case.function(**{**case.arguments, **given})
            for each, memory in named_results(case, again).items():
                assert memory is given[each], (name, each)
            exact = handle.on_reference_device
            check_equal(f"{name}, results given", numbers(case, again), expected, exact=exact)


def described(operation: str, name: str, operand: DeviceTensor) -> Any:
    """The descriptor that says of an address what an operand is."""
    if operation.startswith("attention"):
        return cudnn.SeqDataDescriptor.of(operand)
    if operation.startswith("ctc"):
        return cudnn.TensorDescriptor(operand.shape, strides=operand.strides)
    return (cudnn.FilterDescriptor if name == "w" else cudnn.TensorDescriptor).of(operand)


@by_family
def test_operands_by_address(handle: Handle, family: Any) -> None:
    for name, case, contents, expected in called(family, handle):
        changed: dict[str, Any] = {}
        for each, value in case.arguments.items():
            of_images = isinstance(value, DeviceTensor) and value.ndim > 1
            if of_images and f"{each}_desc" in case.parameters:
                changed |= {each: value.ptr, f"{each}_desc": described(name, each, value)}
        case.restore(contents)
        found = numbers(case, case.function(**{**case.arguments, **changed}))
        expected = expected[-len(found) :]  # without a result that is an address
        found = [each.reshape(e.shape) for each, e in zip(found, expected, strict=True)]
        check_equal(f"{name}, addresses", found, expected, exact=handle.on_reference_device)


@by_family
def test_operands_of_pytorch(reference_handle: Handle, family: Any, torch: Any) -> None:
    for name, case, contents, expected in called(family, reference_handle):
        case.restore(contents)
        shared = {
            each: torch.from_dlpack(value)
            for each, value in case.arguments.items()
            if isinstance(value, DeviceTensor) and value.dtype.kind == "f"
        }
        found = numbers(case, case.function(**{**case.arguments, **shared}))
        expected = expected[-len(found) :]  # without a result that is an operand of PyTorch
        check_equal(f"{name}, PyTorch's", found, expected, exact=True)


@by_family
def test_nothing_is_left_open(reference_handle, family, monkeypatch):
    """Descriptors and buffers made for a call are closed; if C refuses it, the results are, too."""
    carry_out = dispatch._carry_out
    refused: list[str] = []

    def refusing(implementation: Any, function: Any, args: Any) -> int:
        if refused and launching(function):
            return int(raw.CUDNN_STATUS_INTERNAL_ERROR)
        return carry_out(implementation, function, args)

    with carried_out(family, reference_handle) as made:
        monkeypatch.setattr(dispatch, "_carry_out", refusing)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name, case in made.items():
                refused.clear()
                case()
                refused.append(name)
                with pytest.raises(CudnnError):
                    case()
            gc.collect(1)
        assert not [str(each.message) for each in caught]


@pytest.mark.gpu
@by_family
def test_launched_in_a_new_thread(gpu_handle: Handle, family: Any) -> None:
    """In which no GPU is current, as the runtime's own calls make one."""
    for name, case, contents, expected in called(family, gpu_handle):
        with case.bind() as bound:
            for way in (case, case, bound):
                case.restore(contents)
                gpu_handle.synchronize()
                with ThreadPoolExecutor(1) as thread:
                    result = thread.submit(way).result()
                check_equal(name, numbers(case, result), expected, exact=False)


@pytest.mark.gpu
@by_family
def test_captured_in_a_cuda_graph(gpu_handle: Handle, family: Any) -> None:
    """A replay computes with what the memory holds then, as a plain call does."""
    handle = gpu_handle
    handle.stream = handle.device.create_stream()  # also of operations that take a stream
    wrong: list[str] = []
    with carried_out(family, handle) as made:
        for name, case in made.items():
            try:
                check_captured(name, case, handle)
            except LACKING:
                pass
            except (AssertionError, RuntimeError) as error:
                wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)


def check_captured(name: str, case: Case, handle: Handle) -> None:
    handle.synchronize()
    first, other = case.contents(), case.permuted(1)
    case()
    with case.bind() as bound:
        case.restore(first)
        handle.synchronize()
        with cudnn.capture(handle) as captured:
            bound()
        with captured:
            for contents in (other, first):
                case.restore(contents)
                handle.synchronize()
                plain = case()
                handle.synchronize()
                expected = numbers(case, plain)
                spoil(case, contents, bound)
                handle.synchronize()
                captured.replay()
                handle.synchronize()
                check_equal(name, numbers(case, bound.result), expected, exact=False)
