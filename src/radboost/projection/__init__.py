"""Supervised kernel projection: a mixture of kernels, a projection and a classifier at once (Storcheus, chapter 7)."""
