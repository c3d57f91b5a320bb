"""From what the user passes as a tensor to memory and the descriptor of it, checked before C.

Operands are ``DeviceTensor``s, tensors of other libraries (PyTorch, CuPy, JAX, ...), or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from ctypes import c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, cast

from .. import raw
from ..arguments import expect
from ..dtypes import as_data_type, data_type_name, host_scalar, numpy_dtype, vector_length
from ..handle import Handle
from ..raw import CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, cudnnDataType_t, operand_rules
from ..raw.ctypes_support import CudnnEnum
from ..raw.function import Function
from ..raw.layouts import fitting_layouts
from ..raw.records import record, scalar_type
from ..runtime import DeviceBuffer, DeviceTensor, as_tensor
from ..runtime.launching.plan import Memory, launch, recording
from .descriptor import Descriptor
from .layouts import common_layout
from .tensor import FilterDescriptor, TensorDescriptor

if TYPE_CHECKING:
    from typing_extensions import Self, TypeVar

    Made = TypeVar("Made", default=DeviceTensor)
else:
    from typing import TypeVar

    Made = TypeVar("Made")
    """The type of the memory passed for a result, which is returned; default `DeviceTensor`."""


def accumulator(data_type: cudnnDataType_t) -> cudnnDataType_t:
    """The data type in which cuDNN computes: float64 for float64, else float32."""
    return CUDNN_DATA_DOUBLE if data_type == CUDNN_DATA_DOUBLE else CUDNN_DATA_FLOAT


def real(name: str, value: Any) -> float:
    """`value`, the argument called `name`, as a float.

    Raises TypeError if it is no number.
    """
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except Exception:  # numbers of other libraries raise errors of any class
        raise TypeError(f"{name}: expected a number, got {value!r}") from None


def refuse_beta(name: str, beta: float) -> None:
    """Refuse a beta other than 0 for a result that is still to be made."""
    if real("beta", beta) != 0:
        raise ValueError(f"{name}: needed with beta={beta}, which adds to what {name} holds")


def shaped(name: str, value: Any, on: Any, instead: str) -> DeviceTensor:
    """`value` as `imported`, which is no address or buffer: the error says what to pass instead."""
    if isinstance(value, (int, c_void_p, DeviceBuffer)) and not isinstance(value, bool):
        raise TypeError(f"{name}: an address or a DeviceBuffer has no shape: pass {instead}")
    return imported(name, value, on)


def imported(name: str, value: Any, on: Any) -> DeviceTensor:
    """`value` as a ``DeviceTensor`` for work on the stream of a handle or of operands."""
    if isinstance(value, DeviceTensor):
        return value
    try:
        return as_tensor(value, stream=on.stream)
    except (TypeError, BufferError) as error:
        raise type(error)(f"{name}: {error}") from None


def fitting(name: str, value: Any, desc: Any, handle: Handle) -> Any:
    """`value`, imported; a tensor must have the type, shape and strides of the descriptor.

    Dimensions of size 1 count for nothing.
    """
    if is_address(name, value) or isinstance(value, DeviceBuffer):
        return value
    tensor = imported(name, value, handle)
    if tensor.data_type != desc.data_type:
        raise TypeError(
            f"{name}: expected {data_type_name(desc.data_type)}, got "
            f"{data_type_name(tensor.data_type)}"
        )
    given, wanted = (
        [pair for pair in zip(each.shape, each.strides, strict=True) if pair[0] != 1]
        for each in (tensor, desc)
    )
    if given != wanted:
        raise ValueError(
            f"{name}: expected shape {desc.shape} with strides {desc.strides}, got {tensor.shape} "
            f"with strides {tensor.strides}"
        )
    return tensor


def is_address(name: str, value: Any) -> bool:
    """Whether the operand `name` is given by its address, which must not be NULL.

    Raises ValueError for NULL: some of cuDNN's kernels would write there, and end the CUDA context.
    """
    if isinstance(value, bool) or not isinstance(value, (int, c_void_p)):
        return False
    if not (value.value if isinstance(value, c_void_p) else value):
        raise ValueError(f"{name}: expected device memory, got NULL")
    return True


def check_memory(
    name: str,
    value: Any,
    desc: TensorDescriptor | FilterDescriptor,
    handle: Handle,
    *,
    written: bool = False,
) -> Memory:
    """The memory of the operand `name`, which must be large enough for `desc`.

    - `value`: the size behind an address cannot be checked.

    Raises TypeError if it is no device memory, or a tensor of another data type. Raises ValueError
    if it is NULL, too small, or read-only where it is written; the message gives both sizes.
    """
    if is_address(name, value):
        return Memory(name, value, written=written)
    memory = value if isinstance(value, DeviceBuffer) else imported(name, value, handle)
    if isinstance(memory, DeviceTensor):
        if memory.dtype != numpy_dtype(desc.data_type):
            raise TypeError(
                f"{name}: a tensor of {data_type_name(memory.data_type)}, but {name}_desc says "
                f"{data_type_name(desc.data_type)}"
            )
        if written and memory.readonly:
            raise ValueError(f"{name}: the library that this tensor comes from made it read-only")
    _ = memory._as_parameter_  # ClosedError, or another device's memory
    if memory.nbytes < desc.size_in_bytes:
        raise ValueError(
            f"{name}: {memory.nbytes} bytes are too small for {desc!r}, which takes "
            f"{desc.size_in_bytes} bytes"
        )
    return Memory(name, memory, written=written)


def room(name: str, value: Any, needed: int, on: Any) -> tuple[Memory | None, int]:
    """Memory without a shape, and its size in bytes; `on` as for `imported`.

    Raises TypeError if it is an address, whose size nobody knows, or no device memory. Raises
    ValueError if it has fewer bytes than `needed`.
    """
    if value is None and needed:
        raise TypeError(f"{name}: {needed} bytes of device memory are needed, got None")
    if value is None:
        return None, 0
    if is_address(name, value):
        raise TypeError(
            f"{name}: the size behind an address is not known: pass a DeviceBuffer or a tensor"
        )
    memory = value if isinstance(value, DeviceBuffer) else imported(name, value, on)
    if memory.nbytes < needed:
        raise ValueError(f"{name}: {memory.nbytes} bytes are too small, {needed} are needed")
    return (Memory(name, memory, written=True) if memory.nbytes else None), memory.nbytes


_DESC = re.compile("[Dd]esc$")

AnyDescriptor = TensorDescriptor | FilterDescriptor
A = TypeVar("A", TensorDescriptor, FilterDescriptor)

C = TypeVar("C")
D = TypeVar("D", bound=Descriptor[Any])


class Operands:
    """The operands of one call, imported; descriptors are made where none are given.

    Usable in ``with``, which closes the descriptors that were made unless the call is recorded, and
    the results if it is left by an error. Descriptors have at least 4 dimensions, as most of
    cuDNN's functions ask for: (N, C, W) is described as (N, C, 1, W).

    - `**operands`: by name, what the user gave; None for a result that is still to be made.

    - `layout`: the layout that operands are described in whose strides fit two.
    """

    def __init__(self, handle: Handle, **operands: tuple[Any, AnyDescriptor | None]) -> None:
        self._handle = expect("handle", handle, Handle)
        self._stack, self._scratch = ExitStack(), ExitStack()
        _ = handle._as_parameter_  # ClosedError here rather than halfway
        self._operands: dict[str, tuple[Any, AnyDescriptor | None]] = {}
        for name, (value, desc) in operands.items():
            if desc is not None:
                expect(f"{name}_desc", desc, Descriptor)
            elif value is not None:
                value = shaped(name, value, handle, f"{name}_desc too, or a DeviceTensor")
            self._operands[name] = (value, desc)
        self._made: dict[str, Any] = {}  # descriptors of operands that the user gave none for
        self._by_form: dict[Any, Any] = {}  # descriptors that were made
        self._results: list[DeviceTensor] = []
        self.layout: str | None = self._common_layout()

    def _common_layout(self) -> str | None:
        for name, (_, desc) in self._operands.items():
            if desc is not None and not isinstance(desc, AnyDescriptor):
                expect(f"{name}_desc", desc, TensorDescriptor)
        return common_layout(
            value if desc is None else desc for value, desc in self._operands.values()
        )

    def describe(self, name: str) -> TensorDescriptor:
        """The descriptor of the tensor `name`: as it was given, or made once for the call."""
        return self._described(name, TensorDescriptor)

    def describe_filter(self, name: str) -> FilterDescriptor:
        """The descriptor of the filters `name`: as it was given, or made once for the call."""
        return self._described(name, FilterDescriptor)

    def _described(self, name: str, cls: type[A]) -> A:
        value, desc = self._operands[name]
        desc = self._made.get(name, desc)
        if desc is not None:
            return expect(f"{name}_desc", desc, cls)
        value = imported(name, value, self._handle)
        form = cls, value.data_type, value.shape, value.strides
        descriptor: A | None = self._by_form.get(form)  # of another operand
        try:
            descriptor = descriptor or cls.of(value, layout=self.layout, min_dims=4)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        self._by_form[form] = descriptor
        return self._keep(name, value, descriptor)

    def _keep(self, name: str, value: Any, made: A) -> A:
        self._operands[name] = value, None
        self._made[name] = made
        self.enter_context(made)
        return made

    def describe_repeated(self, name: str, whole: str) -> None:
        """Take (C,) of the operand `name` for one value for each channel of the operand `whole`."""
        value, desc = self._operands[name]
        if desc is None and getattr(value, "ndim", 0) == 1:
            self.describe_channels(name, self.describe(whole).shape)

    def describe_channels(self, name: str, of: tuple[int, ...]) -> TensorDescriptor:
        """The descriptor of the operand `name`, one value for each channel of the shape `of`.

        (K,) is described as (1, K, 1...).
        """
        value, desc = self._operands[name]
        if len(of) < 2:
            raise ValueError(f"{name}: it has one value for each channel, and shape {of} has none")
        expected = (1, of[1], *(1,) * (len(of) - 2))
        is_vector = desc is None and name not in self._made and getattr(value, "ndim", 0) == 1
        if is_vector and value.shape == of[1:2]:
            if value.strides[0] != 1 and of[1] > 1:
                raise ValueError(f"{name}: elements must be adjacent, got strides {value.strides}")
            descriptor = TensorDescriptor(expected, value.data_type, layout=self._plain_layout())
            return self._keep(name, value, descriptor)
        shape = value.shape if is_vector else self.describe(name).shape
        if shape != expected:
            raise ValueError(f"{name}: expected shape {of[1:2]} or {expected}, got {shape}")
        return self.describe(name)

    def add(self, name: str, value: Any, desc: TensorDescriptor) -> None:
        """Take the operand `name`, which C reads or writes with the descriptor of others.

        Dimensions of size 1 count for nothing: (K,) will do for (1, K, 1, 1).

        Raises TypeError if it is None, no device memory, or of another data type. Raises ValueError
        if its shape or strides are not those of the descriptor.
        """
        if value is None:
            raise TypeError(f"{name}: a tensor is needed, got None")
        self._operands[name] = fitting(name, value, desc, self._handle), desc

    def descriptor(self, name: str, value: Any, cls: type[D], **options: Any) -> D:
        """The argument `name` as a `cls`; a mode stands for one, closed after the call."""
        if isinstance(value, (str, CudnnEnum)):
            make: Callable[..., D] = cls
            try:
                made = make(value, **options)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            self.enter_context(made)
            return made
        return expect(name, value, cls)

    def memory(self, name: str, *, written: bool = False) -> Memory:
        """The memory of the operand `name`, held against its present descriptor."""
        desc = self._made.get(name) or self._operands[name][1] or self.describe(name)
        return check_memory(name, self._operands[name][0], desc, self._handle, written=written)

    def shape_like(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """`shape`, of 4 dimensions, as (N, C, W) if the operand `name` was given, and read, so."""
        value, desc = self._operands[name]
        if desc is None and value.ndim == 3 and len(shape) == 4:
            return (*shape[:2], *shape[3:])
        return shape

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of the operand `name` as the user gave it."""
        value, desc = self._operands[name]
        shape: tuple[int, ...] = (value if desc is None else desc).shape
        return shape

    def make_like(
        self, name: str, source: str, *, beta: float = 0, data_type: Any = None
    ) -> Any:  # a DeviceTensor, where the caller may give another kind of tensor
        """Make the result `name` with shape, strides and, by default, type of the one `source`.

        Raises ValueError if beta is not 0, for the result would be read.
        """
        refuse_beta(name, beta)
        value, desc = self._operands[source]
        described: Any = (
            imported(source, value, self._handle)
            if desc is None
            else expect(f"{source}_desc", desc, TensorDescriptor)
        )
        shape, strides, own = described.shape, None, described.data_type
        if described.layout is None:  # not dense in any layout
            strides = described.strides
        elif len(shape) > 2 and vector_length(own) == 1:
            fitting = fitting_layouts(shape, described.strides, own)
            if self.layout not in fitting:
                return self.make(name, shape, data_type, default=own, layout=fitting[0])
        return self.make(name, shape, data_type, default=own, strides=strides)

    def make(
        self,
        name: str,
        shape: tuple[int, ...],
        data_type: Any,
        *,
        default: Any = None,
        layout: Any = None,
        strides: tuple[int, ...] | None = None,
    ) -> Any:  # a DeviceTensor, where the caller may give another kind of tensor
        """Make the uninitialised result `name`, on the handle's device, for work on its stream.

        Its descriptor says how, if there is one; else `strides` or `layout`, by default the layout
        of the operands, and `data_type`, or `default` where that is None.
        """
        _, desc = self._operands.get(name, (None, None))
        data_type = default if data_type is None else data_type
        options: dict[str, Any] = {"layout": self._plain_layout() if layout is None else layout}
        if strides is not None:
            options = {"strides": strides}
        if desc is not None:
            shape, data_type, options = desc.shape, desc.data_type, {"layout": desc.layout}
            if isinstance(desc, TensorDescriptor) and desc.layout is None:
                options = {"strides": desc.strides}
        elif vector_length(as_data_type(data_type)) > 1:
            options = {}
        result = self.new(shape, data_type, **options)
        self._operands[name] = (result, desc)
        return result

    def new(
        self, shape: tuple[int, ...], data_type: Any, *, zeros: bool = False, **options: Any
    ) -> DeviceTensor:
        """A tensor for a result, uninitialised or of zeros, which is closed if the call fails."""
        make = DeviceTensor.zeros if zeros else DeviceTensor.empty
        result = make(
            shape, data_type, device=self._handle.device, stream=self._handle.stream, **options
        )
        self._results.append(result)
        if (current := recording()) is not None:
            current.made.append(result)
            if zeros:
                current.zeroed.append(result)
        return result

    def enter_context(self, context: AbstractContextManager[C]) -> C:
        """Enter what is to be closed after the call, or with the plan that it is recorded in."""
        return self._stack.enter_context(context)

    def _plain_layout(self) -> str:
        return "NHWC" if self.layout == "NHWC" else "NCHW"

    def scratch(self, nbytes: int) -> DeviceBuffer:
        """A workspace for this call only; closing it waits for the work on the handle's stream."""
        handle = self._handle
        buffer = DeviceBuffer(nbytes, device=handle.device, stream=handle.stream)
        if (current := recording()) is not None:
            current.scratch.append(buffer)
        return self._scratch.enter_context(buffer)

    def workspace(self, workspace: Any, needed: int) -> tuple[Any, int]:
        """The workspace and its size in bytes; it is allocated if it is None.

        Raises ValueError if it has fewer bytes than `needed`.
        """
        return self.room(
            "workspace", self.scratch(needed) if workspace is None else workspace, needed
        )

    def room(self, name: str, value: Any, needed: int) -> tuple[Memory | None, int]:
        """Memory without a shape, and its size: see `room`."""
        return room(name, value, needed, self._handle)

    # -- C functions by their declarations -----------------------------------------------------

    def launch(self, function: Callable[..., Any], **arguments: Any) -> None:
        """Launch a C function of these operands, by its declaration, if they satisfy its rules.

        The handle is the call's. Memory and descriptors that are not among `arguments` are those of
        the operand that has C's name: x for ``x`` and ``xDesc``, a for ``A`` and ``aDesc``. Numbers
        such as alpha get the type that their descriptor asks for.

        - `**arguments`: the others, by C's parameter names; a str is the name of an operand, for
          its memory or its descriptor, where C's name is another. A pair is memory and its size in
          bytes, another parameter of C.

        Raises ValueError if operands do not fit together; it names the argument.
        """
        launch(function, *self._values(function, arguments))

    def packed(self, name: str) -> str:
        """The name of a copy of a tensor in packed memory."""
        desc = self.describe(name)
        return self.copied_as(
            name, self.enter_context(TensorDescriptor(desc.shape, desc.data_type))
        )

    def copied_as(self, name: str, desc: TensorDescriptor, *, reads: bool = True) -> str:
        """The name of memory for a tensor in another layout, with a copy of it if it is read."""
        copy = f"{name} in another layout"
        self.add(copy, self.scratch(desc.size_in_bytes), desc)
        if reads:
            self.transform(name, copy)
        return copy

    def transform(self, source: str, target: str) -> None:
        """Copy a tensor to another one, of any layout, by ``cudnnTransformTensor``."""
        both = {"xDesc": source, "x": source, "yDesc": target, "y": target}
        self.launch(raw.cudnnTransformTensor, alpha=1, beta=0, **both)

    def size(self, function: Callable[..., Any], **arguments: Any) -> int:
        """Bytes of a workspace or reserve space; `function` and `arguments` as for `launch`."""
        size = c_size_t()
        function(*self._values(function, {**arguments, "sizeInBytes": size}))
        return size.value

    def check(self, function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        """Check the rules of a function as `launch` does, without memory; all arguments by name."""
        parameters = cast(Function, function).parameters
        values: dict[str, Any] = {}
        names: dict[str, str] = {}
        for parameter in parameters:
            value = arguments.get(parameter.name)
            if parameter.type.kind == "device" and isinstance(value, tuple):
                arguments[parameter.name], arguments[parameter.described_by[0]] = value
        for parameter in parameters:
            name = parameter.name
            value = arguments.pop(name, _DESC.sub("", name).lower())
            if parameter.type.base is raw.cudnnHandle_t:
                value = self._handle
            elif isinstance(value, str):
                names[name] = value
                if parameter.type.base is raw.cudnnFilterDescriptor_t:
                    value = self.describe_filter(value)
                elif value in self._operands and _DESC.search(name):
                    value = self.describe(value)
            values[name] = value
        operand_rules.check(cast(Function, function), values, names)
        return values

    def _values(self, function: Callable[..., Any], arguments: dict[str, Any]) -> list[Any]:
        values = self.check(function, **arguments)
        for parameter in cast(Function, function).parameters:
            name, kind, value = parameter.name, parameter.type.kind, values[parameter.name]
            if kind == "device" and isinstance(value, str):
                values[name] = self.memory(value, written=parameter.direction != "in")
            elif kind == "scalar":
                describers = [record(values[by]) for by in parameter.described_by]
                values[name] = host_scalar(value, scalar_type(describers))
        return list(values.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._scratch.close()
        current = recording()
        if exception[0] is not None:
            for result in self._results:
                result.close()
        elif current is not None:
            current.stack.enter_context(self._stack.pop_all())
            return
        self._stack.close()
