"""Typed backend descriptors: attributes by short name, values checked before C sees them."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ... import raw
from ...absent_gpu.driver_stub import ensure_driver
from ...arguments import shown, suggestion
from ...errors import ClosedError, CudnnError, NotSupportedError, SymbolNotFoundError
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import cudnnBackendDescriptorType_t as Kind
from ...raw import cudnnStatus_t
from ...raw.attributes import (
    ATTRIBUTES,
    KINDS,
    Attribute,
    code_of,
    element_type,
    kind_name,
    owner_and_short_name,
)
from ...raw.values import described
from ...resource import Resource
from .values import Encoded, decode, encode, require_attribute, require_kind, values_of


def as_kind(kind: Any) -> Kind:
    """The descriptor type that `kind` means: an enumerator, or its name, short or C's.

    Raises TypeError if `kind` is something else. Raises ValueError if there is no such type.
    """
    if isinstance(kind, Kind):
        return kind
    if not isinstance(kind, str):
        raise TypeError(
            f"kind: expected a cudnnBackendDescriptorType_t or a name such as 'tensor', "
            f"got {kind!r} ({type(kind).__name__})"
        )
    if kind in Kind.__members__:
        return Kind[kind]
    if kind.lower() not in KINDS:
        raise ValueError(
            f"cuDNN has no backend descriptor {kind!r}{suggestion(kind.lower(), KINDS)}"
        )
    return KINDS[kind.lower()]


def attribute(kind: Kind, name: str | Name) -> Attribute:
    """The attribute `name` of a descriptor type.

    - `name`: short ("data_type"), with the descriptor type ("tensor.data_type"), or C's.

    Raises AttributeError if this descriptor type has no such attribute; names like it are
    suggested.
    """
    own = ATTRIBUTES[kind]
    if isinstance(name, Name):
        owner, short = owner_and_short_name(name)
        if owner == kind:
            return own[short]
        raise AttributeError(f"{name} is an attribute of {kind_name(owner)}, not {kind_name(kind)}")
    if name in Name.__members__:
        return attribute(kind, Name[name])
    short = name.removeprefix(f"{kind_name(kind)}.")
    if short not in own:
        listed = ", ".join(own)
        raise AttributeError(
            f"{kind_name(kind)} has no attribute {short!r}{suggestion(short, own)}; it has {listed}"
        )
    return own[short]


# Reading the attributes of a finalized descriptor with ``cudnnBackendGetAttribute``.
#
# These take the raw handle: in an error message the descriptor's own ``repr`` would read again.

_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR


def read_values(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute) -> Any:
    """The values of an attribute that holds no descriptors, in the type in which it has them."""
    refusal: CudnnError | None = None
    for type_ in attribute.types:
        if type_ == _DESCRIPTOR:
            continue
        try:
            count = _count(handle, attribute, type_) if attribute.is_array else 1
            array = (element_type(type_) * max(count, 1))()
            written = ctypes.c_int64()
            raw.cudnnBackendGetAttribute(handle, attribute.name, type_, count, written, array)
            return decode(attribute, type_, array, min(count, written.value))
        except CudnnError as error:
            refusal = refusal or error
    try:
        assert refusal is not None
        raise refusal
    finally:
        del refusal  # else it would keep this call's frames, and the descriptor, alive


def descriptor_count(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute) -> int:
    """For how many descriptors room is to be made."""
    if attribute.short_name == "knob_choices":  # cuDNN counts none
        return len(raw.cudnnBackendKnobType_t)
    return _count(handle, attribute, _DESCRIPTOR) if attribute.is_array else 1


def fill_descriptors(
    handle: raw.cudnnBackendDescriptor_t,
    attribute: Attribute,
    made: Sequence[raw.cudnnBackendDescriptor_t],
) -> int:
    """Have cuDNN fill created descriptors; returns how many it filled."""
    count, written = len(made), ctypes.c_int64()
    array = (ctypes.c_void_p * max(count, 1))(*(each.value for each in made))
    raw.cudnnBackendGetAttribute(handle, attribute.name, _DESCRIPTOR, count, written, array)
    return min(count, written.value)


def _count(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute, type_: Type) -> int:
    count = ctypes.c_int64()
    raw.cudnnBackendGetAttribute(handle, attribute.name, type_, 0, count, None)
    return count.value


_LONGEST = 60  # characters of a value that are shown


def line(descriptor: BackendDescriptor) -> str:
    """Its type and the values that it holds, on one line; descriptors by their type."""
    parts = [f"{name}={_shown(value)}" for name, value in descriptor.held().items()]
    state = [] if descriptor.finalized else ["not finalized"]
    return ", ".join([repr(descriptor.name), *parts, *state])


def text(descriptor: BackendDescriptor) -> str:
    """A descriptor and all that it refers to, two spaces deeper each; each in full once."""
    return "\n".join("  " * depth + entry for depth, entry in _entries(descriptor, "", 0, []))


def _entries(
    descriptor: BackendDescriptor, label: str, depth: int, seen: list[BackendDescriptor]
) -> Iterator[tuple[int, str]]:
    title = f"{label}: {descriptor.name}" if label else descriptor.name
    if descriptor.closed:
        yield depth, f"{title} (closed)"
        return
    if any(each is descriptor for each in seen):
        yield depth, f"{title} ({_identity(descriptor)}as above)"
        return
    seen.append(descriptor)
    yield depth, title if descriptor.finalized else f"{title} (not finalized)"
    values = descriptor.held()  # before the children: it reads those of an engine config
    children = list(descriptor.children())
    with_children = {name for name, _ in children}
    for name, value in values.items():
        if name not in with_children:
            yield depth + 1, f"{name} = {_shown(value)}"
    for name, child in children:
        yield from _entries(child, name, depth + 1, seen)


def _identity(descriptor: BackendDescriptor) -> str:
    uid = descriptor.held().get("unique_id")
    return "" if uid is None else f"unique_id {uid}, "


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        whole = "[" + ", ".join(_shown(each) for each in value) + "]"
    else:
        name = getattr(getattr(value, "descriptor", value), "name", None)
        known = hasattr(getattr(value, "descriptor", value), "kind")
        whole = f"<{name}>" if known else shown(value)
    return whole if len(whole) <= _LONGEST else whole[: _LONGEST - 1] + "…"


_AS_GIVEN = frozenset({Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, Type.CUDNN_TYPE_HANDLE})
"""Types that are read as the object that was set, where C has an address."""

_GIVING_BACK = (
    Kind.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
    Kind.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
)
"""Kinds whose descriptors cuDNN gives back; those of operations it does not."""


class BackendDescriptor(Resource[raw.cudnnBackendDescriptor_t]):
    """A descriptor of the backend API; follows ``cudnnBackendCreateDescriptor``.

    Parameters
    ----------
    kind : str or cudnnBackendDescriptorType_t
        "tensor" for ``CUDNN_BACKEND_TENSOR_DESCRIPTOR``, and so on.
    **attributes
        Set at once, in this order; see `set`.

    Raises
    ------
    SymbolNotFoundError
        If the loaded cuDNN lacks this descriptor or an attribute; the message says which has it.
    NoDeviceError
        Without an NVIDIA driver, on a machine that has no stand-in for it.

    Examples
    --------
    >>> x = BackendDescriptor("tensor", unique_id=1, data_type="float16", byte_alignment=16,
    ...                       dimensions=[1, 8, 4, 4], strides=[128, 1, 32, 8]).finalize()
    >>> x["dimensions"]
    [1, 8, 4, 4]
    """

    _waits = True
    _is_backend = True  # for the guard of attributes, which finds it in handles too

    def __init__(self, kind: str | Kind, **attributes: Any) -> None:
        self.kind: Kind = as_kind(kind)
        require_kind(self.kind)
        # Before the first descriptor: cuDNN tries once in a process to load what needs a driver.
        ensure_driver()
        handle = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(code_of(self.kind), handle)
        # By short name: what was set, and what must live as long as this descriptor.
        self._given: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}
        self._owned: list[BackendDescriptor] = []
        self._finalized = self._was_read = False
        super().__init__(handle, raw.cudnnBackendDestroyDescriptor, parents=[self._kept])
        try:
            for name, value in attributes.items():
                self.set(name, value)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The short name of its type."""
        return kind_name(self.kind)

    @property
    def finalized(self) -> bool:
        return self._finalized

    # --- setting ---------------------------------------------------------------------------------

    def set(self, name: str, value: Any) -> None:
        """Set one attribute; follows ``cudnnBackendSetAttribute``.

        Parameters
        ----------
        name : str
            Short ("data_type") or C's (``CUDNN_ATTR_TENSOR_DATA_TYPE``).
        value
            What the attribute holds: bool, int, float, Fraction; an enumerator or its short name;
            for data types anything that ``as_data_type`` takes; finalized descriptors; a
            ``Handle``; device memory; a list of these where it holds several. None leaves it
            unset.

        Raises
        ------
        AttributeError
            If this descriptor has no such attribute; names like it are suggested.
        TypeError, ValueError
            If the value is not what the attribute holds, or the descriptor is finalized.
        """
        known = attribute(self.kind, name)
        self._as_parameter_  # noqa: B018  raises if this is closed
        if self._finalized:
            raise ValueError(f"{known.full_name}: this {self.name} is finalized; make a new one")
        if value is None:
            return
        if not known.settable:
            raise ValueError(f"{known.full_name} is computed by cuDNN and cannot be set")
        require_attribute(known)
        encoded = self._encoded(known, value)
        count = len(encoded.array)
        raw.cudnnBackendSetAttribute(
            self, known.name, encoded.type, count, encoded.array if count else None
        )
        if encoded.type in _AS_GIVEN:
            given: Any = list(encoded.kept) if known.is_array else encoded.kept[0]
        else:
            given = decode(known, encoded.type, encoded.array, count)
        self._given[known.short_name] = given
        self._kept[known.short_name] = encoded.kept

    __setitem__ = set

    def reset(self) -> None:
        """Unset every attribute; follows ``cudnnBackendInitialize``.

        Raises
        ------
        ValueError
            If this is finalized: other descriptors may rely on what it holds.
        """
        if self._finalized:
            raise ValueError(f"this {self.name} is finalized; make a new one")
        raw.cudnnBackendInitialize(self)
        self._given.clear()
        self._kept.clear()

    @staticmethod
    def _encoded(known: Attribute, value: Any) -> Encoded:
        if Type.CUDNN_TYPE_BACKEND_DESCRIPTOR not in known.types:
            return encode(known, value)
        items = [getattr(item, "descriptor", item) for item in values_of(known, value)]
        if len(known.types) > 1 and not any(isinstance(i, BackendDescriptor) for i in items):
            return encode(known, value)
        for position, item in enumerate(items):
            place = f"{known.full_name}[{position}]" if known.is_array else known.full_name
            _check_child(place, known, item)
        array = (ctypes.c_void_p * len(items))(*(item._as_parameter_.value for item in items))
        return Encoded(Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, array, tuple(items))

    def finalize(self) -> BackendDescriptor:
        """Have cuDNN check the attributes; follows ``cudnnBackendFinalize``.

        Returns
        -------
        BackendDescriptor
            This one, which cannot be changed any more.

        Raises
        ------
        CudnnError
            If cuDNN refuses; the descriptor is closed then.
        """
        if self._finalized:
            raise ValueError(f"this {self.name} is finalized already")
        for name, child in self.children():
            if child.closed:
                raise ClosedError(f"{self.name}.{name}: this {child.name} is closed")
        try:
            raw.cudnnBackendFinalize(self)
        except BaseException:
            self.close()
            raise
        self._finalized = True
        return self

    # --- reading ---------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """One attribute; follows ``cudnnBackendGetAttribute``.

        Returns
        -------
        object
            As it was set, if this is not finalized, or cuDNN does not tell; else as cuDNN has it,
            enumerators as members.
            Descriptors and handles are those that were set; the config of a plan is read from
            cuDNN once it is closed. Descriptors that cuDNN computed are new objects at each call,
            to be closed by the caller; what such an object refers to is closed with it. A list if
            the attribute holds several values, None if it holds none.

        Raises
        ------
        CudnnError
            If cuDNN does not tell; of an operation graph that was itself read, its `ops`.
        """
        known = attribute(self.kind, name)
        self._as_parameter_  # noqa: B018  raises if this is closed
        value = self._given.get(known.short_name)
        as_given = value and _AS_GIVEN.intersection(known.types)
        if not self._finalized or (as_given and not self._lost(known)):
            return value
        require_attribute(known)
        if known.types[0] != Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
            try:
                return read_values(self._as_parameter_, known)
            except NotSupportedError:  # of variant packs, for example
                if value is None:
                    raise
                return value
        read = self._read_descriptors(known)
        if known.settable:
            self._given[known.short_name] = read
            self._kept[known.short_name] = tuple(read if known.is_array else filter(None, [read]))
            self._owned += self._kept[known.short_name]
        return read

    __getitem__ = get

    def read_back(self, name: str) -> Any:
        """A descriptor attribute as cuDNN has it: new objects even of those that were set here."""
        return self._read_descriptors(attribute(self.kind, name))

    def _read_descriptors(self, known: Attribute) -> Any:
        handle = self._as_parameter_
        if len(known.wants) > 1:
            raise NotSupportedError(
                "cudnnBackendGetAttribute",
                cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
                arguments={"attributeName": str(known.name)},
                hint="cuDNN does not say of which types these descriptors are, and fills only "
                "those of the right one; read them where they were set",
            )
        (wanted,) = known.wants
        descriptors = [BackendDescriptor(wanted) for _ in range(descriptor_count(handle, known))]
        used = 0
        try:
            used = fill_descriptors(handle, known, [each._as_parameter_ for each in descriptors])
            for each in descriptors[:used]:
                each._finalized = True
                each._was_read = True
        finally:
            # cuDNN can count more than it fills. The others have no contents, and it crashes on
            # them.
            for each in descriptors[used:]:
                each.close()
        if known.is_array:
            return descriptors[:used]
        return descriptors[0] if used else None

    def held(self) -> dict[str, Any]:
        """All attributes that hold something, by short name; what cuDNN does not tell is left out.

        Descriptors are those that were set; of an engine config that cuDNN made, its engine and
        knobs. Other descriptors that cuDNN computes are not read.
        """
        found: dict[str, Any] = {}
        for name, known in ATTRIBUTES[self.kind].items():
            is_descriptor = known.types[0] == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR
            value = self._given.get(name)
            reads = not is_descriptor or self._reads_back(known) or self._lost(known)
            if self._finalized and reads:
                # What cuDNN does not tell, or the loaded version does not know.
                with contextlib.suppress(CudnnError, SymbolNotFoundError):
                    value = self.get(name)
            if value is not None:
                found[name] = value
        return found

    def _reads_back(self, known: Attribute) -> bool:
        wants_graph = Kind.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR in known.wants
        return known.settable and self._was_read and not wants_graph

    def _lost(self, known: Attribute) -> bool:
        """Whether what was set is closed, and cuDNN gives it back: a plan's config, its engine."""
        kept = self._kept.get(known.short_name, ())
        return self.kind in _GIVING_BACK and any(getattr(each, "closed", False) for each in kept)

    def close(self) -> None:
        """Destroy it. What it refers to stays, but what was read from it is destroyed too."""
        super().close()
        while self._owned:
            self._owned.pop().close()

    def children(self) -> Iterator[tuple[str, BackendDescriptor]]:
        """The descriptors that this one refers to, each with the attribute's short name."""
        for name, kept in self._kept.items():
            yield from ((name, each) for each in kept if isinstance(each, BackendDescriptor))

    def walk(self) -> Iterator[BackendDescriptor]:
        """This descriptor and all that it refers to, each once, before those that it refers to."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            each = waiting.pop()
            if id(each) not in seen:
                seen.add(id(each))
                yield each
                waiting += reversed([child for _, child in each.children()])

    def __eq__(self, other: object) -> bool:
        """Whether cuDNN holds the same in both, and in all that they refer to."""
        if self is other:
            return True
        if not isinstance(other, BackendDescriptor):
            return NotImplemented
        if self.kind != other.kind or self._finalized != other._finalized:
            return False
        return self.held() == other.held()

    __hash__: ClassVar[None]  # type: ignore[assignment]

    # --- showing ---------------------------------------------------------------------------------

    def tree(self) -> str:
        """This descriptor and all that it refers to, as indented text."""
        return text(self)

    def __repr__(self) -> str:
        if self.closed:
            return f"BackendDescriptor({self.name!r}, closed)"

        return f"BackendDescriptor({line(self)})"


def _check_child(place: str, known: Attribute, item: Any) -> None:
    wanted = " or ".join(sorted(map(kind_name, known.wants))) if len(known.wants) < 4 else ""
    wanted = wanted or "operation"
    if not isinstance(item, BackendDescriptor):
        raise TypeError(f"{place}: expected a BackendDescriptor ({wanted}), got {described(item)}")
    if item.kind not in known.wants:
        raise TypeError(f"{place}: expected a descriptor of type {wanted}, got {item.name}")
    if item.closed:
        raise ClosedError(f"{place}: this {item.name} is closed")
    if not item.finalized:
        raise ValueError(f"{place}: this {item.name} is not finalized; call its finalize() first")
