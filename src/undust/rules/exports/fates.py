"""What became of rules in an export: said in full, said in part, or left out, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from undust.rules.rule import Rule

Said = Literal["exported", "in part", "left out"]


class Fate(NamedTuple):
    """What became of a rule."""

    rule: Rule
    said: Said = "exported"
    why: str = ""


class Written(NamedTuple):
    """A file of another program, and what became of each rule, in their order."""

    text: str
    fates: Sequence[Fate]


@dataclass(frozen=True, slots=True)
class Exported:
    """Rules in the format of another program, and what that format cannot say."""

    format: str
    text: str
    fates: tuple[Fate, ...]

    def count(self, said: Said) -> int:
        """Count the rules that this became of."""
        return sum(fate.said == said for fate in self.fates)

    def share(self, said: Said) -> float:
        """Give the share of the URLs saved in training that are the work of such rules; of rules, if none is known."""
        total = sum(_merged(fate) for fate in self.fates)
        if not total:
            return self.count(said) / len(self.fates) if self.fates else 0.0
        return sum(_merged(fate) for fate in self.fates if fate.said == said) / total

    def reasons(self) -> list[tuple[Said, str, list[Fate]]]:
        """Group rules that were not said in full by the reason, the most savings first."""
        groups: dict[tuple[Said, str], list[Fate]] = {}
        for fate in self.fates:
            if fate.said != "exported":
                groups.setdefault((fate.said, fate.why), []).append(fate)
        made = [(said, why, fates) for (said, why), fates in groups.items()]
        return sorted(made, key=lambda group: (-sum(map(_merged, group[2])), group[1]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": self.format,
            "rules": len(self.fates),
            "exported": self.count("exported"),
            "in_part": self.count("in part"),
            "left_out": self.count("left out"),
            "savings": {
                "exported": round(self.share("exported"), 4),
                "in_part": round(self.share("in part"), 4),
                "left_out": round(self.share("left out"), 4),
            },
            "not_exported": [
                {
                    "rule": place,
                    "line": str(fate.rule),
                    "said": fate.said,
                    "why": fate.why,
                    "merged": fate.rule.statistics.merged,
                    "clusters": fate.rule.statistics.clusters,
                }
                for place, fate in enumerate(self.fates, 1)
                if fate.said != "exported"
            ],
        }


def by_site(rules: Iterable[Rule]) -> dict[str, list[int]]:
    """Give the places of the rules of each site."""
    made: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        made.setdefault(rule.site, []).append(place)
    return made


def _merged(fate: Fate) -> int:
    return fate.rule.statistics.merged
