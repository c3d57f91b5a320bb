"""A custom operator of PyTorch from a graph, and its gradient from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .gradients import Backward, Gradient
from .operators import checked_names, new_operator, parameters_of


def custom_op(
    name: str,
    forward: Callable[..., Any],
    *,
    backward: Backward | None = None,
    outputs: Sequence[str] = ("y",),
    **options: Any,
) -> Any:
    """Define a custom operator of PyTorch that runs as one graph, and its gradient as others.

    Parameters
    ----------
    name : str
        "namespace::name", as for ``torch.library.custom_op``.
    forward : callable
        Of a graph, tensors and options; it returns as many tensors as there are `outputs`.
        Arguments without an annotation are tensors, ``Tensor | None`` may be left out; options are
        annotated as for ``torch.library.infer_schema``: int, float, bool, str, ``list[int]``.
    backward : mapping, optional
        The graphs of the gradients, in the order in which they run: by the name of what it gives,
        or a tuple of names, a function of a graph and, each by its name, any of: arguments of
        `forward`; `outputs`; "d" and the name of an output, its gradient; what an earlier function
        gave. The gradient of the argument "x" is called "dx", and converted to the type of "x".
        In place of a function, the name of a tensor says that both are the same: no graph runs.
        Without it there are no gradients.
        Functions of which no result is needed do not run. An output whose gradient no function
        takes is not differentiable.
    outputs : sequence of str
        Names of what `forward` returns.
    **options
        Those of `GraphFunction`, for all graphs: ``io_data_type``, ``build`` and others.

    Returns
    -------
    torch.library.CustomOpDef
        Called with tensors of PyTorch. Its work is done in PyTorch's current stream, on the GPU
        that has the tensors. Tensors that were expanded to their shape are copied before.

    Raises
    ------
    TypeError, ValueError
        For a function whose arguments do not have the meaning above.

    Examples
    --------
    >>> def product(graph, x, w):
    ...     return graph.relu(x @ w)
    >>> matmul_relu = custom_op(
    ...     "mylib::matmul_relu",
    ...     product,
    ...     backward={
    ...         "dz": lambda graph, dy, y: graph.relu_backward(dy, y),
    ...         "dx": lambda graph, dz, w: graph.matmul(dz, w, transpose_B=True),
    ...         "dw": lambda graph, x, dz: graph.matmul(x, dz, transpose_A=True),
    ...     },
    ... )  # doctest: +SKIP
    >>> matmul_relu(x, w).sum().backward()  # doctest: +SKIP
    """
    namespace, _, own = name.partition("::") if isinstance(name, str) else ("", "", "")
    if not namespace.isidentifier() or not own.isidentifier():
        raise ValueError(f'name: expected "namespace::name", got {name!r}')
    outputs = checked_names("outputs", outputs)
    parameters = parameters_of(forward)
    operator = new_operator(name, forward, parameters, len(outputs), options)
    if backward is not None:
        gradient = Gradient(name, parameters, outputs, backward, options)
        operator.register_autograd(gradient.backward, setup_context=gradient.setup_context)
    return operator
