"""The calls of cuDNN's functions in a program, with their arguments by the names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..raw import functions
from ..raw.function import Function
from .declarations import Declarations, Variable
from .finding import Finding
from .own_headers import own_headers
from .source import Source
from .syntax import Node

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
    home : Node
        The function definition that it is in; empty if it is in none.
    """

    name: str
    node: Node
    function: Function
    arguments: dict[str, Node]
    home: Node


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

    def at(
        self, node: Node, kind: str, name: str, text: str, code: tuple[str, ...] = ()
    ) -> Finding:
        """A finding at a node."""
        return Finding(kind, *node.place, name, text, code)


def program_of(source: Source) -> Program:
    """The variables and the calls of a program."""
    known = Declarations(source, own_headers(source))
    calls = []
    for node in source.root.find("call_expression"):
        name = node["function"].text
        function = getattr(functions, name, None)
        if not isinstance(function, Function):
            continue
        passed = node.arguments
        names = [parameter.name for parameter in function.parameters]
        arguments = dict(zip(names, passed, strict=True)) if len(names) == len(passed) else {}
        calls.append(Call(name, node, function, arguments, node.home))
    return Program(source, known, calls)
