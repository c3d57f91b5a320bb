"""A first graph: the convolution of example 02, said to cuDNN's other API.

The legacy API has a function for each operation. Here one describes tensors and operations; cuDNN
proposes engines that compute all of it, one of them is built into a plan, and the plan is executed
with memory. Example 19 makes the same calls one by one.
"""

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Graph, Handle

image = np.arange(1, 17, dtype="float32").reshape(1, 1, 4, 4)
kernel = np.arange(1, 10, dtype="float32").reshape(1, 1, 3, 3)

# 1. Describe. This is plain data: no library is loaded, no memory is there.
graph = Graph("first", io_data_type="float32")
x = graph.tensor((1, 1, 4, 4), name="x")
w = graph.tensor((1, 1, 3, 3), name="w")
y = graph.conv_fprop(x, w, padding=1)
y.set_output(name="y")

# Shapes follow from the operations.
graph.validate()
print(f"{graph}\n\ny has the shape {y.dims} and the strides {y.strides}")

with Handle() as handle, graph:
    # 2. Build: cuDNN is asked for engines, and the first that works becomes the plan.
    plan = graph.build(handle)
    print(f"\nplan: {plan.config.choice}, {graph.workspace_size} bytes of workspace")

    # 3. Execute, as often as one likes, each time with other memory.
    memory = {
        "x": DeviceTensor.from_numpy(image),
        "w": DeviceTensor.from_numpy(kernel),
        "y": DeviceTensor.full((1, 1, 4, 4), np.nan, "float32"),
    }
    with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
        graph.execute(memory, workspace)
    result = memory["y"].numpy()[0, 0]
    print(f"\ny, by {handle}:\n{result.round().astype(int)}")
    # TF32, which is allowed for float32 unless forbidden, rounds to 10 bits.
    assert np.allclose(result[1], [231, 348, 393, 252], rtol=1e-2)

    # What cannot be is said before any library is asked, by the names of tensors and operations.
    wrong = Graph("wrong", io_data_type="float32")
    images, filters = wrong.tensor((1, 3, 4, 4), name="x"), wrong.tensor((1, 2, 3, 3), name="w")
    wrong.conv_fprop(images, filters, padding=1).set_output(name="y")
    try:
        wrong.validate()
    except ValueError as error:
        print(f"\nan image of 3 channels and filters of 2:\n{error}")
for tensor in memory.values():
    tensor.close()
