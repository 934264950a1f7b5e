"""The pattern tree of a site for the page: its nodes, which of them hold duplicates of each other, and the rules."""

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.learn.columns import by_site
from undust.learn.state import IGNORED
from undust.learn.tree.forms import forms_of
from undust.learn.tree.nodes import Overlaps, duplicate_nodes, overlaps
from undust.learn.tree.pattern_tree import Constraint, PatternTree, grow
from undust.learn.tree.text import pattern
from undust.rules.words import key_in_words
from undust.serve.catalog import Catalog
from undust.serve.limits import TREE_URLS, TREES
from undust.serve.live_rules import Loaded

_MOST = 0.9
"""A rule is drawn at the lowest node that holds this share of the URLs it decides."""

MAX_LINKS = 60
MAX_EXAMPLES = 3
MAX_PATTERN = 400


class SiteTrees:
    """Trees of sites, grown when they are asked for; the last ones are kept until other rules are in force."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._kept: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, site: str, now: Loaded) -> dict[str, Any]:
        """Give the tree of a site."""
        with self._lock:  # one at a time: each may take a second and some memory
            key = site, now.number
            if key not in self._kept:
                self._kept[key] = _tree(self._catalog, site, now)
                while len(self._kept) > TREES:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


def _tree(catalog: Catalog, site: str, now: Loaded) -> dict[str, Any]:
    table, all_urls = catalog.urls_of(site, TREE_URLS)
    empty = {"site": site, "urls": all_urls, "looked_at": len(table), "nodes": [], "links": [], "rules": []}
    urls = next((each for each in by_site(table) if each.site == site), None)
    if urls is None or not len(urls):
        return empty
    tree = grow(forms_of(urls))
    found = overlaps(tree)
    nodes = [_node(tree, node, urls.urls) for node in range(len(tree))]
    leaf = tree.leaf_of[tree.forms.of_url]
    return {**empty, "nodes": nodes, "links": _links(tree, found), "rules": _rules(tree, leaf, urls.urls, now)}


def _node(tree: PatternTree, node: int, urls: pa.Array) -> dict[str, Any]:
    rows = tree.members(node)
    count, clusters = int(tree.forms.weights[rows].sum()), len(np.unique(tree.forms.clusters[rows]))
    examples = np.flatnonzero(np.isin(tree.forms.of_url, rows[:MAX_EXAMPLES]))[:MAX_EXAMPLES]
    return {
        "id": node,
        "parent": None if node == 0 else int(tree.parent[node]),
        "asks": _asks(tree, tree.constraint(node)) if node else "all URLs",
        "pattern": pattern(tree, node)[:MAX_PATTERN],
        "urls": count,
        "clusters": clusters,
        "duplicate_rate": round((count - clusters) / count, 4) if count else 0.0,
        "examples": urls.take(pa.array(examples)).to_pylist(),
    }


def _asks(tree: PatternTree, constraint: Constraint) -> str:
    """Say what a node asks for, as `argument do is login`."""
    name = key_in_words(constraint.key)
    if constraint.test == "is":
        code = constraint.values[0]
        value = "anything" if code == IGNORED else tree.forms.site.value(code)
        return f"{name} is {value or 'empty'}"
    return f"{name} is " + {"absent": "absent", "present": "there", "other": "something else"}[constraint.test]


def _links(tree: PatternTree, found: Overlaps) -> list[dict[str, Any]]:
    """List pairs of nodes that hold duplicates of each other, those with the most first."""
    pairs = {(min(pair), max(pair)) for pair in duplicate_nodes(tree, found) if pair[0] != pair[1]}
    links = [
        {
            "from": s,
            "to": t,
            "overlap": round(found.overlap(s, t), 4),
            "urls": int(found.shared[s, t] + found.shared[t, s]),
        }
        for s, t in sorted(pairs)
    ]
    return sorted(links, key=lambda link: (-link["urls"], link["from"], link["to"]))[:MAX_LINKS]


def _rules(tree: PatternTree, leaf: npt.NDArray[Any], urls: pa.Array, now: Loaded) -> list[dict[str, Any]]:
    """Draw each rule from the node whose URLs it decides to the node of the URLs that it makes of them."""
    deciding = now.rules.decide_many(urls).rules
    fetched = now.rules.normalize_many(urls)
    target = pc.index_in(fetched, urls).fill_null(-1).to_numpy()
    names = {place: name for name, (place, _) in now.by_id.items()}
    found: list[dict[str, Any]] = []
    for place in np.unique(deciding[deciding >= 0]).tolist():
        rows = np.flatnonzero(deciding == place)
        goals = target[rows]
        changed = rows[goals != rows]
        there = goals[(goals >= 0) & (goals != rows)]
        source = _lowest(tree, leaf[changed if len(changed) else rows])
        goal = _lowest(tree, leaf[there]) if len(there) else source
        name = names.get(place)
        found.append({"rule": name, "from": source, "to": goal, "urls": len(rows), "changed": len(changed)})
    return sorted(found, key=lambda each: (-each["changed"], -each["urls"]))[:MAX_LINKS]


def _lowest(tree: PatternTree, leaves: npt.NDArray[Any]) -> int:
    """Give the lowest node that holds most of some forms, each given by its leaf."""
    weight = np.bincount(leaves, minlength=len(tree)).astype(np.int64)
    for node in range(len(tree) - 1, 0, -1):  # a parent comes before its children
        weight[tree.parent[node]] += weight[node]
    node, least = 0, _MOST * weight[0]
    while True:
        heavy = [child for child in tree.children(node) if weight[child] >= least]
        if not heavy:
            return node
        node = heavy[0]
