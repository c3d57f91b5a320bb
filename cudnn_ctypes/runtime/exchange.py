"""How a ``DeviceTensor`` offers itself to other libraries."""

from __future__ import annotations

from typing import Any

from cudnn_ctypes.dtypes import data_type_name, element_bits, numpy_dtype
from cudnn_ctypes.raw.dlpack import DLDeviceType
from cudnn_ctypes.raw.enums import cudnnDataType_t

from . import cuda, dlpack, layout
from .stream import LEGACY_DEFAULT, as_stream_pointer, order

__all__ = ["Exchange"]


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
        if memory.on_host:
            return int(DLDeviceType.CPU), 0
        return int(DLDeviceType.CUDA), int(memory.device_id)

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
        _order_for_consumer(memory, stream)
        shape, strides = layout.memory_form(self._shape, self._strides, self._data_type)
        return dlpack.export_capsule(
            memory,
            self.ptr,
            shape,
            strides,
            self._data_type,
            readonly=self._readonly,
            versioned=max_version is not None and max_version[0] >= 1,
        )


def _order_for_consumer(memory: Any, stream: int | None) -> None:
    if memory.on_host:
        if stream not in (None, -1):
            raise ValueError(f"stream={stream}: there are no streams on the reference device")
        return
    if stream == 0:
        raise ValueError("stream=0 is ambiguous in DLPack: 1 is the legacy default stream")
    if stream == -1:
        return
    consumer = LEGACY_DEFAULT if stream is None else as_stream_pointer(stream)
    with cuda.on(memory.device_id):
        order(before=memory.stream, after=consumer)
