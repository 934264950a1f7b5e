"""A generated web: sites of drawn sizes, their URLs by the batch, labels that may be wrong, and the truth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from undust.errors import UsageError
from undust.synth.generate import SCHEMA, site_batches
from undust.synth.sites import Site, draw_site
from undust.synth.sizes import SPREAD, duplicate_rates, site_sizes
from undust.synth.spelling import FAMILIES

NOISY = SCHEMA.append(pa.field("true_cluster", pa.string(), nullable=False))
"""The columns where some labels are wrong: what each should have been comes last."""


@dataclass(frozen=True)
class Web:
    """What is asked for, and the sites that come of it. The same settings give the same web."""

    sites: int = 200
    urls: int = 1_000_000
    seed: int = 0
    noise: float = 0.0
    """Share of the URLs that are put into the cluster of another page of their site."""
    families: tuple[str, ...] = ()
    """Families to plant; none named: all, each on some of the sites."""
    spread: float = SPREAD
    """Standard deviation of the logarithm of a site's size."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.families) - set(FAMILIES))
        if unknown:
            raise UsageError(f"unknown family {unknown[0]!r}; one of {', '.join(FAMILIES)}")
        if self.sites < 1 or self.urls < self.sites or not 0 <= self.noise < 1 or self.spread < 0:
            raise UsageError("sites, urls: at least one URL for each site; noise: 0 to 1; spread: not negative")

    @cached_property
    def drawn(self) -> tuple[Site, ...]:
        """Draw the sites."""
        chance = np.random.default_rng(self.seed)
        sizes = site_sizes(self.sites, self.urls, self.spread, chance)
        rates = duplicate_rates(sizes, chance)
        families = self.families or FAMILIES
        return tuple(
            draw_site(number, int(size), float(rate), families, self.seed, all_families=bool(self.families))
            for number, (size, rate) in enumerate(zip(sizes, rates, strict=True))
        )

    @property
    def schema(self) -> pa.Schema:
        """Columns of the batches."""
        return NOISY if self.noise else SCHEMA

    def batches(self) -> Iterator[tuple[Site, pa.RecordBatch]]:
        """Give the URLs of one site after the other."""
        for site in self.drawn:
            chance = np.random.default_rng([self.seed, site.number, 1])
            for batch in site_batches(site):
                yield site, _with_noise(batch, self.noise, chance) if self.noise else batch

    def table(self) -> pa.Table:
        """Give all URLs at once."""
        return pa.Table.from_batches([batch for _, batch in self.batches()], self.schema)


def _with_noise(batch: pa.RecordBatch, noise: float, chance: np.random.Generator) -> pa.RecordBatch:
    """Put some URLs into clusters of others."""
    clusters = batch["cluster"]
    size = len(clusters)
    wrong = chance.random(size) < noise
    places = np.where(wrong, chance.integers(0, size, size), np.arange(size))
    return pa.RecordBatch.from_arrays(
        [batch["url"], clusters.take(pa.array(places)), batch["site"], batch["families"], clusters], schema=NOISY
    )


class Count:
    """Counts what came of the sites, batch by batch."""

    def __init__(self) -> None:
        self.sites: dict[str, dict[str, Any]] = {}

    def add(self, site: Site, batch: pa.RecordBatch) -> None:
        """Count the URLs and clusters of a batch; a cluster is never in two."""
        entry = self.sites.setdefault(site.domain, {"urls": 0, "clusters": 0, "largest": 0, "shown": {}, **site.told()})
        truth = batch["true_cluster" if "true_cluster" in batch.schema.names else "cluster"]
        sizes = truth.value_counts().field("counts")
        entry["urls"] += batch.num_rows
        entry["clusters"] += len(sizes)
        entry["largest"] = max(entry["largest"], int(sizes.to_numpy().max()))
        masks = batch["families"].to_numpy()
        for place, name in enumerate(FAMILIES):
            shown = int(np.count_nonzero(masks & np.uint32(1 << place)))
            if shown:
                entry["shown"][name] = entry["shown"].get(name, 0) + shown

    def told(self, web: Web, names: Sequence[str] = FAMILIES) -> dict[str, Any]:
        """Give the truth as plain values."""
        urls = sum(entry["urls"] for entry in self.sites.values())
        clusters = sum(entry["clusters"] for entry in self.sites.values())
        return {
            "seed": web.seed,
            "noise": web.noise,
            "urls": urls,
            "clusters": clusters,
            "duplicate_rate": (urls - clusters) / urls,
            "families": list(names),
            "sites": list(self.sites.values()),
        }
