"""The calls of cuDNN in XLA's dumps: ``XLA_FLAGS=--xla_dump_to=FOLDER`` of JAX and TensorFlow.

An optimized module (``…gpu_after_optimizations.txt``) has a custom call for each, with the engine
that autotuning chose and its knobs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..dtypes import as_data_type
from ..graph.describe.tensor import Tensor
from ..graph.graph import Graph
from ..raw import cudnnBackendKnobType_t
from ..raw.ctypes_support import short_name

_MARK = 'custom_call_target="__cudnn$'
_CALL = re.compile(
    r"^\s*(?:ROOT )?%?[\w.\-]+ = (?P<results>.+?) custom-call\((?P<operands>[^)]*)\)"
    r'(?P<rest>.*custom_call_target="(?P<target>__cudnn\$\w+)".*)$',
    re.MULTILINE,
)
_ARRAY = re.compile(r"\b([a-z]\w*)\[([\d,]*)\](?:\{([\d,]*)[^}]*\})?")
_DEFINED = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) \w", re.MULTILINE)
_TYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "s8": "int8",
    "s32": "int32",
    "f8e4m3fn": "fp8_e4m3",
    "f8e5m2": "fp8_e5m2",
}
_ACTIVATIONS = {"kNone": "", "kRelu": "relu", "kElu": "elu", "kRelu6": "relu"}


def has_calls(text: str) -> bool:
    """Whether a text is a module of XLA with calls of cuDNN."""
    return _MARK in text


def xla_graphs(text: str) -> Iterator[tuple[Graph, str] | str]:
    """The graphs of a module's calls with their engines, or why one is not read."""
    shapes = dict(_DEFINED.findall(text))
    for match in _CALL.finditer(text):
        try:
            call = _Call(match, shapes)
            graph = call.graph()
            graph.validate()
        except (ValueError, KeyError, IndexError, TypeError) as error:
            yield f"{match['target']}: {error}"
        else:
            yield graph, call.engine


class _Array:
    """An array's type: dims in the order in which HLO names them, and strides."""

    def __init__(self, kind: str, dims: str, order: str) -> None:
        self.data_type: str = _TYPES[kind]
        self.dims = [int(each) for each in dims.split(",") if each]
        minor = [int(each) for each in order.split(",") if each] or [*range(len(self.dims))][::-1]
        self.strides = [0] * len(self.dims)
        step = 1
        for axis in minor:
            self.strides[axis] = step
            step *= self.dims[axis]

    def ordered(self, axes: Sequence[int]) -> tuple[list[int], list[int]]:
        """The dims and strides in another order."""
        return [self.dims[axis] for axis in axes], [self.strides[axis] for axis in axes]


def _arrays(text: str) -> list[_Array]:
    return [_Array(*each) for each in _ARRAY.findall(text) if each[0] in _TYPES]


class _Call:
    """One custom call."""

    def __init__(self, match: re.Match[str], shapes: Mapping[str, str]) -> None:
        self._target, self._rest = match["target"].removeprefix("__cudnn$"), match["rest"]
        self._results = _arrays(match["results"])
        text = re.sub(r"/\*.*?\*/", "", match["operands"])
        operands = [each.strip() for each in re.split(r",\s*(?=[%\w]+[\w.\-#]*(?:,|$|\s))", text)]
        self._operands = [*self._resolved(operands, shapes)]
        begin = self._rest.find("backend_config=") + len("backend_config=")
        told: dict[str, Any] = json.JSONDecoder().raw_decode(self._rest, begin)[0]
        self._config = next((v for k, v in told.items() if k.startswith("cudnn_")), told)
        self._graph = Graph(f"xla {self._target}")

    def _resolved(self, operands: Sequence[str], shapes: Mapping[str, str]) -> Iterator[_Array]:
        for each in operands:
            name, _, place = each.split()[-1].lstrip("%").partition("#")
            known = _arrays(shapes.get(name, "")) or _arrays(each)
            if not known:
                raise ValueError(f"the shape of {name} is unknown")
            yield known[int(place or 0)]

    @property
    def engine(self) -> str:
        """The engine that autotuning chose, and its knobs."""
        algorithm = self._config.get("algorithm", {})
        knobs = [
            f"{short_name(cudnnBackendKnobType_t(int(number)))}={value}"
            for number, value in algorithm.get("tuning_knobs", {}).items()
        ]
        number = str(algorithm.get("algo_id", ""))
        return f"{number} ({', '.join(knobs)})" if knobs else number

    def graph(self) -> Graph:
        """The graph that the call carries out."""
        first = self._results[0] if self._results else None
        if first is None:
            raise ValueError("its results are not read")
        self._graph.io_data_type = as_data_type(first.data_type)
        if self._target.startswith("conv") and "Graph" not in self._target:
            self._convolution(first)
        elif self._target.startswith("fmha") and "F8" not in self._target:
            self._attention()
        else:
            raise ValueError("such calls are not read")
        return self._graph

    def _tensor(self, array: _Array, axes: Sequence[int]) -> Tensor:
        return self._graph.tensor(*array.ordered(axes), array.data_type)

    def _output(self, tensor: Tensor, array: _Array, axes: Sequence[int]) -> None:
        tensor.dims, tensor.strides = map(tuple, array.ordered(axes))
        tensor.set_output()
        tensor.data_type = as_data_type(array.data_type)

    # --- convolutions ----------------------------------------------------------------------------

    def _convolution(self, first: _Array) -> None:
        labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", self._rest)
        window = re.search(r"window=\{([^}]*)\}", self._rest)
        if labels is None or window is None:
            raise ValueError("it has no dim_labels or no window")
        rank = len(labels[1]) - 2
        spatial = "".join(map(str, range(rank)))
        image, filters, result = (
            [names.index(letter) for letter in letters + spatial]
            for names, letters in zip(labels.groups(), ("bf", "oi", "bf"), strict=True)
        )
        options = _window(window[1], rank)
        one, two = self._operands[:2]
        graph, name = self._graph, self._target
        if name == "convBackwardInput":
            loss, weight = self._tensor(one, result), self._tensor(two, filters)
            self._output(graph.conv_dgrad(loss, weight, **options), first, image)
        elif name == "convBackwardFilter":
            x, loss = self._tensor(one, image), self._tensor(two, result)
            self._output(graph.conv_wgrad(x, loss, **options), first, filters)
        elif name in ("convForward", "convBiasActivationForward"):
            y = graph.conv_fprop(self._tensor(one, image), self._tensor(two, filters), **options)
            self._output(self._epilogue(y, rank), first, result)
        else:
            raise ValueError("such convolutions are not read")

    def _epilogue(self, y: Tensor, rank: int) -> Tensor:
        """Scale, bias and activation of a convolution."""
        graph, config = self._graph, self._config
        if (scale := config.get("conv_result_scale", 1)) != 1:
            y = graph.mul(y, float(scale))
        if config.get("side_input_scale"):
            raise ValueError("a side input is not read")
        if len(self._operands) > 2:
            bias = self._operands[2]
            count = bias.dims[0]
            y = graph.add(y, graph.tensor((1, count, *[1] * rank), data_type=bias.data_type))
        activation = config.get("activation_mode", "kNone")
        if activation not in _ACTIVATIONS:
            raise ValueError(f"{activation} is not read")
        if not (method := _ACTIVATIONS[activation]):
            return y
        options = {"upper_clip": 6.0} if activation == "kRelu6" else {}
        activated: Tensor = getattr(graph, method)(y, **options)
        return activated

    # --- attention -------------------------------------------------------------------------------

    def _attention(self) -> None:
        config, backward = self._config, self._target.endswith("Backward")
        if float(config.get("dropout_rate", 0)):
            raise ValueError("dropout is not read")
        mask = config.get("mask_type", "NO_MASK")
        if mask not in ("NO_MASK", "CAUSAL"):
            raise ValueError(f"{mask} is not read")
        options = {
            "attn_scale": float(config["fmha_scale"]),
            "use_causal_mask": mask == "CAUSAL",
        }
        if window := int(config.get("sliding_window_length", 0)):
            options["sliding_window_length"] = window
        graph, rest = self._graph, self._operands[3:]
        q, k, v = (self._tensor(each, (0, 2, 1, 3)) for each in self._operands[:3])  # b t n h
        heads = q.dims[1] if q.dims else 0
        if backward:
            if len(rest) != 3:
                raise ValueError("a bias or lengths of sequences are not read")
            stats = graph.tensor((*rest[0].dims, 1), (*rest[0].strides, 1), rest[0].data_type)
            d_o, o = (self._tensor(each, (0, 2, 1, 3)) for each in rest[1:])
            found = graph.sdpa_backward(q, k, v, o, d_o, stats, **options)
            for tensor, array in zip(found, self._results, strict=False):
                self._output(tensor, array, _by_heads(array, heads))
            return
        if rest:
            options["bias"] = self._tensor(rest[0], range(4))
        trains = len(self._results) > 1 and self._results[1].data_type == "float32"
        o, stats_or_none = graph.sdpa(q, k, v, generate_stats=trains, **options)
        self._output(o, self._results[0], _by_heads(self._results[0], heads))
        if stats_or_none is not None:
            stats_or_none.set_output()
            stats_or_none.data_type = as_data_type("float32")


def _by_heads(array: _Array, heads: int) -> tuple[int, ...]:
    """The axes of batch, heads, tokens and size, of which HLO names heads or tokens first."""
    return (0, 1, 2, 3) if array.dims[1] == heads else (0, 2, 1, 3)


def _window(text: str, rank: int) -> dict[str, Any]:
    """Options of a convolution from HLO's window: ``size=3x3 pad=1_1x1_1 stride=2x2``."""
    told = dict(each.split("=") for each in text.split())
    pads = [each.split("_") for each in told.get("pad", "x".join(["0_0"] * rank)).split("x")]
    if set(told.get("lhs_dilate", "1").split("x")) != {"1"}:
        raise ValueError("a dilated image is not read")

    def sizes(name: str) -> list[int]:
        return [int(each) for each in told.get(name, "x".join("1" * rank)).split("x")]

    reverse = {*told.get("rhs_reversal", "0").split("x")} == {"1"}
    return {
        "pre_padding": [int(low) for low, _ in pads],
        "post_padding": [int(high) for _, high in pads],
        "stride": sizes("stride"),
        "dilation": sizes("rhs_dilate"),
        "convolution_mode": "convolution" if reverse else "cross_correlation",
    }
