"""Graphs that NVIDIA's front end prints as JSON, of both versions of its format."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from typing import Any

from ..dtypes import as_data_type, data_type_name
from ..graph.describe.operations.pointwise import POINTWISE_METHODS
from ..graph.describe.serialization import FORMAT, VERSION
from ..graph.graph import Graph

_BEGIN = re.compile(r'^\s*\{\s*"context"\s*:', re.MULTILINE)


def front_end_text(text: str) -> str | None:
    """The first printed graph in a text, which may be the front end's log; None without one."""
    begin = _BEGIN.search(text)
    return None if begin is None else text[begin.start() :].lstrip()


_X_Y = {"X": "input", "Y": "y"}
_NORM = {
    **_X_Y,
    **{name: name.lower() for name in ("SCALE", "BIAS", "EPSILON", "MEAN", "MOMENTUM")},
    "INV_VARIANCE": "inv_variance",
    **{f"PREV_RUNNING_{each}": f"in_running_{each.lower()}" for each in ("MEAN", "VAR")},
    **{f"NEXT_RUNNING_{each}": f"next_running_{each.lower()}" for each in ("MEAN", "VAR")},
}
_BACKWARD = {**_NORM, "DY": "grad", "DX": "dx", "DSCALE": "dscale", "DBIAS": "dbias"}
_ATTENTION = {
    **{name: name.lower() for name in ("Q", "K", "V", "O", "Stats", "Attn_scale", "Bias")},
    **{name: name.lower() for name in ("SEQ_LEN_Q", "SEQ_LEN_KV", "Dropout_mask", "Dropout_scale")},
    "Seed": "dropout_seed",
    "Offset": "dropout_offset",
    "SINK_TOKEN": "sink_token",
    **{f"Page_table_{each}": f"paged_attention_{each.lower()}_table" for each in "KV"},
    "dO": "dO",
    "dQ": "dq",
    "dK": "dk",
    "dV": "dv",
    "dBias": "dBias",
}

_TAGS: dict[str, tuple[str, Mapping[str, str]]] = {
    "CONV_FPROP": ("conv_fprop", {"X": "image", "W": "weight", "Y": "y"}),
    "CONV_DGRAD": ("conv_dgrad", {"DY": "loss", "W": "filter", "DX": "dx"}),
    "CONV_WGRAD": ("conv_wgrad", {"X": "image", "DY": "loss", "DW": "dw"}),
    "MATMUL": ("matmul", {each: each for each in "ABC"}),
    "REDUCTION": ("reduction", _X_Y),
    "GENSTATS": ("genstats", {"X": "input", "SUM": "sum", "SQ_SUM": "sq_sum"}),
    "LAYER_NORM": ("norm_forward", _NORM),
    "RMS_NORM": ("norm_forward", _NORM),
    "INSTANCE_NORM": ("norm_forward", _NORM),
    "BATCHNORM": ("norm_forward", _NORM),
    "BATCHNORM_INFERENCE": ("batchnorm_inference", _NORM),
    "LAYER_NORM_BPROP": ("norm_backward", _BACKWARD),
    "RMS_NORM_BPROP": ("norm_backward", _BACKWARD),
    "INSTANCE_NORM_BPROP": ("norm_backward", _BACKWARD),
    "DBN": ("norm_backward", _BACKWARD),
    "SDPA": ("sdpa", _ATTENTION),
    "SDPA_FWD": ("sdpa", _ATTENTION),
    "SDPA_BWD": ("sdpa_backward", _ATTENTION),
    "RESHAPE": ("reshape", _X_Y),
}
"""The operation of each tag, and its operands and results by the front end's names."""

_SAME = """
pre_padding post_padding stride dilation axis elu_alpha softplus_beta swish_beta
sliding_window_length dropout_probability
"""
_OPTIONS = {
    **{each: each for each in _SAME.split()},
    "relu_lower_clip": "lower_clip",
    "relu_upper_clip": "upper_clip",
    "relu_lower_clip_slope": "negative_slope",
    "attn_scale_value": "attn_scale",
    "alibi_mask": "use_alibi_mask",
    "causal_mask": "use_causal_mask",
    "causal_mask_bottom_right": "use_causal_mask_bottom_right",
    "left_bound": "diagonal_band_left_bound",
    "right_bound": "diagonal_band_right_bound",
    "max_seq_len_kv": "paged_attention_max_seq_len_kv",
    "is_deterministic_algorithm": "use_deterministic_algorithm",
}
_POINTWISE = {
    vars(method)["pointwise_mode"].name: name
    for name, method in reversed(POINTWISE_METHODS.items())
    if "pointwise_mode" in vars(method)
}
_NORM_MODES = {
    "LAYER_NORM": "LAYER_NORM",
    "RMS_NORM": "RMS_NORM",
    "INSTANCE_NORM": "INSTANCE_NORM",
    "BATCHNORM": "BATCH_NORM",
    "DBN": "BATCH_NORM",
}


def front_end_graph(text: str) -> Graph:
    """The graph in a text that begins with the JSON of NVIDIA's front end.

    Raises ValueError if the text is damaged, or an operation is not known here; the message names
    it.
    """
    try:
        told = json.JSONDecoder().raw_decode(text)[0]
        if any("tag" not in each for each in told["nodes"]):
            raise ValueError("a graph that only Python knew yet is not read: print it once built")
        context, tensors = told["context"], told["tensors"]
        every = tensors.values() if isinstance(tensors, dict) else tensors
        # In the first version of the format nodes name tensors, in the second they give uids.
        keys = {name: each["name"] for each in every for name in (each["name"], each["uid"])}
        content = {
            "format": FORMAT,
            "version": VERSION,
            "name": context.get("name") or "graph",
            "tensors": {each["name"]: _tensor(each) for each in every},
            "nodes": [_node(each, keys) for each in told["nodes"]],
        }
        for name in ("io_data_type", "intermediate_data_type", "compute_data_type"):
            if context.get(name):
                content[name] = _data_type(context[name])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no graph of NVIDIA's front end: {error!r}") from None
    _settle(content)
    return Graph.from_json(json.dumps(content))


def _data_type(name: str) -> str:
    return data_type_name(as_data_type(f"CUDNN_DATA_{name}"))


def _number(value: Any) -> Any:
    """A number; the front end writes the bytes of a float as hexadecimal digits."""
    if isinstance(value, str) and re.fullmatch(r"[0-9A-F]{8}", value):
        return struct.unpack(">f", bytes.fromhex(value))[0]
    return value


def _tensor(told: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"virtual": True} if told["is_virtual"] else {}
    names = {"uid": "uid", "dims": "dim", "strides": "stride"}
    found |= {ours: told[theirs] for ours, theirs in names.items() if told.get(theirs)}
    if told.get("data_type"):
        found["data_type"] = _data_type(told["data_type"])
    if told.get("is_pass_by_value"):
        value = told.get("pass_by_value")
        value = _number(value["value"] if isinstance(value, dict) else value)
        found["by_value"] = True
        if isinstance(value, (int, float)):
            found["value"] = value if math.isfinite(value) else str(value)
    return found


def _node(told: Mapping[str, Any], keys: Mapping[Any, str]) -> dict[str, Any]:
    tag, mode = told["tag"], told.get("mode")
    kind, ports = _TAGS.get(tag, ("", {}))
    operation = kind
    options = {
        ours: _number(told[name])
        for name, ours in _OPTIONS.items()
        if told.get(name) is not None and told[name] is not False
    }
    if tag == "POINTWISE":
        kind, ports = "pointwise", {"IN_0": "x", "IN_1": "b", "IN_2": "t", "OUT_0": "y"}
        options["mode"] = f"CUDNN_POINTWISE_{mode}"
        operation = _POINTWISE.get(options["mode"], kind)
        if str(mode).endswith("_BWD"):
            kind, ports = "pointwise_backward", {"IN_0": "dy", "IN_1": "x", "OUT_0": "dx"}
    elif not kind:
        raise ValueError(f"operation {tag} of NVIDIA's front end is not known here")
    elif tag.startswith("CONV_"):
        convolution = told.get("math_mode") or "CROSS_CORRELATION"
        options |= {"convolution_mode": f"CUDNN_{convolution}", "alpha": 1.0, "beta": 0.0}
    elif tag == "REDUCTION":
        options["mode"] = f"CUDNN_REDUCE_TENSOR_{mode}"
    elif tag == "GENSTATS":
        options["mode"] = "CUDNN_GENSTATS_SUM_SQSUM"
    elif tag == "MATMUL" and told.get("padding_value"):
        options["padding"] = told["padding_value"]
    elif kind.startswith("norm_"):
        options["mode"] = f"CUDNN_{_NORM_MODES[tag.removesuffix('_BPROP')]}"
        if kind == "norm_forward":
            options["phase"] = f"CUDNN_NORM_FWD_{told.get('forward_phase') or 'TRAINING'}"
    elif kind.startswith("sdpa"):
        alignment = told.get("diagonal_alignment")
        options |= {"diagonal_alignment": alignment.lower()} if alignment else {}
        if "Attn_scale" in told["inputs"]:
            options.pop("attn_scale", None)
    sides = {}
    for side in ("inputs", "outputs"):
        named = {name: each for name, each in told[side].items() if each in keys}
        unknown = named.keys() - ports.keys()
        if unknown:
            raise ValueError(f"{tag} with {', '.join(sorted(unknown))} is not known here")
        sides[side] = {ports[name]: keys[each] for name, each in named.items()}
    node = {"operation": operation, "kind": kind, "name": told.get("name") or operation, **sides}
    precision = told.get("compute_data_type")
    named = {"compute_data_type": _data_type(precision)} if precision not in (None, "") else {}
    return {**node, "options": options, **({} if kind.startswith("sdpa") else named)}


def _settle(content: dict[str, Any]) -> None:
    """Undo what building does to the printed graph: it exchanges dimensions of attention's keys."""
    for node in content["nodes"]:
        if not node["kind"].startswith("sdpa"):
            continue
        q, k = (content["tensors"][node["inputs"][port]] for port in "qk")
        if k.get("dims") and q["dims"][3] == k["dims"][2] != k["dims"][3]:
            for name in ("dims", "strides"):
                k[name][2:] = k[name][:1:-1]
