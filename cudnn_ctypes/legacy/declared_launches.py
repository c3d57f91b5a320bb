"""C functions launched by their declarations, with the operands of one call."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from ctypes import c_size_t
from typing import Any, cast

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from ..raw.function import Function
from ..raw.records import data_type_of, deciding_type, record
from .filter import FilterDescriptor
from .launch import Memory, launch
from .tensor import TensorDescriptor

__all__ = ["DeclaredLaunches"]

_DESC = re.compile("[Dd]esc$")


class DeclaredLaunches(ABC):
    """Base of ``Operands``: finds a C function's arguments among the operands of a call."""

    _handle: Handle
    _operands: dict[str, Any]

    @abstractmethod
    def describe(self, name: str) -> TensorDescriptor:
        """The descriptor of the tensor `name`."""

    @abstractmethod
    def describe_filter(self, name: str) -> FilterDescriptor:
        """The descriptor of the filters `name`."""

    @abstractmethod
    def memory(self, name: str, *, written: bool = False) -> Memory:
        """The memory of the operand `name`, as C receives it."""

    def launch(self, function: Callable[..., Any], **arguments: Any) -> None:
        """Launch a C function of these operands, by its declaration.

        The handle is the call's. Memory and descriptors that are not among `arguments` are those of
        the operand that has C's name: x for ``x`` and ``xDesc``, a for ``A`` and ``aDesc``. Numbers
        such as alpha get the type that their descriptor asks for.

        Parameters
        ----------
        function : function of ``cudnn_ctypes.raw``
        **arguments
            The others, by C's parameter names; a str is the name of an operand, for its memory or
            its descriptor, where C's name is another. A pair is memory and its size in
            bytes, another parameter of C.
        """
        launch(function, *self._values(function, arguments))

    def size(self, function: Callable[..., Any], **arguments: Any) -> int:
        """Bytes of a workspace or reserve space; `function` and `arguments` as for `launch`."""
        size = c_size_t()
        function(*self._values(function, {**arguments, "sizeInBytes": size}))
        return size.value

    def _values(self, function: Callable[..., Any], arguments: dict[str, Any]) -> list[Any]:
        parameters = cast(Function, function).parameters
        values: dict[str, Any] = {}
        for parameter in parameters:
            value = arguments.get(parameter.name)
            if parameter.type.kind == "device" and isinstance(value, tuple):
                arguments[parameter.name], arguments[parameter.described_by[0]] = value
        for parameter in parameters:
            name, kind = parameter.name, parameter.type.kind
            value = arguments.pop(name, _DESC.sub("", name).lower())
            if parameter.type.base is raw.cudnnHandle_t:
                value = self._handle
            elif isinstance(value, str) and kind == "device":
                value = self.memory(value, written=parameter.direction != "in")
            elif isinstance(value, str) and parameter.type.base is raw.cudnnFilterDescriptor_t:
                value = self.describe_filter(value)
            elif isinstance(value, str) and value in self._operands and _DESC.search(name):
                value = self.describe(value)
            values[name] = value
        if arguments:
            raise TypeError(f"{function.__name__} has no parameter {next(iter(arguments))!r}")
        for name, parameter in zip(values, parameters, strict=True):
            if parameter.type.kind == "scalar":
                types = [data_type_of(record(values[by])) for by in parameter.described_by]
                values[name] = host_scalar(values[name], deciding_type(types))
        return list(values.values())
