"""The operations of a graph: plain data, and the description of each kind."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ...raw import cudnnDataType_t
from .tensor import Tensor

__all__ = ["Inner", "Kind", "Node", "Result", "exchanged"]


def exchanged(values: tuple[int, ...]) -> tuple[int, ...]:
    """With the last two exchanged."""
    return (*values[:-2], values[-1], values[-2])


@dataclass(frozen=True)
class Result:
    """What inference says about one result.

    Attributes
    ----------
    dims : tuple of int, optional
        None if the operands do not determine them.
    like : Tensor, optional
        Whose order of dimensions the strides follow; without it, as in C.
    data_type : cudnnDataType_t or "compute", optional
        Its default, where it is not the graph's.
    check : callable, optional
        For results whose dims are given by the user: raises if they do not fit.
    """

    dims: tuple[int, ...] | None = None
    like: Tensor | None = None
    data_type: Any = None
    check: Callable[[tuple[int, ...]], None] | None = None


@dataclass(frozen=True)
class Inner:
    """The descriptor of the parameters that an operation descriptor points to.

    Attributes
    ----------
    descriptor : str
        Its kind.
    attribute : str
        The operation's attribute that holds it.
    options : mapping
        Options of the node to attributes.
    precision : str
        The attribute for the compute data type, "" if it has none.
    """

    descriptor: str
    attribute: str
    options: Mapping[str, str] = field(default_factory=dict)
    precision: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of operation: what cuDNN calls its descriptor and attributes.

    Attributes
    ----------
    descriptor : str
        Kind of its backend descriptor, in lower case: "operation_matmul".
    inputs, outputs : mapping
        Names of operands and results to attributes of the descriptor.
    infer : callable
        From a node to a `Result` for each output; raises for operands that do not fit.
    optional : frozenset of str
        Operands that may be missing.
    options : mapping
        Options of the node to attributes of the operation descriptor.
    precision : str
        The attribute for the compute data type, "" if the inner descriptor has it, or none.
    inner : Inner, optional
    own_options : mapping
        Options that are no attributes, to their types: ``int``, or ``tuple[int, ...]``.
    required : frozenset of str
        Options that must be given.
    """

    descriptor: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    infer: Callable[[Node], Mapping[str, Result]]
    optional: frozenset[str] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict)
    precision: str = ""
    inner: Inner | None = None
    own_options: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()

    @functools.cached_property
    def all_options(self) -> Mapping[str, tuple[str, str]]:
        """Options to the kind of descriptor that has them, and the attribute; "" for own ones."""
        found = dict.fromkeys(self.own_options, ("", ""))
        found |= {option: (self.descriptor, name) for option, name in self.options.items()}
        if self.inner is not None:
            inner = self.inner.descriptor
            found |= {option: (inner, name) for option, name in self.inner.options.items()}
        return found


@dataclass(eq=False)
class Node:
    """One operation of a `Graph`.

    Attributes
    ----------
    kind : Kind
    operation : str
        The method that made it: "conv_fprop".
    name : str
    inputs, outputs : dict of str to Tensor, or to a list of Tensor
    options : dict
        Padding, mode, axis: whatever is no tensor. None means cuDNN's default.
    compute_data_type : cudnnDataType_t, optional
        The graph's if None.
    transposed : frozenset of str
        Operands, and results, of which cuDNN sees the last two dimensions exchanged.
    may_go_unused : bool
        Whether cuDNN wants it even if nothing reads its results.
    """

    kind: Kind
    operation: str
    name: str
    inputs: dict[str, Any]
    outputs: dict[str, Tensor]
    options: dict[str, Any] = field(default_factory=dict)
    compute_data_type: cudnnDataType_t | None = None
    transposed: frozenset[str] = frozenset()
    may_go_unused: bool = False

    @property
    def operands(self) -> Iterator[Tensor]:
        """All input tensors, those of lists too."""
        for value in self.inputs.values():
            yield from value if isinstance(value, (list, tuple)) else (value,)

    def dims(self, port: str) -> tuple[int, ...]:
        """The dims of one input as the operation sees it; inference has come by there."""
        dims: tuple[int, ...] = self.inputs[port].dims
        return exchanged(dims) if port in self.transposed else dims

    def spatial(self, option: str, rank: int, default: int) -> tuple[Any, ...]:
        """An option with one number for each of `rank` spatial dimensions, or one for all."""
        given = self.options.get(option)
        value: Any = default if given is None else given
        if isinstance(value, numbers.Real):
            value = (value,) * rank
        numbers_given = isinstance(value, Sequence) and not isinstance(value, str)
        if not numbers_given or len(value) != rank:
            self.refuse(f"{option}={value!r} needs one number or {rank}, one per spatial dimension")
        if not all(isinstance(each, numbers.Rational) for each in value):
            self.refuse(f"{option}={value!r} must be whole numbers or fractions")
        return tuple(value)

    def axis(self, rank: int, of: str) -> int:
        """The option `axis` of `rank` dimensions, counted from the first; settles negative ones."""
        given = self.options.get("axis")
        if not isinstance(given, numbers.Integral) or not -rank <= int(given) < rank:
            self.refuse(f"axis {given} is none of the {rank} dimensions of {of}")
        self.options["axis"] = int(given) % rank
        return int(given) % rank

    def refuse(self, reason: str) -> NoReturn:
        """Raise ValueError for this operation."""
        raise ValueError(f"{self}: {reason}")

    def __str__(self) -> str:
        return f"{self.operation} {self.name!r}"
