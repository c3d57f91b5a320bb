"""Every enumerator of the backend API has its place in the tables."""

from __future__ import annotations

import pytest
from programs import printed

from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.descriptor import as_kind, attribute
from cudnn_ctypes.raw.attribute_types import ATTRIBUTE_TYPES
from cudnn_ctypes.raw.attributes import (
    ATTRIBUTES,
    ENUMS,
    KINDS,
    _table,
    element_type,
    owner_and_short_name,
)

NAMES = list(raw.cudnnBackendAttributeName_t)
TYPES = list(raw.cudnnBackendAttributeType_t)


def test_every_attribute_is_reachable_once():
    reached = [known.name for table in ATTRIBUTES.values() for known in table.values()]
    assert sorted(reached) == sorted(NAMES)


def test_every_attribute_has_measured_facts_and_no_fact_is_left_over():
    assert {f"CUDNN_ATTR_{name}" for name in ATTRIBUTE_TYPES} == {name.name for name in NAMES}


def test_an_attribute_that_is_not_measured_yet_is_passed_over(monkeypatch):
    """Else nothing could measure it, nor could the generator end: both import the table."""
    monkeypatch.delitem(ATTRIBUTE_TYPES, "TENSOR_DATA_TYPE")
    table = _table()
    assert ATTRIBUTES[raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR].keys() - {"data_type"} == set(
        table[raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR]
    )


def test_the_table_is_measured_and_not_read_from_itself():
    names = ["TENSOR_DIMENSIONS", "OPERATION_MATMUL_DESC"]
    program = f"""
        from cudnn_ctypes import raw
        from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
        from cudnn_ctypes.raw.attributes import owner_and_short_name
        from tools.probe_attributes import measured

        ensure_driver()
        raw.cudnnSetCallback(0, None, None)
        for short in {names}:
            name = raw.cudnnBackendAttributeName_t["CUDNN_ATTR_" + short]
            print(measured(short, owner_and_short_name(name)[0]))
    """
    assert printed(program) == [str(ATTRIBUTE_TYPES[name]) for name in names]


def test_every_descriptor_type_has_attributes_and_a_short_name():
    assert len(KINDS) == len(list(raw.cudnnBackendDescriptorType_t)) == 51
    assert all(ATTRIBUTES[kind] for kind in KINDS.values())


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_every_type_of_value_is_mapped_and_used(type_):
    plain = {
        "HANDLE": 8,
        "BOOLEAN": 1,
        "INT64": 8,
        "FLOAT": 4,
        "DOUBLE": 8,
        "VOID_PTR": 8,
        "BACKEND_DESCRIPTOR": 8,
        "INT32": 4,
        "CHAR": 1,
        "FRACTION": 16,
    }
    import ctypes

    short = type_.name.removeprefix("CUDNN_TYPE_")
    assert ctypes.sizeof(element_type(type_)) == plain.get(short, 4)
    assert (type_ in ENUMS) == (short not in plain)
    assert any(type_ in known.types for table in ATTRIBUTES.values() for known in table.values())


def test_descriptor_values_say_of_which_type():
    for table in ATTRIBUTES.values():
        for known in table.values():
            holds = raw.CUDNN_TYPE_BACKEND_DESCRIPTOR in known.types
            assert bool(known.wants) == holds, known.full_name


@pytest.mark.parametrize(
    ("name", "kind", "short"),
    [
        ("CUDNN_ATTR_TENSOR_DATA_TYPE", "tensor", "data_type"),
        (
            "CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX",
            "operation_convolution_backward_data",
            "dx",
        ),
        ("CUDNN_ATTR_OPERATION_GENSTATS_MODE", "operation_gen_stats", "mode"),
        (
            "CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE",
            "operation_bn_finalize_statistics",
            "stats_mode",
        ),
        ("CUDNN_ATTR_OPERATION_NORM_FWD_XDESC", "operation_norm_forward", "xdesc"),
        (
            "CUDNN_ATTR_OPERATION_CONTRACT_BAND_MAX_TOKEN_VALUE",
            "operation_contract_band_matrix",
            "max_token_value",
        ),
        (
            "CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC",
            "operation_moe_grouped_matmul_bwd",
            "token_desc",
        ),
        ("CUDNN_ATTR_ENGINECFG_ENGINE", "enginecfg", "engine"),
    ],
)
def test_the_longest_prefix_owns_an_attribute(name, kind, short):
    assert owner_and_short_name(raw.cudnnBackendAttributeName_t[name]) == (KINDS[kind], short)
    assert attribute(KINDS[kind], short) is attribute(KINDS[kind], name)


def test_typos_get_suggestions():
    with pytest.raises(AttributeError, match="did you mean 'unique_id'"):
        attribute(KINDS["tensor"], "uniqe_id")
    with pytest.raises(ValueError, match="did you mean 'tensor'"):
        as_kind("tensr")
    with pytest.raises(AttributeError, match="is an attribute of convolution, not tensor"):
        attribute(KINDS["tensor"], "CUDNN_ATTR_CONVOLUTION_COMP_TYPE")
    with pytest.raises(TypeError, match="kind"):
        as_kind(17)
