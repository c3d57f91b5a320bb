"""Batch normalization over two GPUs, each with half of a batch, as if one GPU had all of it.

Two GPUs that normalize half a batch each by its own mean and variance train another network than
one GPU with all of it. cuDNN's kernels exchange their sums instead: each GPU has a buffer ("peer
stats") that the others can read, so all GPUs run at the same time and wait for each other. Without
two GPUs that reach each other's memory, this shows what the statistics of the halves are.
"""

import threading

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceTensor, Graph, Handle
from cudnn_ctypes.graph import Tensor
from cudnn_ctypes.runtime import device_count

Arrays = dict[str, NDArray[np.floating]]

N, C, H, W = 16, 32, 8, 8
EPSILON = 1e-5
rng = np.random.default_rng(1)
x = (rng.standard_normal((N, C, H, W)) + np.linspace(-1, 1, N)[:, None, None, None]).astype("f2")
dy = rng.standard_normal((N, C, H, W)).astype("f2")
scale = rng.uniform(0.5, 2, (1, C, 1, 1)).astype("f4")
bias = rng.standard_normal((1, C, 1, 1)).astype("f4")


def tensors(graph: Graph, gpus: int, *names: str) -> tuple[list[Tensor], list[Tensor]]:
    """Tensors of one number a channel, and the buffers by which so many GPUs exchange sums."""
    of_channels = [
        graph.tensor((1, C, 1, 1), layout="nhwc", data_type="float32", name=name) for name in names
    ]
    buffers = [
        graph.tensor((gpus, 4 * C, 1, 1), layout="nhwc", data_type="float32", name=f"peer {gpu}")
        for gpu in range(gpus if gpus > 1 else 0)
    ]
    return of_channels, buffers


def forward(gpus: int) -> Graph:
    graph = Graph("forward", io_data_type="float16")
    x = graph.tensor((N // gpus, C, H, W), layout="nhwc", name="x")
    (scale, bias), buffers = tensors(graph, gpus, "scale", "bias")
    y, mean, inv_variance, *_ = graph.batchnorm(x, scale, bias, epsilon=EPSILON, peer_stats=buffers)
    y.set_output(name="y")
    mean.set_output(name="mean", data_type="float32")
    inv_variance.set_output(name="inv_variance", data_type="float32")
    return graph


def backward(gpus: int) -> Graph:
    graph = Graph("backward", io_data_type="float16")
    dy, x = (graph.tensor((N // gpus, C, H, W), layout="nhwc", name=name) for name in ("dy", "x"))
    (scale, mean, inv_variance), buffers = tensors(graph, gpus, "scale", "mean", "inv_variance")
    gradients = graph.norm_backward("batch", dy, x, scale, mean, inv_variance, peer_stats=buffers)
    for name, gradient in gradients.items():
        gradient.set_output(name=name, data_type="float16" if name == "dx" else "float32")
    return graph


def train(handles: list[Handle]) -> Arrays:
    """Forward and backward on GPUs with equal parts of the batch; what it gives for all of it."""
    gpus = len(handles)
    for gpu, handle in enumerate(handles):
        if gpus > 1:  # memory of each is for the others, too
            others = set(range(gpus)) - {gpu}
            handle.device.memory_resource.peer_accessible_by = others
    parts: list[Arrays] = [{} for _ in handles]
    buffers = [
        [
            DeviceTensor.zeros((gpus, 4 * C, 1, 1), "float32", "nhwc", device=gpu)
            for gpu in range(gpus)
        ]
        for _ in range(2)
    ]

    def run(gpu: int) -> None:
        mine = slice(gpu * N // gpus, (gpu + 1) * N // gpus)
        given = {"x": x[mine], "dy": dy[mine], "scale": scale, "bias": bias}
        memory = {
            name: DeviceTensor.from_numpy(array, layout="nhwc", device=handles[gpu].device)
            for name, array in given.items()
        }
        for graph, shared in zip(built[gpu], buffers, strict=True):
            peers = {f"peer {i}": buffer for i, buffer in enumerate(shared)}
            everything = {**memory, **peers}
            wanted = {each.name: everything[each.name] for each in graph.inputs}
            memory |= graph.run(wanted, handle=handles[gpu])
        handles[gpu].synchronize()
        parts[gpu] = {name: tensor.numpy() for name, tensor in memory.items()}

    built = [(forward(gpus), backward(gpus)) for _ in handles]
    for pair, handle in zip(built, handles, strict=True):
        for graph in pair:
            graph.build(handle)
    # The kernels wait for each other, so no GPU may wait for another's launch.
    threads = [threading.Thread(target=run, args=(gpu,)) for gpu in range(gpus)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for graph in (graph for pair in built for graph in pair):
        graph.close()
    found = dict(parts[0])  # mean and inv_variance are the same on all GPUs
    for name in ("y", "dx"):
        found[name] = np.concatenate([part[name] for part in parts])
    for name in ("dscale", "dbias"):  # each GPU sums over its own images
        found[name] = np.sum([part[name] for part in parts], axis=0)
    return found


def exact() -> Arrays:
    """The whole batch in float64."""
    wide, axes = x.astype("f8"), (0, 2, 3)
    mean = wide.mean(axes, keepdims=True)
    inv_variance = 1 / np.sqrt(wide.var(axes, keepdims=True) + EPSILON)
    normal, gradient = (wide - mean) * inv_variance, dy.astype("f8")
    dscale = (gradient * normal).sum(axes, keepdims=True)
    dbias = gradient.sum(axes, keepdims=True)
    count = x.size // C
    return {
        "y": normal * scale + bias,
        "mean": mean,
        "inv_variance": inv_variance,
        "dx": scale * inv_variance * (gradient - dbias / count - normal * dscale / count),
        "dscale": dscale,
        "dbias": dbias,
    }


def largest(difference: NDArray[np.floating]) -> float:
    return float(np.abs(difference).max())


if __name__ == "__main__":
    first = Handle()
    handles = [first, Handle(device=1)] if device_count() > 1 else [first]
    found, expected = train(handles), exact()
    for name, wanted in expected.items():
        print(f"{name:13} on {len(handles)} x {N // len(handles)} images: ", end="")
        print(f"largest difference from float64 {largest(found[name] - wanted):.1e}")
    if len(handles) == 1:
        for part in (x[: N // 2], x[N // 2 :]):
            mean = part.astype("f8").mean((0, 2, 3), keepdims=True)
            print(
                f"the mean of half a batch differs by up to {largest(mean - expected['mean']):.2f}"
            )
        print("two GPUs are needed to exchange them")
    for handle in handles:
        handle.close()
