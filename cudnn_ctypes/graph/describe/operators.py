"""Python's operators on the tensors of a graph: each adds the node that the operator names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self

    from .operations.base import Operations

__all__ = ["TensorOperators"]


class TensorOperators:
    """Operators on tensors of a graph and numbers; a number is passed by value.

    ``+ - * / **``, ``@`` (matrix product), ``< <= > >=``, ``& | ~`` (of booleans), ``-x`` and
    ``abs(x)`` add the graph's `add`, `sub`, `mul`, `div`, `pow`, `matmul`, `cmp_lt`, …, and the
    node is named after that: "add", "add_2". ``==`` asks whether two names stand for one tensor, as
    tensors are keys of mappings: the operation is `cmp_eq`.
    """

    # So that an operator of NumPy's numbers leaves the work to the reflected one here.
    __array_ufunc__ = None

    _graph: Callable[[], Any] | None = None
    """A weak reference: a graph that is let go takes its plan with it at once."""

    @property
    def graph(self) -> Operations:
        """The graph that made this tensor.

        Raises
        ------
        ValueError
            If none has, or if it does not exist any more.
        """
        found = None if self._graph is None else self._graph()
        if found is None:
            why = "belongs to no graph" if self._graph is None else "outlived its graph"
            raise ValueError(f"{self!r} {why}: keep the Graph, and take tensors that it made")
        return found  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy: all but the graph, which does not own the copy."""
        return {name: value for name, value in vars(self).items() if name != "_graph"}

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} has no truth value: it describes numbers that only an execution has; for "
            "a choice by element take the graph's binary_select"
        )

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        """Refuse functions of PyTorch, which would ask for a "Tensor, not Tensor"."""
        name = getattr(function, "__name__", function)
        raise TypeError(
            f"PyTorch's {name} was given a Tensor of a graph, which describes numbers that only an "
            "execution has: describe the operation by a method of the graph; memory of PyTorch "
            "comes in as an argument"
        )

    def _node(self, method: str, *operands: Any) -> Self:
        """The result of the node that a method of the graph adds for an operator."""
        graph: Any = self.graph
        for operand in operands:
            if operand is None:  # to the methods, an operand that is left out
                return NotImplemented  # type: ignore[no-any-return]
            if isinstance(operand, TensorOperators) and not graph._owns(operand):
                raise ValueError(
                    f"{method}: {operand!r} is of another graph than {self!r}: call {method} of "
                    "the one that is meant"
                )
        result: Self = getattr(graph, method)(*operands)
        return result

    def __add__(self, other: Self | float) -> Self:
        return self._node("add", self, other)

    def __radd__(self, other: float) -> Self:
        return self._node("add", other, self)

    def __sub__(self, other: Self | float) -> Self:
        return self._node("sub", self, other)

    def __rsub__(self, other: float) -> Self:
        return self._node("sub", other, self)

    def __mul__(self, other: Self | float) -> Self:
        return self._node("mul", self, other)

    def __rmul__(self, other: float) -> Self:
        return self._node("mul", other, self)

    def __truediv__(self, other: Self | float) -> Self:
        return self._node("div", self, other)

    def __rtruediv__(self, other: float) -> Self:
        return self._node("div", other, self)

    def __pow__(self, other: Self | float) -> Self:
        return self._node("pow", self, other)

    def __rpow__(self, other: float) -> Self:
        return self._node("pow", other, self)

    def __matmul__(self, other: Self) -> Self:
        return self._node("matmul", self, other)

    def __rmatmul__(self, other: Self) -> Self:
        return self._node("matmul", other, self)

    def __and__(self, other: Self) -> Self:
        return self._node("logical_and", self, other)

    def __rand__(self, other: Self) -> Self:
        return self._node("logical_and", other, self)

    def __or__(self, other: Self) -> Self:
        return self._node("logical_or", self, other)

    def __ror__(self, other: Self) -> Self:
        return self._node("logical_or", other, self)

    def __lt__(self, other: Self | float) -> Self:
        return self._node("cmp_lt", self, other)

    def __le__(self, other: Self | float) -> Self:
        return self._node("cmp_le", self, other)

    def __gt__(self, other: Self | float) -> Self:
        return self._node("cmp_gt", self, other)

    def __ge__(self, other: Self | float) -> Self:
        return self._node("cmp_ge", self, other)

    def __invert__(self) -> Self:
        return self._node("logical_not", self)

    def __neg__(self) -> Self:
        return self._node("neg", self)

    def __abs__(self) -> Self:
        return self._node("abs", self)
