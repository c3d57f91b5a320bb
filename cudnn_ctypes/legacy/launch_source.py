"""The Python functions that are compiled for launches: one for an operation, one for a launch.

Both are written out as source, with the names of the arguments and without loops over them, which
takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter

__all__ = ["launch_source", "operation_source"]

_OPERATION = """\
def {name}({signature}):
    if _recordings and _thread() in _recordings{refused}:
        return _function({passed})
    {launcher_line}
    for _launch in {launcher}._launches.get(_number + _sizes[{subject}.__class__]({subject}), ()):
        _result = _launch({launcher}, {given})
        if _result is not _OTHER:
            return _result
    return _found({launcher}, ({given}))
"""


def operation_source(name: str, parameters: Sequence[Parameter], subject: str) -> str:
    """An operation: tries the compiled launches for memory of the size of the argument `subject`.

    It refers to ``_recordings``, ``_thread`` (the number of this thread), ``_function`` (what the
    user would call), ``_number`` (of the operation), ``_sizes``, ``_OTHER`` (the
    result of a compiled launch for other arguments), ``_found`` (which finds or makes a plan), and
    ``_Handle`` or ``_StreamLauncher``.
    """
    of_handle = any(p.name == "handle" for p in parameters)
    positional = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    return _OPERATION.format(
        name=name,
        signature=", ".join([*positional, *(["*"] if options else []), *options]),
        refused=" or handle.__class__ is not _Handle" if of_handle else "",
        passed=", ".join([*positional, *(f"{each}={each}" for each in options)]),
        launcher="handle" if of_handle else "_launcher",
        launcher_line="pass" if of_handle else "_launcher = _StreamLauncher(stream)",
        subject=subject,
        given="".join(f"{p.name}, " for p in parameters if p.name not in ("handle", "stream")),
    )


def launch_source(
    names: Sequence[str],
    *,
    conditions: Sequence[str],
    at: Sequence[str],
    follows: bool,
    makes: bool,
    scratch: int,
    zeroed: Sequence[int],
    calls: Sequence[Sequence[str]],
    result: str,
) -> str:
    """A launch: the check of its arguments, the preparations, the calls of C and the result.

    Parameters
    ----------
    names : sequence of str
        The arguments.
    conditions : sequence of str
        Each is true for arguments of another launch: ``_OTHER`` is returned then.
    at : sequence of str
        Lines that assign the pointers that C receives for the arguments.
    follows : bool
        Whether PyTorch's current stream on ``_device`` is waited for.
    makes : bool
        Whether results are made.
    scratch : int
        The number of workspaces, of ``_sizes``.
    zeroed : sequence of int
        Which results and workspaces are filled with zeros, as many bytes as ``_zeros`` says.
    calls : sequence of sequence of str
        The arguments of each call, as expressions.
    result : str
        An expression.
    """
    spaces = "".join(f"_space{i}, " for i in range(scratch))
    before = [*at, "_handle = _launcher._as_parameter_"]
    if makes or follows:
        before.append("_allocator = _launcher.allocator")
    before.append("_made, _to = _make(_allocator)" if makes else "_made = ()")
    work = [f"_space{i} = _launcher.workspace(_sizes[{i}], {i})" for i in range(scratch)]
    if follows:
        before_it = "_current(_device) != _allocator.stream"
        work.append(f"if {before_it}: _follow(_device, _allocator.stream)")
    if zeroed:
        work.append(f"_blocks = (*[_tensor._memory for _tensor in _made], {spaces})")
        work += [
            f"_fill(_blocks[{p}], _zeros[{i}], _launcher.stream)" for i, p in enumerate(zeroed)
        ]
    given = "".join(f"{name}, " for name in names)
    for i, arguments in enumerate(calls):
        work += [
            "if _logged: _forget()",
            f"_code = _call{i}({', '.join(arguments)})",
            f"if _code: _settle({i}, _code, _launcher, ({given}), _made, ({spaces}))",
        ]
    if makes:
        work = [
            "try:",
            *(f"    {line}" for line in work),
            "except BaseException:",
            "    for _tensor in _made: _tensor.close()",
            "    raise",
        ]
    lines = [
        "try:",
        f"    if {' or '.join(conditions)}: return _OTHER",
        "except _NoKey:",
        "    return _OTHER",
        *before,
        *work,
        f"return {result}",
    ]
    return "\n".join([f"def launch(_launcher, {given}):", *(f"    {line}" for line in lines)])
