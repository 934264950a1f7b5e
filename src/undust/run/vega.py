"""The charts of a report as Vega-Lite, for whoever wants to go on with Altair or Vega: plain values, data inside."""

from typing import Any

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SHOWN_SITES = 50


def charts(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give the specification of each chart that a report has the numbers for, by name."""
    found = {
        "sizes": _sizes(report),
        "tradeoff": _tradeoff(report),
        "around": _histogram(report["similarity"]["around"], "pages, by the page most like them"),
        "members": _histogram(report["similarity"]["members"], "pages, by the centre of their cluster"),
        "sites": _sites(report),
    }
    return {name: spec for name, spec in found.items() if spec is not None}


def _spec(title: str, values: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"$schema": _SCHEMA, "title": title, "width": 480, "height": 280, "data": {"values": values}, **more}


def _axis(field: str, title: str, *, kind: str = "quantitative", **more: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, "title": title, **more}


def _sizes(report: dict[str, Any]) -> dict[str, Any]:
    values = [{"urls": size, "clusters": count} for size, count in report["sizes"]["counts"]]
    log = {"type": "log"}
    return _spec(
        "Clusters by size",
        values,
        mark={"type": "point", "filled": True, "tooltip": True},
        encoding={
            "x": _axis("urls", "URLs of a cluster", scale=log),
            "y": _axis("clusters", "clusters", scale=log),
        },
    )


def _tradeoff(report: dict[str, Any]) -> dict[str, Any] | None:
    points = report["tradeoff"].get("points")
    if not points:
        return None
    values = [
        {
            "max_fpr": f"{point['max_fpr']:.4g}",
            "saved": point["compression"],
            "low": point["intervals"]["compression"][0],
            "high": point["intervals"]["compression"][1],
            "lost": point["pages_lost"],
            "fpr": point["fpr"],
        }
        for point in points
    ]
    x = _axis("max_fpr", "max_fpr", kind="ordinal", sort=None)
    share: dict[str, Any] = {"axis": {"format": "%"}}
    return _spec(
        "What rules save, by the false pairs they may have",
        values,
        layer=[
            {
                "mark": "rule",
                "encoding": {"x": x, "y": _axis("low", "fetches saved", **share), "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "point": True, "tooltip": {"content": "data"}},
                "encoding": {"x": x, "y": _axis("saved", "fetches saved", **share)},
            },
        ],
    )


def _histogram(found: dict[str, Any] | None, what: str) -> dict[str, Any] | None:
    if not found:
        return None
    edges = found["edges"]
    values = [
        {"from": low, "to": high, "pages": count}
        for low, high, count in zip(edges[:-1], edges[1:], found["counts"], strict=True)
    ]
    bars = {
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": _axis("from", "similarity", scale={"domain": [edges[0], 1]}),
            "x2": {"field": "to"},
            "y": _axis("pages", "pages"),
        },
    }
    layers: list[dict[str, Any]] = [bars]
    if "threshold" in found:
        line = {"mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": {"x": {"datum": found["threshold"]}}}
        layers.append(line)
    return _spec(f"Similarity: {what}", values, layer=layers)


def _sites(report: dict[str, Any]) -> dict[str, Any] | None:
    values = [
        {
            "site": site["site"],
            "urls": site["tested"]["urls"],
            "saved": site["tested"]["compression"],
            "possible": site["tested"]["duplicate_rate"],
            "lost": site["tested"]["pages_lost"],
        }
        for site in report["sites"][:SHOWN_SITES]
        if site["tested"]
    ]
    if not values:
        return None
    y = _axis("site", "", kind="nominal", sort=None)
    share: dict[str, Any] = {"axis": {"format": "%"}}
    return {
        **_spec(
            "What rules save, by site, on pages that were never seen",
            values,
            layer=[
                {
                    "mark": {"type": "bar", "tooltip": {"content": "data"}},
                    "encoding": {"y": y, "x": _axis("saved", "fetches saved", **share)},
                },
                {
                    "mark": {"type": "tick", "thickness": 2},
                    "encoding": {"y": y, "x": _axis("possible", "fetches saved", **share)},
                },
            ],
        ),
        "height": {"step": 18},
    }
