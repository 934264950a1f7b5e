"""Scopes: conditions under which an edit holds that does not hold everywhere."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from undust.learn.columns import REST, Codes, SiteUrls
from undust.learn.edits import MIN_ROWS, MIN_SHARE
from undust.learn.maps import Change
from undust.learn.state import Mask, State, from_end
from undust.urls.keys import Key

Test = Literal["is", "present", "digits", "like"]


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One thing to ask of a URL as it was given, in standard form: the value of a key, or what it looks like."""

    key: Key
    test: Test
    value: str = ""
    holds: bool = True
    """False where the condition is that the test fails."""
    surprise: float = field(default=1.0, compare=False)
    """How many conditions like it could have been found by chance: many, if it denies a value that few URLs have."""

    def __str__(self) -> str:
        said = {"is": f"= {self.value}", "present": "is there", "digits": "is a number"}
        return f"{'' if self.holds else 'not '}{self.key} {said[self.test]}"


@dataclass(frozen=True, slots=True)
class Feature:
    """A question about each URL of a site, and its answers as small numbers."""

    key: Key
    test: Test
    answers: Codes
    counts: npt.NDArray[np.int64]

    def condition(self, answer: int, holds: bool, site: SiteUrls) -> Condition:
        """Write an answer as a condition."""
        if self.test == "is":
            surprise = 1.0 if holds else math.log2(len(self.answers) / self.counts[answer])
            return Condition(self.key, "is", site.value(answer) or "", holds, surprise)
        return Condition(self.key, self.test, "", holds == bool(answer))


class Features:
    """All questions that can be asked of the URLs of a site."""

    def __init__(self, site: SiteUrls) -> None:
        self.site = site
        self.least = max(MIN_ROWS, MIN_SHARE * len(site))
        self.all = list(self._make())

    def ask(self, key: Key, test: Test, value: str | Change = "") -> Mask:
        """Tell which URLs, as they were given, answer a question with yes."""
        codes = self.codes(key)
        if test == "present":
            return np.asarray(codes != 0)
        if test == "is":
            return np.asarray((codes != 0) & (codes == pc.index(self.site.values, value).as_py() + 1))
        if isinstance(value, Change):
            fits = pc.match_substring_regex(self.site.values, value.looks())
            return np.concatenate([[False], fits.to_numpy(zero_copy_only=False)])[codes]
        return self._looks(test)[codes]

    def where(self, conditions: tuple[Condition, ...]) -> Mask:
        """Tell for which URLs all conditions hold."""
        rows = np.ones(len(self.site), np.bool_)
        for condition in conditions:
            rows &= self.ask(condition.key, condition.test, condition.value) == condition.holds
        return rows

    def codes(self, key: Key) -> Codes:
        """Give the values of a key in all URLs as they were given."""
        if key.part == "path" and isinstance(key.name, int) and key.name < 0:
            return from_end(self.site.columns, self.site.depth, -key.name)
        return self.site.columns.get(key, np.zeros(len(self.site), np.int32))

    def _looks(self, test: Test) -> npt.NDArray[np.bool_]:
        pattern = {"digits": r"^[0-9]+$"}[test]
        fits = pc.match_substring_regex(self.site.values, pattern)
        return np.concatenate([[False], fits.to_numpy(zero_copy_only=False)])

    def _make(self) -> Iterator[Feature]:
        looks = {test: self._looks(test) for test in ("digits",)}
        ends = [Key("path", place) for place in (-1, -2, -3)]
        for key in [*sorted((key for key in self.site.columns if key != REST), key=str), *ends]:
            codes = self.codes(key)
            counts = np.bincount(codes)
            if np.count_nonzero(counts) > 1:
                yield Feature(key, "is", codes, counts)
            for test, table in (("present", None), *looks.items()):
                answers = (codes != 0 if table is None else table[codes]).astype(np.int32)
                if 0 < answers.sum() < len(answers):
                    yield Feature(key, test, answers, np.bincount(answers))  # type: ignore[arg-type]


def promising(
    features: Features,
    state: State,
    right: Mask,
    wrong: Mask,
    asked: tuple[Condition, ...],
    closed: frozenset[Key],
    most: int,
) -> list[tuple[Condition, Mask]]:
    """Give the conditions that part right merges from wrong ones best.

    `right` and `wrong` are the keys that an edit changes and that meet their own cluster, or another. Keys of URLs that
    are `closed` are not asked about.
    """
    found: list[tuple[Condition, Mask]] = []
    done = {(condition.key, condition.test) for condition in asked}
    rights, wrongs = state.rows[right], state.rows[wrong]
    ranked: list[tuple[int, str, Feature, int, bool]] = []
    for feature in features.all:
        if (feature.key, feature.test) in done or feature.key in closed:
            continue
        size = len(feature.counts)
        good, bad = (np.bincount(feature.answers[rows], minlength=size) for rows in (rights, wrongs))
        common = feature.counts >= features.least
        if feature.test == "is":
            common[0] = False  # absence has a question of its own
        name = f"{feature.key} {feature.test}"
        for answer in np.flatnonzero(common & (good >= MIN_ROWS)).tolist():
            ranked.append((int(good[answer]) - 5 * int(bad[answer]), name, feature, answer, True))
        if feature.test != "is":
            continue
        for answer in np.flatnonzero(common & (bad > 0)).tolist():
            left, lost = len(rights) - int(good[answer]), len(wrongs) - int(bad[answer])
            if left >= MIN_ROWS:
                ranked.append((left - 5 * lost, name, feature, answer, False))
    ranked.sort(key=lambda entry: (-entry[0], entry[1], not entry[4], str(_answer(features.site, entry[2], entry[3]))))
    for _, _, feature, answer, holds in ranked[:most]:
        where = (feature.answers[state.rows] == answer) == holds
        found.append((feature.condition(answer, holds, features.site), where))
    return found


def _answer(site: SiteUrls, feature: Feature, answer: int) -> str | None:
    return site.value(answer) if feature.test == "is" else str(answer)
