"""The lives of descriptors, by calls that create, set, change and destroy them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import live, mode, records
from ..call_source import is_handle
from ..ctypes_support import OpaquePointer
from ..types import cudnnCallback_t
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding
    from ..parameter import Parameter

_BAD_PARAM = 2000  # cudnnStatus_t

# --- descriptors that are unset or half set: cuDNN follows or divides by their garbage ------------
# A new descriptor holds zeros, or the previous contents of its memory (activation, op tensor,
# reduce tensor; cuDNN 9.28). A refused call may have stored some of its values. These descriptors
# are refused by name until a call sets them, except by functions that read them back or destroy
# them.


def sets(binding: Binding) -> list[Parameter]:
    """The descriptors whose values a C function sets, all of them."""
    return [p for p in _descriptors(binding) if p.direction != "in" and not p.type.unset]


def uses(binding: Binding) -> list[Parameter]:
    """The descriptors that must be set before a C function is called."""
    return [p for p in _descriptors(binding) if p.direction == "in" and p.type.unset is not True]


def _descriptors(binding: Binding) -> list[Parameter]:
    return [p for p in binding.parameters if p.type.kind == "value" and _must_be_set(p)]


def _must_be_set(parameter: Parameter) -> bool:
    return getattr(parameter.type.base, "_must_be_set", False)


def unset(binding: Binding) -> Fragment | None:
    if binding.name.startswith("cudnnCreate"):
        return _created(binding)
    for p in binding.parameters:
        if p.type.kind == "labelled" and p.direction == "out":  # copies a descriptor to another
            return Fragment(success=[f"_filled({p.name})"], scope={"_filled": _filled})
    used, set_ = uses(binding), sets(binding)
    if not used and not set_:
        return None
    scope: dict[str, Any] = {f"_unset_{p.name}": _table(_kind(p)) for p in used + set_}
    before: list[str] = []
    if used:
        scope["_unset_names"] = _unset_names(binding.parameters, used)
        before = [
            f"if {' or '.join(f'_unset_{p.name}' for p in used)}:",
            "    _unset = _unset_names({args})",
            f"    if _unset: return _refused({_BAD_PARAM}, {{args}}, *_unset)",
        ]
    after: list[str] = []
    success: list[str] = []
    for p in set_:
        table = scope[f"_unset_{p.name}"]
        success.append(f"if _unset_{p.name}: _unset_{p.name}.pop(_address_of({p.name}), None)")
        scope["_address_of"] = live.address
        if p.type.base._may_be_half_set:
            after.append(f"if _code: _half_set_{p.name}({p.name})")
            scope[f"_half_set_{p.name}"] = _half_set(table, binding.name)
    return Fragment(before, after, success, scope)


def _kind(parameter: Parameter) -> str:
    return str(getattr(parameter.type.base, "__name__", ""))


def _table(kind: str) -> dict[int, str]:
    return live.unusable.setdefault(kind, {})


def _created(binding: Binding) -> Fragment | None:
    kinds = [_kind(p) for p in binding.parameters if _must_be_set(p)]
    if not kinds:
        return None
    table, parameter = _table(kinds[0]), binding.parameters[0].name

    def new(argument: Any) -> None:
        address = live.address(live.out_variable(argument))
        if address is not None:
            table[address] = "was created, but never set"

    return Fragment(success=[f"_new({parameter})"], scope={"_new": new})


def _filled(argument: Any) -> None:
    kind = type(getattr(argument, "_as_parameter_", argument)).__name__
    live.unusable.get(kind, {}).pop(live.address(argument) or 0, None)


def _half_set(table: dict[int, str], name: str) -> Callable[[Any], None]:
    def half_set(descriptor: Any) -> None:
        address = live.address(descriptor)
        if address is not None:
            table.setdefault(address, f"may be half set: the last {name} with it was refused")

    return half_set


def _unset_names(
    parameters: Sequence[Parameter], used: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], list[str]]:
    names = [p.name for p in parameters]
    tables = [(names.index(p.name), p, _table(_kind(p))) for p in used]

    def unset_names(arguments: tuple[Any, ...]) -> list[str]:
        unset: list[str] = []
        for position, p, table in tables:
            if not _is_a(arguments[position], p.type.base):
                return []  # ctypes raises
            if p.type.unset and not arguments[names.index(str(p.type.unset))]:
                continue
            if (address := live.address(arguments[position])) in table:
                unset.append(f"{p.name} {table[address]}")
        return unset

    return unset_names


def _is_a(argument: Any, kind: Any) -> bool:
    return argument is None or isinstance(getattr(argument, "_as_parameter_", argument), kind)


# --- records --------------------------------------------------------------------------------------
# Those of descriptors that a call may change are dropped for every status, since a failed call may
# have set some values. C takes such descriptors without const.


def changed(binding: Binding) -> Fragment | None:
    destroys = binding.name.startswith("cudnnDestroy")
    # Many functions that only read also lack the const; the headers mark those as [in].
    changed = [
        p.name
        for p in binding.parameters
        if p.changes_descriptor and (destroys or p.direction != "in")
    ]
    by_name = {p.name: p for p in binding.parameters}
    if binding.name in ("cudnnSetStream", "cudnnDestroy"):
        changed.append("handle")
    if not changed and not binding.noted:
        return None
    return Fragment(
        after=[line for name in changed for line in _forgetting(by_name[name])],
        success=[f"_noted({', '.join(by_name)})"] if binding.noted else [],
        scope={
            "_forget_record": records.forget,
            "_records": records.cache,
            "_bytes": bytes,
            "_noted": _noting(binding),
        },
    )


def _forgetting(parameter: Parameter) -> list[str]:
    """Lines for `records.forget`, without a Python call for the usual argument."""
    name = parameter.name
    pointer = f"_of_{name}" if is_handle(parameter) else name
    return [
        f"if {pointer}.__class__ is not _kind_{name}: _forget_record({name})",
        f"elif (_known := _records.pop(_bytes({pointer}), None)) is not None: _known.drop()",
    ]


def _noting(binding: Binding) -> Callable[..., None]:
    def noted(*arguments: Any) -> None:
        from .. import descriptors

        getattr(descriptors, f"note_{binding.noted}")(*arguments)

    return noted


# --- handles and descriptors that come and go -----------------------------------------------------
# Destroying an object sets every variable that holds it to NULL; a second destroy is refused.


def destroyed(binding: Binding) -> Fragment | None:
    if "Destroy" in binding.name:
        (handle,) = binding.parameters
        return Fragment(
            before=[
                f"if _is_destroyed({handle.name}):",
                f"    return _refused({_BAD_PARAM}, {{args}}, "
                f"'{handle.name} was destroyed already')",
                f"_address_before = _address({handle.name})",
            ],
            success=[f"_destroyed({handle.name}, _address_before)"],
            scope={
                "_is_destroyed": live.is_destroyed,
                "_address": live.address,
                "_destroyed": live.destroyed,
            },
        )
    pointers = [
        p.name
        for p in binding.parameters
        if p.type.kind == "pointer"
        and p.direction != "in"
        and issubclass(p.type.base, OpaquePointer)
    ]
    if not pointers:
        return None
    if binding.name == "cudnnCreate":
        return Fragment(
            success=[f"_created({pointers[0]})", f"_note_gpu({pointers[0]})"],
            scope={"_created": live.created, "_note_gpu": _note_gpu},
        )
    if "Create" in binding.name:
        return Fragment(success=[f"_created({pointers[0]})"], scope={"_created": live.created})
    return Fragment(
        success=[f"_read_back({', '.join(pointers)})"], scope={"_read_back": _read_back}
    )


def _note_gpu(argument: object) -> None:
    mode.runtime.handle_created(argument)


def _read_back(*arguments: object) -> None:
    """Note the new variables that hold descriptors read back from another descriptor."""
    for argument in arguments:
        variable = live.out_variable(argument)
        if isinstance(variable, OpaquePointer):
            live.named(variable, live.address(variable))


# --- a callback: C keeps only its address ---------------------------------------------------------

_kept: list[tuple[Any, ...]] = []


def callback(binding: Binding) -> Fragment | None:
    if not any(
        p.type.kind == "value" and p.type.base is cudnnCallback_t for p in binding.parameters
    ):
        return None
    return Fragment(success=["_kept[:] = [{args}]"], scope={"_kept": _kept})
