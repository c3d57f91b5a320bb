"""The descriptors of attention, and its weights by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.reference.attention import attention_forward as attention_reference

from .small_attention import CLOSE, HEADS, OPTIONS, arrays, normal


def test_padding_fill() -> None:
    with cudnn.SeqDataDescriptor((2, 1, 1, 3), "float16", padding_fill=-1.5) as desc:
        assert desc.padding_fill == -1.5
        desc.set("float32", (2, 1, 1, 3), "TNBV")
        assert desc.padding_fill == 0
    with cudnn.SeqDataDescriptor((2, 1, 1, 3), "bfloat16", padding_fill=-1.5) as desc:
        assert desc.padding_fill is None  # cuDNN does not give it back


def test_descriptor_reads_back_what_was_set(attn: cudnn.AttnDescriptor) -> None:
    assert attn.heads == HEADS
    assert attn.sizes == {name: OPTIONS.get(name, 1) for name in attn.sizes}
    assert (attn.scaler, attn.biases, attn.query_map) == (0.5, True, "all_to_one")
    assert attn.data_type == attn.compute_data_type == raw.CUDNN_DATA_FLOAT
    assert attn.output_size == 6
    with eval(repr(attn), {"AttnDescriptor": cudnn.AttnDescriptor}) as same:
        assert same == attn
    with cudnn.AttnDescriptor(HEADS, **{**OPTIONS, "scaler": 0.25}) as other:
        assert other != attn
    with cudnn.AttnDescriptor(3, q_size=4, qo_max_length=1, kv_max_length=1) as stacked:
        assert stacked.output_size == 12
        assert stacked.sizes["k_size"] == stacked.sizes["v_size"] == 4


def test_set_wants_all_sizes(attn: cudnn.AttnDescriptor) -> None:
    nothing = ("compute_data_type", "attention_dropout", "output_dropout")
    how: dict[str, Any] = dict.fromkeys(nothing)
    how |= {"data_type": "float32", "math_type": "default_math", "query_map": "all_to_one"}
    with pytest.raises(TypeError, match="expected the sizes q_size, k_size"):
        attn.set(heads=1, scaler=1, biases=False, q_size=3, **how)


def test_the_weight_layout_is_cudnns(reference_handle: cudnn.Handle) -> None:
    """Offsets and strides as cuDNN 9.28 gave them for this attention, with a handle it ignores."""
    with (
        cudnn.AttnDescriptor(HEADS, **{**OPTIONS, "o_projection": 7}) as attn,
        cudnn.AttentionWeights(reference_handle, attn) as weights,
    ):
        layout = {
            name: (view.ptr - weights.space.ptr, view.shape, view.strides)
            for name, view in weights.items()
        }
    assert layout == {
        "q_weights": (0, (2, 3, 6), (3, 1, 6)),
        "k_weights": (144, (2, 3, 5), (3, 1, 6)),
        "v_weights": (264, (2, 2, 4), (2, 1, 4)),
        "o_weights": (328, (2, 7, 2), (14, 1, 7)),
        "q_biases": (440, (2, 3, 1), (3, 1, 1)),
        "k_biases": (464, (2, 3, 1), (3, 1, 1)),
        "v_biases": (488, (2, 2, 1), (2, 1, 1)),
        "o_biases": (504, (1, 7, 1), (7, 1, 1)),
    }


def test_weights_in_a_buffer_of_ones_own(handle: cudnn.Handle, attn: cudnn.AttnDescriptor) -> None:
    size = cudnn.attention_buffer_sizes(handle, attn).weights
    with cudnn.DeviceBuffer(size + 64) as buffer:
        with cudnn.AttentionWeights(handle, attn, arrays(), space=buffer) as weights:
            assert weights.space is buffer
        assert not buffer.closed
    with (
        cudnn.DeviceBuffer(size - 4) as small,
        pytest.raises(ValueError, match=f"space: {size - 4} bytes are too"),
    ):
        cudnn.AttentionWeights(handle, attn, space=small)


def test_an_attention_without_weights(handle: cudnn.Handle) -> None:
    with (
        cudnn.AttnDescriptor(q_size=3, qo_max_length=2, kv_max_length=2) as attn,
        cudnn.AttentionWeights(handle, attn) as weights,
    ):
        assert len(weights) == weights.nbytes == 0
        assert repr(weights) == "<AttentionWeights, 0 bytes: none>"
        x = cudnn.DeviceTensor.from_numpy(normal(2, 1, 3))
        out = cudnn.attention_forward(handle, x, x, x, attn)
        given = cudnn.attention_forward(handle, x, x, x, attn, weights)
        exact = attention_reference(*[normal(2, 1, 3)[:, :, None].astype(np.float64)] * 3).y[
            :, :, 0
        ]
        np.testing.assert_allclose(out.numpy(), exact, **CLOSE)
        np.testing.assert_array_equal(given.numpy(), out.numpy())


def test_wrong_weights(handle: cudnn.Handle, attn: cudnn.AttnDescriptor) -> None:
    with pytest.raises(TypeError, match=r"^arrays: expected arrays by name"):
        cudnn.AttentionWeights(handle, attn, [np.zeros(3)])  # type: ignore[arg-type]
    x = cudnn.DeviceTensor.zeros((3, 2, 4), "float32", strides=(16, 8, 1))
    with pytest.raises(ValueError, match="cuDNN describes dense sequences only"):
        cudnn.SeqDataDescriptor.of(x)
    with pytest.raises(ValueError, match="this attention has no w; it has q_weights"):
        cudnn.AttentionWeights(handle, attn, {"w": np.zeros(3)})
    with pytest.raises(ValueError, match=r"arrays\['q_weights'\]: expected shape \(2, 3, 6\)"):
        cudnn.AttentionWeights(handle, attn, {"q_weights": np.zeros((2, 6, 3))})
