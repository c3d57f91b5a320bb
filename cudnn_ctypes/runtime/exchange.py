"""How a ``DeviceTensor`` offers itself to other libraries and to NumPy's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.dtypes import data_type_name, element_bits, numpy_dtype
from cudnn_ctypes.raw.enums import cudnnDataType_t

from . import foreign, layout
from .stream import LEGACY_DEFAULT


class Exchange:
    """``__cuda_array_interface__``, ``__dlpack__`` and ``__dlpack_device__`` of a tensor."""

    _shape: layout.Shape
    _strides: layout.Shape
    _data_type: cudnnDataType_t
    _readonly: bool

    @property
    def ptr(self) -> int:
        """Device address of the first element."""
        raise NotImplementedError

    def _open(self) -> Any:
        """The memory, if it is not closed."""
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


class NumpyFunctions(Exchange):
    """NumPy's functions read copies on the reference device, and raise on a GPU."""

    def numpy(self) -> NDArray[Any]:
        """The elements as an array."""
        raise NotImplementedError

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
            if isinstance(value, NumpyFunctions):
                return np.broadcast_to(0, value._shape) if shapes_only else np.asarray(value)
            if type(value) in (tuple, list):
                return type(value)(map(as_array, value))
            return value

        kwargs = {name: as_array(value) for name, value in kwargs.items()}
        return function(*map(as_array, args), **kwargs)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, (NumpyFunctions, np.ndarray, np.generic, int, float, complex)):
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
