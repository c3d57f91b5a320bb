"""``RNNDescriptor`` and ``RNNDataDescriptor`` against what was set."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.errors import BadParamError, NotSupportedError


@functools.cache
def types() -> dict[str, list[str]]:
    """Data types of the loaded cuDNN's networks, and what can be computed in."""
    known = {"float32": ["float32"], "float64": ["float64"], "float16": ["float32", "float16"]}
    try:
        cudnn.RNNDescriptor("gru", input_size=1, hidden_size=1, data_type="bfloat16").close()
    except NotSupportedError:  # cuDNN 9.0
        return known
    return {**known, "bfloat16": ["float32"]}


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    data_type = str(rng.choice(list(types())))
    hidden = int(rng.integers(2, 50))
    cell = str(rng.choice(["lstm", "gru", "rnn_tanh", "rnn_relu"]))
    skip = bool(rng.integers(2))
    return {
        "cell": cell,
        "input_size": hidden if skip else int(rng.integers(1, 50)),
        "hidden_size": hidden,
        "projection_size": int(rng.integers(1, hidden)) if cell == "lstm" else None,
        "layers": int(rng.integers(1, 9)),
        "bidirectional": bool(rng.integers(2)),
        "bias": str(rng.choice(["no_bias", "single_inp_bias", "double_bias", "single_rec_bias"])),
        "input_mode": "skip_input" if skip else "linear_input",
        "data_type": data_type,
        "compute_data_type": str(rng.choice(types()[data_type])),
        "math_type": str(rng.choice(["default_math", "tensor_op_math", "fma_math"])),
        "padded_io": bool(rng.integers(2)),
        "clip": (-float(rng.random()), float(rng.random())) if rng.integers(2) else None,
    }


class TestRNNDescriptor:
    @pytest.mark.parametrize("seed", range(10))
    def test_reads_back_what_was_set(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        arguments = random_arguments(rng)
        with cudnn.RNNDescriptor(**arguments) as rnn:
            expected = ", ".join(
                f"{name}={arguments.get(name, default)!r}"
                for name, default in {
                    **dict.fromkeys(list(arguments)[:-2]),
                    "algorithm": "standard",
                    "padded_io": None,
                    "dropout": None,
                    "clip": None,
                }.items()
            )
            assert repr(rnn) == f"RNNDescriptor({expected})"
            assert rnn.cell.name.endswith(arguments["cell"].upper())
            for name in ("input_size", "hidden_size", "layers", "bidirectional", "padded_io"):
                assert getattr(rnn, name) == arguments[name]
            assert rnn.projection_size == arguments["projection_size"]
            assert rnn.bias.name == f"CUDNN_RNN_{arguments['bias'].upper()}"
            assert rnn.input_mode.name == f"CUDNN_{arguments['input_mode'].upper()}"
            assert rnn.math_type.name == f"CUDNN_{arguments['math_type'].upper()}"
            assert rnn.clip == arguments["clip"]
            assert rnn.algorithm == raw.CUDNN_RNN_ALGO_STANDARD
            directions = 1 + arguments["bidirectional"]
            state = arguments["projection_size"] or arguments["hidden_size"]
            assert rnn.pseudo_layers == arguments["layers"] * directions
            assert (rnn.state_size, rnn.output_size) == (state, state * directions)
            with cudnn.RNNDescriptor(**arguments) as same:
                assert same == rnn
                changed = {**arguments, "layers": arguments["layers"] + 1}
                with cudnn.RNNDescriptor(**changed) as other:
                    assert other != rnn
                same.clip = (-5.0, 5.0)
                assert same != rnn

    def test_setting_again_switches_the_clip_off(self) -> None:
        with cudnn.RNNDescriptor("lstm", input_size=8, hidden_size=8, clip=(-1, 1)) as rnn:
            rnn.set("gru", input_size=3, hidden_size=4)
            assert (rnn.cell, rnn.input_size, rnn.clip) == (raw.CUDNN_GRU, 3, None)

    def test_clip(self) -> None:
        with cudnn.RNNDescriptor("lstm", input_size=8, hidden_size=8) as rnn:
            assert rnn.clip is None
            rnn.clip = (-1.5, 2.5)
            assert rnn.clip == (-1.5, 2.5)
            assert rnn.clip_nan_propagation == raw.CUDNN_PROPAGATE_NAN
            rnn.set_clip_v8((-2, 3), "not_propagate_nan")
            assert rnn.clip == (-2, 3)
            assert rnn.clip_nan_propagation == raw.CUDNN_NOT_PROPAGATE_NAN
            rnn.set_clip_v8(None, "propagate_nan")
            assert rnn.clip is None
            rnn.clip = (-1, 1)
            rnn.clip = None
            assert rnn.clip is None
            with pytest.raises(BadParamError):
                rnn.clip = (1, -1)
            for limits in (5, (1,), (1, 2, 3)):
                with pytest.raises(ValueError, match="clip: expected two limits or None"):
                    rnn.clip = limits  # type: ignore[assignment]
            with pytest.raises(TypeError, match="clip: expected a number, got 'a'"):
                rnn.clip = (0, "a")  # type: ignore[assignment]


class TestRNNDataDescriptor:
    @pytest.mark.parametrize("seed", range(10))
    def test_reads_back_what_was_set(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        lengths = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 9))))
        layout = str(rng.choice(["seq_major_unpacked", "batch_major_unpacked", "seq_major_packed"]))
        size, steps = int(rng.integers(1, 20)), max(lengths)
        if layout == "seq_major_packed":
            lengths = tuple(sorted(lengths, reverse=True))
        else:
            steps += int(rng.integers(3))
        data_type = str(rng.choice(list(types())))
        fill = float(rng.integers(-4, 5))
        options: dict[str, Any] = {"layout": layout, "max_length": steps, "padding_fill": fill}
        with cudnn.RNNDataDescriptor(lengths, size, data_type, **options) as data:
            assert repr(data) == (
                f"RNNDataDescriptor(lengths={lengths}, vector_size={size}, "
                f"data_type={data_type!r}, layout={layout!r}, max_length={steps}, "
                f"padding_fill={fill})"
            )
            assert (data.lengths, data.vector_size, data.max_length) == (lengths, size, steps)
            assert (data.batch_size, data.padding_fill) == (len(lengths), fill)
            shape = {
                "seq_major_unpacked": (steps, len(lengths), size),
                "batch_major_unpacked": (len(lengths), steps, size),
                "seq_major_packed": (sum(lengths), size),
            }[layout]
            assert data.shape == shape
            itemsize = {"float64": 8, "float32": 4}.get(data_type, 2)
            assert data.size_in_bytes == itemsize * np.prod(shape)
            with cudnn.RNNDataDescriptor(lengths, size, data_type, **options) as same:
                assert same == data
            with data.like(size + 1) as other:
                assert other != data
                assert (other.lengths, other.vector_size) == (lengths, size + 1)
                assert other.padding_fill == fill

    def test_of_a_tensor(self, reference_handle: cudnn.Handle) -> None:
        tensor = cudnn.DeviceTensor.zeros((5, 3, 8), "float16")
        with cudnn.RNNDataDescriptor.of(tensor) as data:
            assert (data.lengths, data.max_length, data.vector_size) == ((5, 5, 5), 5, 8)
            assert data.data_type == raw.CUDNN_DATA_HALF
        with cudnn.RNNDataDescriptor.of(tensor, layout="batch_major_unpacked") as data:
            assert (data.lengths, data.max_length) == ((3,) * 5, 3)
        with cudnn.RNNDataDescriptor.of(tensor, lengths=(1, 5, 2), padding_fill=1) as data:
            assert (data.lengths, data.max_length, data.padding_fill) == ((1, 5, 2), 5, 1)
        flat = cudnn.DeviceTensor.zeros((5, 8), "float32")
        packed = {"layout": "seq_major_packed"}
        with cudnn.RNNDataDescriptor.of(flat, lengths=(3, 2), **packed) as data:
            assert (data.shape, data.max_length) == ((5, 8), 3)
        for lengths, options, message in (
            ((3, 3), packed, "lengths: must add up to 5, got 6"),
            (None, packed, "lengths: needed for the packed layout"),
            (None, {}, r"tensor: expected 3 dimensions in this layout, got shape \(5, 8\)"),
        ):
            with pytest.raises(ValueError, match=message):
                cudnn.RNNDataDescriptor.of(flat, lengths=lengths, **options)
        with pytest.raises(ValueError, match="lengths: expected 3 in shape"):
            cudnn.RNNDataDescriptor.of(tensor, lengths=(5, 5))

    def test_not_set_yet(self) -> None:
        with cudnn.RNNDataDescriptor() as data:
            assert repr(data) == "RNNDataDescriptor()"
