"""What is checked before C is reached, because C would crash or overwrite memory.

A guard is a Python function generated around one C function, on its first call; only the functions
that need one have one. NULL where cuDNN follows the pointer without a look gives the status that
cuDNN's other functions give. An array shorter than the call says is a ``ValueError``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import labels, log, unset
from .ctypes_support import OpaquePointer, is_null, room, storage_type

if TYPE_CHECKING:
    from .function import Parameter

__all__ = ["NOT_NULL", "guarded"]

_NULL_POINTER = 2002  # CUDNN_STATUS_BAD_PARAM_NULL_POINTER

# Parameters that cuDNN does not compare with NULL before it follows them; found by
# tools/null_arguments.py with cuDNN 9.1 to 9.28, and with 9.14 and
# 9.19 on a GPU. A NULL cudnnHandle_t is refused everywhere.
NOT_NULL: dict[str, str] = {
    "cudnnGetLastErrorString": "message",
    "cudnnGetStream": "streamId",
    "cudnnBackendCreateDescriptor": "descriptor",
    "cudnnSetTensorNdDescriptor": "dimA strideA",
    "cudnnSetTensorNdDescriptorEx": "dimA",
    "cudnnGetTensorNdDescriptor": "dataType dimA strideA",
    "cudnnGetTensorSizeInBytes": "tensorDesc size",
    "cudnnInitTransformDest": "srcDesc",
    "cudnnGetTensorTransformDescriptor": "direction",
    "cudnnGetOpTensorDescriptor": "opTensorOp opTensorCompType opTensorNanOpt",
    "cudnnOpTensor": "opTensorDesc",
    "cudnnGetReduceTensorDescriptor": "reduceTensorOp reduceTensorCompType reduceTensorNanOpt "
    "reduceTensorIndices reduceTensorIndicesType",
    "cudnnGetReductionIndicesSize": "reduceTensorDesc cDesc sizeInBytes",
    "cudnnGetReductionWorkspaceSize": "reduceTensorDesc aDesc cDesc sizeInBytes",
    "cudnnReduceTensor": "reduceTensorDesc",
    "cudnnGetFilter4dDescriptor": "dataType format k c h w",
    "cudnnSetFilterNdDescriptor": "filterDimA",
    "cudnnGetFilterNdDescriptor": "dataType format nbDims filterDimA",
    "cudnnGetFilterSizeInBytes": "size",
    "cudnnTransformFilter": "srcDesc destDesc",
    "cudnnGetPooling2dDescriptor": "mode maxpoolingNanOpt windowHeight windowWidth verticalPadding "
    "horizontalPadding verticalStride horizontalStride",
    "cudnnSetPoolingNdDescriptor": "windowDimA paddingA strideA",
    "cudnnGetPoolingNdDescriptor": "mode maxpoolingNanOpt nbDims windowDimA paddingA strideA",
    "cudnnGetPoolingNdForwardOutputDim": "inputTensorDesc outputTensorDimA",
    "cudnnGetPooling2dForwardOutputDim": "inputTensorDesc n c h w",
    "cudnnGetActivationDescriptor": "mode reluNanOpt coef",
    "cudnnCreateLRNDescriptor": "normDesc",
    "cudnnSetLRNDescriptor": "normDesc",
    "cudnnGetLRNDescriptor": "normDesc",
    "cudnnLRNCrossChannelForward": "normDesc alpha xDesc beta yDesc",
    "cudnnDivisiveNormalizationForward": "normDesc xDesc yDesc",
    "cudnnDeriveBNTensorDescriptor": "xDesc",
    "cudnnBatchNormalizationForwardInference": "xDesc yDesc bnScaleBiasMeanVarDesc",
    "cudnnDeriveNormTensorDescriptor": "xDesc",
    "cudnnNormalizationForwardInference": "xDesc normScaleBiasDesc normMeanVarDesc yDesc",
    "cudnnSpatialTfGridGeneratorForward": "stDesc",
    "cudnnSpatialTfSamplerForward": "stDesc alpha xDesc beta yDesc",
    "cudnnDropoutGetStatesSize": "sizeInBytes",
    "cudnnDropoutGetReserveSpaceSize": "sizeInBytes",
    "cudnnLRNCrossChannelBackward": "normDesc alpha dyDesc xDesc beta dxDesc",
    "cudnnDivisiveNormalizationBackward": "normDesc xDesc dXdMeansDesc",
    "cudnnBatchNormalizationBackward": "xDesc dyDesc dxDesc dBnScaleBiasDesc",
    "cudnnBatchNormalizationBackwardEx": "xDesc dyDesc dxDesc dBnScaleBiasDesc",
    "cudnnNormalizationBackward": "xDesc dyDesc dxDesc dNormScaleBiasDesc normMeanVarDesc",
    "cudnnSpatialTfGridGeneratorBackward": "stDesc",
    "cudnnSpatialTfSamplerBackward": "stDesc xDesc dxDesc dyDesc",
    "cudnnGetConvolutionMathType": "mathType",
    "cudnnGetConvolutionGroupCount": "groupCount",
    "cudnnGetConvolution2dDescriptor": "pad_h pad_w u v dilation_h dilation_w mode computeType",
    "cudnnSetConvolutionNdDescriptor": "padA filterStrideA dilationA",
    "cudnnGetConvolutionNdDescriptor": "arrayLength padA strideA dilationA mode computeType",
    "cudnnGetConvolution2dForwardOutputDim": "n c h w",
    "cudnnGetConvolutionForwardAlgorithmMaxCount": "count",
    "cudnnGetConvolutionForwardAlgorithm_v7": "perfResults",
    "cudnnIm2Col": "xDesc wDesc convDesc",
    "cudnnGetConvolutionBackwardDataAlgorithmMaxCount": "count",
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": "perfResults",
    "cudnnGetConvolutionBackwardFilterAlgorithmMaxCount": "count",
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": "perfResults",
    "cudnnFusedOpsExecute": "plan",
    "cudnnSetRNNDataDescriptor": "seqLengthArray",
    "cudnnSetSeqDataDescriptor": "dimA axes seqLengthArray",
    "cudnnCTCLoss": "probsDesc hostLabelLengths hostInputLengths",
    "cudnnCTCLoss_v8": "ctcLossDesc probsDesc",
    "cudnnGetCTCLossWorkspaceSize": "probsDesc labelLengths inputLengths",
    "cudnnGetCTCLossWorkspaceSize_v8": "ctcLossDesc probsDesc",
}

# Bytes of one element of a backend attribute, where they are not the 4 of an enum.
_ELEMENT_SIZES = {
    "CUDNN_TYPE_HANDLE": 8,
    "CUDNN_TYPE_BOOLEAN": 1,
    "CUDNN_TYPE_INT64": 8,
    "CUDNN_TYPE_DOUBLE": 8,
    "CUDNN_TYPE_VOID_PTR": 8,
    "CUDNN_TYPE_CHAR": 1,
    "CUDNN_TYPE_FRACTION": 16,
    "CUDNN_TYPE_BACKEND_DESCRIPTOR": 8,
}


def guarded(
    name: str, parameters: Sequence[Parameter], callee: Callable[..., Any]
) -> Callable[..., Any]:
    """`callee`, which stands for the C function `name`, behind the checks that it needs."""
    if name == "cudnnSetCallback":
        return _keeping_callback(callee)
    if name.startswith("cudnnDestroy") or name == "cudnnBackendDestroyDescriptor":
        return _forgetting(callee)
    if name in ("cudnnBackendSetAttribute", "cudnnBackendGetAttribute"):
        callee = _with_attribute_room(name, callee)
    if name in labels.LABELLED:
        callee = labels.checked_by_label(name, callee)
    if name in unset.MUST_BE_SET:
        callee = unset.refusing_unset(name, [p.name for p in parameters], callee)
    null, lengths = _null_condition(name, parameters), _length_condition(parameters)
    if not null and not lengths:
        return callee
    names = ", ".join(p.name for p in parameters)
    lines = [f"def {name}({names}):"]
    if null:
        lines += [f"    if {null}:", f"        return _null_given({names})"]
    if lengths:
        lines += ["    try:", f"        fit = {lengths}"]
        lines += ["    except TypeError:", "        fit = False"]
        lines += ["    if not fit:", f"        _check_lengths({names})"]
    lines += [f"    return _callee({names})"]
    scope: dict[str, Any] = {
        "_callee": callee,
        "_null_given": _null_given(name, parameters, callee),
        "_check_lengths": _check_lengths(name, parameters),
    }
    exec("\n".join(lines), scope)
    guard: Callable[..., Any] = scope[name]
    return guard


# --- NULL ----------------------------------------------------------------------------------------


def _never_null(name: str, parameters: Sequence[Parameter]) -> list[Parameter]:
    listed = NOT_NULL.get(name, "").split()
    return [p for p in parameters if p.name in listed or _is_handle(p)]


def _is_handle(parameter: Parameter) -> bool:
    base = parameter.type.base
    return parameter.type.kind == "value" and getattr(base, "__name__", "") == "cudnnHandle_t"


def _null_condition(name: str, parameters: Sequence[Parameter]) -> str:
    conditions: list[str] = []
    for parameter in _never_null(name, parameters):
        if parameter.type.kind == "value":
            conditions.append(f"not {parameter.name}")
        elif isinstance(parameter.length, str):  # NULL is good enough for no elements
            conditions.append(f"({parameter.name} is None and {parameter.length})")
        else:
            conditions.append(f"{parameter.name} is None")
    return " or ".join(conditions)


def _null_given(
    name: str, parameters: Sequence[Parameter], callee: Callable[..., Any]
) -> Callable[..., Any]:
    positions = [parameters.index(p) for p in _never_null(name, parameters)]

    def refuse(*arguments: Any) -> Any:
        nulls = [parameters[i].name for i in positions if is_null(arguments[i])]
        if not nulls:  # 0, False or another thing that is no pointer: ctypes refuses it
            return callee(*arguments)
        if name == "cudnnGetLastErrorString":  # returns nothing
            return None
        log.put(*(f"{null} is NULL" for null in nulls))
        return _NULL_POINTER

    return refuse


# --- lengths -------------------------------------------------------------------------------------


def _arrays(parameters: Sequence[Parameter]) -> list[tuple[str, Any, str]]:
    """Name, element type and length of each array whose length is an expression."""
    return [
        (p.name, p.type.base, p.length)
        for p in parameters
        if p.type.kind == "array" and isinstance(p.length, str)
    ]


def _length_condition(parameters: Sequence[Parameter]) -> str:
    return " and ".join(f"0 <= {length} <= len({name})" for name, _, length in _arrays(parameters))


def _check_lengths(name: str, parameters: Sequence[Parameter]) -> Callable[..., None]:
    """The check for arrays of any kind, which explains itself."""
    names = [p.name for p in parameters]
    arrays = _arrays(parameters)

    def check(*arguments: Any) -> None:
        by_name = dict(zip(names, arguments, strict=True))
        for array, base, length in arrays:
            given = _elements(by_name[array], base)
            try:
                wanted = eval(length, {}, dict(by_name))
                wrong = given is not None and not 0 <= wanted <= given
            except TypeError:
                continue  # the length is no number: its converter says so
            if wrong:
                raise ValueError(
                    f"{name}() argument {array!r}: {length} = {wanted} elements expected, "
                    f"got {given}"
                )

    return check


def _elements(array: Any, base: Any) -> int | None:
    """How many elements an array has; None if nobody can tell."""
    if array is None:
        return None
    if isinstance(getattr(array, "size", None), int):  # numpy.ndarray
        return int(array.size)
    if hasattr(array, "__len__"):
        return len(array)
    bytes_ = room(array)
    return None if bytes_ is None else bytes_ // ctypes.sizeof(storage_type(base))


def _with_attribute_room(name: str, callee: Callable[..., Any]) -> Callable[..., Any]:
    """cuDNN reads or writes as many elements as the count says."""
    from .enums import cudnnBackendAttributeType_t

    sizes = {member: _ELEMENT_SIZES.get(member.name, 4) for member in cudnnBackendAttributeType_t}

    def check(attribute_type: Any, count: Any, elements: Any) -> None:
        size, given = sizes.get(attribute_type), room(elements)
        if size is None or given is None or type(count) is not int:
            return
        if count * size > given:
            kind = cudnnBackendAttributeType_t(attribute_type)
            raise ValueError(
                f"{name}() argument 'arrayOfElements': {count} elements of {kind} are "
                f"{count * size} bytes, got {given}"
            )

    def set_attribute(
        descriptor: Any, attribute: Any, attribute_type: Any, count: Any, elements: Any
    ) -> Any:
        check(attribute_type, count, elements)
        return callee(descriptor, attribute, attribute_type, count, elements)

    def get_attribute(
        descriptor: Any, attribute: Any, attribute_type: Any, asked: Any, count: Any, elements: Any
    ) -> Any:
        check(attribute_type, asked, elements)
        return callee(descriptor, attribute, attribute_type, asked, count, elements)

    return set_attribute if name == "cudnnBackendSetAttribute" else get_attribute


# --- lifetime ------------------------------------------------------------------------------------


def _forgetting(callee: Callable[..., Any]) -> Callable[..., Any]:
    """Set a destroyed handle to NULL, so that a second use is an error and not a crash."""

    def destroy(handle: Any) -> Any:
        code = callee(handle)
        owner = getattr(handle, "_as_parameter_", handle)
        if code == 0 and isinstance(owner, OpaquePointer):
            owner.value = None
        return code

    return destroy


_callback: tuple[Any, ...] = ()


def _keeping_callback(callee: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the callback that cuDNN holds alive: only its address is known to C."""

    def set_callback(*arguments: Any) -> Any:
        global _callback
        code = callee(*arguments)
        if code == 0:
            _callback = arguments
        return code

    return set_callback
