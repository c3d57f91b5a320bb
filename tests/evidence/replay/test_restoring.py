"""Descriptors that were there before a trace began are made, equal, in the program it writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from programs import run_program

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import records

pytestmark = pytest.mark.usefixtures("reference_device")

MAKERS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: cudnn.TensorDescriptor((2, 3, 4, 5), "float16", strides=(120, 40, 10, 1)),
    "filter": lambda: cudnn.FilterDescriptor((8, 4, 3, 3), "float32", layout="NHWC"),
    "convolution": lambda: cudnn.ConvolutionDescriptor((1, 2), 2, groups=2, math_type="fma_math"),
    "activation": lambda: cudnn.ActivationDescriptor("clipped_relu", coef=6.0),
    "pooling": lambda: cudnn.PoolingDescriptor((2, 3), 1, mode="average_count_include_padding"),
    "lrn": lambda: cudnn.LRNDescriptor(5, alpha=1e-4, beta=0.75, k=2.0),
    "reduce": lambda: cudnn.ReduceTensorDescriptor("add"),
    "op": lambda: cudnn.OpTensorDescriptor("mul"),
    "ctc": lambda: cudnn.CTCLossDescriptor(),
    "rnn": lambda: cudnn.RNNDescriptor("lstm", input_size=4, hidden_size=8),
    "rnn data": lambda: cudnn.RNNDataDescriptor((3, 2), 4),
    "attention": lambda: cudnn.AttnDescriptor(2, q_size=4, qo_max_length=3, kv_max_length=3),
    "sequences": lambda: cudnn.SeqDataDescriptor((3, 2, 1, 4), lengths=(3, 2)),
}


PROGRAMS = """
import sys
from pathlib import Path
from cudnn_ctypes.raw import records
for name in sys.argv[1:]:
    exec(Path(name).read_text(), {"records": records, "__name__": "__main__", "__file__": name})
"""


def test_they_hold_the_same(tmp_path):
    programs, expected = [tmp_path / f"{kind}.py" for kind in MAKERS], []
    for kind, program in zip(MAKERS, programs, strict=True):
        with MAKERS[kind]() as before:
            handle = type(before._as_parameter_)()
            handle.value = before._as_parameter_.value
            expected.append(str(records.record(handle)))
            with cudnn.trace(py=program) as seen:
                before.close()
        assert seen.left_out == []
        assert len(seen.calls) == 1  # nothing else is seen of it
        text = program.read_text()
        ((destroy, name),) = re.findall(r"(raw\.cudnnDestroy\w+)\((\w+)\)", text)
        program.write_text(text.replace(f"{destroy}({name})", f"print(records.record({name}))\n"))
    assert "None" not in expected
    assert run_program(PROGRAMS, *map(str, programs)).stdout.splitlines() == expected


def test_what_cannot_be_made_is_said_to_lack(tmp_path):
    """The states of a dropout descriptor are memory that the program may have written."""
    dropout = raw.cudnnDropoutDescriptor_t()
    raw.cudnnCreateDropoutDescriptor(dropout)
    with cudnn.trace(c=tmp_path / "out") as seen:
        raw.cudnnDestroyDropoutDescriptor(dropout)
    (left_out,) = seen.left_out
    assert "dropoutDesc was made before the trace began" in left_out
    text = (tmp_path / "out" / "out.c").read_text()
    assert f"/* Left out: {left_out} */" in text
