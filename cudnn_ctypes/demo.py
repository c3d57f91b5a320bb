"""The demonstration: a photograph through a bank of filters, every step shown and checked."""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from .device import DeviceBuffer, DeviceTensor, Event, elapsed_ms
from .errors import NotInitializedError
from .handle import Handle
from .legacy import ConvolutionDescriptor, ConvolutionForward, FilterDescriptor, TensorDescriptor

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["main"]

Array = NDArray[Any]

# The share of each colour in what the eye sees as brightness (ITU-R BT.601).
_LUMINANCE = (0.299, 0.587, 0.114)

# Sums of 75 products of size 1 at most, each rounded to float32. On a GPU the default math type
# allows TF32, which rounds the operands to 11 bits first.
_TOLERANCE_FLOAT32 = 75 * 2.0**-24
_TOLERANCE_TF32 = 75 * 2.0**-11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes demo``."""
    parser.add_argument(
        "--output", type=Path, default=Path("cudnn_demo.png"), help="the picture to write"
    )
    parser.add_argument(
        "--device",
        choices=("auto", "cuda", "reference"),
        default="auto",
        help="where to run; auto takes the GPU if there is one (default: %(default)s)",
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the demonstration; 0 if the result agrees with the oracle."""
    console = Console(highlight=False)
    try:
        photograph = _photograph()
        from PIL import Image  # noqa: F401
    except ImportError as missing:
        console.print(
            f"{missing}: the demonstration needs the extra 'examples': "
            "pip install 'cudnn-ctypes[examples]'",
            markup=False,
        )
        return 1
    with _handle(arguments.device, console) as handle:
        results = _convolve(handle, photograph, console)
    error = _largest_error(photograph, results)
    tolerance = _TOLERANCE_FLOAT32 if handle.on_reference_device else _TOLERANCE_TF32
    agrees = error <= tolerance
    console.print(
        f"largest difference from SciPy's correlate2d in float64: {error:.2e} "
        f"({'within' if agrees else 'MORE THAN'} the tolerance {tolerance:.1e})"
    )
    _sheet(photograph, results).save(arguments.output)
    console.print(f"picture written to {arguments.output}", markup=False)
    return 0 if agrees else 1


def _photograph() -> Array:
    """Height x width x 3, from 0 to 1."""
    from sklearn.datasets import load_sample_image

    pixels: Array = load_sample_image("china.jpg")
    return pixels.astype(np.float32) / 255


def _filters() -> dict[str, Array]:
    """Filters of 5x5 on brightness."""
    binomial = np.array([1, 4, 6, 4, 1]) / 16
    blur = np.outer(binomial, binomial)
    identity = np.zeros((5, 5))
    identity[2, 2] = 1
    slope = np.outer(binomial, [-1 / 3, -2 / 3, 0, 2 / 3, 1 / 3])
    diagonal = np.zeros((5, 5))
    diagonal[[0, 1, 3, 4], [0, 1, 3, 4]] = -1, -1, 1, 1
    return {
        "blur": blur,
        "sharpen": 3 * identity - 2 * blur,
        "vertical edges": slope,
        "horizontal edges": slope.T,
        "outlines": 4 * (identity - blur),
        "emboss": diagonal,
    }


def _handle(device: str, console: Console) -> Handle:
    from .reference.device.dispatch import use_reference_device

    if device == "reference":
        use_reference_device()
    try:
        handle = Handle()
    except NotInitializedError as error:
        if device == "cuda":
            raise
        reason = error.messages[0] if error.messages else error.status
        console.print(f"No usable GPU ({reason}).", markup=False)
        use_reference_device()
        handle = Handle()
    if handle.on_reference_device:
        console.print(
            "[bold yellow]Running on the reference device:[/] the descriptors are cuDNN's, the "
            "computing is done in NumPy on the CPU."
        )
    console.print(handle, markup=False)
    return handle


def _convolve(handle: Handle, photograph: Array, console: Console) -> Array:
    """The filtered pictures, filters x height x width; shows each step."""
    image = photograph.transpose(2, 0, 1)[None]
    bank = np.stack([np.multiply.outer(_LUMINANCE, kernel) for kernel in _filters().values()])
    with (
        DeviceTensor.from_numpy(image) as x,
        DeviceTensor.from_numpy(bank.astype(np.float32)) as w,
        TensorDescriptor.of(x) as x_desc,
        FilterDescriptor.of(w) as w_desc,
        ConvolutionDescriptor(padding=2) as conv,
        TensorDescriptor(conv.output_shape(x_desc, w_desc)) as y_desc,
        DeviceTensor.full(y_desc.shape, np.nan, "float32") as y,
    ):
        _show_descriptors(console, x=x_desc, w=w_desc, conv=conv, y=y_desc)
        forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
        table = forward.algorithms(handle)
        console.print(table)
        row = table.choose(memory_limit=256 << 20)
        with DeviceBuffer(row.memory) as workspace:
            run = functools.partial(
                forward.run, handle, x=x, w=w, y=y, algorithm=row, workspace=workspace
            )
            run()  # the first call loads the kernel
            start = Event(handle.stream)
            run()
            stop = Event(handle.stream)
            where = " of NumPy on the CPU" if handle.on_reference_device else ""
            time = f"{elapsed_ms(start, stop):.3f} ms{where}"
            console.print(f"{row.algorithm.name}: {time}", markup=False)
            start.close()
            stop.close()
        results: Array = y.numpy()[0]
    return results


def _show_descriptors(console: Console, **descriptors: object) -> None:
    table = Table(title="descriptors, as cuDNN holds them", title_justify="left", show_header=False)
    for name, descriptor in descriptors.items():
        table.add_row(name, repr(descriptor))
    console.print(table)


def _largest_error(photograph: Array, results: Array) -> float:
    from scipy.signal import correlate2d

    brightness = photograph.astype(np.float64) @ np.array(_LUMINANCE)
    expected = [correlate2d(brightness, kernel, mode="same") for kernel in _filters().values()]
    error = np.abs(results - expected)
    return float(error.max()) if np.isfinite(error).all() else float("inf")


def _sheet(photograph: Array, results: Array) -> Image:
    """The photograph and the filtered pictures side by side, with names."""
    from PIL import Image, ImageDraw

    pictures = {"photograph": photograph}
    for name, result in zip(_filters(), results, strict=True):
        signed = "edges" in name or name in ("outlines", "emboss")
        grey = result + 0.5 if signed else result
        pictures[name] = np.repeat(grey[..., None], 3, axis=-1)
    height, width = photograph.shape[:2]
    margin, columns = 22, 3
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * width, rows * (height + margin)), "white")
    draw = ImageDraw.Draw(sheet)
    for index, (name, pixels) in enumerate(pictures.items()):
        left, top = index % columns * width, index // columns * (height + margin)
        draw.text((left + 6, top + 4), name, fill="black")
        tile = Image.fromarray((pixels.clip(0, 1) * 255).round().astype(np.uint8))
        sheet.paste(tile, (left, top + margin))
    return sheet
