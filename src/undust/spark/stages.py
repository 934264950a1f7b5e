"""The stages of Koppula et al., section 4, by name, and which step of the learner `pairwise` is each of them here.

The paper runs each stage as a job of its own, with an exchange before it. Here a site is exchanged once, whole
(`sites`), and its stages follow one another in the task that has it, round after round, until no more is learned.
"""

import cProfile
import pstats
import time
from pathlib import Path
from typing import Any, NamedTuple

from undust.learn.columns import SiteUrls
from undust.learn.pairwise import Pairwise


class Stage(NamedTuple):
    """A stage of the paper."""

    name: str
    grouped_by: str
    """What its reducers group by: here, rows of a site that are together already."""
    steps: tuple[str, ...]
    """Module and function in `undust.learn`."""


STAGES = (
    Stage("deep tokenization I", "host, key", ("deep.deep_patterns",)),
    Stage("deep tokenization II", "host, URL", ("deep_columns.deep_columns",)),
    Stage(
        "pair-wise rules",
        "host, cluster",
        ("choose.choose_pairs", "differences.transformations", "references.references"),
    ),
    Stage("generalization I", "host, transformation", ("salience.of", "salience.common")),
    Stage("generalization II", "host", ("contexts.generalize",)),
    Stage("generalization III", "host, context", ("candidates._draft",)),
)
"""Stage I of deep tokenization runs within II, which asks for the patterns of each key."""


def seconds_by_stage(site: SiteUrls, learner: Pairwise) -> dict[str, float]:
    """Learn a site, and tell the processor time of each stage.

    The rest is what the paper does not do: candidates are measured on all URLs of the site, and chosen by that.
    """
    profile = cProfile.Profile(time.process_time)
    profile.runcall(learner.learn_site, site)
    found: Any = pstats.Stats(profile)
    spent: dict[str, float] = {}
    for (file, _, function), (_, _, _, seconds, _) in found.stats.items():
        step = f"{Path(file).stem}.{function}"
        spent[step] = spent.get(step, 0.0) + seconds
    told = {stage.name: sum(spent.get(step, 0.0) for step in stage.steps) for stage in STAGES}
    told["deep tokenization II"] -= told["deep tokenization I"]
    told["measuring and choosing"] = found.total_tt - sum(told.values())
    return told
