"""Supervised kernel projection: mixture of kernels, projection and classifier at once. Storcheus (2021), chapter 7."""
