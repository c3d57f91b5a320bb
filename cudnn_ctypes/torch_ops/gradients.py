"""The gradients of operators: which graphs run, and what is kept for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from .operators import checked_names, new_operator, parameters_of, required, tensor_parameter

__all__ = ["Gradient"]


class Gradient:
    """The gradient of an operator: the operators of its backward graphs, and what they read.

    Parameters
    ----------
    name : str
        Of the operator.
    parameters : list of inspect.Parameter
        Of its forward function, without the graph.
    outputs : tuple of str
    backward : mapping
    options : mapping
        As for `custom_op`.
    """

    def __init__(
        self,
        name: str,
        parameters: list[inspect.Parameter],
        outputs: tuple[str, ...],
        backward: Mapping[str | tuple[str, ...], Callable[..., Any]],
        options: Mapping[str, Any],
    ) -> None:
        self._name, self._outputs = name, outputs
        self._inputs = [each.name for each in parameters]
        known = {each.name: each for each in parameters}
        self._add(known, (*outputs, *map(_d, outputs)))
        self._steps: list[_Step] = []
        for results, function in backward.items():
            names = checked_names("backward", (results,) if isinstance(results, str) else results)
            reads = [each.name for each in parameters_of(function)]
            for each in reads:
                if each not in known:
                    raise ValueError(
                        f"{name}: backward: {function!r} takes {each!r}; there are "
                        f"{', '.join(known)}"
                    )
            taken = [required(known[each]) for each in reads]
            operator = new_operator(
                f"{name}_{'_'.join(names)}", function, taken, len(names), options
            )
            self._steps.append(_Step(operator, reads, names))
            self._add(known, names)
        read = {each for step in self._steps for each in step.reads}
        useful = read.union(map(_d, self._inputs))
        for each in (each for step in self._steps for each in step.results):
            if each not in useful:
                raise ValueError(f"{name}: backward: {each!r} is no gradient, and nothing reads it")
        self._saved = [each for each in (*self._inputs, *outputs) if each in read]
        self._fixed = [each for each in outputs if _d(each) not in read]

    def _add(self, known: dict[str, inspect.Parameter], names: Sequence[str]) -> None:
        """Add tensors to the parameters that are known by name."""
        for each in names:
            if each in known:
                raise ValueError(
                    f"{self._name}: there are two of the name {each!r} among arguments, outputs "
                    "and what backward gives"
                )
            known[each] = tensor_parameter(each)

    def setup_context(
        self,
        ctx: Any,
        inputs: tuple[Any, ...],
        output: Any,
        keyword_only_inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Save what the graphs of the gradient read."""
        results = output if isinstance(output, tuple) else (output,)
        given = dict(zip(self._inputs, inputs, strict=False)) | dict(keyword_only_inputs or {})
        given |= dict(zip(self._outputs, results, strict=True))
        saved = {each: given[each] for each in self._saved}
        tensors = {k: v for k, v in saved.items() if v is None or isinstance(v, torch.Tensor)}
        ctx.save_for_backward(*tensors.values())
        ctx.tensors = list(tensors)
        ctx.options = {k: v for k, v in saved.items() if k not in tensors}
        ctx.strides = [each.stride() for each in results]
        ctx.types = {k: v.dtype for k, v in given.items() if isinstance(v, torch.Tensor)}
        fixed = [given[each] for each in self._fixed]
        if fixed:
            ctx.mark_non_differentiable(*fixed)

    def backward(self, ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the arguments of which some are needed, None for the others."""
        inputs = self._inputs[: len(ctx.needs_input_grad)]
        pairs = zip(inputs, ctx.needs_input_grad, strict=False)
        needed = {_d(each) for each, is_needed in pairs if is_needed}
        values: dict[str, Any] = dict(zip(ctx.tensors, ctx.saved_tensors, strict=True))
        values |= ctx.options
        for each, gradient, strides in zip(self._outputs, gradients, ctx.strides, strict=True):
            if each not in self._fixed:
                values[_d(each)] = _in_layout(gradient, strides)
        for step in self._needed_steps(needed):
            results = step.operator(*[values[each] for each in step.reads])
            several = results if isinstance(results, tuple) else (results,)
            values |= dict(zip(step.results, several, strict=True))
        missing = needed.difference(values)
        if missing:
            raise NotImplementedError(
                f"{self._name}: backward gives no {', '.join(sorted(missing))}: call the operator "
                "with arguments that do not require these gradients"
            )
        return tuple(
            values[_d(each)].to(ctx.types[each]) if _d(each) in needed else None for each in inputs
        )

    def _needed_steps(self, wanted: set[str]) -> list[_Step]:
        """The steps that some names need, in order."""
        wanted, steps = set(wanted), []
        for step in reversed(self._steps):
            if wanted.intersection(step.results):
                wanted.update(step.reads)
                steps.append(step)
        return steps[::-1]


class _Step(NamedTuple):
    """One graph of a gradient: its operator, and the names of what it reads and gives."""

    operator: Any
    reads: list[str]
    results: tuple[str, ...]


def _d(name: str) -> str:
    """What the gradient of a tensor is called."""
    return f"d{name}"


def _in_layout(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """The same elements with such strides."""
    if tensor.stride() == strides:
        return tensor
    return tensor.new_empty_strided(tensor.shape, strides).copy_(tensor)
