"""Typed backend descriptors on the real library."""

import gc
import weakref
from fractions import Fraction

import pytest
from programs import printed

from cudnn_ctypes import raw, use_reference_device
from cudnn_ctypes.errors import (
    BadParamError,
    ClosedError,
    CudnnError,
    InternalError,
    NotSupportedError,
    SymbolNotFoundError,
)
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor, as_kind, attribute
from cudnn_ctypes.graph.backend.engine import heuristics
from cudnn_ctypes.handle import Handle
from cudnn_ctypes.raw.attributes import (
    ATTRIBUTE_TYPES,
    ATTRIBUTES,
    KINDS,
    _table,
    code_of,
    owner_and_short_name,
)

SHAPE = (2, 16, 8, 8)


@pytest.mark.parametrize(
    ("attributes", "error", "says"),
    [
        ({"is_virtual": 1}, TypeError, "tensor.is_virtual: expected True or False, got 1"),
        ({"data_type": 2}, TypeError, "tensor.data_type: expected a data type, got 2"),
        ({"data_type": "flot16"}, TypeError, "Did you mean"),
        ({"unique_id": True}, TypeError, "tensor.unique_id: expected an int, got True"),
        ({"unique_id": 1.0}, TypeError, "tensor.unique_id: expected an int"),
        ({"unique_id": [1]}, TypeError, "tensor.unique_id: expected one value"),
        ({"unique_id": 1 << 63}, ValueError, "does not fit"),
        ({"dimensions": 4}, TypeError, "tensor.dimensions: expected a list"),
        ({"dimensions": [1, "2"]}, TypeError, r"tensor.dimensions\[1\]: expected an int"),
        ({"reordering_mode": "int8x23"}, ValueError, "did you mean 'int8x32'"),
        ({"reordering_mode": raw.CUDNN_LAYER_NORM}, TypeError, "cudnnBackendTensorReordering_t"),
        pytest.param(
            *({"constant_value": 5}, TypeError, "tensor.constant_value: expected host memory"),
            marks=pytest.mark.needs("CUDNN_ATTR_TENSOR_CONSTANT_VALUE"),
        ),
        ({"ragged_offset_desc": 5}, TypeError, r"expected a BackendDescriptor \(tensor\)"),
        ({"dims": [1]}, AttributeError, "tensor has no attribute 'dims'; did you mean"),
        *(
            ({"kind": kind, name: value}, TypeError, rf"{kind}\.{name}.*: expected {says}, got")
            for kind, name, value, says in (
                ("operation_pointwise", "alpha1", "2", "a number"),
                ("operation_pointwise", "alpha1", True, "a number"),
                ("resample", "strides", [Fraction(1, 2), 0.5], "a Fraction or an int"),
                ("operationgraph", "handle", 5, "a Handle"),
                ("execution_plan", "json_representation", 5, "text"),
            )
        ),
    ],
)
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_wrong_values_are_refused_before_c(attributes, error, says):
    with pytest.raises(error, match=says):
        BackendDescriptor(**{"kind": "tensor", **attributes})
    gc.collect(1)


def test_children_must_be_of_the_right_type_open_and_finalized(made):
    x = made.tensor(1, SHAPE)
    # libcudnn crashes on a tensor where it wants an operation graph.
    with pytest.raises(TypeError, match="expected a descriptor of type operationgraph, got tensor"):
        BackendDescriptor("engineheur", operation_graph=x)
    with pytest.raises(TypeError, match="expected a descriptor of type operation, got tensor"):
        BackendDescriptor("operationgraph", ops=[x])
    with (
        BackendDescriptor("tensor") as open_,
        pytest.raises(ValueError, match="this tensor is not finalized"),
    ):
        BackendDescriptor("operation_reshape", xdesc=open_)
    x.close()
    with pytest.raises(ClosedError, match="this tensor is closed"):
        BackendDescriptor("operation_reshape", xdesc=x)


def test_a_child_closed_before_its_parent_is_finalized(made):
    x = made.tensor(1, SHAPE)
    with BackendDescriptor("operation_reshape", xdesc=x) as operation:
        x.close()
        with pytest.raises(ClosedError, match=r"operation_reshape\.xdesc: this tensor is closed"):
            operation.finalize()


def test_a_finalized_descriptor_cannot_be_changed(made):
    x = made.tensor(1, SHAPE)
    with pytest.raises(ValueError, match=r"tensor.unique_id: this tensor is finalized"):
        x.set("unique_id", 2)
    with pytest.raises(ValueError, match="finalized already"):
        x.finalize()


def test_a_closed_descriptor_is_refused_before_c(made):
    x = made.tensor(1, SHAPE)
    x.close()
    for use in (lambda: x["unique_id"], lambda: x.set("unique_id", 1), x.finalize):
        with pytest.raises((ClosedError, ValueError)):
            use()


def test_what_cudnn_computes_cannot_be_set():
    with pytest.raises(ValueError, match="is computed by cuDNN"):
        BackendDescriptor("execution_plan", workspace_size=1)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_descriptor_that_cudnn_refuses_is_closed():
    descriptor = BackendDescriptor("tensor", unique_id=1)
    with pytest.raises(BadParamError):
        descriptor.finalize()
    assert descriptor.closed


def test_children_live_as_long_as_their_parent(made):
    graph = made.convolution(SHAPE, 16)
    (operation,) = graph["ops"]
    assert operation["x"]["unique_id"] == 1
    names = ["operationgraph", "operation_convolution_forward", "convolution", *3 * ["tensor"]]
    assert [each.name for each in graph.walk()] == names


def test_descriptors_read_from_a_config_do_not_keep_it_alive(made, h200):
    graph = made.convolution(SHAPE, 16)
    config = heuristics(graph, device=h200)[0].descriptor
    assert "global_index" in config.tree()
    gone = weakref.ref(config)
    holder = [config]
    del config
    with pytest.warns(ResourceWarning):
        holder.clear()
    assert gone() is None


def test_trees_are_compared_by_what_they_hold(made):
    one, same = made.convolution(SHAPE, 16), made.convolution(SHAPE, 16)
    other = made.convolution(SHAPE, 32)
    assert one == same
    assert one != other
    assert one["ops"][0]["x"] == other["ops"][0]["x"]
    assert one["ops"][0]["w"] != other["ops"][0]["w"]
    assert one != "graph"
    assert one == one
    assert one["ops"][0] != one["ops"][0]["x"]
    with BackendDescriptor("tensor") as tensor:
        assert tensor != one["ops"][0]["x"]


def test_a_handle_is_read_as_the_object_that_was_set(made):
    with use_reference_device(), Handle() as handle:
        graph = made.convolution(SHAPE, 16, handle=handle)
        assert graph["handle"] is handle
        assert "handle = Handle(reference device" in graph.tree()
        assert graph == made.convolution(SHAPE, 16, handle=handle)


def test_an_operation_graph_that_was_read_is_shown_without_its_operations(made, h200):
    """cuDNN does not say of which types these are, and crashes if it is to fill others."""
    graph = made.convolution(SHAPE, 16)
    configs = heuristics(graph, device=h200)
    assert "engine: engine" in configs[0].descriptor.tree()
    engine = configs[0].engine.descriptor
    read = engine["operation_graph"]
    assert read["engine_global_count"] == graph["engine_global_count"]
    with pytest.raises(NotSupportedError, match="does not say of which types") as caught:
        read["ops"]
    assert caught.value.arguments == {"attributeName": "CUDNN_ATTR_OPERATIONGRAPH_OPS"}
    assert "engine_global_count=" in repr(read)
    assert "operation_graph: operationgraph\n" in engine.tree()
    for config in configs:
        config.close()


def test_a_type_that_only_has_a_name_says_so():
    with pytest.raises(InternalError, match="hint: cuDNN knows this type by its name only"):
        BackendDescriptor("intermediate_info")


def test_a_tree_has_each_descriptor_once(made):
    assert "xdesc: tensor (unique_id 4, as above)" in made.convolution(SHAPE, 16, relu=True).tree()
    values = {"kind": "tensor", "unique_id": 5, "data_type": "float16", "dimensions": [1] * 30}
    with BackendDescriptor(**values) as x, BackendDescriptor("operation_reshape") as operation:
        listed = f"[{'1, ' * 19}1…"
        assert repr(x) == (
            f"BackendDescriptor('tensor', data_type='float16', dimensions={listed}, unique_id=5, "
            "not finalized)"
        )
        operation._kept.update(xdesc=(x,), ydesc=(x,))
        lines = ["operation_reshape (not finalized)", "  xdesc: tensor (not finalized)"]
        lines += ["    data_type = 'float16'", f"    dimensions = {listed}", "    unique_id = 5"]
        lines += ["  ydesc: tensor (unique_id 5, as above)"]
        assert operation.tree().splitlines() == lines
        x.close()
        assert operation.tree().splitlines()[1:] == [f"  {y}desc: tensor (closed)" for y in "xy"]


def test_what_is_newer_than_the_library_says_which_version_has_it(monkeypatch):
    library = raw.load()
    monkeypatch.setattr(library, "version", 90000)
    with pytest.raises(SymbolNotFoundError, match=r"'deviceprop' needs cuDNN 9\.8\.0; loaded is 9"):
        BackendDescriptor("deviceprop")
    with pytest.raises(SymbolNotFoundError, match=r"'reduction.is_deterministic' needs .* 9\.11"):
        BackendDescriptor("reduction", is_deterministic=True)
    with pytest.raises(SymbolNotFoundError, match=r"CUDNN_DATA_INT4 needs cuDNN 9\.11\.0"):
        BackendDescriptor("tensor", data_type="int4")


def test_renumbered_types_have_the_code_of_the_loaded_version(monkeypatch):
    kind = raw.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
    assert code_of(kind) == 38
    monkeypatch.setattr(raw.load(), "version", 91000)
    assert code_of(kind) == 40


def test_a_reset_descriptor_starts_anew(made):
    x = made.tensor(5, (1, 8, 4, 4))
    with BackendDescriptor("operation_pointwise", xdesc=x, alpha1=2.0) as operation:
        operation.reset()
        assert operation.get("xdesc") is None
        assert operation.get("alpha1") is None
    values = {"unique_id": 2, "data_type": "float32", "byte_alignment": 4}
    values |= {"dimensions": [2, 3], "strides": [3, 1]}
    with BackendDescriptor("tensor", **values) as tensor:
        tensor.reset()
        with pytest.raises(CudnnError, match=r"dimension|nbDims"):  # cuDNN has forgotten them too
            tensor.finalize()
    with BackendDescriptor("tensor", unique_id=1) as tensor:
        tensor.reset()
        for name, value in values.items():
            tensor.set(name, value)
        assert tensor.finalize()["unique_id"] == 2
        with pytest.raises(ValueError, match="this tensor is finalized; make a new one"):
            tensor.reset()


# --- every enumerator of the backend API has its place in the tables ------------------------------


NAMES = list(raw.cudnnBackendAttributeName_t)


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


@pytest.mark.soak
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
    assert printed(program) == [str(tuple(ATTRIBUTE_TYPES[name])) for name in names]


def test_every_descriptor_type_has_attributes_and_a_short_name():
    assert len(KINDS) == len(list(raw.cudnnBackendDescriptorType_t)) == 51
    assert all(ATTRIBUTES[kind] for kind in KINDS.values())


def test_descriptor_values_say_of_which_type():
    for table in ATTRIBUTES.values():
        for known in table.values():
            holds = raw.CUDNN_TYPE_BACKEND_DESCRIPTOR in known.types
            assert bool(known.wants) == holds, known.full_name


@pytest.mark.parametrize(
    ("name", "kind", "short"),
    [
        ("TENSOR_DATA_TYPE", "tensor", "data_type"),
        ("OPERATION_CONVOLUTION_BWD_DATA_DX", "operation_convolution_backward_data", "dx"),
        ("OPERATION_GENSTATS_MODE", "operation_gen_stats", "mode"),
        ("OPERATION_BN_FINALIZE_STATS_MODE", "operation_bn_finalize_statistics", "stats_mode"),
        ("OPERATION_NORM_FWD_XDESC", "operation_norm_forward", "xdesc"),
        (
            *("OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC", "operation_moe_grouped_matmul_bwd"),
            "token_desc",
        ),
        ("ENGINECFG_ENGINE", "enginecfg", "engine"),
    ],
)
def test_the_longest_prefix_owns_an_attribute(name, kind, short):
    name = f"CUDNN_ATTR_{name}"
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
