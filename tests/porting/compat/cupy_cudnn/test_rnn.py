"""Recurrent networks by CuPy's names, against PyTorch on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.porting.compat import cupy_cudnn as cudnn

from .test_layers import Arrays, arrays

__all__ = ["arrays"]

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
MODES = {"LSTM": "CUDNN_LSTM", "GRU": "CUDNN_GRU", "RNN": "CUDNN_RNN_TANH"}


def weights(arrays: Arrays, model: Any, states: Any, mode: int, direction: int) -> Any:
    """The weights as Chainer put them together, one part after the other, and where each lies."""
    handle = cudnn.get_handle()
    about = cudnn.CUDNN_LINEAR_INPUT, direction, mode, cudnn.CUDNN_DATA_DOUBLE
    rnn = cudnn.create_rnn_descriptor(model.hidden_size, model.num_layers, states._desc, *about)
    x = np.zeros((1, model.input_size, 1))
    x_desc = cudnn.create_tensor_nd_descriptor(arrays.of(x))
    size = cudnn.getRNNParamsSize(handle, rnn.value, x_desc.value, cudnn.CUDNN_DATA_DOUBLE) // 8
    numbers = np.arange(size, dtype=np.float64)  # so that a part tells its place
    w = arrays.of(numbers)
    w_desc = cudnn.create_filter_descriptor(w)
    gates, found = GATES[type(model).__name__], []
    for index, names in enumerate(model._all_weights):
        for name in names:
            kind, which, *_ = name.split("_")
            get = getattr(
                cudnn, f"get_rnn_lin_layer_{'matrix' if kind == 'weight' else 'bias'}_params"
            )
            parts = getattr(model, name).detach().numpy()
            for gate, part in enumerate(np.split(parts, gates)):
                linear = gate + (gates if which == "hh" else 0)
                view = get(handle, rnn, index, x_desc, w_desc, w, linear)
                begin = int(arrays.host(view)[0])
                assert view.shape == (part.size,)
                numbers[begin : begin + part.size] = part.ravel()
                found.append((name, gate, slice(begin, begin + part.size)))
    return arrays.of(numbers), found


@pytest.mark.thinned(4)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_training_step(
    arrays: Arrays, torch: Any, kind: str, bidirectional: bool, padded: bool
) -> None:
    if arrays.kind == "DeviceTensor":
        pytest.skip("parts of weights are slices of arrays: NumPy's and CuPy's")
    torch.manual_seed(0)
    options = {"num_layers": 2, "bidirectional": bidirectional, "dtype": torch.float64}
    model = getattr(torch.nn, kind)(3, 4, **options)
    lengths, lstm = [5, 3, 3], kind == "LSTM"
    x = torch.randn(5, 3, 3, dtype=torch.float64, requires_grad=True)
    layers = 4 if bidirectional else 2
    hx = torch.randn(layers, 3, 4, dtype=torch.float64, requires_grad=True)
    cx = torch.randn(layers, 3, 4, dtype=torch.float64, requires_grad=True)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
    y, state = model(packed, (hx, cx) if lstm else hx)
    hy, cy = state if lstm else (state, None)
    dy, dhy = torch.randn_like(y.data), torch.randn_like(hy)
    dcy = torch.randn_like(cy) if lstm else None
    total = (y.data * dy).sum() + (hy * dhy).sum()
    (total + (cy * dcy).sum() if lstm else total).backward()

    def sequences(data: Any) -> Any:
        """As the call has them: behind each other, or padded with zeros."""
        if not padded:
            return data.detach().numpy()
        whole = torch.nn.utils.rnn.pad_packed_sequence(packed._replace(data=data))[0]
        return whole.detach().numpy()

    def given(tensor: Any) -> Any:
        return None if tensor is None else arrays.of(tensor.detach().numpy())

    mode = getattr(cudnn, MODES[kind])
    direction = cudnn.CUDNN_BIDIRECTIONAL if bidirectional else cudnn.CUDNN_UNIDIRECTIONAL
    states = cudnn.DropoutStates(None, 1)
    w, places = weights(arrays, model, states, mode, direction)
    batches = np.array(lengths, np.int32) if padded else [int(n) for n in packed.batch_sizes]
    xs, network = arrays.of(sequences(packed.data)), (states, direction, mode)
    begin = given(hx), given(cx) if lstm else None
    ex = "_ex" if padded else ""
    results = getattr(cudnn, f"rnn_forward_inference{ex}")(*network, *begin, w, xs, batches)
    reserve, *trained = getattr(cudnn, f"rnn_forward_training{ex}")(
        *network, *begin, w, xs, batches
    )
    for got_hy, got_cy, got_ys in (results, trained):
        np.testing.assert_allclose(arrays.host(got_hy), hy.detach().numpy(), atol=1e-12)
        np.testing.assert_allclose(arrays.host(got_ys), sequences(y.data), atol=1e-12)
        if lstm:
            np.testing.assert_allclose(arrays.host(got_cy), cy.detach().numpy(), atol=1e-12)
        else:
            assert not got_cy.size
    ys = trained[2]
    dhx, dcx, dxs = getattr(cudnn, f"rnn_backward_data{ex}")(
        *(*network, *begin, w, xs, ys, reserve, given(dhy), given(dcy)),
        *(arrays.of(sequences(dy)), batches),
    )
    np.testing.assert_allclose(arrays.host(dhx), hx.grad.numpy(), atol=1e-11)
    if lstm:
        np.testing.assert_allclose(arrays.host(dcx), cx.grad.numpy(), atol=1e-11)
    dx = torch.nn.utils.rnn.pack_padded_sequence(x.grad, lengths).data
    np.testing.assert_allclose(arrays.host(dxs), sequences(dx), atol=1e-11)
    dw = getattr(cudnn, f"rnn_backward_weights{ex}")(
        *network, xs, begin[0], ys, w, reserve, batches
    )
    host = arrays.host(dw)
    for name, gate, place in places:
        gradient = np.split(getattr(model, name).grad.numpy(), GATES[kind])[gate]
        np.testing.assert_allclose(host[place], gradient.ravel(), rtol=0, atol=1e-10)
