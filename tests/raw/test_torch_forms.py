"""Tensors of PyTorch: whether they are alike, and whether their elements are in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import frontend, raw
from cudnn_ctypes.raw import torch_forms

torch: Any = pytest.importorskip("torch")

by_each_way = pytest.mark.parametrize("way", [torch_forms._guard, torch_forms._read])


def test_pytorch_compares_them() -> None:
    assert torch_forms._guards_work()


@by_each_way
def test_tensors_of_any_shape(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_forms, "_guards_work", lambda: way is torch_forms._guard)
    monkeypatch.setattr(torch_forms, "_kinds", torch_forms.Bounded())
    x = torch.zeros(2, 3)
    alike = torch_forms.alike_but_for_shapes([x])
    for other in (x, torch.ones(7, 1), torch.ones(4, 6)[:, ::2].t()):
        assert alike(other) is True
        assert torch_forms.alike_but_for_shapes([other]) is alike
    for other in (x.double(), x.to("meta"), torch._neg_view(x), None):
        assert alike(other) is False
    with torch.inference_mode():
        for other in (x, torch.ones(5, 2)):
            assert torch_forms.alike_but_for_shapes([other])(other[:1]) is True
    assert torch_forms.alike_but_for_shapes([x]) is alike


def test_pytorch_tells_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch_forms.tells_gradients()
    monkeypatch.setattr(torch_forms, "_guards_work", lambda: False)
    monkeypatch.setattr(torch_forms, "_kinds", torch_forms.Bounded())
    assert not torch_forms.tells_gradients.__wrapped__()


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


SHAPE = (2, 3, 4, 4)


def without_memory() -> Any:
    x = torch.ones(SHAPE)
    x.untyped_storage().resize_(0)
    return x


def in_vmap() -> Any:
    seen: list[Any] = []
    torch.func.vmap(lambda x: [seen.append(x), x][1])(torch.ones(2, *SHAPE))
    return seen[0]


def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(SHAPE)


UNREADABLE: list[tuple[Callable[[], Any], str]] = [
    (lambda: torch.ones(SHAPE).to_sparse(), "layout torch.sparse_coo: pass its to_dense"),
    (lambda: torch.ones(6, 16).to_sparse_csr(), "layout torch.sparse_csr: pass its to_dense"),
    (lambda: torch.ones(SHAPE).to_mkldnn(), "layout torch._mkldnn: pass its to_dense"),
    (lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)]), "a nested one"),
    (lambda: torch._neg_view(torch.ones(SHAPE)), "negates .*: pass its resolve_neg"),
    (lambda: torch.ones(SHAPE, dtype=torch.complex64).conj(), "conjugates .*resolve_conj"),
    (without_memory, "this torch.Tensor on device 'cpu' has none"),
    (in_vmap, "this torch.Tensor on device 'cpu' has none"),
    (fake, "FakeTensor on device 'cpu' has none"),
]


@pytest.mark.filterwarnings("ignore")  # of prototypes
@pytest.mark.parametrize(("make", "says"), UNREADABLE[:-1])  # loading the last takes seconds
def test_why_elements_cannot_be_read(make: Callable[[], Any], says: str) -> None:
    assert re.search(says, torch_forms.unreadable(make()))


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")  # of prototypes
def test_elements_that_are_not_in_memory() -> None:
    """Every layer refuses them by the operand's name, after dense tensors too."""
    dense = torch.ones(SHAPE)
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.DeviceTensor.zeros(SHAPE, "float32") as y,
        cudnn.TensorDescriptor(SHAPE, "float32") as desc,
        cudnn.ActivationDescriptor("relu") as relu,
        cudnn.Graph(io_data_type="float32") as graph,
    ):
        graph.relu(graph.tensor(SHAPE, name="x")).set_output(name="y")
        plan = graph.build(handle)
        built = frontend.pygraph(handle=handle, io_data_type="float32")
        built.relu(built.tensor(name="x", dim=SHAPE, stride=dense.stride())).set_output(True)
        built.build([frontend.heur_mode.A])
        uids = sorted(plan.uids)
        calls: list[tuple[Callable[[Any], Any], str]] = [
            (lambda x: raw.cudnnActivationForward(handle, relu, 1, desc, x, 0, desc, y), r".*'x'"),
            (lambda x: cudnn.activation_forward(handle, x, relu), "x: "),
            (lambda x: graph.execute({"x": x, "y": y}), "x: "),
            (lambda x: graph.execute({"x": x, "y": y}, check=False), "x: "),
            (lambda x: graph.run({"x": x}), "x: "),
            (lambda x: graph.bind({"x": x, "y": y}), "x: "),
            (lambda x: plan.execute(handle, dict(zip(uids, (x, y), strict=True))), ".*pointers"),
            (lambda x: built.execute({"x": x, uids[1]: y}), "x: "),
            (cudnn.as_tensor, ""),
            (cudnn.DeviceTensor.from_dlpack, ""),
        ]
        for make, reason in UNREADABLE:
            odd = make()
            for call, name in calls:
                call(dense)
                call(torch.ones(SHAPE))
                with pytest.raises((TypeError, BufferError), match=f"^{name}.*{reason}"):
                    call(odd)
