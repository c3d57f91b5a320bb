"""Seven operations, each said to both of cuDNN's APIs, with the same numbers.

The legacy API has a function per operation (its C name stands in the table), the graph API an
operation in a graph. float16 with channels last, as engines on tensor cores want it; sums in
float32 either way.
"""

from collections.abc import Callable

import numpy as np

from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Graph,
    Handle,
    OpTensorDescriptor,
    PoolingDescriptor,
    activation_forward,
    add_tensor,
    batch_normalization_forward_inference,
    convolution_bias_activation_forward,
    op_tensor,
    pooling_forward,
    reduce_tensor,
)
from cudnn_ctypes.graph import Tensor

Named = Callable[[str], Tensor]
Describe = Callable[[Graph, Named], Tensor]

N, C, H, K = 2, 16, 8, 16
rng = np.random.default_rng(0)


def numbers(*shape: int, data_type: str = "f2", low: float = -1) -> DeviceTensor:
    values = np.array(rng.uniform(low, 1, shape), data_type)
    return DeviceTensor.from_numpy(values, layout="NHWC")


memory = {
    "x": numbers(N, C, H, H),
    "z": numbers(N, C, H, H),
    "w": numbers(K, C, 3, 3),
    "b": numbers(1, K, 1, 1),
    "scale": numbers(1, C, 1, 1, data_type="f4"),
    "shift": numbers(1, C, 1, 1, data_type="f4"),
    "mean": numbers(1, C, 1, 1, data_type="f4"),
    "variance": numbers(1, C, 1, 1, data_type="f4", low=0.1),
}
x, z, w, b, scale, shift, mean, variance = memory.values()
EPSILON = 1e-5
memory["inv_variance"] = DeviceTensor.from_numpy(
    (1 / np.sqrt(variance.numpy() + EPSILON)).astype("f4"), layout="NHWC"
)


def by_graph(handle: Handle, describe: Describe) -> np.ndarray:
    """Describe a graph, build it, and run it with the memory of the tensors that it names."""
    given: dict[str, DeviceTensor] = {}

    def tensor(name: str) -> Tensor:
        given[name] = memory[name]
        return graph.tensor_like(memory[name], name=name)

    with Graph(io_data_type="float16") as graph:
        describe(graph, tensor).set_output(name="y")
        result: np.ndarray = graph.run(given, handle=handle)["y"].numpy()
    return result


def convolved(graph: Graph, tensor: Named) -> Tensor:
    product = graph.conv_fprop(tensor("x"), tensor("w"), padding=1)
    return graph.relu(graph.bias(product, tensor("b")))


def channel_sums(graph: Graph, tensor: Named) -> Tensor:
    """Engines for sums give float32 only."""
    return graph.reduction(tensor("x"), "add", axes=(0, 2, 3)).set_output(data_type="float32")


def normalized(graph: Graph, tensor: Named) -> Tensor:
    names = ("x", "mean", "inv_variance", "scale", "shift")
    return graph.batchnorm_inference(*(tensor(name) for name in names))


with (
    Handle() as cudnn,
    ConvolutionDescriptor(padding=1) as same,
    PoolingDescriptor(2) as halves,
    OpTensorDescriptor("mul") as product,
):
    print(cudnn)
    added = DeviceTensor.from_numpy(z.numpy(), layout="NHWC")
    parameters = (scale, shift, mean, variance)
    both: dict[str, tuple[DeviceTensor, Describe]] = {
        "cudnnConvolutionBiasActivationForward": (
            convolution_bias_activation_forward(cudnn, x, w, same, b, "relu"),
            convolved,
        ),
        "cudnnActivationForward": (
            activation_forward(cudnn, x, "tanh"),
            lambda graph, tensor: graph.tanh(tensor("x")),
        ),
        "cudnnAddTensor": (
            add_tensor(cudnn, x, added),
            lambda graph, tensor: graph.add(tensor("x"), tensor("z")),
        ),
        "cudnnOpTensor": (
            op_tensor(cudnn, x, z, product),
            lambda graph, tensor: graph.mul(tensor("x"), tensor("z")),
        ),
        "cudnnPoolingForward": (
            pooling_forward(cudnn, x, halves),
            lambda graph, tensor: graph.resample(tensor("x"), "maxpool", window=2, stride=2)[0],
        ),
        "cudnnReduceTensor": (
            reduce_tensor(cudnn, x, "add", c_shape=(1, C, 1, 1)).c,
            channel_sums,
        ),
        "cudnnBatchNormalizationForwardInference": (
            batch_normalization_forward_inference(cudnn, x, *parameters, epsilon=EPSILON),
            normalized,
        ),
    }
    print(f"{'legacy function':40} {'its first numbers':24} the graph's              difference")
    for function, (legacy, describe) in both.items():
        built = by_graph(cudnn, describe)
        one, other = (np.asarray(each, "f8").ravel() for each in (legacy.numpy(), built))
        difference = np.abs(one - other).max()
        print(f"{function:40} {one[:3].round(3)!s:24} {other[:3].round(3)!s:24} {difference:.0e}")
        assert difference < 2e-2 * np.abs(one).max()
