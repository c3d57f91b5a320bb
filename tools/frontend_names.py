"""Read the names, arguments and defaults of NVIDIA's Python front end from its wheel.

Run it where nvidia-cudnn-frontend is installed, for instance in an environment of its own::

    python tools/frontend_names.py > tests/frontend/names.json

Only facts are kept: names of enums and members with their numbers; names, order and defaults of
arguments; kinds of results. The front end must find a cuDNN, but needs no GPU.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
from collections.abc import Iterable
from typing import Any

PLAIN_CLASSES = ("Tensor", "Handle", "DeviceInfo", "GraphContext", "Node")
COMPILED_CLASSES = ("tensor", "knob", "kernel_cache", "device_properties")
# Its package has more than cuDNN's work: what is in these modules is named, and not looked into.
SUBPACKAGES = ("engines", "experimental", "fla", "gnn", "jax", "ops", "torch", "wrapper")
# Of these the names are compared, too.
EXPORTING = ("ops", "experimental.ops")


def main() -> None:
    import cudnn

    table = {
        "version": cudnn.__version__,
        "enums": enums(cudnn),
        "constants": constants(cudnn),
        "functions": functions(cudnn),
        "classes": classes(cudnn),
        "builders": builders(cudnn),
        "kernels": sorted(cudnn._LAZY_OPTIONAL_IMPORTS),
        "modules": sorted(SUBPACKAGES),
        "exports": {name: sorted(exports(cudnn, name)) for name in EXPORTING},
    }
    print(text(table))


def enums(cudnn: Any) -> dict[str, dict[str, int]]:
    found = {}
    for name in public(dir(cudnn._pybind_module)):
        value = getattr(cudnn._pybind_module, name)
        if hasattr(value, "__members__"):
            found[name] = {key: each.value for key, each in value.__members__.items()}
    # Numbers of this one are those of Python's ``auto()``.
    found["NodeType"] = {each.name: each.value for each in cudnn.NodeType}
    return found


def constants(cudnn: Any) -> dict[str, int]:
    return {name: value for name, value in vars(cudnn).items() if type(value) is int}


def functions(cudnn: Any) -> dict[str, list[dict[str, Any]]]:
    """What the module exports, and the compiled functions of cuDNN's that it passes on."""
    modules = {"cudnn", "cudnn.graph", cudnn._pybind_module.__name__}
    found = {}
    for name in public(vars(cudnn)):
        value = getattr(cudnn, name)
        if callable(value) and not inspect.isclass(value) and value.__module__ in modules:
            found[name] = overloads(value)
    return {name: each for name, each in found.items() if each}


def classes(cudnn: Any) -> dict[str, Any]:
    compiled = cudnn._pybind_module
    found = {name: members(getattr(compiled, name)) for name in COMPILED_CLASSES}
    found |= {name: members(getattr(cudnn, name)) for name in PLAIN_CLASSES}
    # What a graph has that was built: methods that are not found go to the compiled one.
    graph = members(cudnn.pygraph)
    made = set(cudnn._pygraph._STRUCTURED_OPS) | set(cudnn._pygraph._CAPTURED_OPS)
    made |= set(cudnn.pygraph._POINTWISE_TENSOR_ARGS)
    found["pygraph"] = members(cudnn._pybind_module.backend_graph) | {
        name: each for name, each in graph.items() if name not in made
    }
    found["Graph"] = {
        name: overloads(getattr(cudnn.Graph, name)) for name in ("__init__", "set_io_tuples")
    }
    return {name: dict(sorted(each.items())) for name, each in found.items()}


def builders(cudnn: Any) -> dict[str, dict[str, Any]]:
    """The methods of a graph that its tables make: operands by place, and further keywords."""
    graph, found = cudnn._pygraph, {}
    for name, operands in cudnn.pygraph._POINTWISE_TENSOR_ARGS.items():
        found[name] = {"places": list(operands), "keywords": []}
    for name, spec in graph._STRUCTURED_OPS.items():
        found[name] = {
            "type": spec["node_type"].name,
            "places": [*spec["inputs"], *spec.get("attrs", ())],
            "keywords": [
                *spec.get("keyword_inputs", ()),
                *spec.get("list_inputs", ()),
                "out_dims",
            ],
            "results": list(spec["outputs"]),
            "python_only": bool(spec.get("python_only", False)),
        }
    own = ("python_only_attrs", "python_only_in_kwargs", "python_only_out_kwargs")
    for name, spec in graph._CAPTURED_OPS.items():
        found[name] = {
            "type": spec["node_type"].name,
            "places": list(spec["pos"]),
            "keywords": [*(each for key in own for each in spec.get(key, ())), "out_dims"],
            "results": list(spec["outputs"]),
            "python_only": False,
        }
    return found


def exports(cudnn: Any, module: str) -> list[str]:
    """What a subpackage says that it has; nothing of it is loaded."""
    return list(importlib.import_module(f"{cudnn.__name__}.{module}").__all__)


def public(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("_"))


def text(value: Any, depth: int = 3, indent: str = "") -> str:
    """JSON with a line for each function or enum."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value)
    more = indent + " "
    lines = [f"{more}{json.dumps(key)}: {text(v, depth - 1, more)}" for key, v in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def members(cls: Any) -> dict[str, Any]:
    """Methods by their overloads; None for whatever else is there."""
    found: dict[str, Any] = dict.fromkeys(getattr(cls, "__dataclass_fields__", ()))
    for name in sorted(dir(cls)):
        value = getattr(cls, name)
        if name.startswith("_") and name != "__init__":
            continue
        if not callable(value):
            found[name] = None
        elif overloads(value):
            found[name] = overloads(value)
    return found


def overloads(function: Any) -> list[dict[str, Any]]:
    """All signatures of one function: of Python's, or those that its docstring begins with."""
    if inspect.isfunction(function):
        return [described(inspect.signature(function))]
    text = (function.__doc__ or "").replace("cudnn._compiled_module.", "")
    # Where there are several, they come a second time, with numbers.
    found = re.findall(r"^\w+\((.*)\) -> (.*)$", text, re.MULTILINE)
    return [
        {"parameters": [parameter(each) for each in split(inside)], "returns": kind(result)}
        for inside, result in found
    ]


def described(signature: inspect.Signature) -> dict[str, Any]:
    parameters = []
    for each in signature.parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        entry: list[str] = [each.name]
        if each.default is not each.empty:
            entry.append(plain(each.default))
        parameters.append(entry)
    return {"parameters": [each for each in parameters if each[0] != "self"], "returns": ""}


def plain(value: Any) -> str:
    """A default as text, the same in each process."""
    if isinstance(value, enum.Enum) or hasattr(value, "__members__"):
        return str(value)
    shown = repr(value)
    return "..." if " at 0x" in shown or "factory" in shown else shown


def parameter(text: str) -> list[str]:
    name, _, rest = text.partition(":")
    _, equals, default = rest.partition(" = ")
    return [name.strip(), default] if equals else [name.strip()]


def kind(result: str) -> str:
    return "list" if result.startswith(("list", "Annotated[list")) else result


def split(inside: str) -> list[str]:
    """The parameters but ``self``; commas within brackets separate none."""
    parts, depth = [""], 0
    for character in inside:
        depth += (character in "[(<{") - (character in "])>}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    stripped = [each.strip() for each in parts if each.strip()]
    return [each for each in stripped if each.partition(":")[0] != "self" and each != "/"]


if __name__ == "__main__":
    main()
