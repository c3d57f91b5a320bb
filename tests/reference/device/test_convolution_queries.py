"""Asking for algorithms through raw calls, on the reference device and on a GPU."""

from __future__ import annotations

from ctypes import byref, c_int, c_size_t
from typing import Any, NamedTuple

import numpy as np
import pytest

from cudnn_ctypes import BadParamError, NotSupportedError, raw

from ..raw_program import Memory, Program

SUCCESS, BAD_PARAM = raw.CUDNN_STATUS_SUCCESS, raw.CUDNN_STATUS_BAD_PARAM
NOT_SUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
NULL = (BAD_PARAM, raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
NO_SPACE = raw.CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE
X, W, Y = (2, 4, 6, 6), (8, 4, 3, 3), (2, 8, 6, 6)
DIRECTIONS = ["Forward", "BackwardData", "BackwardFilter"]
TABLES = {
    "Forward": raw.cudnnConvolutionFwdAlgoPerf_t,
    "BackwardData": raw.cudnnConvolutionBwdDataAlgoPerf_t,
    "BackwardFilter": raw.cudnnConvolutionBwdFilterAlgoPerf_t,
}
# What cuDNN 9.19 answers on an H200 for these descriptors: the statuses do not depend on the order.
ALL = {"Forward": 8, "BackwardData": 6, "BackwardFilter": 7}
WITHOUT_KERNEL = {"Forward": {3, 6}, "BackwardData": {4}, "BackwardFilter": {4, 6}}
NONDETERMINISTIC = {"Forward": set(), "BackwardData": {0}, "BackwardFilter": {0, 3}}


class Setup(NamedTuple):
    """Descriptors in the order of x, w, convolution, y, and memory for x, w, y."""

    x: Any
    w: Any
    convolution: Any
    y: Any
    memory: list[Memory]

    def descriptors(self, direction: str) -> list[Any]:
        x, w, convolution, y = self[:4]
        return {
            "Forward": [x, w, convolution, y],
            "BackwardData": [w, y, convolution, x],
            "BackwardFilter": [x, y, convolution, w],
        }[direction]

    def with_memory(self, direction: str) -> list[Any]:
        x, w, y = (memory.address for memory in self.memory)
        first, second, convolution, output = self.descriptors(direction)
        addresses = {"Forward": (x, w, y), "BackwardData": (w, y, x), "BackwardFilter": (x, y, w)}
        a, b, c = addresses[direction]
        return [first, a, second, b, convolution, output, c]


def setup(program: Program, **changes: Any) -> Setup:
    shapes = (X, W, Y)
    parts = {
        "x": program.tensor(X),
        "w": program.filter(W),
        "convolution": program.convolution((1, 1)),
        "y": program.tensor(Y),
        **changes,
    }
    return Setup(**parts, memory=[Memory(s, values=np.ones(s)) for s in shapes])


def ask(
    direction: str,
    query: str,
    program: Program,
    arguments: list[Any],
    *tail: Any,
    requested: int = 12,
) -> tuple[raw.cudnnStatus_t, list[Any]]:
    name = {
        "v7": f"cudnnGetConvolution{direction}Algorithm_v7",
        "find": f"cudnnFindConvolution{direction}Algorithm",
        "ex": f"cudnnFindConvolution{direction}AlgorithmEx",
    }[query]
    table, count = (TABLES[direction] * 12)(), c_int(-7)
    status = raw.FUNCTIONS[name].unchecked(
        program.handle, *arguments, requested, byref(count), table, *tail
    )
    return status, list(table[: max(count.value, 0)])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_v7_offers_without_timing(anywhere: Program, direction: str):
    s = setup(anywhere)
    status, rows = ask(direction, "v7", anywhere, s.descriptors(direction))
    assert status == SUCCESS
    assert len(rows) == ALL[direction]
    assert rows[0].algo == 1  # the implicit matrix product with precomputed offsets
    assert {row.algo for row in rows if row.status == NOT_SUPPORTED} == WITHOUT_KERNEL[direction]
    assert [row.status for row in rows] == sorted(row.status for row in rows)
    assert {row.time for row in rows} == {-1.0}
    assert {row.memory for row in rows if row.status != SUCCESS} == {0}
    for row in rows:
        free = row.algo in NONDETERMINISTIC[direction]
        assert row.determinism == (raw.CUDNN_NON_DETERMINISTIC if free else raw.CUDNN_DETERMINISTIC)
        assert row.mathType == raw.CUDNN_DEFAULT_MATH


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_find_ex_runs_into_the_output_within_the_workspace(program: Program, direction: str):
    s = setup(program)
    output = s.memory[{"Forward": 2, "BackwardData": 0, "BackwardFilter": 1}[direction]]
    output.set(np.full(output.shape, np.nan))
    workspace = np.empty(200, np.uint8)
    tail = (workspace.ctypes.data, workspace.nbytes)
    status, rows = ask(direction, "ex", program, s.with_memory(direction), *tail)
    assert status == SUCCESS
    assert not np.isnan(output.get()).any()
    for row in rows:
        if row.algo in WITHOUT_KERNEL[direction]:
            assert (row.status, row.time) == (NOT_SUPPORTED, -1.0)
        elif row.memory > 200:
            assert (row.status, row.time) == (NO_SPACE, -1.0)
        else:
            assert row.status == SUCCESS
            assert row.time > 0
    assert {row.status for row in rows} == {SUCCESS, NO_SPACE, NOT_SUPPORTED}
    # NULL is no workspace at all.
    status, rows = ask(direction, "ex", program, s.with_memory(direction), None, 1 << 20)
    assert {row.memory for row in rows if row.status == SUCCESS} == {0}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_counts_and_null(program: Program, direction: str):
    s = setup(program)
    descriptors, memory = s.descriptors(direction), s.with_memory(direction)
    assert ask(direction, "v7", program, descriptors, requested=0) == (SUCCESS, [])
    assert ask(direction, "find", program, descriptors, requested=0)[0] == BAD_PARAM
    assert ask(direction, "ex", program, memory, None, 0, requested=0)[0] == BAD_PARAM
    with pytest.raises(ValueError, match="requestedAlgoCount"):
        ask(direction, "v7", program, descriptors, requested=-1)
    for query, arguments, tail in (
        ("v7", descriptors, ()),
        ("find", descriptors, ()),
        ("ex", memory, (None, 0)),
    ):
        for position in range(len(arguments)):
            null = [*arguments]
            null[position] = None
            assert ask(direction, query, program, null, *tail)[0] == BAD_PARAM
    v7 = raw.FUNCTIONS[f"cudnnGetConvolution{direction}Algorithm_v7"].unchecked
    find = raw.FUNCTIONS[f"cudnnFindConvolution{direction}Algorithm"].unchecked
    table, count = (TABLES[direction] * 4)(), c_int()
    assert v7(program.handle, *descriptors, 4, None, table) == SUCCESS  # as cuDNN 9.19
    assert v7(program.handle, *descriptors, 4, count, None) in NULL
    assert find(program.handle, *descriptors, 4, None, table) == BAD_PARAM
    assert find(program.handle, *descriptors, 4, count, None) == BAD_PARAM


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_descriptors_that_do_not_fit(program: Program, direction: str):
    s = setup(program, y=program.tensor((2, 8, 5, 6)))
    assert ask(direction, "v7", program, s.descriptors(direction))[0] == BAD_PARAM
    for query, arguments, tail in (
        ("find", s.descriptors(direction), ()),
        ("ex", s.with_memory(direction), (None, 0)),
    ):
        status, rows = ask(direction, query, program, arguments, *tail)
        assert status == SUCCESS
        assert [(row.status, row.time) for row in rows] == [(BAD_PARAM, -1.0)] * ALL[direction]
    s = setup(program, y=program.tensor(Y, raw.CUDNN_DATA_DOUBLE))
    for query in ("v7", "find"):
        status, rows = ask(direction, query, program, s.descriptors(direction))
        assert status == SUCCESS
        assert {row.status for row in rows} == {NOT_SUPPORTED}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_workspace_sizes_are_those_of_the_table(program: Program, direction: str):
    descriptors = setup(program).descriptors(direction)
    function = raw.FUNCTIONS[f"cudnnGetConvolution{direction}WorkspaceSize"]
    _, rows = ask(direction, "v7", program, descriptors)
    for row in rows:
        size = c_size_t(7)
        status = function.unchecked(program.handle, *descriptors, row.algo, size)
        assert status == row.status
        assert size.value == (row.memory if status == SUCCESS else 7)
    for algorithm in (-1, 50):
        with pytest.raises(NotSupportedError, match="no kernel"):
            function(program.handle, *descriptors, algorithm, c_size_t())
    assert function.unchecked(program.handle, *descriptors, 0, None) == BAD_PARAM
    wrong = setup(program, x=program.tensor((2, 5, 6, 6))).descriptors(direction)
    with pytest.raises(BadParamError, match="has 5 channels"):
        function(program.handle, *wrong, 0, c_size_t())


def test_filters_with_less_than_a_vector_of_channels(anywhere: Any) -> None:
    """They have no channels."""
    x = anywhere.tensor((3, 32, 9, 1), raw.CUDNN_DATA_INT8x32, "NCHW_VECT_C")
    dy = anywhere.tensor((3, 32, 3, 2), raw.CUDNN_DATA_INT8x32, "NCHW_VECT_C")
    dw = anywhere.filter((32, 31, 1, 2), raw.CUDNN_DATA_INT8x32, "NCHW_VECT_C")
    convolution = anywhere.new(raw.cudnnConvolutionDescriptor_t)
    raw.cudnnSetConvolution2dDescriptor(
        convolution, 0, 1, 3, 1, 1, 1, raw.CUDNN_CONVOLUTION, raw.CUDNN_DATA_INT32
    )
    ask = raw.cudnnGetConvolutionBackwardFilterWorkspaceSize
    algo = raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0
    with pytest.raises((BadParamError, NotSupportedError)):
        ask(anywhere.handle, x, dy, convolution, dw, algo, c_size_t())
