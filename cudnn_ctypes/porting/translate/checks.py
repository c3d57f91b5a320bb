"""Functions and macros that check statuses: calls that they surround raise by themselves."""

from __future__ import annotations

import re
from typing import Any

from .program import Program, children, descendants, text_of

__all__ = ["called", "is_status_check", "only_checks"]

_STATUSES = ("cudnnStatus_t", "cudaError_t", "cublasStatus_t")


def called(call: Any) -> str:
    """The name of the function that is called."""
    return text_of(call.child_by_field_name("function"))


def is_status_check(node: Any, program: Program) -> bool:
    """Whether a function takes a status, and does nothing where it is success."""
    declarator = node.child_by_field_name("declarator")
    body = node.child_by_field_name("body")
    if declarator is None or body is None:
        return False
    parameters = list(descendants(declarator, "parameter_declaration"))
    first = text_of(parameters[0].child_by_field_name("type")) if parameters else ""
    return first in _STATUSES and only_checks(children(body), program)


def only_checks(nodes: list[Any], program: Program) -> bool:
    """Whether statements do nothing where the status that they look at is success."""
    for node in nodes:
        if node.type in ("do_statement", "compound_statement"):
            inner = node.child_by_field_name("body") or node
            if not only_checks(children(inner), program):
                return False
        elif node.type == "if_statement":
            condition = text_of(node.child_by_field_name("condition"))
            if "==" in condition and "return" in text_of(node.child_by_field_name("consequence")):
                return True
            if "==" in condition or node.child_by_field_name("alternative") is not None:
                return False
        elif node.type == "expression_statement":
            if not all(_only_looks(one, program) for one in children(node)):
                return False
        elif node.type not in ("declaration", "return_statement"):
            return False
    return True


def _only_looks(node: Any, program: Program) -> bool:
    """Whether an expression that stands alone is a call of what checks a status."""
    while node.type == "parenthesized_expression":
        node = children(node)[0]
    if node.type == "conditional_expression":
        condition = text_of(node.child_by_field_name("condition"))
        return "==" in condition and node.child_by_field_name("consequence").type in (
            "cast_expression",
            "parenthesized_expression",
            "number_literal",
        )
    if node.type != "call_expression":
        return node.type in ("identifier", "cast_expression", "parenthesized_expression")
    name = called(node)
    macro, function = program.macros.get(name), program.functions.get(name)
    nested = macro is not None and bool(re.search(r"exit|abort|throw|return", macro.body))
    return name == "assert" or nested or bool(function and function.is_check)
