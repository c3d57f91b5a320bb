"""Docstrings of all public names, by numpydoc's checks as far as the house's style means them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import cudnn_ctypes

validation = pytest.importorskip("numpydoc.validate")

CHECKS = {
    "GL03": "no double blank lines",
    "GL05": "no tabs",
    "GL06": "no unknown sections",
    "GL07": "sections in order",
    "GL08": "there is one",
    "SS03": "the summary ends with a period",
    "SS04": "the summary is not indented",
    "SS06": "the summary is one line",
    "PR03": "parameters in order",
    "PR09": "descriptions end with a period",
    "PR10": "a blank before the colon of a parameter",
    "RT02": "types of results alone on their line",
    "RT05": "descriptions of results end with a period",
}

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("RNNDataDescriptor", "PR09"): "a table ends the description",
    ("rnn_weight_params", "RT02"): "two results, each with its name",
}
"""Faults that are none, with the reason."""

OTHERS = re.compile(r"(?:those of|than|as for|as in|see)\s+`(\w+)`")
"""A docstring that leaves parameters to another one's."""

PLAIN = {"handle", "stream", "alpha", "beta", "x_desc", "workspace"}
"""Parameters that mean the same everywhere: the guide says what."""


def _public() -> Iterator[tuple[str, Any]]:
    """Names with their functions and classes, public members included."""
    for name in cudnn_ctypes.__all__:
        item = getattr(cudnn_ctypes, name)
        if isinstance(item, ModuleType) or not (inspect.isroutine(item) or isinstance(item, type)):
            continue
        yield name, item
        for member, value in vars(item).items() if isinstance(item, type) else ():
            function = getattr(value, "__func__", value)
            if not member.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{member}", function


PUBLIC = dict(_public())


def _errors(name: str) -> dict[str, str]:
    return dict(validation.validate(f"cudnn_ctypes.{name}")["errors"])


def _faults() -> set[tuple[str, str]]:
    """Names and codes; a method without a docstring may inherit one."""
    return {
        (name, code)
        for name, item in PUBLIC.items()
        for code in _errors(name)
        if code in CHECKS and not (code == "GL08" and inspect.getdoc(item))
    }


def test_docstrings_are_in_order() -> None:
    faults = _faults()
    unexpected = sorted(faults - EXCEPTIONS.keys())
    assert not unexpected, [(name, code, CHECKS[code]) for name, code in unexpected]
    assert not EXCEPTIONS.keys() - faults, "an exception that is none"


def _missing(name: str) -> set[str]:
    """Parameters that a docstring with a section for them, or one that it names, leaves out."""
    item = PUBLIC[name]
    text = inspect.getdoc(item) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.M | re.S)
    if section is None:
        return set()
    signature = inspect.signature(item)
    typed = {
        each.name
        for each in signature.parameters.values()
        if re.match(r"\w*(Descriptor|Handle|Graph)\b", str(each.annotation).removeprefix("'"))
    }
    words = set(re.findall(r"\w+", text))
    elsewhere = {
        parameter
        for other in OTHERS.findall(text)
        for named in (other, f"{name.partition('.')[0]}.{other}")
        if named in PUBLIC
        for parameter in inspect.signature(PUBLIC[named]).parameters
    }
    names = set(signature.parameters) - {"self", "cls"}
    return names - words - typed - elsewhere - PLAIN


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_complete(name: str) -> None:
    assert not _missing(name)


def test_the_check_sees_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(first: int, second: int) -> None:
        """Do half of it

        Parameters
        ----------
        first : int
            One.
        """

    monkeypatch.setitem(PUBLIC, "half", half)
    assert _missing("half") == {"second"}
    monkeypatch.setattr(cudnn_ctypes, "half", half, raising=False)
    assert "SS03" in _errors("half")
