"""Advice for failed calls, from their status, reasons and arguments.

A hint is about this call: an argument that is NULL, a buffer that is too small, descriptors that do
not fit together. A merely possible cause is named only if cuDNN itself returned the status; the
reference device and this package state their reasons.
"""

from __future__ import annotations

from . import facts, nulls, rules, sizes
from .failure import Failure

__all__ = ["Failure", "hint", "usual_cause"]


def hint(failure: Failure) -> str:
    """Advice for a failed call, "" if we have none."""
    for part in (rules.of_sublibraries, nulls.hint, sizes.hint, facts.hint, rules.hint):
        try:
            advice = part(failure)
        except Exception:  # e.g. a closed descriptor: the call's error matters more
            continue
        if advice:
            return advice
    return ""


def usual_cause(status: str) -> str:
    """The usual cause of a status, by its name, for any function."""
    return hint(Failure("", status))
