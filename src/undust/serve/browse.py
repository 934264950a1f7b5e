"""What people and programs look at: overview, sites, trees, clusters, pages, related pages, search."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from undust.errors import InputError, UrlError
from undust.serve import schemas as s
from undust.serve.answers import refuse, success
from undust.serve.limits import MAX_ROWS, MAX_TEXT, ROWS
from undust.serve.live_rules import about_rule
from undust.serve.overview import overview
from undust.serve.state import State
from undust.serve.threads import in_thread

Start = Annotated[int, Query(ge=0, le=2**31, description="The first row, from 0.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="Rows, at most.")]
Text = Annotated[str, Query(max_length=MAX_TEXT, description="Only those with this text in them, whatever its case.")]
Url = Annotated[str, Query(min_length=1, max_length=MAX_TEXT, description="URL of a page of the run.")]
Name = Annotated[str, Path(min_length=1, max_length=MAX_TEXT)]

_SITE_ORDERS = {"pages": -1, "duplicates": -1, "duplicate_rate": -1, "rules": -1, "saved": -1, "lost": -1, "site": 1}
SiteOrder = Annotated[str, Query(pattern=f"^({'|'.join(_SITE_ORDERS)})$", description="What the sites are sorted by.")]

_PAGE = s.obj(
    url=s.STRING, site=s.STRING, cluster=s.CLUSTER, similarity=s.NUMBER_OR_NULL,
    details={"type": ["object", "null"]}, explanation=s.EXPLANATION,
)  # fmt: skip
_RELATED = s.obj(url=s.STRING, related=s.arr(s.obj(url=s.STRING, similarity=s.NUMBER)))
_COMPARED = s.obj(closed=False, a=s.STRING, b=s.STRING, same_cluster=s.FLAG, same_key=s.FLAG)
_FOUND = s.obj(sites=s.arr(s.STRING), rules=s.arr(s.RULE), urls=s.arr(s.STRING), complete=s.FLAG)


def routes(state: State) -> APIRouter:
    """Give the handlers."""
    router = APIRouter()

    @router.get("/overview", responses=s.responses(s.ANY_OBJECT), summary="Give the run in numbers")
    async def get_overview() -> Response:
        return success(await in_thread(overview, state))

    @router.get("/sites", responses=s.responses(s.arr(s.SITE)), summary="List the sites")
    async def get_sites(
        request: Request, q: Text = "", sort: SiteOrder = "pages", start: Start = 0, limit: Limit = ROWS
    ) -> Response:
        rows = await in_thread(_sites, state, q, sort)
        return listed(request, rows[start : start + limit], len(rows), start, limit)

    @router.get(
        "/sites/{site:path}/tree", responses=s.responses(s.TREE, 404), summary="Give the pattern tree of a site"
    )
    async def get_tree(site: Name) -> Response:
        state.need_catalog()
        if state.trees is None or state.need_catalog().site(site) is None:
            refuse(404, "no_site", f"no site {site[:200]!r} in this run; GET /sites lists those that there are")
        return success(await in_thread(state.trees.of, site, state.rules.current))

    @router.get("/sites/{site:path}", responses=s.responses(s.SITE, 404), summary="Give one site")
    async def get_site(site: Name) -> Response:
        found = (await in_thread(state.sites)).get(site)
        if found is None:
            refuse(404, "no_site", f"no site {site[:200]!r} in this run; GET /sites lists those that there are")
        return success(found)

    @router.get("/clusters", responses=s.responses(s.arr(s.CLUSTER), 404), summary="List clusters, the largest first")
    async def get_clusters(
        request: Request,
        site: Annotated[str | None, Query(max_length=MAX_TEXT)] = None,
        q: Text = "",
        least: Annotated[int, Query(ge=1, le=2**31, description="URLs that they have at least.")] = 2,
        start: Start = 0,
        limit: Limit = ROWS,
    ) -> Response:
        catalog = state.need_catalog()
        part = await in_thread(catalog.list_clusters, site=site, text=q, least=least, start=start, limit=limit)
        return listed(request, part.rows, part.total, start, limit, more=part.more)

    @router.get(
        "/clusters/{name:path}",
        responses=s.responses(s.obj(cluster=s.CLUSTER, members=s.arr(s.MEMBER)), 404),
        summary="Give a cluster and its URLs",
    )
    async def get_cluster(request: Request, name: Name, start: Start = 0, limit: Limit = ROWS) -> Response:
        catalog = state.need_catalog()
        cluster = await in_thread(catalog.cluster, name)
        if cluster is None:
            refuse(
                404, "no_cluster", f"no cluster {name[:200]!r} in this run; GET /clusters lists those that there are"
            )
        members = await in_thread(catalog.members, cluster, start, limit)
        result = {"cluster": cluster, "members": members}
        return listed(request, result, cluster["size"], start, limit)

    @router.get("/pages", responses=s.responses(s.arr(_PAGE), 404), summary="Find a page: a list of it, or of none")
    async def get_pages(url: Url) -> Response:
        known = await in_thread(state.need_catalog().find, url)
        return success([] if known is None else [await in_thread(page_of, state, url)])

    @router.get("/pages/{url:path}", responses=s.responses(_PAGE, 404), summary="Give what is known of a page")
    async def get_page(url: Name) -> Response:
        return success(await in_thread(page_of, state, url))

    @router.get("/related", responses=s.responses(_RELATED, 404, 409), summary="List pages about the same things")
    async def get_related(
        url: Url,
        n: Annotated[int, Query(ge=1, le=100, description="How many, at most.")] = 10,
        below: Annotated[float, Query(gt=0, le=2, description="Only pages that are less similar.")] = 2,
    ) -> Response:
        return success(await in_thread(_related, state, url, n, below))

    @router.get("/compare", responses=s.responses(_COMPARED, 404), summary="Compare two pages")
    async def get_compared(a: Url, b: Url) -> Response:
        return success(await in_thread(_compare, state, a, b))

    @router.get("/search", responses=s.responses(_FOUND), summary="Find sites, rules and pages")
    async def get_found(
        q: Annotated[str, Query(min_length=1, max_length=MAX_TEXT)],
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> Response:
        return success(await in_thread(_search, state, q, limit))

    return router


def listed(
    request: Request, rows: Any, total: int | None, start: int, limit: int, *, more: bool | None = None
) -> Response:
    """Answer with a part of a list, and say where the next part is."""
    following = None
    if more if more is not None else total is not None and start + limit < total:
        asked = {**request.query_params, "start": start + limit, "limit": limit}
        following = f"{request.url.path}?{urlencode(asked)}"
    return success(rows, total=total, next_page=following)


def _sites(state: State, text: str, sort: str) -> list[dict[str, Any]]:
    wanted = text.lower()
    rows = [row for row in state.sites().values() if wanted in row["site"]]
    if sort == "site":
        return sorted(rows, key=lambda row: row["site"])
    return sorted(rows, key=lambda row: (-(row[sort] or 0), row["site"]))


def page_of(state: State, url: str) -> dict[str, Any]:
    """Give what is known of a page."""
    from undust.serve.asked import explained

    found = _find(state, url)
    row = found.pop("page")
    details = state.pages.details(row) if row >= 0 else None
    return {**found, "details": details, "explanation": explained(state.rules.current, found["url"])}


def _find(state: State, url: str) -> dict[str, Any]:
    found = state.need_catalog().find(url)
    if found is None:
        refuse(404, "no_page", f"no page {url[:200]!r} in this run; GET /search finds those that there are")
    return found


def _related(state: State, url: str, n: int, below: float) -> dict[str, Any]:
    if not state.pages.exist():
        refuse(404, "no_pages", "this run has no pages.parquet, so that nothing is known of what pages are about")
    try:
        found = state.related.index().related(url, n, below=below if below < 2 else None)
    except (InputError, UrlError) as error:
        refuse(404, "no_page", str(error))
    return {"url": url, "related": [page._asdict() for page in found]}


def _compare(state: State, a: str, b: str) -> dict[str, Any]:
    from undust.serve.asked import explained

    first, second = _find(state, a), _find(state, b)
    now = state.rules.current
    told = [explained(now, each["url"]) for each in (first, second)]
    made: dict[str, Any] = {
        "a": first["url"],
        "b": second["url"],
        "same_cluster": first["cluster"]["name"] == second["cluster"]["name"],
        "same_key": told[0]["key"] is not None and told[0]["key"] == told[1]["key"],
        "explanations": told,
        "details": [None, None],
        "signatures": None,
        "text": None,
        "missing": "This run has no pages.parquet, so nothing is known of what the pages say.",
    }
    if first["page"] >= 0 and second["page"] >= 0:
        made["details"] = [state.pages.details(each["page"]) for each in (first, second)]
        made |= state.pages.compare((first["url"], first["page"]), (second["url"], second["page"]))
    return made


def _search(state: State, text: str, limit: int) -> dict[str, Any]:
    wanted, now = text.strip().lower(), state.rules.current
    sites = [site for site in state.sites() if wanted in site][:limit]
    rules: list[dict[str, Any]] = []
    for name, line in state.rules.lines(now).items():
        if len(rules) >= limit:
            break
        if name.startswith(wanted) or wanted in line:
            rules.append(about_rule(now, name))
    urls, complete = state.catalog.search(text.strip(), limit) if state.catalog else ([], True)
    return {"sites": sites, "rules": rules, "urls": urls, "complete": complete}
