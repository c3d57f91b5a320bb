"""Custom operators of PyTorch, each the graph of one function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..graph import GraphFunction
from ..graph import Tensor as GraphTensor

__all__ = ["checked_names", "new_operator", "parameters_of", "required", "tensor_parameter"]

# The strides that a result is said to have follow from those of the operands.
_TAG = getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)


def new_operator(
    name: str,
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    results: int,
    options: Mapping[str, Any],
) -> Any:
    """The custom operator that runs the graph of one function.

    Parameters
    ----------
    name : str
        "namespace::name".
    function : callable
        As for `GraphFunction`.
    parameters : list of inspect.Parameter
        Those of the operator, in the order of the function's, with types that PyTorch knows.
    results : int
        How many tensors the function returns.
    options : mapping
        Those of `GraphFunction`.
    """
    traced = GraphFunction(function, **options)
    order = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    own = inspect.signature(function).parameters.values()
    by_position = not any(each.kind is each.KEYWORD_ONLY for each in own)

    def checked(returned: Any) -> Any:
        several = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        if len(several) != results or isinstance(returned, dict):
            raise TypeError(f"{name}: expected {results} tensors, got {returned!r}")
        return several[0] if results == 1 else several

    def call(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        settled = map(_settled, args)
        if by_position:
            return checked(target(*settled, **kwargs))
        return checked(target(**dict(zip(order, settled, strict=False)), **kwargs))

    def run(*args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():  # its gradient is another operator
            return call(traced, args, kwargs)

    def fake(*args: Any, **kwargs: Any) -> Any:
        return call(traced.empty_results, args, kwargs)

    operator = torch.library.custom_op(
        name, run, mutates_args=(), schema=_schema(parameters, results), tags=(_TAG,)
    )
    operator.register_fake(fake)
    return operator


def _schema(parameters: list[inspect.Parameter], results: int) -> str:
    """Of an operator, as PyTorch writes it."""

    def prototype() -> None: ...

    one = torch.Tensor
    returned = one if results == 1 else tuple[(one,) * results]  # type: ignore[misc]
    vars(prototype)["__signature__"] = inspect.Signature(parameters, return_annotation=returned)
    return str(torch.library.infer_schema(prototype, mutates_args=()))


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Those after the graph, annotated by types that PyTorch knows."""
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


def required(parameter: inspect.Parameter) -> inspect.Parameter:
    """The same, to be given by its position."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return parameter.replace(kind=kind, default=inspect.Parameter.empty)


def checked_names(place: str, names: Any) -> tuple[str, ...]:
    """Names of tensors, each of its own.

    Raises
    ------
    TypeError, ValueError
        The message begins with `place`.
    """
    if isinstance(names, str) or not all(isinstance(n, str) and n.isidentifier() for n in names):
        raise TypeError(f"{place}: expected names, got {names!r}")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{place}: expected names that differ, got {names!r}")
    return tuple(names)


def _settled(value: Any) -> Any:
    """An argument; a tensor whose elements share memory, as ``expand`` makes it, is copied."""
    if not isinstance(value, torch.Tensor):
        return value
    shared = any(n > 1 and step == 0 for n, step in zip(value.shape, value.stride(), strict=True))
    return value.contiguous() if shared else value
