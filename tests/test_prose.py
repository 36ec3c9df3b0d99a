"""How docstrings and comments are written; what does not comply is counted, and the counts only go down.

`python tests/test_prose.py` prints the counts and, for each rule that is named on its command line, every case.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "radboost"
LONGEST_SENTENCE = 30  # words

#: words that have a plainer one of the field, docs/developers/names.md -> uses in names, docstrings and comments
WORDS = {
    r"places?|placed": 61,
    r"found": 100,
    r"answers?|answered|answering": 51,
    r"shares?|shared": 84,
    r"told|tells?|telling|teller": 9,
    r"hears?|heard|hearing|ears": 0,
    r"look|looks|looking|looked": 45,
    r"judges?|judged|judging|verdicts?": 30,
    r"watch|watched|watches|watching|watcher": 71,
    r"meeting|brought|brings?": 6,
    r"owners?|desk|office|letters?": 12,
    r"walks?": 1,
    r"dearer?|dear": 0,
    r"lines?": 314,
}
#: rule -> cases
CEILINGS = {
    "begins without a noun or a verb": 14,
    "a sentence of more than 30 words": 1,
    "a private docstring of more than one line": 0,
}
NOUNLESS = re.compile(
    r"(What|Who|Whose|Those|That|Of|With|Without|The same|As|So|By so|For|In|Where|Whether|Some|Each|None|All)\b"
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Text:
    """A docstring or a block of comments."""

    where: str
    text: str
    is_docstring: bool
    is_private: bool


def docstrings_of(path: Path, source: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            name = getattr(node, "name", "")
            line = getattr(node, "lineno", 1)
            private = name.startswith("_") and not name.endswith("__")
            yield Text(f"{path.relative_to(ROOT)}:{line}", text, True, private)


def comments_of(path: Path, tokens: list[tokenize.TokenInfo]) -> Iterator[Text]:
    """Comments on lines that follow each other are one text."""
    block: list[str] = []
    first = last = -1
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        text = token.string.lstrip("#: ")
        if token.start[0] == last + 1 and not token.line[: token.start[1]].strip():
            block.append(text)
        else:
            if block:
                yield Text(f"{path.relative_to(ROOT)}:{first}", " ".join(block), False, True)
            block, first = [text], token.start[0]
        last = token.start[0]
    if block:
        yield Text(f"{path.relative_to(ROOT)}:{first}", " ".join(block), False, True)


@cache
def modules() -> dict[Path, tuple[list[Text], list[tokenize.TokenInfo]]]:
    """Docstrings of each module of the package, and its names and comments as tokens."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        spoken = [token for token in tokens if token.type in (tokenize.NAME, tokenize.COMMENT)]
        found[path] = list(docstrings_of(path, source)), spoken
    return found


def texts() -> list[Text]:
    return [
        text for path, (docstrings, tokens) in modules().items() for text in (*docstrings, *comments_of(path, tokens))
    ]


def sentences(text: str) -> list[str]:
    """Prose sentences: without code, tables, lists of parameters and formulas."""
    paragraphs = [p for p in re.split(r"\n\s*\n", text) if not re.search(r"^(\s{4}|\s*[-|>*]|\w+ : )|----", p, re.M)]
    joined = [" ".join(p.split()) for p in paragraphs]
    return [s for p in joined for s in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`(])", p)]


def cases() -> dict[str, list[str]]:
    """Rule -> where it is broken."""
    found: dict[str, list[str]] = {rule: [] for rule in CEILINGS}
    nounless, long, several = found.values()
    for text in texts():
        if text.is_docstring and NOUNLESS.match(text.text):
            nounless.append(f"{text.where}: {text.text.splitlines()[0]}")
        long += [f"{text.where}: {s}" for s in sentences(text.text) if len(s.split()) > LONGEST_SENTENCE]
        if text.is_docstring and text.is_private and len(text.text.splitlines()) > 1:
            several.append(f"{text.where}: {text.text.splitlines()[0]}")
    return found


def used_words() -> Counter[str]:
    """Uses of each of `WORDS` in names, docstrings and comments; strings that users see are not counted."""
    counted: Counter[str] = Counter()
    for docstrings, tokens in modules().values():
        parts = [token.string for token in tokens] + [text.text for text in docstrings]
        spoken = " ".join(re.sub(r"([a-z])([A-Z])", r"\1 \2", part).replace("_", " ") for part in parts).lower()
        for word in WORDS:
            counted[word] += len(re.findall(rf"\b(?:{word})\b", spoken))
    return counted


def test_docstrings_and_comments_comply() -> None:
    found = {rule: len(where) for rule, where in cases().items()}
    above = {rule: f"{n} (at most {CEILINGS[rule]})" for rule, n in found.items() if n > CEILINGS[rule]}
    assert not above, f"python tests/test_prose.py 'RULE' lists them: {above}"


def test_words_of_the_field_are_used() -> None:
    above = {word: f"{n} (at most {WORDS[word]})" for word, n in used_words().items() if n > WORDS[word]}
    assert not above, above


def main() -> None:
    found = cases()
    for rule, where in found.items():
        print(f"{len(where):>6,} of {CEILINGS[rule]:>6,}  {rule}")
    for word, n in used_words().items():
        print(f"{n:>6,} of {WORDS[word]:>6,}  {word}")
    for rule in sys.argv[1:]:
        print(*found[rule], sep="\n")


if __name__ == "__main__":
    main()
