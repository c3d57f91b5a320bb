"""The reference pages of the site, from the code: ``docs/conf.py`` has them written at each build.

A page for each C function, each public class and function, each graph operation, each example and
each notebook, and one for all enums and structs. Nothing is written here that the package does not
say itself.
"""

from __future__ import annotations

import enum
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cudnn_ctypes
from cudnn_ctypes import Graph, frontend, raw, reference
from cudnn_ctypes.commands.doctor.coverage import Row, table
from cudnn_ctypes.raw import enums, types
from cudnn_ctypes.raw.describe import documentation, parameter_type, uses
from cudnn_ctypes.raw.function import Function
from cudnn_ctypes.raw.parameter import Parameter

from .atlas_pages import write_atlas
from .course_pages import write_course
from .fault_pages import write_faults
from .page_parts import CONTENTS, auto, code, drop_others, grid, keywords, summary, title, write
from .release_pages import write_statuses, write_versions
from .tool_pages import write_tools

__all__ = ["reference_names", "write_reference"]


# --- C functions ---------------------------------------------------------------------------------


def function_pages() -> None:
    rows = {row.function: row for row in table()}
    headers: dict[str, list[str]] = {}
    for name, function in raw.FUNCTIONS.items():
        headers.setdefault(function.header, []).append(name)
        found_by = f"```{{eval-rst}}\n{keywords(name)}\n```"
        write(f"c/{name}.md", *function_page(name, function, rows[name]), found_by)
    parts = [
        "# C functions",
        "All functions of cuDNN's headers, as `cudnn_ctypes.raw` declares them. "
        "`python -m cudnn_ctypes lookup NAME` says the same in a terminal, and shows NVIDIA's own "
        "words from the headers that are installed.",
    ]
    for header, names in headers.items():
        listed = (
            (f"[`{name}`]({name}.md)", raw.FUNCTIONS[name].since, ", ".join(user_links(name)))
            for name in names
        )
        parts += [f"## {header}", grid(("function", "since", "in Python"), listed)]
    write("c/index.md", *parts, CONTENTS)


def function_page(name: str, function: Function, row: Row) -> Iterator[str]:
    yield f"# {name}"
    yield code(documentation(name).partition("\n\n")[0], "c")
    yield grid(("parameter", "direction", "what"), map(parameter_row, function.parameters))
    facts = [f"In `{function.header}` since cuDNN {function.since}."]
    if function.deprecated:
        instead = function.replaced_by
        facts.append(f"Deprecated{f'; its successor is {successor(instead)}' if instead else ''}.")
    yield " ".join(facts)
    used = list(user_links(name))
    yield f"In Python: {', '.join(used)}." if used else f"No class uses it: {row.reason}."
    counterparts = list(graph_counterparts(function))
    if counterparts:
        yield f"In the graph API: {', '.join(counterparts)}."
    for module, item in formulas_of(name):
        yield f"It computes ([{item.__name__}](../numpy/{module}.rst) in NumPy):"
        yield code(re.sub(r":? `\w+`\.", "", first_paragraphs(item)).replace("`", ""), "text")
    yield (
        "On the reference device "
        + {
            "NumPy": "NumPy carries it out.",
            "cuDNN itself": "cuDNN itself does: it needs no GPU.",
            "no": "nothing carries it out; it says so.",
        }[row.reference_device]
    )
    if row.succeeded:
        yield f"Tests have run it on a GPU with cuDNN {', '.join(row.succeeded)}."
    yield from example_of(name)


def example_of(name: str) -> Iterator[str]:
    """The example of its class or operation, and the program that calls it."""
    owners = [each.partition(".")[0] for each in uses()[name][0].split()]
    for user in [*users(name), *(each for each in dict.fromkeys(owners) if each in public())]:
        lines = (inspect.getdoc(public()[user]) or "").partition("\nExamples\n--------\n")[2]
        if ">>> " in lines:
            yield f"Example of [`{user}`](../api/{user}.rst):"
            yield code(lines.strip("\n"), "pycon")
            break
    program = uses()[name][1]
    if program:
        yield f"A program that calls it: [{program}](../examples/{Path(program).stem}.md)."


def parameter_row(parameter: Parameter) -> tuple[str, str, str]:
    kind = parameter_type(parameter)
    name = kind.removeprefix("pointer to ")
    if name in enums.__all__ or name in types.__all__:
        kind = kind.replace(name, f"[{name}](../types.md#{name.lower()})")
    return f"`{parameter.name}`", parameter.direction, kind


def successor(name: str) -> str:
    return f"[`{name}`]({name}.md)" if name in raw.FUNCTIONS else f"`{name}`"


def user_links(name: str) -> Iterator[str]:
    """Public names by what uses the function: those whose text names it first."""
    texts = [*users(name), *(each for each in uses()[name][0].split() if "." in each)]
    for used_by in dict.fromkeys(texts or uses()[name][0].split()):
        owner = used_by.partition(".")[0]
        known = owner in public()
        yield f"[`{used_by}`](../api/{owner}.rst)" if known else f"`{used_by}`"


def users(name: str) -> list[str]:
    """Public classes and functions that call a C function, or say that they follow it."""
    named = [each for each in uses()[name][0].split() if each in public()]
    follow = [
        each
        for each, item in public().items()
        if inspect.isroutine(item) and re.search(rf"\b{name}\b", first_paragraphs(item))
    ]
    return list(dict.fromkeys([*follow, *named]))


def graph_counterparts(function: Function) -> Iterator[str]:
    """The operations of a graph that the successor of a deprecated function is."""
    descriptor = function.replaced_by
    if not descriptor.startswith("CUDNN_BACKEND_OPERATION_"):
        return
    if descriptor == "CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR":
        yield "a [pointwise operation](../graph/pointwise.rst)"
        return
    for name, method in operations().items():
        if re.search(rf"\b{descriptor}\b", method.__doc__ or ""):
            yield f"[`Graph.{name}`](../graph/{name}.rst)"


@functools.cache
def numpy_modules() -> dict[str, ModuleType]:
    """The modules of the NumPy reference with functions that users read, by their short names."""
    modules = {
        each.name: importlib.import_module(f"{reference.__name__}.{each.name}")
        for each in pkgutil.iter_modules(reference.__path__)
        if not each.ispkg and not each.name.startswith("_")
    }
    return {name: module for name, module in modules.items() if numpy_functions(module)}


def numpy_functions(module: ModuleType) -> list[Any]:
    """The public functions of a module of the reference."""
    functions = [item for _, item in inspect.getmembers(module, inspect.isfunction)]
    return [
        each
        for each in functions
        if each.__module__ == module.__name__ and not each.__name__.startswith("_") and each.__doc__
    ]


def formulas_of(name: str) -> Iterator[tuple[str, Any]]:
    """Functions of the NumPy reference whose text names a C function, with their modules."""
    for short, module in numpy_modules().items():
        for item in numpy_functions(module):
            if re.search(rf"`{name}`", item.__doc__):
                yield short, item


@functools.cache
def first_paragraphs(item: Any) -> str:
    return (inspect.getdoc(item) or "").partition("\nParameters\n")[0].strip()


def numpy_pages() -> None:
    rows = []
    for short, module in numpy_modules().items():
        rows.append((f"[`{short}`]({short}.rst)", summary(module)))
        names = (f"{module.__name__}.{each.__name__}" for each in numpy_functions(module))
        texts = [auto("function", name) for name in names]
        introduction = auto("module", module.__name__)
        write(f"numpy/{short}.rst", title(f"reference.{short}"), introduction, *texts)
    write(
        "numpy/index.md",
        "# What each operation computes",
        "`cudnn_ctypes.reference` states it in plain NumPy, written for reading.",
        grid(("module", "what"), rows),
        CONTENTS,
    )


# --- enums, structs and handles ------------------------------------------------------------------


def type_page() -> None:
    parts = [
        "# C types",
        "Enums, structs, handles and callbacks of cuDNN's headers. "
        "`python -m cudnn_ctypes lookup NAME` says what an enumerator or a macro means.",
    ]
    for module in (enums, types):
        for name in module.__all__:
            if not isinstance(getattr(module, name), int):  # an enumerator is told by its enum
                parts += [f"## {name}", code(documentation(name), "text")]
    write("types.md", *parts)


# --- classes, functions, operations --------------------------------------------------------------


FAMILIES = {
    "Graph API": "Backend",
    "RNN": "RNN",
    "Attention": "Attn|SeqData",
    "CTC": "CTC",
    "Fused operations": "FusedOps",
    "Convolution": "Convolution|Im2Col|Fold",
    "Batch norm": "BatchNorm",
    "Norms": "Normalization|LRN",
    "Pooling": "Pooling",
    "Softmax": "Softmax",
    "Activation": "Activation",
    "Dropout": "Dropout",
    "Spatial transformer": "Spatial",
    "Tensors and filters": "Tensor|Filter",
    "The library": "",
}
"""Families of C functions, by words of their names; the first that fits counts."""


def families() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name in sorted(raw.FUNCTIONS):
        found[next(family for family, words in FAMILIES.items() if re.search(words, name))] += [
            name
        ]
    return found


def by(key: Callable[[Any], str], items: dict[str, Any]) -> dict[str, list[str]]:
    """Names in groups, each in alphabetical order."""
    found: dict[str, list[str]] = {}
    for name in sorted(items, key=str.lower):
        found.setdefault(key(items[name]), []).append(name)
    return dict(sorted(found.items()))


def module_title(item: Any) -> str:
    """The last name of the module of an operation: "Batch normalization"."""
    return str(item.__module__.rpartition(".")[2]).replace("_", " ").capitalize()


def reference_names() -> dict[str, dict[str, list[str]]]:
    """The pages of folders that have many, by family, as their sidebar lists them."""
    rooms = by(room_of, public())
    return {
        "reference/c/": families(),
        "reference/api/": {ROOMS[room]: rooms[room] for room in ROOMS if room in rooms},
        "reference/graph/": by(module_title, operations()),
        "reference/numpy/": {"Modules": sorted(numpy_modules())},
        "reference/frontend/": by(kind_of, front_end()),
    }


@functools.cache
def public() -> dict[str, Any]:
    """All public classes and functions."""
    found = {name: getattr(cudnn_ctypes, name) for name in cudnn_ctypes.__all__}
    return {
        n: item for n, item in found.items() if inspect.isclass(item) or inspect.isroutine(item)
    }


ROOMS = {
    "": "The library, its handle and its errors",
    "runtime": "Device memory, streams and events",
    "legacy": "Layer 2: the legacy API",
    "graph": "Layer 3: the graph API",
    "evidence": "Seeing what happens",
    "reference": "The reference device",
}


def mark(module: str) -> str:
    """Whether the names of a module may change in any release, as its docstring says."""
    text = importlib.import_module(module).__doc__ or ""
    return "Provisional" if "\nProvisional: " in text else "Stable"


def room_of(item: Any) -> str:
    parts = item.__module__.split(".")
    return parts[1] if len(parts) > 2 and parts[1] in ROOMS else ""


def api_pages() -> None:
    rooms: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name, item in public().items():
        rooms[room_of(item)].append(name)
        write(
            f"api/{name}.rst",
            keywords(name),
            title(name),
            f"``from cudnn_ctypes import {name}``",
            documented(name, item),
            c_functions(name),
        )
    parts = ["# Classes and functions", "Every public name of `cudnn_ctypes`."]
    for room, names in rooms.items():
        rows = ((f"[`{name}`]({name}.rst)", summary(public()[name])) for name in sorted(names))
        module = f"cudnn_ctypes.{room}".rstrip(".")
        parts += [f"## {ROOMS[room]}", f"{mark(module)}.", grid(("name", "what"), rows)]
    write("api/index.md", *parts, CONTENTS)


def documented(name: str, item: Any) -> str:
    """The docstring of a class with its members, or of a function."""
    if not isinstance(item, type):
        return auto("function", f"cudnn_ctypes.{name}")
    error = issubclass(item, BaseException)
    options = [] if error else ["members:", "inherited-members:"]
    if item is Graph:
        options.append(f"exclude-members: {', '.join(operations())}")
    return auto("exception" if error else "class", f"cudnn_ctypes.{name}", *options)


def c_functions(name: str) -> str:
    used = [
        f":doc:`{function} <../c/{function}>`"
        for function, (users, _) in uses().items()
        if any(each.partition(".")[0] == name for each in users.split())
    ]
    return f"C functions: {', '.join(used)}." if used else ""


@functools.cache
def operations() -> dict[str, Any]:
    """The methods of `Graph` that describe an operation; those of its base describe tensors."""
    return {
        name: method
        for name, method in inspect.getmembers(Graph, inspect.isfunction)
        if not name.startswith("_")
        and ".describe.operations." in method.__module__
        and not method.__module__.endswith(".base")
    }


def operation_pages() -> None:
    rows = []
    for name, method in operations().items():
        rows.append((f"[`{name}`]({name}.rst)", summary(method)))
        text = auto("method", f"cudnn_ctypes.Graph.{name}")
        write(f"graph/{name}.rst", keywords(name), title(f"Graph.{name}"), text)
    write(
        "graph/index.md",
        "# Graph operations",
        "The methods of [`Graph`](../api/Graph.rst) that describe an operation.",
        grid(("operation", "what"), rows),
        CONTENTS,
    )


# --- NVIDIA's front end, and PyTorch -------------------------------------------------------------


def kind_of(item: Any) -> str:
    return "Classes" if isinstance(item, type) else "Functions"


@functools.cache
def front_end() -> dict[str, Any]:
    """The classes and functions with the names of NVIDIA's Python front end, but for enums."""
    found = {name: getattr(frontend, name) for name in frontend.__all__}
    return {
        name: item
        for name, item in found.items()
        if not isinstance(item, enum.EnumMeta)
        and (inspect.isclass(item) or inspect.isroutine(item))
    }


def front_end_pages() -> None:
    for name, item in front_end().items():
        is_class = isinstance(item, type)
        kind = "function"
        if is_class:
            kind = "exception" if issubclass(item, BaseException) else "class"
        options = ["members:", "inherited-members:"] if kind == "class" else []
        text = auto(kind, f"cudnn_ctypes.frontend.{name}", *options)
        write(f"frontend/{name}.rst", title(f"frontend.{name}"), text)
    listed = {name: getattr(frontend, name) for name in frontend.__all__}
    enums_of = {n: item for n, item in listed.items() if isinstance(item, enum.EnumMeta)}
    methods = len([name for name in dir(frontend.pygraph) if not name.startswith("_")])
    parts = [
        "# Names of NVIDIA's front end",
        f"`import cudnn_ctypes.frontend as cudnn` in place of `import cudnn`. "
        f"[`pygraph`](pygraph.rst) has {methods} methods. "
        "[Porting](../../porting.md) has a program, and what is left out.",
    ]
    for group, names in by(kind_of, front_end()).items():
        rows = ((f"[`{name}`]({name}.rst)", summary(front_end()[name])) for name in names)
        parts += [f"## {group}", grid(("name", "what"), rows)]
    rows = (
        (f"`{n}`", ", ".join(f"`{each}`" for each in e.__members__)) for n, e in enums_of.items()
    )
    write("frontend/index.md", *parts, "## Enums", grid(("enum", "members"), rows), CONTENTS)


def torch_page() -> None:
    """Operators of PyTorch; their texts need PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return
    module = importlib.import_module("cudnn_ctypes.torch_ops")
    theirs = importlib.import_module("cudnn_ctypes.torch_ops.front_end")
    parts = [title("Operators of PyTorch")]
    for each in (module, theirs):
        parts.append(auto("module", each.__name__))
        parts += [auto("function", f"{each.__name__}.{name}") for name in each.__all__]
    write("torch.rst", *parts)


def write_reference() -> None:
    """Write all pages."""
    function_pages()
    numpy_pages()
    type_page()
    write_versions()
    write_statuses()
    write_faults()
    write_atlas()
    api_pages()
    operation_pages()
    front_end_pages()
    torch_page()
    write_course()
    write_tools()
    drop_others()
