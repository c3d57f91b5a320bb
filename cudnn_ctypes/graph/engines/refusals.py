"""Why cuDNN refuses an engine or a config: the one telling line among all that it logs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...absent_gpu.driver_stub import ensure_driver
from ...errors import CudnnError

__all__ = ["ONLY_THERE", "Refusal", "failed_to_compile", "refusal"]

ONLY_THERE = "perhaps where the GPU is: cuDNN asks the GPU itself, and there is none here"
"""The state of an engine that can be neither compiled nor ruled out for an absent GPU."""

# Compiled when first used: a build that is not refused needs none.
_STATED = r"(?s)^CUDNN_STATUS_(\w+); Reason: (.*)$"
_CALL = r"^[\w.:>-]+\("
_BARE = r"^(status|treePair\.first)$|^\(CUDNN_STATUS_\w+ == status\)"
_COMPILING = r"\brtk\([^)]*\)\s*->\s*compile|COMPILATION_FAILED|cannot load libnvrtc"
_ADDRESS = r"0x[0-9a-f]{6,}"


@dataclass(frozen=True)
class Refusal:
    """cuDNN's reasons for a refusal.

    Attributes
    ----------
    status : str
        The most exact status in its messages: "NOT_SUPPORTED_SHAPE".
    reason : str
        The innermost message that states a condition, without addresses.
    messages : tuple of str
        All logged messages, the innermost first.
    """

    status: str
    reason: str
    messages: tuple[str, ...] = ()

    @property
    def hopeless(self) -> bool:
        """True if no other shape, layout or data type would help, or cuDNN does not name one."""
        return self.status.endswith("ARCH_MISMATCH") or any(
            part in self.reason for part in ("gives no reason", "is not enabled")
        )

    @property
    def needs_gpu(self) -> bool:
        """Whether cuDNN asked the GPU itself, which is not here: there it may accept."""
        asked = self.status.startswith("EXECUTION_FAILED") or any(map(_asks_cublas, self.messages))
        return asked and ensure_driver().is_stub

    def without_index(self, engine: int) -> str:
        """Status and reason, the same for all engines that have the same."""
        reason = re.sub(rf"^[Ee]ngine {engine}\b", "this engine", self.reason)
        told = f"{self.status}: {reason}" if self.status else reason
        return f"{ONLY_THERE} ({told})" if self.needs_gpu else told

    def __str__(self) -> str:
        told = f"{self.status}: {self.reason}"
        return f"{ONLY_THERE} ({told})" if self.needs_gpu else told


def refusal(error: CudnnError) -> Refusal:
    """The refusal that an error stands for."""
    messages = error.messages or ((error.detail,) if error.detail else ())
    stated = [found for m in messages if (found := re.match(_STATED, m))]
    status = stated[0][1] if stated else str(error.status).removeprefix("CUDNN_STATUS_")
    # Lines without a status may belong to a check that had alternatives.
    candidates = [found[2] for found in stated] + [m for m in messages if not re.match(_STATED, m)]
    reason = next((text for text in candidates if _tells(text)), "")
    if not reason:
        reason = "cuDNN gives no reason" + (f" ({candidates[0]})" if candidates else "")
    reason = " ".join(re.sub(_ADDRESS, "0x…", reason).split()).removesuffix(" at: true")
    return Refusal(status, reason, tuple(messages))


def failed_to_compile(messages: Iterable[str]) -> bool:
    """Whether cuDNN accepted an engine and could not compile its kernel."""
    return any(re.search(_COMPILING, each) for each in messages)


def _asks_cublas(message: str) -> bool:
    """Whether this is the call by which engines of cuBLASLt find the GPU."""
    return "create_cublas_handle" in message


def _tells(message: str) -> bool:
    """True if the message says more than which of cuDNN's internal functions failed."""
    if re.match(_BARE, message):
        return False
    call = re.match(_CALL, message)
    if call is None:
        return True
    depth = 1
    for position in range(call.end(), len(message)):
        depth += (message[position] == "(") - (message[position] == ")")
        if depth == 0:
            return position + 1 < len(message.rstrip())
    return False
