"""Graphs that no engine takes whole: how they are cut, and what their programs compute."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceTensor,
    Graph,
    Handle,
    NotSupportedError,
    Program,
    use_reference_device,
)
from cudnn_ctypes.graph.engines.cache import cached_building
from cudnn_ctypes.graph.engines.tuning import autotuning
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning

torch = pytest.importorskip("torch")

from tools.model_blocks import BLOCKS, described, error_of, kind, operands  # noqa: E402

_EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}
_WITHOUT = {
    "attention_in_windows",
    "max_and_mean_of_channels",
    "pixel_shuffle",
    "shuffled_channels",
}
"""Blocks that have no program on one of the GPUs: no engine puts elements into another order."""
_VARIED = [
    "upsampling_and_convolution",
    "llama_layer",
    "attention_in_windows",
    "embedding_of_a_class",
]
"""Blocks that together take most ways of reading, rewriting and joining tensors."""


@pytest.fixture
def handle():
    with use_reference_device(device="H100"), Handle() as handle:
        yield handle


@pytest.mark.thinned(12)
@pytest.mark.parametrize(
    ("each", "device"),
    [(each, "H100") for each in BLOCKS[::4]] + [(each, "B200") for each in BLOCKS[1::20]],
    ids=lambda each: getattr(each, "name", each),
)
def test_each_operation_is_in_one_piece(each, device):
    graph, _ = described(each)
    pieces = graph.partition(device)
    assert pieces or each.name in _WITHOUT
    if pieces:
        assert all(piece.engines for piece in pieces)
        assert len(pieces.cuts) == len(pieces) - 1
        told = [name for piece in pieces for name in piece.operations]
        moving = ("reshape", "transpose", "slice", "concatenate")
        assert {str(n) for n in graph.nodes if n.operation not in moving} <= set(told)


@pytest.mark.parametrize(("tokens", "together"), [(64, True), (4096, False)])
def test_products_of_much_work_stay_alone(tokens, together):
    graph = Graph(io_data_type="float16")
    x, *weights = (graph.tensor((1, *dims)) for dims in ((tokens, 512), (512, 2048), (512, 2048)))
    gate, up = (graph.matmul(x, each) for each in weights)
    total = graph.mul(graph.swish(gate), up)
    graph.rmsnorm("inference", total, None, None, 1e-5, axes=(2,))[0].set_output(name="y")
    told = [
        [each.partition(" ")[0] for each in piece.operations] for piece in graph.partition("H100")
    ]
    assert any(each.count("matmul") == 2 for each in told) is together


@pytest.mark.thinned(999, always=[each for each in BLOCKS if each.name in _VARIED])
@pytest.mark.parametrize("each", BLOCKS, ids=lambda each: each.name)
def test_the_reference_device_computes_what_is_described(each, handle):
    assert error_of(each, handle, without_engine=True) < 3 * _EPSILON[each.data_type]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["softmax", "llama_attention", "squeeze_and_excitation"])
def test_programs_compute_the_same(name, handle):
    each = next(each for each in BLOCKS if each.name == name)
    assert error_of(each, handle) < 3 * _EPSILON[each.data_type]


def _softmax() -> Graph:
    graph = Graph("rows", io_data_type="float32")
    graph.softmax(graph.tensor((16, 32), name="x"))["y"].set_output(name="y")
    return graph


def _expected(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class _Timer(autotuning.Timer):
    """Takes a program to be twice as fast as a plan of one engine, or half as fast."""

    program = 5.0

    def __init__(self, handle, *, cold_cache):
        del handle, cold_cache

    def warm_up(self, times=200):
        del times

    def __call__(self, execute, runs):
        execute()
        return [self.program if isinstance(execute.plan, Program) else 10.0] * runs

    def close(self):
        pass


@pytest.mark.soak
@pytest.mark.parametrize("microseconds", [5.0, 20.0])
def test_the_faster_of_an_engine_and_a_program_is_kept(microseconds, handle, monkeypatch, tmp_path):
    monkeypatch.setattr(autotuning, "Timer", _Timer)
    monkeypatch.setattr(autotuning, "check_handle", lambda handle: None)
    monkeypatch.setattr(_Timer, "program", microseconds)
    each = next(each for each in BLOCKS if each.name == "layer_norm")
    graph, oracle = described(each)
    with graph:
        tuned = graph.autotune(handle, heuristics="a", cache=tmp_path, progress=False)
        is_faster = microseconds == 5.0
        assert isinstance(graph.plan, Program) == bool(tuned.best.pieces) == is_faster
        assert ("fastest: program of 3 plans" in str(tuned)) == is_faster
        assert tuned.measurements[-1].pieces[0] == "layernorm 'layernorm'"
        assert Autotuning.from_json(tuned.to_json()) == tuned
        numbers = operands(graph)
        exact = oracle(**{name: torch.from_numpy(x.astype("f8")) for name, x in numbers.items()})
        given = {name: DeviceTensor.from_numpy(x) for name, x in numbers.items()}
        got = torch.from_numpy(graph.run(given, handle=handle)["y"].numpy().astype("f8"))
        assert (got - exact["y"]).abs().max() < 2**-10 * exact["y"].abs().max()
        assert not isinstance(graph.build(handle, cache=tmp_path), Program)


def test_programs_are_measured_where_no_engine_takes_a_graph(handle, monkeypatch):
    monkeypatch.setattr(autotuning, "Timer", _Timer)
    monkeypatch.setattr(autotuning, "check_handle", lambda handle: None)
    with _softmax() as graph:
        tuned = graph.autotune(handle, progress=False)
        assert isinstance(graph.plan, Program)
        assert [each.title for each in tuned] == ["program of 3 plans"]
        with pytest.raises((NotSupportedError, BadParamError)):
            graph.autotune(handle, progress=False, program=False)


def test_one_plan_can_be_insisted_on():
    with pytest.raises((NotSupportedError, BadParamError)):
        _softmax().build("H100", program=False)
    each = next(each for each in BLOCKS if each.name == "rms_norm")
    assert kind(each, "H100") == ("plan", None)


def test_a_program_is_stored_bound_and_executed(handle):
    x = np.random.default_rng(0).standard_normal((16, 32)).astype("float32")
    memory = {"x": DeviceTensor.from_numpy(x), "y": DeviceTensor.zeros((16, 32), "float32")}
    with _softmax() as graph:
        program = graph.build(handle)
        assert isinstance(program, Program)
        assert len(program.steps) == len(program.choices) == 3
        engines = ", ".join(map(str, program.choices))
        assert repr(program) == f"Program({engines}; workspace of {graph.workspace_size} bytes)"
        notes = set().union(*(each.behavior_notes for each in program.plans))
        assert program.behavior_notes == notes - {"supports_cuda_graph_native_api"}
        assert program.numerical_notes == set().union(*(p.numerical_notes for p in program.plans))
        for ask, says in (
            (lambda: program.descriptor, "has a descriptor for each of its plans"),
            (lambda: program.config, "has a config for each"),
            (lambda: program.variant_pack({}), "has a variant pack for each"),
            (lambda: program.execute(handle, {}), "no memory was given"),
            (lambda: program.execute(handle, {}, shapes={1: ((1,), (1,))}), "for fixed shapes"),
        ):
            with pytest.raises(ValueError, match=says):
                ask()
        picture = unescape(graph.to_svg())
        assert "program of 3 plans" in picture
        assert "3: softmax 'softmax': engine" in picture
        assert picture.count("cut: ") == 2
        space = DeviceTensor.zeros((graph.workspace_size,), "uint8")
        graph.execute(memory, space)
        assert np.allclose(memory["y"].numpy(), _expected(x), atol=1e-6)
        memory["x"].fill(1.0)
        bound = graph.bind(memory, space)
        bound()
        assert np.allclose(memory["y"].numpy(), 1 / 32)
        bound.close()
        text = program.to_json()
    assert repr(program) == "Program(closed)"
    with pytest.raises(ValueError, match="this program is closed"):
        program.to_json()
    with _softmax() as graph:
        graph.load_plan(text, handle)
        assert graph.to_svg().count("cut: ") == 2
        memory["x"] = DeviceTensor.from_numpy(x)
        graph.execute(memory, space)
        assert np.allclose(memory["y"].numpy(), _expected(x), atol=1e-6)
        with pytest.raises(ValueError, match="damaged or changed"):
            graph.load_plan(text.replace("rows", "rowz"), handle)
    other = Graph("rows", io_data_type="float32")
    other.softmax(other.tensor((16, 64), name="x"))["y"].set_output(name="y")
    with pytest.raises(ValueError, match="another graph"):
        other.load_plan(text, handle)


def test_what_nothing_has_an_engine_for_is_named():
    graph = Graph(io_data_type="float16")
    graph.reduction(graph.tensor((8, 32), name="x"), "mul", axes=(1,)).set_output(name="y")
    pieces = graph.partition("H100")
    assert not pieces
    assert "reduction 'reduction'" in pieces.stuck[0]
    assert "no program" in str(pieces)
    with pytest.raises(NotSupportedError):
        graph.build("H100")


def test_partitions_as_data_and_text():
    pieces = _softmax().partition("B200")
    assert len(json.loads(json.dumps(pieces.as_dict()))["pieces"]) == len(pieces) == 3
    assert "1 and 2 are two: no engine takes" in str(pieces)
    assert pieces.launches == 3
    assert 21 <= pieces.microseconds < 22
    assert pieces._repr_html_().count("<svg") == 3


def test_many_operations_are_cut_without_asking_about_all_of_them(monkeypatch):
    """cuDNN takes seconds to refuse them. Equal pieces share one plan."""
    graph = Graph(io_data_type="float16")
    x = graph.tensor((1, 32, 64), name="x")
    for number in range(9):
        x = graph.relu(graph.matmul(x, graph.tensor((1, 64, 64), name=f"w{number}")))
    x.set_output(name="y")
    asked = []
    module = "cudnn_ctypes.graph.engines.cache.cached_building.obtained_plan"
    before = cached_building.obtained_plan
    monkeypatch.setattr(module, lambda e, *a, **o: asked.append(len(e.nodes)) or before(e, *a, **o))
    with graph:
        program = graph.build("H100")
        assert isinstance(program, Program)
        assert (len(program.steps), len(program.plans)) == (9, 1)
        assert program.workspace_size < 4 * 32 * 64 * 4
    assert max(asked) == 2
