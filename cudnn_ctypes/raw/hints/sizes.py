"""Advice for buffers that are too small: the C function that returns the required size."""

from __future__ import annotations

import re

from .failure import Failure

__all__ = ["hint"]

_TOO_SMALL = re.compile(r"\b(\w+) = \d+ is less than the (\d+) bytes needed")  # the ref. device
_SPACES = re.compile(r"(?i)(work|reserve|weight)_?space|state_?size")


def hint(failure: Failure) -> str:
    """Advice naming the function that returns a refused buffer's size; "" if none was refused."""
    if match := _TOO_SMALL.search(failure.text):
        return _advice(failure.function, match[1])
    if failure.is_cudnn_s and "BAD_PARAM" in failure.status:
        match = _SPACES.search(failure.text)
        return "" if match is None else _advice(failure.function, match[0])
    return ""


def _advice(function: str, buffer: str) -> str:
    from ..function import binding

    wanted = buffer.lower().replace("_", "")
    for parameter in binding(function).parameters:
        tells, stem = parameter.type.told_by, parameter.name.lower().partition("size")[0]
        if tells and stem in wanted:
            like = " and algorithm" if "onvolution" in tells else ""
            return (
                f"{tells} tells how many bytes are needed, for the same descriptors{like}; pass "
                f"that many, and that number"
            )
    return ""
