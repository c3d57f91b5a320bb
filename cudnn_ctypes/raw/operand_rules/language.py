"""The language of operand rules: operands, broken rules, and the relations that most rules state.

A generator is registered for C functions by `rules`. It is called with those parameters of the C
function that it names: a tensor, filter or sequences as an `Operand`, another descriptor as its
record, None for NULL and for a descriptor that was never set. `function` is the C function's name,
and a parameter that the C function has not is left to its default. The generator yields the rules
that are broken, in the order in which cuDNN looks at them.

Three kinds of rules differ in who asks for them. Most follow from what the operation means, and
cuDNN checks them. What only cuDNN asks for (`cudnn_only`) is what the kernels of the measured
versions lack, 9.14 and 9.19: layer 2 leaves it to the library that is loaded. What cuDNN does not
check (`unchecked`) layer 2 alone refuses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from .. import enums
from ..strides import is_packed, overlapping

BAD_PARAM, NOT_SUPPORTED = enums.CUDNN_STATUS_BAD_PARAM, enums.CUDNN_STATUS_NOT_SUPPORTED
FLOATING = (
    enums.CUDNN_DATA_FLOAT,
    enums.CUDNN_DATA_DOUBLE,
    enums.CUDNN_DATA_HALF,
    enums.CUDNN_DATA_BFLOAT16,
)

Ints = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor, filter or sequences: name, descriptor's record, and address, None if unknown."""

    name: str
    described: Any
    address: Any = None

    @property
    def shape(self) -> Ints:
        """In logical order."""
        shape: Ints = self.described.shape
        return shape

    @property
    def strides(self) -> Ints:
        """In elements, of vectors where the data type has vectors."""
        strides: Ints = self.described.strides
        return strides

    @property
    def data_type(self) -> enums.cudnnDataType_t:
        """The descriptor's data type."""
        data_type: enums.cudnnDataType_t = self.described.data_type
        return data_type


class Broken(NamedTuple):
    """A broken rule.

    - `operand`: the argument's name.
    - `sentence`: what was expected of it, and what it is.
    - `status`: what cuDNN 9.14 and 9.19 return; None where they do not check.
    - `by_meaning`: whether the rule follows from what the operation means, not from what kernels
      there are.
    """

    operand: str
    sentence: str
    status: enums.cudnnStatus_t | None = BAD_PARAM
    by_meaning: bool = True

    def __str__(self) -> str:
        return f"{self.operand}: {self.sentence}"


Rules = Iterable[Broken]
R = TypeVar("R", bound=Callable[..., Rules])

declared: dict[str, list[tuple[Callable[..., Rules], Mapping[str, str]]]] = {}
"""By C function, generators with the C names of their parameters."""


def rules(*functions: str, **names: str) -> Callable[[R], R]:
    """Register a generator of broken rules.

    - `*functions`: C functions.
    - `**names`: C's names of parameters that the generator calls otherwise.
    """

    def register(generator: R) -> R:
        parameters = {
            each: names.get(each, each) for each in inspect.signature(generator).parameters
        }
        for function in functions:
            declared.setdefault(function, []).append((generator, parameters))
        return generator

    return register


def cudnn_only(broken: Rules, status: enums.cudnnStatus_t = BAD_PARAM) -> Iterator[Broken]:
    """Rules that only cuDNN asks for, with its status."""
    for each in broken:
        yield each._replace(status=status, by_meaning=False)


def unchecked(broken: Rules) -> Iterator[Broken]:
    """Rules that cuDNN does not check."""
    for each in broken:
        yield each._replace(status=None)


def with_status(status: enums.cudnnStatus_t, broken: Rules) -> Iterator[Broken]:
    """Rules for which cuDNN has another status than BAD_PARAM."""
    for each in broken:
        yield each._replace(status=status)


def no_kernel(operand: Operand, sentence: str) -> Broken:
    """Rules for what cuDNN 9.14 and 9.19 have no kernel for."""
    return Broken(operand.name, sentence, NOT_SUPPORTED, by_meaning=False)


# -- relations of operands ---------------------------------------------------------------------


def equal(fields: str, source: Operand | None, *others: Operand | None) -> Iterator[Broken]:
    """Operands have the "shape", "data_type" or "strides" of `source`; NULL is skipped."""
    for other in others:
        for field in fields.split() if source and other else ():
            wanted, found = getattr(source, field), getattr(other, field)
            if found != wanted:
                yield Broken(
                    other.name,  # type: ignore[union-attr]
                    f"expected the {field.replace('_', ' ')} of {source.name}, "  # type: ignore[union-attr]
                    f"{_shown(wanted)}, got {_shown(found)}",
                )


def same(source: Operand | None, *others: Operand | None) -> Iterator[Broken]:
    """Operands have the shape and the data type of `source`."""
    return equal("shape data_type", source, *others)


def shaped(operand: Operand, shape: Ints, whose: str) -> Iterator[Broken]:
    """An operand has a shape that follows from others."""
    if operand.shape != shape:
        yield Broken(operand.name, f"expected shape {shape}, {whose}, got {operand.shape}")


def broadcast(part: Operand, whole: Operand, where: str = "it is repeated") -> Iterator[Broken]:
    """An operand has the shape of another one, or ones in it."""
    shape, wanted = part.shape, whole.shape
    if len(shape) != len(wanted) or any(
        size not in (1, full) for size, full in zip(shape, wanted, strict=True)
    ):
        yield Broken(
            part.name,
            f"expected the shape of {whole.name}, {wanted}, with ones where {where}, got {shape}",
        )


# -- what cuDNN has kernels for ----------------------------------------------------------------


def in_place(source: Operand, result: Operand) -> Iterator[Broken]:
    """A result at the address of an operand has the operand's strides."""
    if source.address is not None and source.address == result.address:
        yield from cudnn_only(equal("strides", source, result))


def ranked(function: str, operand: Operand, least: int, most: int = 8) -> Iterator[Broken]:
    """The number of dimensions."""
    if not least <= len(operand.shape) <= most:
        dimensions = f"{least} dimensions or more" if most == 8 else f"{least} to {most} dimensions"
        yield no_kernel(operand, f"{function} is for {dimensions}, got shape {operand.shape}")


def typed(
    function: str, operand: Operand, types: Collection[enums.cudnnDataType_t] = FLOATING
) -> Iterator[Broken]:
    """The data type."""
    if operand.data_type not in types:
        yield no_kernel(operand, f"cuDNN has no {function} of {operand.data_type.name} tensors")


def apart(*operands: Operand) -> Iterator[Broken]:
    """No two elements share memory."""
    for each in operands:
        if overlapping(each.shape, each.strides):
            yield Broken(
                each.name, f"elements share addresses: strides {each.strides}", by_meaning=False
            )


def pointwise(function: str, first: Operand, *others: Operand) -> Iterator[Broken]:
    """Layouts: any of 4 or 5 dimensions, else equal, packed images.

    Dimensions of size 1 do not count, nor what is between images.
    """
    if len(first.shape) not in (4, 5) and not (
        is_packed(first, start=1) and all(each.strides == first.strides for each in others)
    ):
        yield no_kernel(
            first,
            f"{function} of {len(first.shape)} dimensions is for equal and packed layouts, got "
            f"shape {first.shape} with strides {first.strides}",
        )


def _shown(value: object) -> str:
    return str(getattr(value, "name", value))
