"""Read the names, arguments and defaults of NVIDIA's Python front end from its wheel.

Run it where nvidia-cudnn-frontend is installed, for instance in an environment of its own::

    python tools/frontend_names.py > tests/frontend/names.json

Only facts are kept: names of enums and members with their numbers; names, order and defaults of
arguments; kinds of results. The front end need not find a cuDNN or a GPU for it.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

CLASSES = ("pygraph", "tensor", "knob")
HIDDEN_CLASSES = ("kernel_cache", "device_properties")


def main() -> None:
    import cudnn

    module = cudnn._pybind_module
    table: dict[str, Any] = {"version": cudnn.__version__, "enums": {}, "functions": {}}
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_") or not hasattr(value, "__members__"):
            continue
        table["enums"][name] = {key: int(each) for key, each in value.__members__.items()}
    for name in sorted(cudnn.symbols_to_import):
        value = getattr(cudnn, name)
        if not inspect.isclass(value):
            table["functions"][name] = overloads(value)
    for name in ("graph", "jit", "graph_cache"):
        table["functions"][name] = [described(inspect.signature(getattr(cudnn, name)))]
    table["classes"] = {
        **{name: methods(getattr(cudnn, name)) for name in CLASSES},
        **{name: methods(getattr(module, name)) for name in HIDDEN_CLASSES},
        "Graph": {
            name: [described(inspect.signature(getattr(cudnn.Graph, name)))]
            for name in ("__init__", "set_io_tuples")
        },
    }
    print(text(table))


def text(value: Any, depth: int = 3, indent: str = "") -> str:
    """JSON with a line for each function or enum."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value)
    more = indent + " "
    lines = [f"{more}{json.dumps(key)}: {text(v, depth - 1, more)}" for key, v in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def methods(cls: Any) -> dict[str, Any]:
    found = {}
    for name in sorted(dir(cls)):
        value = getattr(cls, name)
        if name == "__init__" or (not name.startswith("_") and callable(value)):
            found[name] = overloads(value)
    return {name: each for name, each in found.items() if each}


def overloads(function: Any) -> list[dict[str, Any]]:
    """All signatures of one function: of Python's, or in the docstring that pybind11 wrote."""
    if inspect.isfunction(function):
        return [described(inspect.signature(function))]
    text = (function.__doc__ or "").replace("cudnn._compiled_module.", "")
    found = re.findall(r"^(?:\d+\. )?\w+\((.*)\) -> (.*)$", text, re.MULTILINE)
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
            entry.append(repr(each.default))
        parameters.append(entry)
    return {"parameters": without_self(parameters), "returns": ""}


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
    return [each for each in stripped if each.partition(":")[0] != "self"]


def without_self(parameters: list[list[str]]) -> list[list[str]]:
    return [each for each in parameters if each[0] != "self"]


if __name__ == "__main__":
    main()
