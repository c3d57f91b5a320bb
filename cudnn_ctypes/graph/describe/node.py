"""The operations of a graph: plain data, and the description of each kind.

One call of the user is one node. Most nodes are one operation of cuDNN's; a composite one, such as
``sdpa``, stands for several, which building makes of it for the loaded version.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ...arguments import shown
from ...raw import cudnnDataType_t
from ...raw.attributes import ATTRIBUTES, ENUMS, KINDS
from ...raw.ctypes_support import CudnnEnum
from .tensor import Tensor


def named(text: str, suffix: str = "") -> dict[str, str]:
    """Attributes by name: of "input?=xdesc scale", "xdesc" by "input?" and "scale" by "scale".

    - `suffix`: what follows a name for which no attribute is told.
    """
    parts = (each.partition("=") for each in text.split())
    return {name: attribute or name.rstrip("?") + suffix for name, _, attribute in parts}


def exchanged(values: tuple[int, ...]) -> tuple[int, ...]:
    """With the last two exchanged."""
    return (*values[:-2], values[-1], values[-2])


@dataclass(frozen=True)
class Result:
    """One result's dims, strides and data type, as inferred.

    - `dims`: None if the operands do not determine them.
    - `like`: the tensor whose order of dimensions the strides follow; default: C order.
    - `data_type`: its default, where it is not the graph's.
    - `strides`: in place of those that follow `like`.
    - `check`: for results whose dims are given by the user: raises if they do not fit.
    """

    dims: tuple[int, ...] | None = None
    like: Tensor | None = None
    data_type: Any = None
    check: Callable[[tuple[int, ...]], None] | None = None
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Inner:
    """The descriptor of the parameters that an operation descriptor points to.

    - `descriptor`: its kind.
    - `attribute`: the operation's attribute that holds it.
    - `options`: options of the node to attributes.
    - `precision`: the attribute for the compute data type, "" if it has none.
    """

    descriptor: str
    attribute: str
    options: Mapping[str, str] = field(default_factory=dict)
    precision: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of operation: what cuDNN calls its descriptor and attributes.

    - `descriptor`: kind of its backend descriptor, in lower case: "operation_matmul"; "" if it is
      composite.
    - `inputs`, `outputs`: names of operands and results to attributes of the descriptor, "" if it
      is composite. Operands that may be missing are given as "name?".
    - `infer`: from a node to a `Result` for each output and subgraph; raises for operands that do
      not fit.
    - `options`: options of the node to attributes of the operation descriptor.
    - `precision`: the attribute for the compute data type, "" if the inner descriptor has it, or
      none.
    - `own_options`: options that are no attributes, to their types: ``int``, or ``tuple[int,
      ...]``.
    - `required`: options that must be given.
    - `check`: raises for operands and options that do not fit together, as far as dims are known;
      called when a node is described. `infer` calls it again.
    - `subgraphs`: arguments that are functions.
    - `held_graphs`: subgraphs to the attributes that hold them as operation graphs; two more
      attributes, with "_input_uid" and "_output_uid" behind, say where they begin and end.
    - `held_operations`: subgraphs of a single operation to the attributes that hold it.
    - `unread`: results that neither another operation needs to read, nor the user.
    - `by_default`: results that become outputs where no operation reads them.
    """

    descriptor: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    infer: Callable[[Node], Mapping[str, Result]]
    options: Mapping[str, str] = field(default_factory=dict)
    precision: str = ""
    inner: Inner | None = None
    own_options: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    check: Callable[[Node], None] | None = None
    subgraphs: frozenset[str] = frozenset()
    held_graphs: Mapping[str, str] = field(default_factory=dict)
    held_operations: Mapping[str, str] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    by_default: frozenset[str] = frozenset()
    optional: frozenset[str] = field(init=False)
    """Operands that may be missing."""

    @classmethod
    def of(
        cls,
        descriptor: str,
        inputs: str,
        outputs: str,
        infer: Callable[[Node], Mapping[str, Result]],
        *,
        options: str = "",
        required: str = "",
        subgraphs: str = "",
        unread: str = "",
        by_default: str = "",
        **others: Any,
    ) -> Kind:
        """A kind whose names are told as text, apart by spaces: "input=xdesc scale? bias?".

        The attribute of an operand or result is called as it is, with "_desc" behind, unless "="
        says another one; that of an option is called as it is.
        """
        operands, results = named(inputs, "_desc"), named(outputs, "_desc")
        return cls(
            descriptor,
            operands if descriptor else dict.fromkeys(operands, ""),
            results if descriptor else dict.fromkeys(results, ""),
            infer,
            named(options),
            required=frozenset(required.split()),
            subgraphs=frozenset(subgraphs.split()),
            unread=frozenset(unread.split()),
            by_default=frozenset(by_default.split()),
            **others,
        )

    def __post_init__(self) -> None:
        optional = frozenset(each[:-1] for each in self.inputs if each.endswith("?"))
        inputs = {each.removesuffix("?"): name for each, name in self.inputs.items()}
        object.__setattr__(self, "optional", optional)
        object.__setattr__(self, "inputs", inputs)

    @property
    def composite(self) -> bool:
        """True if the node stands for several of cuDNN's operations."""
        return not self.descriptor

    @functools.cached_property
    def all_options(self) -> Mapping[str, tuple[str, str]]:
        """Options to the kind of descriptor that has them, and the attribute; "" for own ones."""
        found = dict.fromkeys(self.own_options, ("", ""))
        found |= {option: (self.descriptor, name) for option, name in self.options.items()}
        if self.inner is not None:
            inner = self.inner.descriptor
            found |= {option: (inner, name) for option, name in self.inner.options.items()}
        return found

    @functools.cached_property
    def enums(self) -> Mapping[str, type[CudnnEnum]]:
        """Options that are enumerators to their enums."""
        found = {}
        for option, (descriptor, name) in self.all_options.items():
            types = ATTRIBUTES[KINDS[descriptor]][name].types if descriptor else ()
            if types and types[0] in ENUMS:
                found[option] = ENUMS[types[0]]
        return found


@dataclass(eq=False)
class Subgraph:
    """Operations within one: what a function of the user, such as a `score_mod`, added.

    - `input`, `output`: what the function was called with, a virtual tensor, and what it returned.
    - `nodes`: in an order in which they can be carried out.
    """

    input: Tensor
    output: Tensor
    nodes: list[Node]


@dataclass(eq=False, repr=False)
class Node:
    """One operation of a `Graph`.

    - `operation`: the method that was called: "conv_fprop".
    - `options`: padding, mode, axis: whatever is no tensor. None means cuDNN's default.
    - `compute_data_type`: the graph's if None.
    - `transposed`: operands, and results, of which cuDNN sees the last two dimensions exchanged.
    - `may_go_unused`: whether cuDNN wants it even if nothing reads its results.
    - `subgraphs`: by the argument that was a function.
    - `origin`: the user's node that this one is a part of, after expansion.
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
    subgraphs: dict[str, Subgraph] = field(default_factory=dict)
    origin: Node | None = None

    @property
    def operands(self) -> Iterator[Tensor]:
        """All tensors that it reads: inputs, those of lists too, and operands of its subgraphs."""
        for value in self.inputs.values():
            yield from value if isinstance(value, (list, tuple)) else (value,)
        if self.subgraphs:
            produced = {id(each.input) for each in self.subgraphs.values()}
            produced |= {id(each) for node in self.inner for each in node.outputs.values()}
            for node in self.inner:
                yield from (each for each in node.operands if id(each) not in produced)

    @property
    def inner(self) -> Iterator[Node]:
        """The nodes of its subgraphs."""
        for subgraph in self.subgraphs.values():
            yield from subgraph.nodes

    @property
    def results(self) -> Iterator[Tensor]:
        """All tensors that it makes: outputs, and results within its subgraphs."""
        yield from self.outputs.values()
        for subgraph in self.subgraphs.values():
            yield subgraph.input
            for node in subgraph.nodes:
                yield from node.outputs.values()

    def argument(self, tensor: Tensor) -> str:
        """The argument and name of a tensor in the user's call, for messages."""
        user = self.origin or self
        named = (*user.inputs.items(), *user.outputs.items())
        port = next((port for port, each in named if each is tensor), "")
        return f"{port} {tensor.name!r}".strip()

    def dims(self, port: str) -> tuple[int, ...]:
        """The dims of one input as the operation sees it; inference has set them."""
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
        return tuple(value)

    def axis(self, rank: int, of: str) -> int:
        """The option `axis` of `rank` dimensions, counted from the first; settles negative ones."""
        axis = self.options.get("axis")
        if not isinstance(axis, numbers.Integral) or not -rank <= int(axis) < rank:
            self.refuse(f"axis {axis} is none of the {rank} dimensions of {of}")
        self.options["axis"] = int(axis) % rank
        return int(axis) % rank

    def axes(self, tensor: Tensor) -> tuple[int, ...] | None:
        """The option `axes` of a tensor's dimensions, in ascending order; None if there is none."""
        given = self.options.get("axes")
        if given is None:
            return None
        rank = tensor.rank
        if any(not -rank <= axis < rank for axis in given):
            self.refuse(f"axes {given} are not all among the {rank} dimensions of {tensor.name!r}")
        axes = tuple(sorted({axis % rank for axis in given}))
        if len(axes) < len(given):
            self.refuse(f"axes {given} name a dimension of {tensor.name!r} twice")
        return axes

    def want_dims(self, port: str, dims: tuple[int, ...] | None, of: str) -> None:
        """Refuse an input of other dims than those that follow from `of`; one may be missing."""
        tensor = self.inputs.get(port)
        if tensor is not None and tensor.dims != dims:
            self.refuse(f"{port} {tensor.name!r} is {tensor.dims}, but {of} {dims}")

    def refuse(self, reason: str) -> NoReturn:
        """Raise ValueError for this operation."""
        raise ValueError(f"{self}: {reason}")

    def __str__(self) -> str:
        return str(self.origin) if self.origin else f"{self.operation} {self.name!r}"

    def __repr__(self) -> str:
        parts = [f"{port}={_names(value)}" for port, value in self.inputs.items()]
        parts += [
            f"{option}={shown(value)}"
            for option, value in self.options.items()
            if value is not None
        ]
        parts += [f"{name}=<{len(each.nodes)} nodes>" for name, each in self.subgraphs.items()]
        results = ", ".join(f"{port}={each.name!r}" for port, each in self.outputs.items())
        return f"Node({self.operation} {self.name!r}: {', '.join(parts)} -> {results})"


def _names(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_names, value))}]"
    return repr(getattr(value, "name", value))
