"""A graph as a program for NVIDIA's Python front end."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .. import frontend
from ..graph.describe.node import Node
from ..graph.describe.serialization import canonical
from ..graph.describe.tensor import Tensor
from ..graph.graph import Graph
from ..raw.ctypes_support import CudnnEnum

_HEAD = '''\
"""NVIDIA's front end: pip install nvidia-cudnn-frontend; it needs a GPU."""
import cudnn

'''
_TAIL = """\

graph.validate()
graph.build_operation_graph()
graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
graph.check_support()
graph.build_plans()
print(graph)
"""


_SCALE = {"attn_scale": 1.0}  # the same as none


def front_end_program(graph: Graph) -> str:
    """The program that describes and builds an equal graph; "" if the front end cannot say it.

    - `graph`: validated.
    """
    try:
        body = "\n".join(_lines(graph))
        scope: dict[str, Any] = {"cudnn": frontend}
        exec(body, scope)  # with this package's front end, which has the same names
        described = scope["graph"]
        described.validate()
        same = _content(described._graph) == _content(graph)
    except Exception:  # whatever the front end does not take
        return ""
    return f"{_HEAD}{body}\n{_TAIL}" if same else ""


def _content(graph: Graph) -> Any:
    content = canonical(graph.nodes, graph.tensors)
    for each in content["tensors"]:
        for name in ("uid", "name"):
            each.pop(name, None)
    for each in content["nodes"]:
        each["options"] = {
            name: value
            for name, value in each["options"].items()
            if value is not None and value != _SCALE.get(name)
        }
    return content


def _lines(graph: Graph) -> Iterator[str]:
    names: dict[int, str] = {}
    types = {"io_data_type": graph.io_data_type, "compute_data_type": graph.compute_data_type}
    types["intermediate_data_type"] = graph.intermediate_data_type
    known = ", ".join(f"{name}={_text(each)}" for name, each in types.items() if each is not None)
    yield f"graph = cudnn.pygraph({known})"
    for node in graph.nodes:
        yield from _described(node, names)


def _described(node: Node, names: dict[int, str]) -> Iterator[str]:
    """The operands of a node that are not described yet, the node, and its results."""
    for tensor in node.operands:
        if id(tensor) in names:
            continue
        names[id(tensor)] = name = _name(tensor.name, names)
        facts: dict[str, Any] = {
            "dim": list(tensor.dims or ()),
            "stride": list(tensor.strides or ()),
        }
        facts |= {"data_type": tensor.data_type, "alignment_value": tensor.alignment}
        facts |= {"is_pass_by_value": True} if tensor.by_value else {}
        said = ", ".join(f"{key}={_text(each)}" for key, each in facts.items())
        yield f"{name} = graph.tensor(name={tensor.name!r}, {said})"
    results = [*node.outputs.values()]
    for each in results:
        names[id(each)] = _name(each.name, names)
    targets = ", ".join(names[id(each)] for each in results)
    yield f"{targets} = graph.{node.operation}({', '.join(_arguments(node, names))})"
    for each in results:
        shown = "" if each.virtual else ".set_output(True)"
        said = f"set_data_type({_text(each.data_type)}).set_dim({[*(each.dims or ())]})"
        yield f"{names[id(each)]}{shown}.{said}.set_stride({[*(each.strides or ())]})"


def _arguments(node: Node, names: Mapping[int, str]) -> Iterator[str]:
    parameters = inspect.signature(getattr(frontend.pygraph, node.operation)).parameters
    for port, tensor in node.inputs.items():
        if isinstance(tensor, Tensor):
            yield f"{port}={names[id(tensor)]}" if port in parameters else names[id(tensor)]
    if "generate_stats" in parameters:
        yield f"generate_stats={'stats' in node.outputs}"
    for option, value in node.options.items():
        default = parameters[option].default if option in parameters else value
        spelled = getattr(value, "name", "?"), getattr(default, "name", "!")
        if value not in (None, default) and not spelled[0].endswith(spelled[1]):
            yield f"{option}={_text(value)}"
    if node.compute_data_type is not None:
        yield f"compute_data_type={_text(node.compute_data_type)}"
    yield f"name={node.name!r}"


def _text(value: Any) -> str:
    """A value as Python source, with the front end's enumerators."""
    if isinstance(value, CudnnEnum):
        kind = type(value).__name__.removeprefix("cudnn").removesuffix("_t")
        words = {"DataType": "data_type", "ReduceTensorOp": "reduction_mode"}
        last = {"ReduceTensorOp": "CUDNN_REDUCE_TENSOR_", "DataType": "CUDNN_DATA_"}
        return f"cudnn.{words[kind]}.{value.name.removeprefix(last[kind])}"
    return repr(list(value) if isinstance(value, tuple) else value)


def _name(text: str, taken: Mapping[int, str]) -> str:
    name = re.sub(r"\W", "_", text) or "tensor"
    name = f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
    while name in taken.values() or name in ("graph", "cudnn"):
        name += "_"
    return name
