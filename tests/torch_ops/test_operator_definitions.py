"""What operators of PyTorch are defined by: schemas, outputs, gradients, and what is refused."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from torch_operators import conv_bias_relu, sdpa

torch: Any = pytest.importorskip("torch")

from cudnn_ctypes.torch_ops import custom_op  # noqa: E402
from cudnn_ctypes.torch_ops.graphs import OPERATORS  # noqa: E402

pytestmark = pytest.mark.usefixtures("without_engines")


def test_the_schema_says_what_the_function_takes() -> None:
    schema = str(conv_bias_relu()._schema)
    assert schema == (
        "cudnn_ctypes_tests::conv_bias_relu(Tensor x, Tensor w, Tensor b, "
        "Tensor? residual=None, SymInt padding=1) -> Tensor"
    )
    assert str(OPERATORS["rotate"]._schema).endswith(
        "(Tensor a, Tensor b, Tensor cos, Tensor sin) -> (Tensor, Tensor)"
    )


@pytest.mark.soak
def test_options_by_keyword() -> None:
    def scaled(graph: Any, x: Any, *, factor: float, power: int = 1) -> Any:
        return x * factor**power

    operator = custom_op(
        "cudnn_ctypes_tests::scaled",
        scaled,
        backward={"dx": lambda graph, dy, factor, power: dy * factor**power},
    )
    x = torch.randn(1, 4, 8, requires_grad=True)
    y = operator(x, factor=3.0, power=2)
    torch.testing.assert_close(y, 9 * x)
    y.backward(torch.ones_like(y))
    torch.testing.assert_close(x.grad, torch.full_like(x, 9))
    torch.library.opcheck(operator, (x,), {"factor": 0.5})


def test_without_a_backward_graph_there_is_no_gradient() -> None:
    operator = custom_op("cudnn_ctypes_tests::negative", lambda graph, x: -x)
    x = torch.randn(1, 4, 8, requires_grad=True)
    y = operator(x)
    torch.testing.assert_close(y.detach(), -x.detach())
    with pytest.raises(NotImplementedError, match="negative: backward gives no dx"):
        y.sum().backward()


def test_a_gradient_that_is_not_defined_is_an_error() -> None:
    operator = custom_op(
        "cudnn_ctypes_tests::weighted",
        lambda graph, x, w: x * w,
        backward={"dx": lambda graph, dy, w: dy * w},
    )
    x, w = torch.randn(1, 4, 8, requires_grad=True), torch.randn(1, 4, 8)
    operator(x, w).sum().backward()
    torch.testing.assert_close(x.grad, w)
    with pytest.raises(NotImplementedError, match="weighted: backward gives no dw"):
        operator(x, w.requires_grad_()).sum().backward()


def test_gradients_of_several_outputs() -> None:
    operator = custom_op(
        "cudnn_ctypes_tests::sum_and_product",
        lambda graph, a, b: (a + b, a * b),
        outputs=("sum", "product"),
        backward={
            ("da", "db"): lambda graph, a, b, dsum, dproduct: (
                dsum + dproduct * b,
                dsum + dproduct * a,
            )
        },
    )
    a, b = (torch.randn(1, 4, 8, requires_grad=True) for _ in range(2))
    total, product = operator(a, b)
    (total * 2 + product * 3).sum().backward()
    torch.testing.assert_close(a.grad, 2 + 3 * b.detach())
    torch.testing.assert_close(b.grad, 2 + 3 * a.detach())
    a.grad = None
    operator(a, b)[1].sum().backward()  # the gradient of the other is zero
    torch.testing.assert_close(a.grad, b.detach())


def test_an_output_without_a_gradient_is_not_differentiable() -> None:
    heads = [torch.randn(1, 2, 64, 32).half().requires_grad_() for _ in range(3)]
    o, stats = sdpa(*heads)
    assert o.requires_grad
    assert not stats.requires_grad


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (("negative", lambda graph, x: -x), {}, ValueError, "namespace::name"),
        ((3, lambda graph, x: -x), {}, ValueError, "namespace::name"),
        (("a::b", lambda graph, x: -x), {"outputs": "y"}, TypeError, "outputs: expected names"),
        (("a::b", lambda graph, x: -x), {"outputs": ()}, ValueError, "outputs"),
        (("a::b", lambda graph, x: -x), {"outputs": ("y", "y")}, ValueError, "that differ"),
        (
            ("cudnn_ctypes_tests::unknown", lambda graph, x: -x),
            {"backward": {"dx": lambda graph, dz: dz}},
            ValueError,
            "takes 'dz'; there are x, y, dy",
        ),
        (
            ("cudnn_ctypes_tests::unread", lambda graph, x: -x),
            {"backward": {"dX": lambda graph, dy: -dy}},
            ValueError,
            "'dX' is no gradient, and nothing reads it",
        ),
        (
            ("cudnn_ctypes_tests::twice", lambda graph, y: -y),
            {"backward": {"dy": lambda graph, dy: -dy}},
            ValueError,
            "two of the name 'y'",
        ),
        (("a::b", lambda: None), {}, TypeError, "first argument must be the graph"),
        (
            ("cudnn_ctypes_tests::equal", lambda graph, x: -x),
            {"backward": {"dx": "dz"}},
            ValueError,
            "'dz' takes 'dz'; there are x, y, dy",
        ),
        (
            ("cudnn_ctypes_tests::option", lambda graph, x, n: -x),
            {"backward": {("da", "dx"): "dy"}},
            ValueError,
            "backward: 'dy' is one tensor, and da, dx are 2",
        ),
    ],
)
def test_wrong_definitions(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        custom_op(*arguments, **options)


def test_a_function_with_another_number_of_results() -> None:
    operator = custom_op("cudnn_ctypes_tests::two", lambda graph, x: (-x, x + 1))
    with pytest.raises(TypeError, match=r"two: expected 1 tensors, got 2 \(tuple\)$"):
        operator(torch.randn(1, 4, 8))


def test_the_example_and_its_gradients() -> None:
    """It is not run as a doctest, which would need PyTorch."""
    x = torch.randn(2, 8, 16, requires_grad=True)
    w = torch.randn(2, 16, 8, requires_grad=True)
    known = {"custom_op": custom_op, "x": x, "w": w}
    for example in doctest.DocTestParser().get_examples(custom_op.__doc__):
        exec(example.source, known)
    exact = [each.detach().double().requires_grad_() for each in (x, w)]
    (exact[0] @ exact[1]).relu().sum().backward()
    for each, right in zip((x, w), exact, strict=True):
        torch.testing.assert_close(each.grad.double(), right.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.soak
def test_a_gradient_that_equals_another_tensor_runs_no_graph() -> None:
    def total(graph: Any, x: Any, y: Any, scale: Any) -> Any:
        return (x + y) * scale

    operator = custom_op(
        "cudnn_ctypes_tests::total",
        total,
        outputs=("z",),
        backward={"dsum": lambda graph, dz, scale: dz * scale, "dx": "dsum", "dy": "dsum"},
    )
    x, y = torch.randn(1, 4, 8, requires_grad=True), torch.randn(1, 4, 8, requires_grad=True)
    scale = torch.randn(1, 4, 8)
    z = operator(x, y, scale)
    torch.testing.assert_close(z, (x + y) * scale)
    dz = torch.randn_like(z)
    for _ in range(2):  # what is given to both is not the same memory afterwards
        z.backward(dz, retain_graph=True)
    torch.testing.assert_close(x.grad, 2 * dz * scale)
    torch.testing.assert_close(y.grad, 2 * dz * scale)
    x.grad += 1
    torch.testing.assert_close(y.grad, 2 * dz * scale)
    torch.library.opcheck(operator, (x, y, scale))


def test_an_operator_can_be_defined_again() -> None:
    """As a cell of a notebook that runs twice."""
    for factor in (2.0, 3.0):

        def scaled(graph: Any, x: Any, factor: float = factor) -> Any:
            return x * factor

        def gradient(graph: Any, dy: Any, factor: float) -> Any:
            return dy * factor

        operator = custom_op("cudnn_ctypes_tests::again", scaled, backward={"dx": gradient})
        x = torch.randn(1, 4, 8, requires_grad=True)
        y = operator(x)
        torch.testing.assert_close(y, factor * x)
        y.sum().backward()
        torch.testing.assert_close(x.grad, torch.full_like(x, factor))


def test_the_gradient_of_a_gradient_is_not_computed_in_silence() -> None:
    operator = custom_op(
        "cudnn_ctypes_tests::square",
        lambda graph, x: x * x,
        backward={"dx": lambda graph, dy, x: dy * x * 2.0},
    )
    x = torch.randn(1, 4, 8, requires_grad=True)
    (dx,) = torch.autograd.grad(operator(x).sum(), x, create_graph=True)
    torch.testing.assert_close(dx.detach(), 2 * x.detach())
    with pytest.raises(RuntimeError, match="square: its gradients are graphs that"):
        (dx * x).sum().backward()
    assert x.grad is None


def test_tensors_without_neighbours_in_memory_are_copied() -> None:
    strides = []

    def negative(graph: Any, x: Any) -> Any:
        strides.append(x.strides)
        return -x

    operator = custom_op("cudnn_ctypes_tests::negative_of_steps", negative)
    x = torch.randn(1, 4, 16)[..., ::2]
    assert torch.equal(operator(x), -x)
    assert {each[-1] for each in strides} == {1}
