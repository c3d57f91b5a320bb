"""Custom operators with gradients: which graphs run, and what is kept for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from .operators import checked_names, defined, new_operator, parameters_of, tensor_parameter

Backward = Mapping[str | tuple[str, ...], Callable[..., Any] | str]
"""Gradient names to the function of a graph that gives them, or to the tensor that equals them."""


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
    torch._ops.OpOverload
        ``torch.ops.namespace.name.default``, called with tensors of PyTorch. Its work is done in
        PyTorch's current stream, on the GPU that has the tensors. Tensors that were expanded to
        their shape are copied before.

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
    forward_operator = new_operator(f"{name}_forward", forward, parameters, len(outputs), options)
    gradient = Gradient(name, parameters, outputs, backward, options)
    call = _call(forward_operator, gradient, parameters)
    return defined(name, parameters, len(outputs), {"CompositeImplicitAutograd": call})


def _call(
    forward: Any, gradient: Gradient, parameters: Sequence[inspect.Parameter]
) -> Callable[..., Any]:
    """An operator's work: its forward graph, with a note for autograd if gradients are needed.

    It is made of other operators: those alone remain in what torch.compile makes.
    """
    signature = inspect.Signature(list(parameters))

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) != len(parameters):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        if torch.is_grad_enabled():
            for each in args:
                if isinstance(each, torch.Tensor) and each.requires_grad:
                    return _Differentiable.apply(forward, gradient, *args)
        return forward(*args)

    return call


class _Differentiable(torch.autograd.Function):  # type: ignore[misc]
    """The forward graph of an operator, with its gradient."""

    @staticmethod
    def forward(forward: Any, gradient: Gradient, *inputs: Any) -> Any:
        return forward(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, ctx.gradient, *arguments = inputs
        ctx.gradient.setup_context(ctx, arguments, output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return None, None, *ctx.gradient.backward(ctx, *gradients)


class Gradient:
    """The gradient of an operator: the operators of its backward graphs, and what they read.

    `parameters` are those of its forward function, without the graph; the others are as for
    `custom_op`.
    """

    # While a gradient is computed, all that its graphs read and give is in one list. `_places` has
    # the places there by name; what equals something else has the place of that.

    def __init__(
        self,
        name: str,
        parameters: list[inspect.Parameter],
        outputs: tuple[str, ...],
        backward: Backward | None,
        options: Mapping[str, Any],
    ) -> None:
        self._name, rules = name, backward or {}
        self._inputs = [each.name for each in parameters]
        self._known: dict[str, inspect.Parameter] = {}
        self._places: dict[str, int] = {}
        for each in (*parameters, *map(tensor_parameter, (*outputs, *map(_d, outputs)))):
            self._add(each)
        self._steps: list[_Step] = []
        for results, rule in rules.items():
            self._add_rule(results, rule, options)
        read = {place for step in self._steps for place in step.reads}
        read |= {self._places[rule] for rule in rules.values() if isinstance(rule, str)}
        useful = read | {self._places.get(_d(each), -1) for each in self._inputs}
        for result in (each for names in rules for each in _several(names)):
            if self._places[result] not in useful:
                raise ValueError(
                    f"{name}: backward: {result!r} is no gradient, and nothing reads it"
                )
        self._saved = [i for i in range(len(parameters) + len(outputs)) if i in read]
        self._gradients = [self._places[_d(each)] for each in outputs]
        fixed = [i for i, place in enumerate(self._gradients) if place not in read]
        self._fixed = fixed if backward is not None else []
        self._recipes: dict[tuple[bool, ...], _Recipe] = {}

    def _add(self, parameter: inspect.Parameter, equal: str | None = None) -> None:
        """Note something by its name: it has a place of its own, or that of its equal."""
        name = parameter.name
        if name in self._known:
            raise ValueError(
                f"{self._name}: there are two of the name {name!r} among arguments, outputs "
                "and what backward gives"
            )
        self._places[name] = len(self._known) if equal is None else self._places[equal]
        self._known[name] = parameter

    def _add_rule(
        self, results: str | tuple[str, ...], rule: Callable[..., Any] | str, options: Any
    ) -> None:
        names = checked_names("backward", _several(results))
        own = [tensor_parameter(rule)] if isinstance(rule, str) else parameters_of(rule)
        reads = [each.name for each in own]
        for each in reads:
            if each not in self._known:
                raise ValueError(
                    f"{self._name}: backward: {rule!r} takes {each!r}; there are "
                    f"{', '.join(self._known)}"
                )
        if isinstance(rule, str):
            self._add_equal(names, rule)
            return
        taken = [each.replace(annotation=self._known[each.name].annotation) for each in own]
        operator = new_operator(f"{self._name}_{'_'.join(names)}", rule, taken, len(names), options)
        for each in names:
            self._add(tensor_parameter(each))
        step = _Step(operator, self._placed(reads), self._placed(names))
        self._steps.append(step)

    def _add_equal(self, names: tuple[str, ...], rule: str) -> None:
        if self._known[rule].annotation is not torch.Tensor:
            raise ValueError(f"{self._name}: backward: {rule!r} is no tensor")
        if len(names) > 1:
            raise ValueError(
                f"{self._name}: backward: {rule!r} is one tensor, and {', '.join(names)} are "
                f"{len(names)}"
            )
        self._add(tensor_parameter(names[0]), rule)

    def _placed(self, names: Sequence[str]) -> list[int]:
        return [self._places[each] for each in names]

    def setup_context(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """Save what the graphs of the gradient read."""
        results = output if isinstance(output, tuple) else (output,)
        values = (*inputs, *results)
        tensors, ctx.options = [], []
        for place in self._saved:
            value = values[place]
            is_tensor = value is None or isinstance(value, torch.Tensor)
            tensors.append(value if is_tensor else None)
            if not is_tensor:
                ctx.options.append((place, value))
        ctx.save_for_backward(*tensors)
        ctx.strides = [each.stride() for each in results]
        ctx.types = [each.dtype if isinstance(each, torch.Tensor) else None for each in inputs]
        if self._fixed:
            ctx.mark_non_differentiable(*[results[i] for i in self._fixed])

    def backward(self, ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the arguments of which some are needed, None for the others."""
        if not torch.is_grad_enabled():
            return self._backward(ctx, *gradients)
        with torch.no_grad():
            returned = self._backward(ctx, *gradients)
        every = (*ctx.saved_tensors, *gradients)
        sources = [each for each in every if each is not None and each.requires_grad]
        if not sources:
            return returned
        return tuple(
            None if each is None else _Last.apply(self._name, each, *sources) for each in returned
        )

    def _backward(self, ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        needed = tuple(ctx.needs_input_grad[2:])
        steps, wanted = self._recipes.get(needed) or self._recipe(needed)
        values: list[Any] = [None] * len(self._known)
        for place, value in zip(self._saved, ctx.saved_tensors, strict=True):
            values[place] = value
        for place, value in ctx.options:
            values[place] = value
        for i, (place, gradient) in enumerate(zip(self._gradients, gradients, strict=True)):
            if i not in self._fixed:
                values[place] = _in_layout(gradient, ctx.strides[i])
        for step in steps:
            results = step.operator(*[values[place] for place in step.reads])
            if len(step.results) == 1:
                values[step.results[0]] = results
                continue
            for place, value in zip(step.results, results, strict=True):
                values[place] = value
        returned: list[Any] = [None] * len(needed)
        for i, place in wanted:
            value, dtype = values[place], ctx.types[i]
            returned[i] = value if value.dtype == dtype else value.to(dtype)
        return tuple(returned)

    def _recipe(self, needed: tuple[bool, ...]) -> _Recipe:
        """The graphs to run for the gradients of some inputs."""
        names = [_d(each) for each in self._inputs]
        wanted = [(i, names[i]) for i, is_needed in enumerate(needed) if is_needed]
        missing = sorted(name for _, name in wanted if name not in self._places)
        if missing:
            raise NotImplementedError(
                f"{self._name}: backward gives no {', '.join(missing)}: call the operator "
                "with arguments that do not require these gradients"
            )
        placed = [(i, self._places[name]) for i, name in wanted]
        places, steps = {place for _, place in placed}, []
        for step in reversed(self._steps):
            if places.intersection(step.results):
                places.update(step.reads)
                steps.append(step)
        recipe = self._recipes[needed] = _Recipe(steps[::-1], placed)
        return recipe


class _Last(torch.autograd.Function):  # type: ignore[misc]
    """A gradient that has none itself: computing one through it is an error."""

    @staticmethod
    def forward(ctx: Any, name: str, gradient: torch.Tensor, *sources: torch.Tensor) -> Any:
        ctx.name = name
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(f"{ctx.name}: its gradients are graphs that have no gradients")


class _Step(NamedTuple):
    """One graph of a gradient: its operator, and the places of what it reads and gives."""

    operator: Any
    reads: list[int]
    results: list[int]


class _Recipe(NamedTuple):
    """The steps for some gradients, in order, and which inputs' gradients are at which place."""

    steps: list[_Step]
    wanted: list[tuple[int, int]]


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _d(name: str) -> str:
    """The name of a tensor's gradient."""
    return f"d{name}"


def _in_layout(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """The same elements with these strides."""
    if tensor.stride() == strides:
        return tensor
    return tensor.new_empty_strided(tensor.shape, strides).copy_(tensor)
