"""The functions of the ctypes wrapper: the C call that each makes, and its result.

A row is the wrapper's function with its parameters, ``=``, the function of `v7` that is called, and
``->`` the result if it is not simply C's output values: ``variable`` for the ctypes object with the
value, ``perf`` for a list of structs, numbers for a selection of the values. ``|`` before a name
marks another way to call the function above.
"""

from __future__ import annotations

import inspect
import re
from ctypes import c_int
from typing import Any

from .... import raw
from ....errors import CudnnError
from ....raw.gone import find
from .. import v7
from ..old_names import warn_once
from ..plain_calls import DestroyedError, call, handle_of, is_result, number, plain
from ..v7.compute_type import settle
from ..v7.old_function import functions
from .errors import cudnnError, cudnnExceptions

__all__ = ["FUNCTIONS"]

_ROWS = """
cudnnGetVersion() = cudnnGetVersion
cudnnCreate() = cudnnCreate
cudnnDestroy(handle) = cudnnDestroy
cudnnSetStream(handle, id) = cudnnSetStream
cudnnGetStream(handle) = cudnnGetStream

cudnnCreateTensorDescriptor() = cudnnCreateTensorDescriptor
cudnnSetTensor4dDescriptor(tensorDesc, format, dataType, n, c, h, w) = cudnnSetTensor4dDescriptor
cudnnSetTensor4dDescriptorEx(tensorDesc, dataType, n, c, h, w, nStride, cStride, hStride, wStride)
  = cudnnSetTensor4dDescriptorEx
cudnnGetTensor4dDescriptor(tensorDesc) = cudnnGetTensor4dDescriptor
cudnnDestroyTensorDescriptor(tensorDesc) = cudnnDestroyTensorDescriptor
cudnnTransformTensor(handle, alpha, srcDesc, srcData, beta, destDesc, destData)
  = cudnnTransformTensor
cudnnAddTensor(handle, mode, alpha, biasDesc, biasData, beta, srcDestDesc, srcDestData)
  = cudnnAddTensor_v2
cudnnSetTensor(handle, srcDesc, srcData, value) = cudnnSetTensor
cudnnScaleTensor(handle, srcDesc, srcData, alpha) = cudnnScaleTensor

cudnnCreateFilterDescriptor() = cudnnCreateFilterDescriptor
cudnnSetFilter4dDescriptor(wDesc, dataType, k, c, h, w) = cudnnSetFilter4dDescriptor_v3
cudnnGetFilter4dDescriptor(wDesc) = cudnnGetFilter4dDescriptor_v3
cudnnDestroyFilterDescriptor(wDesc) = cudnnDestroyFilterDescriptor

cudnnCreateConvolutionDescriptor() = cudnnCreateConvolutionDescriptor
cudnnSetConvolution2dDescriptor(convDesc, pad_h, pad_w, u, v, upscalex, upscaley, mode)
  = cudnnSetConvolution2dDescriptor_v4
cudnnGetConvolution2dDescriptor(convDesc) = cudnnGetConvolution2dDescriptor_v4
cudnnGetConvolution2dForwardOutputDim(convDesc, inputTensorDesc, wDesc)
  = cudnnGetConvolution2dForwardOutputDim
cudnnSetConvolutionNdDescriptor(convDesc, padA, filterStrideA, upscaleA, mode, dataType)
  = cudnnSetConvolutionNdDescriptor
cudnnDestroyConvolutionDescriptor(convDesc) = cudnnDestroyConvolutionDescriptor

cudnnFindConvolutionForwardAlgorithm(handle, xDesc, wDesc, convDesc, yDesc, requestedAlgoCount)
  = cudnnFindConvolutionForwardAlgorithm -> perf
cudnnGetConvolutionForwardAlgorithm(handle, srcDesc, wDesc, convDesc, destDesc, preference,
    memoryLimitInbytes) = cudnnGetConvolutionForwardAlgorithm -> variable
cudnnGetConvolutionForwardWorkspaceSize(handle, srcDesc, wDesc, convDesc, destDesc, algo)
  = cudnnGetConvolutionForwardWorkspaceSize -> variable
cudnnConvolutionForward(handle, alpha, srcDesc, srcData, wDesc, w, convDesc, algo, workspace,
    workSpaceSizeInBytes, beta, destDesc, destData) = cudnnConvolutionForward
cudnnConvolutionBackwardBias(handle, alpha, srcDesc, srcData, beta, destDesc, destData)
  = cudnnConvolutionBackwardBias

cudnnFindConvolutionBackwardDataAlgorithm(handle, wDesc, dyDesc, convDesc, dxDesc,
    requestedAlgoCount) = cudnnFindConvolutionBackwardDataAlgorithm -> perf
cudnnGetConvolutionBackwardDataAlgorithm(handle, wDesc, dyDesc, convDesc, dxDesc, preference,
    memoryLimitInbytes) = cudnnGetConvolutionBackwardDataAlgorithm -> variable
cudnnGetConvolutionBackwardDataWorkspaceSize(handle, wDesc, dyDesc, convDesc, dxDesc, algo)
  = cudnnGetConvolutionBackwardDataWorkspaceSize -> variable
cudnnConvolutionBackwardData(handle, alpha, wDesc, w, dyDesc, dy, convDesc, algo, workspace,
    workSpaceSizeInBytes, beta, dxDesc, dx) = cudnnConvolutionBackwardData_v3
| cudnnConvolutionBackwardData(handle, alpha, filterDesc, filterData, diffDesc, diffData, convDesc,
    beta, gradDesc, gradData) = cudnnConvolutionBackwardData_v2

cudnnFindConvolutionBackwardFilterAlgorithm(handle, xDesc, dyDesc, convDesc, dwDesc,
    requestedAlgoCount) = cudnnFindConvolutionBackwardFilterAlgorithm -> perf
cudnnGetConvolutionBackwardFilterAlgorithm(handle, xDesc, dyDesc, convDesc, dwDesc, preference,
    memoryLimitInbytes) = cudnnGetConvolutionBackwardFilterAlgorithm -> variable
cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, xDesc, dyDesc, convDesc, gradDesc, algo)
  = cudnnGetConvolutionBackwardFilterWorkspaceSize -> variable
cudnnConvolutionBackwardFilter(handle, alpha, xDesc, x, dyDesc, dy, convDesc, algo, workspace,
    workSpaceSizeInBytes, beta, dwDesc, dw) = cudnnConvolutionBackwardFilter_v3
| cudnnConvolutionBackwardFilter(handle, alpha, srcDesc, srcData, diffDesc, diffData, convDesc,
    beta, gradDesc, gradData) = cudnnConvolutionBackwardFilter_v2

cudnnSoftmaxForward(handle, algorithm, mode, alpha, srcDesc, srcData, beta, destDesc, destData)
  = cudnnSoftmaxForward
cudnnSoftmaxBackward(handle, algorithm, mode, alpha, srcDesc, srcData, srcDiffDesc, srcDiffData,
    beta, destDiffDesc, destDiffData) = cudnnSoftmaxBackward

cudnnCreatePoolingDescriptor() = cudnnCreatePoolingDescriptor
cudnnSetPooling2dDescriptor(poolingDesc, mode, windowHeight, windowWidth, verticalPadding,
    horizontalPadding, verticalStride, horizontalStride) = cudnnSetPooling2dDescriptor_v3
cudnnGetPooling2dDescriptor(poolingDesc) = cudnnGetPooling2dDescriptor_v3 -> 0 1 2 5 6
cudnnDestroyPoolingDescriptor(poolingDesc) = cudnnDestroyPoolingDescriptor
cudnnPoolingForward(handle, poolingDesc, alpha, srcDesc, srcData, beta, destDesc, destData)
  = cudnnPoolingForward
cudnnPoolingBackward(handle, poolingDesc, alpha, srcDesc, srcData, srcDiffDesc, srcDiffData,
    destDesc, destData, beta, destDiffDesc, destDiffData) = cudnnPoolingBackward

cudnnActivationForward(handle, mode, alpha, srcDesc, srcData, beta, destDesc, destData)
  = cudnnActivationForward_v3
cudnnActivationBackward(handle, mode, alpha, srcDesc, srcData, srcDiffDesc, srcDiffData, destDesc,
    destData, beta, destDiffDesc, destDiffData) = cudnnActivationBackward_v3
"""

_ROW = re.compile(r"(\|? ?)(cudnn\w+)\(([^()]*)\)\s*=\s*(cudnn\w+)(?: -> ([\w ]+))?")
_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD
_PERF_TYPES = {
    "Forward": raw.cudnnConvolutionFwdAlgoPerf_t,
    "BackwardData": raw.cudnnConvolutionBwdDataAlgoPerf_t,
    "BackwardFilter": raw.cudnnConvolutionBwdFilterAlgoPerf_t,
}


class WrapperFunction:
    """A function of the ctypes wrapper. It warns once with an `OldNameWarning`.

    Attributes
    ----------
    calls : tuple of str
        The functions of `v7` that it calls: one for each way to call it.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = __package__
        self._ways: list[tuple[inspect.Signature, str, str]] = []

    def add(self, parameters: list[str], function: str, returned: str) -> None:
        """Add a way to call it."""
        signature = inspect.Signature([inspect.Parameter(each, _KIND) for each in parameters])
        self._ways.append((signature, function, returned))

    @property
    def calls(self) -> tuple[str, ...]:
        return tuple(function for _, function, _ in self._ways)

    @property
    def __signature__(self) -> inspect.Signature:
        return self._ways[0][0]

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self._modern()

    def __repr__(self) -> str:
        return f"<function libcudnn.{self.__name__}{self.__signature__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        warn_once(f"libcudnn.{self.__name__}", self._modern())
        count = len(args) + len(kwargs)
        ways = (each for each in self._ways if len(each[0].parameters) == count)
        signature, name, returned = next(ways, self._ways[0])
        try:
            values = list(signature.bind(*args, **kwargs).arguments.values())
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {error}") from None
        try:
            return _called(name, values, returned)
        except CudnnError as error:
            number = v7.old_status_number(error.status)
            raise cudnnExceptions.get(number, cudnnError)(number, str(error)) from error
        except DestroyedError as error:
            text = f"{self.__name__}: {error}"
            raise cudnnExceptions[3](3, text) from None

    def _modern(self) -> str:
        """The modern form of the call."""
        name = self.calls[0]
        gone = find(name)
        if gone is not None:
            modern = "; ".join(gone.now)
        else:
            parameters = ", ".join(p.name for p in raw.FUNCTIONS[name].parameters)
            modern = f"{name}({parameters})"
        return f"libcudnn.{self.__name__} is of an old wrapper; with cudnn_ctypes.raw: {modern}"


def _called(name: str, arguments: list[Any], returned: str) -> Any:
    """Make the call; return the wrapper's result."""
    function: Any = functions[name].quiet if find(name) else raw.FUNCTIONS[name]
    if name == "cudnnGetVersion":
        return int(function())
    if name == "cudnnSetConvolutionNdDescriptor":
        arguments.insert(1, len(arguments[1]))
    _settle(function, arguments)
    if returned == "perf":
        return _found(name, function, arguments)
    results = call(function, arguments)
    if returned == "variable":
        (result,) = results
        return c_int(int(result.value)) if find(name) else result
    values = [plain(result) for result in results]
    if returned:
        values = [values[int(index)] for index in returned.split()]
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _found(name: str, function: Any, arguments: list[Any]) -> list[Any]:
    """The result structs of a search for algorithms."""
    direction = name.removeprefix("cudnnFindConvolution").removesuffix("Algorithm")
    results = (_PERF_TYPES[direction] * number(arguments[-1]))()
    (count,) = call(function, [*arguments, results])
    return list(results[: count.value])


def _settle(function: Any, arguments: list[Any]) -> None:
    """Set the convolution's compute type from the tensors' type, if the function takes both."""
    parameters = [each for each in function.parameters if not is_result(each)]
    bases = [each.type.base for each in parameters]
    kinds = raw.cudnnConvolutionDescriptor_t, raw.cudnnTensorDescriptor_t
    if all(kind in bases for kind in kinds):
        settle(*(handle_of(kind, number(arguments[bases.index(kind)])) for kind in kinds))


FUNCTIONS: dict[str, WrapperFunction] = {}
"""By name."""

for _second, _name, _parameters, _function, _returned in _ROW.findall(_ROWS):
    if not _second:
        FUNCTIONS[_name] = WrapperFunction(_name)
    _names = " ".join(_parameters.split())
    FUNCTIONS[_name].add(_names.split(", ") if _names else [], _function, _returned)
