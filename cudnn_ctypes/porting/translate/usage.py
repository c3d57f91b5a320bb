"""How a program uses its names: whose address is taken, what changes, what only checks."""

from __future__ import annotations

import re

from ..syntax import CASTS, Node
from .base import Program
from .libraries import ALLOCATORS, is_library_call, raw_parameters

__all__ = ["addressed_in", "changed_names", "is_status_check", "note_uses", "only_checks"]

_STATUSES = ("cudnnStatus_t", "cudaError_t", "cublasStatus_t")


def note_uses(root: Node, program: Program) -> None:
    """Note over the whole program what decides how its variables are held."""
    program.addressed, program.addressed_fields = addressed_in(root, program)
    for definition in root.find("function_definition"):
        if not definition["declarator"].text.startswith("main("):
            program.changed |= changed_names(definition)
    _note_indexed(root, program)


def addressed_in(node: Node, program: Program) -> tuple[set[str], set[str]]:
    """Names of variables and of members whose address a part of the program takes."""
    names: set[str] = set()
    fields: set[str] = set()

    def note(taken: Node) -> None:
        taken = taken.bare
        if taken.kind == "identifier":
            names.add(taken.text)
            fields.add(taken.text)  # it may be a member of the class that the function is in
        elif taken.kind == "field_expression":
            fields.add(taken["field"].text)
        while taken.kind == "subscript_expression":
            taken = taken["argument"]
        while taken.kind == "field_expression" and taken.operator == ".":
            taken = taken["argument"]
            names.update([taken.text] if taken.kind == "identifier" else ())

    for one in node.find("pointer_expression"):
        call, index = _call_with(one)
        if one.operator == "&" and not _needs_no_memory(call, index):
            note(one["argument"])
            if is_library_call(call.called):
                taken = one["argument"].bare
                program.filled.add(taken["field"].text or taken.text)
    for one in node.find("init_declarator"):
        if one["declarator"].kind == "reference_declarator":
            note(one["value"])
    for call in node.find("call_expression"):
        last = re.split(r"\W+", call.called)[-1]
        for function in program.named(last):
            for argument, parameter in zip(call.arguments, function.parameters, strict=False):
                if parameter.type.reference and not parameter.type.const:
                    note(argument)
    return names, fields


def _call_with(node: Node) -> tuple[Node, int]:
    """The call that a part of the program is an argument of, through casts, and which one."""
    while True:
        above = node.parent
        if above.kind == "argument_list" and above.parent["function"]["name"].text in CASTS:
            above = above.parent
        elif above.kind not in ("cast_expression", "parenthesized_expression"):
            break
        node = above
    if above.kind != "argument_list" or above.parent.kind != "call_expression":
        return Node(None), 0
    return above.parent, above.children.index(node)


def _needs_no_memory(call: Node, index: int) -> bool:
    """Whether a call only reads the number whose address it gets, or makes a new pointer."""
    if call.called in ALLOCATORS:
        return index == 0
    parameters = raw_parameters(call.called) or ()
    if index >= len(parameters):
        return False
    kinds = ("scalar", "array", "host", "labelled")
    return parameters[index].direction == "in" and parameters[index].type.kind in kinds


def _note_indexed(root: Node, program: Program) -> None:
    pointers: dict[str, set[str]] = {}
    for one in root.find("parameter_declaration", "declaration", "field_declaration"):
        for declarator in one.each("declarator"):
            if declarator.kind == "init_declarator":
                declarator = declarator["declarator"]
            if declarator.kind == "pointer_declarator":
                kind = one["type"].text.replace("struct ", "")
                pointers.setdefault(declarator.text.strip("* "), set()).add(kind)
    for one in root.find("subscript_expression", "update_expression", "binary_expression"):
        if one.kind != "binary_expression" or one.operator in ("+", "-"):
            target = one["argument"] or one["left"]
            if target.kind != "binary_expression":  # the sum of a long one is no name
                program.indexed |= pointers.get(target["field"].text or target.text, set())


def changed_names(node: Node) -> set[str]:
    """Names of variables and members that a part of the program may change."""
    found = set()
    for one in node.find("assignment_expression", "update_expression", "pointer_expression"):
        if one.kind == "pointer_expression" and one.operator != "&":
            continue
        target = (one["left"] or one["argument"]).stripped
        while target.kind in ("subscript_expression", "pointer_expression"):
            target = target["argument"].stripped
        if target.kind in ("identifier", "field_expression"):
            found.add(target["field"].text or target.text)
    return found


def is_status_check(function: Node, program: Program) -> bool:
    """Whether a function takes a status, and does nothing where it is success."""
    first = next(function["declarator"].find("parameter_declaration"), Node(None))
    is_status = first["type"].text in _STATUSES
    return is_status and only_checks(function["body"].children, program)


def only_checks(nodes: list[Node], program: Program) -> bool:
    """Whether statements do nothing where the status that they look at is success."""
    for node in nodes:
        if node.kind in ("do_statement", "compound_statement"):
            if not only_checks((node["body"] or node).children, program):
                return False
        elif node.kind == "if_statement":
            on_success = "==" in node["condition"].text
            if on_success and "return" in node["consequence"].text:
                return True
            if on_success or node["alternative"]:
                return False
        elif node.kind == "expression_statement":
            if not all(_only_looks(one.bare, program) for one in node.children):
                return False
        elif node.kind not in ("declaration", "return_statement"):
            return False
    return True


def _only_looks(node: Node, program: Program) -> bool:
    """Whether an expression that stands alone is a call of what checks a status."""
    if node.kind == "conditional_expression":
        nothing = ("cast_expression", "parenthesized_expression", "number_literal")
        return "==" in node["condition"].text and node["consequence"].kind in nothing
    if node.kind != "call_expression":
        return node.kind in ("identifier", "cast_expression")
    macro, function = program.macros.get(node.called), program.functions.get(node.called)
    nested = macro is not None and re.search(r"exit|abort|throw|return", macro.body)
    return node.called == "assert" or bool(nested or (function and function.is_check))
