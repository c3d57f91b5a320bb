"""Results of a benchmark, held against the work that a problem is and the limits of a GPU."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...absent_gpu.properties import later_value
from ...dtypes import data_type_name, element_bits
from ...graph.backend.device_properties import DeviceProperties
from ...graph.describe.node import Node
from ...graph.describe.operations.attention_checks import mask_of
from ...graph.describe.operations.reductions import multiplications
from ...graph.engines.explaining.report import bytes_text
from ...graph.graph import Graph
from ...raw.describe import aligned

if TYPE_CHECKING:
    from ...evidence.pictures.plots import Bar

_NO_TF32 = (7, 5)
_NO_TENSOR_CORES = "GeForce GTX 16"


@dataclass(frozen=True)
class Limits:
    """The peak rates of a GPU.

    - `flops`: additions and multiplications per second; None if unknown for the data type or GPU.
    - `bandwidth`: bytes of memory per second; None if the bus width is unknown.
    - `source`: the origin of these numbers.
    """

    flops: float | None
    bandwidth: float | None
    source: str

    def microseconds(self, flops: int, nbytes: int) -> float | None:
        """The least time by the roofline model (Williams et al., 2009); None if unknown."""
        if self.bandwidth is None:
            return None
        moving = nbytes / self.bandwidth
        if not flops:
            return 1e6 * moving
        return None if self.flops is None else 1e6 * max(flops / self.flops, moving)


def limits_of(
    device: DeviceProperties, data_type: Any = None, *, bus_width: int | None = None
) -> Limits:
    """The limits for operands of a data type; None for operations that only move data.

    float32 counts as TF32, which engines may compute in, where tensor cores have it.

    - `bus_width`: bits, from the driver: cuDNN before 9.27 does not report them.
    """
    if "memoryBusWidth" in device:
        bus_width = device["memoryBusWidth"]
    elif bus_width is None:
        bus_width = later_value("memoryBusWidth", device.name)
    # Two transfers per clock.
    bandwidth = None if bus_width is None else 2e3 * device["memClockRateKHz"] * bus_width / 8
    known = f"memory clock x bus width of {device.name}"
    if device.source == "public data":
        known += " by public data"
    rate = None if data_type is None else _rate(device, _kind(data_type))
    if rate is None:
        return Limits(None, bandwidth, known)
    flops = 1e3 * rate * device["multiProcessorCount"] * device["smClockRateKHz"]
    name = _kind(data_type)
    if name == "float32" and device.compute_capability != _NO_TF32:
        name = "TF32"
    return Limits(
        flops,
        bandwidth,
        f"{rate} {name} operations a clock (public data) x multiprocessors x clock, {known}",
    )


@functools.cache
def _architectures() -> dict[str, Any]:
    """The rates of GPUs by data type, those that GeForce cards halve, and the sources."""
    text = Path(__file__).with_name("rates.json").read_text("utf-8")
    return dict(json.loads(text)["architectures"])


def _rate(device: DeviceProperties, kind: str) -> int | None:
    known = _architectures().get("{}.{}".format(*device.compute_capability), {})
    rate: int | None = known.get("rates", {}).get(kind)
    if rate is None or (_NO_TENSOR_CORES in device.name and kind != "float32"):
        return None
    halved = "GeForce" in device.name and kind in known["halved"]
    return rate // 2 if halved else rate


def _kind(data_type: Any) -> str:
    name = data_type_name(data_type)
    return next((kind for kind in ("fp8", "fp4") if name.startswith(kind)), name)


@dataclass(frozen=True)
class Work:
    """The work of any implementation of a graph.

    - `flops`: additions and multiplications of convolutions, matrix products and attention. Other
      operations are not counted, since memory limits them.
    - `nbytes`: bytes if each input is read once and each output is written once.
    - `data_type`: the operands' type of the operation with the most flops; None if none is counted.
    """

    flops: int
    nbytes: int
    data_type: Any = None


def work_of(graph: Graph) -> Work:
    """The work of a graph; validates the graph."""
    nodes = [node for node in graph.validate() if node.operation in _COUNTS]
    counted = [(_COUNTS[node.operation](node), node) for node in nodes]
    largest = max(counted, key=lambda pair: pair[0], default=None)
    tensors = [each for each in (*graph.inputs, *graph.outputs) if not each.by_value]
    nbytes = sum(math.prod(each.dims or ()) * element_bits(each.data_type) // 8 for each in tensors)
    data_type = None if largest is None else next(iter(largest[1].inputs.values())).data_type
    return Work(2 * sum(products for products, _ in counted), nbytes, data_type)


def _dims(node: Node, name: str) -> tuple[int, ...]:
    tensor = node.inputs[name] if name in node.inputs else node.outputs[name]
    assert tensor.dims is not None
    return tensor.dims


def _convolution(node: Node) -> int:
    """The products of a convolution: one per element of y and element of a filter."""
    y, w = {
        "conv_fprop": ("y", "weight"),
        "conv_dgrad": ("loss", "filter"),
        "conv_wgrad": ("loss", "dw"),
    }[node.operation]
    return math.prod(_dims(node, y)) * math.prod(_dims(node, w)[1:])


def _attention(node: Node) -> int:
    """The products of attention: two matrix products forward, five backward."""
    q, k, v = (_dims(node, name) for name in "qkv")
    mask = mask_of(node)
    pairs = visible_pairs(q[2], k[2], mask.left, mask.right, bottom_right=mask.bottom_right)
    each = q[0] * q[1] * pairs
    if node.operation.endswith("backward"):
        return each * (3 * q[3] + 2 * v[3])
    return each * (q[3] + v[3])


def visible_pairs(
    queries: int, keys: int, left: int | None, right: int | None, *, bottom_right: bool = False
) -> int:
    """Number of pairs of a query and a visible key; see `Mask`."""
    total = 0
    for query in range(queries):
        centre = query + keys - queries if bottom_right else query
        first = 0 if left is None else max(0, centre - left + 1)
        last = keys if right is None else min(keys, centre + right + 1)
        total += max(0, last - first)
    return total


_COUNTS: dict[str, Callable[[Node], int]] = {
    "conv_fprop": _convolution,
    "conv_dgrad": _convolution,
    "conv_wgrad": _convolution,
    "matmul": multiplications,
    "sdpa": _attention,
    "sdpa_backward": _attention,
    "sdpa_fp8": _attention,
    "sdpa_fp8_backward": _attention,
}


COLUMNS = (
    "us",
    "spread",
    "TFLOP/s",
    "GB/s",
    "of limit",
    "workspace",
    "same bits",
    "tensor cores",
    "what",
)
_RIGHT = COLUMNS[:6]


@dataclass(frozen=True)
class BenchRow:
    """The measurement of one implementation.

    - `what`: an engine of the graph API with its knobs, an algorithm of the legacy API, or PyTorch.
    - `median`: microseconds; None if not timed.
    - `low`, `high`: the first and the third quartile.
    - `workspace`: size in bytes.
    - `deterministic`, `tensor_cores`: None if unknown.
    - `note`: the reason for not timing it, or not to the end.
    """

    what: str
    api: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    workspace: int | None = None
    deterministic: bool | None = None
    tensor_cores: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class BenchResult:
    """The measurements of all implementations of a problem on one GPU; ``str`` gives a table.

    - `gpu`, `cudnn`, `package`: the GPU, and the versions of cuDNN and of this package.
    - `flops`, `nbytes`: see `Work`.
    - `limit`: microseconds that the GPU's peaks allow; see `Limits`.
    - `faults`: the known faults of cuDNN that concern the graph, as in `Explanation`.
    """

    problem: str
    gpu: str
    cudnn: str
    package: str
    rows: tuple[BenchRow, ...]
    flops: int
    nbytes: int
    limit: float | None
    limit_source: str
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranking(self) -> tuple[BenchRow, ...]:
        """The rows, the fastest first, rows without a time last."""
        return tuple(sorted(self.rows, key=lambda row: (row.median is None, row.median or 0)))

    @property
    def best(self) -> BenchRow | None:
        """cuDNN's fastest row; None without one."""
        timed = (row for row in self.ranking if row.median is not None and row.api != "PyTorch")
        return next(timed, None)

    def as_dict(self) -> dict[str, Any]:
        """The result as data for JSON, with the rates computed from the times."""
        rows = [{**asdict(row), **self._speeds(row)} for row in self.ranking]
        return {**asdict(self), "rows": rows}

    def _speeds(self, row: BenchRow) -> dict[str, float | None]:
        if not row.median:
            return {"tflops": None, "gbytes": None, "share": None}
        return {
            "tflops": self.flops / row.median / 1e6 if self.flops else None,
            "gbytes": self.nbytes / row.median / 1e3,
            "share": None if self.limit is None else self.limit / row.median,
        }

    def __str__(self) -> str:
        timed = [row for row in self.ranking if row.median is not None]
        others = [row for row in self.ranking if row.median is None]
        parts = ["\n".join(self._title())]
        if timed:
            parts.append(aligned([COLUMNS, *map(self._cells, timed)], _RIGHT))
        if others:
            columns = (*COLUMNS[5:], "note")
            cells = [(*self._cells(row)[5:], row.note) for row in others]
            parts.append(aligned([columns, *cells], ("workspace",)))
        return "\n\n".join(parts)

    def _title(self) -> Iterator[str]:
        yield f"{self.problem} on {self.gpu}, cuDNN {self.cudnn}"
        yield f"{self.flops / 1e9:,.3g} GFLOP, {self.nbytes / 1e6:,.3g} MB at least"
        if self.limit is None:
            yield f"no limit is known for this GPU and data type ({self.limit_source})"
        else:
            yield f"limit {self.limit:.3g} us: {self.limit_source}"
        yield from (f"known fault {name!r}: {told}" for name, told in self.faults.items())

    def _cells(self, row: BenchRow) -> tuple[str, ...]:
        speeds = self._speeds(row)
        tflops, gbytes, share = (speeds[name] for name in ("tflops", "gbytes", "share"))
        spread = None if row.high is None or row.low is None else row.high - row.low
        what = row.what if row.api == "PyTorch" else f"{row.api}: {row.what}"
        return (
            _number(row.median),
            _number(spread),
            _number(tflops),
            _number(gbytes),
            "-" if share is None else f"{share:.0%}",
            bytes_text(row.workspace),
            _yes_no(row.deterministic),
            _yes_no(row.tensor_cores),
            f"{what} ({row.note})" if row.median is not None and row.note else what,
        )

    def plot(self, ax: Any = None) -> Any:
        """The times as bars on axes of matplotlib.

        Raises ImportError if matplotlib is missing.
        """
        from ...evidence.pictures.plots import axes

        return axes(self._bars(), f"{self.problem}\n{self.gpu}, cuDNN {self.cudnn}", "us", ax)

    def _bars(self) -> Sequence[Bar]:
        from ...evidence.pictures.plots import Bar

        return [
            Bar(
                f"{row.api}: {row.what}" if row.api != "PyTorch" else row.what,
                row.median if row.low is None else row.low,
                row.median,
                row.median if row.high is None else row.high,
                "best" if row is self.best else "pale" if row.api == "PyTorch" else "",
            )
            for row in self.ranking
            if row.median is not None
        ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _yes_no(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"
