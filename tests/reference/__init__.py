"""Naive twins of the library: every kernel and closed form again, slow and obviously right.

Nothing here imports the library, shares code with it, or tries to be fast. Where a value can be exact it is
exact (Python integers and fractions); where it cannot, it is plain float64.
"""
