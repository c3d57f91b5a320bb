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
    library = raw.load()
    if _number(since) > library.version:
        raise SymbolNotFoundError(
            f"{what} needs cuDNN {since}; loaded is {library.version_text} from {library.path} "
            f"({library.source}). Install a newer cuDNN."
        )


def require_kind(kind: Kind) -> None:
    require(kind, f"the backend descriptor {kind_name(kind)!r}")


def require_attribute(attribute: Attribute) -> None:
    require(attribute.name, f"the attribute {attribute.full_name!r}")


def _number(text: str) -> int:
    major, minor, patch = (int(part) for part in text.split("."))
    return major * 10000 + minor * 100 + patch
