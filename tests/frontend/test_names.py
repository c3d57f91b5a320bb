"""The names, arguments and defaults of NVIDIA's front end, as a table of facts, and ours.

``tools/frontend_names.py`` wrote the table from the wheel.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from programs import printed

import cudnn_ctypes.frontend as cudnn

TABLE = json.loads(Path(__file__).with_name("names.json").read_text())
FUNCTIONS = sorted(TABLE["functions"])
METHODS = [(cls, name) for cls, found in TABLE["classes"].items() for name in found]
POINTWISE = {
    name
    for name, overloads in TABLE["classes"]["pygraph"].items()
    if overloads[0]["returns"] == "tensor"
    and {"compute_data_type", "name"} <= {each[0] for each in overloads[0]["parameters"]}
}


def ours(function: Any) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: each for name, each in parameters.items() if name != "self"}


def default_of(parameter: inspect.Parameter) -> str | None:
    if parameter.default is parameter.empty:
        return None
    value = parameter.default
    return "[]" if value == () else repr(value)


def check(function: Any, overloads: list[dict[str, Any]]) -> None:
    mine = ours(function)
    if any(each.kind is each.VAR_POSITIONAL for each in mine.values()):
        return  # overloads told apart by their number of arguments have a test of their own
    for number, overload in enumerate(overloads):
        defaulted = False
        for place, (name, *default) in enumerate(overload["parameters"]):
            if name.startswith("arg"):  # can only be given by its place
                assert place < len(mine), (name, mine)
                continue
            assert name in mine, f"{name} is missing"
            if number == 0:
                assert list(mine)[place] == name
            if number > 0 and name.endswith("_padding"):
                continue  # an overload without ``padding`` in which these are lists
            # Python allows no argument without a default after one with it.
            expected = default[0] if default else "None" if defaulted else None
            assert default_of(mine[name]) == expected, name
            defaulted = defaulted or bool(default)


@pytest.mark.parametrize("name", sorted(TABLE["enums"]))
def test_enums_have_the_same_members_and_numbers(name):
    cls = getattr(cudnn, name)
    assert {each.name: each.value for each in cls} == TABLE["enums"][name]
    for member in cls:
        assert str(member) == f"{name}.{member.name}"
        assert int(member) == member.value
        assert member != member.value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_the_same_arguments(name):
    check(getattr(cudnn, name), TABLE["functions"][name])


@pytest.mark.parametrize(("cls", "name"), METHODS, ids=lambda value: value)
def test_methods_take_the_same_arguments(cls, name):
    check(getattr(getattr(cudnn, cls), name), TABLE["classes"][cls][name])


def test_the_check_sees_what_differs():
    overloads = TABLE["classes"]["pygraph"]["matmul"]
    check(cudnn.pygraph.matmul, overloads)

    def other_default(self, A, B, compute_data_type=cudnn.data_type.NOT_SET, padding=1.0, name=""):
        pass

    def other_order(self, B, A, compute_data_type=cudnn.data_type.NOT_SET, padding=0.0, name=""):
        pass

    def other_name(self, A, B, compute_data_type=cudnn.data_type.NOT_SET, pad=0.0, name=""):
        pass

    for wrong in (other_default, other_order, other_name):
        with pytest.raises(AssertionError):
            check(wrong, overloads)


def test_there_are_54_pointwise_methods_and_each_has_a_c_mode():
    from cudnn_ctypes.frontend.pointwise import PointwiseMethods

    names = {name for name in vars(PointwiseMethods) if not name.startswith("_")}
    assert len(names) == 54
    assert names <= POINTWISE


def test_all_exported_names_exist():
    for name in cudnn.__all__:
        assert getattr(cudnn, name) is not None
    assert cudnn.__version__ == TABLE["version"]


def test_members_stand_for_c_enumerators():
    from cudnn_ctypes.frontend import enums

    for name in TABLE["enums"]:
        cls = getattr(cudnn, name)
        if cls not in enums._PREFIX:
            continue
        for member in cls:
            code = enums.c_member(member)
            if member.name == "NOT_SET":
                assert code is None
            else:
                assert enums.note_of(cls, code) is member


def test_importing_it_loads_no_library_and_no_framework():
    program = """
        import sys
        import cudnn_ctypes.frontend
        maps = open("/proc/self/maps").read()
        print("libcudnn" in maps, "libcuda" in maps, "torch" in sys.modules)
    """
    assert printed(program) == ["False False False"]
