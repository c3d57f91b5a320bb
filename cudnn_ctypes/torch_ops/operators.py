"""Custom operators of PyTorch, each the graph of one function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch

from ..graph import GraphFunction
from ..graph import Tensor as GraphTensor
from ..raw.strides import is_spaced

# The strides that a result is said to have follow from those of the operands.
_TAG = getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)


def new_operator(
    name: str,
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    results: int,
    options: Mapping[str, Any],
) -> Any:
    """The custom operator that runs the graph of one function; it has no gradient.

    Parameters
    ----------
    name : str
        "namespace::name".
    function : callable
        As for `GraphFunction`.
    parameters : list of inspect.Parameter
        Those of the function, with types that PyTorch knows. The operator takes all by position.
    results : int
        How many tensors the function returns.
    options : mapping
        Those of `GraphFunction`.
    """
    kernel = _Kernel(name, function, parameters, results, options)
    needed = [
        each.replace(kind=each.POSITIONAL_OR_KEYWORD, default=each.empty) for each in parameters
    ]
    operator = defined(name, needed, results, {"CPU": kernel.run, "CUDA": kernel.run}, _TAG)
    library = _libraries[name]
    torch.library.register_fake(name, kernel.fake, lib=library)
    return operator


def defined(
    name: str,
    parameters: list[inspect.Parameter],
    results: int,
    functions: Mapping[str, Callable[..., Any]],
    *tags: Any,
) -> Any:
    """An operator with implementations by PyTorch's dispatch key, which replaces one of its name.

    ``torch.library.custom_op`` would put checks around them that take longer than a small kernel.
    """
    _libraries.pop(name, None)  # what was registered for an operator of this name goes
    namespace, _, own = name.partition("::")
    library = _libraries[name] = torch.library.Library(namespace, "FRAGMENT")
    tags = (*tags, torch.Tag.pt2_compliant_tag)
    library.define(f"{own}{_schema(parameters, results)}", tags=tags)
    for key, function in functions.items():
        library.impl(own, function, key)
    return getattr(getattr(torch.ops, namespace), own).default


_libraries: dict[str, torch.library.Library] = {}
"""Registrations by operator, until it is defined again."""


class Direct:
    """A function of layer 2 in place of one of a graph: it is called with results to fill."""

    def __init__(self, function: Callable[..., None], empty: Callable[..., Any]) -> None:
        self._function, self.empty_results = function, empty
        signature = inspect.signature(function)
        first, _, *operands = signature.parameters.values()
        self.__signature__ = signature.replace(parameters=[first, *operands])
        self.__annotations__ = typing.get_type_hints(function)

    def run_again(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Return None: no graph is looked up."""

    def __call__(self, *args: Any) -> Any:
        args = tuple(each.detach() if isinstance(each, torch.Tensor) else each for each in args)
        results = self.empty_results(*args)
        x = next(each for each in args if isinstance(each, torch.Tensor))
        with torch.cuda.device(x.device) if x.is_cuda else nullcontext():
            stream = torch.cuda.current_stream() if x.is_cuda else None
            self._function(stream, results, *args)
        return results


def direct(empty: Callable[..., Any]) -> Callable[[Callable[..., None]], Direct]:
    """Make an operator's function of one of layer 2.

    Its first arguments are the stream and the results, which `empty` makes from the others.
    """
    return lambda function: Direct(function, empty)


class _Kernel:
    """An operator's implementation for tensors, and for fake ones without memory."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: list[inspect.Parameter],
        results: int,
        options: Mapping[str, Any],
    ) -> None:
        self._name, self._results = name, results
        self._traced: Any = function
        if not isinstance(function, Direct):
            self._traced = GraphFunction(function, **options)
        by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        self._by_name, self._by_position = by_name, len(parameters) - len(by_name)

    def run(self, *args: Any) -> Any:
        kwargs: dict[str, Any] = {}
        if self._by_name:
            args, kwargs = self._arguments(args)
        again = self._traced.run_again(args, kwargs)
        if again is not None:
            return again
        with torch.no_grad():  # its gradient is another operator
            settled = [_settled(each) for each in args]
            return self._checked(self._traced(*settled, **kwargs))

    def fake(self, *args: Any) -> Any:
        args, kwargs = self._arguments(args)
        settled = [_settled(each) for each in args]

        def results(*values: Any) -> Any:
            return self._checked(self._traced.empty_results(*values, **kwargs))

        symbolic = _symbolic_results(results, settled)
        return results(*settled) if symbolic is None else symbolic

    def _arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in the form that the function takes."""
        last = dict(zip(self._by_name, args[self._by_position :], strict=True))
        return args[: self._by_position], last

    def _checked(self, returned: Any) -> Any:
        several = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        if len(several) != self._results or isinstance(returned, dict):
            kind, name = type(returned).__name__, self._name.removesuffix("_forward")
            raise TypeError(
                f"{name}: expected {self._results} tensors, got {len(several)} ({kind})"
            )
        return several[0] if self._results == 1 else several


def _symbolic_results(results: Callable[..., Any], args: list[Any]) -> Any:
    """Results whose sizes are those of arguments that PyTorch has symbols for.

    They are found by doubling one symbol after the other. None without symbols, and where graphs
    for such sizes are refused: then all symbols become numbers.
    """
    tensors = [each for each in args if isinstance(each, torch.Tensor)]
    sizes = [n for each in tensors for n in each.shape if isinstance(n, torch.SymInt)]
    if not sizes or any(n.node.hint is None for n in sizes):
        return None
    environment = sizes[0].node.shape_env
    known = getattr(environment, "backed_var_to_val", None) or environment.var_to_val
    free = {symbol for n in sizes for symbol in n.node.expr.free_symbols}
    first = {symbol: int(known[symbol]) for symbol in free}
    points = [first, *({**first, symbol: 2 * n} for symbol, n in first.items())]

    def at(value: Any, point: Mapping[Any, int]) -> Any:
        if isinstance(value, torch.SymInt):
            return int(value.node.expr.subs(point))
        if not isinstance(value, torch.Tensor):
            return value
        form = [tuple(at(n, point) for n in each) for each in (value.shape, value.stride())]
        return torch.empty_strided(*form, dtype=value.dtype, device="meta")

    try:
        with torch._subclasses.fake_tensor.unset_fake_temporarily():
            found = [results(*[at(each, point) for each in args]) for point in points]
    except (ValueError, TypeError):  # two symbols, say, that must be equal
        return None
    several = [each if isinstance(each, tuple) else (each,) for each in found]
    by_values = {tuple(at(n, point) for point in points): n for n in sizes}
    made = []
    for same in zip(*several, strict=True):
        shape = []
        for values in zip(*(each.shape for each in same), strict=True):
            if values not in by_values:  # the symbols that it depends on become numbers
                changing = {s for s, n in zip(first, values[1:], strict=True) if n != values[0]}
                for n in sizes:
                    if changing & n.node.expr.free_symbols:
                        int(n)
            shape.append(by_values.get(values, values[0]))
        form = list(zip(same[0].stride(), same[0].shape, strict=True))
        order = sorted(range(len(shape)), key=form.__getitem__)
        strides, step = [0] * len(shape), 1
        for i in order:
            strides[i] = step
            step = step * shape[i]
        expected = [at(n, first) for n in strides]
        if any(n != step for n, (step, size) in zip(expected, form, strict=True) if size > 1):
            return None
        made.append(tensors[0].new_empty_strided(shape, strides, dtype=same[0].dtype))
    return tuple(made) if isinstance(found[0], tuple) else made[0]


def _schema(parameters: list[inspect.Parameter], results: int) -> str:
    """The schema of an operator in PyTorch's notation."""

    def prototype() -> None: ...

    one = torch.Tensor
    returned = one if results == 1 else tuple[(one,) * results]  # type: ignore[misc]
    vars(prototype)["__signature__"] = inspect.Signature(parameters, return_annotation=returned)
    return str(torch.library.infer_schema(prototype, mutates_args=()))


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters after the graph, annotated with types that PyTorch knows."""
    try:
        hints = typing.get_type_hints(function)
    except NameError:  # of a module that only type checkers import
        hints = {}
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return [each.replace(annotation=_annotation(each, hints)) for each in parameters]


def _annotation(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    hint = hints.get(parameter.name, parameter.annotation)
    if hint in (inspect.Parameter.empty, Any, GraphTensor, torch.Tensor, "Tensor"):
        return torch.Tensor
    return torch.Tensor | None if hint in (GraphTensor | None, torch.Tensor | None) else hint


def tensor_parameter(name: str) -> inspect.Parameter:
    """One that takes a tensor."""
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=torch.Tensor)


def checked_names(place: str, names: Any) -> tuple[str, ...]:
    """Names of tensors, each of its own."""
    if isinstance(names, str) or not all(isinstance(n, str) and n.isidentifier() for n in names):
        raise TypeError(f"{place}: expected names, got {names!r}")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{place}: expected names that differ, got {names!r}")
    return tuple(names)


def _settled(value: Any) -> Any:
    """An argument; tensors that no graph computes right are copied.

    They are those whose elements share memory, as ``expand`` makes them, and those without
    neighbours in memory, such as ``x[..., ::2]``, which cuDNN 9.19 reads wrong without a word.
    """
    if not isinstance(value, torch.Tensor):
        return value
    return value.contiguous() if is_spaced(value.shape, value.stride()) else value
