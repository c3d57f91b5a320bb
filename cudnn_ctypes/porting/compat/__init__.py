"""Old names over cuDNN 9: programs written for them run with the import line changed.

=================  ===========================================================================
module             whose names
=================  ===========================================================================
``v7``             the C functions, enumerators and types that cuDNN 2 to 8 had and 9 has not
``libcudnn``       the ctypes wrapper of that name (cuDNN 2 to 4), which nobody maintains
``cupy_cudnn``     ``cupy.cudnn`` and ``cupy_backends.cuda.libs.cudnn``, which CuPy 14 dropped
=================  ===========================================================================

Each old name warns once in a process, with an `OldNameWarning` that tells the modern form.
Importing this package imports none of them.
"""

from __future__ import annotations

from .old_names import OldNameWarning

__all__ = ["OldNameWarning"]
