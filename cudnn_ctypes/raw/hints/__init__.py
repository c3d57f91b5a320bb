"""What usually helps when a call has failed, and what its arguments show to be wrong.

A hint speaks of this call: of an argument that is NULL, of a buffer that is too small, of
descriptors that do not fit. What only may be the cause is said where cuDNN itself gave the status,
not where a reason of the reference device or of this package says what is wrong.
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
        except Exception:  # a descriptor that is closed, or none: the call's error matters more
            continue
        if advice:
            return advice
    return ""


def usual_cause(status: str) -> str:
    """What usually causes a status, by its name, whichever function returned it."""
    return hint(Failure("", status))
