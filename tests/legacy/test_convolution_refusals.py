"""What operations refuse before C reads or writes out of bounds, and how they say so."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    BadParamError,
    ClosedError,
    ConvolutionDescriptor,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    NotSupportedError,
    TensorDescriptor,
    raw,
)

X, W, Y = (2, 4, 6, 5), (8, 4, 3, 3), (2, 8, 6, 5)


def tensor(*shape: int, dtype: Any = np.float32) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ones(shape, dtype))


@pytest.fixture
def conv() -> Any:
    with ConvolutionDescriptor(1) as made:
        yield made


class TestMemory:
    def test_a_tensor_that_its_library_does_not_give(
        self, handle: Handle, conv: ConvolutionDescriptor
    ) -> None:
        torch = pytest.importorskip("torch")
        place = "cpu" if handle.on_reference_device else "cuda"
        if place == "cuda" and not torch.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        x = torch.ones(X, device=place, requires_grad=True)
        with pytest.raises(BufferError, match=r"^x: .*gradient"):
            cudnn.convolution_forward(handle, x, tensor(*W), conv)

    def test_a_buffer_that_is_too_small(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w = tensor(*X), tensor(*W)
        needed = 4 * 2 * 8 * 6 * 5
        with (
            TensorDescriptor(Y) as y_desc,
            DeviceBuffer(needed - 1) as y,
            pytest.raises(ValueError, match=f"^y: {needed - 1} bytes .*{needed} bytes"),
        ):
            cudnn.convolution_forward(handle, x, w, conv, y, y_desc=y_desc)
        with (
            TensorDescriptor(X, strides=(1000, 100, 10, 1)) as x_desc,
            pytest.raises(ValueError, match=r"^x: 960 bytes are too small"),
        ):
            cudnn.convolution_forward(handle, x, w, conv, x_desc=x_desc)

    def test_a_data_type_that_the_descriptor_does_not_say(
        self, handle: Handle, conv: ConvolutionDescriptor
    ) -> None:
        x = tensor(*X, dtype=np.float64)
        with (
            TensorDescriptor(X, "float32") as x_desc,
            pytest.raises(TypeError, match=r"^x: a tensor of float64, but x_desc says float32"),
        ):
            cudnn.convolution_forward(handle, x, tensor(*W), conv, x_desc=x_desc)

    def test_read_only(self, reference_handle: Handle, conv: ConvolutionDescriptor) -> None:
        class ReadOnly:
            """A tensor of a library that forbids writing."""

            def __init__(self, array: np.ndarray[Any, Any]) -> None:
                self.array = array
                self.array.flags.writeable = False

            def __dlpack__(self, **options: Any) -> object:
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self) -> tuple[int, int]:
                return self.array.__dlpack_device__()

        y = ReadOnly(np.zeros(Y, np.float32))
        with pytest.raises((ValueError, BufferError), match=r"^y: .*read-?only"):
            cudnn.convolution_forward(reference_handle, tensor(*X), tensor(*W), conv, y)


class TestShapes:
    @pytest.mark.parametrize("shape", [(2, 8, 6, 4), (2, 8, 5, 5), (2, 7, 6, 5), (1, 8, 6, 5)])
    def test_a_result_that_does_not_fit(
        self, handle: Handle, conv: ConvolutionDescriptor, shape: tuple[int, ...]
    ) -> None:
        y = tensor(*shape)
        with pytest.raises(ValueError, match=r"^y: "):
            cudnn.convolution_forward(handle, tensor(*X), tensor(*W), conv, y)
        assert (y.numpy() == 1).all()

    def test_channels(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        with pytest.raises(ValueError, match=r"x: it has 4 channels, but filters w .* need 3"):
            cudnn.convolution_forward(handle, tensor(*X), tensor(8, 3, 3, 3), conv)

    def test_gradients_need_a_shape(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        with pytest.raises(ValueError, match=r"^dx: pass dx_shape or dx"):
            cudnn.convolution_backward_data(handle, conv, w=tensor(*W), dy=tensor(*Y))
        with pytest.raises(ValueError, match=r"^dw: pass dw_shape or dw"):
            cudnn.convolution_backward_filter(handle, conv, x=tensor(*X), dy=tensor(*Y))

    @pytest.mark.parametrize("shape", [(7,), (1, 7, 1, 1), (8, 1)])
    def test_bias(
        self, handle: Handle, conv: ConvolutionDescriptor, shape: tuple[int, ...]
    ) -> None:
        with pytest.raises(ValueError, match=r"^db: "):
            cudnn.convolution_backward_bias(handle, dy=tensor(*Y), db=tensor(*shape))
        with pytest.raises(ValueError, match=r"^bias: "):
            cudnn.convolution_bias_activation_forward(
                handle, tensor(*X), tensor(*W), conv, tensor(*shape), "relu"
            )

    def test_a_bias_with_gaps(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        bias = DeviceTensor.empty((8,), "float32", strides=(2,))
        with pytest.raises(ValueError, match=r"^bias: elements must be adjacent"):
            cudnn.convolution_bias_activation_forward(
                handle, tensor(*X), tensor(*W), conv, bias, "relu"
            )

    def test_a_dimension_of_zero(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x = DeviceTensor.empty((2, 4, 0, 5), "float32")
        with pytest.raises(BadParamError, match="every dimension must be at least 1"):
            cudnn.convolution_forward(handle, x, tensor(*W), conv)

    def test_filters_with_gaps(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        w = DeviceTensor.empty(W, "float32", strides=(72, 18, 6, 2))
        with pytest.raises(ValueError, match=r"^w: .*dense"):
            cudnn.convolution_forward(handle, tensor(*X), w, conv)


class TestOptions:
    def test_beta_without_a_result(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w, dy = tensor(*X), tensor(*W), tensor(*Y)
        with pytest.raises(ValueError, match=r"^y: needed with beta=1"):
            cudnn.convolution_forward(handle, x, w, conv, beta=1)
        with pytest.raises(ValueError, match=r"^dx: needed with beta=1"):
            cudnn.convolution_backward_data(handle, conv, w=w, dy=dy, dx_shape=X, beta=1)
        with pytest.raises(ValueError, match=r"^dw: needed with beta=1"):
            cudnn.convolution_backward_filter(handle, conv, x=x, dy=dy, dw_shape=W, beta=1)
        with pytest.raises(ValueError, match=r"^db: needed with beta=1"):
            cudnn.convolution_backward_bias(handle, dy=dy, beta=1)

    def test_alpha_that_is_no_number(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        with pytest.raises(TypeError, match="alpha"):
            cudnn.convolution_forward(
                handle,
                tensor(*X),
                tensor(*W),
                conv,
                alpha="1",  # type: ignore[arg-type]
            )

    def test_z(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        given = (handle, tensor(*X), tensor(*W), conv, tensor(8), "relu")
        with pytest.raises(ValueError, match=r"^z: needed with alpha2=0.5"):
            cudnn.convolution_bias_activation_forward(*given, alpha2=0.5)

    def test_an_activation_that_cudnn_does_not_fuse(
        self, handle: Handle, conv: ConvolutionDescriptor
    ) -> None:
        given = (handle, tensor(*X), tensor(*W), conv, tensor(8))
        with pytest.raises(NotSupportedError):
            cudnn.convolution_bias_activation_forward(*given, "tanh")
        with pytest.raises(ValueError, match=r"^activation: mode: "):
            cudnn.convolution_bias_activation_forward(*given, "rely")
        with pytest.raises(TypeError, match=r"^activation: expected an? ActivationDescriptor"):
            cudnn.convolution_bias_activation_forward(*given, conv)  # type: ignore[arg-type]

    def test_an_algorithm_of_another_direction(
        self, handle: Handle, conv: ConvolutionDescriptor
    ) -> None:
        with pytest.raises(TypeError, match=r"^algorithm: expected a cudnnConvolutionFwdAlgo_t"):
            cudnn.convolution_forward(
                handle,
                tensor(*X),
                tensor(*W),
                conv,
                algorithm=raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
            )
        with pytest.raises(ValueError, match=r"^algorithm: .*did you mean 'winograd'"):
            cudnn.convolution_forward(handle, tensor(*X), tensor(*W), conv, algorithm="winnograd")

    def test_types_without_a_kernel(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        conv.set_nd((1, 1), (1, 1), (1, 1), "cross_correlation", "float64")
        x, w = tensor(*X, dtype=np.float16), tensor(*W, dtype=np.float16)
        with pytest.raises(NotSupportedError) as caught:
            cudnn.convolution_forward(handle, x, w, conv)
        assert "implicit_gemm" in str(caught.value)
        named = "(x float16 NCHW, w float16 NCHW, y float16 NCHW; computed in float64)"
        assert f"no algorithm takes these operands together {named}" in caught.value.hint
        assert caught.value.source == "cudnn_ctypes"

    def test_sums_of_int8_as_int32(self, handle: Handle) -> None:
        x, w = tensor(*X, dtype=np.int8), tensor(*W, dtype=np.int8)
        with ConvolutionDescriptor(1, compute_data_type="int32") as conv:  # noqa: SIM117
            with pytest.raises(ValueError, match=r"^y: .* int32 result"):
                cudnn.convolution_forward(handle, x, w, conv, data_type="int32")


class TestWorkspace:
    def test_too_small(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w, y = tensor(*X), tensor(*W), tensor(*Y)
        image, filters, output = TensorDescriptor(X), FilterDescriptor(W), TensorDescriptor(Y)
        with image, filters, output:
            forward = cudnn.ConvolutionForward(image, filters, conv, output)
            rows = [row for row in forward.algorithms(handle) if row.usable]
            sizes = {row: forward.workspace_size(handle, row) for row in rows}
        refusals: dict[int, str] = {}
        for row, size in sizes.items():
            if size > 1:
                with DeviceBuffer(size - 1) as workspace:
                    try:
                        cudnn.convolution_forward(
                            handle, x, w, conv, y, algorithm=row, workspace=workspace
                        )
                    except ValueError as error:
                        refusals[size] = str(error)
        # An algorithm may do with less than it asks for; that all of them do would be a mistake.
        assert refusals
        for size, text in refusals.items():
            assert text.startswith(f"workspace: {size - 1} bytes are too small")
            assert text.endswith(f"needs {size} bytes")

    def test_an_address_has_no_size(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w, workspace = tensor(*X), tensor(*W), DeviceBuffer(1 << 20)
        with workspace, pytest.raises(TypeError, match=r"^workspace: the size behind an address"):
            cudnn.convolution_forward(handle, x, w, conv, workspace=workspace.ptr)

    def test_nothing_fits(self, handle: Handle) -> None:
        shape, taps = (1, 4, 5, 5, 5), (4, 4, 3, 3, 3)
        image, filters = TensorDescriptor(shape, "float64"), FilterDescriptor(taps, "float64")
        conv = ConvolutionDescriptor((1, 1, 1), compute_data_type="float64")
        with image, filters, conv:
            table = cudnn.ConvolutionForward(image, filters, conv, image).algorithms(handle)
        with pytest.raises(NotSupportedError, match="needs a workspace"):
            table.choose(memory_limit=min(row.memory for row in table if row.usable) - 1)


class TestObjects:
    def test_closed_handle(self, conv: ConvolutionDescriptor) -> None:
        with cudnn.use_reference_device():
            handle = Handle()
            handle.close()
            with pytest.raises(ClosedError, match="Handle"):
                cudnn.convolution_forward(handle, tensor(*X), tensor(*W), conv)

    def test_arguments_of_the_wrong_kind(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w = tensor(*X), tensor(*W)
        forward: Any = cudnn.convolution_forward
        with pytest.raises(TypeError, match=r"^handle: expected a Handle"):
            forward(x, w, conv, handle)
        with pytest.raises(TypeError, match=r"^conv: expected a ConvolutionDescriptor"):
            forward(handle, x, w, w)
        with FilterDescriptor(X) as desc:
            with pytest.raises(TypeError, match=r"^x_desc: expected a TensorDescriptor"):
                forward(handle, x, w, conv, x_desc=desc)
            with pytest.raises(TypeError, match=r"^y_desc: expected a TensorDescriptor"):
                forward(handle, x, w, conv, tensor(*Y), y_desc=desc)
        with TensorDescriptor(W) as desc:
            with pytest.raises(TypeError, match=r"^w_desc: expected a FilterDescriptor"):
                forward(handle, x, w, conv, w_desc=desc)
            with pytest.raises(TypeError, match=r"^w_desc: expected a FilterDescriptor"):
                cudnn.ConvolutionForward(desc, desc, conv, desc)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^x_desc: expected a TensorDescriptor"):
            forward(handle, x, w, conv, x_desc=conv)
        with pytest.raises(TypeError, match=r"^x: expected a tensor"):
            cudnn.activation_forward(handle, None, "relu")
        with pytest.raises(TypeError, match=r"^beta: expected a number"):
            forward(handle, x, w, conv, beta=np.ones(2))

    def test_tensors_without_memory_to_lend(self, handle: Handle) -> None:
        torch: Any = pytest.importorskip("torch")
        with tensor(*W) as weight:
            for lent in (
                torch.ones(2, 3).to_sparse(),
                torch.ones(1, 3, 4, 4, device="meta"),
                torch.ones(1, 3, 4, 4, requires_grad=True),
            ):
                with pytest.raises((BufferError, TypeError), match=r"^x: "):
                    cudnn.activation_forward(handle, lent, "relu")
                with pytest.raises((BufferError, TypeError), match=r"^x: "):
                    cudnn.causal_convolution_forward(lent, weight)


class TestLifetime:
    def test_a_result_is_closed_if_the_call_fails(
        self, handle: Handle, conv: ConvolutionDescriptor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[DeviceTensor] = []
        empty = DeviceTensor.empty

        def spy(*args: Any, **options: Any) -> DeviceTensor:
            made.append(empty(*args, **options))
            return made[-1]

        monkeypatch.setattr(DeviceTensor, "empty", spy)
        x, w = empty(X, "float32"), empty(W, "float16")
        with pytest.raises((NotSupportedError, BadParamError)):
            cudnn.convolution_forward(handle, x, w, conv)
        assert [tensor.closed for tensor in made] == [True]

    def test_descriptors_made_for_a_call_are_closed(
        self, handle: Handle, conv: ConvolutionDescriptor
    ) -> None:
        x, w = tensor(*X), tensor(*W)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = cudnn.convolution_forward(handle, x, w, conv)
            memory = weakref.ref(y)
            with pytest.raises(ValueError, match=r"^y: "):
                cudnn.convolution_forward(handle, x, w, conv, x)
            del y
            gc.collect()
        assert memory() is None
        assert not caught, "what is left open warns"
