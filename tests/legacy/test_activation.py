"""``ActivationDescriptor`` against what was set."""

from __future__ import annotations

from cudnn_ctypes import ActivationDescriptor, raw

NAN = {
    "propagate_nan": raw.CUDNN_PROPAGATE_NAN,
    "not_propagate_nan": raw.CUDNN_NOT_PROPAGATE_NAN,
}


def test_a_new_one_is_a_plain_relu() -> None:
    with ActivationDescriptor() as descriptor:
        assert repr(descriptor) == (
            "ActivationDescriptor(mode='relu', nan_propagation='propagate_nan', coef=0.0, "
            "swish_beta=1.0)"
        )


def test_names_are_those_of_c_too() -> None:
    for name in ("CUDNN_ACTIVATION_CLIPPED_RELU", "Clipped-ReLU", "clipped_relu"):
        with ActivationDescriptor(name) as descriptor:
            assert descriptor.mode == raw.CUDNN_ACTIVATION_CLIPPED_RELU
