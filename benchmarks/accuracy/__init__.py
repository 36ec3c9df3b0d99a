"""The experiment that chose the default parameters, and what others reach with theirs.

    python -m benchmarks.accuracy --data-dir DIR
    python -m benchmarks.accuracy --data-dir DIR --only DeepBoost --candidate 'deeper={"max_depth": 10}'

The first compares the defaults with all peers, the second tries other parameters beside the defaults.

Ten binary sets, three seeds, 5-fold cross-validation, on clean labels and with a fifth of the training labels
exchanged. Every result is kept in a file of JSON lines, so a second run computes only what is new.
"""
