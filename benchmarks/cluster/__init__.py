"""Fits on several workers (`python -m benchmarks.cluster`): beside other libraries, and a model of time and bytes."""
