"""Programs as people have written them for NVIDIA's front end, with only their import changed.

They run on a GPU, and on the reference device with PyTorch's CPU tensors.
"""

from __future__ import annotations

import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import DeviceTensor, use_reference_device

from .conftest import Product, close, execute, nothing, randn, synchronize, workspace_of

torch = pytest.importorskip("torch")

# bfloat16 has 8 bits: one rounding of the result, and one of its difference to PyTorch's.
BFLOAT16 = 2 * 2.0**-8


def test_operands_by_tensor_uid_and_name_in_any_form_of_memory(device):
    problem = Product(device)
    problem.graph.build()
    workspace = problem.workspace
    problem.graph.execute({1: problem.a, "b": problem.b, problem.out: problem.c}, workspace)
    problem.check()
    addresses = {key: each.data_ptr() for key, each in problem.memory.items()}
    problem.graph.execute(addresses, workspace.data_ptr())
    problem.check()
    unknown = {None: 0, 777: problem.a, problem.graph.tensor([1], [1]): problem.a}
    problem.graph.execute({**problem.memory, **unknown}, workspace)
    problem.check()
    with (
        DeviceTensor.from_dlpack(problem.a) as a,
        DeviceTensor.from_dlpack(problem.b) as b,
        DeviceTensor.from_dlpack(problem.c) as c,
    ):
        problem.graph.execute(
            {"a": a, "b": b, "y": c}, workspace if problem.graph.get_workspace_size() else None
        )
    problem.check()


def test_parts_of_larger_tensors_in_place(device):
    """As rotary embeddings do: views with gaps, read and written by one graph."""
    whole = randn(8, 64, 128, device=device, dtype=torch.half)
    before = whole.clone()
    left, right = whole[..., :16], whole[..., 16:32]
    graph = cudnn.pygraph(intermediate_data_type=torch.float32, compute_data_type=torch.float32)
    x1, x2 = graph.tensor_like(left), graph.tensor_like(right)
    y1 = graph.sub(a=x1, b=x2).set_output(True).set_data_type(torch.half)
    y2 = graph.add(a=x1, b=x2).set_output(True).set_data_type(torch.half)
    graph.build()
    assert y1.get_stride() == list(left.stride())
    execute(graph, {x1: left, x2: right, y1: left, y2: right}, device)
    a, b = before[..., :16].float(), before[..., 16:32].float()
    assert torch.equal(left, (a - b).half())
    assert torch.equal(right, (a + b).half())
    assert torch.equal(whole[..., 32:], before[..., 32:])


def test_handles_and_streams(device):
    handle = cudnn.create_handle()
    assert isinstance(handle, cudnn.Handle)
    if device == "cuda":
        stream = torch.cuda.Stream()
        cudnn.set_stream(handle=handle, stream=stream.cuda_stream)
        assert cudnn.get_stream(handle) == stream.cuda_stream
        torch.cuda.synchronize()
    problem = Product(device, handle=handle)
    problem.graph.build([cudnn.heur_mode.A])
    problem.graph.execute(problem.memory, problem.workspace)
    problem.check()
    problem.graph.execute(problem.memory, problem.workspace, handle=handle)
    problem.check()
    problem.graph.close()
    cudnn.destroy_handle(handle)
    assert (handle.backend_handle, handle.stream) == (None, None)
    cudnn.destroy_handle(handle)  # which a second time does nothing
    with pytest.raises(ValueError, match="destroyed"):
        problem.graph.execute(problem.memory, None, handle=handle)
    with pytest.raises(ValueError, match="no handle of create_handle"):
        cudnn.set_stream(12345678, 0)
    with pytest.raises(TypeError, match="expected what create_handle"):
        cudnn.pygraph(handle="0")


def test_all_plans_by_their_index(device):
    """Those of a convolution of float32: they are many, and none is compiled."""
    image = randn(4, 8, 8, 8, device=device, dtype=torch.float32)
    weight = randn(8, 8, 3, 3, device=device, dtype=torch.float32, seed=1)
    expected = torch.conv2d(image.double(), weight.double(), padding=1)
    graph = cudnn.pygraph(
        io_data_type=torch.float32, compute_data_type=cudnn.data_type.FLOAT, name="correlation"
    )
    x, w = graph.tensor_like(image), graph.tensor_like(weight)
    y = graph.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    y.set_output(True).set_stride(list(expected.stride()))
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A])
    graph.check_support()
    graph.build_plans(cudnn.build_plan_policy.HEURISTICS_CHOICE)
    graph.build_plans(cudnn.build_plan_policy.ALL)
    count = graph.get_execution_plan_count()
    built, largest = 0, (0, 0)
    for index in range(count):
        try:
            size = graph.get_workspace_size_plan_at_index(index)
        except RuntimeError:  # this engine does not take it
            continue
        workspace = torch.empty(size, dtype=torch.uint8, device=device)
        result = torch.full(expected.shape, float("nan"), device=device)
        graph.execute_plan_at_index({x: image, w: weight, y: result}, workspace, index)
        synchronize(device)
        # Some engines round operands to 11 bits, and transform them before.
        close(result, expected, 1e-2)
        built += 1
        largest = max(largest, (size, index))
    assert 1 < built <= count
    size, index = largest
    assert graph.build_plan_at_index(index).get_workspace_size() == size > 0
    other = cudnn.pygraph()
    other.deserialize(str(graph))
    other.create_execution_plans([cudnn.heur_mode.A])
    with pytest.raises(RuntimeError, match=f"plan {index} is not built"):
        other.get_workspace_size_plan_at_index(index)
    other.deselect_workspace_greater_than(size - 1)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match=f"of more than {size - 1} bytes"):
        other.build_plan_at_index(index)
    other.deselect_workspace_greater_than(size).build_plan_at_index(index)


def test_a_serialized_graph(device):
    problem = Product(device)
    problem.graph.build()
    data = problem.graph.serialize()
    assert all(isinstance(each, int) for each in data)
    for arguments in ((data,), (None, bytes(data))):
        graph = cudnn.pygraph()
        graph.deserialize(*arguments)
        assert graph.get_execution_plan_count() == 1
        assert graph.get_workspace_size() == problem.graph.get_workspace_size()
        assert graph.query_tensor_attributes_of_uid(3).get_dim() == [4, 64, 64]
        graph.execute({1: problem.a, "b": problem.b, 3: problem.c}, problem.workspace)
        problem.check()


def test_numbers_on_the_host(device):
    """Epsilon by value: as a CPU tensor, a NumPy array, a number, and an address."""
    x = randn(8, 64, 1, 1, device=device)
    scale, bias = (randn(1, 64, 1, 1, device=device, dtype=torch.float32, seed=s) for s in (3, 4))
    epsilon = torch.full((1, 1, 1, 1), 0.5, dtype=torch.float32)
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.BFLOAT16)
    operands = [graph.tensor_like(each) for each in (x, scale, bias)]
    one = {"dim": [1] * 4, "stride": [1] * 4, "data_type": cudnn.data_type.FLOAT}
    eps = graph.tensor(**one, is_pass_by_value=True, name="epsilon")
    given = dict(zip(("input", "scale", "bias", "epsilon"), (*operands, eps), strict=True))
    training = cudnn.norm_forward_phase.TRAINING
    y, mean, inv = graph.layernorm(name="norm", norm_forward_phase=training, **given)
    for each in (y, mean, inv):
        each.set_output(True)
    for each in (mean, inv):
        each.set_data_type(torch.float32)
    graph.build()
    names = ["norm::Y", "norm::MEAN", "norm::INV_VARIANCE"]
    assert [each.get_name() for each in (y, mean, inv)] == names
    workspace = workspace_of(graph, device)
    flat = x.double().flatten(1)
    var, expected_mean = torch.var_mean(flat, 1, keepdim=True, correction=0)
    for value in (epsilon, epsilon.numpy(), 0.5, epsilon.data_ptr(), 0.125, 0.5):
        expected_inv = 1 / torch.sqrt(var + (0.125 if value == 0.125 else 0.5))
        out = nothing(x)
        statistics = [torch.full((8, 1, 1, 1), float("nan"), device=device) for _ in range(2)]
        memory = dict(zip(operands, (x, scale, bias), strict=True))
        memory |= {eps: value, y: out, mean: statistics[0], inv: statistics[1]}
        graph.execute(memory, workspace)
        synchronize(device)
        expected = (flat - expected_mean) * expected_inv
        expected = expected * scale.double().flatten(1) + bias.double().flatten(1)
        close(out.flatten(1), expected, BFLOAT16)
        # float32 sums of 64 numbers
        torch.testing.assert_close(
            statistics[1].double().flatten(1), expected_inv, rtol=1e-5, atol=0
        )


@pytest.mark.parametrize("phase_first", [False, True])
def test_a_graph_of_arrays_takes_norms_in_both_orders(device, phase_first):
    x = randn(4, 64, 1, 1, device=device)
    scale, bias = (randn(1, 64, 1, 1, device=device, seed=each) for each in (1, 2))
    epsilon, phase = torch.full((1, 1, 1, 1), 1e-3), cudnn.norm_forward_phase.INFERENCE
    operands = (x, scale, bias, epsilon)
    kinds = {"io_data_type": torch.bfloat16, "compute_data_type": torch.float32}
    with cudnn.Graph(**kinds) as graph:
        ordered = (phase, *operands) if phase_first else (*operands, phase)
        y = graph.layernorm(*ordered, name="norm")[0]
        y.set_output(True)
    assert [each.name for each in graph.nodes] == ["norm"]
    assert graph.inspect()["nodes"][0]["type"] == "LAYERNORM"
    names = ["norm::input", "norm::scale", "norm::bias", "norm::epsilon"]
    got = graph(dict(zip(names, operands, strict=True)))["norm::Y"].flatten(1).double()
    synchronize(device)
    wide = x.flatten(1).double()
    deviation = (wide.var(1, correction=0, keepdim=True) + 1e-3).sqrt()
    expected = (wide - wide.mean(1, keepdim=True)) / deviation
    expected = expected * scale.flatten(1).double() + bias.flatten(1).double()
    close(got, expected, BFLOAT16)


def test_a_graph_that_takes_arrays(device):
    x = randn(2, 8, 8, 16, device=device).permute(0, 3, 1, 2)
    w = randn(32, 3, 3, 16, device=device, seed=1).permute(0, 3, 1, 2)
    kinds = {"io_data_type": torch.bfloat16, "compute_data_type": torch.float32}
    with cudnn.Graph(**kinds) as graph:
        y = graph.conv_fprop(
            image=x, weight=w, padding=[1, 1], stride=[1, 1], dilation=[1, 1], name="conv"
        )
        y = graph.relu(y, name="relu")
        y.set_output(True)
    graph.set_io_tuples(["conv::image", "conv::weight"], ["relu::OUT_0"])
    expected = torch.relu(torch.nn.functional.conv2d(x.double(), w.double(), padding=1))
    by_place = graph(x, w)
    by_name = graph({"conv::image": x, "conv::weight": w})["relu::OUT_0"]
    synchronize(device)
    for got in (by_place, by_name):
        assert got.shape == expected.shape
        close(got, expected, BFLOAT16)
    with pytest.raises(RuntimeError, match="takes care of this itself"):
        graph.validate()
    with pytest.raises(ValueError, match="expected 2 arrays, got 1"):
        graph(x)
    with pytest.raises(RuntimeError, match="no array was given for conv::weight"):
        graph({"conv::image": x})


def test_decorated_graphs_are_built_once(device):
    calls = []

    @cudnn.jit(heur_modes=[cudnn.heur_mode.A])
    @cudnn.graph_cache(key_fn=lambda handle, x: (handle, tuple(x.shape)), maxsize=2)
    def describe(handle, x):
        calls.append(x.shape)
        with cudnn.graph(handle) as (g, _):
            operand = g.tensor_like(x)
            result = g.mul(operand, operand, name="square")
            result.set_output(True).set_data_type(x.dtype)
        return g, [operand, result]

    handle = cudnn.create_handle()
    for size in (64, 64, 128):
        x = randn(4, size, 8, device=device)
        graph, uids = describe(handle, x)
        y = nothing(x)
        execute(graph, dict(zip(uids, (x, y), strict=True)), device)
        expected = (x.float() * x.float()).to(torch.bfloat16)
        assert torch.equal(y, expected)
    assert len(calls) == 2
    cudnn.destroy_handle(handle)


def test_the_oldest_of_what_is_kept_goes_first():
    asked = []
    kept = cudnn.graph_cache(key_fn=lambda n: n % 5, maxsize=2)(lambda n: asked.append(n) or n)
    assert [kept(n) for n in (1, 6, 2, 3, 2, 1)] == [1, 1, 2, 3, 2, 1]
    assert asked == [1, 2, 3, 1]


@pytest.mark.gpu
def test_a_cuda_graph_is_filled_and_updated():
    from cudnn_ctypes.runtime import cuda

    with use_reference_device(False):
        problem = Product("cuda")
        problem.graph.validate()
        problem.graph.build_operation_graph()
        problem.graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        problem.graph.select_behavior_notes([cudnn.behavior_note.SUPPORTS_CUDA_GRAPH_NATIVE_API])
        problem.graph.check_support()
        problem.graph.build_plans()
        handle = cudnn.create_handle()
        workspace = problem.workspace
        cuda_graph = int(cuda.call("cuGraphCreate", 0))
        problem.graph.populate_cuda_graph(handle, problem.memory, workspace.data_ptr(), cuda_graph)
        executable = int(cuda.call("cuGraphInstantiate", cuda_graph, 0))
        cuda.call("cuGraphLaunch", executable, 0)
        problem.check()
        problem.graph.update_cuda_graph(handle, problem.memory, workspace.data_ptr(), cuda_graph)
        executable = int(cuda.call("cuGraphInstantiate", cuda_graph, 0))
        cuda.call("cuGraphLaunch", executable, 0)
        problem.check()
        cudnn.destroy_handle(handle)


def test_shapes_are_overridden(device):
    if cudnn.backend_version() < 92100:
        pytest.skip("overriding shapes needs cuDNN 9.21")
    built_for, rows = 128, 96
    a = randn(2, rows, 64, device=device)
    b = randn(2, 64, 64, device=device, seed=6)
    graph = cudnn.pygraph(io_data_type=torch.bfloat16, is_override_shape_enabled=True)
    x = graph.tensor([2, built_for, 64], [built_for * 64, 64, 1])
    w = graph.tensor_like(b)
    y = graph.relu(graph.matmul(x, w)).set_output(True)
    graph.build()
    c = torch.full((2, rows, 64), float("nan"), dtype=torch.bfloat16, device=device)
    workspace = workspace_of(graph, device)
    memory = {x: a, w: b, y: c}
    graph.execute(
        memory,
        workspace,
        override_uids=[x.get_uid(), y.get_uid()],
        override_shapes=[[2, rows, 64]] * 2,
        override_strides=[[rows * 64, 64, 1]] * 2,
    )
    synchronize(device)
    expected = torch.relu(a.double() @ b.double())
    close(c, expected, BFLOAT16)
    with pytest.raises(ValueError, match=r"needs 32768 bytes, got 24576"):
        graph.execute(memory, workspace)


def test_what_is_no_variant_pack():
    with use_reference_device():
        problem = Product("cpu")
        problem.graph.build()
        with pytest.raises(TypeError, match="variant pack: expected a mapping, got a list"):
            problem.graph.execute([problem.a], None)
        with pytest.raises(TypeError, match="keys of a variant pack are tensors, uids or names"):
            problem.graph.execute({**problem.memory, 1.5: problem.a}, None)
        with pytest.raises(ValueError, match=r"no memory was given for 'a' \(uid 1\)"):
            problem.graph.execute({2: problem.b, 3: problem.c}, problem.workspace)
        small = {**problem.memory, 3: problem.c[:2]}
        with pytest.raises(ValueError, match=r"tensor 'y' .* needs 32768 bytes, got 16384"):
            problem.graph.execute(small, problem.workspace)


class OfAnotherFramework:
    """Memory that is known by its protocol alone, as CuPy's."""

    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


def test_a_graph_with_its_order_given_at_once():
    with use_reference_device():
        a, b = randn(2, 16, 8, device="cpu"), randn(2, 8, 16, device="cpu", seed=2)
        with cudnn.Graph(
            io_data_type=torch.bfloat16, inputs=[a, "product::B"], outputs=["c"], handle="auto"
        ) as graph:
            c = graph.relu(graph.matmul(a, b, name="product"), name="relu").set_output(True)
            c.set_name("c")
        got = graph(a, b)
        expected = torch.relu(a.double() @ b.double())
        close(got, expected, BFLOAT16)
        assert torch.equal(graph(OfAnotherFramework(a), OfAnotherFramework(b)), got)
        for inputs, outputs, message in (
            ([a, a], ["c"], "listed twice"),
            ([a], ["c"], "neither among inputs nor outputs"),
            (["nothing"], ["c"], "'nothing' is not known; there are product::A"),
        ):
            with pytest.raises(ValueError, match=message):
                graph.set_io_tuples(inputs, outputs)
        with pytest.raises(ValueError, match="expected a list or tuple"):
            graph.set_io_tuples("a", [])


def test_a_graph_whose_description_fails_is_not_built():
    with use_reference_device():
        graph = cudnn.Graph(io_data_type=torch.bfloat16)
        with pytest.raises(ZeroDivisionError), graph:
            raise ZeroDivisionError
        with pytest.raises(RuntimeError, match="describe this Graph"):
            graph.relu(None)
        graph = cudnn.Graph(heuristics=[cudnn.heur_mode.OPENSOURCE], io_data_type=torch.half)
        with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="OPENSOURCE"), graph:
            graph.relu(graph.tensor([2, 8, 8])).set_output(True)
        assert not hasattr(graph, "_nothing")


def test_the_order_of_a_graph_is_chosen_while_it_is_described(monkeypatch):
    with use_reference_device():
        x = randn(2, 8, 6, 6, device="cpu", dtype=torch.float32)
        w = randn(4, 8, 3, 3, device="cpu", dtype=torch.float32, seed=1)
        graph = cudnn.Graph(io_data_type=torch.float32)
        with graph:
            image = graph.tensor_like(x, name="own")
            y = graph.conv_fprop(image, w, name="conv").set_output(True)
            with pytest.raises(ValueError, match="there is a node 'conv' already"):
                graph.conv_fprop(image, w, name="conv")
            with pytest.raises(RuntimeError, match="described already"):
                graph.__enter__()
            begins = graph.tensor([1], name="begins")  # as a ragged offset: no argument
            graph.set_io_tuples(["conv::weight", "own", "begins"], [y])
        got = graph(w, x, None)
        close(got, torch.conv2d(x.double(), w.double()), 2.0**-10)
        assert (got.dtype, got.stride()) == (x.dtype, (64, 1, 16, 4))
        executed = []
        monkeypatch.setattr(
            cudnn.pygraph, "execute", lambda _, memory, *more: executed.append(memory)
        )
        graph({"conv::weight": w, "own": x, "begins": 64, y: got})
        assert [executed[0][each] for each in (image, begins, y)] == [x, 64, got]
