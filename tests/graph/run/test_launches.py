"""Executions with keys that were there before go a short way, which leaves out no check."""

from __future__ import annotations

import gc
import platform
import types
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import frontend, raw
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run import plan as plan_module
from cudnn_ctypes.graph.run.execution import Execution
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.raw import log, torch_forms
from cudnn_ctypes.raw.function import observe
from cudnn_ctypes.resource import Resource
from cudnn_ctypes.runtime.cuda import CUDA
from cudnn_ctypes.runtime.launching import bound, machine_code
from cudnn_ctypes.runtime.launching.bound import sequence
from cudnn_ctypes.runtime.launching.executions import Executions

from .executions import BAD_PARAM, Array, Memory, Product, StandIn, made_up_handle


class DType(str):
    is_complex = False


class Tensor:
    """A tensor as PyTorch has them, on a GPU."""

    layout = "strided"
    is_nested = False

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...] = (4, 64, 64),
        dtype: str = "torch.float16",
        *,
        is_cuda: bool = True,
    ) -> None:
        self._address = address
        self.shape, self.dtype, self.is_cuda = shape, DType(dtype), is_cuda
        self.device = SimpleNamespace(type="cuda" if is_cuda else "cpu")
        self.is_negated = False  # when it is read
        self.asked: list[str] = []

    @property
    def nbytes(self) -> int:
        size = self.element_size()
        for each in self.shape:
            size *= each
        return size

    def element_size(self) -> int:
        return 4 if self.dtype.endswith("32") else 2

    def data_ptr(self) -> int:
        return self._address

    def is_neg(self) -> bool:
        return self.is_negated

    def stride(self) -> tuple[int, ...]:
        self.asked.append("stride")
        strides, step = [], 1
        for each in reversed(self.shape):
            strides.append(step)
            step *= each
        return tuple(reversed(strides))


Tensor.__module__ = "torch"

A, B, C, SPACE = 0x10000, 0x20000, 0x30000, 0x5000000
SIZE = 1 << 12


class LongWay:
    """Notes the executions that go the long way, and makes none."""

    def __init__(self, known: Executions) -> None:
        self.calls = 0
        self._known = known

    def __call__(self, handle: Any, memory: Any, workspace: Any) -> None:
        known = self._known
        if not (known.execute(handle, memory, workspace) or known.tried(handle, memory, workspace)):
            self.calls += 1


@pytest.fixture
def with_space(product, stand_in, monkeypatch):
    """The executions of a plan with a workspace, after one of them, and its memory."""
    monkeypatch.setattr(torch_forms, "_guards_work", lambda: False)
    monkeypatch.setattr(ExecutionPlan, "workspace_size", SIZE)
    memory = {"c": Tensor(C), "a": A, "b": Tensor(B, (4, 32, 64))}
    product.graph.execute(memory, SPACE, handle=product.handle)
    execution = product.graph._execution
    assert execution is not None
    return LongWay(execution.known), memory


DESCRIPTOR = raw.cudnnBackendDescriptor_t()
ELSEWHERE = 1 << 30

# Memory of each class, elsewhere, that fits.
FITTING: dict[type, Callable[[tuple[int, ...]], Any]] = {
    int: lambda shape: ELSEWHERE,
    Tensor: lambda shape: Tensor(ELSEWHERE, shape),
    Array: lambda shape: Array(ELSEWHERE, shape),
    Memory: lambda shape: Memory(ELSEWHERE),
}
SHAPES = {"a": (4, 64, 32), "b": (4, 32, 64), "c": (4, 64, 64)}


def learn(product: Product, memory: Any, workspace: Any) -> None:
    """Execute the graph with other memory of these classes."""
    fitting = {
        name: FITTING[type(each)](SHAPES[name]) if type(each) in FITTING else ELSEWHERE
        for name, each in memory.items()
    }
    space = Tensor(ELSEWHERE, (SIZE,), "torch.uint8") if type(workspace) is Tensor else ELSEWHERE
    if type(workspace) is Memory:
        space = Memory(ELSEWHERE, SIZE)
    product.graph.execute(fitting, space, handle=product.handle)


@pytest.mark.parametrize(
    ("memory", "workspace"),
    [
        ({}, SPACE),
        ({"a": A + 256}, SPACE),
        ({"c": Tensor(C + 256)}, SPACE),
        ({"a": Tensor(A, (4, 64, 32))}, SPACE),
        ({"c": C}, SPACE + 256),
        ({"c": Array(C + 256)}, SPACE),
        ({"c": Memory(ELSEWHERE)}, Tensor(SPACE + 256, (SIZE,), "torch.uint8")),
        ({}, Memory(SPACE + 256, SIZE)),
    ],
)
def test_memory_that_fits_goes_the_short_way(with_space, product, stand_in, memory, workspace):
    long_way, known = with_space
    memory = {**known, **memory}
    learn(product, memory, workspace)
    for _ in range(2):
        long_way(product.handle, memory, workspace)
    assert not long_way.calls
    assert len(stand_in.executed) == 4
    wanted = {getattr(product, name).uid: address(each) for name, each in memory.items()}
    noted = stand_in.executed[-1]
    assert {uid: noted["data"][uid] for uid in wanted} == wanted
    assert noted["workspace"] == address(workspace)


def address(memory: Any) -> int:
    found: int = getattr(memory, "_address", getattr(memory, "_as_parameter_", memory))
    return memory.__cuda_array_interface__["data"][0] if type(memory) is Array else found


@pytest.mark.parametrize(
    "change",
    [
        lambda product: product.handle.close(),
        lambda product: setattr(product.handle._as_parameter_, "value", None),
        lambda product: setattr(product, "handle", Resource(DESCRIPTOR, lambda _: None)),
        lambda product: product.plan.close(),
        lambda product: setattr(product.scale, "value", 0.25),
    ],
    ids=["closed handle", "NULL", "another kind of handle", "closed plan", "another number"],
)
def test_whatever_changed_goes_the_long_way(with_space, product, stand_in, change):
    long_way, memory = with_space
    change(product)
    long_way(product.handle, memory, SPACE)
    assert long_way.calls == 1
    assert len(stand_in.executed) == 1


def on_gpu(shape: tuple[int, ...] = (4, 64, 64), dtype: str = "float16") -> cudnn.DeviceTensor:
    """A tensor of this package that says it is on a GPU."""
    with cudnn.use_reference_device():
        tensor = cudnn.DeviceTensor.zeros(shape, dtype)
    tensor._runtime = tensor._open()._allocator.runtime = CUDA
    return tensor


def test_workspaces_of_this_package(with_space, product, stand_in):
    long_way, memory = with_space
    product.graph._execution.known.clear()
    enough, more, less = (on_gpu((size,), "uint8") for size in (SIZE, SIZE + 1, SIZE - 1))
    with cudnn.use_reference_device():
        host = cudnn.DeviceTensor.zeros((SIZE,), "uint8")
        assert host.keyed()
    for good in (enough, more):
        product.graph.execute(memory, good, handle=product.handle)
    for good in (enough, more):
        long_way(product.handle, memory, good)
        assert stand_in.executed[-1]["workspace"] == good.ptr
    assert not long_way.calls
    for wrong in (less, host):
        long_way(product.handle, memory, wrong)
    assert long_way.calls == 2


def test_other_memory_at_the_same_address_is_refused(with_space, product, stand_in):
    """Allocators give addresses again: a last batch can lie where all others did."""
    long_way, memory = with_space
    others = Tensor(C, (4, 64, 63)), Tensor(C, dtype="torch.float32"), Tensor(C, is_cuda=False)
    negated = Tensor(C)
    negated.is_negated = True
    long_way(product.handle, {**memory, "c": negated}, SPACE)
    assert long_way.calls == 1
    for other in others:
        wrong = {**memory, "c": other}
        long_way(product.handle, wrong, SPACE)
        with pytest.raises((ValueError, TypeError), match="c"):
            product.graph.execute(wrong, SPACE, handle=product.handle)
    assert long_way.calls == 1 + len(others)
    with pytest.raises(ValueError, match="workspace"):
        product.graph.execute(memory, Memory(SPACE, SIZE - 1), handle=product.handle)
    assert len(stand_in.executed) == 1


def test_errors_of_the_short_way_are_told(with_space, product, stand_in):
    _, memory = with_space
    stand_in.status = BAD_PARAM
    with pytest.raises(cudnn.BadParamError) as caught:
        product.graph.execute(memory, SPACE, handle=product.handle)
    assert list(caught.value.arguments) == ["handle", "executionPlan", "variantPack"]
    stand_in.status = 0
    product.graph.execute(memory, SPACE, handle=product.handle)


def test_graphs_plans_and_the_front_end_take_the_short_way(product, stand_in, h200, monkeypatch):
    monkeypatch.setattr(torch_forms, "_guards_work", lambda: False)
    types = frontend.data_type
    front = frontend.pygraph(
        io_data_type=types.HALF, compute_data_type=types.FLOAT, device_property=h200
    )
    a, b = front.tensor([4, 64, 32], name="a"), front.tensor([4, 32, 64], name="b")
    c = front.matmul(a, b).set_output(True)
    front.build([frontend.heur_mode.A])
    front._held.handle = product.handle
    plain = Graph(io_data_type="float16")
    x, y = plain.tensor((4, 64, 32)), plain.tensor((4, 32, 64))
    z = plain.matmul(x, y).set_output()
    plan = plain.build(h200)
    pointers = {each.uid or 0: at for each, at in ((x, Tensor(A)), (y, B), (z, C))}
    ways = [
        lambda: product.graph.execute({"c": C, "a": A, "b": B}, handle=product.handle),
        lambda: plain.execute({z: C, x: A, y: B}, handle=product.handle),
        lambda: front.execute({a: A, b: B, c: C}),
        lambda: plan.execute(product.handle, pointers),
    ]
    for way in ways:
        way()

    def refuse(*_, **__):
        raise AssertionError("the long way")

    monkeypatch.setattr(Execution, "__call__", refuse)
    monkeypatch.setattr(ExecutionPlan, "_execute", refuse)
    for way in ways:
        way()
    assert stand_in.executed[:4] == stand_in.executed[4:]
    plain.close()
    front._held.handle = None


def test_launches_keep_no_memory_alive(with_space, product):
    long_way, known = with_space
    gc.disable()
    try:
        for way in (
            lambda memory: product.graph.execute(memory, SPACE, handle=product.handle),
            lambda memory: long_way(product.handle, memory, SPACE),
        ):
            memory = {**known, "c": Tensor(C + 512)}
            way(memory)
            way({**memory, "c": Tensor(C + 1024)})
            given = weakref.ref(memory.pop("c"))
            assert given() is None
        assert not long_way.calls
    finally:
        gc.enable()


@pytest.mark.gpu
def test_tensors_of_pytorch_at_known_and_new_addresses():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    random = torch.Generator().manual_seed(5)
    left, right = (
        torch.randint(-4, 5, (2, 64, 64), generator=random).to("cuda", torch.float16)
        for _ in range(2)
    )
    expected = left @ right  # small integers: exact
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((2, 64, 64)), graph.tensor((2, 64, 64))
    c = graph.matmul(a, b).set_output()
    with cudnn.Handle(stream=torch.cuda.current_stream().cuda_stream) as handle, graph:
        graph.build(handle)
        space = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device="cuda")
        outputs = [torch.full_like(expected, torch.nan) for _ in range(100)]
        for y in (*outputs, outputs[0], outputs[0], outputs[99]):
            y.fill_(torch.nan)
            graph.execute({a: left, b: right, c: y}, space)
            assert torch.equal(y, expected)
        for wrong, error in (
            (torch.empty(2, 64, 63, dtype=torch.float16, device="cuda"), ValueError),
            (outputs[99][:, :-8], ValueError),
            (torch.empty(2, 64, 64, dtype=torch.float32, device="cuda"), ValueError),
            (torch.empty(2, 64, 64, dtype=torch.float16), TypeError),
        ):
            with pytest.raises(error):
                graph.execute({a: left, b: right, c: wrong}, space)
        with graph.bind({a: left, b: right, c: outputs[1]}, space) as bound:
            outputs[1].fill_(torch.nan)
            bound()
            assert torch.equal(outputs[1], expected)


def test_bound_plans_look_at_what_they_are_given(product, stand_in):
    pointers = dict.fromkeys(product.plan.uids, A)
    handle, null = made_up_handle(), made_up_handle()
    bound = product.plan.bind(handle, pointers)
    bound()
    bound.execute()
    handle.close()
    with pytest.raises(cudnn.ClosedError):
        bound()
    with product.plan.bind(null, pointers) as bound:
        null._as_parameter_.value = None
        with pytest.raises(cudnn.BadParamError, match="handle is still NULL"):
            bound()
    with pytest.raises(cudnn.ClosedError):
        bound()
    wrong = product.plan.descriptor
    with pytest.raises(TypeError, match="handle: expected a Handle, got BackendDescriptor"):
        product.plan.bind(wrong, pointers)


@pytest.mark.parametrize("in_machine_code", [True, False])
def test_sequences_stop_at_the_launch_that_fails(product, stand_in, monkeypatch, in_machine_code):
    monkeypatch.setattr(machine_code, "is_available", lambda: in_machine_code)
    for module in (plan_module, bound):
        monkeypatch.setattr(module, "is_available", lambda: in_machine_code)
    statuses = []
    monkeypatch.setattr(StandIn, "status", property(lambda _: statuses.pop(0)), raising=False)
    handle, pointers = made_up_handle(), dict.fromkeys(product.plan.uids, A)
    plans = [product.plan.bind(handle, pointers) for _ in range(3)]
    step = sequence(*plans, plans[0])
    assert isinstance(step, types.BuiltinFunctionType) is (
        in_machine_code and platform.machine() in ("x86_64", "aarch64")
    )
    for position in range(4):
        statuses[:] = [*[0] * position, BAD_PARAM, 0, 0, 0]
        with pytest.raises(
            cudnn.BadParamError, match=f"launch={position} of 4 in a sequence"
        ) as caught:
            step()
        assert caught.value.function == "cudnnBackendExecute"
        assert len(statuses) == 3
    statuses[:] = [0] * 4
    step()
    assert not statuses
    log.put("a message of another call")
    statuses[:] = [0, 0, BAD_PARAM]
    with pytest.raises(cudnn.BadParamError, match="launch=2 of 4") as caught:
        step()
    assert "a message" not in str(caught.value)
    calls = []

    def observed(function, *arguments):
        calls.append(function.__name__)
        return raw.CUDNN_STATUS_SUCCESS

    observe(observed)
    try:
        step()
    finally:
        observe(None)
    collected = "cudnnBackendDestroyDescriptor"  # of what is garbage meanwhile
    assert [each for each in calls if each != collected] == ["cudnnBackendExecute"] * 4
    plans[1].close()
    statuses[:] = [0] * 4
    with pytest.raises(cudnn.ClosedError):
        step()
    assert len(statuses) == 3
    with pytest.raises(TypeError, match=r"bound\[1\]: expected a bound plan or operation, got 5"):
        sequence(plans[0], 5)
    for each in (*plans, handle):
        each.close()


def test_a_handle_closed_during_a_launch_is_destroyed_after_it(product, stand_in, monkeypatch):
    destroyed = []
    handle, pointers = made_up_handle(), dict.fromkeys(product.plan.uids, A)
    bound = product.plan.bind(handle, pointers)
    pack = bound.variant_pack
    destroy = pack._destroy
    pack._destroy = lambda: (destroyed.append(1), destroy())

    def close(self):
        bound.close()
        return len(destroyed)  # 0: success

    monkeypatch.setattr(StandIn, "status", property(close), raising=False)
    bound()
    assert destroyed == [1]
