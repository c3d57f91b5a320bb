"""Docstrings with what they leave to others: the parameters and errors of a function or class.

In the source a parameter that is like another function's is told once: "The other parameters are
those of `pooling_forward`", or by the class for the methods that set it. A page of the site has
all of them; this puts them together, and tests see what no docstring tells.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter

import cudnn_ctypes
from cudnn_ctypes import Graph, graph, raw, reference
from cudnn_ctypes.legacy import documentation

__all__ = ["COMMON", "complete", "complete_docstring", "completed", "unknown", "untold"]

COMMON = {
    **documentation.COMMON,
    "name": ("str, optional", "What messages and `execute` call it. Default: by its operation."),
    "compute_data_type": ("data type, optional", "Default: the graph's."),
}
"""Parameters that mean the same wherever no docstring says otherwise."""

_REFERENCE = re.compile(
    r"[^.\n]*\b(?:those of|than|as(?: for| in)?|see|gradients? of|way back of)\s+`[\w.]+`[^.]*",
    re.IGNORECASE,
)
_NAMED = re.compile(r"`([A-Za-z_][\w.]*)`")
_MADE = re.compile(r"\b[Mm]ade by\b|\bmakes? (?:it|one|them)\b")


def parameters(item: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, method or class that users give."""
    signature = inspect.signature(item)
    return {n: each for n, each in signature.parameters.items() if n not in ("self", "cls")}


def documented(item: Any) -> dict[str, Parameter]:
    """What a docstring itself says of parameters and attributes, by name."""
    told: dict[str, Parameter] = {}
    text = NumpyDocString(inspect.getdoc(item) or "")
    for section in ("Parameters", "Other Parameters", "Attributes"):
        for each in text[section]:
            names = [name.strip().lstrip("*") for name in each.name.split(",")]
            if all(name.isidentifier() for name in names):
                told |= {name: Parameter(name, each.type, each.desc) for name in names}
    return told


def _find(name: str, owner: type | None, speaker: Any) -> Any:
    """A public function, class or method of which a docstring speaks.

    Functions of the NumPy reference speak of each other, by their modules or in one module.
    """
    first, _, method = name.partition(".")
    if speaker.__module__.startswith(f"{reference.__name__}."):
        place = f"{reference.__name__}.{first}" if method else speaker.__module__
        item = getattr(importlib.import_module(place), method or name, None)
    elif method:
        item = getattr(getattr(cudnn_ctypes, first, None), method, None)
    elif owner is not None and hasattr(owner, name):
        item = getattr(owner, name)
    elif name in cudnn_ctypes.__all__:
        item = getattr(cudnn_ctypes, name)
    else:
        item = getattr(Graph, name, None) or getattr(graph, name, None)
    item = getattr(item, "__func__", item)
    return item if inspect.isroutine(item) or isinstance(item, type) else None


def _references(item: Any, owner: type | None, what: str) -> Iterator[Any]:
    """The functions to which a docstring leaves its parameters, its errors or its result."""
    for sentence in _REFERENCE.findall(inspect.getdoc(item) or ""):
        if "an example" in sentence:  # which shows, and says nothing of parameters
            continue
        if what in sentence or (what == "parameters" and "errors are" not in sentence):
            for name in _NAMED.findall(sentence):
                other = _find(name, owner, item)
                if other is not None and other is not item:
                    yield other


def resolved(item: Any, owner: type | None = None, depth: int = 3) -> dict[str, Parameter]:
    """What is said of parameters by a docstring, by those that it names, and by its class."""
    told = documented(item)
    if depth:
        for other in _references(item, owner, "parameters"):
            told = _joined(told, resolved(other, owner, depth - 1))
    # A graph's own name and types are not those of its operations.
    return _joined(told, documented(owner)) if owner not in (None, Graph) else told


def _joined(own: dict[str, Parameter], other: dict[str, Parameter]) -> dict[str, Parameter]:
    """Own entries first; what they leave out, a type perhaps, from the other ones."""
    empty = Parameter("", "", [])
    return {
        name: Parameter(name, first.type or second.type, first.desc or second.desc)
        for name in other | own
        for first, second in [(own.get(name, empty), other.get(name, empty))]
    }


def _common(name: str, parameter: inspect.Parameter) -> Parameter | None:
    if name.endswith("_desc"):
        optional = ", optional" if repr(parameter.default) == "None" else ""
        kind = str(parameter.annotation).partition(" |")[0]
        meaning = documentation.MEMORY if optional else "Of its memory."
        return Parameter(name, kind + optional, [meaning])
    return Parameter(name, COMMON[name][0], [COMMON[name][1]]) if name in COMMON else None


def complete(item: Any, owner: type | None = None) -> dict[str, Parameter | None]:
    """What is said of each parameter, in the signature's order; None for what nobody tells."""
    told = resolved(item, owner)
    return {
        name: _said(told.get(name)) or _common(name, each) or told.get(name)
        for name, each in parameters(item).items()
    }


def _said(entry: Parameter | None) -> Parameter | None:
    return entry if entry is not None and entry.desc else None


def untold(item: Any, owner: type | None = None) -> list[str]:
    """Parameters of which neither a docstring nor another that it names says anything.

    A docstring without a section for parameters tells of them in its sentences. Nobody calls a
    class that says what makes its objects.
    """
    text = inspect.getdoc(item) or ""
    if isinstance(item, type) and _MADE.search(text):
        return []
    prose = set() if re.search(r"^Parameters\n-", text, re.M) else set(re.findall(r"\w+", text))
    told = complete(item, owner)
    return [name for name, each in told.items() if each is None and name not in prose]


def unknown(item: Any) -> list[str]:
    """What a docstring calls a parameter and the signature lacks."""
    text = NumpyDocString(inspect.getdoc(item) or "")
    names = [x.strip().lstrip("*") for each in text["Parameters"] for x in each.name.split(",")]
    known = parameters(item)
    return [name for name in names if name.isidentifier() and name not in known]


def completed(item: Any, owner: type | None = None) -> list[str]:
    """The lines of a docstring with all parameters, errors and the result."""
    text = inspect.getdoc(item) or ""
    doc = NumpyDocString(text)
    told = complete(item, owner)
    sections = _sections(text)
    if not doc["Attributes"] and told and None not in told.values():
        entries = _grouped([each for each in told.values() if each is not None])
        sections["Parameters"] = _lines(entries)
    for section, what in (("Raises", "errors"), ("Returns", "result")):
        entries = _own_or_referred(item, owner, section, what)
        if section == "Returns" and not (entries or doc["Yields"] or isinstance(item, type)):
            entries = _result(item)
        if entries:
            sections[section] = _lines(entries)
    first = {name: sections.pop(name, []) for name in ("", "Parameters", "Returns", "Yields")}
    lines = []
    for name, content in {**first, "Raises": sections.pop("Raises", []), **sections}.items():
        if content:
            lines += [*([name, "-" * len(name)] if name else []), *content, ""]
    return lines


def _own_or_referred(
    item: Any, owner: type | None, section: str, what: str, depth: int = 4
) -> list[Parameter]:
    """A section's entries: the docstring's own, or those of a function to which it leaves them."""
    doc = NumpyDocString(inspect.getdoc(item) or "")
    entries = [e for e in doc[section] if not _REFERENCE.search(f"{e.name} {e.type}")]
    for other in _references(item, owner, what) if depth else ():
        entries = entries or _own_or_referred(other, owner, section, what, depth - 1)
    return entries


def _sections(text: str) -> dict[str, list[str]]:
    """The lines of a docstring by sections; those before the first by an empty name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    names = ["", *parts[1::2]]
    return {n: each.rstrip().split("\n") for n, each in zip(names, parts[::2], strict=True)}


def _lines(entries: list[Parameter]) -> list[str]:
    """A section of numpydoc."""
    lines = []
    for each in entries:
        lines.append(" : ".join(filter(None, (each.name, each.type))))
        lines += [f"    {line}" for line in each.desc]
    return lines


def _result(item: Any) -> list[Parameter]:
    """What the annotation of a result says: a public class, or a tensor that is made."""
    annotation = str(inspect.signature(item).return_annotation)
    if annotation == "Made":
        return [Parameter("", "DeviceTensor, or the output as it was given", [])]
    if annotation == "Tensor":
        return [Parameter("", "Tensor", ["Virtual until ``set_output``."])]
    if annotation in cudnn_ctypes.__all__:
        about = (inspect.getdoc(getattr(cudnn_ctypes, annotation)) or "").partition("\n\n")[0]
        return [Parameter("", annotation, about.splitlines())]
    return []


def _grouped(entries: list[Parameter]) -> list[Parameter]:
    """Neighbours of which the same is said in one entry."""
    groups: list[Parameter] = []
    for each in entries:
        if groups and groups[-1][1:] == each[1:]:
            groups[-1] = Parameter(f"{groups[-1].name}, {each.name}", each.type, each.desc)
        else:
            groups.append(each)
    return groups


def complete_docstring(
    app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]
) -> None:
    """For the event ``autodoc-process-docstring``: parameters and errors told elsewhere."""
    owner = None
    if what in ("method", "class", "function") and name.startswith("cudnn_ctypes."):
        first, _, method = name.removeprefix("cudnn_ctypes.").partition(".")
        place = getattr(cudnn_ctypes, first, None)
        if method and isinstance(place, type):
            owner = place
        function: Callable[..., Any] = getattr(item, "__func__", item)
        lines[:] = _linked(completed(function, owner))
    shape = r"(?<=[ (])\*(?=\w+[),])"  # (n, c, *spatial)
    lines[:] = [re.sub(shape, r"\\*", line) for line in lines]


def _linked(lines: list[str]) -> list[str]:
    """Lines in which functions of C are references rather than literal text."""
    return [
        re.sub(r"``(cudnn\w+)``", lambda m: f"`{m[1]}`" if m[1] in raw.FUNCTIONS else m[0], line)
        for line in lines
    ]
