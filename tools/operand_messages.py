"""Calls with a wrong operand: what layer 2 says, and what the reference device says of the C call.

``python -m tools.operand_messages`` prints the table that docs/errors.md has. Both sentences come
from one rule (`cudnn_ctypes.raw.operand_rules`); the C call is the one that layer 2 would make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, legacy, use_reference_device
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.raw import operand_rules

__all__ = ["CASES", "messages", "table"]

X, Y, HALF = (2, 3, 4, 4), (2, 3, 2, 2), "float16"


def t(*shape: int, data_type: str = "float32") -> DeviceTensor:
    """A tensor of zeros."""
    return DeviceTensor.zeros(shape, data_type)


def activation(h: Handle, **wrong: Any) -> None:
    legacy.activation_backward(h, "relu", **{"y": t(*X), "dy": t(*X), "x": t(*X), **wrong})


def pooling(h: Handle, mode: str = "max", **wrong: Any) -> None:
    operands = {"y": t(*Y), "dy": t(*Y), "x": t(*X), **wrong}
    legacy.pooling_backward(h, cudnn.PoolingDescriptor(2, mode=mode), **operands)


def convolution(h: Handle, x: Any = X, w: Any = (8, 3, 3, 3), **options: Any) -> None:
    conv = cudnn.ConvolutionDescriptor(**options)
    y = t(2, 8, *(n - 2 for n in x[2:]))
    x_desc, w_desc = cudnn.TensorDescriptor(x), cudnn.FilterDescriptor(w)
    forward = cudnn.ConvolutionForward(x_desc, w_desc, conv, cudnn.TensorDescriptor(y.shape))
    algorithm, workspace = "implicit_gemm", cudnn.DeviceBuffer(1 << 20)
    forward.run(h, x=t(*x), w=t(*w), y=y, algorithm=algorithm, workspace=workspace)


def lrn(h: Handle, **wrong: Any) -> None:
    operands = {"x": t(*X), "y": t(*X), "dy": t(*X), **wrong}
    legacy.lrn_cross_channel_backward(h, cudnn.LRNDescriptor(), **operands)


def batch_norm(h: Handle, **wrong: Any) -> None:
    operands = {"x": t(*X), "dy": t(*X), "scale": t(3), **wrong}
    legacy.batch_normalization_backward(h, **operands)


def sampler(h: Handle, x: Any, y: Any = None) -> None:
    transformer = cudnn.SpatialTransformerDescriptor((2, 3, 5, 6))
    legacy.spatial_tf_sampler_forward(h, x, t(2, 5, 6, 2), transformer, y)


def attention(h: Handle, q: Any = (4, 2, 6), k: Any = (5, 2, 6), v: Any = (5, 2, 6)) -> None:
    sizes = {"q_size": 6, "qo_max_length": 4, "kv_max_length": 5, "max_batch": 2}
    legacy.attention_forward(h, t(*q), t(*k), t(*v), cudnn.AttnDescriptor(1, **sizes))


def recurrent(h: Handle, size: int, **about: Any) -> None:
    rnn = cudnn.RNNDescriptor("gru", input_size=3, hidden_size=4, padded_io=False)
    with cudnn.RNN.of(rnn, x := t(5, 2, size), **about) as network:
        network.forward(h, x, cudnn.RNNWeights(h, rnn))


def ctc(h: Handle, *shape: int, gradients: Any = None) -> None:
    loss, labels = cudnn.CTCLossDescriptor(), [[1], [2]]
    legacy.ctc_loss(h, t(*shape), labels, loss, gradients=gradients)


def dropout(h: Handle, y: Any) -> None:
    legacy.dropout_forward(h, t(*X), cudnn.DropoutDescriptor(h, 0.5), y)


CASES: dict[str, Callable[[Handle], Any]] = {
    "activation forward, shape of y": lambda h: legacy.activation_forward(h, t(*X), "relu", t(*Y)),
    "activation backward, shape of dy": lambda h: activation(h, dy=t(*Y)),
    "activation backward, type of dx": lambda h: activation(h, dx=t(*X, data_type=HALF)),
    "softmax forward, shape of y": lambda h: legacy.softmax_forward(h, t(*X), t(*Y)),
    "pooling forward, channels of y": lambda h: legacy.pooling_forward(
        h, t(*X), cudnn.PoolingDescriptor(2), t(2, 4, 2, 2)
    ),
    "pooling backward, shape of dy": lambda h: pooling(h, dy=t(2, 3, 2, 3)),
    "pooling backward, type of dx": lambda h: pooling(h, dx=t(*X, data_type=HALF)),
    "pooling backward, dimensions of x": lambda h: pooling(
        h, x=t(2, 3, 4, 4, 4), y=t(2, 3, 2, 2, 2), dy=t(2, 3, 2, 2, 2)
    ),
    "LRN backward, shape of dx": lambda h: lrn(h, dx=t(*Y)),
    "divisive normalization, shape of y": lambda h: legacy.divisive_normalization_forward(
        h, t(*X), cudnn.LRNDescriptor(), t(*Y)
    ),
    "transform, shape of y": lambda h: legacy.transform_tensor(h, t(*X), t(*Y)),
    "add, shape of a": lambda h: legacy.add_tensor(h, t(1, 2, 1, 1), t(*X)),
    "op, shape of b": lambda h: legacy.op_tensor(h, t(*X), t(1, 2, 1, 1), "add"),
    "op, shape of c": lambda h: legacy.op_tensor(h, t(*X), t(*X), "mul", t(*Y)),
    "reduction, shape of c": lambda h: legacy.reduce_tensor(h, t(*X), "max", t(1, 2, 1, 1)),
    "dropout, shape of y": lambda h: dropout(h, t(*Y)),
    "dropout, type of y": lambda h: dropout(h, t(*X, data_type=HALF)),
    "sampler, channels of x": lambda h: sampler(h, t(2, 4, 4, 4)),
    "sampler, shape of y": lambda h: sampler(h, t(*X), t(*X)),
    "sampler, type of x": lambda h: sampler(h, t(*X, data_type=HALF)),
    "batch normalization, shape of dy": lambda h: batch_norm(h, dy=t(*Y)),
    "batch normalization, type of dx": lambda h: batch_norm(h, dx=t(*X, data_type=HALF)),
    "convolution, channels": lambda h: convolution(h, w=(8, 2, 3, 3)),
    "convolution, dimensions": lambda h: convolution(h, x=(2, 3, 4, 4, 4)),
    "convolution, size of y": lambda h: convolution(h, padding=1),
    "convolution, filter too large": lambda h: convolution(h, w=(8, 3, 5, 3)),
    "bias gradient, type of db": lambda h: legacy.convolution_backward_bias(
        h, dy=t(*X), db=t(1, 3, 1, 1, data_type=HALF)
    ),
    "attention, vectors of q": lambda h: attention(h, q=(4, 2, 5)),
    "attention, batch of k": lambda h: attention(h, k=(5, 1, 6)),
    "recurrent, vectors of x": lambda h: recurrent(h, 4),
    "recurrent, padding": lambda h: recurrent(h, 3, lengths=[5, 4]),
    "CTC loss, shape of gradients": lambda h: ctc(h, 4, 2, 5, gradients=t(4, 2, 6)),
}


def messages(case: Callable[[Handle], Any]) -> tuple[str, str, str]:
    """Layer 2's sentence; and the C function, its status, and the reference device's reason."""
    with use_reference_device(), Handle() as handle:
        try:
            case(handle)
            said = "nothing"
        except ValueError as error:
            said = str(error)
        with mock.patch.object(operand_rules, "check", return_value=None):
            try:
                case(handle)
                return said, "", "nothing"
            except CudnnError as error:
                return said, f"{error.function}: {error.status.name}", "; ".join(error.messages)


def table() -> Iterator[str]:
    """The rows of the table in Markdown."""
    yield "| operand | layer 2, a `ValueError` | raw, with its status |"
    yield "|---|---|---|"
    for name, case in CASES.items():
        said, status, reason = messages(case)
        function, _, code = status.partition(": ")
        code = code.removeprefix("CUDNN_STATUS_")
        yield f"| {name} | {said} | `{function}` {code}: {reason} |"


if __name__ == "__main__":
    print("\n".join(table()))
