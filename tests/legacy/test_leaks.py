"""Steps of each family leave no memory behind, of the host's and of a GPU's."""

from __future__ import annotations

import ctypes
import itertools
from ctypes import c_size_t, c_void_p
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, DropoutDescriptor, Handle, softmax_forward

from .leaks import FOUND, check_no_memory_is_left
from .operation_table import FAMILIES, LACKING, Family, rows, sequences
from .recurrent import Run, example, random_operands


@pytest.mark.thinned(30, always=(sequences.ctc,))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_steps_leave_no_memory(handle: Handle, family: Family) -> None:
    """Descriptors, operands, calls and bound forms, made anew; nothing forgotten, which warns."""

    def step() -> None:
        with rows(family, handle) as cases:
            for case in cases.values():
                try:
                    case()
                except LACKING:
                    continue
                with case.bind() as bound:
                    bound()

    try:
        step()
    except LACKING as error:
        pytest.skip(str(error))
    check_no_memory_is_left(step, handle)


@pytest.mark.soak
def test_networks_with_dropout_leave_no_memory(handle: Handle) -> None:
    problem = example("gru", layers=2)
    given = random_operands(problem)

    def step() -> None:
        with (
            DropoutDescriptor(handle, 0.5, seed=1) as dropout,
            Run(handle, problem, given, dropout=dropout) as run,
        ):
            run.training_step()

    check_no_memory_is_left(step, handle)


@pytest.mark.soak
@pytest.mark.parametrize("every", [1, 3])
def test_a_leak_is_found(reference_handle: Handle, every: int) -> None:
    """As small a one as there is, and one of every third step."""
    malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
    malloc.restype, malloc.argtypes, free.argtypes = c_void_p, [c_size_t], [c_void_p]
    x, left = DeviceTensor.from_numpy(np.ones((8, 33), np.float32)), list[Any]()
    count = itertools.count()

    def clean() -> None:
        softmax_forward(reference_handle, x).close()

    def step() -> None:
        clean()
        if next(count) % every == 0:
            left.append(malloc(FOUND * every - 8))  # malloc adds 8

    check_no_memory_is_left(clean, reference_handle)  # what other tests kept is freed now

    def search() -> None:
        for _ in range(3):  # in one of the rounds more may be freed
            check_no_memory_is_left(step, reference_handle, rounds=6)

    with pytest.raises(AssertionError):
        search()
    for address in left:
        free(address)
