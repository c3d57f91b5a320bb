"""The names, arguments and defaults of NVIDIA's front end, as a table of facts, and ours.

``tools/frontend_names.py`` wrote the table from the wheel.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from programs import printed

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import Graph
from cudnn_ctypes.frontend.left_out import LEFT_OUT, REFUSED

from .nvidia_names import TABLE, installed_table, names_of

METHODS = [
    (cls, name)
    for cls, found in TABLE["classes"].items()
    for name, overloads in found.items()
    if overloads and f"{cls}.{name}" not in LEFT_OUT
]
BUILDERS = sorted(set(TABLE["builders"]) - {name.partition(".")[2] for name in LEFT_OUT})
# In 1.32 their name comes before the data type of the computation, in 1.23 after it.
NAME_FIRST = {"relu", "leaky_relu", "swish", "gen_index"}
NAME_FIRST |= {f"{name}_backward" for name in NAME_FIRST}
# What Python's classes have, whatever it takes.
BY_DESIGN = {"Tensor.__init__", "tensor.__init__", "Node.__init__", "Handle.__init__"}
UNSET = {None, "None", "data_type.NOT_SET", "[]", "-1", "0", "tensor_reordering.NONE"}


def ours(function: Any) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: each for name, each in parameters.items() if name != "self"}


def default_of(parameter: inspect.Parameter) -> str | None:
    if parameter.default is parameter.empty:
        return None
    value = parameter.default
    return "[]" if value == () else str(value) if hasattr(value, "value") else repr(value)


def check(function: Any, overloads: list[dict[str, Any]], *, in_order: bool = True) -> None:
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
            if number == 0 and (in_order or not default):
                assert list(mine)[place] == name
            if number > 0 and name.endswith("_padding"):
                continue  # an overload without ``padding`` in which these are lists
            # Python allows no argument without a default after one with it.
            expected = default[0] if default else "None" if defaulted else None
            got = default_of(mine[name])
            if default and {expected, got} <= UNSET:
                assert got is not None, f"{name} needs a default"
            else:
                assert got == expected, name
            defaulted = defaulted or bool(default)


def is_here(name: str) -> bool:
    """Whether a name of `names_of` is one of ours."""
    owner, _, argument = name.removesuffix(")").partition("(")
    found: Any = cudnn
    for part in owner.split("."):
        fields = getattr(found, "__dataclass_fields__", {})
        if part in fields and not hasattr(found, part):
            return not argument
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    if not argument:
        return True
    mine = ours(found)
    return argument in mine or any(each.kind is each.VAR_KEYWORD for each in mine.values())


# --- which names there are -----------------------------------------------------------------------


def missing_names(table: dict[str, Any]) -> set[str]:
    """What we lack; not also what belongs to something that we lack."""
    pytest.importorskip("torch", reason="some of the names are for PyTorch")
    lacking = {name for name in names_of(table) if not is_here(name)}
    return {
        name
        for name in lacking
        if name.partition("(")[0] not in (lacking | BY_DESIGN) - {name}
        and name.partition(".")[0] not in lacking - {name}
    }


def test_what_is_missing_is_listed_with_its_reason():
    assert sorted(missing_names(TABLE) - LEFT_OUT.keys()) == []


def test_what_is_listed_is_missing_and_nvidias():
    assert sorted(LEFT_OUT.keys() - names_of(TABLE)) == []
    assert sorted(LEFT_OUT.keys() - missing_names(TABLE) - BY_DESIGN) == []


def test_what_is_refused_is_nvidias_and_here():
    assert sorted(REFUSED.keys() - names_of(TABLE)) == []
    assert all(map(is_here, REFUSED))


def test_the_table_is_that_of_the_installed_version():
    table = installed_table()
    assert table["version"] == TABLE["version"], "write tests/frontend/names.json anew"
    assert table == TABLE


def test_a_name_that_is_left_out_says_why():
    with pytest.raises(AttributeError, match="no 'GemmSwigluSm100': no part of cuDNN: a kernel"):
        _ = cudnn.GemmSwigluSm100
    with pytest.raises(AttributeError, match=r"has no 'gdn': no part of cuDNN: linear"):
        cudnn.pygraph().gdn()
    with pytest.raises(AttributeError, match=r"has no 'nonsense'$"):
        _ = cudnn.nonsense
    with pytest.raises(AttributeError, match=r"pygraph has no 'nonsense'$"):
        cudnn.pygraph().nonsense()


# --- what they are -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(TABLE["enums"]))
def test_enums_have_the_same_members_and_numbers(name):
    cls = getattr(cudnn, name)
    expected = {
        member: number
        for member, number in TABLE["enums"][name].items()
        if f"{name}.{member}" not in LEFT_OUT
    }
    assert {each.name: each.value for each in cls} == expected
    for member in cls:
        assert str(member) == f"{name}.{member.name}"
        assert int(member) == member.value
        assert member != member.value


def test_functions_take_the_same_arguments():
    for name in sorted(set(TABLE["functions"]) - LEFT_OUT.keys()):
        overloads = TABLE["functions"][name]
        check(getattr(cudnn, name), overloads)
        if all(each[0].startswith("arg") for each in overloads[0]["parameters"]):
            assert len(ours(getattr(cudnn, name))) == len(overloads[0]["parameters"])


def test_methods_take_the_same_arguments():
    for cls, name in METHODS:
        overloads = TABLE["classes"][cls][name]
        if name == "set_data_type" and cls == "Tensor":
            overloads = [{"parameters": [["arg0"]]}]
        if name == "set_output":  # which of layer 3 may be called without it
            overloads = [{"parameters": [["value", "True"]]}]
        if name in ("build_plans", "execute_plan_at_index"):  # which pass most arguments on
            overloads = [{"parameters": []}]
        check(getattr(getattr(cudnn, cls), name), overloads, in_order=name not in NAME_FIRST)


def test_methods_take_operands_by_the_same_names():
    for name in BUILDERS:
        builder = TABLE["builders"][name]
        mine = ours(getattr(cudnn.pygraph, name))
        wanted = {*builder["places"], *builder["keywords"], "name"}
        wanted -= {each for each in wanted if f"pygraph.{name}({each})" in LEFT_OUT}
        assert wanted <= mine.keys()


def test_the_check_sees_what_differs():
    overloads = TABLE["classes"]["pygraph"]["conv_fprop"][:1]
    check(cudnn.pygraph.conv_fprop, overloads)
    overloads = TABLE["classes"]["pygraph"]["matmul"]
    check(cudnn.pygraph.matmul, overloads)

    def other_default(self, A, B, compute_data_type=None, padding=1.0, name=""):
        pass

    def other_order(self, B, A, compute_data_type=None, padding=0.0, name=""):
        pass

    def other_name(self, A, B, compute_data_type=None, pad=0.0, name=""):
        pass

    for wrong in (other_default, other_order, other_name):
        with pytest.raises(AssertionError):
            check(wrong, overloads)


def test_there_are_54_pointwise_methods_and_each_has_a_c_mode():
    names = {
        name for name in dir(cudnn.pygraph) if hasattr(getattr(Graph, name, None), "pointwise_mode")
    }
    assert len(names) == 54
    assert names <= TABLE["classes"]["pygraph"].keys()


def test_all_exported_names_exist():
    for name in cudnn.__all__:
        assert getattr(cudnn, name) is not None
    assert set(cudnn.__all__) <= set(dir(cudnn))
    assert cudnn.__version__ == TABLE["version"]
    assert (cudnn.Tensor, cudnn.handle) == (cudnn.tensor, cudnn.Handle)


def test_no_module_takes_the_place_of_a_name():
    modules = {path.stem for path in Path(cudnn.__file__).parent.glob("*.py")}
    assert modules & set(cudnn.__all__) == {"datatypes", "left_out", "wrapper"}


def test_members_stand_for_c_enumerators():
    from cudnn_ctypes.frontend import c_members

    for cls in c_members._PREFIX:
        for member in cls:
            own = member.name == "COMBINE" or (
                cls is cudnn.knob_type and cudnn.is_frontend_knob_type(member)
            )
            if own:
                with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="no engine of cuDNN"):
                    c_members.c_member(member)
                continue
            code = c_members.c_member(member)
            if member.name == "NOT_SET":
                assert code is None
            else:
                assert c_members.note_of(cls, code) is member
                assert c_members.member_of(code) is member


def test_nvidias_own_kernels_of_attention_can_do_nothing():
    assert cudnn.sdpa_capabilities() == frozenset()


def test_importing_it_loads_no_library_and_no_framework():
    program = """
        import sys
        import cudnn_ctypes.frontend
        maps = open("/proc/self/maps").read()
        print("libcudnn" in maps, "libcuda" in maps, "torch" in sys.modules)
        print("numpy" in sys.modules, "cudnn_ctypes.raw" in sys.modules)
        print(sorted(each for each in sys.modules if each.startswith("cudnn_ctypes.frontend")))
        cudnn_ctypes.frontend.knob_type, cudnn_ctypes.frontend.build_plan_policy
        print("numpy" in sys.modules, "cudnn_ctypes.raw" in sys.modules)
    """
    assert printed(program) == [
        "False False False",
        "False False",
        "['cudnn_ctypes.frontend']",
        "False False",
    ]
