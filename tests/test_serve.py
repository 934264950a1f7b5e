"""`undust serve`: the HTTP API against a real server on loopback."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.serving import HOSTILE_URL, Running, serving
from undust.rule_files import load_rules
from undust.serve.catalog import open_catalog
from undust.serve.folder import open_folder
from undust.serve.limits import MAX_BATCH, MAX_BODY_BYTES, MAX_EXPLAINED


@pytest.fixture(scope="module")
def running(served_run: Path) -> Iterator[Running]:
    with serving(served_run) as server:
        yield server


URLS = ["http://shop.test/item/3?sid=9", "HTTP://WWW.shop.test:80/item/3", "no url", "http://other.test/?b&a"]


def test_answers_have_one_shape_and_errors_another(running: Running) -> None:
    for answer in (
        running.client.get("/health"),
        running.client.get("/overview"),
        running.client.get("/sites"),
        running.client.get("/rules"),
        running.client.get("/clusters"),
        running.client.post("/normalize", json={"url": "http://a.test"}),
        running.client.post("/explain", json={"urls": []}),
    ):
        assert list(answer.json()) == ["ok", "result", "total", "next"]
        assert answer.json()["ok"] is True
    for answer, status, code in (
        (running.client.get("/nothing"), 404, "no_such_path"),
        (running.client.get("/normalize"), 405, "no_such_method"),
        (running.client.get("/rules/none"), 404, "no_rule"),
        (running.client.get("/sites/none.test"), 404, "no_site"),
        (running.client.get("/sites", params={"limit": 0}), 422, "bad_value"),
        (
            running.client.post("/normalize", content=b"{", headers={"content-type": "application/json"}),
            400,
            "bad_json",
        ),
        (running.client.post("/normalize", json={"link": "x"}), 422, "bad_fields"),
        (running.client.post("/normalize", json={"urls": ["http://a.test", 3]}), 422, "bad_type"),
        (running.client.post("/normalize", content=b"x", headers={"content-type": "image/png"}), 415, "content_type"),
    ):
        assert list(answer.json()) == ["ok", "error"]
        assert list(answer.json()["error"]) == ["status", "code", "message"]
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert answer.json()["error"]["status"] == status
        assert answer.json()["error"]["message"]


def test_normalize_and_key_say_what_the_rules_say(running: Running, served_run: Path) -> None:
    rules = load_rules(served_run / "rules.json")
    assert len(rules)
    for path, one, many, scalar in (("/normalize", "url", "urls", rules.normalize), ("/key", "key", "keys", rules.key)):
        batch = running.ask(path, {"urls": URLS})
        assert isinstance(batch, dict)
        assert batch[many] == [scalar(URLS[0]), scalar(URLS[1]), None, scalar(URLS[3])]
        assert batch["unusable"] == 1
        assert [each["row"] for each in batch["problems"]] == [2]
        assert running.ask(path, {"url": URLS[0]}) == {one: scalar(URLS[0]), "problem": None}
        single = running.ask(path, {"url": "no url"})
        assert isinstance(single, dict)
        assert single[one] is None
        assert "absolute URL" in single["problem"]
        lines = running.client.post(path, content="\n".join(URLS), headers={"content-type": "text/plain"})
        assert lines.headers["content-type"] == "text/plain; charset=utf-8"
        assert lines.text.split("\n") == [scalar(URLS[0]), scalar(URLS[1]), "no url", scalar(URLS[3]), ""]


def test_the_planted_duplicates_are_the_same_page(running: Running) -> None:
    a, b, c = "http://shop.test/item/3?sid=1", "http://shop.test/item/3", "http://shop.test/item/4"
    pair = running.ask("/same", {"a": a, "b": b})
    assert isinstance(pair, dict)
    assert pair["same"] is True
    assert pair["keys"][0] == pair["keys"][1]
    assert running.ask("/same", {"pairs": [[a, b], [a, c], [a, "?"]]}) == {"same": [True, False, None], "unusable": 1}
    lines = running.client.post("/same", content=f"{a}\t{b}\n{a} {c}\n{a}\n", headers={"content-type": "text/plain"})
    assert lines.text == "true\nfalse\nunusable\n"


def test_explain_names_the_rule_in_one_url_and_in_many(running: Running) -> None:
    told = running.ask("/explain", {"url": URLS[0]})
    assert isinstance(told, dict)
    known = running.result(f"/rules/{told['id']}")
    assert isinstance(known, dict)
    assert known["line"] == told["rule"]
    assert told["words"] == known["words"]
    many = running.ask("/explain", {"urls": URLS})
    assert isinstance(many, dict)
    assert [each["problem"] is None for each in many["explanations"]] == [True, True, False, True]
    text = running.client.post("/explain", content="\n".join(URLS), headers={"content-type": "text/plain"}).text
    assert text.count("\n\n") == 3
    assert "unusable" in text


def test_lists_come_in_parts_that_lead_to_each_other(running: Running) -> None:
    seen: list[str] = []
    path = "/clusters?limit=7&site=shop.test"
    while path:
        answer = running.client.get(path).json()
        seen += [each["name"] for each in answer["result"]]
        path = answer["next"]
        assert answer["total"] == 30
    assert len(seen) == len(set(seen)) == 30


def test_a_site_has_its_tree_with_rules_between_its_nodes(running: Running) -> None:
    found = running.result("/sites/shop.test/tree")
    assert isinstance(found, dict)
    assert found["nodes"][0]["urls"] == found["urls"] == 90
    assert all(each["parent"] < each["id"] for each in found["nodes"][1:])
    drawn = {each["rule"] for each in found["rules"]}
    listed = running.result("/rules", site="shop.test")
    assert isinstance(listed, list)
    assert drawn
    assert drawn <= {each["id"] for each in listed}
    assert {each["from"] for each in found["links"]} <= {each["id"] for each in found["nodes"]}
    site = running.result("/sites/shop.test")
    assert isinstance(site, dict)
    assert found["nodes"][0]["duplicate_rate"] == round(site["duplicate_rate"], 4)  # one word, one number
    assert all(each["duplicate_rate"] == round(1 - each["clusters"] / each["urls"], 4) for each in found["nodes"])


def test_a_page_is_found_however_it_is_spelled(running: Running) -> None:
    for url in ("http://shop.test/item/3?sid=5ccd", "HTTP://SHOP.test:80/item/../item/3?sid=5ccd"):
        page = running.result(f"/pages/{quote(url, safe='')}")
        assert isinstance(page, dict)
        assert page["url"] == "http://shop.test/item/3?sid=5ccd"
        assert page["details"]["title"] == "Page 3"
        assert page["cluster"]["size"] == 3
    for url in ("http://shop.test/item/999", "../../etc/passwd", "..%2f..%2frules.json", "/etc/passwd", "\x00"):
        assert running.client.get(f"/pages/{quote(url, safe='')}").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/..%2fserver.py",
        "/page/%2e%2e/app.py",
        "/page//etc/passwd",
        "/page/../../../pyproject.toml",
    ],
)
def test_no_path_leads_out_of_the_folder_of_the_page(running: Running, path: str) -> None:
    request = httpx.Request("GET", running.address + "/")
    request.url = request.url.copy_with(raw_path=path.encode())
    assert running.client.send(request).status_code == 404


def test_two_pages_are_compared_line_by_line(running: Running) -> None:
    found = running.result("/compare", a="http://shop.test/item/3", b="http://www.shop.test/item/3")
    assert isinstance(found, dict)
    assert found["same_cluster"]
    assert [row["b"] for row in found["text"]["rows"] if row["kind"] == "only_b"] == [[["seen", True]]]
    assert found["signatures"]["duplicates"]["minhash"]
    assert not found["signatures"]["duplicates"]["exact"]


def test_without_the_crawl_pages_are_compared_by_signatures(served_run: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(served_run, tmp_path / "elsewhere" / "run")
    crawl = served_run.parent / "crawl.jsonl"
    hidden = crawl.rename(tmp_path / "crawl.jsonl")
    try:
        with serving(moved) as server:
            found = server.result("/compare", a="http://shop.test/item/3", b="http://shop.test/item/4")
    finally:
        hidden.rename(crawl)
    assert isinstance(found, dict)
    assert found["text"] is None
    assert "crawl.jsonl" in found["missing"]
    assert found["signatures"]["simhash_distance"] >= 0


def test_related_pages_come_when_their_index_is_made(running: Running) -> None:
    for _ in range(60):
        answer = running.client.get("/related", params={"url": "http://shop.test/item/3", "n": 3})
        if answer.status_code != 409:
            break
    assert answer.status_code == 200
    assert answer.json()["result"]["related"]
    assert running.client.get("/related", params={"url": "http://none.test/"}).status_code == 404


def test_search_finds_sites_rules_and_pages(running: Running) -> None:
    found = running.result("/search", q="SHOP.test")
    assert isinstance(found, dict)
    assert found["sites"] == ["shop.test"]
    assert {each["site"] for each in found["rules"]} == {"shop.test"}
    assert all("shop.test" in url for url in found["urls"])
    assert found["urls"]


@pytest.mark.parametrize(
    "kept", [["rules.json"], ["clusters.parquet"], ["pages.parquet"], ["pages.parquet", "rules.json"]]
)
def test_a_part_of_a_run_is_enough(served_run: Path, tmp_path: Path, kept: list[str]) -> None:
    for name in kept:
        shutil.copy(served_run / name, tmp_path)
    with serving(tmp_path) as server:
        overview = server.result("/overview")
        assert isinstance(overview, dict)
        assert overview["found"] == kept
        assert (overview["pages"] == 152) == (kept != ["rules.json"])
        assert (overview["rules"] > 0) == ("rules.json" in kept)
        assert server.ask("/normalize", {"url": "HTTP://x.test"}) == {"url": "http://x.test/", "problem": None}
        status = server.client.get("/clusters").status_code
        assert status == (404 if kept == ["rules.json"] else 200)
        assert isinstance(server.result("/sites"), list)


def test_the_index_is_made_once_and_again_when_the_files_change(served_run: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(served_run, tmp_path / "run")
    shutil.rmtree(copied / "serve.index", ignore_errors=True)
    told: list[str] = []

    for _ in range(2):
        with open_catalog(open_folder(str(copied)), told.append) as catalog:
            assert catalog is not None
            assert catalog.urls == 152
    assert len(told) == 1
    (copied / "pages.parquet").unlink()
    with open_catalog(open_folder(str(copied)), told.append) as catalog:
        assert catalog is not None
        found = catalog.find(HOSTILE_URL)
    assert len(told) == 2
    assert found is not None
    assert found["page"] == -1


def test_batches_and_bodies_have_limits(running: Running) -> None:
    too_many = running.client.post("/normalize", json={"urls": ["http://a.test/"] * (MAX_BATCH + 1)})
    assert (too_many.status_code, too_many.json()["error"]["code"]) == (422, "too_many")
    assert running.client.post("/explain", json={"urls": ["http://a.test/"] * (MAX_EXPLAINED + 1)}).status_code == 422
    lines = b"http://a.test/\n" * (MAX_BATCH + 1)
    assert running.client.post("/key", content=lines, headers={"content-type": "text/plain"}).status_code == 422
    large = b" " * (MAX_BODY_BYTES + 1)
    told = running.client.post("/normalize", content=large, headers={"content-type": "application/json"})
    assert (told.status_code, told.json()["error"]["code"]) == (413, "too_large")
    pieces = (b" " * 2**20 for _ in range(MAX_BODY_BYTES // 2**20 + 1))  # its size is not said beforehand
    assert (
        running.client.post("/normalize", content=pieces, headers={"content-type": "application/json"}).status_code
        == 413
    )
    whole = running.ask("/normalize", {"urls": ["http://a.test/"] * MAX_BATCH})
    assert isinstance(whole, dict)
    assert len(whole["urls"]) == MAX_BATCH


def test_metrics_count_what_was_asked(running: Running) -> None:
    def value(name: str) -> float:
        lines = running.client.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    urls = value("undust_urls_total ")
    asked = value('undust_requests_total{method="POST",route="/key",status="200"}')
    running.ask("/key", {"urls": URLS})
    assert value("undust_urls_total ") == urls + len(URLS)
    assert value('undust_requests_total{method="POST",route="/key",status="200"}') == asked + 1
    running.client.get("/made/up/by/somebody")
    assert value('undust_requests_total{method="GET",route="other"') >= 1
    assert value("undust_rules ") == len(running.state.rules.current.rules)
