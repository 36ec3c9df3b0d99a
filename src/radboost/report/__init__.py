"""A report on a fitted model: what it is worth, on which rows it errs, and why it may be trusted."""
