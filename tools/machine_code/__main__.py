"""Write the machine code of bound launches beside ``runtime/launching/machine_code.py``.

``python -m tools.machine_code`` assembles the files beside this one; it needs GNU binutils for both
kinds of machines (``aarch64-linux-gnu-as`` is in Debian's package binutils-aarch64-linux-gnu).
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

__all__ = ["MACHINES", "assembled"]

MACHINES = ("x86_64", "aarch64")
_FILE = Path("cudnn_ctypes/runtime/launching/machine_code.json")


def assembled(machine: str) -> bytes:
    """The code of a file; raises FileNotFoundError without an assembler."""
    prefix = "" if machine == platform.machine() else f"{machine.replace('_', '-')}-linux-gnu-"
    for tool in ("as", "objcopy"):
        if shutil.which(prefix + tool) is None:
            raise FileNotFoundError(f"there is no {prefix}{tool}: install binutils")
    source = Path(__file__).with_name(f"{machine}.s")
    with tempfile.TemporaryDirectory() as folder:
        linked, code = Path(folder, "code.o"), Path(folder, "code")
        subprocess.run([f"{prefix}as", source, "-o", linked], check=True)
        command = [f"{prefix}objcopy", "-O", "binary", "-j", ".text", linked, code]
        subprocess.run(command, check=True)
        return code.read_bytes()


if __name__ == "__main__":
    codes = {machine: textwrap.wrap(assembled(machine).hex(), 88) for machine in MACHINES}
    _FILE.write_text(json.dumps(codes, indent=1) + "\n", "utf-8")
