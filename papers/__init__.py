"""The papers' tables and figures, rerun: a script for each set of them, `python -m papers list` names all.

`harness.py` runs them, `published/` has the papers' figures, `results/` the stored tables of our runs, and `datasets/`
reads the data.
"""
