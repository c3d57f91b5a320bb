"""``python -m tools.probe_attributes``: measure what types of value the backend attributes take.

cuDNN is asked: every attribute is set with every type, once and several at a time, each in a
forked child because a descriptor of the wrong kind can crash libcudnn. What cannot be measured
(attributes that cuDNN computes, or wants in a certain order, and which descriptors it wants as
values) is in `KNOWN`, from cuDNN's documentation. Writes cudnn_ctypes/raw/attribute_types.json;
needs no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.raw.bare import bare

from .generate.text import json_table

OUTPUT = Path(__file__).resolve().parents[1] / "cudnn_ctypes" / "raw" / "attribute_types.json"

Facts = tuple[str, bool, bool, str]  # types, is_array, settable, wants

_D = "BACKEND_DESCRIPTOR"
_SCALAR, _ARRAY, _SETTABLE, _COMPUTED = False, True, True, False

KNOWN: dict[str, Facts] = {
    "ENGINEHEUR_OPERATION_GRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
    "ENGINEHEUR_RESULTS": (_D, _ARRAY, _COMPUTED, "ENGINECFG"),
    "ENGINEHEUR_DEVICEPROP": (_D, _SCALAR, _SETTABLE, "DEVICEPROP"),
    "ENGINECFG_ENGINE": (_D, _SCALAR, _SETTABLE, "ENGINE"),
    "ENGINECFG_INTERMEDIATE_INFO": (_D, _ARRAY, _COMPUTED, "INTERMEDIATE_INFO"),
    "ENGINECFG_KNOB_CHOICES": (_D, _ARRAY, _SETTABLE, "KNOB_CHOICE"),
    "ENGINECFG_WORKSPACE_SIZE": ("INT64", _SCALAR, _COMPUTED, ""),
    "EXECUTION_PLAN_HANDLE": ("HANDLE", _SCALAR, _SETTABLE, ""),
    "EXECUTION_PLAN_ENGINE_CONFIG": (_D, _SCALAR, _SETTABLE, "ENGINECFG"),
    "EXECUTION_PLAN_WORKSPACE_SIZE": ("INT64", _SCALAR, _COMPUTED, ""),
    "EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS": ("INT64", _ARRAY, _COMPUTED, ""),
    "EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS": ("INT64", _ARRAY, _SETTABLE, ""),
    "EXECUTION_PLAN_JSON_REPRESENTATION": ("CHAR", _ARRAY, _SETTABLE, ""),
    "EXECUTION_PLAN_KERNEL_CACHE": (_D, _SCALAR, _SETTABLE, "KERNEL_CACHE"),
    "EXECUTION_PLAN_DEVICEPROP": (_D, _SCALAR, _SETTABLE, "DEVICEPROP"),
    "INTERMEDIATE_INFO_UNIQUE_ID": ("INT64", _SCALAR, _COMPUTED, ""),
    "INTERMEDIATE_INFO_SIZE": ("INT64", _SCALAR, _COMPUTED, ""),
    "INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS": ("INT64", _ARRAY, _COMPUTED, ""),
    "INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES": ("ATTRIB_NAME", _ARRAY, _COMPUTED, ""),
    "OPERATIONGRAPH_HANDLE": ("HANDLE", _SCALAR, _SETTABLE, ""),
    "OPERATIONGRAPH_OPS": (_D, _ARRAY, _SETTABLE, "OPERATION_*"),
    "OPERATIONGRAPH_ENGINE_GLOBAL_COUNT": ("INT64", _SCALAR, _COMPUTED, ""),
    "OPERATIONGRAPH_IS_SAME_TOPOLOGY": (_D, _SCALAR, _COMPUTED, "OPERATIONGRAPH"),
    "TENSOR_CONSTANT_VALUE": ("VOID_PTR", _SCALAR, _SETTABLE, ""),
    "VARIANT_PACK_INTERMEDIATES": ("VOID_PTR", _ARRAY, _SETTABLE, ""),
    "LAYOUT_INFO_TENSOR_UID": ("INT64", _SCALAR, _COMPUTED, ""),
    "LAYOUT_INFO_TYPES": ("LAYOUT_TYPE", _ARRAY, _COMPUTED, ""),
    "KNOB_INFO_TYPE": ("KNOB_TYPE", _SCALAR, _COMPUTED, ""),
    "KNOB_INFO_MAXIMUM_VALUE": ("INT64", _SCALAR, _COMPUTED, ""),
    "KNOB_INFO_MINIMUM_VALUE": ("INT64", _SCALAR, _COMPUTED, ""),
    "KNOB_INFO_STRIDE": ("INT64", _SCALAR, _COMPUTED, ""),
    "ENGINE_OPERATION_GRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
    "ENGINE_KNOB_INFO": (_D, _ARRAY, _COMPUTED, "KNOB_INFO"),
    "ENGINE_NUMERICAL_NOTE": ("NUMERICAL_NOTE", _ARRAY, _COMPUTED, ""),
    "ENGINE_LAYOUT_INFO": (_D, _ARRAY, _COMPUTED, "LAYOUT_INFO"),
    "ENGINE_BEHAVIOR_NOTE": ("BEHAVIOR_NOTE", _ARRAY, _COMPUTED, ""),
    "ENGINE_DEVICEPROP": (_D, _SCALAR, _SETTABLE, "DEVICEPROP"),
    "OPERATION_REDUCTION_DESC": (_D, _SCALAR, _SETTABLE, "REDUCTION"),
    "OPERATION_REDUCTION_DIMS": ("INT64", _ARRAY, _SETTABLE, ""),
    "OPERATION_REDUCTION_INIT_VALUES": ("VOID_PTR", _ARRAY, _SETTABLE, ""),
    "OPERATION_REDUCTION_SUBGRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
    "OPERATION_REDUCTION_SUBGRAPH_ACCUMULATOR_UIDS": ("INT64", _ARRAY, _SETTABLE, ""),
    "OPERATION_REDUCTION_SUBGRAPH_CURRENT_UIDS": ("INT64", _ARRAY, _SETTABLE, ""),
    "OPERATION_REDUCTION_SUBGRAPH_OUTPUT_UIDS": ("INT64", _ARRAY, _SETTABLE, ""),
    "OPERATION_REDUCTION_SUBGRAPH_COMPUTE_TYPES": ("DATA_TYPE", _ARRAY, _SETTABLE, ""),
    "KERNEL_CACHE_OPERATION_GRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
    "KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED": (_D, _SCALAR, _COMPUTED, "ENGINECFG"),
    "KERNEL_CACHE_JSON_REPRESENTATION": ("CHAR", _ARRAY, _SETTABLE, ""),
    "KERNEL_CACHE_REVISION": ("INT64", _SCALAR, _COMPUTED, ""),
    "KERNEL_CACHE_ENTRY_COUNT": ("INT64", _SCALAR, _COMPUTED, ""),
    "DEVICEPROP_HANDLE": ("HANDLE", _SCALAR, _SETTABLE, ""),
    "DEVICEPROP_JSON_REPRESENTATION": ("CHAR", _ARRAY, _SETTABLE, ""),
    "OPERATION_SDPA_FWD_SUBGRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
    "OPERATION_SDPA_FWD_SOFTMAX_DESC": (_D, _SCALAR, _SETTABLE, "OPERATION_SOFTMAX"),
    "OPERATION_SDPA_BWD_SUBGRAPH": (_D, _SCALAR, _SETTABLE, "OPERATIONGRAPH"),
}

# Attributes that take a descriptor other than a tensor's, where types and counts are measured.
WANTS = {
    "OPERATION_CONVOLUTION_FORWARD_CONV_DESC": "CONVOLUTION",
    "OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC": "CONVOLUTION",
    "OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC": "CONVOLUTION",
    "OPERATION_POINTWISE_PW_DESCRIPTOR": "POINTWISE",
    "OPERATION_MATMUL_DESC": "MATMUL",
    "OPERATION_RESAMPLE_FWD_DESC": "RESAMPLE",
    "OPERATION_RESAMPLE_BWD_DESC": "RESAMPLE",
    "OPERATION_RNG_DESC": "RNG",
}

# A Python number is given as the first of these that an attribute takes.
_PREFERRED = ("DOUBLE", "FLOAT", "INT64", "INT32", "FRACTION")
# Which cuDNN reads in the type of the computation, float32 unless that is float64.
_PREFERRED_FOR_CONVOLUTIONS = ("FLOAT", "DOUBLE", "INT64", "INT32", "FRACTION")


def measured(name: str, kind: raw.cudnnBackendDescriptorType_t) -> Facts | None:
    """What cuDNN says about the attribute `name` of descriptors of type `kind`."""
    types = [type_ for type_ in raw.cudnnBackendAttributeType_t if _accepted(name, kind, type_, 1)]
    if not types:
        return None
    names = [type_.name.removeprefix("CUDNN_TYPE_") for type_ in types]
    convolution = name.startswith("OPERATION_CONVOLUTION")
    preferred = _PREFERRED_FOR_CONVOLUTIONS if convolution else _PREFERRED
    names.sort(key=lambda each: preferred.index(each) if each in preferred else -1)
    if _D in names:  # cuDNN takes several for most of them, and uses the first
        return " ".join(names), name.endswith("DESCS"), _SETTABLE, WANTS.get(name, "TENSOR")
    is_array = any(_accepted(name, kind, types[0], count) for count in (2, 3))
    return " ".join(names), is_array, _SETTABLE, ""


def _accepted(name: str, kind: int, type_: raw.cudnnBackendAttributeType_t, count: int) -> bool:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(_set(name, kind, type_, count))
    _, status = os.waitpid(child, 0)
    return status == 0


def _set(name: str, kind: int, type_: raw.cudnnBackendAttributeType_t, count: int) -> int:
    descriptor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(raw.cudnnBackendDescriptorType_t(kind), descriptor)
    values = (ctypes.c_int64 * 32)(*[1] * 32)
    if type_ == raw.CUDNN_TYPE_BACKEND_DESCRIPTOR:
        tensors = [raw.cudnnBackendDescriptor_t() for _ in range(count)]
        for i, tensor in enumerate(tensors):
            raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor)
            values[i] = tensor.value or 0
    attribute = int(raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_{name}"])
    # Not by raw, which refuses what the table that is to be written does not have.
    status = bare.cudnnBackendSetAttribute(
        descriptor, attribute, int(type_), ctypes.c_int64(count), values
    )
    return 0 if status == raw.CUDNN_STATUS_SUCCESS else 1


def all_facts() -> dict[str, Facts]:
    """Measured and known facts by attribute, in the order of the headers.

    Raises
    ------
    ValueError
        For an attribute about which nothing is known, and for a `KNOWN` one that does not exist.
    """
    # attributes.py reads the table that this tool writes, but only as a whole.
    from cudnn_ctypes.raw.attributes import owner_and_short_name

    names = {
        each.name.removeprefix("CUDNN_ATTR_"): each for each in raw.cudnnBackendAttributeName_t
    }
    unknown = sorted({*KNOWN, *WANTS} - set(names))
    if unknown:
        raise ValueError(f"no such attributes: {', '.join(unknown)}")
    found: dict[str, Facts] = {}
    for short, name in names.items():
        facts = KNOWN.get(short) or measured(short, owner_and_short_name(name)[0])
        if facts is None:
            raise ValueError(f"{name}: cuDNN takes no value; state what is known in KNOWN")
        found[short] = facts
    return found


def text(facts: dict[str, Facts], version: str) -> str:
    """The file."""
    source = "Measured by ``python -m tools.probe_attributes``"
    return json_table("The value types of the attributes", version, source, facts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.probe_attributes", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; 1 if they differ")
    options = parser.parse_args(arguments)
    ensure_driver()
    raw.cudnnSetCallback(0, None, None)  # children share no Python with a callback
    written = text(all_facts(), raw.load().version_text)
    if options.check:
        return 0 if OUTPUT.read_text() == written else 1
    OUTPUT.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
