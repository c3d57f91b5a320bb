"""The methods of a `pygraph` that describe an operation, from one table."""

from __future__ import annotations

from . import attention as attention
from . import operations as operations
from .described import METHODS, Described


class OperationMethods(Described):
    """The methods that describe operations; the stub has the signatures."""


for _name, _method in METHODS.items():
    setattr(OperationMethods, _name, _method)
