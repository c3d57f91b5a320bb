"""Questions about engines that end the process where cuBLASLt is missing.

cuDNN aborts when an engine, or the model that chooses kernels, opens a library that is not there.
Which do so was tried for an H200, each question in a process of its own: with 350 graphs of all
kinds in 9.14 and 9.19, with 20 in 9.8, 9.10, 9.12, 9.13, 9.15 to 9.18, 9.20, 9.22, 9.24 and 9.26 to
9.28, and with these for an A100, B200 and RTX 5090 in 9.14. No GPU was there.
"""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any

from .. import backend, library, live
from ..enums import cudnnBackendAttributeName_t as Name
from ..enums import cudnnBackendAttributeType_t as Type
from ..enums import cudnnBackendBehaviorNote_t as Note
from ..enums import cudnnBackendDescriptorType_t as Kind
from ..enums import cudnnBackendKnobType_t as Knob
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

_PREREQUISITE_MISSING = 3008  # cudnnStatus_t

# From this version on the heuristics' descriptor opens cuBLASLt when it is created, and so does the
# choice of a kernel for engines that are compiled at run time, which the knob kernel_cfg saves.
_CHOOSES_KERNELS = 91500

_HEURISTICS = Kind.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
_ENGINE = Kind.CUDNN_BACKEND_ENGINE_DESCRIPTOR
_CONFIG = Kind.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR

_MATMUL = Kind.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR
_FORWARD = Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
_NORMS = {
    Kind.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
    Kind.CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
}

# The engines of a convolution that open cuBLASLt, the same in all versions. Which heuristics try
# depends on the data types, dims and layouts.
_OF_CONVOLUTIONS = {
    _FORWARD: (3, 4, 6, 58),
    Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: (4, 5, 7, 50, 63),
    Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: (4, 17, 18, 62),
}
_OF_BIASED_CONVOLUTION = (12, 13, 14, 39)

# Convolutions alone have 75 engines or more, forward with a bias 60; fused at run time up to 12.
_MANY = 20

_LONGEST = 1 << 30  # bytes of a stored plan
_LEFT_OPEN = re.compile(rb'"CUDNN_KNOB_TYPE_KERNEL_CFG"\s*:\s*-1\b')


def fragment(binding: Binding) -> Fragment | None:
    reasons = {
        "cudnnBackendCreateDescriptor": ("descriptorType", _no_heuristics),
        "cudnnBackendFinalize": ("descriptor", _no_engines),
    }
    if binding.name not in reasons:
        return None
    argument, reason = reasons[binding.name]
    return Fragment(
        before=[
            f"_lacking = _without_cublas({argument})",
            f"if _lacking: return _refused({_PREREQUISITE_MISSING}, {{args}}, _lacking)",
        ],
        scope={"_without_cublas": reason},
    )


def _no_heuristics(kind: Any) -> str:
    """Why the heuristics' descriptor must not be created; "" if it may be."""
    if kind != _HEURISTICS:
        return ""
    loaded = library.load()
    loaded.load_cuda_libraries()  # which finalizing does too, but that comes later
    return loaded.lacks_cublas if loaded.version >= _CHOOSES_KERNELS else ""


def _no_engines(descriptor: Any) -> str:
    found = backend.known(live.address(descriptor))
    if found is None or found.kind not in _QUESTIONS:
        return ""
    loaded = library.load()
    reason = loaded.lacks_cublas
    return reason if reason and _QUESTIONS[found.kind](found, loaded.version) else ""


def refused_plan(address: int, length: int) -> tuple[int, str] | None:
    """The refusal (status and reason) of a stored plan whose kernel cuDNN would choose anew."""
    loaded = library.load()
    reason = loaded.lacks_cublas if loaded.version >= _CHOOSES_KERNELS else ""
    if not reason or not 0 < length < _LONGEST:
        return None
    text = ctypes.string_at(address, length)
    return (_PREREQUISITE_MISSING, reason) if _LEFT_OPEN.search(text) else None


def _heuristics(found: backend.Descriptor, version: int) -> bool:
    return found.graph is None or bool(_engines(found.graph))


def _engine(found: backend.Descriptor, version: int) -> bool:
    (index,) = found.values.get(Name.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, (None,))
    return found.graph is None or index in _engines(found.graph)


def _config(found: backend.Descriptor, version: int) -> bool:
    if version < _CHOOSES_KERNELS or _chooses(found, Knob.CUDNN_KNOB_TYPE_KERNEL_CFG):
        return False
    (engine,) = found.values.get(Name.CUDNN_ATTR_ENGINECFG_ENGINE, (None,))
    if found.graph is not None and not _NORMS.isdisjoint(_operations(found.graph)):
        return False
    notes = _numbers(engine, Name.CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, Type.CUDNN_TYPE_BEHAVIOR_NOTE)
    return notes is None or Note.CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION in notes


_QUESTIONS: dict[Kind | None, Any] = {
    _HEURISTICS: _heuristics,
    _ENGINE: _engine,
    _CONFIG: _config,
}


def _operations(graph: backend.Descriptor) -> tuple[Kind | None, ...]:
    return graph.children(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)


def _engines(graph: backend.Descriptor) -> tuple[int, ...]:
    """The engines of a graph that open cuBLASLt, or may."""
    operations = _operations(graph)
    # Of a product this depends on data types and on the operations after it, in each version in
    # another way: 9.8 opens it for a bias too, 9.10 does not. Attention has two products or more.
    if operations.count(_MATMUL) == 1:
        return (0,)
    convolutions = [each for each in operations if each in _OF_CONVOLUTIONS]
    name = Name.CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT
    count = _numbers(graph, name, Type.CUDNN_TYPE_INT64) if convolutions else None
    if not convolutions or (count is not None and count[0] < _MANY):
        return ()
    return _OF_CONVOLUTIONS[convolutions[0]] if len(operations) == 1 else _OF_BIASED_CONVOLUTION


def _chooses(config: backend.Descriptor, knob: Knob) -> bool:
    choices = config.values.get(Name.CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, ())
    return any(
        isinstance(each, backend.Descriptor)
        and each.values.get(Name.CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) == (knob,)
        and each.values.get(Name.CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE) != (-1,)
        for each in choices
    )


def _numbers(descriptor: Any, name: Name, type_: Type) -> list[int] | None:
    """The numbers that a finalized descriptor has for an attribute; None if it is unknown."""
    if not isinstance(descriptor, backend.Descriptor):
        return None
    if backend.known(descriptor.address) is not descriptor:  # destroyed
        return None
    from ..function import binding

    count = ctypes.c_int64()
    array: Any = (ctypes.c_int64 * 1)() if type_ == Type.CUDNN_TYPE_INT64 else (ctypes.c_int * 32)()
    read = binding("cudnnBackendGetAttribute").native
    status = read(descriptor.address, name, type_, len(array), count, array)
    return None if status else list(array[: count.value])
