"""Likely substring substitutions: `/index.html` for `/`, found where both stand between the same texts.

The envelope of a piece of a URL is what is before and after it. Two URLs with the same envelope around other pieces
are an instance of the rule that puts one piece for the other. Rules with many instances are likely; of rules that are
nearly the same, one is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.kernels.dust import MAX_TOKENS, write_envelopes
from undust.learn.columns import Codes

MAX_PIECE = 6
"""Tokens of a piece: `/index.html` has four."""
MAX_BUCKET = 12
"""Pieces with the same envelope. More say that anything fits there, and not that it does not matter."""
MIN_SUPPORT = 3
MAX_RULES = 2000
MAX_INSTANCES = 40
"""Instances of a rule that are kept, to see where in URLs it holds."""

MAX_RELATIVE, MAX_ABSOLUTE = 0.25, 1
"""How much less support a rule may have, as a share or absolutely, to be taken for the same as another."""
WINDOW = 100

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Substitution:
    """A piece and what may stand for it, with the pairs of rows that show it, and how many speak against it."""

    piece: str
    instead: str
    support: int
    refuted: int
    instances: tuple[tuple[int, int], ...]

    @property
    def confidence(self) -> float:
        """Share of the instances that are duplicates."""
        return self.support / (self.support + self.refuted)

    def refines(self, other: "Substitution") -> bool:
        """Tell whether every instance of this rule is one of another: it is the same with more around it.

        >>> long = Substitution("/index.html", "/", 3, 0, ())
        >>> long.refines(Substitution("index.html", "", 3, 0, ()))
        True
        """
        size = len(self.piece) - len(other.piece)
        if size <= 0 or size != len(self.instead) - len(other.instead):
            return False
        return any(
            self.piece[before:].startswith(other.piece)
            and self.instead[before:].startswith(other.instead)
            and self.piece[:before] == self.instead[:before]
            and self.piece[before + len(other.piece) :] == self.instead[before + len(other.instead) :]
            for before in range(size + 1)
        )


def likely_substitutions(urls: pa.StringArray, clusters: Codes) -> list[Substitution]:
    """Give the rules of URLs with enough support, the most first, without those that say nothing new.

    Where URLs of an instance are in different clusters the rule is refuted: that is what the sketches of pages are for
    in the paper. Rules put the shorter piece for the longer one.
    """
    spans, pieces, left, right = _instances(urls)
    if not len(left):
        return []
    sizes = spans[:, 2] - spans[:, 1]
    texts = urls.to_pylist()
    swap = (sizes[left] < sizes[right]) | ((sizes[left] == sizes[right]) & (pieces[left] < pieces[right]))
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    names = pieces[left] * np.uint64(0x9E3779B97F4A7C15) ^ (pieces[right] >> np.uint64(1))
    order = np.argsort(names, kind="stable")
    names, left, right = names[order], left[order], right[order]
    same = clusters[spans[left, 0]] == clusters[spans[right, 0]]
    starts = np.flatnonzero(np.diff(names, prepend=names[0] ^ np.uint64(1)))
    counts = np.diff(np.append(starts, len(names)))
    support = np.add.reduceat(same.astype(np.int64), starts)
    wanted = np.flatnonzero(support >= MIN_SUPPORT)
    best = wanted[np.argsort(-support[wanted], kind="stable")][:MAX_RULES]
    found = []
    for place in best.tolist():
        members = np.arange(starts[place], starts[place] + counts[place])
        shown = members[same[members]][:MAX_INSTANCES]
        one, other = int(left[shown[0]]), int(right[shown[0]])
        found.append(
            Substitution(
                _piece(texts, spans[one]),
                _piece(texts, spans[other]),
                int(support[place]),
                int(counts[place] - support[place]),
                tuple((int(spans[left[each], 0]), int(spans[right[each], 0])) for each in shown.tolist()),
            )
        )
    found.sort(key=lambda rule: (-rule.support, -len(rule.piece), rule.piece, rule.instead))
    return without_redundant(found)


def _instances(urls: pa.StringArray) -> tuple[Ints, npt.NDArray[np.uint64], Ints, Ints]:
    """Give all pieces, and the pairs of them that have the same envelope."""
    _, offset_buffer, byte_buffer = urls.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[urls.offset : urls.offset + len(urls) + 1]
    data = np.frombuffer(byte_buffer, np.uint8) if byte_buffer else np.zeros(0, np.uint8)
    room = (MAX_PIECE + 1) * (min(int(offsets[-1] - offsets[0]) + len(urls), len(urls) * MAX_TOKENS) + MAX_TOKENS)
    envelopes, pieces = np.empty(room, np.uint64), np.empty(room, np.uint64)
    spans = np.empty((room, 3), np.int32)
    scratch = (
        np.empty(MAX_TOKENS + 2, np.int64),
        np.empty(MAX_TOKENS + 2, np.uint64),
        np.empty(MAX_TOKENS + 2, np.uint64),
    )
    count = int(write_envelopes(data, offsets, MAX_PIECE, *scratch, envelopes, pieces, spans))
    order = np.argsort(envelopes[:count], kind="stable")
    sorted_ = envelopes[order]
    starts = np.flatnonzero(np.diff(sorted_, prepend=sorted_[0] ^ np.uint64(1))) if count else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, count))
    sizes_of, at = np.repeat(sizes, sizes), np.arange(count) - np.repeat(starts, sizes)
    left, right = [], []
    for step in range(1, MAX_BUCKET):
        rows = np.flatnonzero((sizes_of > 1) & (sizes_of <= MAX_BUCKET) & (at + step < sizes_of))
        left.append(order[rows])
        right.append(order[rows + step])
    return spans[:count].astype(np.int64), pieces[:count], np.concatenate(left), np.concatenate(right)


def _piece(texts: Sequence[str], span: Ints) -> str:
    row, start, end = (int(each) for each in span)
    return texts[row].encode()[start:end].decode(errors="replace")


def without_redundant(rules: Sequence[Substitution]) -> list[Substitution]:
    """Of rules with about the same support, one of which refines the other, keep the one that says more."""
    gone = [False] * len(rules)
    for i, rule in enumerate(rules):
        for j in range(i + 1, min(i + 1 + WINDOW, len(rules))):
            if gone[i] or rule.support - rules[j].support > max(MAX_RELATIVE * rule.support, MAX_ABSOLUTE):
                break
            if gone[j]:
                continue
            if rule.refines(rules[j]):
                gone[j] = True
            elif rules[j].refines(rule):
                gone[i] = True
    return [rule for rule, out in zip(rules, gone, strict=True) if not out]
