"""Operands of functions that take sizes instead of descriptors: dense tensors, checked before C."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, cast

from ..dtypes import data_type_name
from ..raw import CUDNN_DATA_UINT8, cudnnDataType_t
from ..raw.function import Function
from ..raw.strides import has_strides, packed
from ..runtime import DeviceTensor
from ..runtime.launching.plan import Memory, StreamLauncher, launch, recording
from ..runtime.layout import Shape
from ..runtime.stream import as_stream_pointer
from .operands import room, shaped


class DenseOperands(ExitStack):
    """The operands of one call on a stream, of the shapes and types that its declaration states.

    Usable in ``with``, which closes temporary tensors and, if it is left by an error, the results
    that were made.

    - `function`: operands have C's names in Python's spelling: node_features for ``nodeFeatures``,
      dnode_features for ``gradNodeFeatures``, w for ``weight``.
    - `names`: C's names of operands that are called otherwise.
    - `**known`: arguments by C's names, and structs. Sizes and types that are not known here are
      those of the first operand that has them.

    - `channels_last`: whether results are made, and tensors expected, with the last dimension but
      one innermost.
    """

    channels_last = False

    def __init__(
        self,
        stream: Any,
        function: Callable[..., Any] | None = None,
        names: Mapping[str, str] | None = None,
        **known: Any,
    ) -> None:
        super().__init__()
        as_stream_pointer(stream)  # refuses what is none, also where no tensor needs it
        self.stream = stream
        self.function = cast(Function, function)
        self.known: dict[str, Any] = known
        declared = [] if function is None else self.function.parameters
        self._declared = {each.name: each for each in declared}
        self._names = {_in_python(name): name for name in self._declared} | dict(names or {})
        self._results: list[DeviceTensor] = []
        self._memory: dict[str, Memory | None] = {}
        self._recording = recording()

    def imported(self, name: str, value: Any) -> DeviceTensor:
        """`value` as a tensor for work on the stream; errors name the argument."""
        tensor = shaped(name, value, self, "a tensor")
        _ = tensor._as_parameter_  # ClosedError, or another device's memory
        return tensor

    def declared(self, name: str, like: DeviceTensor | None = None) -> tuple[Shape, Any]:
        """The shape and the type of the operand `name`; what is not known yet is that of `like`."""
        parameter = self._declared[self._names[name]]
        sizes = parameter.type.dense[0].split(", ")
        if like is not None:
            if like.ndim != len(sizes):
                expected = ", ".join(map(self._shown, sizes))
                raise ValueError(f"{name}: expected ({expected}), got {like.shape}")
            given = {
                **dict(zip(sizes, like.shape, strict=True)),
                parameter.type.dense[1]: like.data_type,
            }
            self.known = {
                each: given[each] for each in given if each in self._declared
            } | self.known
        data_type, shape = parameter.described(self.known)
        return shape, data_type

    def _shown(self, size: str) -> str:
        """The size that an expression of the declaration stands for; its name if it is open."""
        try:
            return str(eval(size, {}, self.known))
        except NameError:
            return _in_python(size)

    def tensors(self, **operands: Any) -> None:
        """Take several operands."""
        for name, value in operands.items():
            self.tensor(name, value)

    def tensor(
        self,
        name: str,
        value: Any,
        shape: Shape | None = None,
        data_type: cudnnDataType_t | None = None,
        *,
        written: bool = False,
    ) -> DeviceTensor:
        """The operand `name`, of this shape and type, by default the declared ones, and dense.

        Raises TypeError if it is no device memory, or of another type. Raises ValueError if its
        shape or strides are others, or it is read-only where it is written.
        """
        tensor = self.imported(name, value)
        if shape is None or data_type is None:
            shape, data_type = self.declared(name, tensor)
        if tensor.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {tensor.shape}")
        if tensor.data_type != data_type:
            raise TypeError(
                f"{name}: expected {data_type_name(data_type)}, got "
                f"{data_type_name(tensor.data_type)}"
            )
        if not lies_dense(tensor, channels_last=self.channels_last):
            wanted = dense_strides(shape, channels_last=self.channels_last)
            raise ValueError(f"{name}: expected strides {wanted}, got {tensor.strides}")
        if written and tensor.readonly:
            raise ValueError(f"{name}: the library that this tensor comes from made it read-only")
        self._memory[name] = Memory(name, tensor, written=written)
        return tensor

    def optional(self, name: str, value: Any, *described: Any) -> DeviceTensor | None:
        """The operand `name`, or None, which is NULL for C."""
        self.absent(name)
        return None if value is None else self.tensor(name, value, *described)

    def absent(self, *names: str) -> None:
        """Operands that are NULL for C."""
        self._memory.update(dict.fromkeys(names))

    def result(self, name: str, value: Any, *, zeros: bool = False) -> Any:
        """The result `name`: as it was given, or a tensor, uninitialised or of zeros."""
        if value is not None:
            self.tensor(name, value, written=True)
            return value
        return self._made(name, *self.declared(name), zeros)

    def _made(self, name: str, shape: Shape, data_type: Any, zeros: bool = False) -> DeviceTensor:
        result = self._new(shape, data_type, zeros)
        self._results.append(result)
        self._memory[name] = Memory(name, result, written=True)
        if self._recording is not None:
            self._recording.made.append(result)
        return result

    def temporary(self, name: str, *described: Any, zeros: bool = False) -> None:
        """A tensor for this call only, which stands for the operand `name`."""
        shape, data_type = described or self.declared(name)
        tensor = self.enter_context(self._new(shape, data_type, zeros))
        self._memory[name] = Memory(name, tensor, written=not zeros)
        if self._recording is not None:
            self._recording.scratch.append(tensor)

    def buffer(self, name: str, value: Any, nbytes: int) -> None:
        """Take the memory `name`, which is written: at least `nbytes` of any type."""
        self._memory[name], _ = room(name, value, nbytes, self)

    def scratch(self, name: str, value: Any, nbytes: int) -> None:
        """Take the memory `name`; if it is None, memory is allocated for this call only."""
        if value is None:
            self.temporary(name, (nbytes,), CUDNN_DATA_UINT8)
        else:
            self.buffer(name, value, nbytes)

    def saved(self, name: str, value: Any, nbytes: int) -> Any:
        """The memory `name`, which is a result: as it was given, or a tensor of bytes."""
        if value is None:
            return self._made(name, (nbytes,), CUDNN_DATA_UINT8)
        self.buffer(name, value, nbytes)
        return value

    def _new(self, shape: Shape, data_type: cudnnDataType_t, zeros: bool) -> DeviceTensor:
        make = DeviceTensor.zeros if zeros else DeviceTensor.empty
        strides = dense_strides(shape, channels_last=self.channels_last)
        tensor = make(shape, data_type, strides=strides, stream=self.stream)
        if zeros and self._recording is not None:
            self._recording.zeroed.append(tensor)
        return tensor

    def launch(self, function: Callable[..., Any] | None = None, **arguments: Any) -> None:
        """Launch the C function with these operands.

        The stream is the call's. Memory that is not among `arguments` is the operand of its name,
        and its size in bytes, if C asks for it, goes with it; other arguments are those known.

        - `function`: another one with the same parameters.
        - `**arguments`: the others, by C's parameter names; a str is the name of an operand, where
          C's name is another.
        """
        ours, values = {theirs: name for name, theirs in self._names.items()}, []
        arguments = self.known | arguments
        for parameter in self.function.parameters:
            value = arguments.get(parameter.name, ours[parameter.name])
            if parameter.name == "stream":
                current = self._recording
                value = StreamLauncher(self.stream) if current is None else current.handle
            elif isinstance(value, str):
                value = self._memory[value]
            if isinstance(value, Memory) and parameter.described_by:
                arguments[parameter.described_by[0]] = value._as_parameter_.nbytes
            values.append(value)
        launch(function or self.function, *values)

    def __exit__(self, *exception: Any) -> bool | None:
        if exception[0] is not None:
            for result in self._results:
                result.close()
        return super().__exit__(*exception)


def _in_python(name: str) -> str:
    """C's name of a parameter as an operand is called in Python."""
    words = re.sub("([A-Z])", r"_\1", name).lower()
    words = re.sub("^grad_", "d", words)
    words = re.sub("^(d?)(weight$|weights(?=_))", r"\1w", words)
    return "db" if words == "dbias" else words


def dense_strides(shape: Shape, *, channels_last: bool = False) -> Shape:
    """Strides, in elements, of dense memory with the last dimension, or that before, innermost."""
    axes = list(range(len(shape)))
    if channels_last and len(shape) > 1:
        axes[-2:] = axes[-1], axes[-2]
    return packed(shape, axes)


def lies_dense(tensor: DeviceTensor, *, channels_last: bool = False) -> bool:
    """Whether a tensor has `dense_strides`, ignoring dimensions of size 1."""
    return has_strides(tensor, dense_strides(tensor.shape, channels_last=channels_last))
