"""The elements of a ``DeviceTensor``: copies, views, conversions, other libraries and NumPy."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.dtypes import (
    as_data_type,
    data_type_name,
    element_bits,
    numpy_dtype,
    storage_bytes,
    vector_length,
)
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.layouts import layout_name

from . import copy, foreign, layout
from . import layout as layouts
from .buffer import DeviceBuffer
from .layout import Shape, to_shape
from .stream import LEGACY_DEFAULT

if TYPE_CHECKING:
    from typing_extensions import Self


class Elements:
    """Reading, writing, viewing and converting the elements of a tensor; other libraries read them.

    NumPy's functions read copies on the reference device, and raise on a GPU.
    """

    _shape: layout.Shape
    _strides: layout.Shape
    _data_type: cudnnDataType_t
    _readonly: bool
    _offset: int
    _nbytes: int

    @property
    def ptr(self) -> int:
        """Device address of the first element."""
        raise NotImplementedError

    def _open(self) -> Any:
        """The memory, if it is not closed."""
        raise NotImplementedError

    def _view(self, shape: Shape, strides: Shape, offset: int) -> Self:
        """A tensor in the same memory; `offset` in bytes from this tensor's first element."""
        raise NotImplementedError

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3; vectorised types show their vectors as a last dimension.

        Missing (AttributeError) on the reference device, and for types without a type string.
        """
        memory = self._open()
        if memory.on_host:
            raise AttributeError(
                "the reference device's memory is host memory and has no "
                "__cuda_array_interface__; use __dlpack__, or .numpy() for a copy"
            )
        dtype = numpy_dtype(self._data_type)
        if dtype.isbuiltin != 1 or element_bits(self._data_type) < 8:
            raise AttributeError(
                f"{data_type_name(self._data_type)} has no type string for "
                f"__cuda_array_interface__; use __dlpack__ (torch.from_dlpack, cupy.from_dlpack)"
            )
        shape, strides = layout.memory_form(self._shape, self._strides, self._data_type)
        return {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (self.ptr, self._readonly),
            "strides": tuple(dtype.itemsize * stride for stride in strides),
            "stream": memory.stream or LEGACY_DEFAULT,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        memory = self._open()
        return int(memory.runtime.dlpack_devices[0]), int(memory.device_id)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A DLPack capsule of this memory, which stays alive until the consumer lets go of it.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream, which is made to wait for the tensor's: 1 or None for the legacy
            default stream, 2 for the per-thread one, an address, or -1 for no waiting. None or -1
            on the reference device.
        max_version : (int, int), optional
            Newest DLPack version that the consumer reads; (1, 0) or more gives a versioned capsule.
        dl_device : (int, int), optional
            Only the tensor's own.
        copy : bool, optional
            Only None or False: nothing is copied.

        Raises
        ------
        BufferError
            If `dl_device` or `copy` ask for a copy, or a read-only tensor for an old capsule.
        """
        memory = self._open()
        if copy:
            raise BufferError("copy=True is not supported; copy on the consumer's side")
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"dl_device={dl_device}: the tensor is on {self.__dlpack_device__()}")
        memory.runtime.hand_over(memory.device_id, memory.stream, stream)
        shape, strides = layout.memory_form(self._shape, self._strides, self._data_type)
        return foreign.export_capsule(
            memory,
            self.ptr,
            shape,
            strides,
            self._data_type,
            readonly=self._readonly,
            versioned=max_version is not None and max_version[0] >= 1,
        )

    # -- NumPy -----------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """For NumPy's functions: a copy of the elements on the reference device.

        Raises
        ------
        TypeError
            On a GPU, where it would hide a copy to the host.
        ValueError
            If no copy is wanted.
        """
        if not self._open().on_host:
            raise TypeError(
                "this DeviceTensor is in the memory of a GPU, which NumPy cannot read; copy it to "
                "the host with .numpy()"
            )
        if copy is False:
            raise ValueError("the elements can only be copied; numpy.from_dlpack makes a view")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """For NumPy's functions: some of them would take an error of `__array__` for an answer."""
        shapes_only = function in (np.shape, np.ndim, np.size)

        def as_array(value: Any) -> Any:
            if isinstance(value, Elements):
                return np.broadcast_to(0, value._shape) if shapes_only else np.asarray(value)
            if type(value) in (tuple, list):
                return type(value)(map(as_array, value))
            return value

        kwargs = {name: as_array(value) for name, value in kwargs.items()}
        return function(*map(as_array, args), **kwargs)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, (Elements, np.ndarray, np.generic, int, float, complex)):
            raise TypeError(
                "a DeviceTensor is not compared element by element; compare the elements on the "
                "host with .numpy(), or the objects with `is`"
            )
        return NotImplemented

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a DeviceTensor is neither true nor false: compare it with None by `is`, or its "
            "elements on the host with .numpy()"
        )

    # -- to and from the host --------------------------------------------------------------------

    def numpy(self, *, out: NDArray[Any] | None = None, stream: Any = None) -> NDArray[Any]:
        """The elements as an array of the logical shape, in C order.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Where they are written instead: of the tensor's shape and type, with any strides.
        stream : stream, optional
            The one whose work is waited for; default: the one that the tensor was created on.

        Raises
        ------
        ValueError, TypeError
            If `out` has another shape or type.
        """
        memory = self._open()
        if out is not None:
            if not isinstance(out, np.ndarray):
                raise TypeError(f"out: expected a numpy.ndarray, got {out!r}")
            self._check_array("out", out)
        stream = memory.stream if stream is None else stream
        data = copy.read(memory, self._offset, self._nbytes, stream=stream)
        array = layouts.from_storage(data, self._shape, self._strides, self._data_type)
        if out is None:
            return array
        out[...] = array
        return out

    def copy_from(self, source: Any, *, stream: Any = None) -> None:
        """Write elements of the same shape and type into the tensor; gaps keep what they hold.

        Parameters
        ----------
        source : numpy.ndarray, DeviceTensor, or any object that `as_tensor` takes
            With any strides. From device to device nothing goes through the host where both
            tensors are dense and have the same layout. A DeviceBuffer holds the elements as they
            lie in this tensor.
        stream : stream, optional
            The one on which the copy is put; default: the one that the tensor was created on. A
            copy from the host is finished on return.

        Raises
        ------
        ValueError
            If the shapes differ, a buffer is too small, or the tensor is read-only.
        TypeError
            If the types differ, or it is no memory.
        """
        memory = self._writable()
        stream = memory.stream if stream is None else stream
        if isinstance(source, DeviceBuffer):
            copy.between(memory, self._offset, source, 0, self._nbytes, stream)
            return
        if not isinstance(source, np.ndarray):
            source = _as_tensor(source, stream)
        self._check_array("source", source)
        if isinstance(source, np.ndarray):
            self._write(source, stream)
        elif self._same_storage(source):
            copy.between(memory, self._offset, source._open(), source._offset, self._nbytes, stream)
        else:
            self._write(source.numpy(stream=stream), stream)

    def fill(self, value: Any, *, stream: Any = None) -> None:
        """Set every element to `value`, in the order of `stream`; gaps keep what they hold.

        Raises
        ------
        TypeError
            If `value` is not one number.
        ValueError
            If the type has no such number, such as 300 or 1.5 for int8; or the tensor is read-only.
        """
        memory = self._writable()
        stream = memory.stream if stream is None else stream
        pattern = element(value, self._data_type)
        if self._dense and element_bits(self._data_type) >= 8 and pattern.itemsize <= 4:
            copy.fill(memory, pattern.tobytes(), self._offset, self._nbytes, stream=stream)
        else:
            self._write(np.broadcast_to(pattern, self._shape), stream)

    def _write(self, array: NDArray[Any], stream: Any) -> None:
        memory = self._open()
        into = None
        if not self._dense:
            into = copy.read(memory, self._offset, self._nbytes, stream=stream)
        storage = layouts.to_storage(array, self._strides, self._data_type, into=into)
        copy.write(memory, self._offset, storage, stream=stream)

    @property
    def _dense(self) -> bool:
        """Whether there are no gaps between the elements."""
        return self._nbytes == storage_bytes(self._data_type, math.prod(self._shape))

    def _same_storage(self, source: Elements) -> bool:
        """Whether the elements of a tensor of the same shape lie in memory as these do."""
        if not (self._dense and source._dense and self._open().runtime is source._open().runtime):
            return False
        form, steps = layouts.memory_form(self._shape, self._strides, self._data_type)
        _, other = layouts.memory_form(source._shape, source._strides, source._data_type)
        return all(n <= 1 or a == b for n, a, b in zip(form, steps, other, strict=True))

    def _check_array(self, name: str, array: Any) -> None:
        if tuple(array.shape) != self._shape:
            raise ValueError(f"{name}: expected shape {self._shape}, got {tuple(array.shape)}")
        if array.dtype != numpy_dtype(self._data_type):
            raise TypeError(f"{name}: expected {numpy_dtype(self._data_type)}, got {array.dtype}")

    def _writable(self) -> Any:
        if self._readonly:
            raise ValueError("this tensor is read-only: the library that it comes from says so")
        return self._open()

    # -- views -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a tensor without dimensions")
        return self._shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        """A part of the tensor, in the same memory.

        Parameters
        ----------
        key : int, slice, None, Ellipsis, or a tuple of these
            As in NumPy. The part keeps the memory alive, and is closed with the tensor. Channels
            of a vectorised type are cut at whole vectors, packed types at whole bytes.
        """
        shape, strides, data_type = self._shape, self._strides, self._data_type
        length = vector_length(data_type)
        if length > 1:
            key = _key_of_vectors(key, shape, length)
            shape = (shape[0], shape[1] // length, *shape[2:])
        new_shape, new_strides, element = indexed(shape, strides, key)
        if length > 1:
            new_shape = (new_shape[0], new_shape[1] * length, *new_shape[2:])
        bits = element * length * element_bits(data_type)
        if bits % 8:
            raise ValueError(
                f"this part of a {data_type_name(data_type)} tensor begins within a byte: element "
                f"{element} of {element_bits(data_type)} bits each"
            )
        return self._view(new_shape, new_strides, bits // 8)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a number, an array or a tensor of the part's shape into a part."""
        part = self[key]
        if np.ndim(value) == 0 and not isinstance(value, Elements):
            part.fill(value)
        else:
            part.copy_from(value)

    def reshape(self, *shape: Any) -> Self:
        """The same elements, in C order of their indices, under another shape; a view.

        Parameters
        ----------
        *shape : int, or one sequence of int
            One may be -1, and is worked out.

        Raises
        ------
        ValueError
            If the number of elements differs, or a copy would be needed.
        """
        if vector_length(self._data_type) > 1:
            raise ValueError(f"a {data_type_name(self._data_type)} tensor keeps its shape")
        wanted = shape[0] if len(shape) == 1 else shape
        return self._view(*reshaped(self._shape, self._strides, wanted), 0)

    # -- copies ----------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return self.copy()

    def copy(self, *, layout: Any = None, stream: Any = None) -> Self:
        """A tensor of its own with the same elements, without gaps.

        Parameters
        ----------
        layout : str or cudnnTensorFormat_t, optional
            As for the class. Default: the tensor's own if its strides follow one, else NCHW.
        stream : stream, optional
            The one on which it is allocated and copied.
        """
        stream = self._open().stream if stream is None else stream
        if layout is None:
            layout = layout_name(self._shape, self._strides, self._data_type)
        result = self._empty_like(self._data_type, layout, stream)
        result.copy_from(self, stream=stream)
        return result

    def astype(self, dtype: Any, *, stream: Any = None) -> Self:
        """A new tensor of another type in the same layout; converted on the host, as NumPy does."""
        stream = self._open().stream if stream is None else stream
        data_type = as_data_type(dtype)
        layout = layout_name(self._shape, self._strides, self._data_type)
        if vector_length(data_type) != vector_length(self._data_type):
            layout = None
        result = self._empty_like(data_type, layout, stream)
        result._write(self.numpy(stream=stream).astype(numpy_dtype(data_type)), stream)
        return result

    def _empty_like(self, data_type: Any, layout: Any, stream: Any) -> Self:
        """A tensor of the same shape on the same device."""
        raise NotImplementedError


def _as_tensor(source: Any, stream: Any) -> Any:
    from .tensor import as_tensor

    try:
        return as_tensor(source, stream=stream)
    except (TypeError, BufferError) as error:
        raise type(error)(f"source: {error}") from None


def _key_of_vectors(key: Any, shape: Shape, length: int) -> tuple[slice, ...]:
    """An index of logical dimensions as slices of (N, vectors of channels, spatial...)."""
    keys = key if isinstance(key, tuple) else (key,)
    if Ellipsis in keys:
        place = keys.index(Ellipsis)
        keys = (*keys[:place], *[slice(None)] * (len(shape) + 1 - len(keys)), *keys[place + 1 :])
    if not all(isinstance(each, slice) for each in keys) or len(keys) > len(shape):
        raise TypeError(f"index {key!r}: a tensor of vectors of channels takes slices")
    if len(keys) > 1:
        start, stop, step = keys[1].indices(shape[1])
        if start % length or stop % length or step != 1:
            raise ValueError(
                f"index {key!r}: channels lie in vectors of {length}; cut between them"
            )
        keys = (keys[0], slice(start // length, stop // length), *keys[2:])
    return tuple(keys)


# --- parts and other shapes ---


def indexed(shape: Shape, strides: Shape, key: Any) -> tuple[Shape, Shape, int]:
    """Shape, strides and first element of ``tensor[key]``.

    - `shape`, `strides`: of the tensor, in elements.
    - `key`: as in NumPy's basic indexing; steps of slices are positive.

    Raises IndexError if an index is out of bounds, or there are more of them than dimensions.
    Raises TypeError for an index that would need a copy, such as an array. Raises ValueError for a
    slice with a negative step.
    """
    keys = key if isinstance(key, tuple) else (key,)
    indices = sum(each is not None and not isinstance(each, EllipsisType) for each in keys)
    if indices > len(shape):
        raise IndexError(f"{indices} indices for a tensor of {len(shape)} dimensions")
    if sum(isinstance(each, EllipsisType) for each in keys) > 1:
        raise IndexError("more than one Ellipsis (...)")
    if not any(isinstance(each, EllipsisType) for each in keys):
        keys = (*keys, ...)
    new_shape: list[int] = []
    new_strides: list[int] = []
    offset = axis = 0
    for each in keys:
        if each is None:
            new_shape.append(1)
            new_strides.append(1)
        elif isinstance(each, EllipsisType):
            skipped = len(shape) - indices
            new_shape += shape[axis : axis + skipped]
            new_strides += strides[axis : axis + skipped]
            axis += skipped
        elif isinstance(each, slice):
            start, stop, step = each.indices(shape[axis])
            if step < 0:
                raise ValueError(f"{each}: cuDNN has no negative strides; copy the tensor instead")
            count = max(0, -(-(stop - start) // step))
            new_shape.append(count)
            new_strides.append(strides[axis] * (step if count > 1 else 1))
            offset += start * strides[axis] if count else 0
            axis += 1
        else:
            offset += _position(each, axis, shape[axis]) * strides[axis]
            axis += 1
    return tuple(new_shape), tuple(new_strides), 0 if 0 in new_shape else offset


def _position(index: Any, axis: int, size: int) -> int:
    try:
        if isinstance(index, bool):
            raise TypeError
        position = operator.index(index)
    except TypeError:
        raise TypeError(
            f"index {index!r}: expected ints, slices, None and ..., which make views; for other "
            f"indices copy to the host with .numpy()"
        ) from None
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for dimension {axis} of size {size}")
    return position % size


def reshaped(shape: Shape, strides: Shape, wanted: Any) -> tuple[Shape, Shape]:
    """Shape and strides of the same elements in the same order under another shape.

    - `wanted`: the new shape; one entry may be -1 and is worked out.

    Raises ValueError if the number of elements differs, or no strides give that order without a
    copy.
    """
    new_shape = _resolved(wanted, math.prod(shape))
    if 0 in shape:
        return new_shape, (1,) * len(new_shape)
    # Runs of dimensions that lie in C order, as (elements, stride of the last); each is split on
    # its own.
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    new_strides: list[int] = []
    left, step = 1, 1
    waiting = runs[::-1]
    for size in reversed(new_shape):
        if left == 1 and size > 1 and waiting:
            left, step = waiting.pop(0)
        if left % size:
            raise ValueError(
                f"a tensor of shape {shape} with strides {strides} cannot be seen as {new_shape} "
                f'without a copy: use .copy(layout="NCHW").reshape(...)'
            )
        new_strides.append(step)
        left //= size
        step *= size
    return new_shape, tuple(reversed(new_strides))


def _resolved(wanted: Any, count: int) -> Shape:
    entries = list(wanted) if hasattr(wanted, "__iter__") else [wanted]
    if entries.count(-1) == 1:
        known = math.prod(to_shape([each for each in entries if each != -1]))
        entries[entries.index(-1)] = count // known if known and not count % known else 0
    shape = to_shape(entries)
    if math.prod(shape) != count:
        raise ValueError(f"{count} elements cannot have the shape {wanted!r}")
    return shape


# --- numbers ---


def element(value: Any, data_type: cudnnDataType_t, name: str = "value") -> NDArray[Any]:
    """`value` as an array without dimensions, of the type that elements are stored in.

    Floating-point types round it. Errors begin with `name`.

    Raises TypeError if it is not one number. Raises ValueError if an integer type does not have
    exactly this number, or a floating-point type has no finite number, no infinity or no NaN where
    the value is one.
    """
    try:
        number = np.asarray(value)
    except Exception:  # objects of other libraries raise errors of any class
        raise TypeError(f"{name}: expected a number, got {value!r}") from None
    if number.shape:
        raise TypeError(f"{name}: expected a number, got an array of shape {number.shape}")
    dtype = numpy_dtype(data_type)
    try:
        wide = complex(number.item())
        if isinstance(value, (str, bytes)) or (wide.imag and dtype.kind != "c"):
            raise TypeError
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what they warn of is refused below
            stored = number.astype(dtype)
    except OverflowError:
        raise ValueError(f"{name}: {data_type_name(data_type)} has no {value!r}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {value!r}") from None
    if not _alike(number, stored):
        raise ValueError(f"{name}: {data_type_name(data_type)} has no {value!r}")
    return stored


def _alike(number: NDArray[Any], stored: NDArray[Any]) -> bool:
    """Whether `stored` is the number, or what it is rounded to."""
    if stored.dtype.kind in "biu" or "int" in stored.dtype.name:
        return bool(int(stored.item()) == number.item())
    exact, result = complex(number.item()), complex(stored.item())
    return all(bool(test(exact)) == bool(test(result)) for test in (np.isfinite, np.isnan))
