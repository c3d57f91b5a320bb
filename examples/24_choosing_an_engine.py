"""Which of cuDNN's engines computes a graph: all of them, those one wants, and the fastest.

A convolution with bias and ReLU. cuDNN has dozens of engines for it, and its heuristics propose
configs of some of them: an engine and values of its knobs. ``build`` takes the first that works.
Where there are few or none, advice says what to change. Without a GPU this looks at those for an
H200, and leaves the measuring out.
"""

from cudnn_ctypes import (
    DeviceProperties,
    EngineChoice,
    Graph,
    Handle,
    NoDeviceError,
    Selection,
)


def channels_last(n: int, c: int, h: int, w: int) -> tuple[int, int, int, int]:
    """Strides of (n, c, h, w)."""
    return h * w * c, 1, w * c, c


graph = Graph("block", io_data_type="float16")
x = graph.tensor((16, 64, 56, 56), channels_last(16, 64, 56, 56), name="x")
w = graph.tensor((64, 64, 3, 3), channels_last(64, 64, 3, 3), name="w")
b = graph.tensor((1, 64, 1, 1), channels_last(1, 64, 1, 1), name="b")
graph.relu(graph.bias(graph.conv_fprop(x, w, padding=1), b)).set_output(name="y")

with Handle() as handle, DeviceProperties.preset("H200") as h200:
    device = h200 if handle.on_reference_device else handle

    # Every engine, as a table on a terminal (told.show()) and as data.
    told = graph.explain(device)
    print(f"{len(told.usable)} configs can be used, for example")
    for row in told.usable[:3]:
        knobs = ", ".join(f"{name}={value}" for name, value in row.knobs.items())
        print(f"  {row.proposed_by[0]:6} engine {row.engine:2}, {row.kind}, {knobs}")
    print("and others not, because of")
    for reason, engines in list(told.reasons().items())[:3]:
        print(f"  engine {', '.join(map(str, engines))}: {reason}")

    # Conditions: build takes the first config that meets them.
    wanted = Selection(forbid="runtime_compilation", deterministic=True, workspace_limit=1 << 20)
    plan = graph.build(device, selection=wanted)
    print(f"\nprecompiled, deterministic, at most 1 MiB of workspace: {plan.config.choice}")

    # One engine by its index: the ranges of its knobs, and a plan with chosen values.
    row = next(row for row in told.usable if row.knobs)
    with graph.engine(device, row.engine) as engine:
        for name, knob in engine.knobs.items():
            print(f"knob {name} of engine {engine.index}: {knob.minimum} to {knob.maximum}")
    plan = graph.build(device, config=EngineChoice(row.engine, row.knobs))
    print(f"built as chosen: {plan.config.choice}")

    # The same images stored as in C: fewer engines take them. Advice has tried what helps; each
    # suggestion holds the changed graph.
    as_in_c = graph.replaced({tensor: {"strides": None} for tensor in graph.tensors})
    print("\nstored as in C:")
    for suggestion in as_in_c.explain(device).advice():
        print(suggestion)

    # The fastest, measured on random numbers; the graph keeps its plan.
    try:
        tuned = graph.autotune(handle, budget=20, runs=10)
        print(f"\n{tuned.best.choice}: {tuned.best.median:.1f} us, {len(tuned)} configs looked at")
        tuned.show()
    except NoDeviceError as error:
        print(f"\nnot measured: {error}")
    graph.close()
