"""Exercises of lesson 10: fusion and engines."""

from cudnn_ctypes import Graph, Handle, use_reference_device
from cudnn_ctypes.evidence.exercises import Exercise, Lesson


def has_engine(choose):
    """Ask cuDNN for engines of an 8-bit product with the chosen strides and GPU."""
    found = choose()
    if not isinstance(found, tuple) or len(found) != 2:
        return "return the strides of b and the name of a GPU"
    strides, gpu = found
    graph = Graph("8 bits", io_data_type="fp8_e4m3")
    a = graph.tensor((1, 512, 512), name="a")
    b = graph.tensor((1, 512, 512), strides, name="b")
    graph.matmul(a, b).set_output(name="y", data_type="float16")
    if graph.explain(gpu).usable:
        return ""
    old = gpu in ("T4", "A100")
    advice = "another GPU" if old else "columns of b whose numbers lie together"
    return f"no engine takes it on {gpu}; try {advice}"


def image_graph():
    graph = Graph("convolution", io_data_type="float16")
    x = graph.tensor((4, 64, 28, 28), layout="nhwc", name="x")
    w = graph.tensor((64, 64, 3, 3), layout="krsc", name="w")
    graph.conv_fprop(x, w, padding=1).set_output(name="y")
    return graph


def less_workspace(build_frugal):
    """Hold the workspace of a plan against that of the heuristics' first proposal."""
    with use_reference_device(device="H200"), Handle() as handle:
        with image_graph() as first:
            first.build(handle)
            usual = first.workspace_size
        with image_graph() as graph:
            build_frugal(handle, graph)
            try:
                found = graph.workspace_size
            except Exception:
                return "the graph has no plan: call graph.build"
            if found < usual:
                return ""
    return f"its plan wants {found} bytes of workspace, as the first proposal does"


lesson = Lesson(
    Exercise("choose", 10, judge=has_engine, calls=["cudnnBackendFinalize"]),
    Exercise(
        "saved",
        10,
        cases=[(512, 64, 512), (100, 10, 30)],
        expected=lambda rows, inner, columns: 4 * 2 * rows * columns,
        mistakes={
            "it is half: a number has 2 bytes, and a tensor is written and read again": (
                lambda rows, inner, columns: 4 * rows * columns
            ),
            "there is one tensor more between three operations": (
                lambda rows, inner, columns: 2 * rows * columns
            ),
        },
    ),
    Exercise("build_frugal", 15, judge=less_workspace, calls=["cudnnBackendFinalize"]),
)
check = lesson.check
