"""Functions of cuDNN 9 under their old names and with their old parameters."""

from __future__ import annotations

import re
from ctypes import c_void_p
from typing import Any

from .... import raw
from ....raw.ctypes_support import storage_type
from ....raw.gone import alternatives
from .algorithms import choose, note_untyped
from .declarations import parameters_of
from .old_function import Arguments, Implementation, implements

__all__: list[str] = []

_ROWS = """
cudnn{Set,Get}Convolution2dDescriptor{,_v4} computeType
cudnn{Set,Get}Convolution2dDescriptor_v5
cudnn{Set,Get}ConvolutionNdDescriptor{,_v2} computeType
cudnn{Set,Get}ConvolutionNdDescriptor_v3
cudnn{Set,Get}Filter{4,N}dDescriptor{,_v3} format
cudnn{Set,Get}Filter{4,N}dDescriptor_v4
cudnn{Set,Get}Pooling{2,N}dDescriptor{,_v3} maxpoolingNanOpt
cudnn{Set,Get}Pooling{2,N}dDescriptor_v4
cudnnActivation{Forward,Backward}_v4
cudnnAddTensor_v3
cudnnConvolutionBackward{Filter,Data}_v3
cudnn{Ops,Cnn,Adv}{Infer,Train}VersionCheck
"""
"""Names with the parameter of cuDNN 9 that they lacked, if there is one."""

_BEFORE = {
    "computeType": raw.CUDNN_DATA_FLOAT,
    "format": raw.CUDNN_TENSOR_NCHW,
    "maxpoolingNanOpt": raw.CUDNN_NOT_PROPAGATE_NAN,
}
"""What cuDNN did before it had a parameter for it."""


def modern_name(name: str) -> str:
    """The function of cuDNN 9 that a name of `_ROWS` had become."""
    return re.sub(r"_v\d$|Infer|Train", "", name)


def _implementation(name: str, lacking: str) -> Implementation:
    """The call of cuDNN 9's function: what an old setter lacks is as it was, what a getter is not
    asked for is dropped.
    """
    function = raw.FUNCTIONS[modern_name(name)]
    lacked = {p.name: storage_type(p.type.base) for p in function.parameters if p.name == lacking}

    def call(a: Arguments) -> None:
        is_read = "Get" in name
        a.call(function, **{each: t() if is_read else _BEFORE[each] for each, t in lacked.items()})
        if lacking == "computeType" and "Set" in name:
            note_untyped(a.convDesc)

    return call


for _row in _ROWS.strip().split("\n"):
    _pattern, *_last = _row.split()
    _lacking = "".join(_last)
    for _name, _ in alternatives(_pattern):
        _without: dict[str, Any] = {_lacking: ""} if _lacking else {}
        _parameters = parameters_of(modern_name(_name), **_without)
        implements(f"{_name}({_parameters})")(_implementation(_name, _lacking))


_MODE = parameters_of("cudnnAddTensor", handle="cudnnHandle_t handle, cudnnAddMode_t mode")


@implements(f"cudnnAddTensor({_MODE})", f"cudnnAddTensor_v2({_MODE})")
def add_tensor(a: Arguments) -> None:
    a.call(raw.cudnnAddTensor)


_OF_MODE = {"activationDesc": "cudnnActivationMode_t mode"}
_FORWARD = parameters_of("cudnnActivationForward", **_OF_MODE)
_BACKWARD = parameters_of("cudnnActivationBackward", **_OF_MODE)


@implements(f"cudnnActivationForward({_FORWARD})", f"cudnnActivationForward_v3({_FORWARD})")
def activation_forward(a: Arguments) -> None:
    _activation(a, raw.cudnnActivationForward)


@implements(f"cudnnActivationBackward({_BACKWARD})", f"cudnnActivationBackward_v3({_BACKWARD})")
def activation_backward(a: Arguments) -> None:
    _activation(a, raw.cudnnActivationBackward)


def _activation(a: Arguments, function: Any) -> None:
    """Call a function with a temporary descriptor of the mode."""
    descriptor = raw.cudnnActivationDescriptor_t()
    raw.cudnnCreateActivationDescriptor(descriptor)
    try:
        nan = raw.CUDNN_NOT_PROPAGATE_NAN
        raw.cudnnSetActivationDescriptor(descriptor, a.mode, nan, 0.0)
        a.call(function, activationDesc=descriptor)
    finally:
        raw.cudnnDestroyActivationDescriptor(descriptor)


_NO_CHOICE = {"algo": "", "workSpace": "", "workSpaceSizeInBytes": ""}
_FILTER = parameters_of("cudnnConvolutionBackwardFilter", **_NO_CHOICE)
_DATA = parameters_of("cudnnConvolutionBackwardData", **_NO_CHOICE)


@implements(
    f"cudnnConvolutionBackwardFilter({_FILTER})", f"cudnnConvolutionBackwardFilter_v2({_FILTER})"
)
def backward_filter(a: Arguments) -> None:
    algorithm = choose("BackwardFilter", 0, a.handle, a.xDesc, a.dyDesc, a.convDesc, a.dwDesc)
    _without_workspace(a, raw.cudnnConvolutionBackwardFilter, algorithm)


@implements(f"cudnnConvolutionBackwardData({_DATA})", f"cudnnConvolutionBackwardData_v2({_DATA})")
def backward_data(a: Arguments) -> None:
    algorithm = choose("BackwardData", 0, a.handle, a.wDesc, a.dyDesc, a.convDesc, a.dxDesc)
    _without_workspace(a, raw.cudnnConvolutionBackwardData, algorithm)


def _without_workspace(a: Arguments, function: Any, algorithm: Any) -> None:
    a.call(function, algo=algorithm, workSpace=c_void_p(), workSpaceSizeInBytes=0)
