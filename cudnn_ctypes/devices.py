"""The command that shows the known GPUs, and which graphs compile for them."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from typing import Any

from .command_line import USER_ERRORS, chosen_device
from .graph.backend.device_properties import DeviceProperties, presets
from .graph.compilation import CompiledGraph, compile_graphs
from .graph.engines.tables import rich_table
from .graph.graph import Graph

__all__ = ["GRAPHS", "add_arguments", "compiled", "main"]


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
    b = graph.tensor((1, 512, 512), (262144, 1, 512), name="b")  # each column lies together
    scale = graph.tensor((1, 1, 1), data_type="float32", name="descale")
    graph.mul(graph.matmul(a, b), scale).set_output(name="y", data_type="float16")
    return graph


def _nvfp4_product() -> Graph:
    """4-bit numbers with a scale for each 16 of them along K."""
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
"""What is tried for each GPU; the graphs' names are the columns of the table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes devices``."""
    parser.add_argument(
        "devices",
        nargs="*",
        metavar="DEVICE",
        help="names of presets, or files that `doctor --save-device` wrote (default: all presets)",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="try which of a few graphs compile for each of them; some seconds for each GPU",
    )
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", default=1, help="processes that compile (default: 1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def main(arguments: argparse.Namespace) -> int:
    """Print the table; 2 if a GPU is not known."""
    try:
        devices = {name: chosen_device(name) for name in arguments.devices or presets()}
        found = compiled(devices, arguments.jobs) if arguments.compile else {}
    except USER_ERRORS as error:
        print(f"devices: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps([_row(*each, found) for each in devices.items()], indent=2))
    else:
        _print(devices, found)
    return 0


def compiled(devices: dict[str, DeviceProperties], jobs: int = 1) -> dict[str, list[CompiledGraph]]:
    """What compiling each of `GRAPHS` for each GPU gives, by the GPU's name."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, fresh) if jobs > 1 else nullcontext() as executor:
        return {
            name: compile_graphs([describe() for describe in GRAPHS], device, executor=executor)
            for name, device in devices.items()
        }


def _row(name: str, device: DeviceProperties, found: dict[str, Any]) -> dict[str, Any]:
    """One GPU, for JSON."""
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


def _print(devices: dict[str, DeviceProperties], found: dict[str, list[CompiledGraph]]) -> None:
    """One table of the GPUs; under it why a graph does not compile, once for all GPUs alike."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    facts = ("device", "GPU", "capability", "known from")
    table = rich_table((*facts[:1], *facts[2:3]) if found else facts)
    columns = [describe().name for describe in GRAPHS] if found else []
    for column in columns:
        table.add_column(column)
    for name, device in devices.items():
        row = _row(name, device, {})
        cells = [name, row["gpu"], row["compute_capability"], row["source"]]
        results = [each.engine.partition(":")[0] or "no" for each in found.get(name, ())]
        table.add_row(*((cells[0], cells[2], *results) if found else cells))
    console.print(table)
    for text in _refusals(found):
        console.print(text, soft_wrap=True)


_SHOWN = 3  # of the reasons why a graph does not compile; --json has all


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
