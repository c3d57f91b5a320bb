"""All known faults of cuDNN, in one enumeration."""

from __future__ import annotations

from ..graph.lower.faults import FAULTS
from ..raw.faults import Fault
from ..raw.faults.calls import CALL_FAULTS


def known_faults(
    version: int | None = None, capability: int | None = None, *, small: bool = True
) -> tuple[Fault, ...]:
    """The known faults of cuDNN that this package heeds, those of graphs first.

    Parameters
    ----------
    version : int, optional
        Only those of this cuDNN: 91900 is 9.19.0.
    capability : int, optional
        Only those of GPUs of this compute capability: 90 is an H200. Rows with engines hold for
        all GPUs, since other engines take their place.
    small : bool
        Also those that only builds without precompiled engines have.

    Returns
    -------
    tuple of Fault
        A row says what goes wrong, where, what is done about it, and who saw it.

    Examples
    --------
    >>> row = known_faults(91900, 90)[0]
    >>> row.name, row.effect, row.engines
    ('pooling after an element-wise operation', 'wrong numbers', (1,))
    """
    return tuple(
        row
        for row in (*FAULTS, *CALL_FAULTS)
        if any(each.holds(version, capability, small=small) for each in row.ranges)
    )
