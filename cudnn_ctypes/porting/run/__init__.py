"""Running compiled programs: a C library with cuDNN's and CUDA's symbols, and Python behind it."""
