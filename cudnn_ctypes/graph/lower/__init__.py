"""From a description to the descriptors that cuDNN takes."""
