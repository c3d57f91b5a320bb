"""``demo``: filter a picture with cuDNN, every step shown and checked."""

from __future__ import annotations

import argparse
import functools
import json
import struct
import sys
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ..errors import NotInitializedError
from ..evidence.files import CommandError
from ..handle import Handle
from ..legacy import ConvolutionDescriptor, ConvolutionForward, FilterDescriptor, TensorDescriptor
from ..runtime import DeviceBuffer, DeviceTensor, Event, elapsed_ms
from .options import (
    Output,
    Steps,
    add_force,
    add_json,
    refuse_overwriting,
    steps,
    write_bytes,
)

Array = NDArray[Any]

# The share of each colour in the perceived brightness (ITU-R BT.601).
_LUMINANCE = (0.299, 0.587, 0.114)

# Sums of 75 products of size 1 at most, each rounded to float32. On a GPU the default math type
# allows TF32, which rounds the operands to 11 bits first.
_TOLERANCE_FLOAT32 = 75 * 2.0**-24
_TOLERANCE_TF32 = 75 * 2.0**-11


_PICTURE = Output("cudnn_demo.png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes demo``."""
    parser.add_argument(
        "-o",
        "--output",
        type=Output,
        default=_PICTURE,
        help="the picture to write (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        choices=("auto", "cuda", "reference"),
        default="auto",
        help="where to run; auto takes the GPU if there is one (default: %(default)s)",
    )
    add_force(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Run the demonstration; 0 if the result agrees with the oracle, 2 if it cannot be run.

    Where nobody named the picture and its folder can only be read, it is left out.
    """
    console = Console(highlight=False, quiet=arguments.json)
    target = arguments.output.file("cudnn_demo.png", ".png")
    refuse_overwriting([target], force=arguments.force)
    with steps("demo", 3) as shown:
        told = _run(arguments.device, console if arguments.json else shown.console, shown)
    sheet, written = told.pop("sheet"), True
    try:
        write_bytes(target, png(sheet), force=arguments.force)
    except CommandError as error:
        if arguments.output is not _PICTURE:
            raise
        print(f"demo: {error}", file=sys.stderr)
        written = False
    if arguments.json:
        print(json.dumps({**told, "picture": str(target) if written else None}, indent=2))
        return 0 if told["agrees"] else 1
    console.print(
        f"largest difference from NumPy in float64: {told['error']:.2e} "
        f"({'within' if told['agrees'] else 'MORE THAN'} the tolerance {told['tolerance']:.1e})"
    )
    if written:
        console.print(f"picture written to {target}", markup=False, soft_wrap=True)
        console.print(f"in it, row by row: {', '.join(told['pictures'])}")
    return 0 if told["agrees"] else 1


def _run(device: str, console: Console, shown: Steps) -> dict[str, Any]:
    """Run the convolution; the facts to report, and the sheet of pictures."""
    shown.begin("drawing")
    picture = landscape()
    shown.advance()
    shown.begin("filtering")
    with _handle(device, console) as handle:
        results, algorithm, milliseconds = _convolve(handle, picture, console)
        tolerance = _TOLERANCE_FLOAT32 if handle.on_reference_device else _TOLERANCE_TF32
        where = repr(handle)
    shown.advance()
    shown.begin("checking")
    error = _largest_error(picture, results)
    shown.advance()
    return {
        "device": where,
        "algorithm": algorithm,
        "milliseconds": milliseconds,
        "error": error,
        "tolerance": tolerance,
        "agrees": error <= tolerance,
        "pictures": ["original", *_filters()],
        "sheet": _sheet(picture, results),
    }


def _filters() -> dict[str, Array]:
    """5x5 filters for brightness, by name."""
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
    from ..reference.device.dispatch import use_reference_device

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


def _convolve(handle: Handle, picture: Array, console: Console) -> tuple[Array, str, float]:
    """The filtered pictures (filters, height, width), the algorithm and the time in ms."""
    image = picture.transpose(2, 0, 1)[None]
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
            milliseconds = elapsed_ms(start, stop)
            done = f"{row.algorithm.name}: {milliseconds:.3f} ms on {handle.device.name}"
            console.print(done, markup=False)
            start.close()
            stop.close()
        results: Array = y.numpy()[0]
    return results, row.algorithm.name, milliseconds


def _show_descriptors(console: Console, **descriptors: object) -> None:
    table = Table(title="descriptors, as cuDNN holds them", title_justify="left", show_header=False)
    for name, descriptor in descriptors.items():
        table.add_row(name, repr(descriptor))
    console.print(table)


def _largest_error(picture: Array, results: Array) -> float:
    """The largest difference from the convolution's definition, a sum of shifted pictures in
    float64."""
    brightness = np.pad(picture.astype(np.float64) @ np.array(_LUMINANCE), 2)
    height, width = picture.shape[:2]
    expected = [
        sum(
            kernel[i, j] * brightness[i : i + height, j : j + width]
            for i, j in np.ndindex(kernel.shape)
        )
        for kernel in _filters().values()
    ]
    error = np.abs(results - np.stack(expected))
    return float(error.max()) if np.isfinite(error).all() else float("inf")


def _sheet(picture: Array, results: Array) -> Array:
    """The picture and the filtered pictures side by side, on white."""
    pictures = [picture]
    for name, result in zip(_filters(), results, strict=True):
        signed = "edges" in name or name in ("outlines", "emboss")
        pictures.append(np.repeat((result + 0.5 if signed else result)[..., None], 3, axis=-1))
    height, width = picture.shape[:2]
    margin, columns = 8, 3
    rows = -(-len(pictures) // columns)
    sheet = np.ones((rows * (height + margin), columns * (width + margin), 3), np.float32)
    for index, pixels in enumerate(pictures):
        top, left = index // columns * (height + margin), index % columns * (width + margin)
        sheet[top : top + height, left : left + width] = pixels
    return sheet


_SKY_ABOVE, _SKY_BELOW = np.array((0.26, 0.47, 0.80)), np.array((0.95, 0.78, 0.60))
_MOUNTAINS = (  # height (relative to the picture's), roughness, colour; the farthest first
    (0.42, (0.060, 5.0, 0.3), (0.52, 0.55, 0.68)),
    (0.50, (0.075, 3.0, 1.7), (0.33, 0.40, 0.48)),
    (0.60, (0.035, 7.0, 0.9), (0.16, 0.30, 0.20)),
)
_SHORE = 0.64


def landscape(height: int = 427, width: int = 640) -> Array:
    """A lake before mountains, and the sun: (height, width, 3), from 0 to 1."""
    y, x = np.meshgrid(
        np.linspace(0, 1, height, endpoint=False),
        np.linspace(0, width / height, width, endpoint=False),
        indexing="ij",
    )
    share = np.clip(y / 0.55, 0, 1)[..., None]
    picture = _SKY_ABOVE + share * (_SKY_BELOW - _SKY_ABOVE)
    picture[(x - 1.12) ** 2 + (y - 0.17) ** 2 < 0.06**2] = (1.0, 0.93, 0.70)
    for top, (size, waves, phase), colour in _MOUNTAINS:
        ridge = np.sin(waves * x + phase) + 0.5 * np.abs(np.sin(2.7 * waves * x + 2 * phase))
        picture[y > top - size * ridge] = colour
    # The reflection below the shore: upside down, darker, with waves.
    shore = int(_SHORE * height)
    mirrored = picture[np.clip(2 * shore - np.arange(shore, height), 0, shore - 1)]
    ripples = 0.06 * np.sin(160 * y[shore:] ** 2 + 9 * np.sin(4 * x[shore:]))
    picture[shore:] = (0.72 * mirrored + ripples[..., None]) * (0.92, 0.98, 1.06)
    grain = np.random.default_rng(0).normal(0, 0.012, picture.shape)
    return np.asarray((picture + grain).clip(0, 1), np.float32)


def png(pixels: NDArray[Any]) -> bytes:
    """The bytes of a PNG file with 8 bits per colour.

    - `pixels`: (height, width, 3), from 0 to 1; other values are clipped.
    """
    height, width, _ = pixels.shape
    values = (pixels.clip(0, 1) * 255).round().astype(np.uint8).reshape(height, 3 * width)
    rows = np.insert(values, 0, 0, axis=1)  # each row begins with its filter type: 0 for none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
