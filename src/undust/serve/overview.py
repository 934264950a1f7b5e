"""A run in numbers, for the first page that people see."""

from typing import Any

from undust.serve.state import State

_TOP = 8


def overview(state: State) -> dict[str, Any]:
    """Give the run in numbers."""
    now, catalog = state.rules.current, state.catalog
    sites = list(state.sites().values())
    states = list(now.states.values())
    return {
        "folder": state.folder.path.name,
        "found": state.folder.found(),
        "pages": catalog.urls if catalog else None,
        "clusters": catalog.clusters if catalog else None,
        "by_equal_content": bool(catalog and catalog.exact),
        "sizes": catalog.sizes() if catalog else [],
        "sites": len(sites),
        "rules": len(now.rules),
        "accepted": len(states),
        "withdrawn": len(now.withdrawn),
        "merged": sum(rule.statistics.saves for _, rule in now.by_id.values()),
        "methods": (state.steps.get("clusters") or {}).get("methods") or {},
        "read": _read(state.steps),
        "evaluation": _evaluation(state.evaluation),
        "top": sorted(sites, key=lambda row: (-row["duplicates"], row["site"]))[:_TOP],
        "problem": state.rules.problem,
    }


def _read(steps: dict[str, Any]) -> dict[str, Any]:
    read = (steps.get("pages") or {}).get("read") or {}
    return {name: value for name, value in read.items() if isinstance(value, int | float)}


def _evaluation(evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name in ("by_cluster", "by_sample", "learned_from"):
        one = evaluation.get(name)
        if isinstance(one, dict):
            numbers = {each: value for each, value in one.items() if isinstance(value, int | float)}
            found.append({"protocol": name, **numbers})
    return found
