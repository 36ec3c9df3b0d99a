"""Export of a model as one file of C99 without dependencies (no libm), for `to_c`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from radboost.export.c_links import (
    CALL_VOTES,
    CHEAPEST,
    EXP,
    EXPONENTIAL,
    EXPONENTIALS,
    LARGEST_SCORE,
    LOG,
    LOGISTIC,
    NUMBER,
    NUMBERS,
    PROBABILITIES,
    SIGN,
    TASK_PROBABILITIES,
    TASKS,
    VOTES,
    check_stack,
    link_functions,
)
from radboost.export.parts import (
    Exported,
    ExportedOutput,
    ExportError,
    ScoreSum,
    categories_left,
    feature_name,
    leaf_numbers,
    link_of,
    plain_labels,
    used_features,
)
from radboost.losses.link import Link

LONGEST_NAME = 40  # characters of the prefix of functions
LONGEST_TEXT = 200  # characters of a name in a comment
WIDTH = 116  # characters of a line of a table
MISSING_LEFT, BY_CATEGORY, NUMBERS_LEFT = 1, 2, 4  # flags of a node, see NODES
PUBLIC = r"^((?:void|int|double) NAME_\w+\(.*\))\n\{"  # the head of a function that is not static

GUARD = """#ifdef __FAST_MATH__
#error "-ffast-math takes away NaN, which is a missing value here: compile without it"
#endif
"""
NODES = """
/* Nodes: the column (-1 at a leaf), the left child, which the right one follows (at a leaf its number), the threshold
   or the number of the set, and flags: 1 missing values go left, 2 asks for a category, 4 all numbers go left. */
"""
FIND_LEAF = """
/* The leaf of a tree that a row reaches. */
static unsigned long NAME_leaf(const double *x, unsigned long root)
{
    unsigned long at = root;
    while (NAME_feature[at] >= 0) {
        const double v = x[NAME_feature[at]];
        const unsigned flags = NAME_flags[at];
        int right;
        if (v != v)
            right = !(flags & 1u); /* missing */
CATEGORY        else
            right = !(flags & 4u) && v > NAME_threshold[at];
        at = root + NAME_left[at] + (unsigned long)right;
    }
    return NAME_left[at];
}
"""
CATEGORY = """        else if (flags & 2u) {
            const unsigned long set = (unsigned long)NAME_threshold[at];
            if (v >= 0.0 && v < NAME_n_categories[set]) {
                const unsigned code = (unsigned)v;
                right = !((NAME_sets[set][code >> 3] >> (code & 7u)) & 1u);
            } else
                right = !(flags & 1u);
        }
"""
EACH_TREE = {
    "one": "scores[0] += NAME_amount[NAME_first_leaf[t] + NAME_leaf(x, NAME_root[t])];",
    "votes": """{
        const unsigned long leaf = NAME_first_leaf[t] + NAME_leaf(x, NAME_root[t]);
        scores[NAME_target[leaf]] += NAME_amount[leaf];
    }""",
    "rows": """{
        const double *amounts = NAME_amount + N * (NAME_first_leaf[t] + NAME_leaf(x, NAME_root[t]));
        for (k = 0; k < N; ++k) scores[k] += amounts[k];
    }""",
}
PRODUCTS = """    for (t = 0; t < N_PRODUCTS; ++t) {
        double value = 1.0;
        for (; at < NAME_product_end[t]; ++at) value *= x[NAME_factor[at]];
        for (k = 0; k < N; ++k) scores[k] += value * NAME_weight[N * t + (unsigned long)k];
    }
"""


def c_code(model: Exported, name: str, probabilities: bool) -> str:
    """Text of the file; `name` is the prefix of its functions."""
    check_name(name)
    scores, output = model.scores, model.output
    link = link_of(output) if output.labels is not None and probabilities else None
    if link is not None:
        check_stack(link, output)
    parts = []
    if scores.trees:
        parts += [
            *_tree_tables(scores),
            FIND_LEAF.replace("CATEGORY", CATEGORY if _splits_on_categories(scores) else ""),
        ]
    if scores.products:
        parts += _product_tables(scores)
    parts += [_scores_function(scores), _outputs(output, scores.n_outputs, link, probabilities)]
    sizes = {"N_TREES": len(scores.trees), "N_PRODUCTS": len(scores.products), "N": scores.n_outputs}
    sizes["K"] = output.n_classes
    definitions = "".join(parts)
    text = GUARD + _constants(scores, output) + _prototypes(definitions) + definitions
    for word, size in sizes.items():
        text = re.sub(rf"\b{word}\b", str(size), text)
    return _comment(model, probabilities) + text.replace("NAME_", f"{name}_")


def check_name(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(rf"[A-Za-z][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}", name):
        raise ValueError(
            f"name={str(name)[:60]!r} cannot begin the names of C functions: use a letter, followed by letters, digits "
            f"and underscores, at most {LONGEST_NAME} characters of ASCII."
        )


def quoted(value: Any) -> str:
    """A name in a comment: JSON without characters that end or open a comment, or are trigraphs."""
    text = json.dumps(value)
    text = text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."
    for character in "*?":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _comment(model: Exported, probabilities: bool) -> str:
    scores, output = model.scores, model.output
    lines = [
        f"{model.title} of RadBoost: {len(scores.trees)} trees, {len(scores.products)} columns or products.",
        "",
        f"A row x is {scores.n_features} numbers of type double; NaN is a missing value. Sums are those of RadBoost,",
        "in the same order, where doubles are computed as doubles.",
        "",
        "Columns that are used:",
    ]
    for feature in used_features(scores):
        title = feature_name(scores, feature)
        lines.append(f"  x[{feature}]" + ("" if title is None else f": {quoted(title)}"))
        for code, category in enumerate(scores.categories.get(feature, ())):
            lines.append(f"    {code}: {quoted(category)}")
        if feature in scores.categories:
            lines.append("    Any other value is a missing one.")
    if output.labels is not None:
        lines += ["", "Classes:", *(f"  {k}: {quoted(one)}" for k, one in enumerate(plain_labels(output.labels)))]
    if output.tasks is not None:
        pairs = (f"  {k}: {quoted(plain_labels(labels))}" for k, labels in enumerate(output.tasks))
        lines += ["", "Tasks, and the two labels of each:", *pairs]
    if not probabilities and output.has_labels:
        lines += ["", "Exported without probabilities."]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */", ""])


def _constants(scores: ScoreSum, output: ExportedOutput) -> str:
    classes = f", NAME_n_classes = {output.n_classes}" if output.labels is not None else ""
    return f"\nenum {{ NAME_n_features = {scores.n_features}, NAME_n_scores = {scores.n_outputs}{classes} }};\n"


def _prototypes(definitions: str) -> str:
    """Declarations of the functions that are not static."""
    return "\n" + "".join(f"{head};\n" for head in re.findall(PUBLIC, definitions, re.MULTILINE))


def _splits_on_categories(scores: ScoreSum) -> bool:
    return any(len(one.tree.category_nodes) for one in scores.trees)


def _tree_tables(scores: ScoreSum) -> list[str]:
    """Tables of the nodes of all trees, concatenated; a leaf has its index instead of a left child."""
    features, thresholds, left, flags = [], [], [], []
    sets: list[tuple[int, list[int]]] = []
    for one in scores.trees:
        tree = one.tree
        features.append(tree.feature)
        left.append(np.where(tree.feature < 0, leaf_numbers(tree), tree.left))
        infinite = tree.threshold == np.inf
        threshold = np.where(infinite | (tree.feature < 0), 0.0, tree.threshold)
        flag = MISSING_LEFT * (tree.missing_left != 0) + NUMBERS_LEFT * (infinite & (tree.feature >= 0))
        for node, codes in categories_left(tree).items():
            flag[node] = (flag[node] & MISSING_LEFT) + BY_CATEGORY
            threshold[node] = len(sets)
            sets.append((len(scores.categories[int(tree.feature[node])]), codes))
        thresholds.append(threshold)
        flags.append(flag)
    sizes = [one.tree.n_nodes for one in scores.trees]
    leaves = [len(one.amounts) for one in scores.trees]
    tables = [
        NODES,
        _whole("feature", np.concatenate(features)),
        _whole("left", np.concatenate(left)),
        _whole("flags", np.concatenate(flags)),
        _real("threshold", np.concatenate(thresholds)),
        "\n/* Trees: the first node, and the first leaf. */\n",
        _whole("root", np.cumsum([0, *sizes[:-1]])),
        _whole("first_leaf", np.cumsum([0, *leaves[:-1]])),
        "\n/* Leaves: what each adds. */\n",
    ]
    if scores.votes:
        tables.append(
            _whole("target", np.concatenate([one.targets for one in scores.trees if one.targets is not None]))
        )
        tables.append(_real("amount", np.concatenate([one.amounts[:, 0] for one in scores.trees])))
    else:
        tables.append(_real("amount", np.concatenate([one.rows(scores.n_outputs).ravel() for one in scores.trees])))
    return tables + (_set_tables(sets) if sets else [])


def _set_tables(sets: Sequence[tuple[int, list[int]]]) -> list[str]:
    width = (max(count for count, _ in sets) + 7) // 8
    rows = []
    for _, codes in sets:
        bits = np.zeros(8 * max(1, width), dtype=np.uint8)
        bits[codes] = 1
        rows.append("{" + ", ".join(map(str, np.packbits(bits, bitorder="little").tolist())) + "}")
    head = "\n/* Sets: how many categories the column has, and a bit for each that goes left. */\n"
    count = _whole("n_categories", np.array([count for count, _ in sets]))
    return [head, count, f"static const unsigned char NAME_sets[][{max(1, width)}] = {{\n{_wrapped(rows)}}};\n"]


def _product_tables(scores: ScoreSum) -> list[str]:
    products = scores.products
    return [
        "\n/* Products of columns: where the columns of each end, the columns, and their weights for each score. */\n",
        _whole("product_end", np.cumsum([len(product.features) for product in products])),
        _whole("factor", np.concatenate([product.features for product in products])),
        _real("weight", np.concatenate([product.weights for product in products])),
    ]


def _scores_function(scores: ScoreSum) -> str:
    kind = "one" if scores.n_outputs == 1 else "votes" if scores.votes else "rows"
    variables = ["    unsigned long t;\n"] if scores.trees or scores.products else []
    if (scores.trees and kind == "rows") or scores.products or scores.taken_off:
        variables.append("    int k;\n")
    if scores.products:
        variables.append("    unsigned long at = 0;\n")
    body = [f"    scores[{k}] = {_number(value)};\n" for k, value in enumerate(scores.start.tolist())]
    if scores.trees:
        body.append(f"    for (t = 0; t < N_TREES; ++t) {EACH_TREE[kind]}\n")
    if scores.products:
        body.append(PRODUCTS)
    if scores.taken_off:
        body.append(f"    for (k = 0; k < N; ++k) scores[k] -= {_number(scores.taken_off)};\n")
    if not scores.trees and not scores.products:
        body.append("    (void)x;\n")
    head = "\n/* The scores of a row. */\nvoid NAME_scores(const double *x, double *scores)\n{\n"
    return head + "".join([*variables, *body]) + "}\n"


def _outputs(output: ExportedOutput, n_outputs: int, link: Link | None, probabilities: bool) -> str:
    if output.tasks is not None:
        return TASKS + (EXP + LOGISTIC + TASK_PROBABILITIES if probabilities else "")
    if output.labels is None:
        number, exponential = (NUMBER, EXPONENTIAL) if n_outputs == 1 else (NUMBERS, EXPONENTIALS)
        return EXP + exponential if output.exponential else number
    parts = []
    if link is not None or output.costs is not None:
        parts.append(link_functions(link_of(output)))
    if output.costs is not None:
        rows = ["{" + ", ".join(map(_number, row)) + "}" for row in output.costs.tolist()]
        parts.append(CHEAPEST.replace("COSTS", "{\n" + _wrapped(rows) + "    }"))
    else:
        parts.append(SIGN if output.n_classes == 2 else LARGEST_SCORE)
    if link is not None:
        parts.append(_probabilities(output))
    return "".join(parts)


def _probabilities(output: ExportedOutput) -> str:
    text = LOG + VOTES + PROBABILITIES if output.calibration.power else PROBABILITIES.replace(CALL_VOTES, "")
    for word in ("temperature", "doubt", "power", "ground"):
        text = text.replace(word.upper(), _number(getattr(output.calibration, word)))
    return text


def _number(value: float) -> str:
    """C literal that is exactly this double: decimal literals may be rounded by the compiler, hexadecimal ones not."""
    if not np.isfinite(value):
        raise ExportError(f"The model holds the number {value}, which C has no literal for.")
    return repr(value) if value == int(value) and abs(value) < 1e15 else float(value).hex()


def _real(name: str, values: Any) -> str:
    return f"static const double NAME_{name}[] = {{\n{_wrapped(map(_number, values.tolist()))}}};\n"


def _whole(name: str, values: Any) -> str:
    """Table of integers, in the smallest C type that holds them on every machine."""
    low, high = int(values.min()), int(values.max())
    if low < 0:
        kind = "signed char" if high < 2**7 else "short" if high < 2**15 else "long"
    else:
        kind = "unsigned char" if high < 2**8 else "unsigned short" if high < 2**16 else "unsigned long"
    return f"static const {kind} NAME_{name}[] = {{\n{_wrapped(map(str, values.tolist()))}}};\n"


def _wrapped(items: Iterable[str]) -> str:
    """Items separated by commas, in lines of at most `WIDTH` characters."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line.rstrip(",")]) + "\n"
