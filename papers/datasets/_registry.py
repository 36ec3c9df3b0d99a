"""Registry of data sets: size, OpenML number, other names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from papers.datasets._dataset import DatasetError


@dataclass(frozen=True)
class Entry:
    """One data set of the registry.

    `openml` is None where OpenML has no set with the same rows and coding. A set that comes from there is
    checked against `rows`, `features` and `classes`: a number that now means another set cannot go unnoticed.
    """

    name: str
    rows: int
    features: int
    classes: int
    about: str
    openml: int | None = None
    aliases: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    """OpenML's names of classes that differ from ours, and ours."""
    columns: tuple[str, ...] | None = None
    """Columns of OpenML's set to keep; None keeps all."""
    images: bool = False
    """Stored as one NumPy archive of bytes instead of a table of text."""
    texts: bool = False
    """Stored as one NumPy archive with a sparse matrix."""
    digits: tuple[int, int] | None = None
    """The two digits to take from `mnist`, each cut back to its box of 20 x 20."""

    @property
    def file_name(self) -> str:
        return f"{self.name}.npz" if self.images or self.texts else f"{self.name}.csv.gz"


# OpenML spells the eleven words of vowel, the files number them; it has further columns.
_WORDS = ("hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed")
_VOWELS = {word: str(number) for number, word in enumerate(_WORDS)}
_FORMANTS = tuple(f"Feature_{i}" for i in range(10))
_TESTED = {"tested_negative": "neg", "tested_positive": "pos"}
_SITES = {"1": "ei", "2": "ie", "3": "n"}

_ENTRIES = (
    Entry("breastcancer", 699, 9, 2, "Wisconsin breast cancer, benign or malignant", 15, ("breast-w", "cancer")),
    Entry("ionosphere", 351, 34, 2, "radar returns, good or bad", 59, labels={"g": "good", "b": "bad"}),
    Entry("german", 1000, 24, 2, "German credit, the numeric coding", aliases=("german-numeric",)),
    Entry("diabetes", 768, 8, 2, "diabetes among Pima women", 37, ("pima",), labels=_TESTED),
    Entry("sonar", 208, 60, 2, "sonar, mine or rock", 40, labels={"Mine": "M", "Rock": "R"}),
    Entry("ocr17", 2000, 196, 2, "handwritten 1 and 7, 14 x 14, four gray levels"),
    Entry("ocr49", 2000, 196, 2, "handwritten 4 and 9, 14 x 14, four gray levels"),
    Entry("mnist17", 15170, 400, 2, "the 1 and 7 of MNIST, 20 x 20", 554, ("ocr17-mnist",), images=True, digits=(1, 7)),
    Entry("mnist49", 13782, 400, 2, "the 4 and 9 of MNIST, 20 x 20", 554, ("ocr49-mnist",), images=True, digits=(4, 9)),
    Entry("splice", 3175, 60, 2, "DNA, splice junction or not, letters coded 1 to 4"),
    Entry("adult", 48842, 14, 2, "census, income above 50K", 1590),
    Entry("higgs_part", 35298, 28, 2, "a part of higgs", aliases=("higgs-part",)),
    Entry("higgs", 98050, 28, 2, "simulated collisions, Higgs boson or background", 23512),
    Entry("abalone", 4177, 8, 28, "rings of abalone shells", 183),
    Entry("handwritten", 5620, 64, 10, "handwritten digits, 8 x 8", 28, ("optdigits",)),
    Entry("letters", 20000, 16, 26, "printed letters", 6, ("letter",)),
    Entry("pageblocks", 5473, 10, 5, "blocks of a page layout", 30, ("page-blocks",)),
    Entry("pendigits", 10992, 16, 10, "digits written with a pen", 32),
    # OpenML's satimage (182) lacks five rows
    Entry("satimage", 6435, 36, 6, "soil seen by satellite"),
    Entry("statlog", 2310, 19, 7, "segments of outdoor images", 36, ("segment",)),
    Entry("yeast", 1484, 8, 10, "proteins of yeast", 181),
    Entry("dna", 3186, 180, 3, "DNA, kind of splice junction, 0/1 coding", 40670, labels=_SITES),
    Entry("vowel", 990, 10, 11, "spoken vowels", 307, labels=_VOWELS, columns=_FORMANTS),
    Entry("waveform40", 5000, 40, 3, "waves with noise columns", 60, ("waveform", "waveform-5000")),
    Entry("mnist", 70000, 784, 10, "handwritten digits, 28 x 28", 554, ("mnist_784",), images=True),
    Entry("fashion_mnist", 70000, 784, 10, "articles of clothing, 28 x 28", 40996, ("fashion-mnist",), images=True),
    Entry("amazon", 8000, 115700, 2, "reviews of four kinds of products, counts of words and pairs", texts=True),
    # Targets are numbers; `classes` counts the different ones.
    Entry("housing", 506, 13, 229, "prices of houses in Boston, regression", aliases=("boston",)),
    Entry("ailerons", 13750, 40, 35, "control of an aircraft's ailerons, regression"),
)

_BY_NAME = {entry.name: entry for entry in _ENTRIES}
_ALIASES = {alias: entry.name for entry in _ENTRIES for alias in entry.aliases}


def available() -> tuple[str, ...]:
    """Names that `load` knows."""
    return tuple(_BY_NAME)


def entry(name: str) -> Entry:
    """Entry of the registry for a name or an alias."""
    found = _BY_NAME.get(_ALIASES.get(name, name))
    if found is None:
        raise DatasetError(f"unknown data set {name!r}; known are {', '.join(_BY_NAME)}")
    return found
