"""Attention of three words over themselves, every intermediate result shown, then by cuDNN.

Two heads; each word sees itself and the words before it. Run it with CUDNN_CTYPES_DEVICE=reference
where there is no GPU.
"""

from typing import Any

import numpy as np

from cudnn_ctypes import (
    AttentionWeights,
    AttnDescriptor,
    DeviceTensor,
    Handle,
    attention_backward_data,
    attention_backward_weights,
    attention_forward,
    attention_forward_training,
)

np.set_printoptions(precision=3, suppress=True)

words = ["the", "cat", "sat"]
steps, size, heads, length = 3, 4, 2, 2
scaler = 1 / np.sqrt(length)

# One vector of 4 for each word; for each head a 2x4 matrix for queries, keys and values, and a 4x2
# matrix back. In a network all of them are learnt.
x = np.array([[1, 0, 0, 0.5], [0, 1, 0, 0.5], [0, 0, 1, -0.5]], np.float32)
rng = np.random.default_rng(0)
shapes = {
    "q_weights": (heads, length, size),
    "k_weights": (heads, length, size),
    "v_weights": (heads, length, size),
    "o_weights": (heads, size, length),
}
matrices = {
    name: rng.integers(-4, 5, shape).astype(np.float32) / 4 for name, shape in shapes.items()
}
low, high = [0, 0, 0], [1, 2, 3]  # which keys each query looks at: low <= key < high

print("In NumPy")
output = np.zeros((steps, size), np.float32)
for h in range(heads):
    print(f"\n  head {h}")
    q, k, v = (x @ matrices[f"{name}_weights"][h].T for name in ("q", "k", "v"))
    for name, vectors in (("q = W_Q x", q), ("k = W_K x", k), ("v = W_V x", v)):
        for word, vector in zip(words, vectors, strict=True):
            print(f"    {name}   {word}  {vector}")

    scores = scaler * q @ k.T
    for t, word in enumerate(words):
        seen = range(low[t], high[t])
        shown = ", ".join(f"{words[j]} {scores[t, j]:.3f}" for j in seen)
        print(f"    scores q.k / sqrt({length})   {word} -> {shown}")

    attention = np.zeros_like(scores)
    for t in range(steps):
        powers = np.exp(scores[t, low[t] : high[t]])
        attention[t, low[t] : high[t]] = powers / powers.sum()
    print("    attention = softmax(scores)")
    for word, row in zip(words, attention, strict=True):
        print(f"      {word}  {row}")

    head = attention @ v
    print("    head = attention v")
    for word, row in zip(words, head, strict=True):
        print(f"      {word}  {row}")
    output += head @ matrices["o_weights"][h].T

print("\n  y = sum over the heads of W_O head")
for word, row in zip(words, output, strict=True):
    print(f"    {word}  {row}")

with (
    Handle() as handle,
    AttnDescriptor(
        heads,
        q_size=size,
        q_projection=length,
        k_projection=length,
        v_projection=length,
        o_projection=size,
        qo_max_length=steps,
        kv_max_length=steps,
        scaler=scaler,
        math_type="fma_math",  # no TF32: it keeps 10 bits of each factor
    ) as attn,
    AttentionWeights(handle, attn, matrices) as weights,
    DeviceTensor.from_numpy(x[:, None, :]) as words_x,  # (time, batch, vector)
):
    print(f"\nBy {handle}")
    operands = (words_x, words_x, words_x, attn, weights)  # queries, keys and values are the same
    window: dict[str, Any] = {"low": low, "high": high}
    y = attention_forward(handle, *operands, **window).numpy()[:, 0]
    for word, row in zip(words, y, strict=True):
        print(f"    {word}  {row}")
    error = np.abs(y - output).max()
    print(f"  largest difference: {error:.1e}")
    assert error < 1e-5

    # As when a text is written: one word after the other, each over the ones before.
    with DeviceTensor.zeros((steps, 1, size), "float32") as written:
        for t in range(steps):
            attention_forward(handle, *operands, written, current=t, **window)
        error = np.abs(written.numpy()[:, 0] - output).max()
    print(f"  one word at a time:  {error:.1e}")
    assert error < 1e-5

    # Gradients of the sum of the output. That of x is the sum of what comes back through queries,
    # keys and values; it is compared with the change of the output when x changes a little.
    ones = np.ones((steps, 1, size), np.float32)
    forward = attention_forward_training(handle, *operands, **window)
    with DeviceTensor.from_numpy(ones) as dy, forward.y, forward.reserve_space:
        given: dict[str, Any] = {"q": words_x, "k": words_x, "v": words_x, "dy": dy}
        given |= {"weights": weights, "reserve_space": forward.reserve_space}
        dq, dk, dv = attention_backward_data(handle, attn, **given, **window)
        with dq, dk, dv, attention_backward_weights(handle, attn, **given) as dweights:
            dx = (dq.numpy() + dk.numpy() + dv.numpy())[:, 0]
            shapes_back = {name: array.shape for name, array in dweights.numpy().items()}
    print("  gradient of the output's sum by x")
    for word, row in zip(words, dx, strict=True):
        print(f"    {word}  {row}")
    assert shapes_back == shapes

    direction, step = rng.standard_normal(x.shape).astype(np.float32), 1e-2
    sums: list[float] = []
    for sign in (1, -1):
        moved = x + sign * step * direction
        with DeviceTensor.from_numpy(moved[:, None, :]) as near:
            nearby = (near, near, near, attn, weights)
            sums.append(float(attention_forward(handle, *nearby, **window).numpy().sum()))
    slope = (sums[0] - sums[1]) / (2 * step)
    print(f"  along a direction: gradient {(dx * direction).sum():.3f}, difference {slope:.3f}")
    assert abs((dx * direction).sum() - slope) < 1e-2
