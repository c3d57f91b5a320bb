"""Python's operators on the tensors of a graph: each adds the node that the operator names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

    from .operations.base import Operations

__all__ = ["TensorOperators"]

T = TypeVar("T")


def _operator(method: str, symbol: str, *, reflected: bool = False) -> Callable[[T, Any], T]:
    """The special method of an operator with two operands.

    Parameters
    ----------
    method : str
        Of the graph.
    symbol : str
        What the user writes, for the docstring.
    reflected : bool
        Whether the tensor is the right operand.
    """

    def special(self: Any, other: Any) -> Any:
        if other is None:  # to the methods, an operand that is left out
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        graph = self.graph
        if isinstance(other, TensorOperators) and not graph._owns(other):
            raise ValueError(
                f"{method}: {other!r} is of another graph than {self!r}: call {method} of the one "
                "that is meant"
            )
        return getattr(graph, method)(*operands)

    left, right = ("other", "self") if reflected else ("self", "other")
    special.__doc__ = f"``{left} {symbol} {right}``: the graph's `{method}`."
    return special


def _of_one(method: str, symbol: str) -> Callable[[T], T]:
    """The special method of an operator with one operand."""

    def special(self: Any) -> Any:
        return getattr(self.graph, method)(self)

    special.__doc__ = f"``{symbol}``: the graph's `{method}`."
    return special


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

    if TYPE_CHECKING:

        def __add__(self, other: Self | float) -> Self: ...
        def __radd__(self, other: float) -> Self: ...
        def __sub__(self, other: Self | float) -> Self: ...
        def __rsub__(self, other: float) -> Self: ...
        def __mul__(self, other: Self | float) -> Self: ...
        def __rmul__(self, other: float) -> Self: ...
        def __truediv__(self, other: Self | float) -> Self: ...
        def __rtruediv__(self, other: float) -> Self: ...
        def __pow__(self, other: Self | float) -> Self: ...
        def __rpow__(self, other: float) -> Self: ...
        def __matmul__(self, other: Self) -> Self: ...
        def __rmatmul__(self, other: Self) -> Self: ...
        def __lt__(self, other: Self | float) -> Self: ...
        def __le__(self, other: Self | float) -> Self: ...
        def __gt__(self, other: Self | float) -> Self: ...
        def __ge__(self, other: Self | float) -> Self: ...
        def __and__(self, other: Self) -> Self: ...
        def __rand__(self, other: Self) -> Self: ...
        def __or__(self, other: Self) -> Self: ...
        def __ror__(self, other: Self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __neg__(self) -> Self: ...
        def __abs__(self) -> Self: ...

    else:
        __add__ = _operator("add", "+")
        __radd__ = _operator("add", "+", reflected=True)
        __sub__ = _operator("sub", "-")
        __rsub__ = _operator("sub", "-", reflected=True)
        __mul__ = _operator("mul", "*")
        __rmul__ = _operator("mul", "*", reflected=True)
        __truediv__ = _operator("div", "/")
        __rtruediv__ = _operator("div", "/", reflected=True)
        __pow__ = _operator("pow", "**")
        __rpow__ = _operator("pow", "**", reflected=True)
        __matmul__ = _operator("matmul", "@")
        __rmatmul__ = _operator("matmul", "@", reflected=True)
        __lt__ = _operator("cmp_lt", "<")
        __le__ = _operator("cmp_le", "<=")
        __gt__ = _operator("cmp_gt", ">")
        __ge__ = _operator("cmp_ge", ">=")
        __and__ = _operator("logical_and", "&")
        __rand__ = _operator("logical_and", "&", reflected=True)
        __or__ = _operator("logical_or", "|")
        __ror__ = _operator("logical_or", "|", reflected=True)
        __invert__ = _of_one("logical_not", "~self")
        __neg__ = _of_one("neg", "-self")
        __abs__ = _of_one("abs", "abs(self)")
