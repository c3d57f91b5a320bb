"""Advice for failed calls, from their status, reasons and arguments.

A hint is about this call: an argument that is NULL, a buffer that is too small, descriptors that do
not fit together. A merely possible cause is named only if cuDNN itself returned the status; the
reference device and this package state their reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import backend, enums, functions, live, log, operand_rules, records
from .attributes import kind_name
from .constants import CUDNN_DIM_MAX
from .ctypes_support import OpaquePointer, is_null
from .layouts import vector_length
from .library import loaded
from .parameter import Parameter


@dataclass(frozen=True)
class Failure:
    """A call that failed.

    - `function`: C's name; "" for a question about a status alone.
    - `status`: the status's name.
    - `reasons`: the reasons for the failure, outermost last.
    - `source`: the origin of the reasons.
    - `arguments`: the parameter and the program's argument, by the parameter's C name.
    """

    function: str
    status: str
    reasons: tuple[str, ...] = ()
    source: str = log.CUDNN
    arguments: Mapping[str, tuple[Parameter, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        function: str,
        status: str,
        reasons: Iterable[str],
        source: str,
        arguments: Iterable[tuple[Parameter, Any]],
    ) -> Failure:
        by_name = {parameter.name: (parameter, value) for parameter, value in arguments}
        return cls(function, status, tuple(filter(None, reasons)), source, by_name)

    @property
    def text(self) -> str:
        """All reasons, one per line."""
        return "\n".join(self.reasons)

    @property
    def is_cudnn_s(self) -> bool:
        """Whether cuDNN itself returned the status, whose cause it may not have stated."""
        return self.source == log.CUDNN

    def argument(self, *names: str) -> Any:
        """The argument for the first of these parameters that the function has; else None."""
        return next((self.arguments[name][1] for name in names if name in self.arguments), None)

    def name(self, *names: str) -> str:
        """The first of these parameters that the function has; else ""."""
        return next((name for name in names if name in self.arguments), "")

    def record(self, *names: str) -> Any:
        """The record of the descriptor passed for the first of these parameters."""
        return records.record(self.argument(*names))


_CREATING = {
    "cudnnHandle_t": "cudnnCreate",
    "cudnnBackendDescriptor_t": "cudnnBackendCreateDescriptor",
}


def creating_function(kind: str) -> str:
    """The C function that creates a handle or descriptor of a C type."""
    name = kind.removeprefix("cudnn").removesuffix("_t")
    return _CREATING.get(kind, f"cudnnCreate{name}")


def _of_nulls(failure: Failure) -> str:
    """Advice about the first NULL that was refused; "" if none was."""
    if not failure.status.startswith("CUDNN_STATUS_BAD_PARAM"):
        return ""
    return next(_remedies(failure), "")


def _remedies(failure: Failure) -> Iterator[str]:
    for parameter, value in failure.arguments.values():
        if not (is_null(value) or (type(value) is int and value == 0)):
            continue
        named = _is_named(parameter.name, failure.text)
        kind = parameter.type.kind
        if kind == "value" and _is_object(parameter):
            if named or not parameter.type.null:
                yield _object(parameter, value)
        elif not named:
            continue
        elif kind == "device":
            yield (
                f"{parameter.name} is {value}: pass device memory, such as a DeviceTensor, a "
                f"tensor of PyTorch, or an address"
            )
        elif kind == "scalar":
            yield f"{parameter.name} is None: pass a number, 1.0 or 0.0 for instance"
        elif kind in ("pointer", "array"):
            verb = "reads from" if parameter.direction == "in" else "writes to"
            yield f"{parameter.name} is None, and C {verb} it: pass a variable or an array"


def _is_object(parameter: Parameter) -> bool:
    base = parameter.type.base
    is_handle = isinstance(base, type) and issubclass(base, OpaquePointer)
    return is_handle and base.__name__.startswith("cudnn")


def _is_named(name: str, reasons: str) -> bool:
    """Whether the reasons say that the argument `name` is NULL, in cuDNN's words or in ours."""
    null = "(?:__null|nullptr|NULL)"
    said = rf"\b{name} (?:is NULL|was destroyed)|\b{name} == {null}|{null} == {name}\b|!{name}\b"
    return re.search(said, reasons) is not None


def _object(parameter: Parameter, value: Any) -> str:
    name, kind = parameter.name, parameter.type.base.__name__
    create = creating_function(kind)
    if live.is_destroyed(value):
        return f"{name} was destroyed earlier; create another with raw.{create}"
    if value is None:
        return f"{name} is None, and C needs a {kind}: raw.{create} creates one"
    return f"{name} is still NULL: raw.{create} has to create it first"


_TOO_SMALL = re.compile(r"\b(\w+) = \d+ is less than the (\d+) bytes needed")  # the ref. device
_SPACES = re.compile(r"(?i)(work|reserve|weight)_?space|state_?size")


def _of_sizes(failure: Failure) -> str:
    """Advice naming the function that returns a refused buffer's size; "" if none was refused."""
    if match := _TOO_SMALL.search(failure.text):
        return _telling_size(failure.function, match[1])
    if failure.is_cudnn_s and "BAD_PARAM" in failure.status:
        match = _SPACES.search(failure.text)
        return "" if match is None else _telling_size(failure.function, match[0])
    return ""


def _telling_size(function: str, buffer: str) -> str:
    from .function import binding

    wanted = buffer.lower().replace("_", "")
    for parameter in binding(function).parameters:
        tells, stem = parameter.type.told_by, parameter.name.lower().partition("size")[0]
        if tells and stem in wanted:
            like = " and algorithm" if "onvolution" in tells else ""
            return (
                f"{tells} tells how many bytes are needed, for the same descriptors{like}; pass "
                f"that many, and that number"
            )
    return ""


def _of_facts(failure: Failure) -> str:
    """A sentence naming the arguments that do not fit together; "" if none are found."""
    if failure.function in ("cudnnBackendSetAttribute", "cudnnBackendGetAttribute"):
        return _attribute(failure)
    if failure.function.startswith(("cudnnSetTensor", "cudnnSetFilter")):
        return _dimensions(failure) or _vectors(failure)
    return _operands(failure)


def _operands(failure: Failure) -> str:
    """The operand that breaks a rule; the reference device has given this reason already."""
    if not (failure.is_cudnn_s and failure.arguments):
        return ""
    values = {name: value for name, (_, value) in failure.arguments.items()}
    function, status = getattr(functions, failure.function), failure.status
    found = operand_rules.broken(
        function, values, asked=lambda rule: getattr(rule.status, "name", "no") in status
    )
    return "" if found is None else str(found)


def _attribute(failure: Failure) -> str:
    descriptor = backend.known(live.address(failure.argument("descriptor")))
    name = enums.cudnnBackendAttributeName_t(_code(failure.argument("attributeName")))
    type_ = enums.cudnnBackendAttributeType_t(_code(failure.argument("attributeType")))
    known = backend.attribute(name)
    if descriptor is None or descriptor.kind is None or known is None:
        return ""
    if known.kind != descriptor.kind:
        return (
            f"{name.name} is an attribute of {kind_name(known.kind)} descriptors, and this is a "
            f"descriptor of kind {kind_name(descriptor.kind)}"
        )
    if type_ not in known.types:
        types = " or ".join(each.name for each in known.types)
        return f"{name.name} takes {types}, and attributeType says {type_.name}"
    return ""


def _code(value: Any) -> int:
    return int(getattr(value, "value", value))


def _dimensions(failure: Failure) -> str:
    array, count = failure.argument("dimA", "filterDimA"), failure.argument("nbDims")
    if array is None:
        sizes = [failure.argument(name) for name in "nkchw"]
    else:  # a pointer has no end of its own
        sizes = array[: min(max(_code(count), 0), CUDNN_DIM_MAX)]
    numbers = [_code(size) for size in sizes if size is not None]
    return "every dimension must be at least 1" if any(size < 1 for size in numbers) else ""


def _vectors(failure: Failure) -> str:
    layout, data_type = failure.argument("format"), failure.argument("dataType")
    if layout is None or data_type is None:
        return ""
    in_vectors = enums.cudnnTensorFormat_t(_code(layout)) == enums.CUDNN_TENSOR_NCHW_VECT_C
    data_type = enums.cudnnDataType_t(_code(data_type))
    if in_vectors and vector_length(data_type) == 1:
        return (
            f"CUDNN_TENSOR_NCHW_VECT_C is for vectors of channels, CUDNN_DATA_INT8x4, UINT8x4 and "
            f"INT8x32, not for {data_type.name}"
        )
    return ""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Advice for calls whose function, status and reasons match the patterns.

    A rule without a pattern for reasons is a guess; it applies only if cuDNN returned the status.
    """

    advice: str
    function: str = ""
    status: str = ""
    reason: str = ""

    def applies(self, failure: Failure) -> bool:
        if not self.reason and not failure.is_cudnn_s:
            return False
        return all(
            re.search(pattern, text)
            for pattern, text in (
                (self.function, failure.function),
                (self.status, failure.status),
                (self.reason, failure.text),
            )
        )


_NO_DRIVER = (
    "libcuda.so.1, which comes with the NVIDIA driver, cannot be loaded, and a library of cuDNN "
    "that this call uses needs it. To run without a GPU, call cudnn_ctypes.use_reference_device() "
    "first, or set CUDNN_CTYPES_DEVICE=reference"
)

_REDUCED_BUILD = (
    "this build of cuDNN lacks the sublibrary that the function is in: the nvidia-cudnn-jit wheels "
    "hold the graph API only; install the full nvidia-cudnn wheel"
)

_RULES = [
    _Rule(**row) for row in json.loads(Path(__file__).with_name("hints.json").read_text("utf-8"))
]


def _of_sublibraries(failure: Failure) -> str:
    """Advice about a part of cuDNN that cannot be loaded."""
    if "SUBLIBRARY_LOADING" in failure.status and not loaded.driver_present():
        return _NO_DRIVER
    if "SUBLIBRARY_UNAVAILABLE" in failure.status:
        return _REDUCED_BUILD
    return loaded.mixed_install_advice() if "SUBLIBRARY" in failure.status else ""


def _of_rules(failure: Failure) -> str:
    """The advice of the first rule that applies."""
    if "was destroyed" in failure.text:
        return ""
    return next((rule.advice for rule in _RULES if rule.applies(failure)), "")


def hint(failure: Failure) -> str:
    """Advice for a failed call, "" if we have none."""
    for part in (_of_sublibraries, _of_nulls, _of_sizes, _of_facts, _of_rules):
        try:
            advice = part(failure)
        except Exception:  # e.g. a closed descriptor: the call's error matters more
            continue
        if advice:
            return advice
    return ""


def usual_cause(status: str) -> str:
    """The usual cause of a status, by its name, for any function."""
    return hint(Failure("", status))
