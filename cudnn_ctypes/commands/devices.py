"""``devices``: GPUs whose names can be given instead of one, and which graphs compile for them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..absent_gpu.properties import presets
from ..graph.backend.device_properties import DeviceProperties
from ..graph.backend.devices import as_properties
from ..graph.compilation import CompiledGraph, compile_graphs
from ..graph.graph import Graph
from ..raw.describe import aligned
from .options import Names, Steps, add_jobs, add_json, steps


def _convolution() -> Graph:
    graph = Graph("conv + relu", io_data_type="float16")
    x = graph.tensor((16, 64, 56, 56), (200704, 1, 3584, 64), name="x")
    w = graph.tensor((64, 64, 3, 3), (576, 1, 192, 64), name="w")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output(name="y")
    return graph


def _product() -> Graph:
    graph = Graph("matmul + gelu", io_data_type="float16")
    a, b = graph.tensor((1, 512, 1024), name="a"), graph.tensor((1, 1024, 512), name="b")
    graph.gelu(graph.matmul(a, b)).set_output(name="y")
    return graph


def _attention() -> Graph:
    graph = Graph("attention", io_data_type="float16")
    q, k, v = (graph.tensor((2, 8, 512, 64), name=name) for name in "qkv")
    output, _ = graph.sdpa(q, k, v, attn_scale=0.125, use_causal_mask=True)
    output.set_output(name="o")
    return graph


def _fp8_product() -> Graph:
    graph = Graph("fp8 matmul", io_data_type="fp8_e4m3")
    a = graph.tensor((1, 512, 512), name="a")
    b = graph.tensor((1, 512, 512), (262144, 1, 512), name="b")  # column-major
    scale = graph.tensor((1, 1, 1), data_type="float32", name="descale")
    graph.mul(graph.matmul(a, b), scale).set_output(name="y", data_type="float16")
    return graph


def _nvfp4_product() -> Graph:
    """A product of matrices of 4-bit numbers, with a scale per 16 elements along K."""
    graph = Graph("nvfp4 matmul", io_data_type="fp4_e2m1")
    scales: dict[str, Any] = {"data_type": "fp8_e4m3", "reordering": "f8_128x4"}
    a = graph.tensor((1, 512, 512), name="a")
    b = graph.tensor((1, 512, 512), (262144, 1, 512), name="b")
    of_a = graph.tensor((1, 512, 32), name="descale_a", **scales)
    of_b = graph.tensor((1, 32, 512), (16384, 1, 32), name="descale_b", **scales)
    left = graph.block_scale_dequantize(a, of_a, (1, 16))
    right = graph.block_scale_dequantize(b, of_b, (16, 1))
    graph.matmul(left, right).set_output(name="y", data_type="float16")
    return graph


GRAPHS: tuple[Callable[[], Graph], ...] = (
    _convolution,
    _product,
    _attention,
    _fp8_product,
    _nvfp4_product,
)
"""Functions that create the graphs tried for each GPU; the graphs' names are the columns."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes devices``."""
    parser.add_argument(
        "devices",
        nargs="*",
        metavar="DEVICE",
        type=Names(*presets()),
        help="names of presets, or files that `doctor --save-device` wrote (default: all presets)",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="try which of a few graphs compile for each of them; some seconds for each GPU",
    )
    add_jobs(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the table; 2 if a GPU is unknown."""
    devices = {name: as_properties(name) for name in arguments.devices or presets()}
    if not arguments.compile:
        _print(devices, as_json=arguments.json)
        return 0
    _compile(devices, arguments.jobs, as_json=arguments.json)
    return 0


def _print(devices: dict[str, DeviceProperties], *, as_json: bool) -> None:
    rows = [_row(*each, {}) for each in devices.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    header = {"name": "device", "gpu": "GPU", "compute_capability": "capability"}
    header["source"] = "known from"
    print(aligned([row[key] for key in header] for row in (header, *rows)))


def _compile(devices: dict[str, DeviceProperties], jobs: int, *, as_json: bool) -> None:
    """Print a row per GPU once its graphs are done, and below the reasons for failures."""
    found: dict[str, list[CompiledGraph]] = {}
    names = [describe().name for describe in GRAPHS]
    widths = [max(map(len, (*devices, "device"))), len("capability")]
    widths += [max(len(name), len("engine 999")) for name in names]
    try:
        with steps("compiling", len(devices) * len(GRAPHS)) as progress:
            if not as_json:
                progress.tell(_aligned(("device", "capability", *names), widths))
            for name, results in compiled(devices, jobs, progress):
                found[name] = results
                row = _row(name, devices[name], {})
                engines = [each.engine.partition(":")[0] or "no" for each in results]
                if not as_json:
                    progress.tell(_aligned((name, row["compute_capability"], *engines), widths))
    finally:  # after Ctrl-C too
        if as_json:
            print(json.dumps([_row(name, devices[name], found) for name in found], indent=2))
    if not as_json:
        for text in _refusals(found):
            print(text)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = (f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(parts).rstrip()


def compiled(
    devices: dict[str, DeviceProperties], jobs: int = 1, progress: Steps | None = None
) -> Iterator[tuple[str, list[CompiledGraph]]]:
    """Yield each GPU's name with the results of compiling all `GRAPHS` for it."""

    def done(result: CompiledGraph) -> None:
        if progress is not None:
            progress.advance()

    for name, device in devices.items():
        if progress is not None:
            progress.begin(f"for {name}")
        graphs = [describe() for describe in GRAPHS]
        yield name, compile_graphs(graphs, device, jobs=jobs, on_done=done)


def _row(name: str, device: DeviceProperties, found: dict[str, Any]) -> dict[str, Any]:
    """A GPU's row as data for JSON."""
    return {
        "name": name,
        "gpu": device.name,
        "compute_capability": ".".join(map(str, device.compute_capability)),
        "multiprocessors": device["multiProcessorCount"],
        "memory": device["totalGlobalMem"],
        "source": device.source,
        "native": device.is_native,
        **({"graphs": {each.name: _result(each) for each in found[name]}} if found else {}),
    }


def _result(each: CompiledGraph) -> dict[str, Any]:
    if each.plan is not None:
        return {"engine": each.engine, "seconds": round(each.seconds, 2)}
    return {"refused": list(_reasons(each))}


def _reasons(each: CompiledGraph) -> tuple[str, ...]:
    return tuple(getattr(each.error, "messages", ())) or (str(each.error),)


_SHOWN = 3  # reasons shown for a graph that does not compile; --json has all


def _refusals(found: dict[str, list[CompiledGraph]]) -> Iterator[str]:
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, results in found.items():
        for each in results:
            if each.plan is None:
                by_reason.setdefault((each.name, _reasons(each)), []).append(name)
    for (graph, reasons), names in by_reason.items():
        more = len(reasons) - _SHOWN
        lines = [*reasons[:_SHOWN], *([f"and {more} more (--json)"] if more > 0 else [])]
        yield f"{graph} for {', '.join(names)}:"
        yield from (f"    {line}" for line in lines)
