"""Solutions of lesson 9: a first graph."""

from cudnn_ctypes import DeviceTensor, Graph, Handle, use_reference_device

use_reference_device()
handle = Handle()


def gate(graph, x, z):
    """Element by element, a product is `mul`; `x * graph.sigmoid(z)` is the same."""
    return graph.mul(x, graph.sigmoid(z))


def linear(a, b, c):
    """`run` builds the graph, allocates y and executes the plan."""
    arrays = {"a": a, "b": b, "c": c}
    with Graph("linear", io_data_type="float16") as graph:
        of_a, of_b, of_c = (
            graph.tensor(each.shape, name=name) for name, each in arrays.items()
        )
        graph.add(graph.matmul(of_a, of_b), of_c).set_output(name="y")
        memory = {name: DeviceTensor.from_numpy(each) for name, each in arrays.items()}
        return graph.run(memory, handle=handle)["y"].numpy()


def two_convolutions(image, w1, w2):
    """Two graphs: the result of the first is an input of the second."""
    x = DeviceTensor.from_numpy(image, layout="NHWC")
    for filters in (w1, w2):
        with Graph("convolution", io_data_type="float16") as graph:
            of_x = graph.tensor(x.shape, layout="nhwc", name="x")
            of_w = graph.tensor(filters.shape, layout="krsc", name="w")
            graph.conv_fprop(of_x, of_w, padding=1).set_output(name="y")
            w = DeviceTensor.from_numpy(filters, layout="NHWC")
            x = graph.run({"x": x, "w": w}, handle=handle)["y"]
    return x.numpy()
