"""Operands of multi-head attention: described alike, checked against each other, sized."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from ctypes import c_void_p
from typing import Any

import numpy as np

from .. import raw
from ..device import DeviceBuffer, DeviceTensor
from ..device.layout import to_shape
from ..handle import Handle
from .attention_descriptor import AttnDescriptor
from .attention_fit import check_fit
from .attention_weights import attention_buffer_sizes
from .operands import check_memory, expect, imported, new_workspace, workspace_memory
from .scalars import integers
from .sequence_data import SeqDataDescriptor, fitting_axes

__all__ = ["AttentionCall", "both_lengths"]


class AttentionCall(ExitStack):
    """What the attention functions have in common; closes what it made for the call.

    Parameters
    ----------
    operands : dict
        Under "q", "k", "v" and "out": the name of the argument, what the user gave, and its
        descriptor. The output, or its gradient, may be None: it is made then.
    lengths : pair
        Time steps of the sequences in q and out, and in k and v; None is all.
    """

    def __init__(
        self,
        handle: Handle,
        attn: AttnDescriptor,
        operands: dict[str, tuple[str, Any, SeqDataDescriptor | None]],
        lengths: tuple[Sequence[int] | None, Sequence[int] | None],
    ) -> None:
        super().__init__()
        self.handle = expect("handle", handle, Handle)
        self.attn = expect("attn", attn, AttnDescriptor)
        for owner in (handle, attn, attn.attention_dropout, attn.output_dropout):
            if owner is not None:
                _ = owner._as_parameter_  # ClosedError, where cuDNN would follow a dead pointer
        self.training = False
        self._names = {role: name for role, (name, _, _) in operands.items()}
        self._given = {role: self._tensor(*operand) for role, operand in operands.items()}
        self._lengths = {"q": lengths[0], "out": lengths[0], "k": lengths[1], "v": lengths[1]}
        self._axes = self._common_axes({role: desc for role, (_, _, desc) in operands.items()})
        self.desc: dict[str, SeqDataDescriptor] = {}
        self.memory: dict[str, Any] = {}
        self.out = operands["out"][1]
        try:
            self._describe_all(operands)
        except BaseException:
            self.close()
            raise

    def _describe_all(self, operands: dict[str, tuple[str, Any, SeqDataDescriptor | None]]) -> None:
        for role, (name, value, desc) in operands.items():
            if value is not None:
                self._describe(role, value, desc)
            elif role != "out":
                raise TypeError(f"{name}: a tensor is needed, got None")
        if self.out is None:
            self._make_out(operands["out"][2])
        check_fit(self.attn, self.desc, self._names)

    def _tensor(self, name: str, value: Any, desc: SeqDataDescriptor | None) -> Any:
        if value is None or desc is not None:
            return value
        if isinstance(value, (int, c_void_p, DeviceBuffer)):
            raise TypeError(
                f"{name}: an address or a DeviceBuffer has no shape: pass {name}_desc too, or a "
                f"DeviceTensor"
            )
        return imported(name, value, self.handle)

    def _common_axes(self, descs: dict[str, SeqDataDescriptor | None]) -> Any:
        """The order in memory that all operands have, which cuDNN asks for."""
        fitting = []
        for role, tensor in self._given.items():
            desc = descs[role]
            if desc is not None:
                orders = [expect(f"{self._names[role]}_desc", desc, SeqDataDescriptor).axes]
            elif tensor is None:
                continue
            else:
                orders = fitting_axes(*_four_dimensions(self._names[role], tensor))
            fitting.append((self._names[role], orders))
        common = [order for order in fitting[0][1] if all(order in rest for _, rest in fitting)]
        if not common:
            shown = "; ".join(
                f"{name} {' or '.join(map(_letters, orders)) or 'none'}" for name, orders in fitting
            )
            raise ValueError(
                f"all operands must have (time, batch, beam, vector) dense and in the same order "
                f"in memory, vectors last: {shown}"
            )
        return common[0]

    def _describe(self, role: str, value: Any, desc: SeqDataDescriptor | None) -> None:
        name, lengths = self._names[role], self._lengths[role]
        if desc is None:
            made = SeqDataDescriptor.of(self._given[role], lengths=lengths, axes=self._axes)
            desc = self.enter_context(made)
        elif lengths is not None and tuple(lengths) != desc.lengths:
            raise ValueError(f"{name}_desc: has lengths {desc.lengths}, but {lengths} were given")
        self.desc[role] = desc
        self.memory[role] = self.checked(name, value, desc, written=role == "out")

    def _make_out(self, desc: SeqDataDescriptor | None) -> None:
        shape = (*self.desc["q"].shape[:3], self.attn.output_size)
        if desc is None:
            desc = self.enter_context(
                SeqDataDescriptor(
                    shape, self.attn.data_type, axes=self._axes, lengths=self.desc["q"].lengths
                )
            )
        self.desc["out"] = desc
        self.out = self.like("out", self._given["q"])
        self.memory["out"] = self.out

    def like(self, role: str, operand: Any, *, zero: bool = False) -> DeviceTensor:
        """A new tensor for a descriptor, of zeros or not; without beam if `operand` has none."""
        desc = self.desc[role]
        shape, strides = desc.shape, desc.strides
        if getattr(operand, "ndim", 4) == 3:
            shape, strides = (*shape[:2], shape[3]), (*strides[:2], strides[3])
        where = {"device": self.handle.device, "stream": self.handle.stream}
        make = DeviceTensor.zeros if zero else DeviceTensor.empty
        return make(shape, desc.data_type, strides=strides, **where)

    def checked(
        self, name: str, value: Any, desc: SeqDataDescriptor, *, written: bool = False
    ) -> Any:
        """What C receives for sequences, which must be as large as their descriptor says."""
        described: Any = desc
        return check_memory(name, value, described, self.handle, written=written)

    def alike(self, name: str, value: Any, role: str, *, written: bool = False) -> Any:
        """What C receives for a tensor that is read or written by an operand's descriptor."""
        desc = self.desc[role]
        if not isinstance(value, (int, c_void_p, DeviceBuffer)):
            shape, strides = _four_dimensions(name, imported(name, value, self.handle))
            if shape != desc.shape or desc.axes not in fitting_axes(shape, strides):
                raise ValueError(
                    f"{name}: expected (time, batch, beam, vector) = {desc.shape} with strides "
                    f"{desc.strides}, as {self._names[role]} has, got {shape} with {strides}"
                )
        return self.checked(name, value, desc, written=written)

    # -- what is not sequences ---------------------------------------------------------------

    def windows(self, low: Any, high: Any, current: int | None) -> tuple[Any, Any]:
        """The windows of all queries: C reads one entry for each, or the current one's."""
        steps, keys = self.desc["q"].shape[0], self.desc["k"].shape[0]
        wanted = steps if current is None else current + 1
        arrays = []
        for name, value, default in (("low", low, 0), ("high", high, keys)):
            array = [default] * steps if value is None else integers(name, value)
            if len(array) < wanted:
                raise ValueError(
                    f"{name}: expected {wanted} entries, one for each time step of the queries, "
                    f"got {len(array)}"
                )
            arrays.append(array)
        return arrays[0], arrays[1]

    def lengths(self, given: Any) -> tuple[Any, Any]:
        """The sequences' lengths in device memory: those given, else copies of the descriptors'."""
        if given is None:
            return self._copied(self.desc["q"].lengths), self._copied(self.desc["k"].lengths)
        if not isinstance(given, Sequence) or len(given) != 2:
            raise TypeError(f"device_lengths: expected a pair of tensors, got {given!r}")
        arrays = []
        for role, value in zip(("q", "k"), given, strict=True):
            tensor = imported("device_lengths", value, self.handle)
            count = len(self.desc[role].lengths)
            if tensor.data_type != raw.CUDNN_DATA_INT32 or tensor.size < count:
                raise ValueError(f"device_lengths: expected {count} int32 for {role}, got {tensor}")
            arrays.append(tensor)
        return arrays[0], arrays[1]

    def _copied(self, numbers: Sequence[int]) -> DeviceTensor:
        array = np.array(numbers, np.int32)
        return self.enter_context(
            DeviceTensor.from_numpy(array, device=self.handle.device, stream=self.handle.stream)
        )

    def weights(self, name: str, weights: Any) -> tuple[Any, int]:
        """What C receives for a weight buffer, and its size in bytes."""
        needed = self._sizes().weights
        if weights is None:
            if needed:
                raise ValueError(f"{name}: needed, this attention has {needed} bytes of them")
            return None, 0
        memory = weights if hasattr(weights, "buffer") else self._sized(name, weights)
        if memory.nbytes < needed:
            raise ValueError(f"{name}: {needed} bytes are needed, got {memory.nbytes}")
        return (memory, memory.nbytes) if memory.nbytes else (None, 0)

    def _sized(self, name: str, value: Any) -> Any:
        if isinstance(value, int):
            raise TypeError(f"{name}: the size behind an address is not known: pass a DeviceBuffer")
        return value if isinstance(value, DeviceBuffer) else imported(name, value, self.handle)

    def workspace(self, workspace: Any) -> tuple[Any, int]:
        """What C receives for the workspace, and its size in bytes."""
        needed = self._sizes().workspace
        if workspace is None:
            workspace = self.enter_context(new_workspace(self.handle, needed))
        space, nbytes = workspace_memory(self.handle, workspace)
        if nbytes < needed:
            raise ValueError(f"workspace: {needed} bytes are needed, got {nbytes}")
        return space, nbytes

    def reserve_space(self, reserve_space: Any) -> tuple[Any, int]:
        """What C receives for the reserve space, and its size in bytes."""
        needed = self._sizes().reserve_space
        memory = self._sized("reserve_space", reserve_space)
        if memory.nbytes < needed:
            raise ValueError(f"reserve_space: {needed} bytes are needed, got {memory.nbytes}")
        return memory, memory.nbytes

    def new_reserve_space(self) -> DeviceTensor:
        """A reserve space for the caller to keep."""
        where = {"device": self.handle.device, "stream": self.handle.stream}
        return DeviceTensor.empty((self._sizes().reserve_space,), "uint8", **where)

    def _sizes(self) -> Any:
        return attention_buffer_sizes(self.handle, self.attn, training=self.training)


def _letters(axes: Sequence[int]) -> str:
    return "".join("TNBV"[axis] for axis in axes)


def _four_dimensions(name: str, tensor: DeviceTensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides (T, N, B, V) of a tensor, which may be without a beam."""
    shape, strides = tensor.shape, tensor.strides
    if len(shape) == 3:
        return (*shape[:2], 1, shape[2]), (*strides[:2], shape[2], strides[2])
    if len(shape) != 4:
        raise ValueError(
            f"{name}: expected (time, batch, beam, vector) or without beam, got {shape}"
        )
    return shape, strides


def both_lengths(q: Any, k: Any) -> tuple[Any, Any]:
    """Time steps of the queries' sequences and of the keys', as the user gave them."""
    return (
        None if q is None else to_shape(q, "q_lengths"),
        None if k is None else to_shape(k, "k_lengths"),
    )
