"""What the package of the graph API offers, and that all of it is documented."""

import importlib
import inspect
import pkgutil
import re

import pytest

import cudnn_ctypes
from cudnn_ctypes import graph as package
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.backend.descriptor import attribute
from cudnn_ctypes.graph.describe import operations
from cudnn_ctypes.graph.describe.node import Kind
from cudnn_ctypes.lazy import listed
from cudnn_ctypes.raw.attributes import KINDS as DESCRIPTORS

KINDS = {
    kind.descriptor: kind
    for module in pkgutil.iter_modules(operations.__path__, operations.__name__ + ".")
    for kind in vars(importlib.import_module(module.name)).values()
    if isinstance(kind, Kind) and not kind.composite
}

OPERATIONS = sorted(
    name
    for name, member in inspect.getmembers(Graph, inspect.isfunction)
    if not name.startswith("_")
)


def test_what_the_top_offers_the_package_offers_too():
    here = {
        name
        for name, (module, _) in listed("cudnn_ctypes").items()
        if module.startswith("cudnn_ctypes.graph.")
    }
    assert here <= set(package.__all__)
    for name in here:
        assert getattr(cudnn_ctypes, name) is getattr(package, name)


def test_the_docstring_names_what_there_is():
    names = set(re.findall(r"(?<!`)`(\w+)`(?!`)", package.__doc__ or ""))
    assert names <= set(package.__all__), names - set(package.__all__)


def test_every_operation_says_what_it_does_and_takes():
    for name in OPERATIONS:
        method = getattr(Graph, name)
        assert inspect.getdoc(method), name
        # The options of `pointwise` are those of the method for its mode.
        assert name == "pointwise" or not any(
            parameter.kind is parameter.VAR_KEYWORD
            for parameter in inspect.signature(method).parameters.values()
        ), f"{name}: help() does not show what it takes"


def test_every_operation_descriptor_of_cudnn_has_a_method():
    assert {name for name in DESCRIPTORS if name.startswith("operation_")} == KINDS.keys()


def test_attributes_of_operations_exist():
    for kind in KINDS.values():
        names = [*kind.inputs.values(), *kind.outputs.values(), *kind.options.values()]
        for name in [*names, *([kind.precision] if kind.precision else [])]:
            attribute(DESCRIPTORS[kind.descriptor], name)
        if kind.inner is not None:
            attribute(DESCRIPTORS[kind.descriptor], kind.inner.attribute)
            for name in kind.inner.options.values():
                attribute(DESCRIPTORS[kind.inner.descriptor], name)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_methods_name_the_descriptor_that_they_stand_for(kind):
    name = f"``{DESCRIPTORS[kind].name}``"
    named = [each for each in OPERATIONS if name in (getattr(Graph, each).__doc__ or "")]
    assert len(named) == 1, f"{name} is named by {named}"
