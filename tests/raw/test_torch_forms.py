"""Whether tensors of PyTorch are alike, as PyTorch compares them and as they are read."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from cudnn_ctypes.raw import torch_forms

torch: Any = pytest.importorskip("torch")

by_each_way = pytest.mark.parametrize("way", [torch_forms._guard, torch_forms._read])


def test_pytorch_compares_them() -> None:
    assert torch_forms._guards_work()


@by_each_way
def test_what_tells_tensors_apart(way: Any) -> None:
    x, y = torch.zeros(2, 3), torch.zeros(4, dtype=torch.float16)
    alike = way([x, y])
    for one, other in ((x, y), (torch.ones(2, 3), torch.ones(4).half()), (x[:], y.detach())):
        assert alike(one, other) is True
    others = {
        "strides": x.new_zeros(3, 2).t(),
        "gaps": x.new_zeros(2, 6)[:, ::2],
        "size": x[:1],
        "dims": x[None],
        "type": x.double(),
        "device": x.to("meta"),
        "negated": torch._neg_view(x),
        "class": torch.nn.Parameter(x, requires_grad=False),
        "none": None,
        "address": x.data_ptr(),
    }
    for name, other in others.items():
        assert alike(other, y) is False, name
    assert alike(x, x) is False
    assert way([torch.zeros(2, dtype=torch.complex64)])(x[0, :2].to(torch.complex64).conj()) is (
        False
    )


@by_each_way
def test_none_is_kept(way: Any) -> None:
    x = torch.zeros(2, 3)
    alike, kept = way([x]), weakref.ref(x)
    assert alike(x)
    del x
    gc.collect()
    assert kept() is None


def test_a_version_that_cannot_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards that find all alike, and none at all."""

    class Guards:
        def __init__(self, *tensors: Any, **options: Any) -> None:
            pass

        def check(self, *tensors: Any) -> bool:
            return True

    for guards in (Guards, None):
        torch_forms._guards_work.cache_clear()
        monkeypatch.setattr(torch._C._dynamo.guards, "TensorGuards", guards)
        alike = torch_forms.alike([torch.zeros(2, 3)])
        assert alike(torch.ones(2, 3))
        assert not alike(torch.ones(3, 2))
    torch_forms._guards_work.cache_clear()
