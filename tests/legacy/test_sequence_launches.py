"""Second launches of RNN, attention and CTC: what decides a launch is in its key, and no more."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw

from .bare_launches import handle_each_way, reference_handle_each_way  # noqa: F401
from .small_attention import HEADS, OPTIONS, TK, TQ, N, arrays, normal
from .test_launch import c_calls

Call = Callable[[cudnn.Handle], Any]


def put(array: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(np.asarray(array))


def host(result: Any) -> list[Any]:
    parts = result if isinstance(result, tuple) else (result,)
    return [p.numpy() for p in parts if isinstance(p, cudnn.DeviceTensor) and p.dtype != np.uint8]


def check_against_new_handles(handle: cudnn.Handle, calls: dict[str, Call], function: str) -> None:
    """Each call twice among the others, on one handle, and once on a handle that knows nothing."""
    expected = {}
    for name, call in calls.items():
        with cudnn.Handle() as other:
            expected[name] = host(call(other))
    for name in (*calls, *reversed(calls)):
        for actual, exact in zip(host(calls[name](handle)), expected[name], strict=True):
            np.testing.assert_array_equal(actual, exact, err_msg=name)
    if handle.on_reference_device:
        for name, call in calls.items():
            assert c_calls(lambda call=call: call(handle)).count(function) == 1, name
            assert len(c_calls(lambda call=call: call(handle))) == 1, name


# --- recurrent networks -------------------------------------------------------------------------


@pytest.fixture
def lstm(handle: cudnn.Handle) -> Any:
    with (
        cudnn.RNNDescriptor(
            "lstm", input_size=3, hidden_size=4, layers=2, math_type="fma_math"
        ) as rnn,
        cudnn.RNNWeights(handle, rnn) as weights,
    ):
        weights.flat.copy_from(normal(*weights.flat.shape))
        yield rnn, weights


def test_values_memory_and_sequences_of_a_network(handle: cudnn.Handle, lstm: Any) -> None:
    rnn, weights = lstm
    first, second, longer = put(normal(5, 2, 3)), put(normal(5, 2, 3, seed=1)), put(normal(7, 2, 3))
    lengths = put(np.array([5, 3], np.int32))
    with (
        cudnn.RNN.of(rnn, first, lengths=[5, 3]) as one,
        cudnn.RNN.of(rnn, first) as whole,
        cudnn.RNN.of(rnn, longer, lengths=[5, 3], padding_fill=7.5) as more,
    ):
        calls: dict[str, Call] = {
            "first": lambda h: one.forward(h, first, weights),
            "other memory": lambda h: one.forward(h, second, weights),
            "by address": lambda h: one.forward(h, second.ptr, weights, device_lengths=lengths.ptr),
            "with lengths": lambda h: one.forward(h, first, weights, device_lengths=lengths),
            "whole": lambda h: whole.forward(h, first, weights),
            "longer": lambda h: more.forward(h, longer, weights),
            "inference": lambda h: one.forward(h, first, weights, training=False),
            "no states": lambda h: one.forward(h, first, weights, final_states=False),
        }
        check_against_new_handles(handle, calls, "cudnnRNNForward")
        first.copy_from(normal(5, 2, 3, seed=5))
        weights.flat.copy_from(normal(*weights.flat.shape, seed=2))
        check_against_new_handles(handle, calls, "cudnnRNNForward")


def test_a_network_whose_descriptor_is_set_between_launches(
    handle: cudnn.Handle, lstm: Any
) -> None:
    rnn, weights = lstm
    x = put(normal(5, 2, 3))
    with cudnn.RNN.of(rnn, x) as network:

        def y() -> Any:
            return host(network.forward(handle, x, weights, training=False))[0]

        plain = [y(), y()]
        raw.cudnnRNNSetClip_v8(rnn, raw.CUDNN_RNN_CLIP_MINMAX, raw.CUDNN_PROPAGATE_NAN, -0.01, 0.01)
        clipped = [y(), y()]
        assert np.abs(clipped[0] - plain[0]).max() > 0.01
        rnn.clip = None
        for again, before in zip(
            (*plain, *clipped), (y(), y(), clipped[1], clipped[0]), strict=True
        ):
            np.testing.assert_array_equal(again, before)
        rnn.set("lstm", input_size=3, hidden_size=5, layers=2)
        for _ in range(2):
            with pytest.raises(ValueError, match="was set anew since: make a new RNN"):
                network.forward(handle, x, weights)


def test_dropout_between_launches(handle: cudnn.Handle) -> None:
    x = put(normal(5, 2, 3))
    dropout = cudnn.DropoutDescriptor(handle, 0.0, seed=1)
    with (
        cudnn.RNNDescriptor("gru", input_size=3, hidden_size=4, layers=2, dropout=dropout) as rnn,
        cudnn.RNNWeights(handle, rnn) as weights,
        cudnn.RNN.of(rnn, x) as network,
    ):
        weights.flat.copy_from(normal(*weights.flat.shape))

        def y() -> Any:
            return network.forward(handle, x, weights).y.numpy()

        whole = [y(), y()]
        np.testing.assert_array_equal(*whole)
        dropout.rate = 0.5
        assert (y() != whole[0]).any()
        assert (y() != y()).any(), "masks differ"
        dropout.rate = 0.0
        np.testing.assert_array_equal(y(), whole[0])
        dropout.close()
        for _ in range(2):
            with pytest.raises(cudnn.ClosedError, match="this DropoutDescriptor is closed"):
                y()


def test_closed_weights_and_networks_are_refused_again(handle: cudnn.Handle, lstm: Any) -> None:
    rnn, weights = lstm
    x = put(normal(5, 2, 3))
    network = cudnn.RNN.of(rnn, x)
    for _ in range(2):
        network.forward(handle, x, weights)
    network.close()
    with pytest.raises(cudnn.ClosedError):
        network.forward(handle, x, weights)
    with cudnn.RNN.of(rnn, x) as network:
        weights.close()
        with pytest.raises(cudnn.ClosedError):
            network.forward(handle, x, weights)


# --- attention ----------------------------------------------------------------------------------


@pytest.fixture
def attention(handle: cudnn.Handle) -> Any:
    with (
        cudnn.AttnDescriptor(HEADS, **OPTIONS, math_type="fma_math") as attn,
        cudnn.AttentionWeights(handle, attn, arrays()) as weights,
    ):
        operands = [put(normal(TQ, N, 6)), put(normal(TK, N, 5)), put(normal(TK, N, 4))]
        yield (*operands, attn, weights)


def test_windows_lengths_and_spaces_of_attention(handle: cudnn.Handle, attention: Any) -> None:
    forward, training = cudnn.attention_forward, cudnn.attention_forward_training
    other = put(normal(TQ, N, 6, seed=8))
    calls: dict[str, Call] = {
        "plain": lambda h: forward(h, *attention),
        "other memory": lambda h: forward(h, other, *attention[1:]),
        "causal": lambda h: forward(h, *attention, high=[0, 1, 2, 3]),
        "wider": lambda h: forward(h, *attention, high=(1, 2, 3, 4)),
        "array": lambda h: forward(h, *attention, high=np.array([1, 2, 3, 4])),
        "lengths": lambda h: forward(h, *attention, q_lengths=[4, 3, 2], k_lengths=[5, 1, 3]),
        "others": lambda h: forward(h, *attention, q_lengths=[4, 3, 2], k_lengths=[5, 2, 3]),
        "residuals": lambda h: forward(h, *attention, residuals=attention[0]),
        "training": lambda h: training(h, *attention),
    }
    check_against_new_handles(handle, calls, "cudnnMultiHeadAttnForward")
    attention[0].copy_from(normal(TQ, N, 6, seed=3))
    attention[4]["q_weights"].copy_from(normal(*attention[4]["q_weights"].shape, seed=4))
    check_against_new_handles(handle, calls, "cudnnMultiHeadAttnForward")


def test_attention_set_between_launches(handle: cudnn.Handle) -> None:
    x = put(normal(3, 2, 4))
    options = {"q_size": 4, "qo_max_length": 3, "kv_max_length": 3, "max_batch": 2}
    dropout = cudnn.DropoutDescriptor(handle, 0.5)
    with (
        cudnn.AttnDescriptor(**options, scaler=1.0) as attn,
        cudnn.AttnDescriptor(**options, scaler=0.1) as b,
    ):
        results = [cudnn.attention_forward(handle, x, x, x, each).numpy() for each in (attn, b)]
        held = {name: getattr(attn, name) for name in ("heads", "biases", "query_map")}
        held |= {"data_type": "float32", "compute_data_type": None, "math_type": "default_math"}
        held |= {"attention_dropout": None, "output_dropout": None, **attn.sizes}
        for scaler, exact in ((0.1, results[1]), (1.0, results[0]), (0.1, results[1])):
            attn.set(scaler=scaler, **held)
            for _ in range(2):
                y = cudnn.attention_forward(handle, x, x, x, attn).numpy()
                np.testing.assert_array_equal(y, exact)
        attn.set(scaler=1.0, **{**held, "attention_dropout": dropout})
        for _ in range(2):
            cudnn.attention_forward_training(handle, x, x, x, attn)
        dropout.close()
        for _ in range(2):
            with pytest.raises(cudnn.ClosedError, match="this DropoutDescriptor is closed"):
                cudnn.attention_forward_training(handle, x, x, x, attn)


# --- CTC ----------------------------------------------------------------------------------------

T, SAMPLES, A = 6, 3, 5
LABELS = [[1, 2, 2], [4], [3, 1, 4]]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("version", [cudnn.ctc_loss, cudnn.ctc_loss_v8])
def test_labels_and_lengths_of_the_host_are_in_the_key(handle: cudnn.Handle, version: Any) -> None:
    first, second = (put(2 * normal(T, SAMPLES, A, seed=seed)) for seed in (0, 1))
    with cudnn.CTCLossDescriptor(max_label_length=8) as loss:
        calls: dict[str, Call] = {
            "first": lambda h: version(h, first, LABELS, loss),
            "other memory": lambda h: version(h, second, LABELS, loss),
            "other labels": lambda h: version(h, first, [[1, 2, 3], [4], [3, 1, 4]], loss),
            "as tuples": lambda h: version(h, first, ((1, 2, 3), (4,), (3, 1, 4)), loss),
            "in an array": lambda h: version(h, first, np.array([[1, 2], [3, 4], [2, 2]]), loss),
            "lengths": lambda h: version(h, first, LABELS, loss, input_lengths=[6, 5, 4]),
            "others": lambda h: version(h, first, LABELS, loss, input_lengths=[6, 4, 5]),
            "costs": lambda h: version(h, first, LABELS, loss, with_gradients=False),
        }
        name = {cudnn.ctc_loss: "cudnnCTCLoss", cudnn.ctc_loss_v8: "cudnnCTCLoss_v8"}[version]
        check_against_new_handles(handle, calls, name)
        before = host(calls["first"](handle))
        loss.set_v9("float32", "none", "zero_oob_gradients", 8)
        for seed, probs in enumerate((first, second)):
            rng = np.random.default_rng(seed)
            probs.copy_from(rng.dirichlet(np.ones(A), (T, SAMPLES)).astype("float32"))
        check_against_new_handles(handle, calls, name)
        assert (host(calls["first"](handle))[0] != before[0]).all()


def test_wrong_labels_are_refused_again(handle: cudnn.Handle) -> None:
    probs = put(2 * normal(T, SAMPLES, A))
    with cudnn.CTCLossDescriptor(max_label_length=8) as loss:
        cudnn.ctc_loss_v8(handle, probs, LABELS, loss)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"labels\[1\]: expected symbols from 1 to 4"):
                cudnn.ctc_loss_v8(handle, probs, [[1], [5], [1]], loss)
            with pytest.raises(TypeError, match=r"labels\[0\]: expected ints"):
                cudnn.ctc_loss_v8(handle, probs, [[1.0], [1], [1]], loss)  # equal to [1]
            with pytest.raises(TypeError, match=r"input_lengths: expected ints"):
                cudnn.ctc_loss_v8(handle, probs, LABELS, loss, input_lengths=[6, 5, 4.0])


def test_copies_of_labels_go_with_their_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudnn_ctypes.runtime.launching.likeness.Plans.MOST", 6)
    with cudnn.use_reference_device(), warnings.catch_warnings():
        warnings.simplefilter("error")
        handle, loss = cudnn.Handle(), cudnn.CTCLossDescriptor(max_label_length=8)
        probs = put(2 * normal(T, SAMPLES, A))
        for label in (1, 2, 3, 4, 1, 2):
            cudnn.ctc_loss_v8(handle, probs, [[label], [4], [3]], loss)
        assert len(handle._plans) == 3
        handle.close()
        loss.close()
        gc.collect()


def test_copies_of_labels_belong_to_a_stream(handle: cudnn.Handle) -> None:
    """They are freed in its order: a launch on another stream has its own."""
    probs = put(2 * normal(T, SAMPLES, A))
    other = 4096 if handle.on_reference_device else handle.device.create_stream()
    with cudnn.CTCLossDescriptor(max_label_length=8) as loss:
        expected = host(cudnn.ctc_loss_v8(handle, probs, LABELS, loss))
        (first,) = handle._plans.values()
        handle.stream = other
        for _ in range(2):
            handle.synchronize()
            result = cudnn.ctc_loss_v8(handle, probs, LABELS, loss)
            handle.synchronize()
            for one, exact in zip(host(result), expected, strict=True):
                np.testing.assert_array_equal(one, exact)
        second = next(found for found in handle._plans.values() if found is not first)
        assert second[0] is not first[0]
