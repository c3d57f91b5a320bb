"""Where programs for the front end run, and what they leave as they found it."""

from __future__ import annotations

from typing import Any

import pytest

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
