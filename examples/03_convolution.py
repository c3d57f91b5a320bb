"""The same 4x4 image and 3x3 kernel with the classes, by every algorithm; timed on a GPU."""

import numpy as np

from cudnn_ctypes import (
    ConvolutionDescriptor,
    ConvolutionForward,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    TensorDescriptor,
    convolution_forward,
)
from cudnn_ctypes.runtime import Event, elapsed_ms

image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
kernel = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
padded = np.pad(image[0, 0], 1)
expected = np.array(
    [[(padded[i : i + 3, j : j + 3] * kernel[0, 0]).sum() for j in range(4)] for i in range(4)]
)

with (
    Handle() as handle,
    DeviceTensor.from_numpy(image) as x,
    DeviceTensor.from_numpy(kernel) as w,
    ConvolutionDescriptor(padding=1) as conv,
):
    print(handle)
    print(conv)

    # One line does it all: describes x and w, makes y, picks an algorithm, finds it a workspace.
    with convolution_forward(handle, x, w, conv) as y:
        print(y.numpy()[0, 0].astype(int))
        assert np.allclose(y.numpy()[0, 0], expected, rtol=2e-3)  # TF32 keeps 10 bits

    # The steps one by one: ask for the algorithms, try each of them.
    with (
        TensorDescriptor.of(x) as x_desc,
        FilterDescriptor.of(w) as w_desc,
        TensorDescriptor(conv.output_shape(x_desc, w_desc)) as y_desc,
        DeviceTensor.empty(y_desc.shape, "float32") as y,
    ):
        forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
        table = forward.algorithms(handle)
        print(table)
        for row in table:
            if not row.usable:
                continue
            y.copy_from(np.full(y.shape, np.nan, np.float32))
            with DeviceBuffer(row.memory) as workspace:
                # The first call loads the kernel.
                forward.run(handle, x=x, w=w, y=y, algorithm=row, workspace=workspace)
                with Event(handle.stream) as start:
                    for _ in range(100):
                        forward.run(handle, x=x, w=w, y=y, algorithm=row, workspace=workspace)
                    with Event(handle.stream) as stop:
                        microseconds = 10 * elapsed_ms(start, stop)
            # Times of the reference device would say nothing about cuDNN.
            time = "" if handle.on_reference_device else f"   {microseconds:.1f} us on the GPU"
            error = np.abs(y.numpy()[0, 0] - expected).max()
            print(f"{row.algorithm.name:50} largest error {error:.1e}{time}")
            assert error < 2e-3 * np.abs(expected).max()
