"""Operations with docstrings in full: what another operation, or all of them, say is said once.

The source of a docstring tells what is the operation's own. ``help`` and the site also show the
parameters and errors of operations that it names ("The other parameters, and the errors, are those
of `pooling_forward`"), those that mean the same everywhere, and the result.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from ..runtime.launching import operation

F = TypeVar("F", bound=Callable[..., Any])

COMMON: Mapping[str, tuple[str, str]] = {
    "handle": ("Handle", "Its device and stream carry the call out."),
    "stream": ("stream or address, optional", "Default: CUDA's legacy default stream."),
    "alpha": ("float", "Factor of the result."),
    "beta": ("float", "Factor of what the output held; with 0 that is not read."),
    "workspace": ("DeviceBuffer or tensor, optional", "Default: allocated for the call."),
    "conv": ("ConvolutionDescriptor", "How filters move over images, and in what sums are made."),
    "pooling": ("PoolingDescriptor", "The window, how it moves, and whether maximum or mean."),
    "lrn": ("LRNDescriptor", "The size of the window over channels, and the factors."),
    "dropout": ("DropoutDescriptor", "The rate, and the states of the generator."),
    "transformer": ("SpatialTransformerDescriptor", "The shape of the output, and its type."),
    "attn": ("AttnDescriptor", "Heads, projections and their sizes."),
    "loss": ("CTCLossDescriptor", "Normalization, and what NaN and infinity become."),
    "rnn": ("RNNDescriptor", "The cell, its layers and sizes."),
    "transform": ("TensorTransformDescriptor", "The layout that comes out, padding and folding."),
    "params": ("GnnMhaParams", "Heads, and the activation of the scores."),
    "graph": ("GnnCscGraph", "The edges, by their destinations."),
}
"""Parameters that mean the same wherever no docstring says otherwise: type and meaning."""

MEMORY = "How the memory is read. Default: as the tensor says; needed for addresses and buffers."
_ERRORS = {
    "TypeError": "If an operand is host memory, has no shape, or is of another type.",
    "ValueError": "If shapes or types do not fit together, or memory is too small; the message\n"
    "names the argument.",
    "NotSupportedError": "If cuDNN has no kernel for the combination.",
}
_ERRORS_OF_QUERIES = {
    "TypeError": "If an argument is of another type.",
    "ClosedError": "If a handle or descriptor is closed.",
}

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_REFERENCE = re.compile(
    r"^The ([^.]*?)\s+(?:are|is) those of\s+((?:`[\w.]+`(?:\s+and\s+of\s+)?)+)\.\n*", re.MULTILINE
)


class _Entry(NamedTuple):
    type: str
    text: str


class _Told(NamedTuple):
    parameters: Mapping[str, _Entry]
    errors: Mapping[str, _Entry]


_told: dict[str, _Told] = {}
"""The entries of operations' docstrings, by name."""


def launched(function: F) -> F:
    """`operation.launched`, with the docstring in full."""
    return operation.launched(documented(function, _ERRORS))


def launched_by_alignment(function: F) -> F:
    """`operation.launched` by alignment, with the docstring in full."""
    return operation.launched(documented(function, _ERRORS), by_alignment=True)


def documented(function: F, errors: Mapping[str, str] = _ERRORS_OF_QUERIES) -> F:
    """A function with its docstring in full, and with the `errors` where it names no others."""
    if function.__doc__ is None:  # python -OO
        return function
    text = inspect.cleandoc(function.__doc__)
    like: list[tuple[str, _Told]] = []
    for what, names in _REFERENCE.findall(text):
        like += [(what, _told_by(name, function)) for name in re.findall(r"`([\w.]+)`", names)]
    summary, *parts = _SECTION.split(_REFERENCE.sub("", text))
    sections = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    own, raises = _entries(sections.get("Parameters", "")), _entries(sections.get("Raises", ""))
    inherited = [told.parameters for what, told in like if "parameters" in what]
    signature = inspect.signature(function)
    parameters = {
        name: entry
        for name, each in signature.parameters.items()
        if (entry := _first(each, own, *inherited, _common(name, each))) is not None
    }
    defaults = {name: _Entry("", meaning) for name, meaning in errors.items()}
    for told in [told.errors for what, told in like if "errors" in what] or [defaults]:
        raises = {**told, **raises}
    _told[function.__qualname__] = _Told(parameters, raises)
    result = _result(signature, function)
    sections = {
        "Parameters": _lines(parameters),
        "Returns": sections.pop("Returns", result),
        "Raises": _lines(raises),
        **{name: text for name, text in sections.items() if name not in ("Parameters", "Raises")},
    }
    titled = (f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items() if text)
    function.__doc__ = "\n\n".join((summary.strip(), *titled))
    return function


def _told_by(name: str, speaker: Callable[..., Any]) -> _Told:
    """The entries of the operation of this name; methods name others of their class."""
    beside = f"{speaker.__qualname__.rpartition('.')[0]}.{name}"
    if beside not in _told and name not in _told:
        getattr(importlib.import_module(__package__), name)  # loads its module
    return _told[beside] if beside in _told else _told[name]


def _entries(section: str) -> dict[str, _Entry]:
    """The entries of a section by name."""
    found: dict[str, _Entry] = {}
    for head, text in re.findall(r"^(\S.*)\n((?:(?: +.*)?\n?)*)", section, re.MULTILINE):
        names, _, kind = head.partition(" : ")
        entry = _Entry(kind, inspect.cleandoc(text).strip())
        found |= dict.fromkeys((name.strip().lstrip("*") for name in names.split(",")), entry)
    return found


def _first(parameter: inspect.Parameter, *told: Mapping[str, _Entry]) -> _Entry | None:
    """The first that is said of a parameter's type, and of its meaning."""
    entries = [each[parameter.name] for each in told if parameter.name in each]
    if not entries:
        return None
    kind = next((each.type for each in entries if each.type), "")
    if parameter.default is parameter.empty:
        kind = kind.removesuffix(", optional")
    return _Entry(kind, next((each.text for each in entries if each.text), ""))


def _common(name: str, parameter: inspect.Parameter) -> dict[str, _Entry]:
    if name.endswith("_desc"):
        kind = str(parameter.annotation).partition(" |")[0]
        return {name: _Entry(f"{kind}, optional", MEMORY)}
    return {name: _Entry(*COMMON[name])} if name in COMMON else {}


def _result(signature: inspect.Signature, function: Callable[..., Any]) -> str:
    """The result by its annotation: memory that is given or made, or a tuple.

    A tuple's own docstring gets to name the function for an example.
    """
    annotation = str(signature.return_annotation)
    if annotation == "Made":
        given = (n for n, p in signature.parameters.items() if str(p.annotation).startswith("Made"))
        return f"DeviceTensor, or {next(given)} as it was given"
    kind = function.__globals__.get(annotation)
    if not (isinstance(kind, type) and issubclass(kind, tuple)):
        return ""
    if "xample" not in (text := inspect.cleandoc(kind.__doc__ or "")):
        about, *sections = re.split(r"\n\n(?=Attributes\n)", text)
        example = f"For an example see `{function.__qualname__}`."
        kind.__doc__ = "\n\n".join((about, example, *sections))
    return annotation


def _lines(entries: Mapping[str, _Entry]) -> str:
    """A section; neighbours of which the same is said share an entry."""
    lines: list[str] = []
    for entry, group in groupby(entries.items(), key=lambda each: each[1]):
        lines.append(" : ".join(filter(None, (", ".join(name for name, _ in group), entry.type))))
        lines += [f"    {line}".rstrip() for line in entry.text.splitlines()]
    return "\n".join(lines)
