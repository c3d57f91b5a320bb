"""A graph that runs like a function: operators on tensors, ``Graph.run``, and ``@graph_function``.

The graph API describes, builds, and then executes with memory for each tensor. Where that is more
than one wants to say, a graph builds itself when it first runs, and makes its outputs: tensors of
PyTorch where the inputs are, as here DeviceTensors.
"""

from time import perf_counter
from typing import Any

import numpy as np

from cudnn_ctypes import DeviceTensor, Graph, graph_function

rng = np.random.default_rng(0)
x, w, b = (
    rng.standard_normal(shape).astype("float16")
    for shape in ((1, 64, 128), (1, 128, 32), (1, 1, 32))
)
memory = {name: DeviceTensor.from_numpy(each) for name, each in (("x", x), ("w", w), ("b", b))}
expected = np.maximum(x.astype(float) @ w.astype(float) / 8 + b.astype(float), 0)

# Operators add the operations that they stand for; numbers are passed by value.
with Graph("layer", io_data_type="float16") as graph:
    x_, w_, b_ = (graph.tensor(each.shape, name=name) for name, each in memory.items())
    graph.relu(x_ @ w_ / 8 + b_).set_output(name="y")
    print(graph)

    # Built by the first run, for the GPU that has the memory.
    for call in ("first", "second"):
        begin = perf_counter()
        y = graph.run(memory)["y"]
        print(f"{call:6} run: {y.shape}, {1000 * (perf_counter() - begin):8.3f} ms")
    print("right to within 1%:", np.allclose(y.numpy(), expected, rtol=0.01, atol=0.01))


# The same as a function of memory: described when it is called with new shapes, types or layouts.
@graph_function
def layer(graph: Graph, x: Any, w: Any, b: Any, scale: float = 1.0) -> Any:
    return graph.relu(x @ w * scale + b)


# Called with tensors of a graph, such a function adds its operations to that graph.
@graph_function
def two_layers(graph: Graph, x: Any, w: Any, b: Any, v: Any) -> Any:
    hidden = layer(x, w, b, 1 / 8)
    return hidden, hidden @ v


v = DeviceTensor.from_numpy(rng.standard_normal((1, 32, 16)).astype("float16"))
y = layer(memory["x"], memory["w"], memory["b"], 1 / 8)
print("\nthe function gives the same:", np.allclose(y.numpy(), expected, rtol=0.01, atol=0.01))
print(two_layers.graph(*memory.values(), v))

# Layouts by name: dims are those of (n, c, h, w), channels lie together in memory.
with Graph(io_data_type="float16") as images:
    image = images.tensor((8, 64, 56, 56), layout="nhwc", name="image")
    filters = images.tensor((32, 64, 3, 3), layout="krsc", name="filters")
    features = images.conv_fprop(image, filters, padding=1).set_output()
    images.validate()
    print(f"\nnhwc: strides {image.strides}; the result follows: {features.strides}")
layer.clear()
