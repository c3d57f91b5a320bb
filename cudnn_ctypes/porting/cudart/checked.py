"""A C function as a Python object that checks its status, or returns it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

from ...errors import NoDeviceError
from ...runtime.cuda import CudaError

__all__ = ["CheckedFunction"]

_P = ParamSpec("_P")
_S = TypeVar("_S")


class CheckedFunction(Generic[_P, _S]):
    """A C function. Calling it raises `CudaError` on every status but success.

    It returns the status of success.

    Parameters
    ----------
    body : callable
        The implementation, which raises `CudaError`.
    """

    __name__: str

    success: ClassVar[Any]
    no_device: ClassVar[Any]
    """The status on a machine without a GPU."""

    def __init__(self, body: Callable[_P, None]) -> None:
        self._body = body
        functools.update_wrapper(self, body)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _S:
        try:
            self._body(*args, **kwargs)
        except CudaError as error:
            self._failed(error.code)
            raise
        status: _S = self.success
        return status

    def unchecked(self, *args: _P.args, **kwargs: _P.kwargs) -> _S:
        """The same function, which returns the status as C does instead of raising."""
        try:
            return self(*args, **kwargs)
        except CudaError as error:
            code: _S = error.code
        except NoDeviceError:
            code = self.no_device
            self._failed(code)
        return code

    def _failed(self, code: Any) -> None:
        """Remember the status of a failed call."""

    def __get__(self, instance: object, owner: object = None) -> CheckedFunction[_P, _S]:
        """The function itself, also as a class attribute; ``help`` shows objects with this method
        as functions."""
        return self

    def __repr__(self) -> str:
        return f"<C function {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__
