"""A model as a list of lines of text."""

from radboost.export.parts import Exported, ExportError


def rules(model: Exported) -> list[str]:
    """One line for each leaf; models of several scores are refused."""
    if model.scores.n_outputs > 1 or model.scores.products:
        raise ExportError("Rules are for one score, of trees alone.")
    return [
        f"tree {number}, leaf {leaf}: {amount:+.17g}"
        for number, one in enumerate(model.scores.trees)
        for leaf, amount in enumerate(one.amounts[:, 0].tolist())
    ]
