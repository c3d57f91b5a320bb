"""Where programs for the front end run, and what they leave as they found it."""

from __future__ import annotations

from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import use_reference_device
from cudnn_ctypes.frontend import handles

PLACES = [pytest.param("cuda", marks=pytest.mark.gpu), "cpu"]


@pytest.fixture(autouse=True, scope="module")
def closed_default_handles():
    """While a handle of the reference device is open, all calls of the process are followed."""
    yield
    for key in [each for each in handles._default if each[0]]:
        handles._default.pop(key).close()


@pytest.fixture(params=PLACES)
def device(request):
    """Where PyTorch's tensors are: on the GPU, or on the host for the reference device."""
    with use_reference_device(request.param == "cpu", device="A100"):
        yield request.param


def randn(*shape: int, device: str, dtype: Any = None, seed: int = 0) -> Any:
    import torch

    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(device, dtype or torch.bfloat16)


def nothing(like: Any, *shape: int) -> Any:
    """Memory full of NaN, of the type and place of another tensor."""
    return like.new_full(shape, float("nan")) if shape else 0 * like + float("nan")


def workspace_of(graph: Any, device: str) -> Any:
    import torch

    return torch.empty(max(graph.get_workspace_size(), 1), dtype=torch.uint8, device=device)


def synchronize(device: str) -> None:
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def execute(graph: Any, memory: dict[Any, Any], device: str) -> None:
    graph.execute(memory, workspace_of(graph, device))
    synchronize(device)


def close(got: Any, expected: Any, tolerance: float) -> None:
    """Compare relative to the largest magnitude."""
    error = (got.cpu().double() - expected.cpu().double()).abs().max()
    assert error <= tolerance * expected.abs().max(), float(error / expected.abs().max())


class Product:
    """relu(a @ b) of float16 as tensors 1, 2 and 3, with memory for them."""

    def __init__(self, device: str, *, arrays: bool = False, **options: Any) -> None:
        import torch

        self.device = device
        self.a = randn(4, 64, 32, device=device, dtype=torch.float16)
        self.b = randn(4, 32, 64, device=device, dtype=torch.float16, seed=5)
        self.c = nothing(self.a, 4, 64, 64)
        self.graph = graph = cudnn.pygraph(
            **{"io_data_type": torch.float16, "intermediate_data_type": torch.float32, **options},
            compute_data_type=cudnn.data_type.FLOAT,
        )
        a, b = self.a, self.b
        if not arrays:
            a = graph.tensor_like(a, name="a").set_uid(1)
            b = graph.tensor(dim=[4, 32, 64], stride=[2048, 64, 1], name="b").set_uid(2)
        self.out = graph.relu(graph.matmul(a, b, name="product"), name="relu")
        self.out.set_output(True).set_name("y").set_uid(3)

    @property
    def memory(self) -> dict[Any, Any]:
        return {1: self.a, 2: self.b, 3: self.c}

    @property
    def workspace(self) -> Any:
        return self.a.new_empty(32 << 20)

    def check(self) -> None:
        """Compare the result, and remove it."""
        synchronize(self.device)
        # float16 has 11 bits: one rounding of the result, and one of its difference to PyTorch's.
        close(self.c, (self.a.double() @ self.b.double()).relu(), 2 * 2.0**-11)
        self.c.fill_(float("nan"))
        synchronize(self.device)
