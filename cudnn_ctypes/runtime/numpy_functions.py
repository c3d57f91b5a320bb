"""NumPy functions and comparisons on a ``DeviceTensor``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exchange import Exchange

__all__ = ["NumpyFunctions"]


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
