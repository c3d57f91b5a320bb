"""Workspaces: scratch memory that an operation asks for and leaves undefined."""

from __future__ import annotations

from typing import Any

from ..device import DeviceBuffer
from ..handle import Handle
from .operands import imported

__all__ = ["new_workspace", "workspace_memory"]


def new_workspace(handle: Handle, nbytes: int) -> DeviceBuffer:
    """Scratch memory for work on the handle's stream; closing it waits for that work only."""
    return DeviceBuffer(nbytes, device=handle.device, stream=handle.stream)


def workspace_memory(handle: Handle, workspace: Any) -> tuple[Any, int]:
    """What C receives for a workspace, and its size in bytes; None is no workspace.

    Raises
    ------
    TypeError
        If it is an address, whose size nobody knows, or no device memory.
    """
    if workspace is None:
        return None, 0
    if isinstance(workspace, int):
        raise TypeError(
            "workspace: the size behind an address is not known: pass a DeviceBuffer or a tensor"
        )
    if isinstance(workspace, DeviceBuffer):
        memory: Any = workspace
    else:
        memory = imported("workspace", workspace, handle)
    return (memory, memory.nbytes) if memory.nbytes else (None, 0)
