"""What descriptors hold: read from C once, and again when a call may have changed it."""

from __future__ import annotations

import threading
from ctypes import c_int
from types import SimpleNamespace

import numpy as np
import pytest

from cudnn_ctypes import errors, raw
from cudnn_ctypes.raw import descriptors, records
from cudnn_ctypes.raw.descriptors import record

FLOAT, HALF = raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF


def kinds() -> list[type]:
    return [kind for name, kind in vars(raw).items() if name.endswith("Descriptor_t")][1:]


def tensor(new, *shape, data_type=FLOAT, layout=raw.CUDNN_TENSOR_NCHW):
    descriptor = new(raw.cudnnTensorDescriptor_t)
    raw.cudnnSetTensorNdDescriptorEx(descriptor, layout, data_type, len(shape), shape)
    return descriptor


def test_spatial_transformer_is_noted_where_c_cannot_be_asked(new):
    descriptor = new(raw.cudnnSpatialTransformerDescriptor_t)
    bilinear = raw.CUDNN_SAMPLER_BILINEAR
    assert record(descriptor) is None
    set_nd = raw.cudnnSetSpatialTransformerNdDescriptor
    set_nd.unchecked(descriptor, bilinear, FLOAT, 4, (2, 3, 8, 9))
    assert record(descriptor) == descriptors.SpatialTransformer((2, 3, 8, 9), FLOAT, bilinear)
    for count in (c_int(4), np.int64(4)):
        data_type = raw.cudnnDataType_t()
        data_type.value = raw.CUDNN_DATA_HALF
        set_nd(descriptor, bilinear, data_type, count, [2, 3, 8, 7])
        held = descriptors.SpatialTransformer((2, 3, 8, 7), raw.CUDNN_DATA_HALF, bilinear)
        assert record(descriptor) == held
    with pytest.raises(errors.CudnnError):
        set_nd(descriptor, bilinear, raw.CUDNN_DATA_INT8, 4, (2, 3, 8, 9))
    assert record(descriptor) is None


def test_what_is_no_descriptor_is_refused():
    with pytest.raises(TypeError, match="expected a descriptor, got 7"):
        record(7)


@pytest.mark.parametrize("unchecked", [False, True])
def test_a_setter_forgets_the_record_also_through_an_alias(new, unchecked: bool):
    descriptor = tensor(new, 1, 2, 3, 4)
    alias = raw.cudnnTensorDescriptor_t()
    alias.value = descriptor.value
    assert record(descriptor).shape == (1, 2, 3, 4)
    assert record(alias) is record(descriptor)  # read from C once
    set_4d = raw.cudnnSetTensor4dDescriptor
    (set_4d.unchecked if unchecked else set_4d)(alias, raw.CUDNN_TENSOR_NCHW, HALF, 5, 6, 7, 8)
    assert (record(descriptor).shape, record(descriptor).data_type) == ((5, 6, 7, 8), HALF)


def test_who_keeps_the_place_of_a_record_sees_that_it_is_forgotten(new):
    descriptor = tensor(new, 1, 2, 3, 4)
    place = records.place(descriptor)
    assert place.token == records.place(tensor(new, 1, 2, 3, 4)).token
    raw.cudnnSetTensor4dDescriptor(descriptor, raw.CUDNN_TENSOR_NCHW, FLOAT, 1, 2, 3, 5)
    assert place.token is None
    assert records.place(descriptor) is not place
    place = records.place(descriptor)
    records.forget(SimpleNamespace(_as_parameter_=descriptor))
    assert place.token is None
    assert records.place(descriptor) is not place
    place = records.place(descriptor)
    raw.cudnnDestroyTensorDescriptor(descriptor)
    assert place.token is None


def test_every_function_that_may_set_a_descriptor_forgets_its_record():
    """The list that the declarations give, against the names of C's functions."""
    forgetting = {
        name: function._binding
        for name, function in raw.FUNCTIONS.items()
        if any("_forget_record" in line for line in _lines(function))
    }
    for name in raw.FUNCTIONS:
        sets = name.startswith(("cudnnSet", "cudnnRNNSetClip", "cudnnDerive", "cudnnRestore"))
        of_nothing = name in ("cudnnSetCallback", "cudnnSetTensor")
        destroys = name.startswith("cudnnDestroy")
        writes = name in (
            "cudnnInitTransformDest",
            "cudnnGetFoldedConvBackwardDataDescriptors",
            "cudnnGetRNNWeightParams",
            "cudnnGetMultiHeadAttnWeights",
            "cudnnMakeFusedOpsPlan",
        )
        assert (name in forgetting) == ((sets and not of_nothing) or destroys or writes), name


def _lines(function: raw.Function) -> list[str]:
    from cudnn_ctypes.raw.guards import lifetime

    fragment = lifetime.changed(function._binding)
    return [] if fragment is None else list(fragment.after)


def test_a_record_read_while_it_is_set_is_not_kept(new, monkeypatch):
    descriptor = tensor(new, 1, 2, 3, 4)
    read, places = records._readers[raw.cudnnTensorDescriptor_t], []

    def slow(handle):
        places.append(records.cache[bytes(handle)])
        found = read(handle)
        other = threading.Thread(
            target=raw.cudnnSetTensor4dDescriptor,
            args=(handle, raw.CUDNN_TENSOR_NCHW, HALF, 5, 6, 7, 8),
        )
        other.start()
        other.join()
        return found

    monkeypatch.setitem(records._readers, raw.cudnnTensorDescriptor_t, slow)
    assert record(descriptor).shape == (1, 2, 3, 4)  # what it was when it was asked for
    assert places[0].token is None
    assert bytes(descriptor) not in records.cache
    monkeypatch.undo()
    assert record(descriptor).shape == (5, 6, 7, 8)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_kind_has_a_repr_when_it_is_new(new, kind: type):
    assert repr(new(kind)).startswith(f"{kind.__name__}(0x")
