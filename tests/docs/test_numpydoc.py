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

from numpydoc.docscrape import NumpyDocString  # noqa: E402

from tools import docstring_parts  # noqa: E402
from tools.reference_pages import numpy_functions, numpy_modules, operations  # noqa: E402

pytestmark = pytest.mark.soak

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
    ("derive_norm_tensor_descriptor", "RT02"): "two results, each with its name",
    ("rnn_weight_params", "RT02"): "two results, each with its name",
}
"""Faults that are none, with the reason."""

RESULTS_BY_SUMMARY = (None, "None", "int", "bool", "str", "str | None", "Expansion")
"""Annotations of results of which the summary says what they are."""


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


def test_docstrings_are_in_order():
    faults = _faults()
    unexpected = sorted(faults - EXCEPTIONS.keys())
    assert not unexpected, [(name, code, CHECKS[code]) for name, code in unexpected]
    assert not EXCEPTIONS.keys() - faults, "an exception that is none"


OPERATIONS = {f"Graph.{name}": method for name, method in operations().items()}
EVERYTHING = {
    name: item
    for name, item in (PUBLIC | OPERATIONS).items()
    # Those say what they are made of as attributes.
    if not (isinstance(item, type) and issubclass(item, (BaseException, tuple)))
}
FUNCTIONS = {
    name: item
    for name, item in EVERYTHING.items()
    if inspect.isfunction(item) and ("." not in name or name in OPERATIONS)
}


def _owner(name: str) -> type | None:
    return getattr(cudnn_ctypes, name.partition(".")[0]) if "." in name else None


def test_parameters_are_complete():
    for name, item in EVERYTHING.items():
        assert not docstring_parts.untold(item, _owner(name)), name
        assert not docstring_parts.unknown(item), name


def test_functions_say_of_what_type_parameters_are_and_what_they_mean():
    for name, function in FUNCTIONS.items():
        if "\nParameters\n" in (inspect.getdoc(function) or "") and name not in NO_TYPES:
            for each, entry in docstring_parts.complete(function, _owner(name)).items():
                assert entry, (name, each)
                assert entry.type, (name, each)
                assert entry.desc, (name, each)


NO_TYPES = {"bind", "compile_graphs", "describe", "graph_function", "Graph.pointwise"}
"""Of some arguments, which they pass on, they take whatever others take."""


def test_functions_say_what_they_return():
    for name, function in FUNCTIONS.items():
        if str(inspect.signature(function).return_annotation) not in RESULTS_BY_SUMMARY:
            text = "\n".join(docstring_parts.completed(function, _owner(name)))
            assert re.search(r"^(Returns|Yields)\n-+\n", text, re.MULTILINE), name


def test_help_shows_operations_in_full():
    operations = {name: each for name, each in PUBLIC.items() if hasattr(each, "_operation")}
    assert len(operations) > 60
    for name, operation in operations.items():
        told = docstring_parts.documented(operation)
        missing = docstring_parts.parameters(operation).keys() - told.keys()
        assert not missing, name
        assert "\nRaises\n------\n" in operation.__doc__, name
        assert "are those of `" not in operation.__doc__, name


def test_functions_say_what_they_raise():
    missing = {
        name
        for name, function in FUNCTIONS.items()
        if "." not in name
        and "\nRaises\n------" not in "\n".join(docstring_parts.completed(function))
    }
    assert missing == RAISES_UNTOLD.keys()


RAISES_UNTOLD = {
    "known_faults": "it reads a table",
    "use_reference_device": "its errors are those of the properties that it reads",
    "watch": "it only listens",
}
"""Functions without a section of errors, with the reason."""


def without_example(items: dict[str, Any]) -> set[str]:
    """Names without an example, whose docstring names no other that has one."""
    texts = {name: inspect.getdoc(item) or "" for name, item in items.items()}
    referred = {name: re.findall(r"an example see `(\w+)`", text) for name, text in texts.items()}
    shown = {name for name, text in texts.items() if ">>> " in text}
    return {name for name in texts.keys() - shown if not shown.intersection(referred[name])}


def test_functions_and_classes_show_an_example():
    top = {
        name: item
        for name, item in PUBLIC.items()
        if "." not in name and not (isinstance(item, type) and issubclass(item, BaseException))
    }
    assert without_example(top) == set()


def test_a_missing_example_is_seen():
    def shown():
        """Do it.

        >>> shown()
        """

    def referring():
        """Do it too. For an example see `shown`."""

    def dangling():
        """Do it too. For an example see `referring`."""

    items = {each.__name__: each for each in (shown, referring, dangling)}
    assert without_example(items) == {"dangling"}


def test_functions_of_layer_2_name_the_function_that_they_follow():
    for name, function in FUNCTIONS.items():
        if ".legacy." in function.__module__ and name not in FOLLOW_NONE:
            assert re.search(r"``(?:cudnn[A-Z]|CUDNN_)\w+``", inspect.getdoc(function) or ""), name


FOLLOW_NONE = {"bind"}
"""It launches whatever function of C its operation follows."""


def test_the_check_sees_what_is_missing(monkeypatch):
    def half(first, second):
        """Do half of it

        Parameters
        ----------
        first : int
            One.
        third : int
            There is none.
        """

    def other(first, second, beta):
        """The first and the second, as in `half`."""

    assert docstring_parts.untold(half) == ["second"]
    assert docstring_parts.unknown(half) == ["third"]
    assert docstring_parts.untold(other) == []
    monkeypatch.setattr(cudnn_ctypes, "half", half, raising=False)
    assert "SS03" in _errors("half")


def test_what_another_docstring_says_is_put_in():
    text = "\n".join(docstring_parts.completed(cudnn_ctypes.pooling_backward))
    places = [text.find(each) for each in ("handle : ", "pooling : ", "dy : ", "alpha : ")]
    assert -1 not in places
    assert places == sorted(places)
    assert "NotSupportedError" in text
    assert "DeviceTensor, or dx as it was given" in text
    assert "those of `pooling_forward`" not in text


def test_pages_of_formulas_tell_each_parameter_that_they_leave_to_another():
    for module in numpy_modules().values():
        for function in numpy_functions(module):
            doc = NumpyDocString("\n".join(docstring_parts.completed(function)))
            sentences = [each.name for each in doc["Parameters"] if "`" in each.name]
            assert not sentences, function.__name__
