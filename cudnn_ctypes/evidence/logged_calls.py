"""The calls in cuDNN's log as records of calls, like those of a trace.

cuDNN prints other names of arguments than the headers have, and its own names of what descriptors
hold; a record has the headers' names, and the fields of this package's records of descriptors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .. import raw
from ..dtypes import vector_length
from ..raw.argument_text import plain
from ..raw.parameter import Parameter
from .messages import LoggedArgument, Message
from .records import Argument, CallRecord


def logged_calls(messages: Iterable[Message]) -> Iterator[CallRecord]:
    """The calls of C functions that a program made, one after the other.

    The place of a call is its process and thread. Its time is known if cuDNN logged its end.
    """
    waiting: dict[tuple[int, int], tuple[Message, CallRecord]] = {}
    for message in messages:
        key = message.process, message.thread
        begun, call = waiting.get(key, (None, None))
        ends = set(message.arguments) == {"status"}
        if begun is not None and call is not None and begun.function == message.function:
            if message.severity == raw.CUDNN_SEV_ERROR:
                status = message.status.name.removeprefix("CUDNN_STATUS_")
                reason = (message.reasons or ("",))[0]
                call = replace(call, status=status, failed=True, reason=reason)
                waiting[key] = begun, call
            elif ends:
                seconds = (message.time - begun.time).total_seconds()
                waiting[key] = begun, replace(call, seconds=max(seconds, 0.0))
        record = None if ends else logged_call(message)
        if record is None:
            continue
        if call is not None:
            yield call
        waiting[key] = message, record
    for _, call in waiting.values():
        yield call


def logged_call(message: Message) -> CallRecord | None:
    """The call that a message tells of; None if it tells of none."""
    if message.severity != raw.CUDNN_SEV_INFO:
        return None
    name, told = message.function, message.arguments
    if name == "cudnnCTCLossInternal":  # of both functions that compute the loss
        host = "labels" in told and told["labels"].location == "host"
        name = "cudnnCTCLoss" if host else "cudnnCTCLoss_v8"
    function = raw.FUNCTIONS.get(name)
    if function is None:
        return None
    if name.startswith("cudnnCTCLoss"):
        desc, longest = told.get("ctcLossDesc"), told.get("maxLabelLength")
        told = {key: each for key, each in told.items() if not key.startswith("max")}
        if desc is not None and longest is not None and name.endswith("_v8"):
            fields = {**desc.fields, "maxLabelLength": longest}
            told["ctcLossDesc"] = replace(desc, fields=fields)
    named = _by_parameter(function.parameters, told)
    arguments = tuple(Argument(each, _value(each, value)) for each, value in named.items())
    place = {"file": str(message.process), "line": message.thread}
    return CallRecord(0, name, arguments, "SUCCESS", **place)  # type: ignore[arg-type]


def _by_parameter(
    parameters: Iterable[Parameter], told: Mapping[str, LoggedArgument]
) -> dict[str, LoggedArgument]:
    """The arguments by the parameters' names in C, in C's order; others at the end.

    cuDNN prints some with another name, "srcData" for x, in the same order among their kind; a few
    it does not print.
    """
    rest, found = dict(told), {}
    for each in parameters:
        name = each.name if each.name in rest else each.name.removeprefix("host")
        if name[:1].upper() + name[1:] == each.name[4:]:
            name = name[:1].lower() + name[1:]
        if name in rest:
            found[each.name] = rest.pop(name)
    for each in parameters:
        if each.name not in found:
            fitting = (name for name, value in rest.items() if _fits(each, value))
            if name := next(fitting, ""):
                found[each.name] = rest.pop(name)
    return {each.name: found[each.name] for each in parameters if each.name in found} | rest


def _fits(parameter: Parameter, argument: LoggedArgument) -> bool:
    """Whether an argument that is printed with another name can be that of a parameter."""
    kind, base = parameter.type.kind, getattr(parameter.type.base, "__name__", "")
    if kind == "device":
        return argument.location == "dev"
    if kind == "scalar":
        return argument.type.startswith("CUDNN_DATA_")
    if kind in ("array", "host"):
        return argument.location == "host"
    return bool(base) and argument.type == base


@functools.cache
def computes(function: str) -> bool:
    """Whether calls of a C function compute, with descriptors and memory as arguments."""
    found = raw.FUNCTIONS.get(function.replace("Internal", "_v8"))
    if found is None or re.match(r"cudnn(Find|Fused|SetDrop|Restore)", function):
        return False
    parameters = {each.name: each for each in found.parameters}
    return "handle" in parameters and any(map(is_output, parameters.values()))


def is_output(parameter: Parameter) -> bool:
    """Whether a call writes a parameter's memory."""
    return parameter.type.kind == "device" and parameter.direction != "in"


_FIELDS: Mapping[str, Mapping[str, str]] = {
    f"cudnn{kind}Descriptor_t": dict(each.split("=") for each in fields.split())
    for kind, fields in {
        "Tensor": "dimA=shape strideA=strides dataType=data_type",
        "Filter": "dimA=shape dataType=data_type format=format",
        "Convolution": (
            "padA=padding strideA=stride dilationA=dilation groupCount=groups mode=mode "
            "dataType=compute_data_type mathType=math_type reorderType=reorder_type"
        ),
        "Pooling": (
            "windowDimA=window paddingA=padding strideA=stride mode=mode "
            "maxpoolingNanOpt=nan_propagation"
        ),
        "Activation": "mode=mode reluNanOpt=nan_propagation coef=coef",
        "LRN": "lrnN=n lrnAlpha=alpha lrnBeta=beta lrnK=k",
        "OpTensor": "op=op compType=compute_data_type nanOpt=nan_propagation",
        "ReduceTensor": (
            "op=op compType=compute_data_type nanOpt=nan_propagation indices=indices "
            "indicesType=indices_type"
        ),
        "Dropout": "dropout=rate seed=seed",
        "SpatialTransformer": "gridDimA=shape dataType=data_type samplerType=sampler",
        "RNN": (
            "cellMode=cell inputSize=input_size hiddenSize=hidden_size projSize=projection_size "
            "numLayers=layers bidirectional=bidirectional biasMode=bias inputMode=input_mode "
            "dataType=data_type mathPrec=compute_data_type mathMode=math_type algo=algorithm "
            "auxFlags=padded_io dropoutDesc=dropout clipMode=clip clipNanOpt=clip_nan_propagation"
        ),
        "RNNData": (
            "seqLengthArray=lengths dimA=max_length dataType=data_type layout=layout "
            "paddingFill=padding_fill"
        ),
        "CTCLoss": (
            "compType=compute_data_type normMode=normalization gradMode=gradient_mode "
            "maxLabelLength=max_label_length"
        ),
        "Attn": (
            "nHeads=heads qSize=q_size kSize=k_size vSize=v_size qProjSize=q_projection "
            "kProjSize=k_projection vProjSize=v_projection oProjSize=o_projection "
            "qoMaxSeqLength=qo_max_length kvMaxSeqLength=kv_max_length maxBatchSize=max_batch "
            "maxBeamSize=max_beam smScaler=scaler attnMode=query_map mathPrec=compute_data_type "
            "mathType=math_type dataType=data_type attnDropoutDesc=attention_dropout "
            "postDropoutDesc=output_dropout"
        ),
        "SeqData": "axes=axes dataType=data_type seqLengthArray=lengths paddingFill=padding_fill",
        "TensorTransform": (
            "destFormat=format padBeforeA=pad_before padAfterA=pad_after foldA=fold "
            "direction=direction"
        ),
    }.items()
}
"""The fields of records of descriptors, by cuDNN's names in the log."""


def _value(name: str, argument: LoggedArgument) -> Any:
    """An argument as plain data, as records of calls have it."""
    if argument.location:
        address = argument.value
        return address and {"allocation": f"{address:#x}", "offset": 0}
    if argument.type == "cudnnHandle_t":
        return {"object": "handle"}
    if not argument.fields:
        return plain(argument.value)
    if argument.type in _FIELDS:
        return {"object": name, "holds": _holds(argument)}
    kind = argument.type.removeprefix("CUDNN_BACKEND_").removesuffix("_DESCRIPTOR").lower()
    operations = [
        each.type.removeprefix("CUDNN_BACKEND_OPERATION_").removesuffix("_DESCRIPTOR").lower()
        for each in argument.fields.values()
        if each.type.startswith("CUDNN_BACKEND_OPERATION_")
    ]
    if operations:
        return {"object": kind, "holds": {"operations": operations}}
    names = {"dimA": "shape", "strideA": "strides", "dataType": "data_type", "type": "data_type"}
    holds = {
        names.get(key, key): plain(each.value)
        for key, each in argument.fields.items()
        if not each.fields and key != "nbDims"
    }
    return {"object": name if kind.startswith("cudnn") else kind, "holds": holds}


def _holds(argument: LoggedArgument) -> dict[str, Any]:
    """A legacy descriptor's fields, with the names and values of this package's record."""
    told = {
        name: _holds(each) if each.fields else each.value for name, each in argument.fields.items()
    }
    names, more = _FIELDS[argument.type], dict[str, Any]()
    found = {names[name]: value for name, value in told.items() if name in names}
    with suppress(KeyError, TypeError):  # a version that does not print it
        if special := _SPECIAL.get(argument.type):
            more = special(told)
    return {name: plain(value) for name, value in (found | more).items()}


def _rnn(told: Mapping[str, Any]) -> dict[str, Any]:
    clips = told["clipMode"] == raw.CUDNN_RNN_CLIP_MINMAX
    size = told["projSize"]
    return {
        "projection_size": None if size in (0, told["hiddenSize"]) else size,
        "bidirectional": bool(told["bidirectional"]),
        "padded_io": bool(told["auxFlags"] & raw.CUDNN_RNN_PADDED_IO_ENABLED),
        "clip": [told["lclip"], told["rclip"]] if clips else None,
    }


def _attention(told: Mapping[str, Any]) -> dict[str, Any]:
    one_to_one = told["attnMode"] & raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE
    return {
        "query_map": "one_to_one" if one_to_one else "all_to_one",
        "biases": told["attnMode"] > raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE,
    }


def _vector(told: Mapping[str, Any]) -> int:
    """Channels in an element of a filter, of which cuDNN prints the vectors."""
    return vector_length(told["dataType"]) if told["vect"] else 1


_AXES = {"TIME": "T", "BATCH": "N", "BEAM": "B", "VECT": "V"}

_SPECIAL: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "cudnnRNNDescriptor_t": _rnn,
    "cudnnAttnDescriptor_t": _attention,
    "cudnnFilterDescriptor_t": lambda told: {
        "shape": (told["dimA"][0], told["dimA"][1] * _vector(told), *told["dimA"][2:])
    },
    "cudnnConvolutionDescriptor_t": lambda told: {
        "reorder_type": raw.cudnnReorderType_t(told["reorderType"])
    },
    "cudnnReduceTensorDescriptor_t": lambda told: {"indices": bool(told["indices"])},
    "cudnnSpatialTransformerDescriptor_t": lambda told: {
        "shape": (told["gridDimA"][0], 1, *told["gridDimA"][1:3])  # cuDNN prints no channels
    },
    "cudnnRNNDataDescriptor_t": lambda told: {
        "max_length": told["dimA"][0],
        "vector_size": told["dimA"][2],
    },
    "cudnnCTCLossDescriptor_t": lambda told: {
        "gradient_mode": raw.cudnnCTCGradMode_t(int(told["gradMode"]))
    },
    "cudnnSeqDataDescriptor_t": lambda told: {
        "shape": tuple(told[each] for each in ("time", "batch", "beam", "vect")),
        "axes": "".join(_AXES[each.split("_")[2]] for each in told["axes"]),
    },
    "cudnnTensorTransformDescriptor_t": lambda told: {
        "direction": raw.cudnnFoldingDirection_t(told["direction"])
    },
}
"""Fields that cuDNN prints in another form."""
