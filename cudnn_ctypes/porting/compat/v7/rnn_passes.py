"""The passes of an RNN: forward for inference and training, backward for data and weights.

The older functions take one tensor descriptor for each time step, the ...Ex functions one
descriptor of sequences. Both had a descriptor for each state where cuDNN 9 has one for all hidden
states and one for all cell states.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .... import raw
from ....raw.descriptors import record
from .old_function import Arguments, Refused, implements
from .rnn_settings import settle
from .rnn_sizes import sequences, weight_bytes

__all__: list[str] = []

_STEPS = "const int seqLength, "
_OF_STEPS, _OF_SEQUENCES = "const cudnnTensorDescriptor_t {}[]", "const cudnnRNNDataDescriptor_t {}"
_TENSOR = "const cudnnTensorDescriptor_t {}"
_SPACES = "void *workSpace, size_t workSpaceSizeInBytes"
_RESERVE = "void *reserveSpace, size_t reserveSpaceSizeInBytes"
_BEGIN = "cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, "


def _forward(name: str, ex: bool, training: bool) -> str:
    data = _OF_SEQUENCES if ex else _OF_STEPS
    reserved = (
        """, const cudnnRNNDataDescriptor_t kDesc, const void *keys,
        const cudnnRNNDataDescriptor_t cDesc, void *cAttn, const cudnnRNNDataDescriptor_t iDesc,
        void *iAttn, const cudnnRNNDataDescriptor_t qDesc, void *queries"""
        if ex
        else ""
    )
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("xDesc")}, const void *x,
        {_TENSOR.format("hxDesc")}, const void *hx, {_TENSOR.format("cxDesc")}, const void *cx,
        const cudnnFilterDescriptor_t wDesc, const void *w, {data.format("yDesc")}, void *y,
        {_TENSOR.format("hyDesc")}, void *hy, {_TENSOR.format("cyDesc")}, void *cy{reserved},
        {_SPACES}{", " + _RESERVE if training else ""})"""


def _backward_data(name: str, ex: bool) -> str:
    data = _OF_SEQUENCES if ex else _OF_STEPS
    attention = ", const cudnnRNNDataDescriptor_t dcDesc, const void *dcAttn" if ex else ""
    keys = ", const cudnnRNNDataDescriptor_t dkDesc, void *dkeys" if ex else ""
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("yDesc")}, const void *y,
        {data.format("dyDesc")}, const void *dy{attention}, {_TENSOR.format("dhyDesc")},
        const void *dhy, {_TENSOR.format("dcyDesc")}, const void *dcy,
        const cudnnFilterDescriptor_t wDesc, const void *w, {_TENSOR.format("hxDesc")},
        const void *hx, {_TENSOR.format("cxDesc")}, const void *cx, {data.format("dxDesc")},
        void *dx, {_TENSOR.format("dhxDesc")}, void *dhx, {_TENSOR.format("dcxDesc")},
        void *dcx{keys}, {_SPACES}, {_RESERVE})"""


def _backward_weights(name: str, ex: bool) -> str:
    data, const = (_OF_SEQUENCES, "") if ex else (_OF_STEPS, "const ")
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("xDesc")}, const void *x,
        {_TENSOR.format("hxDesc")}, const void *hx, {data.format("yDesc")}, const void *y,
        {const}{_SPACES}, const cudnnFilterDescriptor_t dwDesc, void *dw, {const}{_RESERVE})"""


@implements(
    _forward("cudnnRNNForwardInference", ex=False, training=False),
    _forward("cudnnRNNForwardInferenceEx", ex=True, training=False),
    _forward("cudnnRNNForwardTraining", ex=False, training=True),
    _forward("cudnnRNNForwardTrainingEx", ex=True, training=True),
)
def forward(a: Arguments) -> None:
    _refuse_reserved(a, "kDesc", "keys", "cDesc", "cAttn", "iDesc", "iAttn", "qDesc", "queries")
    training = "reserveSpace" in a
    mode = raw.CUDNN_FWD_MODE_TRAINING if training else raw.CUDNN_FWD_MODE_INFERENCE
    with _sequences(a, "xDesc", "yDesc") as (x_desc, y_desc):
        _settle(a, x_desc)
        raw.cudnnRNNForward(
            a.handle,
            a.rnnDesc,
            mode,
            None,
            x_desc,
            a.x,
            y_desc,
            a.y,
            _first(a.hxDesc, a.hyDesc),
            a.hx,
            a.hy,
            _first(a.cxDesc, a.cyDesc),
            a.cx,
            a.cy,
            weight_bytes(a.wDesc, "wDesc"),
            a.w,
            a.workSpaceSizeInBytes,
            a.workSpace,
            a.reserveSpaceSizeInBytes if training else 0,
            a.reserveSpace if training else None,
        )


@implements(
    _backward_data("cudnnRNNBackwardData", ex=False),
    _backward_data("cudnnRNNBackwardDataEx", ex=True),
)
def backward_data(a: Arguments) -> None:
    _refuse_reserved(a, "dcDesc", "dcAttn", "dkDesc", "dkeys")
    with _sequences(a, "dxDesc", "yDesc", "dyDesc") as (x_desc, y_desc, _):
        _settle(a, x_desc)
        raw.cudnnRNNBackwardData_v8(
            a.handle,
            a.rnnDesc,
            None,
            y_desc,
            a.y,
            a.dy,
            x_desc,
            a.dx,
            _first(a.hxDesc, a.dhyDesc, a.dhxDesc),
            a.hx,
            a.dhy,
            a.dhx,
            _first(a.cxDesc, a.dcyDesc, a.dcxDesc),
            a.cx,
            a.dcy,
            a.dcx,
            weight_bytes(a.wDesc, "wDesc"),
            a.w,
            a.workSpaceSizeInBytes,
            a.workSpace,
            a.reserveSpaceSizeInBytes,
            a.reserveSpace,
        )


@implements(
    _backward_weights("cudnnRNNBackwardWeights", ex=False),
    _backward_weights("cudnnRNNBackwardWeightsEx", ex=True),
)
def backward_weights(a: Arguments) -> None:
    with _sequences(a, "xDesc", "yDesc") as (x_desc, y_desc):
        _settle(a, x_desc)
        raw.cudnnRNNBackwardWeights_v8(
            a.handle,
            a.rnnDesc,
            raw.CUDNN_WGRAD_MODE_ADD,
            None,
            x_desc,
            a.x,
            a.hxDesc,
            a.hx,
            y_desc,
            a.y,
            weight_bytes(a.dwDesc, "dwDesc"),
            a.dw,
            a.workSpaceSizeInBytes,
            a.workSpace,
            a.reserveSpaceSizeInBytes,
            a.reserveSpace,
        )


@contextmanager
def _sequences(a: Arguments, *names: str) -> Iterator[list[Any]]:
    """The sequences' descriptors: arguments of an ...Ex function, or created for the call."""
    if "seqLength" not in a:
        yield [getattr(a, name) for name in names]
        return
    with ExitStack() as stack:
        steps = a.seqLength
        yield [stack.enter_context(sequences(getattr(a, name), steps, name)) for name in names]


def _settle(a: Arguments, x_desc: Any) -> None:
    x = record(x_desc)
    if x is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "xDesc is NULL, or was created but never set")
    settle(a.handle, a.rnnDesc, x.data_type, x.vector_size, x.batch_size)


def _first(*descriptors: Any) -> Any:
    """The first descriptor that is not NULL: all describe states of one shape."""
    return next((each for each in descriptors if each is not None and _set(each)), None)


def _set(descriptor: Any) -> bool:
    return bool(getattr(descriptor, "_as_parameter_", descriptor))


def _refuse_reserved(a: Arguments, *names: str) -> None:
    for name in names:
        if name in a and getattr(a, name) not in (None, 0) and _set(getattr(a, name)):
            reason = f"{name} is reserved: pass NULL"
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)
