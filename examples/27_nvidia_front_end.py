"""A program for NVIDIA's Python front end: only its import line is another.

A matrix product with a bias for each row, as one kernel. Operands may be tensors of PyTorch or CuPy
too. On the reference device cuDNN plans for an H200, and NumPy carries the plan out.
"""

import numpy as np

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import DeviceBuffer, DeviceTensor

batch, m, n, k = 16, 128, 64, 96
rng = np.random.default_rng(0)
A = DeviceTensor.from_numpy(rng.standard_normal((batch, m, k)).astype(np.float16))
B = DeviceTensor.from_numpy(rng.standard_normal((batch, k, n)).astype(np.float16))
bias = DeviceTensor.from_numpy(rng.standard_normal((batch, m, 1)).astype(np.float16))
C = DeviceTensor.empty((batch, m, n), "float16")

graph = cudnn.pygraph(
    intermediate_data_type=cudnn.data_type.FLOAT,
    compute_data_type=cudnn.data_type.FLOAT,
)
a, b, bias_tensor = graph.tensor_like(A), graph.tensor_like(B), graph.tensor_like(bias)
product = graph.matmul(name="matmul", A=a, B=b)
c = graph.bias(name="bias", input=product, bias=bias_tensor)
c.set_output(True).set_data_type(cudnn.data_type.HALF)

graph.build([cudnn.heur_mode.A])
workspace = DeviceBuffer(max(graph.get_workspace_size(), 1))
graph.execute({a: A, b: B, bias_tensor: bias, c: C}, workspace)

expected = A.numpy().astype(float) @ B.numpy().astype(float) + bias.numpy()
error = np.abs(C.numpy() - expected).max() / np.abs(expected).max()
print(f"cuDNN {cudnn.backend_version_string()}, {graph.get_execution_plan_count()} plans proposed")
print(f"c {c.get_dim()} {c.get_data_type()}, right to within {'1e-3' if error < 1e-3 else error}")
workspace.close()
