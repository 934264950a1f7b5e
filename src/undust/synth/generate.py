"""Writes the URLs of a site, batch by batch, each with its cluster and the families that it shows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.synth.families import Chance, vary
from undust.synth.sites import Part, Site, ways
from undust.synth.sizes import cluster_sizes
from undust.synth.software import Section
from undust.synth.spelling import BITS, Urls
from undust.synth.templates import Values, capacity, pieces
from undust.synth.words import Numbers, decimal, joined

ROWS = 131_072
"""URLs that are made at once."""
_GONE = 5 * 10**7
"""Pages with such numbers do not exist."""

SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("site", pa.string(), nullable=False),
        pa.field("families", pa.uint32(), nullable=False),
    ]
)


def site_batches(site: Site) -> Iterator[pa.RecordBatch]:
    """Give the URLs of a site in memory that does not grow with it; each URL once."""
    chance = np.random.default_rng(site.seed)
    plan = _Plan.of(site)
    left = site.urls
    giants = [
        _giant(site, number, max(1, round(float(plan.shares[number]) * site.urls)), chance)
        for number in np.flatnonzero(plan.giant).tolist()
    ]
    if giants:
        batch = _batch(site, giants)
        left -= batch.num_rows
        yield batch
    mean = _mean(site, plan)
    pages = np.zeros(len(plan.shares), np.int64)
    while left > 0.02 * site.urls:
        rows = min(left, ROWS)
        counts = plan.draw(pages, max(1, round(rows * (1 - site.duplicates))), chance)
        if not counts.any():
            return
        batch = _batch(site, _drawn(site, pages, counts, mean, max(8, rows // 3), chance))
        pages += counts
        if batch.num_rows > left:
            batch = batch.take(pa.array(np.sort(chance.permutation(batch.num_rows)[:left])))
        left -= batch.num_rows
        yield batch


@dataclass(frozen=True, slots=True)
class _Plan:
    """The sections of a site as arrays: their shares, which are giants, and how many pages they can have."""

    shares: npt.NDArray[np.float64]
    giant: npt.NDArray[np.bool_]
    most: npt.NDArray[np.int64]

    @classmethod
    def of(cls, site: Site) -> "_Plan":
        sections = [section for _, section in site.sections]
        weights = np.array([section.weight for section in sections])
        most = np.array([min(section.limit, capacity(section.plain)) for section in sections], np.int64)
        return cls(weights / weights.sum(), np.array([bool(section.giant) for section in sections]), most)

    def draw(self, pages: npt.NDArray[np.int64], wanted: int, chance: Chance) -> npt.NDArray[np.int64]:
        """Draw how many new pages each section gets; none where it is full."""
        open_ = self.shares * (~self.giant & (pages < self.most))
        if not open_.any():
            return np.zeros_like(pages)
        return np.asarray(np.minimum(chance.multinomial(wanted, open_ / open_.sum()), self.most - pages))


def _mean(site: Site, plan: _Plan) -> float:
    """Find how large clusters must be drawn for the share of duplicates: some spellings come out the same."""
    wanted = 1 / (1 - site.duplicates)
    pages = np.zeros(len(plan.shares), np.int64)
    counts = plan.draw(pages, 300, np.random.default_rng(site.seed))
    drawn, found = [1.0], [1.0]
    for grow in (1.5, 6):
        batch = _batch(site, _drawn(site, pages, counts, wanted * grow, 10_000, np.random.default_rng(site.seed)))
        drawn.append(wanted * grow)
        found.append(max(batch.num_rows / max(1, counts.sum()), found[-1]))
        if found[-1] >= wanted:
            break
    return float(np.interp(wanted, found, drawn))


Made = tuple[pa.StringArray, pa.StringArray, npt.NDArray[np.uint32]]


def _batch(site: Site, made: list[Made]) -> pa.RecordBatch:
    """Put sections together, each URL once."""
    urls = pa.concat_arrays([each[0] for each in made])
    _, first = np.unique(urls.dictionary_encode().indices.to_numpy(), return_index=True)
    rows = pa.array(np.sort(first))
    clusters = pa.concat_arrays([each[1] for each in made]).take(rows)
    families = np.concatenate([each[2] for each in made])[np.sort(first)]
    columns = [urls.take(rows), clusters, pa.repeat(site.domain, len(rows)), pa.array(families)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _giant(site: Site, number: int, rows: int, chance: Chance) -> Made:
    """Make URLs that all lead to one page."""
    offset = _GONE if site.sections[number][1].giant == "soft 404" else 0
    numbers = np.uint64(offset) + np.arange(rows, dtype=np.uint64)
    urls, _, families = _pages(site, number, numbers, np.ones(rows, np.int64), chance)
    return urls, pa.repeat(site.cluster(number), len(urls)), families


def _drawn(
    site: Site, pages: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], mean: float, largest: int, chance: Chance
) -> list[Made]:
    """Make the next pages of each section, with clusters of drawn sizes."""
    made = []
    for number in np.flatnonzero(counts).tolist():
        numbers = (pages[number] + np.arange(counts[number])).astype(np.uint64)
        sizes = cluster_sizes(len(numbers), mean, largest, chance)
        made.append(_pages(site, number, numbers, sizes, chance))
    return made


def _pages(site: Site, number: int, numbers: Numbers, sizes: npt.NDArray[np.int64], chance: Chance) -> Made:
    """Make the URLs of some pages of a section."""
    part, section = site.sections[number]
    rows = np.repeat(np.arange(len(numbers)), sizes)
    values = Values(section.plain, numbers, rows, part.seed, chance)
    forms = ways(section)
    # The plain form as often as all others together.
    odds = np.array([1.0, *(1 / (len(forms) - 1) for _ in forms[1:])])
    drawn = chance.choice(len(forms), len(rows), p=odds / odds.sum())
    made = []
    for place in range(len(forms)):
        some = np.flatnonzero(drawn == place)
        if len(some):
            urls = _spelled(site, part, section, place, values, some, chance)
            clusters = joined(f"{site.number}.{number}.", decimal(numbers[rows[some]]))
            made.append((urls.join(part.separator), clusters, urls.families))
    return (
        pa.concat_arrays([each[0] for each in made]),
        pa.concat_arrays([each[1] for each in made]),
        np.concatenate([each[2] for each in made]),
    )


def _spelled(
    site: Site,
    part: Part,
    section: Section,
    place: int,
    values: Values,
    rows: npt.NDArray[np.intp],
    chance: Chance,
) -> Urls:
    """Write rows by one of the templates, and let the families of the site vary them."""
    form = ways(section)[place]
    template = form.template
    path = values.render(template.path, rows)
    host = (
        values.render((*template.host, f".{site.domain}"), rows) if template.host else pa.repeat(site.host, len(rows))
    )
    urls = Urls(
        section.name,
        pa.repeat(site.scheme, len(rows)),
        host,
        joined(part.prefix, path) if part.prefix else path,
        pa.repeat("", len(rows)),
        [(name, values.render(value, rows)) for name, value in template.arguments],
        np.full(len(rows), BITS.get(form.family, 0), np.uint32),
        np.zeros(len(rows), np.bool_),
    )
    if section.giant:
        urls.mark(section.giant, np.ones(len(rows), np.bool_))
    for extra in section.extras:
        shown = chance.random(len(rows)) < 0.4
        urls.add(extra.name, values.render(pieces(extra.value), rows), shown)
        urls.mark(extra.family, shown)
    for plant in site.plants:
        if plant.family not in section.closed and (not plant.sections or section.name in plant.sections):
            vary(urls, plant, chance)
    return urls
