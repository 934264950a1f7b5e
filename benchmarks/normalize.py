"""Rules at work: the same URLs through rules for 10, 1,000 and 100,000 sites, beside other tools."""

import json
import logging
import random
import tempfile
import time
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from w3lib.url import canonicalize_url

from benchmarks.timing import best_seconds, row
from undust.rule_files import load_rules
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.settings import MAX_URL_BYTES

SITES = (10, 1_000, 100_000)
COUNT, FEW = 262_144, 8_192
MOST_LOAD_SECONDS = 0.1
SHORT, LONG = 5_000, 20_000
"""Lengths of hostile URLs; escaped they are three times as long, and at most of the greatest length."""
Row = dict[str, Any]

_LINES = (
    "{0}  //….{0}/…/index.html  →  //….{0}/…/",
    "{0}  //….{0}/print/{{a}}  →  //….{0}/{{a}}",
    "{0}  //….{0}/topic/{{a}}?t={{b:digits}}.msg{{*:digits}}  →  //….{0}/topic/{{a}}?t={{b}}.0",
    "{0}  //….{0}/…?do=media&id={{?}}  →  //….{0}/…?do=media",
    "{0}  //….{0}/{{*}}/dp/{{a}}  →  //….{0}/{{*=item}}/dp/{{a}}",
    "{0}  //….{0}/…?page=1  →  //….{0}/…",
    "{0}  //….{0}/…?sid={{?}}&utm_source={{?}}&utm_medium={{?}}  →  //….{0}/…",
    "{0}  //….{0}/…?ref={{?}}  →  //….{0}/…",
    "{0}  //….{0}/forum/…?s={{?}}  →  //….{0}/forum/…",
    "{0}  //www.{0}/…  →  //⊥.{0}/…",
)
_QUERY_LINES = ("{0}  //….{0}/…?sid={{?}}&utm_source={{?}}&utm_medium={{?}}&ref={{?}}&s={{?}}  →  //….{0}/…",)
"""What the peer can say of a site, too."""
_QUERIES = (
    "",
    "",
    "sid={i}&id={i}",
    "id={i}",
    "do=media&id={i}",
    "utm_source=x&q={i}",
    "page=1",
    "t={i}.msg{i}",
    "a=1&b=2&ref=home",
)
_PATHS = ("/", "/a{j}/index.html", "/print/{i}", "/Title-{j}/dp/B0{i}", "/topic/a-nice-title-{i}.html", "/forum/x/{i}")


def site_name(number: int) -> str:
    """Name a site, the same in every set of rules."""
    return f"site{number}.{('com', 'org', 'co.uk', 'de', 'net')[number % 5]}"


def rules_of(number: int, lines: tuple[str, ...] = _LINES) -> list[Rule]:
    """Give the rules of a site; ten of all kinds, if nothing else is said."""
    return [replace(rule, site=site_name(number)) for rule in _read(lines)]


@cache
def _read(lines: tuple[str, ...]) -> tuple[Rule, ...]:
    """Read the rules of a site once: they are the same for all."""
    return tuple(read_line(line.format(site_name(0))) for line in lines)


def urls_of(sites: int, count: int) -> list[str]:
    """Give URLs spread over some sites, in no order."""
    chance = random.Random(0)  # noqa: S311 - no secret
    found = []
    for i in range(count):
        host = chance.choice(("", "www.", "de.")) + site_name(chance.randrange(sites))
        path = chance.choice(_PATHS).format(i=i, j=i % 90)
        query = chance.choice(_QUERIES).format(i=i)
        found.append(f"http://{host}{path}{'?' if query else ''}{query}")
    return found


def discarder(folder: Path, sites: int) -> UrlCanonicalizer:
    """Give the peer, with what it can say of the same rules: the arguments that go."""
    gone = ("sid", "utm_source", "utm_medium", "ref", "s")
    rules = [
        {"order": 100, "urlPattern": {"include": [site_name(number)]}, "processor": "queryRemoval", "args": gone}
        for number in range(sites)
    ]
    (folder / f"{sites}.json").write_text(json.dumps(rules))
    return UrlCanonicalizer([folder / f"{sites}.json"])


def run() -> list[Row]:
    """Measure everything in one process on one core; the clock counts what it works, not what others do meanwhile."""
    logging.getLogger("tldextract").setLevel(logging.CRITICAL)  # the peer asks the network for a list, and does without
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load = _write_and_load(folder)
        sets = {sites: RuleSet(rule for n in range(sites) for rule in rules_of(n)) for sites in SITES[:2]}
        sets[SITES[2]] = load_rules(folder / "rules.bin")
        query = {
            sites: RuleSet(rule for n in range(sites) for rule in rules_of(n, _QUERY_LINES)) for sites in SITES[:2]
        }
        return [
            *_speeds(folder, query, "arguments only"),
            *_speeds(folder, sets, "ten rules a site"),
            *_sites(sets),
            *_hostile(),
            load,
        ]


def _speeds(folder: Path, sets: dict[int, RuleSet], kind: str) -> list[Row]:
    """Time sets of rules: those that the peer has as well, argument by argument, and those of all kinds."""
    given = urls_of(SITES[0], COUNT)
    few, column = given[:FEW], pa.array(given)
    found = []
    for sites in SITES[:2]:
        rules, peer = sets[sites], discarder(folder, sites)
        name = f"{sites:,} sites, {kind}"
        batch, discarded, w3lib, single = best_seconds(
            lambda rules=rules: _one_core(rules, column),  # type: ignore[misc] # this turn's rules
            lambda peer=peer: [peer.process_url(url) for url in few],  # type: ignore[misc] # this turn's peer
            lambda: [canonicalize_url(url) for url in few],
            lambda rules=rules: [rules.normalize(url) for url in few],  # type: ignore[misc] # this turn's rules
            clock=time.process_time,
        )
        ours, alone, dud, lib = COUNT / batch, FEW / single, FEW / discarded, FEW / w3lib
        found += [
            row(f"batch, {name} : 2 million a second", _rate(ours), "", ours / 2e6, 1),
            row(f"batch, {name} : duplicate-url-discarder", _rate(ours), _rate(dud), ours / dud, 40),
            row(f"batch, {name} : w3lib", _rate(ours), _rate(lib), ours / lib, 20),
            row(f"one URL, {name} : 150,000 a second", _rate(alone), "", alone / 150e3, 1),
            row(f"one URL, {name} : w3lib", _rate(alone), _rate(lib), alone / lib, 3),
        ]
    return found


def _sites(sets: dict[int, RuleSet]) -> list[Row]:
    """Compare what sites cost: for the same URLs, and for URLs of all sites, whose rules no cache of a CPU holds."""
    ten, all_sites = pa.array(urls_of(SITES[0], COUNT)), pa.array(urls_of(SITES[2], COUNT))
    few, many = sets[SITES[0]], sets[SITES[2]]
    single = ten.slice(0, FEW).to_pylist()
    seconds = best_seconds(
        lambda: _one_core(few, ten),
        lambda: _one_core(many, ten),
        lambda: _one_core(many, all_sites),
        lambda: [few.normalize(url) for url in single],
        lambda: [many.normalize(url) for url in single],
        clock=time.process_time,
    )
    counts = (COUNT, COUNT, COUNT, FEW, FEW)
    base, same, spread, one, one_many = (each / count for each, count in zip(seconds, counts, strict=True))
    return [
        row("100,000 sites, same URLs : 10 sites", _rate(1 / same), _rate(1 / base), same / base, 1.3, at_most=True),
        row("100,000 sites, URLs of all : 10", _rate(1 / spread), _rate(1 / base), spread / base, 1.3, at_most=True),
        row("one URL, 100,000 sites : 10", _rate(1 / one_many), _rate(1 / one), one_many / one, 1.3, at_most=True),
    ]


def _hostile() -> list[Row]:
    """Time URLs that are made to be slow: what a byte costs in longer ones, and the slowest of the greatest length."""
    rules = RuleSet(
        [
            read_line("h.com  //….h.com/…/{a}aab{b}  →  //….h.com/…/{b}-{a}"),
            read_line("h.com  //….h.com/{a}/…?sid={?}  →  //….h.com/{a|lower}/…  (arguments in order)"),
        ]
    )
    shapes = ("/", "aa", "=", "&a=", ";a=1", "%41", "a.", "/..", "%2", "\\", "aab")
    heads = ("http://h.com/", "http://h.com/?", "http://me@h.com/", "http://h.com/;")
    worst, slowest, told, slow = 0.0, 0.0, "", ""
    for head, shape in product(heads, shapes):
        start = head + shape
        some = [[(head + shape * size)[:size]] * 4 for size in (SHORT, LONG, MAX_URL_BYTES)]
        one, other, most = best_seconds(
            *(lambda urls=urls: rules.normalize_many(urls) for urls in some),
            rounds=3,
            clock=time.process_time,
        )
        if other / one * SHORT / LONG > worst:
            worst, told = other / one * SHORT / LONG, start
        if most / 4 > slowest:
            slowest, slow = most / 4, start
    seconds = f"{slowest * 1000:.1f} ms"
    return [
        row(f"hostile, {LONG:,} bytes, each : {SHORT:,}", f"worst: {told}…", "", worst, 2, at_most=True),
        row(f"hostile, {MAX_URL_BYTES:,} bytes : 0.1 s", f"{seconds}, {slow}…", "", slowest / 0.1, 1, at_most=True),
    ]


def _write_and_load(folder: Path) -> Row:
    rules = RuleSet(rule for number in range(SITES[2]) for rule in rules_of(number))
    rules.save(str(folder / "rules.bin"))
    (seconds,) = best_seconds(lambda: load_rules(folder / "rules.bin"), clock=time.process_time)
    size = (folder / "rules.bin").stat().st_size
    told = f"{seconds * 1000:.1f} ms, {size / 2**20:.0f} MiB"
    job = f"load of {len(rules):,} rules : {MOST_LOAD_SECONDS:g} s"
    return row(job, told, "", seconds / MOST_LOAD_SECONDS, 1, at_most=True)


def _one_core(rules: RuleSet, column: pa.Array) -> None:
    rules._apply(column, fetch=True, threads=1)


def _rate(each_second: float) -> str:
    return f"{each_second / 1e6:.3f} M URLs/s"
