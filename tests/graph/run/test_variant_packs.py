"""Executions reach cuDNN with the right addresses, whatever was executed before."""

import ctypes
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run.execution import Operands
from cudnn_ctypes.graph.run.tensor_memory import ResultMemory, extent
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.runtime.launching.executions import VariantPacks

from .executions import Array, made_up_handle

KEPT = 64


def test_each_execution_has_its_own_addresses(product, stand_in):
    a, b, c = product.uids(product.a, product.b, product.c)
    # More than are kept, some of them again at once, later, and after they were given up.
    order = [*range(100), 99, 99, 98, 50, 0, *range(100)]
    for i in order:
        product.graph.execute(
            {product.a: 0x10000 + i, "b": 0x20000, product.c: 0x30000 + i}, handle=product.handle
        )
    assert len(stand_in.executed) == len(order)
    for i, noted in zip(order, stand_in.executed, strict=True):
        data = noted["data"]
        assert (data[a], data[b], data[c]) == (0x10000 + i, 0x20000, 0x30000 + i)
        assert noted["handle"] == 1 << 40
        assert noted["plan"] == product.plan.descriptor._as_parameter_.value
        assert noted["workspace"] is None
    assert len(stand_in.packs) <= KEPT


def test_numbers_are_told_again_each_time(product, stand_in):
    """Also at an address that is known: cuDNN may have read another one there."""
    pointers = dict.fromkeys(product.plan.uids, 0x10000)
    number = ctypes.c_float(1.0)
    filled = []
    for _ in range(5):
        number.value += 1
        product.plan.execute(product.handle, {**pointers, product.scale.uid or 0: number})
        filled.append(sum(each["finalized"] for each in stand_in.packs.values()))
        for each in stand_in.packs.values():
            each["finalized"] = False  # an execution that does not fill the pack again fails
    assert filled == [1] * 5


def test_what_changed_in_the_graph_after_it_was_built(product, stand_in):
    memory = {product.a: 0x10000, product.b: 0x20000, "c": 0x30000}
    stand_in.number = product.scale.uid
    product.graph.execute(memory, handle=product.handle)
    product.scale.value = 0.125
    product.graph.execute(memory, handle=product.handle)
    product.c.name = "y"
    product.graph.execute({**dict(list(memory.items())[:2]), "y": 0x40000}, handle=product.handle)
    assert [noted["number"] for noted in stand_in.executed] == [0.5, 0.125, 0.125]
    assert stand_in.executed[-1]["data"][product.c.uid or 0] == 0x40000
    with pytest.raises(KeyError, match="no tensor with memory is called 'c'"):
        product.graph.execute(memory, handle=product.handle)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (((4, 64, 63),), r"'c' .* needs 32768 bytes, got 32256"),
        (((4, 64, 64), "<i2"), r"'c' \(4, 64, 64\) is float16 .*, got int16"),
        (((4, 64, 64), "<f4"), r"'c' .* is float16 .*, got float32 \(4, 64, 64\)"),
        (((4, 64, 64), "<f2", (8192, 2, 128)), r"'c' .* with strides \(4096, 64, 1\), got"),
        (((64, 4, 64), "<f2", (128, 8192, 2)), ""),  # the same memory, dims in another order
        (((256, 64),), ""),
        (((16384,),), ""),
        (((1, 4, 64, 64),), ""),
        (((32768,), "|u1"), ""),
        (((40000,), "|u1"), ""),
    ],
)
def test_memory_is_held_against_its_tensor(product, stand_in, array, message):
    memory = {product.a: 0x10000, product.b: 0x20000, product.c: Array(0x30000)}
    run = functools.partial(product.graph.execute, memory, handle=product.handle)
    run()
    memory[product.c] = Array(0x40000, *array)
    for _ in range(2):
        if message:
            with pytest.raises(ValueError, match=f"tensor {message}.*; check=False takes it"):
                run()
            with pytest.raises(ValueError, match=f"tensor {message}"):
                product.graph.bind(memory, handle=product.handle)
        else:
            run()
    run(check=False)
    assert len(stand_in.executed) == (2 if message else 4)


def test_packed_numbers_take_bytes_only():
    graph = Graph(io_data_type="float32")
    x, mask = graph.tensor((2, 8, 16)), graph.tensor((2, 8, 16), data_type="boolean", name="mask")
    graph.binary_select(x, 0.0, mask).set_output()
    graph.validate()
    operands = Operands(graph.tensors)
    addresses = dict.fromkeys((*graph.inputs, *graph.outputs), 4096)
    operands.by_uid({**addresses, mask: Array(0x2000, (32,), "|u1")})
    with pytest.raises(ValueError, match=r"'mask' .* needs 32 bytes, got 31"):
        operands.by_uid({**addresses, mask: Array(0x3000, (31,), "|u1")})
    vectors = graph.tensor((1, 2, 4, 4), data_type="int8", vector_count=32, vector_dimension=1)
    assert extent(vectors)[1:] == ((1, 2, 4, 4, 32), (1024, 512, 128, 32, 1), 1024)
    assert ResultMemory(vectors).strides == (1024, 512, 128, 32, 1)
    vectors.reordering = "int8x32"
    assert extent(vectors).strides == ()
    with pytest.raises(ValueError, match="needs 1024 bytes, got 1023"):
        Operands([vectors]).by_uid({vectors: Array(0x4000, (1023,), "|i1")})
    for kind in ("|b1", "<f4"):
        with pytest.raises(ValueError, match=r"boolean is packed, 8 to a byte: give bytes"):
            operands.by_uid({**addresses, mask: Array(0x4000, (2, 8, 16), kind)})
    with (
        cudnn.use_reference_device(),
        cudnn.DeviceTensor.empty((2, 8, 16), "boolean") as packed_mask,
    ):
        operands.by_uid({**addresses, mask: packed_mask})
    with (
        cudnn.use_reference_device(),
        cudnn.DeviceTensor.empty((2, 8, 16), "fp4_e2m1") as other,
        pytest.raises(ValueError, match=r"'mask' .* is boolean, got fp4_e2m1"),
    ):
        operands.by_uid({**addresses, mask: other})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"a": None}, ValueError, "no memory was given for 'a'"),
        ({"b": 0}, ValueError, "no memory was given for 'b'"),
        ({"c": -1}, ValueError, "c: -1 is no 64-bit address"),
        ({"c": 1 << 64}, ValueError, "c: .* is no 64-bit address"),
        ({"c": np.zeros(4)}, TypeError, "host memory"),
        ({"c": "c"}, TypeError, "expected device memory"),
        ({"d": 1}, KeyError, "no tensor with memory is called 'd'"),
        ({"matmul": 1}, KeyError, "no tensor with memory is called 'matmul'"),
        ({1: 0x50000}, ValueError, "is given twice"),
        ({"scale": "much"}, TypeError, "expected a number"),
    ],
)
def test_wrong_memory_never_reaches_cudnn(product, stand_in, changes, error, message):
    good = {"a": 0x10000, "b": 0x20000, "c": 0x30000}
    product.graph.execute(good, handle=product.handle)
    with pytest.raises(error, match=message):
        product.graph.execute({**good, **changes}, handle=product.handle)
    assert len(stand_in.executed) == 1
    product.graph.execute(good, handle=product.handle)
    assert stand_in.executed[0] == stand_in.executed[1]


def test_wrong_handles_and_closed_plans_never_reach_cudnn(product, stand_in):
    pointers = dict.fromkeys(product.plan.uids, 0x10000)
    closed, null = made_up_handle(), made_up_handle()
    closed.close()
    null._as_parameter_.value = None
    with pytest.raises(ValueError, match=r"no memory was given for .*uid \d"):
        product.plan.execute(product.handle, dict([*pointers.items()][1:]))
    with pytest.raises(cudnn.ClosedError):
        product.plan.execute(closed, pointers)
    for missing in (null, None):
        with pytest.raises(cudnn.BadParamError, match="handle is NULL"):
            product.plan.execute(missing, pointers)
    for wrong in (1 << 40, product.plan, product.plan.descriptor):
        with pytest.raises(TypeError):
            product.plan.execute(wrong, pointers)
    bound = product.plan.bind(product.handle, pointers)
    product.plan.close()
    for use in (bound, lambda: product.plan.execute(product.handle, pointers)):
        with pytest.raises(cudnn.ClosedError):
            use()
    assert not stand_in.executed


def test_a_pack_that_cudnn_refuses(product, stand_in, monkeypatch):
    """The full error, though the call that met it was a bare one."""
    kind = int(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    monkeypatch.setattr("cudnn_ctypes.runtime.launching.executions._KIND", kind)
    monkeypatch.delattr(bare, "cudnnBackendSetAttribute")
    packs = VariantPacks((1,))
    with pytest.raises(cudnn.CudnnError, match="UNIQUE_IDS") as caught:
        packs.execute(product.handle, product.plan.descriptor, (1 << 20, 0))
    assert caught.value.function == "cudnnBackendSetAttribute"
    assert not stand_in.executed


def test_threads_share_a_plan_with_addresses_of_their_own(product, stand_in):
    """A pack that another thread filled anew during an execution would be noticed there."""
    stand_in.seconds = 1e-4
    count, executions = 6, 60
    barrier = threading.Barrier(count)
    c = product.c.uid or 0

    def work(index):
        handle = made_up_handle((1 << 40) + index)
        barrier.wait()
        for i in range(executions):
            # Some addresses are those of all threads, some return, most are new.
            y = 0x30000 + (0 if i % 3 == 0 else 1000 * (index + 1) + i % 40)
            product.graph.execute({"a": 0x10000, "b": 0x20000, "c": y}, handle=handle)
            pointers = dict.fromkeys(product.plan.uids, 0x50000 + 1000 * index + i)
            product.plan.execute(handle, pointers)
        handle.close()

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))
    for index in range(count):
        got = [n["data"][c] for n in stand_in.executed if n["handle"] == (1 << 40) + index]
        wanted = []
        for i in range(executions):
            wanted += [0x30000 + (0 if i % 3 == 0 else 1000 * (index + 1) + i % 40)]
            wanted += [0x50000 + 1000 * index + i]
        assert got == wanted
