"""A recurrent network of one layer: where its weights lie, and one step after the other.

h[t] = tanh(W x[t] + R h[t - 1] + b). All matrices and biases lie in one block of device memory, the
weight space, whose order is cuDNN's own: one asks for the address of each. In raw calls; then by
classes, with sequences of different lengths.
"""

from ctypes import c_size_t, c_void_p

import numpy as np

from cudnn_ctypes import RNN, DeviceBuffer, DeviceTensor, Handle, RNNDescriptor, RNNWeights, raw

T, B, IN, HIDDEN = 4, 2, 3, 2  # steps, sequences, elements of a vector read, and of the state
rng = np.random.default_rng(0)
sequences = rng.standard_normal((T, B, IN)).astype("f4")

# cudnnHandle_t cudnn;
# cudnnRNNDescriptor_t rnn;
# cudnnDropoutDescriptor_t no_dropout;
# CHECK(cudnnCreate(&cudnn));
# CHECK(cudnnCreateDropoutDescriptor(&no_dropout));
# CHECK(cudnnSetDropoutDescriptor(no_dropout, cudnn, 0, NULL, 0, 0));
# CHECK(cudnnCreateRNNDescriptor(&rnn));
# CHECK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, CUDNN_RNN_TANH,
#     CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
#     CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 3, 2, 2, 1, no_dropout, CUDNN_RNN_PADDED_IO_ENABLED));
cudnn, rnn = raw.cudnnHandle_t(), raw.cudnnRNNDescriptor_t()
no_dropout = raw.cudnnDropoutDescriptor_t()
raw.cudnnCreate(cudnn)
raw.cudnnCreateDropoutDescriptor(no_dropout)
raw.cudnnSetDropoutDescriptor(no_dropout, cudnn, 0.0, None, 0, 0)
raw.cudnnCreateRNNDescriptor(rnn)
raw.cudnnSetRNNDescriptor_v8(
    rnn, raw.CUDNN_RNN_ALGO_STANDARD, raw.CUDNN_RNN_TANH, raw.CUDNN_RNN_SINGLE_INP_BIAS,
    raw.CUDNN_UNIDIRECTIONAL, raw.CUDNN_LINEAR_INPUT, raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_FMA_MATH, IN, HIDDEN, HIDDEN, 1, no_dropout, raw.CUDNN_RNN_PADDED_IO_ENABLED,
)  # fmt: skip

# size_t size;
# void *space, *matrix, *bias;
# cudnnTensorDescriptor_t m_desc, b_desc;
# CHECK(cudnnGetRNNWeightSpaceSize(cudnn, rnn, &size));
# cudaMalloc(&space, size);
# CHECK(cudnnCreateTensorDescriptor(&m_desc));
# CHECK(cudnnCreateTensorDescriptor(&b_desc));
size, matrix, bias = c_size_t(), c_void_p(), c_void_p()
m_desc, b_desc = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
raw.cudnnGetRNNWeightSpaceSize(cudnn, rnn, size)
space = DeviceBuffer(size.value)
raw.cudnnCreateTensorDescriptor(m_desc)
raw.cudnnCreateTensorDescriptor(b_desc)
print(f"weight space of {size.value} bytes")

# for (int number = 0; number < 2; ++number)    /* 0 is W with b, 1 is R */
#   CHECK(cudnnGetRNNWeightParams(cudnn, rnn, 0, size, space, number,
#                                 m_desc, &matrix, b_desc, &bias));
for number, name in enumerate("WR"):
    raw.cudnnGetRNNWeightParams(
        cudnn, rnn, 0, size.value, space, number, m_desc, matrix, b_desc, bias
    )
    print(f"  {name} at byte {(matrix.value or 0) - space.ptr}", end="")
    print(f", b at byte {bias.value - space.ptr}" if bias.value else "")

# CHECK(cudnnDestroyTensorDescriptor(b_desc));
# CHECK(cudnnDestroyTensorDescriptor(m_desc));
# CHECK(cudnnDestroyRNNDescriptor(rnn));
# CHECK(cudnnDestroyDropoutDescriptor(no_dropout));
# CHECK(cudnnDestroy(cudnn));
raw.cudnnDestroyTensorDescriptor(b_desc)
raw.cudnnDestroyTensorDescriptor(m_desc)
raw.cudnnDestroyRNNDescriptor(rnn)
raw.cudnnDestroyDropoutDescriptor(no_dropout)
raw.cudnnDestroy(cudnn)
space.close()

with (
    Handle() as handle,
    RNNDescriptor(
        "tanh",
        input_size=IN,
        hidden_size=HIDDEN,
        bias="single_inp_bias",
        math_type="fma_math",
    ) as cell,
    RNNWeights(handle, cell) as weights,
    DeviceTensor.from_numpy(sequences) as x,
):
    print(f"\nby classes: {weights[0]}")
    values: dict[str, np.ndarray] = {}
    for name, tensor in weights[0].items():
        values[name] = np.array(rng.uniform(-1, 1, tensor.shape), "f4")
    weights.copy_from([values])
    W, R, b = (values[name] for name in ("w_hidden", "r_hidden", "bw_hidden"))

    # The second sequence is shorter: what is behind its end is padding.
    lengths = [T, 2]
    with RNN.of(cell, x, lengths=lengths, padding_fill=0.0) as network:
        y, hy, _, _ = network.forward(handle, x, weights, training=False)
    h = np.zeros((B, HIDDEN))
    for t in range(T):
        live = np.array([[t < length] for length in lengths])
        h = np.where(live, np.tanh(sequences[t] @ W.T + h @ R.T + b), h)
        shown = "   ".join(f"{row.round(4)!s:18}" for row in y.numpy()[t])
        print(f"  h[{t}] of both sequences: {shown}")
        assert np.abs(np.where(live, y.numpy()[t] - h, 0)).max() < 1e-5
    print(
        f"  the last states, hy:    {'   '.join(f'{row.round(4)!s:18}' for row in hy.numpy()[0])}"
    )
    assert np.abs(hy.numpy()[0] - h).max() < 1e-5
