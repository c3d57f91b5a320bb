"""Names that cuDNN 9 has not: the table of those that are gone, and what the errors say."""

from __future__ import annotations

import ast
import re

import pytest
from programs import printed

from cudnn_ctypes import raw
from cudnn_ctypes.raw import constants, enums, functions, types
from cudnn_ctypes.raw.gone import find, gone_names

LIVING = {*functions.__all__, *enums.__all__, *types.__all__, *constants.__all__}
RELEASE = re.compile(r"[1-9]\.\d")


def test_no_name_in_the_table_is_in_cudnn_9():
    assert set(gone_names()).isdisjoint(LIVING)
    assert len(gone_names()) == 175


def test_the_table_names_only_what_is_there_or_gone():
    for name in gone_names():
        gone = find(name)
        words = set(re.findall(r"\b(?:cudnn|CUDNN_)\w+", f"{gone.why} {' '.join(gone.now)}"))
        assert words <= LIVING | set(gone_names()), name
        assert set(re.findall(r"\b(?:cudnn|CUDNN_)\w+", " ".join(gone.now))) <= LIVING, name
        assert RELEASE.fullmatch(gone.first)
        assert RELEASE.fullmatch(gone.gone)
        assert float(gone.first) < float(gone.gone)
        assert not re.search(r"[{}]", name)


def test_the_new_calls_are_python_with_the_arguments_of_the_functions():
    calls = 0
    for name in gone_names():
        for line in find(name).now:
            for node in ast.walk(ast.parse(line)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "").startswith("cudnn"):
                    function = raw.FUNCTIONS.get(node.func.id)
                    if function is not None:
                        calls += 1
                        assert len(node.args) == len(function.parameters), line
    assert calls > 100


def test_a_gone_name_says_since_when_why_and_the_new_call():
    with pytest.raises(AttributeError) as error:
        raw.cudnnGetRNNParamsSize  # noqa: B018
    assert str(error.value) == (
        "the function cudnnGetRNNParamsSize is gone since cuDNN 9.0: the RNN descriptor knows the "
        "data type and the size of the input. Now:\n"
        "    cudnnGetRNNWeightSpaceSize(handle, rnnDesc, weightSpaceSize)\n"
        "Programs for cuDNN 7 and 8 run with cudnn_ctypes.compat.v7 in place of raw."
    )


def test_a_misspelt_name_is_told_which_are_like_it():
    with pytest.raises(AttributeError, match="did you mean CUDNN_DATA_FLOAT"):
        raw.cudnn_data_float  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean cudnnGetRNNParamsSize"):
        raw.cudnnGetRNNParamSize  # noqa: B018
    with pytest.raises(AttributeError) as error:
        raw.nothing_like_it  # noqa: B018
    assert str(error.value) == "'nothing_like_it' is not in the headers of cuDNN 9.28.0"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cudnnGetRNNParamsSize", "is gone since cuDNN 9.0: "),
        ("cudnnCreateTensorDescriptr", "did you mean cudnnCreateTensorDescriptor or "),
    ],
)
def test_importing_a_name_that_is_not_there_says_the_same(name, told):
    with pytest.raises(ImportError, match=f"cannot import name '{name}'.*: .*{told}"):
        exec(f"from cudnn_ctypes.raw import {name}")


def test_modules_of_layer_1_can_be_imported_from_it():
    with pytest.raises(ImportError, match="cannot import name 'no_such_module'"):
        from cudnn_ctypes.raw import no_such_module  # noqa: F401
    script = "from cudnn_ctypes.raw import gone, converters; print(gone.__name__)"
    assert printed(script) == ["cudnn_ctypes.raw.gone"]


def test_asking_whether_a_name_exists_is_silent_and_looks_nothing_up():
    script = """
        import copy, inspect, sys
        from cudnn_ctypes import raw
        assert not hasattr(raw, "cudnnGetRNNParamsSize") and not hasattr(raw, "__wrapped__")
        assert getattr(raw, "cudnnGone", 5) == 5 and inspect.unwrap(raw) is raw
        print(raw.gone._table.cache_info().currsize, "difflib" in sys.modules)
    """
    assert printed(script) == ["0 False"]
