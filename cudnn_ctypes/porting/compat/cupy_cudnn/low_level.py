"""The functions of ``cupy_backends.cuda.libs.cudnn``: C functions called with plain numbers.

Handles, descriptors and memory are addresses (ints or ``c_void_p``), enumerators are ints, and
values that C writes through pointers are returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from .... import raw
from ....errors import CudnnError
from ....raw import live, mode
from ....raw.call_source import is_handle
from ....raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from ....raw.gone import find
from ....raw.parameter import Parameter
from ..v7 import old_status_number
from ..v7.declarations import status_of_old_number
from ..v7.old_function import functions

__all__ = [
    "FUNCTIONS",
    "CuDNNAlgoPerf",
    "CuDNNError",
    "DestroyedError",
    "call",
    "check_status",
    "handle_of",
    "is_result",
    "low",
    "number",
    "plain",
    "use_current_stream",
]


class CuDNNError(RuntimeError):
    """A call failed.

    Attributes
    ----------
    status : int
        The number that the status had before cuDNN 9.
    """

    def __init__(self, status: int, text: str = "") -> None:
        self.status = status
        told = text or str(raw.cudnnGetErrorString(status_of_old_number(status)))
        super().__init__(f"cuDNN Error: {told}")
        self._infos: list[str] = []

    def add_info(self, info: str) -> None:
        """Add a line to the text."""
        self._infos.append(info)

    def add_infos(self, infos: list[str]) -> None:
        """Add lines to the text."""
        self._infos += infos

    def __str__(self) -> str:
        return "\n  ".join([super().__str__(), *self._infos])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status,)


def check_status(status: int) -> None:
    """Raise for a status by its number before cuDNN 9; do nothing for 0."""
    if status:
        raise CuDNNError(status)


class DestroyedError(ValueError):
    """An argument is the address of a destroyed object."""


def is_result(parameter: Parameter) -> bool:
    """Whether the parameter is one value that C writes, which a wrapper returns."""
    return parameter.type.kind == "pointer" and parameter.direction == "out"


def call(function: Any, given: Sequence[Any], *, scalars_are_addresses: bool = False) -> list[Any]:
    """Call `function` with plain numbers; return the variables that it filled.

    Parameters
    ----------
    function
        A function of layer 1, or an old function.
    given : sequence
        Values of all parameters but the results, in C's order.
    scalars_are_addresses : bool
        Whether an int for alpha or beta is the address of the number.

    Raises
    ------
    DestroyedError
        If a handle is the address of a destroyed object.
    """
    values, results, arguments = iter(given), [], []
    count = 0
    for parameter in function.parameters:
        if is_result(parameter):
            results.append(storage_type(parameter.type.base)())
            arguments.append(results[-1])
            continue
        value = next(values)
        if parameter.type.kind in ("value", "device"):  # objects of host memory are passed on
            value = number(value)
        if parameter.name == "seqLength":
            count = value
        arguments.append(_argument(parameter, value, scalars_are_addresses, count))
    function(*arguments)
    return results


def plain(variable: Any) -> Any:
    """The variable's value as int or float; a handle's address; 0 for NULL."""
    value = variable.value
    if isinstance(variable, (OpaquePointer, ctypes.c_void_p)):
        return value or 0
    return int(value) if isinstance(value, CudnnEnum) else value


def handle_of(kind: Any, address: Any) -> Any:
    """The handle with an address; None for NULL.

    Raises
    ------
    DestroyedError
        If the object at the address was destroyed.
    """
    if not address:
        return None
    if live.is_gone(address):
        raise DestroyedError(f"{address:#x} was a {kind.__name__}, which is destroyed")
    handle = kind()
    handle.value = address
    return handle


def number(value: Any) -> Any:
    """The number in a ctypes variable; other values unchanged."""
    return value.value if isinstance(value, ctypes._SimpleCData) else value


def _argument(parameter: Parameter, value: Any, scalars_are_addresses: bool, count: int) -> Any:
    """A plain number converted for the C function's parameter."""
    kind, base = parameter.type.kind, parameter.type.base
    if is_handle(parameter) and base.__name__.startswith("cudnn"):
        return handle_of(base, value) if value is None or isinstance(value, int) else value
    is_number = isinstance(value, int)
    match kind:
        case "value" if is_number and issubclass(base, CudnnEnum):
            return base(int(value))
        case "array" if is_number and issubclass(base, OpaquePointer):
            addresses = (ctypes.c_void_p * count).from_address(value)
            return [handle_of(base, address) for address in addresses]
        case "array" if is_number:
            return ctypes.cast(value, ctypes.POINTER(storage_type(base))) if value else None
        case "scalar" if is_number:
            return ctypes.c_void_p(value) if scalars_are_addresses else float(value)
        case "host" | "labelled" if is_number:
            return ctypes.c_void_p(value)
        case "device" if is_number:
            return value or None
        case _:
            return value


# By CuPy's name where it is not C's with the first letter in lower case and without "cudnn".
_OTHERS = {
    "create": "cudnnCreate",
    "destroy": "cudnnDestroy",
    "findConvolutionBackwardDataAlgorithmEx_v7": "cudnnFindConvolutionBackwardDataAlgorithmEx",
    "findConvolutionBackwardFilterAlgorithmEx_v7": "cudnnFindConvolutionBackwardFilterAlgorithmEx",
    "findConvolutionForwardAlgorithmEx_v7": "cudnnFindConvolutionForwardAlgorithmEx",
    "getConvolutionBackwardDataAlgorithm_v6": "cudnnGetConvolutionBackwardDataAlgorithm",
    "getConvolutionBackwardFilterAlgorithm_v6": "cudnnGetConvolutionBackwardFilterAlgorithm",
    "getConvolutionForwardAlgorithm_v6": "cudnnGetConvolutionForwardAlgorithm",
    "getDropoutReserveSpaceSize": "cudnnDropoutGetReserveSpaceSize",
    "setConvolutionNdDescriptor_v3": "cudnnSetConvolutionNdDescriptor",
    "setFilterNdDescriptor_v4": "cudnnSetFilterNdDescriptor",
    "setPoolingNdDescriptor_v4": "cudnnSetPoolingNdDescriptor",
    "setSpatialTransformerDescriptor": "cudnnSetSpatialTransformerNdDescriptor",
}

_FUNCTION_NAMES = """
create destroy setStream getStream

createTensorDescriptor setTensor4dDescriptor setTensor4dDescriptorEx getTensor4dDescriptor
setTensorNdDescriptor destroyTensorDescriptor addTensor_v3

createOpTensorDescriptor setOpTensorDescriptor getOpTensorDescriptor destroyOpTensorDescriptor
opTensor createReduceTensorDescriptor setReduceTensorDescriptor getReduceTensorDescriptor
destroyReduceTensorDescriptor getReductionIndicesSize getReductionWorkspaceSize reduceTensor
setTensor scaleTensor

createFilterDescriptor setFilter4dDescriptor_v4 setFilterNdDescriptor_v4 destroyFilterDescriptor

createConvolutionDescriptor setConvolutionMathType getConvolutionMathType
setConvolutionGroupCount getConvolutionGroupCount setConvolution2dDescriptor_v4
setConvolution2dDescriptor_v5 setConvolutionNdDescriptor_v3 destroyConvolutionDescriptor
findConvolutionForwardAlgorithm findConvolutionForwardAlgorithmEx
findConvolutionForwardAlgorithmEx_v7 getConvolutionForwardAlgorithm_v6
getConvolutionForwardAlgorithm_v7 getConvolutionForwardWorkspaceSize convolutionForward
convolutionBackwardBias findConvolutionBackwardFilterAlgorithm
findConvolutionBackwardFilterAlgorithmEx findConvolutionBackwardFilterAlgorithmEx_v7
getConvolutionBackwardFilterAlgorithm_v6 getConvolutionBackwardFilterAlgorithm_v7
getConvolutionBackwardFilterWorkspaceSize convolutionBackwardFilter_v3
findConvolutionBackwardDataAlgorithm findConvolutionBackwardDataAlgorithmEx
findConvolutionBackwardDataAlgorithmEx_v7 getConvolutionBackwardDataAlgorithm_v6
getConvolutionBackwardDataAlgorithm_v7 getConvolutionBackwardDataWorkspaceSize
convolutionBackwardData_v3

createPoolingDescriptor setPooling2dDescriptor_v4 setPoolingNdDescriptor_v4
destroyPoolingDescriptor poolingForward poolingBackward

deriveBNTensorDescriptor batchNormalizationForwardTraining batchNormalizationForwardInference
batchNormalizationBackward batchNormalizationForwardTrainingEx
getBatchNormalizationForwardTrainingExWorkspaceSize batchNormalizationBackwardEx
getBatchNormalizationBackwardExWorkspaceSize getBatchNormalizationTrainingExReserveSpaceSize

createActivationDescriptor setActivationDescriptor destroyActivationDescriptor softmaxForward
softmaxBackward activationForward_v4 activationBackward_v4

createDropoutDescriptor destroyDropoutDescriptor dropoutGetStatesSize setDropoutDescriptor
getDropoutReserveSpaceSize dropoutForward dropoutBackward

createCTCLossDescriptor destroyCTCLossDescriptor setCTCLossDescriptor getCTCLossDescriptor
getCTCLossWorkspaceSize CTCLoss

createRNNDescriptor destroyRNNDescriptor createPersistentRNNPlan setPersistentRNNPlan
destroyPersistentRNNPlan setRNNDescriptor_v5 setRNNDescriptor_v6 setRNNPaddingMode
getRNNPaddingMode createRNNDataDescriptor destroyRNNDataDescriptor setRNNDataDescriptor
getRNNWorkspaceSize getRNNTrainingReserveSize getRNNParamsSize RNNForwardInference
RNNForwardTraining RNNBackwardData RNNBackwardWeights RNNForwardInferenceEx RNNForwardTrainingEx
RNNBackwardDataEx RNNBackwardWeightsEx

createSpatialTransformerDescriptor destroySpatialTransformerDescriptor
setSpatialTransformerDescriptor spatialTfGridGeneratorForward spatialTfGridGeneratorBackward
spatialTfSamplerForward spatialTfSamplerBackward

createFusedOpsConstParamPack destroyFusedOpsConstParamPack setFusedOpsConstParamPackAttribute
getFusedOpsConstParamPackAttribute createFusedOpsVariantParamPack
destroyFusedOpsVariantParamPack setFusedOpsVariantParamPackAttribute
getFusedOpsVariantParamPackAttribute createFusedOpsPlan destroyFusedOpsPlan makeFusedOpsPlan
fusedOpsExecute
"""


@dataclass
class CuDNNAlgoPerf:
    """An algorithm from a search or query; with C's numbers."""

    algo: int
    status: int
    time: float
    memory: int
    determinism: int
    mathType: int

    @classmethod
    def of(cls, perf: Any) -> CuDNNAlgoPerf:
        """The values of a struct of layer 1."""
        return cls(
            int(perf.algo),
            old_status_number(perf.status),
            float(perf.time),
            int(perf.memory),
            int(perf.determinism),
            int(perf.mathType),
        )


class LowLevelFunction:
    """One of the functions.

    Attributes
    ----------
    calls : str
        The C function that it calls.
    """

    def __init__(self, name: str, calls: str, function: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = __package__
        self.calls = calls
        self._function = function

    def __repr__(self) -> str:
        return f"<function cupy_cudnn.{self.__name__}: {self.calls}>"

    def __call__(self, *args: Any) -> Any:
        try:
            return self._function(*args)
        except CudnnError as error:
            raise CuDNNError(old_status_number(error.status), str(error)) from error
        except DestroyedError as error:
            raise CuDNNError(3, f"{self.__name__}: {error}") from None

    @property
    def modern(self) -> str:
        """The modern form of the call."""
        gone = find(self.calls)
        if gone is not None:
            return "; ".join(gone.now)
        names = [p.name for p in raw.FUNCTIONS[self.calls].parameters]
        return f"cudnn_ctypes.raw.{self.calls}({', '.join(names)})"


FUNCTIONS: dict[str, LowLevelFunction] = {}
"""The functions by CuPy's names."""


def _c_function(name: str) -> Any:
    return functions[name].quiet if find(name) else raw.FUNCTIONS[name]


def use_current_stream(handle: Any) -> None:
    """Set a handle's stream to CuPy's current one, if CuPy is loaded and memory is on a GPU."""
    stream = mode.runtime.current_stream("cupy")
    if stream is not None:
        typed = handle_of(raw.cudnnHandle_t, handle) if isinstance(handle, int) else handle
        raw.cudnnSetStream(typed, stream)


def _add(name: str, calls: str, function: Callable[..., Any] | None = None) -> None:
    FUNCTIONS[name] = LowLevelFunction(name, calls, function or _plain(name, calls))


def _plain(name: str, calls: str) -> Callable[..., Any]:
    """A C call with plain numbers; work goes to CuPy's current stream."""
    target = _c_function(calls)
    first = target.parameters[0].name if target.parameters else ""
    launches = first == "handle" and name not in ("destroy", "setStream", "getStream")

    def function(*arguments: Any) -> Any:
        if launches and arguments:
            use_current_stream(arguments[0])
        return _returned(name, target, arguments)

    return function


def _returned(name: str, target: Any, arguments: tuple[Any, ...]) -> Any:
    """Make the call; return its one result, or a tuple of several."""
    parameters = [each for each in target.parameters if not is_result(each)]
    names = [each.name for each in parameters]
    if "perfResults" in names:
        return _found(target, names, parameters, arguments)
    if len(arguments) != len(names):
        listed = ", ".join(names)
        raise TypeError(f"{name} takes {len(names)} arguments ({listed}), got {len(arguments)}")
    results = [plain(each) for each in call(target, arguments, scalars_are_addresses=True)]
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _found(
    target: Any, names: list[str], parameters: list[Any], arguments: tuple[Any, ...]
) -> list[CuDNNAlgoPerf]:
    index = names.index("perfResults")
    count = arguments[names.index("requestedAlgoCount")]
    perf = (parameters[index].type.base * count)()
    values = [*arguments[:index], perf, *arguments[index:]]
    (found,) = call(target, values, scalars_are_addresses=True)
    return [CuDNNAlgoPerf.of(each) for each in perf[: found.value]]


for _name in _FUNCTION_NAMES.split():
    _add(_name, _OTHERS.get(_name, f"cudnn{_name[0].upper()}{_name[1:]}"))


# -- functions with other parameters or results ------------------------------------------------


def _query_runtime_error(handle: Any, query: int) -> int:
    status = raw.cudnnStatus_t()
    typed = handle_of(raw.cudnnHandle_t, handle)
    raw.cudnnQueryRuntimeError(typed, status, raw.cudnnErrQueryMode_t(query), None)
    return old_status_number(status.value)


def _filter_nd(descriptor: Any, requested: int) -> tuple[int, int, int, tuple[int, ...]]:
    data_type, layout = raw.cudnnDataType_t(), raw.cudnnTensorFormat_t()
    ndim, dims = ctypes.c_int(), (ctypes.c_int * requested)()
    typed = handle_of(raw.cudnnFilterDescriptor_t, descriptor)
    raw.cudnnGetFilterNdDescriptor(typed, requested, data_type, layout, ndim, dims)
    return int(data_type.value), int(layout.value), ndim.value, tuple(dims)


def _linear_layer(kind: str) -> Callable[..., None]:
    """`cudnnGetRNNLinLayer...Params`; the last argument receives the address."""

    def get(*arguments: Any) -> None:
        use_current_stream(arguments[0])
        (found,) = call(_c_function(f"cudnnGetRNNLinLayer{kind}Params"), arguments[:-1])
        ctypes.c_void_p.from_address(arguments[-1]).value = found.value

    return get


def _rnn_data(descriptor: Any, *arguments: int) -> None:
    """Everything but the length of an array is an address where C writes."""
    typed = handle_of(raw.cudnnRNNDataDescriptor_t, descriptor)
    data_type: Any = raw.cudnnDataType_t()
    layout: Any = raw.cudnnRNNDataLayout_t()
    to_int = ctypes.POINTER(ctypes.c_int)
    *single, count, lengths, fill = arguments
    sizes: list[Any] = [ctypes.cast(each, to_int) for each in single[2:]]
    array: Any = ctypes.cast(lengths, to_int)
    get: Any = raw.cudnnGetRNNDataDescriptor
    get(typed, data_type, layout, *sizes, count, array, ctypes.c_void_p(fill))
    for address, variable in zip(single, (data_type, layout), strict=False):
        ctypes.c_int.from_address(address).value = int(variable.value)


low: Any = SimpleNamespace()
"""The functions as attributes."""

_add("getVersion", "cudnnGetVersion", lambda: int(raw.cudnnGetVersion()))
_add("get_build_version", "cudnnGetVersion", lambda: raw.CUDNN_VERSION)
_add("queryRuntimeError", "cudnnQueryRuntimeError", _query_runtime_error)
_add("getFilterNdDescriptor", "cudnnGetFilterNdDescriptor", _filter_nd)
for _kind in ("Matrix", "Bias"):
    _c_name = f"RNNLinLayer{_kind}Params"
    _add(f"get{_c_name}", f"cudnnGet{_c_name}", _linear_layer(_kind))
_add("getRNNDataDescriptor", "cudnnGetRNNDataDescriptor", _rnn_data)
vars(low).update(FUNCTIONS)
