"""CTC on the alphabet {a, l}: all alignments of "all", the best one, and learning it.

A network says at each of 6 time steps how probable each symbol is, the blank "-" included. A path
is one symbol per step; repeats and blanks are dropped from it: "-aal-l" is "all". Run it with
CUDNN_CTYPES_DEVICE=reference where there is no GPU.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from cudnn_ctypes import CTCLossDescriptor, DeviceTensor, Handle, ctc_loss
from cudnn_ctypes.reference.ctc import best_path, collapse, required_steps

alphabet, word, steps = "-al", "all", 6
labels = [alphabet.index(letter) for letter in word]
activations = np.array(
    [[0, 2, 0], [1, 2, 0], [0, 1, 2], [1, 0, 2], [0.5, 0, 1], [0, 1, 2]], np.float32
)


def softmax(u: np.ndarray) -> np.ndarray:
    powers: np.ndarray = np.exp(u - u.max(axis=-1, keepdims=True))
    y: np.ndarray = powers / powers.sum(axis=-1, keepdims=True)
    return y


def text(path: Iterable[int]) -> str:
    return "".join(alphabet[symbol] for symbol in path)


def show(y: np.ndarray) -> np.ndarray:
    """The probabilities, and the best path that reads as the word."""
    print(f"    step       {'      '.join(map(str, range(steps)))}")
    for symbol, letter in enumerate(alphabet):
        print(f"    {letter}      " + "  ".join(f"{p:5.3f}" for p in y[:, symbol]))
    path, probability = best_path(y, labels)
    print(f"    best path  {'      '.join(text(path))}     probability {probability:.4f}")
    return path


print(f'"{word}" takes {required_steps(labels)} steps at least: a blank between the two l')

y = softmax(activations.astype(np.float64))
every = itertools.product(range(len(alphabet)), repeat=steps)
paths = {p: float(np.prod(y[np.arange(steps), p])) for p in every if collapse(p) == labels}
print(f"{len(paths)} of {len(alphabet) ** steps} paths read as {word}; the best ones are")
for path in sorted(paths, key=paths.__getitem__, reverse=True)[:5]:
    print(f"    {text(path)}  {paths[path]:.5f}")
total = sum(paths.values())
print(f"all together {total:.5f}, so the cost is -log of that: {-np.log(total):.4f}")

print("\nThe alignment before")
best = show(y)
assert tuple(best) == max(paths, key=paths.__getitem__)

read, cost = "", float("inf")
with Handle() as handle, CTCLossDescriptor() as loss:
    print(f"\nBy {handle}")
    u = activations.copy()
    with DeviceTensor.from_numpy(u[:, None, :]) as probs:  # (time, samples, symbols)
        for iteration in range(41):
            costs, gradients = ctc_loss(handle, probs, [labels], loss)
            cost, gradient = float(costs.numpy()[0]), gradients.numpy()[:, 0]
            costs.close()
            gradients.close()
            if iteration == 0:
                print(f"  cost {cost:.4f}")
                assert abs(cost + np.log(total)) < 1e-4

                # How often the paths of the word are in each state, which the gradient tells.
                there = np.zeros_like(y)
                for path, probability in paths.items():
                    there[np.arange(steps), path] += probability / total
                error = np.abs(gradient - (y - there)).max()
                print(f"  gradient: probability minus share of the word's paths, to {error:.0e}")
                assert error < 1e-5
            if iteration % 10 == 0:
                read = text(collapse(u.argmax(axis=-1).tolist()))
                print(f"  {iteration:3} steps of learning: cost {cost:5.3f}, read {read!r}")
            u -= gradient
            probs.copy_from(u[:, None, :])

print("\nThe alignment after")
show(softmax(u.astype(np.float64)))
assert read == word
assert cost < 0.1
