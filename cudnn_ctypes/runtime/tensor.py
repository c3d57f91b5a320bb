"""``DeviceTensor``: device memory with shape, strides and data type."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.arguments import integer
from cudnn_ctypes.dtypes import as_data_type, data_type_name, numpy_dtype, storage_bytes
from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.layouts import layout_name, strides_for
from cudnn_ctypes.raw.spaces import host_memory
from cudnn_ctypes.raw.strides import extent
from cudnn_ctypes.resource import Closing, Uncopied

from . import copy, pytorch
from . import layout as layouts
from .allocation import Allocation
from .buffer import DeviceBuffer, Keyed, check_reachable, forms
from .elements import Elements, element
from .foreign import Imported, from_cuda_array_interface, from_dlpack, is_masked
from .interface import Runtime
from .layout import Shape
from .pytorch import TensorForm


class Described:
    """Shape, strides, data type and size of a tensor; they never change."""

    _runtime: Runtime
    _shape: Shape
    _strides: Shape
    _data_type: cudnnDataType_t
    _offset: int
    _readonly: bool
    _nbytes: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape, (N, C, spatial...)."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in memory along each dimension, in elements; in vectors for vectorised types."""
        return self._strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy or ml_dtypes type of an element."""
        return numpy_dtype(self._data_type)

    @property
    def data_type(self) -> cudnnDataType_t:
        """cuDNN's name for the type."""
        return self._data_type

    @property
    def layout(self) -> str | None:
        """Name of the layout that the strides follow, None if they follow none."""
        return layout_name(self._shape, self._strides, self._data_type)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the last element, gaps included."""
        return self._nbytes

    @property
    def readonly(self) -> bool:
        """Whether the library that it comes from forbids writing."""
        return self._readonly

    def _form(self) -> TensorForm:
        parts = self._runtime, self._shape, self._strides, self._data_type
        return *parts, self._offset, self._readonly, self._nbytes

    def form(self, device_id: int) -> tuple[Any, ...]:
        """The tensor's part of a launch's key: all but its address."""
        where = self._runtime.where(device_id)
        return self._data_type._value_, self._shape, self._strides, where, self._readonly


class DeviceTensor(Described, Elements, Uncopied, Closing):
    """A tensor in device memory; in host memory on the reference device.

    The shape is the logical one, (N, C, spatial...) whatever the layout; the layout shows in the
    strides. Memory that a tensor allocates is freed with the last reference to it, or by
    `close`, in the order of the stream that it was created on.

    Parameters
    ----------
    memory : DeviceBuffer or DeviceTensor
        Where the elements are; kept alive, and closed by its owner, not by the tensor. The bytes of
        a tensor are taken as they are.
    shape : sequence of int
    dtype : data type
        As for `as_data_type`; 4-bit types and BOOLEAN are packed in memory.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"} or cudnnTensorFormat_t, optional
        Channels second (the default) or last, for any number of spatial dimensions; or int8/uint8
        in vectors of 4 or 32 channels.
    strides : sequence of int, optional
        In elements, instead of a layout. Elements may not overlap; gaps are allowed.
    offset : int
        First byte in `memory`.

    Raises
    ------
    TypeError
        If cuDNN has no such data type.
    ValueError
        If shape, strides, layout and memory do not go together.

    See Also
    --------
    DeviceTensor.from_numpy, DeviceTensor.empty, as_tensor

    Examples
    --------
    >>> numbers = np.arange(6, dtype="float32").reshape(1, 3, 1, 2)
    >>> x = DeviceTensor.from_numpy(numbers, layout="NHWC")
    >>> x.shape, x.strides
    ((1, 3, 1, 2), (6, 1, 6, 3))
    >>> x.numpy().ravel()
    array([0., 1., 2., 3., 4., 5.], dtype=float32)
    """

    _memory: Any
    _whole: DeviceTensor | None = None
    _keyed: Keyed | None = None
    _runtime: Runtime

    def __init__(
        self,
        memory: Any,
        shape: Any,
        dtype: Any,
        *,
        layout: Any = None,
        strides: Any = None,
        offset: int = 0,
    ) -> None:
        if not isinstance(memory, (DeviceBuffer, Allocation, DeviceTensor)):
            raise TypeError(
                f"memory: expected a DeviceBuffer, got {memory!r} ({type(memory).__name__})"
            )
        shape, strides, data_type = _described(shape, dtype, layout, strides)
        self._set(memory, shape, strides, data_type, offset=integer("offset", offset))
        if isinstance(memory, DeviceTensor):
            self._memory, self._whole = memory._open(), memory
            self._offset += memory._offset
            self._readonly = memory._readonly

    def _set(
        self,
        memory: Any,
        shape: Shape,
        strides: Shape,
        data_type: cudnnDataType_t,
        offset: int = 0,
        readonly: bool = False,
        nbytes: int | None = None,
    ) -> None:
        self._memory = memory
        self._runtime = memory.runtime
        self._shape = shape
        self._strides = strides
        self._data_type = data_type
        self._offset = offset
        self._readonly = readonly
        self._nbytes = _nbytes(shape, strides, data_type) if nbytes is None else nbytes
        if offset < 0 or offset + self._nbytes > memory.nbytes:
            raise ValueError(
                f"a {data_type_name(data_type)} tensor of shape {shape} with strides {strides} "
                f"takes bytes {offset} to {offset + self.nbytes}; the memory has {memory.nbytes}"
            )

    # -- making one --------------------------------------------------------------------------

    @classmethod
    def empty(
        cls,
        shape: Any,
        dtype: Any,
        layout: Any = None,
        *,
        strides: Any = None,
        device: Any = None,
        stream: Any = None,
        memory_resource: Any = None,
    ) -> DeviceTensor:
        """An uninitialised tensor in memory of its own.

        Parameters
        ----------
        shape, dtype, layout, strides
            As for the class.
        device, stream, memory_resource
            As for `DeviceBuffer`.
        """
        shape, strides, data_type = _described(shape, dtype, layout, strides)
        memory = Allocation.of(
            _nbytes(shape, strides, data_type),
            device=device,
            stream=stream,
            memory_resource=memory_resource,
        )
        tensor = object.__new__(cls)
        tensor._set(memory, shape, strides, data_type)
        return tensor

    @classmethod
    def zeros(
        cls, shape: Any, dtype: Any, layout: Any = None, *, stream: Any = None, **options: Any
    ) -> DeviceTensor:
        """A tensor whose bytes are all zero; options as for `empty`."""
        tensor = cls.empty(shape, dtype, layout, stream=stream, **options)
        copy.fill(tensor._open(), b"\0", stream=stream)
        return tensor

    @classmethod
    def full(
        cls, shape: Any, value: Any, dtype: Any, layout: Any = None, **options: Any
    ) -> DeviceTensor:
        """A tensor whose elements are all `value`, as `fill` takes it; options as for `empty`."""
        data_type = as_data_type(dtype)
        array = np.broadcast_to(element(value, data_type), layouts.to_shape(shape))
        return cls.from_numpy(array, dtype=data_type, layout=layout, **options)

    @classmethod
    def from_numpy(
        cls,
        array: NDArray[Any],
        *,
        dtype: Any = None,
        layout: Any = None,
        strides: Any = None,
        stream: Any = None,
        **options: Any,
    ) -> DeviceTensor:
        """Copy an array of logical shape (N, C, spatial...) to the device.

        Parameters
        ----------
        array : numpy.ndarray
            Of a NumPy or ml_dtypes type that cuDNN has.
        dtype : data type, optional
            Needed only where the array's type leaves a choice: "boolean" for packed bits,
            "int8x4" for vectors. Values are not converted.
        layout, strides, stream, **options
            As for `empty`. Gaps that the strides leave are zero.
        """
        if not isinstance(array, (np.ndarray, np.generic)) or is_masked(array):
            raise TypeError(f"array: expected a numpy.ndarray, got a {type(array).__name__}")
        array = np.asarray(array)
        data_type = as_data_type(array.dtype if dtype is None else dtype)
        if numpy_dtype(data_type) != array.dtype:
            raise TypeError(
                f"array is {array.dtype}, which is not how {data_type_name(data_type)} is stored; "
                f"convert it with array.astype first"
            )
        tensor = cls.empty(
            array.shape, data_type, layout, strides=strides, stream=stream, **options
        )
        storage = layouts.to_storage(array, tensor._strides, tensor._data_type)
        copy.write(tensor._open(), 0, storage, stream=stream)
        return tensor

    @classmethod
    def from_dlpack(cls, obj: Any, *, stream: Any = None) -> DeviceTensor:
        """A view of another library's tensor through ``__dlpack__``, for use on `stream`.

        The exporter makes `stream` (default: the legacy default stream) wait for its own work.

        Parameters
        ----------
        obj : object
            A tensor with ``__dlpack__`` and ``__dlpack_device__``.
        stream : stream or address, optional
            Where the view will be used.

        Raises
        ------
        TypeError
            If it is host memory, or cuDNN has no such data type.
        BufferError
            If the exporter refuses.
        """
        return cls._imported(from_dlpack(obj, stream=stream))

    @classmethod
    def _imported(cls, imported: Imported) -> DeviceTensor:
        tensor = object.__new__(cls)
        memory, shape, strides, data_type, readonly = imported
        tensor._set(memory, shape, strides, data_type, 0, readonly, memory.nbytes)
        return tensor

    @staticmethod
    def _in(memory: Any, form: TensorForm, keyed: Keyed | None = None) -> DeviceTensor:
        """A tensor of a form that is known to fit the memory."""
        tensor = object.__new__(DeviceTensor)
        tensor._memory = memory
        # One by one takes half the time of filling a dict.
        (
            tensor._runtime,
            tensor._shape,
            tensor._strides,
            tensor._data_type,
            tensor._offset,
            tensor._readonly,
            tensor._nbytes,
        ) = form
        tensor._keyed = keyed
        return tensor

    def _view(self, shape: Shape, strides: Shape, offset: int) -> DeviceTensor:
        tensor = object.__new__(type(self))
        tensor._set(
            self._open(),
            shape,
            strides,
            self._data_type,
            offset=self._offset + offset,
            readonly=self._readonly,
        )
        tensor._whole = self
        return tensor

    def _empty_like(self, data_type: cudnnDataType_t, layout: Any, stream: Any) -> DeviceTensor:
        options = {"device": self.device_id, "stream": stream}
        return type(self).empty(self._shape, data_type, layout, **options)

    # -- what it is --------------------------------------------------------------------------

    @property
    def ptr(self) -> int:
        """Device address of the first element; 0 if there is none."""
        memory = self._open()
        return int(memory.ptr) + self._offset if self._nbytes else 0

    @property
    def device_id(self) -> int:
        """Ordinal of the device."""
        return int(self._open().device_id)

    @property
    def runtime(self) -> Runtime:
        """The runtime that reads and writes it."""
        runtime: Runtime = self._open().runtime
        return runtime

    @property
    def on_host(self) -> bool:
        """True for memory of the reference device."""
        self._open()
        return self._runtime.on_host

    @property
    def stream(self) -> int:
        """Address of the stream that it was created or imported on; 0 is the legacy default."""
        return int(self._open().stream)

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        memory = self._open()
        check_reachable(memory)
        return ctypes.c_void_p(memory.ptr + self._offset if self._nbytes else 0)

    def keyed(self) -> Keyed:
        """Its part of the keys of launches, and its address."""
        pointer = self._as_parameter_
        keyed = forms[self.form(self._memory.device_id)], pointer
        if self._whole is None and not isinstance(self._memory, DeviceBuffer):
            self._keyed = keyed  # for nothing but `close` closes it
        return keyed

    def __repr__(self) -> str:
        layout = self.layout or f"strides {self._strides}"
        what = f"DeviceTensor {self._shape} {data_type_name(self._data_type)} {layout}"
        if self.closed:
            return f"<{what}, closed>"
        place = self._memory.runtime.place(self.device_id).removeprefix("the ")
        return f"<{what} at {self.ptr:#x}, {place}>"

    # -- lifetime ----------------------------------------------------------------------------

    def _open(self) -> Any:
        if self.closed:
            what = "this" if self._memory is None else "the memory of this"
            raise ClosedError(f"{what} DeviceTensor of shape {self._shape} is closed")
        return self._memory

    def close(self, *, stream: Any = None) -> None:
        """Let go of the memory, freeing it if it is the tensor's own; a second call does nothing.

        It is freed after the work on `stream`, by default the stream it was allocated on. What
        another library holds through ``__dlpack__`` stays valid until that lets go. Closing a part
        of a tensor frees nothing; closing the tensor closes its parts.
        """
        memory, self._memory, self._keyed = self._memory, None, None
        if isinstance(memory, Allocation) and self._whole is None:
            memory.release(stream)

    @property
    def closed(self) -> bool:
        """True once the tensor, or the tensor or DeviceBuffer that it lies in, was closed."""
        memory, whole = self._memory, self._whole
        if memory is None or (whole is not None and whole.closed):
            return True
        if isinstance(memory, Allocation):
            return memory.freed
        return isinstance(memory, DeviceBuffer) and memory.closed


def _described(
    shape: Any, dtype: Any, layout: Any, strides: Any
) -> tuple[Shape, Shape, cudnnDataType_t]:
    """Shape, strides and data type from what the user gave of them."""
    data_type = as_data_type(dtype)
    numpy_dtype(data_type)  # refuses types that are not stored
    shape = layouts.to_shape(shape)
    if strides is None:
        data_type = layouts.data_type_in_layout(data_type, layout)
        return shape, strides_for(shape, layout, data_type), data_type
    if layout is not None:
        raise ValueError("give either layout or strides, not both")
    strides = layouts.to_shape(strides, "strides")
    vectors, steps = layouts.memory_form(shape, strides, data_type)
    layouts.check_strides(vectors, steps)
    return shape, strides, data_type


def _nbytes(shape: Shape, strides: Shape, data_type: cudnnDataType_t) -> int:
    return storage_bytes(data_type, extent(*layouts.memory_form(shape, strides, data_type)))


def as_tensor(obj: Any, *, stream: Any = None) -> DeviceTensor:
    """`obj` as a ``DeviceTensor`` without copying, for use on `stream`.

    Parameters
    ----------
    obj : DeviceTensor, or any object with ``__dlpack__`` or ``__cuda_array_interface__``
        A ``DeviceTensor`` is returned as it is. Tensors of PyTorch, CuPy, JAX or Numba must be in
        CUDA memory, or in host memory while the reference device is active.
    stream : stream, optional
        It is made to wait for what the other library has under way.

    Raises
    ------
    TypeError
        If it is host memory (copy it with ``DeviceTensor.from_numpy``), no tensor at all, or of a
        type that cuDNN has not.

    Examples
    --------
    >>> x = DeviceTensor.full((2, 3), 1, "float32")
    >>> as_tensor(x) is x
    True
    """
    if pytorch.is_torch(type(obj)):
        borrowed = pytorch.from_torch(obj, stream=stream)
        if borrowed is not None:
            return DeviceTensor._in(*borrowed)
        imported = from_dlpack(obj, stream=stream)
        pytorch.learn(obj, imported)
        return DeviceTensor._imported(imported)
    if isinstance(obj, DeviceTensor):
        return obj
    if isinstance(obj, (np.ndarray, np.generic)):
        raise host_memory(obj, "")
    if hasattr(obj, "__dlpack__"):
        return DeviceTensor.from_dlpack(obj, stream=stream)
    if hasattr(obj, "__cuda_array_interface__"):
        return DeviceTensor._imported(from_cuda_array_interface(obj, stream=stream))
    raise TypeError(
        f"expected a tensor with __dlpack__ or __cuda_array_interface__, got a {type(obj).__name__}"
    )
