"""``Handle``: on the reference device, and what it says without any device."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from programs import printed

from cudnn_ctypes import BadParamError, ClosedError, Handle, raw, use_reference_device


@pytest.fixture(autouse=True)
def _reference_device(request: pytest.FixtureRequest) -> Any:
    if request.node.get_closest_marker("gpu"):
        yield
        return
    with use_reference_device():
        yield


class Stream:
    def __init__(self, address: int, version: int = 0) -> None:
        self.words = version, address

    def __cuda_stream__(self) -> tuple[int, int]:
        return self.words


class TestOnTheReferenceDevice:
    def test_it_says_so(self) -> None:
        with Handle() as handle:
            assert handle.on_reference_device
            assert repr(handle) == f"Handle(reference device, cuDNN {raw.load().version_text})"
        assert repr(handle) == "Handle(closed)"

    def test_streams(self) -> None:
        with Handle() as handle:
            assert handle.stream == 0
            stream = Stream(0x1234)
            handle.stream = stream
            assert handle.stream is stream
            seen = raw.cudaStream_t()
            raw.cudnnGetStream(handle, seen)
            assert seen.value == 0x1234
            handle.synchronize()
        with Handle(stream=0x77) as handle:
            assert handle.stream == 0x77

    def test_streams_that_alternate_keep_their_memory(self) -> None:
        with Handle() as handle:

            def allocators(*streams: Any) -> list[Any]:
                found = []
                for handle.stream in streams:
                    found.append(handle.allocator)
                return found

            one, two = Stream(0x1000), Stream(0x2000)
            first, second, *again = allocators(one, two, one, two, 0)
            assert first is again[0] is not second is again[1]
            # A stream that was destroyed, and another one at its address.
            assert allocators(Stream(0x1000))[0] is not first
            # The longest unused of many goes.
            allocators(two, *range(0x3000, 0x3007))
            assert allocators(two)[0] is second
            allocators(*range(0x4000, 0x4008))
            assert allocators(two)[0] is not second

    def test_what_is_no_stream(self) -> None:
        unknown = Stream(0x1000, version=1)
        with Handle() as handle:
            for wrong, message in (("default", "expected None, an add"), (unknown, "version 1")):
                with pytest.raises(TypeError, match=rf"^stream: {message}"):
                    handle.stream = wrong
            with pytest.raises(ValueError, match=r"^stream: -1 is no"):
                handle.stream = -1
            assert handle.stream == 0

    def test_a_failure_while_configuring_closes_it(self) -> None:
        from cudnn_ctypes.reference.device import made_up_handles

        before = len(made_up_handles.open_handles)
        with pytest.raises(TypeError, match=r"^stream: ") as caught:
            Handle(stream="default")
        assert len(made_up_handles.open_handles) == before  # while the traceback keeps it alive
        del caught

    def test_closed(self) -> None:
        handle = Handle()
        handle.close()
        handle.close()
        for use in (
            lambda: handle.stream,
            lambda: handle.stream_pointer,
            lambda: handle.allocator,
            lambda: raw.cudnnSetStream(handle, None),
        ):
            with pytest.raises(ClosedError, match="this Handle is closed"):
                use()

    def test_a_raw_handle_that_was_destroyed(self) -> None:
        handle = raw.cudnnHandle_t()
        raw.cudnnCreate(handle)
        alias, unknown = raw.cudnnHandle_t(), ctypes.c_void_p(handle.value)
        alias.value = handle.value
        raw.cudnnDestroy(handle)
        with pytest.raises(BadParamError, match="handle was destroyed"):
            raw.cudnnSetStream(alias, None)
        with pytest.raises(ClosedError, match="this handle of the reference device was destroyed"):
            raw.cudnnSetStream(ctypes.cast(unknown, raw.cudnnHandle_t), None)


class TestWithoutAGpu:
    PROGRAM = """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
        from cudnn_ctypes import Handle, raw
        try:
            Handle()
        except Exception as error:
            print(type(error).__name__)
            print(str(error).replace(chr(10), " "))
    """

    @pytest.mark.parametrize(
        ("device", "wanted", "reason"),
        [
            ("", "NotInitializedError", "  hint: cuDNN found no usable NVIDIA GPU or driver. To"),
            ("device=0", "NoDeviceError", ""),
            ("device='reference'", "TypeError", ""),
        ],
    )
    def test_the_message_says_how_to_use_the_reference_device(self, device, wanted, reason):
        kind, text = printed(self.PROGRAM.replace("Handle()", f"Handle({device})"))
        assert kind == wanted
        assert reason in text
        assert "use_reference_device()" in text
        assert "CUDNN_CTYPES_DEVICE=reference" in text


@pytest.mark.gpu
class TestOnAGpu:
    def test_it_names_the_gpu(self) -> None:
        with Handle(device=0) as handle:
            assert handle.device.name in repr(handle)
            assert not handle.on_reference_device

    def test_streams_of_cuda_core(self) -> None:
        from cuda.core import Device

        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        with Handle(stream=stream) as handle:
            assert handle.stream is stream
            seen = raw.cudaStream_t()
            raw.cudnnGetStream(handle, seen)
            assert seen.value == int(stream.handle)
            handle.synchronize()

    def test_no_such_gpu(self) -> None:
        with pytest.raises(Exception, match=r"(?i)device|ordinal"):
            Handle(device=4096)
