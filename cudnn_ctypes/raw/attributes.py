"""The table of backend attributes, derived from the names of the enumerators.

``CUDNN_ATTR_TENSOR_DATA_TYPE`` belongs to ``CUDNN_BACKEND_TENSOR_DESCRIPTOR`` and is its
``data_type``; the descriptor type is called ``tensor``. ``attribute_types.json`` lists the type of
each attribute's value, as ``python -m tools.probe_attributes`` measured it. The table guards the
attribute calls of layer 1, and gives layer 3 its short names.
"""

from __future__ import annotations

import ctypes
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import enums, library
from .ctypes_support import CudnnEnum
from .enums import cudnnBackendAttributeName_t as Name
from .enums import cudnnBackendAttributeType_t as Type
from .enums import cudnnBackendDescriptorType_t as Kind
from .origins import FORMER_VALUES, SINCE
from .types import cudnnFraction_t

# Descriptor types whose attributes have another prefix than the type's own name.
_PREFIXES: dict[str, tuple[str, ...]] = {
    "operation_convolution_backward_data": ("operation_convolution_bwd_data",),
    "operation_convolution_backward_filter": ("operation_convolution_bwd_filter",),
    "operation_gen_stats": ("operation_genstats",),
    "operation_bn_finalize_statistics": ("operation_bn_finalize",),
    "operation_norm_forward": ("operation_norm_fwd",),
    "operation_norm_backward": ("operation_norm_bwd",),
    "operation_contract_band_matrix": ("operation_contract_band_matrix", "operation_contract_band"),
}


@dataclass(frozen=True)
class Attribute:
    """One attribute of one descriptor type.

    - `name`: C's name.
    - `short_name`: its name in Python, for this descriptor type.
    - `kind`: the descriptor type that has it.
    - `types`: the types of value that cuDNN takes, the preferred one first.
    - `is_array`: True for an attribute with any number of values, False for one value.
    - `settable`: False for an attribute that cuDNN computes.
    - `wants`: the descriptor types that it accepts as values; empty for other values.
    """

    name: Name
    short_name: str
    kind: Kind
    types: tuple[Type, ...]
    is_array: bool
    settable: bool
    wants: frozenset[Kind]

    @functools.cached_property
    def full_name(self) -> str:
        """The short name after the descriptor type's: "tensor.data_type"."""
        return f"{kind_name(self.kind)}.{self.short_name}"

    @property
    def since(self) -> str:
        """The first cuDNN version that has the attribute."""
        return SINCE[self.name.name]


@functools.cache
def kind_name(kind: Kind) -> str:
    """The short name of a descriptor type: "tensor" for ``CUDNN_BACKEND_TENSOR_DESCRIPTOR``."""
    if not kind.known:
        return kind.name
    return kind.name.removeprefix("CUDNN_BACKEND_").removesuffix("_DESCRIPTOR").lower()


KINDS: dict[str, Kind] = {kind_name(kind): kind for kind in Kind}
"""The descriptor types by short name."""


def owner_and_short_name(name: Name) -> tuple[Kind, str]:
    """The descriptor type that has an attribute, and the attribute's name there.

    Raises KeyError if the name begins with no descriptor type's name.
    """
    text = name.name.removeprefix("CUDNN_ATTR_").lower()
    for prefix, kind in _by_length():
        if text.startswith(prefix + "_"):
            return kind, text[len(prefix) + 1 :]
    raise KeyError(f"{name.name} begins with no descriptor type's name: state it in _PREFIXES")


@functools.cache
def _by_length() -> tuple[tuple[str, Kind], ...]:
    prefixes = [
        (prefix, kind) for short, kind in KINDS.items() for prefix in _PREFIXES.get(short, (short,))
    ]
    return tuple(sorted(prefixes, key=lambda pair: -len(pair[0])))


_FILE = Path(__file__).with_name("attribute_types.json")

ATTRIBUTE_TYPES: dict[str, tuple[str, bool, bool, str]] = json.loads(_FILE.read_text("utf-8"))[
    "rows"
]
"""By name without CUDNN_ATTR_: the types of value that cuDNN takes, the preferred one first;
whether it has any number of values; whether it can be set; which descriptors it wants."""


def _table() -> dict[Kind, dict[str, Attribute]]:
    table: dict[Kind, dict[str, Attribute]] = {kind: {} for kind in Kind}
    for name in Name:
        facts = ATTRIBUTE_TYPES.get(name.name.removeprefix("CUDNN_ATTR_"))
        if facts is None:  # just generated, and not yet measured by tools.probe_attributes
            continue
        kind, short = owner_and_short_name(name)
        types, is_array, settable, wants = facts
        table[kind][short] = Attribute(
            name,
            short,
            kind,
            tuple(Type[f"CUDNN_TYPE_{type_}"] for type_ in types.split()),
            is_array,
            settable,
            _kinds(wants),
        )
    return table


def _kinds(wants: str) -> frozenset[Kind]:
    if wants == "OPERATION_*":
        return frozenset(kind for kind in Kind if "BACKEND_OPERATION_" in kind.name)
    return frozenset(Kind[f"CUDNN_BACKEND_{each}_DESCRIPTOR"] for each in wants.split())


ATTRIBUTES: dict[Kind, dict[str, Attribute]] = _table()
"""All attributes, by descriptor type and short name."""


def code_of(kind: Kind) -> Kind:
    """The code of a descriptor type in the loaded library: a few changed within cuDNN 9."""
    moved = FORMER_VALUES.get(kind.name, {}).get(library.load().version_text)
    return kind if moved is None else Kind(moved)


_ELEMENTS: dict[Type, Any] = {
    Type.CUDNN_TYPE_HANDLE: ctypes.c_void_p,
    Type.CUDNN_TYPE_BOOLEAN: ctypes.c_bool,
    Type.CUDNN_TYPE_INT64: ctypes.c_int64,
    Type.CUDNN_TYPE_INT32: ctypes.c_int32,
    Type.CUDNN_TYPE_FLOAT: ctypes.c_float,
    Type.CUDNN_TYPE_DOUBLE: ctypes.c_double,
    Type.CUDNN_TYPE_VOID_PTR: ctypes.c_void_p,
    Type.CUDNN_TYPE_CHAR: ctypes.c_char,
    Type.CUDNN_TYPE_FRACTION: cudnnFraction_t,
    Type.CUDNN_TYPE_BACKEND_DESCRIPTOR: ctypes.c_void_p,
}


ENUMS: dict[Type, type[CudnnEnum]] = {
    Type.CUDNN_TYPE_DATA_TYPE: enums.cudnnDataType_t,
    Type.CUDNN_TYPE_CONVOLUTION_MODE: enums.cudnnConvolutionMode_t,
    Type.CUDNN_TYPE_HEUR_MODE: enums.cudnnBackendHeurMode_t,
    Type.CUDNN_TYPE_KNOB_TYPE: enums.cudnnBackendKnobType_t,
    Type.CUDNN_TYPE_NAN_PROPOGATION: enums.cudnnNanPropagation_t,
    Type.CUDNN_TYPE_NUMERICAL_NOTE: enums.cudnnBackendNumericalNote_t,
    Type.CUDNN_TYPE_LAYOUT_TYPE: enums.cudnnBackendLayoutType_t,
    Type.CUDNN_TYPE_ATTRIB_NAME: enums.cudnnBackendAttributeName_t,
    Type.CUDNN_TYPE_POINTWISE_MODE: enums.cudnnPointwiseMode_t,
    Type.CUDNN_TYPE_GENSTATS_MODE: enums.cudnnGenStatsMode_t,
    Type.CUDNN_TYPE_BN_FINALIZE_STATS_MODE: enums.cudnnBnFinalizeStatsMode_t,
    Type.CUDNN_TYPE_REDUCTION_OPERATOR_TYPE: enums.cudnnReduceTensorOp_t,
    Type.CUDNN_TYPE_BEHAVIOR_NOTE: enums.cudnnBackendBehaviorNote_t,
    Type.CUDNN_TYPE_TENSOR_REORDERING_MODE: enums.cudnnBackendTensorReordering_t,
    Type.CUDNN_TYPE_RESAMPLE_MODE: enums.cudnnResampleMode_t,
    Type.CUDNN_TYPE_PADDING_MODE: enums.cudnnPaddingMode_t,
    Type.CUDNN_TYPE_SIGNAL_MODE: enums.cudnnSignalMode_t,
    Type.CUDNN_TYPE_NORM_MODE: enums.cudnnBackendNormMode_t,
    Type.CUDNN_TYPE_NORM_FWD_PHASE: enums.cudnnBackendNormFwdPhase_t,
    Type.CUDNN_TYPE_RNG_DISTRIBUTION: enums.cudnnRngDistribution_t,
    Type.CUDNN_TYPE_MOE_GROUPED_MATMUL_MODE: enums.cudnnMoeGroupedMatmulMode_t,
    Type.CUDNN_TYPE_RESHAPE_MODE: enums.cudnnBackendReshapeMode_t,
    Type.CUDNN_TYPE_OPERATIONGRAPH_MODE: enums.cudnnBackendOperationGraphMode_t,
    Type.CUDNN_TYPE_CUDA_GRAPH_RETENTION: enums.cudnnCudaGraphRetention_t,
}
"""The C enum of each type of value that is an enum."""


def element_type(type_: Type) -> Any:
    """The ctypes type of one value: ``c_int`` for every enum."""
    return _ELEMENTS.get(type_, ctypes.c_int)
