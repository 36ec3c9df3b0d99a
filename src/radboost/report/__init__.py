"""Report on a fitted model: what it is worth, on which rows it errs, and why it may be trusted."""

from radboost.report.blocks import Report
from radboost.report.build import build, write

__all__ = ["Report", "build", "write"]
