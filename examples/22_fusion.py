"""Virtual tensors and fusion: what lies between the operations of a graph need not lie in memory.

z = relu(x w + bias) is three operations. As three graphs, x w and x w + bias are written to memory
and read again. As one graph they are virtual: tensors without memory, and all of it is one kernel.
What that saves is counted here in bytes, and measured where there is a GPU; and x w is not rounded
to float16 in between.
"""

from contextlib import ExitStack
from typing import Any

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Graph, Handle
from cudnn_ctypes.runtime import Event, elapsed_ms

M, K, N = 512, 64, 512
rng = np.random.default_rng(0)
memory: dict[str, Any] = {}
for name, shape in {"x": (1, M, K), "w": (1, K, N), "bias": (1, 1, N)}.items():
    memory[name] = DeviceTensor.from_numpy(np.array(rng.uniform(-1, 1, shape), "f2"))
for name in ("product", "sum", "z"):
    memory[name] = DeviceTensor.empty((1, M, N), "float16")


RESULTS = {"matmul": "product", "bias": "sum", "relu": "z"}


def described(*operations: str) -> Graph:
    """A graph of some of the operations, one after the other."""
    graph = Graph(", ".join(operations), io_data_type="float16")
    tensors: dict[str, Any] = {}

    def tensor(name: str) -> Any:
        if name not in tensors:
            tensors[name] = graph.tensor(memory[name].shape, name=name)
        return tensors[name]

    if "matmul" in operations:
        tensors["product"] = graph.matmul(tensor("x"), tensor("w"))
    if "bias" in operations:
        tensors["sum"] = graph.add(tensor("product"), tensor("bias"))
    if "relu" in operations:
        tensors["z"] = graph.relu(tensor("sum"))
    name = RESULTS[operations[-1]]
    tensors[name].set_output(name=name)  # all results but this one stay virtual
    return graph


def memory_of(graph: Graph) -> dict[str, Any]:
    """The tensors that are not virtual."""
    return {tensor.name: memory[tensor.name] for tensor in (*graph.inputs, *graph.outputs)}


def execute(handle: Handle, graphs: list[Graph]) -> str:
    """Run the graphs one after the other; the time on a GPU, the mean of 100 runs."""
    for graph in graphs:
        graph.build(handle)
    with ExitStack() as stack:
        size = max(1, *(graph.workspace_size for graph in graphs))
        workspace = stack.enter_context(DeviceBuffer(size))
        runs = [stack.enter_context(graph.bind(memory_of(graph), workspace)) for graph in graphs]
        for run in runs:
            run()
        if handle.on_reference_device:
            return "time: on a GPU only"
        with Event(handle.stream) as start:
            for _ in range(100):
                for run in runs:
                    run()
            with Event(handle.stream) as stop:
                return f"{10 * elapsed_ms(start, stop):.1f} us, measured"


x, w, bias = (memory[name].numpy().astype("f8") for name in ("x", "w", "bias"))
expected = np.maximum(x @ w + bias, 0)
with Handle() as cudnn:
    print(cudnn)
    ways = {
        "three graphs": [described("matmul"), described("bias"), described("relu")],
        "one graph": [described("matmul", "bias", "relu")],
    }
    for way, graphs in ways.items():
        time = execute(cudnn, graphs)
        error = np.abs(memory["z"].numpy() - expected).max()
        kilobytes = sum(t.nbytes for graph in graphs for t in memory_of(graph).values()) // 1024
        print(f"{way:13} {kilobytes:5} KiB of traffic, error {error:.0e}, {time}")
        memory["z"].copy_from(np.full((1, M, N), np.nan, "f2"))
    fused = ways["one graph"][0]
    print("virtual:", ", ".join(t.name for t in fused.tensors if t.virtual))
    for graph in (graph for graphs in ways.values() for graph in graphs):
        graph.close()

# Not everything fuses. What does not is refused, and advice has tried the way out.
with Graph("two convolutions", io_data_type="float16") as graph:
    image = graph.tensor((4, 64, 16, 16), layout="nhwc", name="image")
    first, second = (graph.tensor((64, 64, 3, 3), layout="krsc", name=n) for n in ("w1", "w2"))
    hidden = graph.relu(graph.conv_fprop(image, first, padding=1))
    graph.conv_fprop(hidden, second, padding=1).set_output(name="y")
    told = graph.explain("H200")
    usable = f"{len(told.usable)} of {told.engine_count} engines"
    print(f"\nconvolution, relu, convolution in one graph: {usable} on an H200")
    for suggestion in told.advice():
        print(suggestion)
