"""A C expression in Python: its text, its type, and what is known of its value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .types import CType

__all__ = [
    "ADDITIVE",
    "AND",
    "ATOM",
    "BITAND",
    "BITOR",
    "BITXOR",
    "COMPARISON",
    "CONDITIONAL",
    "MULTIPLICATIVE",
    "NOT",
    "OR",
    "REASONS",
    "SHIFT",
    "UNARY",
    "WALRUS",
    "Place",
    "Untranslatable",
    "Value",
    "told",
]

# How tightly Python's operators bind.
WALRUS, CONDITIONAL, OR, AND, NOT, COMPARISON = 0, 1, 2, 3, 4, 5
BITOR, BITXOR, BITAND, SHIFT, ADDITIVE, MULTIPLICATIVE, UNARY, ATOM = 6, 7, 8, 9, 10, 11, 12, 14


class Untranslatable(Exception):
    """A construct that the translator does not know; the message says which."""


# Beside what the rules refuse, the shape of a tree may be one that they do not expect.
REASONS = (Untranslatable, AttributeError, IndexError, KeyError, StopIteration, ValueError)


def told(reason: Exception) -> str:
    """The reason that users read."""
    known = isinstance(reason, Untranslatable)
    return str(reason) if known else f"a form that is not known ({type(reason).__name__}: {reason})"


@dataclass(frozen=True)
class Value:
    """An expression.

    Parameters
    ----------
    text : str
        Python.
    type : CType
    level : int
        How tightly its outermost operator binds.
    nonnegative : bool
        Whether the number cannot be below zero.
    small : bool
        Whether the number is known to fit in an int.
    weak : bool
        Whether a number of C's type float is an int or float of Python, which takes the type of
        what it is combined with.
    constant : int or float or None
        Its value where the translator knows it.
    """

    text: str
    type: CType
    level: int = ATOM
    nonnegative: bool = False
    small: bool = False
    weak: bool = False
    constant: int | float | None = None

    def at(self, level: int) -> str:
        """Its text where operators of `level` surround it."""
        return self.text if self.level >= level else f"({self.text})"

    def typed(self, new: CType) -> Value:
        """The same text, as another type."""
        return replace(self, type=new)


@dataclass(frozen=True)
class Place:
    """What can be assigned to: Python's target, and whether a read gives a float of Python.

    Parameters
    ----------
    target : str
        A Python expression that can stand on the left.
    type : CType
    object : str
        The ctypes object that holds it, if there is one.
    needs_float32 : bool
        Whether a C float is read as a float of Python.
    simple : bool
        Whether it is a local name.
    nonnegative : bool
        Whether nothing below zero is ever assigned.
    """

    target: str
    type: CType
    object: str = ""
    needs_float32: bool = False
    simple: bool = False
    nonnegative: bool = False

    def read(self) -> Value:
        """Its value."""
        small = self.type.is_integer and self.type.bits < 32
        if self.needs_float32 and self.type.kind == "float" and self.type.bits == 32:
            return Value(f"float32({self.target})", self.type)
        signless = self.type.is_integer and not self.type.signed
        nonnegative = self.nonnegative or signless
        return Value(self.target, self.type, nonnegative=nonnegative, small=small)
