"""Exercises of lesson 11: workspace and algorithms."""

import numpy as np
from cudnn_ctypes import DeviceTensor, Handle, trace
from cudnn_ctypes.evidence.exercises import Exercise, Lesson, explained

rng = np.random.default_rng(11)
LIMIT = 600_000
X = rng.standard_normal((1, 16, 32, 32)).astype("f4")
W = rng.standard_normal((16, 16, 3, 3)).astype("f4")


def columns_of(image, r, s):
    """A column for each place of the window, a row for each of its numbers."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (r, s), (1, 2))
    c, h, w, *_ = windows.shape
    return windows.transpose(0, 3, 4, 1, 2).reshape(c * r * s, h * w)


def workspace(n, c, h, w, r, s, padding):
    rows, columns = h + 2 * padding - r + 1, w + 2 * padding - s + 1
    return 4 * c * r * s * rows * columns


def few_products(convolve_within):
    """Run the convolution, and look at its algorithm and workspace in the trace."""
    around = np.pad(X[0].astype("f8"), ((0, 0), (1, 1), (1, 1)))
    expected = (W.reshape(16, -1).astype("f8") @ columns_of(around, 3, 3)).reshape(X.shape)
    with trace(only="cudnnConvolutionForward") as traced, Handle() as handle:
        x, w = DeviceTensor.from_numpy(X), DeviceTensor.from_numpy(W)
        y = convolve_within(handle, x, w, LIMIT)
    if not hasattr(y, "numpy"):
        return f"return y, a tensor, not a {type(y).__name__}"
    if problem := explained(y.numpy(), expected):
        return problem
    if not traced.calls:
        return "no call of cudnnConvolutionForward was made"
    given = {each.name: each.value for each in traced.calls[-1].arguments}
    if given["workSpaceSizeInBytes"] > LIMIT:
        return f"a workspace of {given['workSpaceSizeInBytes']} bytes is over {LIMIT}"
    if "WINOGRAD" not in str(given["algo"]):
        return f"{given['algo']} takes more products than Winograd's way, which fits"
    return ""


lesson = Lesson(
    Exercise(
        "gemm_workspace",
        10,
        cases=[(1, 16, 32, 32, 3, 3, 1), (4, 8, 10, 12, 5, 5, 2), (2, 3, 9, 9, 3, 3, 0)],
        expected=workspace,
        mistakes={
            "the images take turns in the same memory": (
                lambda n, c, h, w, r, s, p: n * workspace(n, c, h, w, r, s, p)
            ),
            "without padding there are fewer places than pixels": (
                lambda n, c, h, w, r, s, p: 4 * c * r * s * h * w
            ),
            "a number of float32 has 4 bytes": (
                lambda n, c, h, w, r, s, p: workspace(n, c, h, w, r, s, p) // 4
            ),
        },
    ),
    Exercise(
        "columns_of",
        15,
        cases=[(np.arange(60, dtype="f4").reshape(2, 5, 6), 3, 2)],
        expected=columns_of,
        mistakes={
            "each row is a window; each column should be one": (
                lambda image, r, s: columns_of(image, r, s).T
            ),
            "the axes must be brought in order before the reshape": (
                lambda image, r, s: (
                    np.lib.stride_tricks.sliding_window_view(image, (r, s), (1, 2))
                    .reshape(-1, len(image) * r * s)
                    .T
                )
            ),
            "the channels must be outside of the places in the window": (
                lambda image, r, s: (
                    columns_of(image, r, s)
                    .reshape(len(image), r * s, -1)
                    .swapaxes(0, 1)
                    .reshape(len(image) * r * s, -1)
                )
            ),
        },
    ),
    Exercise("convolve_within", 15, judge=few_products, calls=["cudnnConvolutionForward"]),
)
check = lesson.check
