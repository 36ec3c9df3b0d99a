"""Structured losses: models of strings trained on the loss that they are evaluated by (Storcheus (2021), chapter 6)."""

from radboost.structured.automata import LossCache, loss_value
from radboost.structured.composition import compose
from radboost.structured.gradient import (
    GradientTerms,
    LayeredAcceptor,
    expected_loss,
    gradient_terms,
    gradient_terms_batch,
)
from radboost.structured.losses import (
    StringLoss,
    cross_entropy,
    edit_distance,
    hamming,
    ngram,
    smith_waterman,
    transducer_loss,
)
from radboost.structured.semirings import LOG, TROPICAL, Semiring
from radboost.structured.sequence_classifier import SequenceClassifier
from radboost.structured.transducer import EPSILON, Arc, Transducer

__all__ = [
    "EPSILON",
    "LOG",
    "TROPICAL",
    "Arc",
    "GradientTerms",
    "LayeredAcceptor",
    "LossCache",
    "Semiring",
    "SequenceClassifier",
    "StringLoss",
    "Transducer",
    "compose",
    "cross_entropy",
    "edit_distance",
    "expected_loss",
    "gradient_terms",
    "gradient_terms_batch",
    "hamming",
    "loss_value",
    "ngram",
    "smith_waterman",
    "transducer_loss",
]
