"""What this machine can do for the inner loops, and how much of it the kernels use (`python -m benchmarks.limits`)."""
