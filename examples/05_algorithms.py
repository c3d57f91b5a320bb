"""Why a convolution has several algorithms: four of them carried out, with what each costs.

All compute the same sums in exact arithmetic. They differ in how many products they take, in the
memory that they need beside x, w and y (the workspace), and in how far rounding takes them from the
exact result. Here they are carried out in float32 on the CPU; then follow cuDNN's own.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cudnn_ctypes import (
    ConvolutionDescriptor,
    ConvolutionForward,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    TensorDescriptor,
)
from cudnn_ctypes.runtime import Event, elapsed_ms

C, K, SIZE = 16, 16, 32  # channels of x and y; images of 32 x 32, filters of 3 x 3, padding 1
rng = np.random.default_rng(0)
x = rng.standard_normal((C, SIZE, SIZE)).astype("f4")
w = (rng.standard_normal((K, C, 3, 3)) / np.sqrt(9 * C)).astype("f4")

# Of each result: y, how many products of x and w it took, and bytes of memory in between.
Outcome = tuple[np.ndarray, int, int]


def gemm(x: np.ndarray, w: np.ndarray) -> Outcome:
    """Each window of x becomes a column of a matrix; w times the matrix is y."""
    windows = sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1))), (3, 3), (1, 2))
    columns = windows.transpose(0, 3, 4, 1, 2).reshape(9 * C, SIZE * SIZE)
    y = (w.reshape(K, 9 * C) @ columns).reshape(K, SIZE, SIZE)
    return y, K * columns.size, columns.nbytes


def fft(x: np.ndarray, w: np.ndarray) -> Outcome:
    """A convolution is a product of spectra; cuDNN's is a correlation, so the filter is turned."""
    size = (SIZE + 2, SIZE + 2)  # as the window reaches beyond the image on either side
    turned = w[:, :, ::-1, ::-1]
    of_x, of_w = (np.fft.rfft2(each, size).astype("c8") for each in (x, turned))
    of_y = np.einsum("cuv,kcuv->kuv", of_x, of_w)
    y = np.fft.irfft2(of_y, size)[:, 1:-1, 1:-1].astype("f4")
    return y, 3 * of_w.size, of_x.nbytes + of_w.nbytes + of_y.nbytes  # 3 for a complex product


# Of pixels, filters and results; of 2 x 2 results each, and of 4 x 4.
B2 = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
G2 = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]) / 2
A2 = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
B4 = np.array(
    [
        *([4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0]),
        *([0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]),
    ]
)
G4 = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
A4 = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])


def winograd(m: int, *matrices: np.ndarray) -> Callable[..., Outcome]:
    """Tiles of m x m results from (m + 2) x (m + 2) pixels, as Lavin and Gray have it (2015)."""

    def convolve(x: np.ndarray, w: np.ndarray) -> Outcome:
        b, g, a = (matrix.astype(x.dtype) for matrix in matrices)
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        tiles = sliding_window_view(padded, (m + 2, m + 2), (1, 2))[:, ::m, ::m]
        of_w, of_x = g @ w @ g.T, b @ tiles @ b.T
        of_y = np.einsum("kcuv,cijuv->kijuv", of_w, of_x)
        y = (a @ of_y @ a.T).transpose(0, 1, 3, 2, 4).reshape(K, SIZE, SIZE)
        return y, K * of_x.size, of_x.nbytes + of_w.nbytes + of_y.nbytes

    return convolve


exact, *_ = gemm(x.astype("f8"), w.astype("f8"))
largest = np.abs(exact).max()
print(f"In NumPy, float32 {'products an output':>23} {'workspace':>16} {'largest error':>14}")
algorithms = {"GEMM": gemm, "FFT": fft}
algorithms |= {"Winograd 2 x 2": winograd(2, B2, G2, A2), "Winograd 4 x 4": winograd(4, B4, G4, A4)}
for name, algorithm in algorithms.items():
    y, products, between = algorithm(x, w)
    error = np.abs(y - exact).max() / largest
    print(f"  {name:20} {products / y.size:18.1f} {between:10} bytes {error:14.1e}")
    assert y.dtype == np.float32
    assert error < 1e-5


def microseconds(handle: Handle, run: Callable[[], None]) -> float:
    """Time of a run on the GPU, the mean of 100."""
    with Event(handle.stream) as start:
        for _ in range(100):
            run()
        with Event(handle.stream) as stop:
            return 10 * elapsed_ms(start, stop)


with (
    Handle() as handle,
    ConvolutionDescriptor(padding=1, math_type="fma_math") as conv,  # no TF32
    DeviceTensor.from_numpy(x[None]) as x_,
    DeviceTensor.from_numpy(w) as w_,
    DeviceTensor.empty((1, K, SIZE, SIZE), "float32") as y_,
    TensorDescriptor.of(x_) as x_desc,
    FilterDescriptor.of(w_) as w_desc,
    TensorDescriptor.of(y_) as y_desc,
):
    forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
    print(f"\n{handle}\n  {'':39} {'workspace':>16} {'largest error':>14}")
    for row in forward.algorithms(handle):
        if not row.usable:
            continue
        with DeviceBuffer(row.memory) as workspace:
            run = partial(forward.run, handle, x=x_, w=w_, y=y_, algorithm=row, workspace=workspace)
            run()
            error = np.abs(y_.numpy()[0] - exact).max() / largest
            # The reference device runs one and the same NumPy code: its times would mean nothing.
            time = "" if handle.on_reference_device else f" {microseconds(handle, run):8.1f} us"
        name = row.algorithm.name.removeprefix("CUDNN_CONVOLUTION_FWD_ALGO_")
        print(f"  {name:39} {row.memory:10} bytes {error:14.1e}{time}")
        assert error < 1e-4
    if handle.on_reference_device:
        print(
            "  (one arithmetic for all, workspaces nominal; a GPU shows each one's error and time)"
        )
