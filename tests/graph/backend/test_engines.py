"""Heuristics, engines and plans for an H200 that need not be there."""

import pytest
from programs import ROOT, printed

from cudnn_ctypes import BackendDescriptor, Graph, raw
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.backend.engine import Engine, EngineChoice
from cudnn_ctypes.graph.engines.heuristics import heuristics
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.graph.run.plan import ExecutionPlan

from ..cases import image

SHAPE = (8, 64, 56, 56)


@pytest.fixture
def convolution(made):
    return made.convolution(SHAPE, 64)


@pytest.fixture
def configs(convolution, h200):
    found = heuristics(convolution, device=h200)
    yield found
    for each in found:
        each.close()


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_heuristics_propose_configs_whose_plans_are_built(configs, h200):
    assert len(configs) > 10
    for config in configs[:5]:
        with ExecutionPlan(config, device=h200) as plan:
            assert plan.workspace_size >= 0
            assert plan.config.knobs == config.knobs
            assert plan.config.engine.index == config.engine.index
            assert "tensor_core" in plan.numerical_notes
            assert plan.behavior_notes == config.behavior_notes


def test_knobs_are_chosen_and_checked(configs, convolution, h200):
    wanted = configs[0].knobs
    with Engine(convolution, configs[0].engine.index, device=h200) as engine:
        assert set(wanted) <= set(engine.knobs)
        with engine.config(wanted) as config, ExecutionPlan(config, device=h200) as plan:
            assert plan.config.knobs == wanted
        name = next(iter(wanted))
        with pytest.raises(ValueError, match=f"has no knob '{name}s'; did you mean '{name}'"):
            engine.config({f"{name}s": 0})
        with pytest.raises(ValueError, match=f"knob '{name}' of engine"):
            engine.config({name: 1 << 20})


# --- where cuBLASLt is missing --------------------------------------------------------------------


def _relu(g):
    return g.relu(g.tensor((8, 64, 32)))


def _attention(g):
    q, k, v = (g.tensor((2, 4, 64, 64)) for _ in range(3))
    return g.sdpa(q, k, v, generate_stats=False)[0]


def _rms_norm(g):
    scale = g.tensor((1, 256, 1, 1), data_type="float32")
    return g.rmsnorm("inference", g.tensor((64, 256, 1, 1)), scale, None, 1e-5)[0]


def _convolution(g):
    return g.conv_fprop(image(g, "x"), image(g, "w", (64, 32, 3, 3)), padding=1)


def _bias(g):
    return g.add(_convolution(g), g.tensor((1, 64, 1, 1)))


def _gradient(g):
    dy = image(g, "dy", (4, 64, 14, 14))
    dx = g.conv_dgrad(dy, image(g, "w", (64, 32, 3, 3)), padding=1)
    return dx.set_output(dims=(4, 32, 14, 14))


def _product(g):
    return g.relu(g.matmul(g.tensor((4, 64, 128)), g.tensor((4, 128, 64))))


# What is asked: heuristics, an engine by its index, a config of another engine. What ends the
# process before cuDNN 9.15, and from then on.
QUESTIONS = {
    "relu": (_relu, 1, 1, "", "heuristics config"),
    "attention": (_attention, 1, 1, "", "heuristics config"),
    "rms norm": (_rms_norm, 1, 1, "", "heuristics"),
    "convolution + relu": (lambda g: g.relu(_convolution(g)), 4, 4, "", "heuristics config"),
    "convolution": (_convolution, 3, 45, "heuristics engine", "heuristics engine"),
    "another engine of it": (_convolution, 45, 45, "heuristics", "heuristics"),
    "convolution + bias": (_bias, 12, 51, "heuristics engine", "heuristics engine"),
    "convolution backward data": (_gradient, 63, 57, "heuristics engine", "heuristics engine"),
    "matmul + relu": (_product, 0, 7, "heuristics engine", "heuristics engine config"),
}


@pytest.fixture
def without_cublas(monkeypatch):
    """Acts as if a version of cuDNN were loaded, and cuBLASLt not found."""
    loaded = raw.load()
    if not loaded.path.with_name("libcudnn_engines_precompiled.so.9").exists():
        pytest.skip("a reduced build")

    def missing(version):
        monkeypatch.setattr(loaded, "version", version)
        monkeypatch.setattr(loaded, "_missing", {f"libcublasLt.so.{loaded.cuda_major}"})

    return missing


def _refused(question):
    try:
        question().close()
    except NotSupportedError as error:
        return "ends the process when it is asked for engines" in str(error)
    return False


@pytest.mark.parametrize("version", [91400, 91500, 92800])
@pytest.mark.parametrize("name", QUESTIONS)
def test_what_ends_the_process_without_cublas_is_refused(name, version, h200, without_cublas):
    describe, index, other, before, later = QUESTIONS[name]
    with Graph(io_data_type="float16") as graph:
        describe(graph).set_output()
        with lowered(graph.expansion(h200), h200) as lowering:
            operations = lowering.graph
            engine = Engine(operations, other, device=h200)
            without_cublas(version)
            questions = {
                "heuristics": lambda: heuristics(operations, device=h200)[0],
                "engine": lambda: Engine(operations, index, device=h200),
                "config": engine.config,
            }
            refused = [what for what, question in questions.items() if _refused(question)]
    expected = before if version < 91500 else later
    assert refused == expected.split()


@pytest.mark.parametrize("version", [91400, 91500])
def test_a_chosen_kernel_needs_no_cublas(version, h200, without_cublas):
    """In a config, and in a plan that was stored."""
    with Graph(io_data_type="float16") as graph:
        _relu(graph).set_output()
        plan = graph.build(h200)
        choice, stored = plan.config.choice, [plan.to_json()]
        stored.append(graph.build(h200, config=EngineChoice(choice.engine)).to_json())
        with lowered(graph.expansion(h200), h200) as lowering:
            engine = Engine(lowering.graph, choice.engine, device=h200)
            without_cublas(version)
            knobs = [{"kernel_cfg": choice.knobs["kernel_cfg"]}, {"kernel_cfg": -1}, {}]
            refused = [_refused(lambda each=each: engine.config(each)) for each in knobs]
        assert refused == [False, version >= 91500, version >= 91500]
    plans = [BackendDescriptor("execution_plan") for _ in stored]
    loads = zip(plans, stored, strict=True)
    refused = [_refused(lambda p=p, t=t: p.set("json_representation", t) or p) for p, t in loads]
    assert refused == [False, version >= 91500]
    for each in plans:
        each.close()


@pytest.mark.soak
def test_without_cublas_the_process_goes_on():
    """In the loaded version, whichever it is."""
    program = """
        from cudnn_ctypes import Graph, NotSupportedError
        from cudnn_ctypes.raw import library
        from graph.backend import test_engines as questions

        for name in ("_load_with_pathfinder", "_load_from_wheel"):
            owner = library if hasattr(library, name) else library.Library
            load = getattr(owner, name)
            setattr(owner, name, lambda *args, load=load: "cublas" not in str(args) and load(*args))
        for describe in (questions._relu, questions._rms_norm, questions._product):
            with Graph(io_data_type="float16") as graph:
                describe(graph).set_output()
                try:
                    graph.build("H200")
                    print("built")
                except NotSupportedError as error:
                    print("refused" if "ends the process" in str(error) else error)
    """
    first = "built" if raw.load().version < 91500 else "refused"
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    assert printed(program, environment=paths) == [first, first, "refused"]
