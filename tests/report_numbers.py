"""The numbers of a report, made up: as many sites and rules as a test asks for."""

from typing import Any

from undust.run.findings import VERSION
from undust.run.vega import charts

HOSTILE = (
    "</script></style></code>\"'><img src=x onerror='hostile=1;alert(1)'><script>hostile=1;alert(2)</script>"
    "<a href='javascript:alert(3)'>\u202egnihton\u0000<iframe src=http://127.0.0.1:9/></title>{{7*7}}" + "W" * 300
)
SURE = {"compression": [0.4, 0.6], "pages_lost": [0.0, 0.02], "fpr": [0.0, 0.05]}


def measures(urls: int) -> dict[str, Any]:
    return {
        "urls": urls,
        "clusters": urls // 3,
        "duplicate_rate": 1 - (urls // 3) / urls,
        "keys": urls // 2,
        "compression": 1 - (urls // 2) / urls,
        "dup_reduction": 0.7,
        "fpr": 0.001,
        "pages_lost": 0.0005,
        "recall_of_possible": 0.75,
        "recall_without_large": 0.7,
        "rules": 5,
        "unusable": 0,
        "intervals": SURE,
    }


def made_up(*, sites: int, rules_each: int, urls_each: int = 600, nodes: int = 40, text: str = "") -> dict[str, Any]:
    """Make up a report. `text` stands wherever the web has a say."""
    names = [f"site{place}.example{text}" for place in range(sites)]
    whole = {**measures(urls_each * sites), "macro": {}}
    points = [{"max_fpr": at, **measures(900), "rules": 3} for at in (0.0, 0.001, 0.01, 0.05, 0.2)]
    edges = [0.3 + 0.7 * place / 40 for place in range(41)]
    bins = {"edges": edges, "counts": [place * place for place in range(40)]}
    found: dict[str, Any] = {
        "version": VERSION,
        "undust": "0.1.0",
        "made": "2026-01-02T03:04:05+00:00",
        "options": {"method": "minhash", "learner": "both", "max_fpr": 0.01, "base_url": text or None},
        "inputs": {"count": 2, "names": [f"crawl{text}.warc.gz", "more.jsonl"]},
        "read": {
            "records": 1000, "pages": 900, "bytes": 123456, "skipped": {f"status 404{text}": 60}, "limited": {},
            "damaged": 40, "damage": [{"source": f"crawl{text}.warc.gz", "what": f"not a record{text}", "offset": 17}],
        },
        "methods": {
            name: {"urls": 900, "clusters": 300, "duplicates": 600, "duplicate_rate": 2 / 3, "largest": 40}
            for name in ("exact", "minhash")
        },
        "sizes": {"counts": [[1, 900], [2, 300], [3, 120], [5, 40], [9, 12], [40, 2], [900, 1]], "exponent": 2.2},
        "evaluation": {
            "holdout": 0.5, "seed": 0, "by_cluster": whole, "by_sample": whole, "learned_from": whole,
        },
        "sites": [
            {
                "site": name, "urls": urls_each + place, "pages": 200, "saved": 300, "left": 7,
                "tested": measures(urls_each // 2) if place % 5 != 4 else None, "learned_from": measures(urls_each),
                "rules": list(range(place * rules_each, (place + 1) * rules_each)),
            }
            for place, name in enumerate(names)
        ],
        "rules": [_rule(number, names[number // rules_each], text) for number in range(sites * rules_each)],
        "trees": [{"site": name, "nodes": [_node(at, text) for at in range(nodes)]} for name in names[:200]],
        "tradeoff": {"urls": 900, "of": 1800, "max_fpr": 0.01, "duplicate_rate": 0.66, "points": points},
        "unexplained": _unexplained(names[0], text),
        "confused": {"keys": 60, "pages": 70, "worst": [_confusion(number, text) for number in range(60)]},
        "similarity": {
            "around": {
                **bins, "threshold": 0.8, "pages": 900, "of": 1800, "alone": 30, "just_below": 12, "just_above": 20,
            },
            "members": bins,
        },
        "titles": {_url(number, text): f"A page{text}" for number in range(60)},
        "stages": [
            {"stage": name, "seconds": 3.5, "cpu_seconds": 6.1, "peak_bytes": 3e8}
            for name in ("pages", "clusters", "similarity", "rules", "evaluation", "tradeoff")
        ],
    }  # fmt: skip
    return {**found, "charts": charts(found)}


def _url(number: int, text: str) -> str:
    return f"http://www.site{number % 7}.example/some/longer/path/page-{number}.html?sid={number:032x}{text}"


def _rule(number: int, site: str, text: str) -> dict[str, Any]:
    return {
        "number": number + 1,
        "site": site,
        "words": f"where the first segment is page{number} and the argument do is there: the argument sid{text}"
        " does not matter; the label before the domain does not matter (www is fetched)",
        "line": f"//….{{?}}.{site}/page{number}/…?do={{?}}&sid={{?}}  →  //….{{*=www}}.{site}/page{number}/…?do={{?}}",
        "urls": 300 + number,
        "saved": 200,
        "pages": 100,
        "lost": 0,
        "fpr": 0.0,
        "fpr_interval": [0.0, 0.012],
        "learner": "tree",
        "support": 4000,
        "false_positives": 0,
        "examples": [[_url(number, text), _url(number + 1, text)], [_url(number + 2, text), _url(number + 3, text)]],
    }


def _node(place: int, text: str) -> dict[str, Any]:
    return {
        "parent": (place - 1) // 2 if place else -1,
        "asks": f"path[{place}] = 'a-longer-value-{place}{text}'" if place else "",
        "pattern": f"http://www\\.site\\.example/a/(/[^/]*)*[?&]sid=[^&]*{text}" if place > 19 else "",
        "urls": 1000 // (place + 1),
        "pages": 400 // (place + 1),
        "hidden": place % 3,
        "same": [[0, 0.8], [1, 0.6]] if place > 3 else [],
    }


def _unexplained(site: str, text: str) -> dict[str, Any]:
    differ = ["path[0]", f"?sid{text}"]
    examples = [_url(number, text) for number in range(3)]
    largest = {"site": site, "urls": 9, "left": 8, "differ": differ, "decided": False, "examples": examples}
    difference = {"site": site, "differ": differ, "clusters": 3, "left": 8, "examples": examples}
    return {
        "clusters": 100,
        "left": 200,
        "across_sites": 3,
        "looked_at": 100,
        "largest": [largest] * 60,
        "differences": [
            {**difference, "would_save": saves, "would_lose": loses}
            for saves, loses in [(9, 40), (0, 0), (3, 0), (None, None)] * 15
        ],
    }


def _confusion(number: int, text: str) -> dict[str, Any]:
    examples = [_url(number, text), _url(number + 3, text)]
    return {"key": _url(number, text), "rule": number % 3 - 1, "urls": 4, "pages": 2, "examples": examples}
