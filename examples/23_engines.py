"""The four kinds of engines, and what a GPU's compute capability changes.

Two kinds are precompiled: engines for a single operation, and engines for certain groups of
operations. Two compile their kernels when a plan is built: for general fusion, and for one pattern
such as attention. Which of them there are depends on the GPU. Its properties suffice to ask, so any
GPU can be asked about anywhere.
"""

from collections.abc import Callable

import numpy as np

from cudnn_ctypes import DeviceProperties, DeviceTensor, Graph, Handle, use_reference_device

GPUS = ("T4", "A100", "RTX 4090", "H200", "B200")


def convolution(*, bias: bool = False, relu: bool = False, gelu: bool = False) -> Graph:
    graph = Graph("convolution", io_data_type="float16")
    x = graph.tensor((4, 64, 28, 28), layout="nhwc", name="x")
    w = graph.tensor((64, 64, 3, 3), layout="krsc", name="w")
    y = graph.conv_fprop(x, w, padding=1)
    if bias:
        y = graph.bias(y, graph.tensor((1, 64, 1, 1), layout="nhwc", name="b"))
    y = graph.relu(y) if relu else y
    y = graph.gelu(y) if gelu else y
    y.set_output(name="y")
    return graph


def attention() -> Graph:
    graph = Graph("attention", io_data_type="float16")
    q, k, v = (graph.tensor((2, 8, 512, 64), name=name) for name in "qkv")
    graph.sdpa(q, k, v, attn_scale=0.125, use_causal_mask=True)[0].set_output(name="o")
    return graph


def eight_bits() -> Graph:
    graph = Graph("8 bits", io_data_type="fp8_e4m3")
    a = graph.tensor((1, 512, 512), name="a")
    b = graph.tensor((1, 512, 512), (512 * 512, 1, 512), name="b")  # each column lies together
    graph.matmul(a, b).set_output(name="y", data_type="float16")
    return graph


graphs: dict[str, Callable[[], Graph]] = {
    "convolution": convolution,
    "convolution, bias, relu": lambda: convolution(bias=True, relu=True),
    "convolution, gelu": lambda: convolution(gelu=True),
    "attention": attention,
    "8-bit matmul": eight_bits,
}

print("Engines that take a graph: precompiled + compiled when the plan is built\n")
capabilities: list[str] = []
for gpu in GPUS:
    with DeviceProperties.preset(gpu) as properties:
        capabilities.append(".".join(map(str, properties.compute_capability)))
print(f"{'':24}", *(f"{gpu:>9}" for gpu in GPUS))
print(f"{'compute capability':24}", *(f"{capability:>9}" for capability in capabilities))
reasons: dict[tuple[str, str], list[str]] = {}
for name, describe in graphs.items():
    cells: list[str] = []
    for gpu in GPUS:
        told = describe().explain(gpu)
        ready = {row.engine for row in told.usable if row.kind == "precompiled"}
        cells.append(f"{len(ready)} + {len({row.engine for row in told.usable} - ready)}")
        if not told.usable:
            reasons[name, gpu] = [reason for reason in told.reasons() if "ARCH" in reason]
    print(f"{name:24}", *(f"{cell:>9}" for cell in cells))

print("\nWhy there is none, in cuDNN's words:")
for (name, gpu), about_the_gpu in reasons.items():
    print(f"  {name} on {gpu}: {about_the_gpu[0] if about_the_gpu else 'for other reasons'}")

# A program runs on the reference device as if on that GPU: another engine, the same numbers.
rng = np.random.default_rng(0)
image = np.array(rng.uniform(-1, 1, (4, 64, 28, 28)), "f2")
filters = np.array(rng.uniform(-0.1, 0.1, (64, 64, 3, 3)), "f2")
results: list[np.ndarray] = []
print("\nconvolution, built on the reference device that stands for")
for gpu in ("A100", "H200"):
    with (
        use_reference_device(device=gpu),
        Handle() as handle,
        graphs["convolution"]() as graph,
        DeviceTensor.from_numpy(image, layout="NHWC") as x,
        DeviceTensor.from_numpy(filters, layout="NHWC") as w,
    ):
        plan = graph.build(handle)
        results.append(graph.run({"x": x, "w": w})["y"].numpy())
        print(f"  {gpu:5} {plan.config.choice}")
assert all(np.array_equal(result, results[0]) for result in results)
