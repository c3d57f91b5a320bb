"""Declarations that cuDNN 9 dropped: enums, constants, structs, prototypes, statuses."""

from __future__ import annotations

import ctypes
import functools
import re
from ctypes import Structure, Union, c_int, c_uint
from dataclasses import dataclass
from typing import Any

from .... import raw
from ....raw.ctypes_support import CudnnEnum, OpaquePointer
from ....raw.gone import OLD_STATUS_NUMBERS, Gone, find, gone_names
from ....raw.parameter import Parameter
from ....raw.vocabulary import ParameterType


class cudnnConvolutionFwdPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_FWD_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_FWD_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_FWD_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnConvolutionBwdFilterPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_BWD_FILTER_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_BWD_FILTER_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_BWD_FILTER_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnConvolutionBwdDataPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_BWD_DATA_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_BWD_DATA_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_BWD_DATA_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnAddMode_t(CudnnEnum):
    CUDNN_ADD_IMAGE = 0
    CUDNN_ADD_SAME_HW = 0
    CUDNN_ADD_FEATURE_MAP = 1
    CUDNN_ADD_SAME_CHW = 1
    CUDNN_ADD_SAME_C = 2
    CUDNN_ADD_FULL_TENSOR = 3


def old_enumerator(name: str) -> CudnnEnum | None:
    """The member of the enums that are gone."""
    enums = (each for each in globals().values() if isinstance(each, type))
    members = (each.__members__ for each in enums if issubclass(each, CudnnEnum))
    return next((each[name] for each in members if name in each), None)


_ENDS = {"CUDNN_SM_9X_END": 999, "CUDNN_MIN_DEVICE_VERSION": 500}


def macro_value(macro: Gone) -> int:
    """The value of a macro; a version is cuDNN 9's, whose macro replaces it."""
    if macro.now:
        number: int = getattr(raw, macro.now[0])
        return number
    if macro.name in _ENDS:
        return _ENDS[macro.name]
    return 10 * int(macro.name.removeprefix("CUDNN_SM_"))


# By the number of cuDNN 9. If cuDNN 9 merged two old statuses, the lower old number is used.
_NUMBERS = {
    int(raw.cudnnStatus_t[OLD_STATUS_NUMBERS[number]]): number
    for number in sorted(OLD_STATUS_NUMBERS, reverse=True)
}
# The status for each category (thousand) of statuses that cuDNN 8 did not distinguish.
_CATEGORIES = {
    1: raw.CUDNN_STATUS_NOT_INITIALIZED,
    2: raw.CUDNN_STATUS_BAD_PARAM,
    3: raw.CUDNN_STATUS_NOT_SUPPORTED,
    4: raw.CUDNN_STATUS_INTERNAL_ERROR,
    5: raw.CUDNN_STATUS_EXECUTION_FAILED,
}


def old_status_number(status: int) -> int:
    """The number that cuDNN 2 to 8 had for a status, for programs that print or compare numbers.

    Statuses that only cuDNN 9 has get the number of their category.

    >>> from cudnn_ctypes import raw
    >>> old_status_number(raw.CUDNN_STATUS_BAD_PARAM), old_status_number(2004)
    (3, 3)
    """
    status = int(status)
    if not status:
        return 0
    category = _CATEGORIES.get(status // 1000, raw.CUDNN_STATUS_INTERNAL_ERROR)
    return _NUMBERS.get(status, _NUMBERS[int(category)])


def status_of_old_number(number: int) -> raw.cudnnStatus_t:
    """The status of a number before cuDNN 9.

    Raises ValueError if no status had the number.

    >>> status_of_old_number(9)
    cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED
    """
    if number == 0:
        return raw.CUDNN_STATUS_SUCCESS
    if number not in OLD_STATUS_NUMBERS:
        known = f"0 to {max(OLD_STATUS_NUMBERS)}"
        raise ValueError(f"number: expected {known}, a status of cuDNN 2 to 8; got {number}")
    return raw.cudnnStatus_t[OLD_STATUS_NUMBERS[number]]


cudnnRNNPaddingMode_t = c_uint
cudnnAttnQueryMap_t = c_uint


class cudnnPersistentRNNPlan(Structure): ...


class cudnnPersistentRNNPlan_t(OpaquePointer):
    """A plan that `cudnnCreatePersistentRNNPlan` made."""

    _type_ = cudnnPersistentRNNPlan


class cudnnAlgorithmStruct(Structure): ...


class cudnnAlgorithmDescriptor_t(OpaquePointer):
    """A descriptor that holds one `cudnnAlgorithm_t`."""

    _type_ = cudnnAlgorithmStruct


class _Algorithm(Union):
    _fields_ = (
        ("convFwdAlgo", c_int),
        ("convBwdFilterAlgo", c_int),
        ("convBwdDataAlgo", c_int),
        ("RNNAlgo", c_int),
        ("CTCLossAlgo", c_int),
    )


class cudnnAlgorithm_t(Structure):
    """An enumerator of one of five enums: ``algorithm.algo.RNNAlgo``."""

    _fields_ = (("algo", _Algorithm),)


_PARAMETER = re.compile(
    r"(?P<const>const )?(?P<base>\w+) (?P<stars>\**)(?P<name>\w+)(?P<array>\[\])?"
)
_C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_SCALARS = ("alpha", "beta")


@dataclass(frozen=True)
class Prototype:
    """The declaration of a C function that returns a status."""

    name: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        parameters = ", ".join(each.c_declaration for each in self.parameters)
        return f"cudnnStatus_t {self.name}({parameters})"


@functools.cache
def parse(text: str) -> Prototype:
    """Parse a C prototype on any number of lines, without the return type."""
    name, parameters = re.fullmatch(r"(\w+)\((.*)\)", " ".join(text.split())).groups()  # type: ignore[union-attr]
    return Prototype(name, tuple(_parameter(each) for each in parameters.split(", ") if each))


def parameters_of(name: str, **changes: str) -> str:
    """The parameters of a function of cuDNN 9 in C.

    - `**changes`: for a parameter the declarations in its place; "" for none.
    """
    texts = [changes.get(p.name, p.c_declaration) for p in raw.FUNCTIONS[name].parameters]
    return ", ".join(filter(None, texts)).replace("unsigned int ", "unsigned ")


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.fullmatch(text)
    assert found is not None, text
    const, base, stars, name, array = found.groups()
    return Parameter(name, _type(bool(const), base, len(stars), name, array is not None))


def _type(const: bool, base: str, stars: int, name: str, array: bool) -> ParameterType:
    if base == "void" and stars == 1:
        kind: Any = "scalar" if name in _SCALARS else "device"
        return ParameterType(kind, direction="in" if const else "in/out")
    ctype = ctypes.c_void_p if base == "void" else _named(base)
    if array or (stars and const):
        direction: Any = "in" if const else "out"
        return ParameterType("array", ctype, direction=direction)
    if stars:
        return ParameterType("pointer", ctype, direction="out")
    return ParameterType("value", ctype, const=const or None, direction="in")


def _named(base: str) -> Any:
    if base in _C_TYPES:
        return _C_TYPES[base]
    return globals().get(base) or getattr(raw, base)


# By a pattern of the name.
_REASONS = {
    r"cudnnFindRNN\w+AlgorithmEx|cudnnGetRNN\w+AlgorithmMaxCount": (
        "no function of cuDNN 9 times the algorithms of an RNN: set each cudnnRNNAlgo_t with "
        "cudnnSetRNNDescriptor_v6 and time it"
    ),
    r"cudnn\w*AlgorithmPerformance(_t)?": (
        "only functions that cuDNN 9 has no more, which timed an RNN's algorithms, filled them"
    ),
    r"cudnn(Save|Restore)Algorithm|cudnnGetAlgorithmSpaceSize": (
        "cuDNN 9 has no stored form of an algorithm, and no program can use one of another release"
    ),
    r"CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE": (
        "only cuDNN 9.7 had it, and no later library takes its number"
    ),
}


@functools.cache
def left_out() -> dict[str, str]:
    """The reason for every name of `gone_names` that `v7` lacks.

    >>> left_out()["cudnnSetPoolingDescriptor"]
    'only cuDNN 1 had it'
    """
    return {name: reason for name in gone_names() if (reason := _reason(name))}


def _reason(name: str) -> str:
    gone = find(name)
    if gone is not None and gone.gone == "2.0":
        return "only cuDNN 1 had it"
    matching = (reason for pattern, reason in _REASONS.items() if re.fullmatch(pattern, name))
    return next(matching, "")
