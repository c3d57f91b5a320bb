"""The exceptions of the front end, and how those of the layers below become them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import NotSupportedError, SymbolNotFoundError
from ..raw import cudnnStatus_t


class cudnnGraphNotSupportedError(NotSupportedError):
    """cuDNN, or this version of it, cannot carry out the graph; the message has its reasons."""


class InvalidGraphError(ValueError, RuntimeError):
    """The graph contradicts itself, or is incomplete. The front end raises a RuntimeError."""


def not_supported(where: str, reason: str) -> cudnnGraphNotSupportedError:
    """The exception for what cannot be done, with our own reason."""
    return cudnnGraphNotSupportedError(
        where, cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, detail=reason, source="cudnn_ctypes"
    )


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise the front end's exceptions in place of those of layer 3, which become their cause."""
    try:
        yield
    except (cudnnGraphNotSupportedError, InvalidGraphError):
        raise
    except NotSupportedError as error:
        raise cudnnGraphNotSupportedError(
            error.function,
            error.status,
            arguments=error.arguments,
            detail=error.detail,
            messages=error.messages,
            source=error.source,
            hint=error.hint,
        ) from error
    except SymbolNotFoundError as error:
        raise not_supported(where, str(error)) from error
    except ValueError as error:
        raise InvalidGraphError(str(error)) from error
