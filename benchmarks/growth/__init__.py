"""How the time and the memory of a fit grow (`python -m benchmarks.growth`)."""
