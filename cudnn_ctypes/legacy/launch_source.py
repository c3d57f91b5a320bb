"""The Python functions that are compiled for launches: one for an operation, one for a plan.

A launch is written out as source, with the names of its arguments and without loops over them,
which takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter

__all__ = ["looked_up_source", "operation_source", "plan_source"]


# --- operations ----------------------------------------------------------------------------------

_OPERATION = """\
def {name}({signature}):
    if _recordings and _thread() in _recordings{refused}:
        return _function({positional}{keywords})
    {launcher_line}
    _key = None
    try:
        {looks}
        _key = {key}
        _plan = {launcher}._plans.get(_key)
        if _plan is not None:
            return _plan.run({launcher}, {at}, {given})
    except _NoKey:
        pass
    return _long_way({launcher}, _key, ({positional}), dict({keywords}))
"""

_LOOKED_UP = """\
def {name}({signature}):
    {launcher_line}
    try:
        {looks}
        return {launcher}, {key}, {at}, {given}
    except _NoKey:
        return {launcher}, None, (), {given}
"""

# Memory of this package has its look at hand, if it is neither closed nor a part of other memory.
_LOOK = "{0}.__class__ in _own and {0}._keyed or _looks[{0}.__class__]({0}, {1})"


def operation_source(name: str, parameters: Sequence[Parameter], *, by_alignment: bool) -> str:
    """An operation: looks at its arguments, and runs the plan of their key.

    It refers to ``_recordings``, ``_thread`` (the number of this thread), ``_function`` (what the
    user would call), ``_long_way``, ``_looks``, ``_NoKey``, ``_own``, ``_number`` (which stands for
    the operation), ``_default`` (the look of an argument that is its default), ``_default_NAME``,
    and ``_Handle`` or ``_StreamLauncher``.
    """
    return _OPERATION.format(**_fields(name, parameters, by_alignment))


def looked_up_source(name: str, parameters: Sequence[Parameter], *, by_alignment: bool) -> str:
    """The launcher, key, what C is given of the arguments, and the arguments: see `launch_keys`.

    It refers to the names that `operation_source` says. The key is None if there is none.
    """
    return _LOOKED_UP.format(**_fields(name, parameters, by_alignment))


def _fields(name: str, parameters: Sequence[Parameter], by_alignment: bool) -> dict[str, str]:
    """Text for the gaps of the two sources."""
    of_handle = any(p.name == "handle" for p in parameters)
    launcher = "handle" if of_handle else "_launcher"
    positional = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    key = ["_number"] if of_handle else ["_number", f"{launcher}.launch_key"]
    looks: list[str] = []
    at: list[str] = []
    given: list[str] = []
    for p in parameters:
        if p.name in ("handle", "stream"):
            continue
        look = _LOOK.format(p.name, launcher)
        if p.default is not Parameter.empty:
            look = f"_default if {p.name} is _default_{p.name} else {look}"
        looks.append(f"_part_{p.name}, _at_{p.name} = {look}")
        key.append(f"_part_{p.name}")
        at.append(f"_at_{p.name}")
        given.append(p.name)
    if by_alignment:
        key.append(f"_aligned({_tuple(at)})")
    return {
        "name": name,
        "signature": ", ".join([*positional, *(["*"] if options else []), *options]),
        "refused": " or handle.__class__ is not _Handle" if of_handle else "",
        "launcher": launcher,
        "launcher_line": "pass" if of_handle else f"{launcher} = _StreamLauncher(stream)",
        "looks": "\n        ".join(looks),
        "key": _tuple(key),
        "at": _tuple(at),
        "given": _tuple(given),
        "positional": "".join(f"{each}, " for each in positional),
        "keywords": ", ".join(f"{each}={each}" for each in options),
    }


def _tuple(parts: Sequence[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"


# --- plans ---------------------------------------------------------------------------------------


def plan_source(
    *,
    moved: bool,
    follows: bool,
    makes: bool,
    scratch: int,
    zeroed: Sequence[int],
    calls: Sequence[Sequence[str]],
    result: str,
) -> str:
    """A launch: what is done before the calls of C, the calls, and the result.

    Parameters
    ----------
    moved : bool
        Whether it may only be launched on ``stream``.
    follows : bool
        Whether PyTorch's current stream on ``device`` is waited for.
    makes : bool
        Whether results are made.
    scratch : int
        The number of workspaces, of ``sizes``.
    zeroed : sequence of int
        Which results and workspaces are filled with zeros, as many bytes as ``zeros`` says.
    calls : sequence of sequence of str
        The arguments of each call, as expressions.
    result : str
        An expression.
    """
    before = ["handle = launcher._as_parameter_"]
    if makes or follows:
        before.append("allocator = launcher.allocator")
    if makes:
        before.append("made, to = make(allocator)")
    work = [f"space{i} = launcher.workspace(sizes[{i}], {i})" for i in range(scratch)]
    if scratch:
        addresses = [f"space{i}.pointer" for i in range(scratch)]
        work.append(f"scratch = {_tuple(addresses)}")
    if follows:
        work.append("if current(device) != allocator.stream: follow(device, allocator.stream)")
    if zeroed:
        made = "*[tensor._memory for tensor in made]" if makes else ""
        blocks = [made, *(f"space{i}" for i in range(scratch))]
        work.append(f"blocks = {_tuple([each for each in blocks if each])}")
        work += [f"fill(blocks[{p}], zeros[{i}], launcher.stream)" for i, p in enumerate(zeroed)]
    for i, arguments in enumerate(calls):
        given = ", ".join(arguments)
        work += [
            "if logged: forget()",
            f"code = call{i}({given})",
            f"if code: raise errors[{i}](code, ({given},))",
        ]
    if makes:
        work = [
            "try:",
            *(f"    {line}" for line in work),
            "except BaseException:",
            "    for tensor in made: tensor.close()",
            "    raise",
        ]
    lines = [
        "if mode.reference_device_active is not on_host: raise NoKey",
        *(["if launcher.stream_pointer != stream: raise NoKey"] if moved else []),
        "if watched: return through_raw(launcher, at, given)",
        *before,
        *work,
        f"return {result}",
    ]
    return "\n".join(["def run(launcher, at, given):", *(f"    {line}" for line in lines)])
