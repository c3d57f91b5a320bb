"""Wrong operands: layer 2 and the reference device say the same of them, with their own names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import Handle
from tools.operand_messages import CASES, X, Y, activation, ctc, lrn, messages, pooling, t, table

DOCS = Path(__file__).parents[2] / "docs" / "errors.md"
IN_PYTHON = {"A": "a", "B": "b", "C": "c"}


def in_python(reason: str) -> str:
    """A sentence with the arguments' names in layer 2."""
    names = r"\b([A-Z]|\w+(?=Desc\b))(?:Desc)?\b"
    return re.sub(names, lambda found: IN_PYTHON.get(found[1], found[1]), reason)


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(case: str) -> None:
    said, status, reason = messages(CASES[case])
    name, sentence = said.split(": ", 1)
    assert re.fullmatch("[a-z_]+", name)
    assert len(sentence) > 20
    if "(N, C)" not in said:
        reason = in_python(reason)
    assert reason == said
    assert status.endswith(("BAD_PARAM", "NOT_SUPPORTED"))


UNCHECKED = {
    "y of activation": lambda h: activation(h, y=t(*Y)),
    "y of averages": lambda h: pooling(h, mode="average_count_include_padding", y=t(2, 3, 3, 3)),
    "x of averages": lambda h: pooling(
        h, mode="average_count_include_padding", x=t(2, 3, 5, 5), dx=t(*X)
    ),
    "y of LRN": lambda h: lrn(h, y=t(*Y)),
    "gradients of CTC": lambda h: ctc(h, 4, 2, 5, gradients=t(4, 2, 5, data_type="float64")),
}
"""Operands that layer 2 alone refuses."""


@pytest.mark.parametrize("case", UNCHECKED)
def test_what_cudnn_does_not_check(reference_handle: Handle, case: str) -> None:
    with pytest.raises(ValueError, match=r"^\w+: expected the (shape|data type) of"):
        UNCHECKED[case](reference_handle)


def test_the_page_has_the_table() -> None:
    assert len(CASES) >= 30
    assert "\n".join(table()) in DOCS.read_text()


def test_descriptors_that_were_never_set(reference_handle: Handle) -> None:
    x, unset = t(*X), cudnn.TensorDescriptor()
    calls = {
        "softmax": lambda: cudnn.softmax_forward(reference_handle, x, x, y_desc=unset),
        "transform": lambda: cudnn.transform_tensor(reference_handle, x, x, y_desc=unset),
        "pooling": lambda: cudnn.pooling_forward(
            reference_handle, x, cudnn.PoolingDescriptor(2), x, y_desc=unset
        ),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match=r"^y: this descriptor is not set"):
            call()
    with pytest.raises(ValueError, match=r"^rnn: this descriptor is not set"):
        cudnn.RNN.of(cudnn.RNNDescriptor(), t(2, 3, 4))
