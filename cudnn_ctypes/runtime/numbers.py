"""Numbers as elements of a data type, refused where the type has nothing like them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.dtypes import data_type_name, numpy_dtype
from cudnn_ctypes.raw.enums import cudnnDataType_t

__all__ = ["element"]


def element(value: Any, data_type: cudnnDataType_t, name: str = "value") -> NDArray[Any]:
    """`value` as an array without dimensions, of the type that elements are stored in.

    Floating-point types round it. Errors begin with `name`.

    Raises
    ------
    TypeError
        If it is not one number.
    ValueError
        If an integer type does not have exactly this number, or a floating-point type has no
        finite number, no infinity or no NaN where the value is one.
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
