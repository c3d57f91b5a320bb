"""Calls of cuDNN 9 written out with the variables of an old program's call."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..raw import enums, functions
from ..raw.ctypes_support import CudnnEnum, OpaquePointer
from ..raw.function import Function
from .declarations import Declarations
from .syntax import Node

__all__ = ["filled_in", "in_python", "new_call", "with_the_program_s_names"]


def new_call(name: str) -> str:
    """A function's call with the names of its parameters."""
    function: Function = getattr(functions, name)
    return f"{name}({', '.join(p.name for p in function.parameters)})"


def with_the_program_s_names(
    lines: Sequence[str], arguments: Sequence[Node], known: Declarations
) -> tuple[str, ...]:
    """Lines of Python in which handles, descriptors and enumerators are those of an old call.

    They are taken in order by their types, so the second tensor descriptor of the old call is the
    second of the new one. What has another name in Python stays as the parameter is called.

    Parameters
    ----------
    lines : sequence of str
        Python, with calls whose arguments are called as the parameters.
    arguments : sequence of Node
        Of the old call.
    """
    names: dict[str, list[str]] = {}
    for argument in arguments:
        text, kind = in_python(argument), _type_of(argument, known)
        if text and kind:
            names.setdefault(kind, []).append(text)
    return tuple(ast.unparse(_Renamed(names).visit(ast.parse(line))) for line in lines)


def _type_of(argument: Node, known: Declarations) -> str:
    """The type of an enumerator, or of a variable that is no pointer; "" if it is not known."""
    enumerator = getattr(enums, argument.text, None)
    if isinstance(enumerator, CudnnEnum):
        return type(enumerator).__name__
    variable = known.find(argument)
    return "" if variable is None or variable.pointers else variable.type


def filled_in(
    name: str, arguments: Sequence[Node], missing: str, known: Declarations
) -> tuple[str, ...]:
    """The call with an old call's arguments and one more, the parameter called `missing`.

    Empty if the old call has not all the others.
    """
    names = [parameter.name for parameter in getattr(functions, name).parameters]
    if missing not in names or len(arguments) != len(names) - 1:
        return ()
    old = iter(arguments)
    texts = [each if each == missing else _text(next(old), each) for each in names]
    return (f"{name}({', '.join(texts)})",)


def _text(argument: Node, parameter: str) -> str:
    """An argument as Python writes it; the parameter's name for what needs more than a look."""
    if text := in_python(argument):
        return text
    is_count = argument.kind == "number_literal" and argument.text.isdecimal()
    return argument.text if is_count else parameter


def in_python(expression: Node) -> str:
    """A name, member or element as Python writes it; "" for what is more than that."""
    if expression.kind in ("identifier", "field_identifier"):
        return expression.text
    if expression.kind == "pointer_expression" and expression.operator == "&":
        return in_python(expression["argument"])
    if expression.kind == "this":
        return "self"
    text = expression.text.replace("->", ".").replace("this.", "self.")
    if expression.kind not in ("field_expression", "subscript_expression"):
        return ""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return ""
    return text


class _Renamed(ast.NodeTransformer):
    """Puts names in place of the parameters of calls of cuDNN, by their types."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        function = getattr(functions, getattr(node.func, "id", ""), None)
        if not isinstance(function, Function) or len(node.args) != len(function.parameters):
            return node
        left = {kind: list(texts) for kind, texts in self.names.items()}
        for index, parameter in enumerate(function.parameters):
            base = parameter.type.base
            known = isinstance(base, type) and issubclass(base, (OpaquePointer, CudnnEnum))
            by_value = parameter.type.kind == "value"
            waiting = left.get(base.__name__, []) if known and by_value else []
            if waiting and getattr(node.args[index], "id", "") == parameter.name:
                node.args[index] = ast.parse(waiting.pop(0), mode="eval").body
        return node
