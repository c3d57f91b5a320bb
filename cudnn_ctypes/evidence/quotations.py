"""Graphs and engines that error messages quote: ``Matmul_MUL_ADD_``, ``eng34{k2=2,k4=3}``, and
engines as JSON with names of knobs.

NVIDIA's front end names a graph by its operations in a row and an engine config by the numbers of
engine and knobs; PyTorch, XLA and TensorFlow quote both.
"""

from __future__ import annotations

import functools
import re

from ..raw import cudnnBackendKnobType_t, cudnnPointwiseMode_t
from ..raw.ctypes_support import short_name

_TAGS = {
    "ConvFwd": "conv_fprop",
    "ConvBwdData": "conv_dgrad",
    "ConvBwdFilter": "conv_wgrad",
    "Matmul": "matmul",
    "Reduction": "reduction",
    "GenStats": "genstats",
    "BNFinalize": "bn_finalize",
    "Norm_Fwd": "norm_forward",
    "Norm_Bwd": "norm_backward",
    "Resample_fwd": "resample",
    "Resample_bwd": "resample_backward",
    "Dgrad_Drelu_BN_Bwd": "bn_backward_weights",
    "Rng": "rng",
    "Reshape": "reshape",
}
"""Operations by the front end's tags; element-wise ones have the names of their modes."""

_ENGINE = re.compile(r"(?:eng|engine )(\d+)((?:[_{,]+k\d+=-?\d+)*)")
_KNOB = re.compile(r"k(\d+)=(-?\d+)")
_JSON_ENGINE = re.compile(r'"engineId":(\d+)[^{}]*"knobChoices":\{([^{}]*)\}')
_JSON_KNOB = re.compile(r'"CUDNN_KNOB_TYPE_(\w+)":(-?\d+)')


@functools.cache
def _names() -> dict[str, str]:
    modes = [mode.name.removeprefix("CUDNN_POINTWISE_") for mode in cudnnPointwiseMode_t]
    return {**{name: name.lower().removesuffix("_fwd") for name in modes}, **_TAGS}


@functools.cache
def _name() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_names(), key=len, reverse=True)))


@functools.cache
def _graph() -> re.Pattern[str]:
    name = _name().pattern
    return re.compile(rf"(?<![A-Za-z0-9])_*((?:(?:{name})_+)*(?:{name}))_*(?![A-Za-z0-9])")


def quoted_graphs(text: str) -> list[list[str]]:
    """The graphs that a text quotes, each as the names of its operations in order."""
    found = []
    for match in _graph().finditer(re.sub(r"(?=eng\d)", " ", text)):
        words = _name().findall(match[1])
        if len(words) > 1 or (words[0] in _TAGS and match[0].endswith("_")):
            found.append([_names()[word] for word in words])
    return found


def quoted_engines(text: str) -> list[tuple[int, dict[str, int]]]:
    """The engine configs that a text quotes: the engine, and the knobs by their short names."""
    found = []
    for match in _ENGINE.finditer(text):
        knobs = {}
        for number, value in _KNOB.findall(match[2]):
            knob = cudnnBackendKnobType_t(int(number))
            knobs[short_name(knob) if knob.known else number] = int(value)
        found.append((int(match[1]), knobs))
    for match in _JSON_ENGINE.finditer(text):
        named = {name.lower(): int(value) for name, value in _JSON_KNOB.findall(match[2])}
        found.append((int(match[1]), named))
    return found
