"""The enums of the front end, and what their members are in C."""

from __future__ import annotations

import enum
from typing import Any, TypeVar

from .. import raw
from ..dtypes import as_data_type
from ..raw.ctypes_support import CudnnEnum

__all__ = [
    "attention_implementation",
    "behavior_note",
    "build_plan_policy",
    "c_data_type",
    "c_member",
    "convolution_mode",
    "data_type",
    "diagonal_alignment",
    "heur_mode",
    "knob_type",
    "moe_grouped_matmul_mode",
    "named",
    "norm_forward_phase",
    "note_of",
    "numerical_note",
    "reduction_mode",
    "reshape_mode",
    "scalar_type",
    "tensor_reordering",
]


class _Named(enum.Enum):
    """Members have a name and a number of the front end's own, which is not C's."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


class data_type(_Named):
    NOT_SET = 0
    FLOAT = 1
    DOUBLE = 2
    HALF = 3
    INT8 = 4
    INT32 = 5
    INT8x4 = 6
    UINT8 = 7
    UINT8x4 = 8
    INT8x32 = 9
    BFLOAT16 = 10
    INT64 = 11
    BOOLEAN = 12
    FP8_E4M3 = 13
    FP8_E5M2 = 14
    FAST_FLOAT_FOR_FP8 = 15
    FP8_E8M0 = 16
    FP4_E2M1 = 17
    INT4 = 18


class heur_mode(_Named):
    A = 0
    B = 1
    FALLBACK = 2
    OPENSOURCE = 3  # kernels that the front end brings itself; here there are none


class build_plan_policy(_Named):
    HEURISTICS_CHOICE = 0
    ALL = 1


class numerical_note(_Named):
    TENSOR_CORE = 1
    DOWN_CONVERT_INPUTS = 2
    REDUCED_PRECISION_REDUCTION = 3
    FFT = 4
    NONDETERMINISTIC = 5
    WINOGRAD = 6
    WINOGRAD_TILE_4x4 = 7
    WINOGRAD_TILE_6x6 = 8
    WINOGRAD_TILE_13x13 = 9
    STRICT_NAN_PROP = 10


class behavior_note(_Named):
    RUNTIME_COMPILATION = 1
    REQUIRES_FILTER_INT8x32_REORDER = 2
    REQUIRES_BIAS_INT8x32_REORDER = 3
    SUPPORTS_CUDA_GRAPH_NATIVE_API = 4
    CUBLASLT_DEPENDENCY = 5


class knob_type(_Named):
    NOT_SET = 0
    SWIZZLE = 1
    TILE_SIZE = 2
    EDGE = 3
    MULTIPLY = 4
    SPLIT_K_BUF = 5
    TILEK = 6
    STAGES = 7
    REDUCTION_MODE = 8
    SPLIT_K_SLC = 9
    IDX_MODE = 10
    SPECFILT = 11
    KERNEL_CFG = 12
    WORKSPACE = 13
    TILE_CGA_M = 14
    TILE_CGA_N = 15
    BLOCK_SIZE = 16
    OCCUPANCY = 17
    ARRAY_SIZE_PER_THREAD = 18
    SPLIT_COLS = 19
    TILE_ROWS = 20
    TILE_COLS = 21
    LOAD_SIZE = 22
    CTA_COUNT = 23
    STREAM_K = 24
    SPLIT_P_SLC = 25
    TILE_M = 26
    TILE_N = 27
    WARP_SPEC_CFG = 28


class norm_forward_phase(_Named):
    NOT_SET = 0
    INFERENCE = 1
    TRAINING = 2


class reduction_mode(_Named):
    NOT_SET = 0
    ADD = 1
    MUL = 2
    MIN = 3
    MAX = 4
    AMAX = 5
    AVG = 6
    NORM1 = 7
    NORM2 = 8
    MUL_NO_ZEROS = 9


class convolution_mode(_Named):
    CONVOLUTION = 1
    CROSS_CORRELATION = 2


class tensor_reordering(_Named):
    NONE = 0
    INT8x32 = 1
    F16x16 = 2
    F8_128x4 = 3


class diagonal_alignment(_Named):
    TOP_LEFT = 0
    BOTTOM_RIGHT = 1


class attention_implementation(_Named):
    AUTO = 0
    COMPOSITE = 1
    UNIFIED = 2


class moe_grouped_matmul_mode(_Named):
    NONE = 1
    GATHER = 2
    SCATTER = 3


class scalar_type(_Named):
    RUNTIME_PARAM = 0
    COMPILE_TIME_CONST = 1


class reshape_mode(_Named):
    VIEW_ONLY = 1
    LOGICAL = 2


N = TypeVar("N", bound=_Named)

# How C's names begin where a member's name follows at once.
_PREFIX: dict[type[_Named], tuple[type[CudnnEnum], str]] = {
    data_type: (raw.cudnnDataType_t, "CUDNN_DATA_"),
    knob_type: (raw.cudnnBackendKnobType_t, "CUDNN_KNOB_TYPE_"),
    numerical_note: (raw.cudnnBackendNumericalNote_t, "CUDNN_NUMERICAL_NOTE_"),
    behavior_note: (raw.cudnnBackendBehaviorNote_t, "CUDNN_BEHAVIOR_NOTE_"),
    norm_forward_phase: (raw.cudnnBackendNormFwdPhase_t, "CUDNN_NORM_FWD_"),
    reduction_mode: (raw.cudnnReduceTensorOp_t, "CUDNN_REDUCE_TENSOR_"),
    convolution_mode: (raw.cudnnConvolutionMode_t, "CUDNN_"),
    tensor_reordering: (raw.cudnnBackendTensorReordering_t, "CUDNN_TENSOR_REORDERING_"),
    moe_grouped_matmul_mode: (
        raw.cudnnMoeGroupedMatmulMode_t,
        "CUDNN_MOE_GROUPED_MATMUL_MODE_",
    ),
    reshape_mode: (raw.cudnnBackendReshapeMode_t, "CUDNN_RESHAPE_"),
}


def named(cls: type[N], value: Any, name: str) -> N:
    """`value` if it is a member of `cls`.

    Raises
    ------
    TypeError
        Otherwise; the message names the argument.
    """
    if isinstance(value, cls):
        return value
    members = ", ".join(each.name for each in cls)
    raise TypeError(
        f"{name}: expected a {cls.__name__} ({members}), got {value!r} ({type(value).__name__})"
    )


def c_member(value: _Named) -> Any:
    """The C enumerator of a member; None for NOT_SET."""
    if value.name == "NOT_SET":
        return None
    cls, prefix = _PREFIX[type(value)]
    return _by_name(cls)[f"{prefix}{value.name}".upper()]


def note_of(cls: type[N], member: CudnnEnum) -> N | CudnnEnum:
    """The front end's member for C's; C's own where the front end has none."""
    prefix = _PREFIX[cls][1]
    by_name = {each.name.upper(): each for each in cls}
    return by_name.get(member.name.upper().removeprefix(prefix), member)


def _by_name(cls: type[CudnnEnum]) -> dict[str, Any]:
    return {name.upper(): member for name, member in cls.__members__.items()}


def c_data_type(value: Any) -> raw.cudnnDataType_t | None:
    """The C enumerator of a data type; None for NOT_SET and None.

    Parameters
    ----------
    value : data_type, torch.dtype, or anything else that ``as_data_type`` takes

    Raises
    ------
    TypeError
        If it is no data type.
    """
    if value is None:
        return None
    if isinstance(value, data_type):
        member: raw.cudnnDataType_t | None = c_member(value)
        return member
    if isinstance(value, _Named):
        raise TypeError(f"expected a data_type, got {value!r}")
    # PyTorch's bool is one byte; the front end says BOOLEAN all the same.
    if str(value) == "torch.bool":
        return raw.cudnnDataType_t.CUDNN_DATA_BOOLEAN
    return as_data_type(value)
