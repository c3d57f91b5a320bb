"""Whether the loaded cuDNN has what a graph names."""

from __future__ import annotations

from ... import raw
from ...errors import SymbolNotFoundError
from ...raw import cudnnBackendDescriptorType_t as Kind
from ...raw.attributes import Attribute, kind_name
from ...raw.ctypes_support import CudnnEnum
from ...raw.enums import ENUM_SINCE

__all__ = ["require", "require_attribute", "require_kind"]


def require(enumerator: CudnnEnum, what: str) -> None:
    """Refuse an enumerator that is newer than the loaded library.

    Raises
    ------
    SymbolNotFoundError
        With the version that has it and the loaded one.
    """
    since = ENUM_SINCE.get(enumerator.name)
    if since is None:
        return
    if outdated := raw.load().outdated(what, since):
        raise SymbolNotFoundError(outdated)


def require_kind(kind: Kind) -> None:
    require(kind, f"the backend descriptor {kind_name(kind)!r}")


def require_attribute(attribute: Attribute) -> None:
    require(attribute.name, f"the attribute {attribute.full_name!r}")
