"""The calls of cuDNN's functions in a program, with their arguments by the names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudnn_ctypes.raw import functions
from cudnn_ctypes.raw.function import Function

from .declarations import Declarations, Variable
from .finding import Finding
from .own_headers import own_headers
from .source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Call", "Program", "program_of"]


@dataclass(frozen=True)
class Call:
    """One call.

    Attributes
    ----------
    name : str
    node : Node
    function : Function
    arguments : dict of str to Node
        By the names of the parameters; empty if there are more or fewer than cuDNN 9 takes.
    home : Node or None
        The function definition that it is in.
    """

    name: str
    node: Node
    function: Function
    arguments: dict[str, Node]
    home: Node | None


@dataclass(frozen=True)
class Program:
    """A parsed program, its variables and its calls of cuDNN."""

    source: Source
    known: Declarations
    calls: list[Call]

    def named(self, *names: str) -> Iterator[Call]:
        """The calls of these functions whose arguments are understood."""
        return (call for call in self.calls if call.name in names and call.arguments)

    def variable(self, call: Call, parameter: str) -> Variable | None:
        """The variable that is passed, or whose address is."""
        argument = call.arguments.get(parameter)
        return None if argument is None else self.known.find(argument)

    def text(self, node: Node | None) -> str:
        """The source text of a node."""
        return "" if node is None else self.source.text(node)

    def at(
        self, node: Node, kind: str, name: str, text: str, code: tuple[str, ...] = ()
    ) -> Finding:
        """A finding at a node."""
        return Finding(kind, self.source.line(node), self.source.column(node), name, text, code)


def program_of(source: Source) -> Program:
    """The variables and the calls of a program."""
    known = Declarations(source, own_headers(source))
    calls = []
    for node in source.of_type("call_expression"):
        name = source.field(node, "function")
        function = getattr(functions, name, None)
        if not isinstance(function, Function):
            continue
        given = source.arguments(node)
        names = [parameter.name for parameter in function.parameters]
        arguments = dict(zip(names, given, strict=True)) if len(names) == len(given) else {}
        calls.append(Call(name, node, function, arguments, known.function(node)))
    return Program(source, known, calls)
