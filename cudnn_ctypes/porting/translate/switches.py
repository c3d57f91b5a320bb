"""``switch`` in Python: a chain of conditions."""

from __future__ import annotations

from typing import Any

from .program import children
from .streams import Streams

__all__ = ["Switches"]

_LEAVING = ("break_statement", "return_statement", "continue_statement", "goto_statement")


class Switches(Streams):
    """``switch``."""

    def _do_switch_statement(self, node: Any) -> None:
        cases = list(children(node.child_by_field_name("body")))
        if any(one.type != "case_statement" for one in cases):
            raise self.fail(node, "a switch with statements outside of its cases")
        value = self.expression(children(node.child_by_field_name("condition"))[-1])
        if not value.type.is_integer:
            raise self.fail(node, "a switch of this type")
        subject = value.text
        if not value.text.replace(".", "").isidentifier():
            subject = "choice"
            self.before.append(f"choice = {value.text}")
        self.emit("", self.line(node))
        wrapper = any(_breaks_within(one) for one in cases)
        if wrapper:
            self.out.add("while True:", self.line(node))
            self.out.depth += 1
        self.jumps.append(("switch" if wrapper else "flat switch", []))
        self._cases(cases, subject)
        self.jumps.pop()
        if wrapper:
            self.out.add("break")
            self.out.depth -= 1

    def _cases(self, cases: list[Any], subject: str) -> None:
        word, default = "if", None
        labels: list[str | None] = []
        for index, case in enumerate(cases):
            label = case.child_by_field_name("value")
            statements = [one for one in case.named_children if one != label]
            if label is None:
                labels.append(None)
            else:
                labels.append(self.expression(label).text)
            if not [one for one in statements if one.type != "comment"] and index + 1 < len(cases):
                continue
            body = self._with_fallthrough(cases, index)
            if None in labels:
                if index + 1 < len(cases) and default is None:
                    default = (case, body)
                    labels = []
                    continue
                default = (case, body)
                break
            test = f"{subject} == {labels[0]}"
            if len(labels) > 1:
                test = f"{subject} in ({', '.join(str(one) for one in labels)})"
            self.out.add(f"{word} {test}:", self.line(case))
            self.block(body)
            word, labels = "elif", []
        if default:
            self.out.add("else:" if word == "elif" else "if True:", self.line(default[0]))
            self.block(default[1])

    def _with_fallthrough(self, cases: list[Any], index: int) -> list[Any]:
        """The statements of a case, and of those that it falls through to."""
        body: list[Any] = []
        for case in cases[index:]:
            label = case.child_by_field_name("value")
            found = [one for one in case.named_children if one != label]
            found = _flattened(found)
            body += found
            if found and found[-1].type in _LEAVING:
                break
        if body and body[-1].type == "break_statement":
            body = body[:-1]
        return body


def _flattened(nodes: list[Any]) -> list[Any]:
    """The statements of a case, without the braces around all of them."""
    real = [one for one in nodes if one.type != "comment"]
    if len(real) == 1 and real[0].type == "compound_statement":
        return list(real[0].named_children)
    if len(real) == 2 and real[0].type == "compound_statement" and real[1].type in _LEAVING:
        return [*real[0].named_children, real[1]]
    return nodes


def _breaks_within(case: Any) -> bool:
    """Whether a ``break`` leaves the switch from within a statement of a case."""
    pending = [(one, False) for one in _flattened(list(case.named_children))]
    last = pending[-1][0] if pending else None
    while pending:
        node, _ = pending.pop()
        if node.type == "break_statement" and node != last:
            return True
        if node.type not in (
            "for_statement",
            "while_statement",
            "do_statement",
            "switch_statement",
        ):
            pending.extend((one, True) for one in node.named_children)
    return False
