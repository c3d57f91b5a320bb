"""Backend descriptors of every kind in every state, made of settings that cuDNN accepts.

Most settings follow from the attribute table: a tensor where an attribute wants one, float32 where
it wants a data type, the first enumerator of an enum. `SETTINGS` and `LEFT_OUT` hold the others.
"""

from __future__ import annotations

import ctypes
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu.properties import complete, preset
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.raw import cudnnBackendAttributeType_t as Type
from cudnn_ctypes.raw.attributes import ATTRIBUTES, ENUMS, KINDS, Attribute, kind_name
from cudnn_ctypes.raw.origins import SINCE

__all__ = ["COMPUTED", "CREATABLE", "STATES", "Workshop"]

COMPUTED = ("knob_info", "layout_info")
"""Kinds that cuDNN alone can fill."""

CREATABLE = tuple(kind for kind in KINDS if kind != "intermediate_info")
"""Kinds by short name; cuDNN up to 9.28 creates no intermediate_info."""

STATES = ("new", "partial", "complete", "final")
"""How far a descriptor is; cuDNN finalizes a complete one."""

_MEMORY = ctypes.create_string_buffer(1 << 16)
ADDRESS = ctypes.addressof(_MEMORY)
"""Host memory that stands for the user's, on the device too: nothing here is executed."""

_HOST = ("constant_value", "init_values")  # attributes that hold addresses of host memory


def _tensor(*dims: int, data_type: str = "float16", **more: Any) -> dict[str, Any]:
    strides = [1]
    for extent in reversed(dims[1:]):
        strides.insert(0, strides[0] * extent)
    return {"data_type": data_type, "dimensions": list(dims), "strides": strides} | more


_SCALAR = _tensor(1, 1, 1, 1, data_type="float32", is_by_value=True)
_CHANNELS = _tensor(1, 4, 1, 1, data_type="float32")
_BATCH = _tensor(2, 1, 1, 1, data_type="float32")
_ROWS = _tensor(2, 4, 8, 1, data_type="float32")
_POOLED = _tensor(2, 4, 4, 4)
_X = _tensor(2, 16, 8, 8, strides=[1024, 1, 128, 16])
_Y = {**_X, "is_virtual": False}  # another tensor than x
_W = _tensor(16, 16, 3, 3, strides=[144, 1, 48, 16])
_MATRIX = _tensor(2, 8, 8)
_TOKENS = _tensor(1, 16, 8)
_OFFSETS = _tensor(4, 1, 1, data_type="int32")
_FP8 = _tensor(2, 4, 8, 32, data_type="fp8_e4m3")
_WIDE = _tensor(2, 4, 8, 32)
_SCALES = _tensor(2, 4, 8, 1, data_type="fp8_e8m0")
_SEED = _tensor(1, 1, 1, 1, data_type="int64")
_USUAL = _tensor(2, 4, 8, 8)
_BAND = {"lower_bandwidth": 2, "upper_bandwidth": 1, "axis": 3}
_PAIR = [1, 1]

SETTINGS: dict[str, dict[str, Any]] = {
    "pointwise": {"mode": "relu_fwd"},
    "convolution": {
        "conv_mode": "cross_correlation",
        "spatial_dims": 2,
        "pre_paddings": _PAIR,
        "post_paddings": _PAIR,
        "dilations": _PAIR,
        "filter_strides": _PAIR,
    },
    "operation_convolution_forward": {"x": _X, "w": _W, "y": _Y, "beta": 0.0},
    "operation_convolution_backward_data": {"dx": _X, "w": _W, "dy": _Y, "beta": 0.0},
    "operation_convolution_backward_filter": {"x": _X, "dw": _W, "dy": _Y, "beta": 0.0},
    "operation_gen_stats": {"sumdesc": _CHANNELS, "sqsumdesc": _CHANNELS},
    "operation_bn_finalize_statistics": {
        **dict.fromkeys(ATTRIBUTES[KINDS["operation_bn_finalize_statistics"]], _CHANNELS),
        "stats_mode": "training",
        "math_prec": "float32",
        "accum_count_desc": _tensor(1, 1, 1, 1, data_type="int64", is_by_value=True),
        "epsilon_desc": _SCALAR,
        "exp_averate_factor_desc": _SCALAR,
    },
    "operation_matmul": {"adesc": _MATRIX, "bdesc": _MATRIX, "cdesc": _MATRIX},
    "operation_reduction": {"ydesc": _ROWS},
    "resample": {
        "mode": "maxpool",
        "padding_mode": "neg_inf_pad",
        "spatial_dims": 2,
        "window_dims": [2, 2],
        "strides": [2, 2],
        "pre_paddings": [0, 0],
        "post_paddings": [0, 0],
    },
    "operation_resample_fwd": {"ydesc": _POOLED},
    "operation_resample_bwd": {"dydesc": _POOLED, "ydesc": _POOLED},
    "operation_concat": {"inplace_index": -1, "output_desc": _tensor(2, 4, 8, 8)},
    "operation_signal": {"flagdesc": _tensor(1, 1, 1, 1, data_type="int32")},
    "operation_norm_forward": {
        "phase": "training",
        "mean_desc": _BATCH,
        "inv_variance_desc": _BATCH,
        "epsilon_desc": _SCALAR,
    },
    "operation_norm_backward": {"mean_desc": _BATCH, "inv_variance_desc": _BATCH},
    "operation_rng": {"seed": _SEED, "offset_desc": _SEED},
    "operation_paged_cache_load": {
        "container_desc": _tensor(4, 4, 8, 8),
        "sequence_desc": _tensor(2, 1, 1, 1, data_type="int32"),
        "page_table_desc": _tensor(2, 1, 2, 1, data_type="int32"),
        "ydesc": _tensor(2, 4, 16, 8),
    },
    "operation_block_scale_quantize": {
        "xdesc": _WIDE,
        "ydesc": _FP8,
        "scale_desc": _SCALES,
        "block_size": 32,
    },
    "operation_block_scale_dequantize": {
        "xdesc": _FP8,
        "ydesc": _WIDE,
        "scale_desc": _SCALES,
        "block_size": [32],
    },
    "deviceprop": {"json_representation": "H200"},
    "operation_expand_band_matrix": {"xdesc": _tensor(2, 4, 8, 4), **_BAND},
    "operation_contract_band_matrix": {"ydesc": _tensor(2, 4, 8, 4), **_BAND},
    "operation_moe_grouped_matmul": {
        "token_desc": _TOKENS,
        "output_desc": _TOKENS,
        "weight_desc": _tensor(4, 8, 8),
        "first_token_offset_desc": _OFFSETS,
    },
    "operation_moe_grouped_matmul_bwd": {
        "token_desc": _TOKENS,
        "doutput_desc": _TOKENS,
        "dweight_desc": _tensor(4, 8, 8),
        "first_token_offset_desc": _OFFSETS,
    },
    "operation_sdpa_fwd": {"statsdesc": _ROWS, "scaledesc": _SCALAR},
    "operation_sdpa_bwd": {"statsdesc": _ROWS, "scaledesc": _SCALAR},
    "operation_softmax": {"stats_desc": _ROWS, "max_desc": _ROWS, "sum_exp_desc": _ROWS},
    "operation_transpose": {"permutation": [0, 1, 3, 2]},
    "operation_slice": {
        "start_indices": [0] * 4,
        "limit_indices": [2, 4, 8, 8],
        "strides": [1] * 4,
    },
    "operation_rope_fwd": {"rope_dim": 2},
    "operation_rope_bwd": {"rope_dim": 2},
    "tensor": {**_USUAL, "unique_id": 7, "byte_alignment": 16},
    "variant_pack": {"unique_ids": [1, 2], "data_pointers": [ADDRESS, ADDRESS]},
    "operation_diagonal_band_mask": {
        "bdesc": _SCALAR,
        "shift_right_bound_desc": _SCALAR,
        "comparison_mode": "cmp_ge",
    },
}

# What a complete descriptor does without: it contradicts the others, or needs a GPU.
LEFT_OUT: dict[str, str] = {
    "engine": "knob_info sm_count_target shared_memory_limit disable_cluster_cooperative",
    "enginecfg": "shared_memory_used knob_choices",
    "engineheur": "sm_count_target shared_memory_limit",
    "execution_plan": "handle run_only_intermediate_uids json_representation kernel_cache",
    "operationgraph": "handle",
    "kernel_cache": "json_representation",
    "operation_pointwise": "bdesc dxdesc dydesc tdesc",
    "operation_matmul": "irregularly_strided_batch_count gemm_m_override_desc "
    "gemm_n_override_desc gemm_k_override_desc",
    "operation_reduction": "dims init_values subgraph subgraph_accumulator_uids "
    "subgraph_current_uids subgraph_output_uids subgraph_compute_types",
    "operation_resample_fwd": "idxdesc",
    "operation_resample_bwd": "idxdesc",
    "operation_norm_forward": "exp_avg_factor_desc input_running_mean_desc "
    "input_running_var_desc output_running_mean_desc output_running_var_desc peer_stat_descs",
    "operation_norm_backward": "peer_stat_descs epsilon_desc",
    "operation_expand_band_matrix": "kv_token_offset_desc speculative_mask_desc",
    "operation_block_scale_dequantize": "neg_scale",
    "deviceprop": "device_id handle",
    "operation_moe_grouped_matmul": "token_index_desc token_ks_desc top_k",
    "operation_sdpa_fwd": "qdesc kdesc vdesc odesc statsdesc scaledesc",
    "operation_sdpa_bwd": "qdesc kdesc vdesc odesc statsdesc scaledesc doddesc dqdesc dkdesc "
    "dvdesc",
    "operation_diagonal_band_mask": "seq_len_kvdesc seq_len_qdesc cu_seq_len_kvdesc "
    "cu_seq_len_qdesc left_bound_desc",
    "operation_softmax": "sink_desc",
    "tensor": "vector_count vectorized_dimension constant_value ragged_offset_desc is_by_value",
    "variant_pack": "intermediates workspace override_unique_ids override_shapes override_strides",
}
_ONLY = ("operation_sdpa_fwd", "operation_sdpa_bwd")  # LEFT_OUT lists what stays, not what goes


class Workshop:
    """Makes descriptors of every kind in every state; those that others refer to are kept."""

    def __init__(self) -> None:
        self._final: dict[str, BackendDescriptor] = {}
        self._tensors: dict[str, BackendDescriptor] = {}
        self._settings: dict[str, dict[str, Any]] = {}

    def settings(self, kind: str) -> dict[str, Any]:
        """What a complete descriptor of this kind holds in the loaded cuDNN, by short name."""
        if kind not in self._settings:
            special, listed = SETTINGS.get(kind, {}), LEFT_OUT.get(kind, "").split()
            self._settings[kind] = {
                name: self._value(known, special[name]) if name in special else self.usual(known)
                for name, known in ATTRIBUTES[KINDS[kind]].items()
                if known.settable
                and (name in listed) == (kind in _ONLY)
                and not raw.load().outdated(name, SINCE[known.name.name])
            }
        return self._settings[kind]

    def usual(self, known: Attribute) -> Any:
        """A value that fits an attribute as far as its type goes."""
        if known.wants:
            wanted = kind_name(min(known.wants))
            if len(known.wants) > 1:
                wanted = "operation_convolution_forward"
            child = self.tensor(_USUAL) if wanted == "tensor" else self.final(wanted)
            return [child] if known.is_array else child
        type_ = known.types[0]
        if type_ == Type.CUDNN_TYPE_DATA_TYPE:
            value: Any = raw.CUDNN_DATA_FLOAT
        elif type_ in ENUMS:
            value = next(iter(ENUMS[type_]))
        elif type_ == Type.CUDNN_TYPE_BOOLEAN:
            value = False
        elif type_ in (Type.CUDNN_TYPE_FLOAT, Type.CUDNN_TYPE_DOUBLE):
            value = 1.0
        elif type_ == Type.CUDNN_TYPE_VOID_PTR:
            value = _MEMORY if known.short_name in _HOST else ADDRESS
        elif type_ == Type.CUDNN_TYPE_CHAR:
            return "{}"
        else:
            value = 1
        return [value] if known.is_array else value

    def _value(self, known: Attribute, special: Any) -> Any:
        if special == "H200":
            import json

            values = preset("h200")
            complete(values)
            return json.dumps(values)
        return self.tensor(special) if isinstance(special, dict) else special

    def tensor(self, settings: dict[str, Any]) -> BackendDescriptor:
        """A finalized tensor of its own unique id."""
        key = repr(settings)
        if key not in self._tensors:
            uid = 100 + len(self._tensors)
            self._tensors[key] = BackendDescriptor(
                "tensor", unique_id=uid, byte_alignment=16, **settings
            ).finalize()
        return self._tensors[key]

    def final(self, kind: str) -> BackendDescriptor:
        """A finalized descriptor, the same at each call."""
        if kind not in self._final:
            self._final[kind] = self.make(kind, "final")
        return self._final[kind]

    def make(self, kind: str, state: str) -> BackendDescriptor:
        """A new descriptor of this kind in one of `STATES`."""
        if kind in COMPUTED and state == "final":
            (found, *_) = self.final("engine").get(kind)
            return found
        descriptor = BackendDescriptor(kind)
        if state == "new":
            return descriptor
        settings = list(self.settings(kind).items())
        for name, value in settings[: len(settings) // 2] if state == "partial" else settings:
            descriptor.set(name, value)
        return descriptor.finalize() if state == "final" else descriptor
