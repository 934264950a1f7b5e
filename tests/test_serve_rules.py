"""Decisions on rules over HTTP: written whole, lasting, with a way back; and rules that change under load."""

import contextlib
import http.client
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.serving import Running, serving
from undust.rule_files import load_rules
from undust.rules.files import dumps
from undust.rules.line_reader import read_line
from undust.rules.rule import Statistics
from undust.rules.ruleset import RuleSet
from undust.serve.guard import LOOPBACK, Access
from undust.serve.review import decided
from undust.serve.server import access_of


@pytest.fixture
def folder(served_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(served_run, tmp_path / "run"))


def first_rule(server: Running) -> str:
    rules = server.result("/rules", site="shop.test", sort="merged")
    assert isinstance(rules, list)
    return str(rules[0]["id"])


def decide(server: Running, rule: str, state: str, **headers: str) -> httpx.Response:
    return server.client.post(f"/rules/{rule}/state", json={"state": state}, headers=headers)


def test_a_rule_saves_no_more_fetches_than_it_decides_urls(tmp_path: Path) -> None:
    rules = [
        replace(read_line(f"{name}.com  //….{name}.com/…?x={{?}}  →  //….{name}.com/…"), statistics=known)
        for name, known in (
            ("a", Statistics(coverage=32, merged=300)),
            ("b", Statistics(coverage=500, merged=200)),
            ("c", Statistics(coverage=90, merged=40)),
        )
    ]
    RuleSet(rules).save(str(tmp_path / "rules.json"))
    with serving(tmp_path) as server:
        found = server.result("/rules", sort="merged")
        assert isinstance(found, list)
        assert [(each["saves"], each["merged"]) for each in found] == [(200, 200), (40, 40), (32, 300)]


def test_a_withdrawn_rule_decides_nothing_stays_withdrawn_and_can_come_back(folder: Path) -> None:
    url = "http://shop.test/item/3?sid=77"
    before = (folder / "rules.json").read_bytes()
    with serving(folder) as server:
        rule = first_rule(server)
        answer = server.ask("/normalize", {"url": url})
        told = server.client.post(f"/rules/{rule}/state", json={"state": "withdrawn", "reason": "sid is the page"})
        assert told.json()["result"] == {"id": rule, "state": "withdrawn", "before": "open"}
        assert server.ask("/normalize", {"url": url}) == {"url": url, "problem": None}
        shown = server.result(f"/rules/{rule}")
        assert isinstance(shown, dict)
        assert (shown["state"], shown["reason"]) == ("withdrawn", "sid is the page")
    (withdrawn,) = load_rules(folder / "rules.json").withdrawn
    assert withdrawn.rule.id == rule
    with serving(folder) as server:  # another server, another day
        assert decide(server, rule, "open").json()["result"]["before"] == "withdrawn"
        assert server.ask("/normalize", {"url": url}) == answer
    assert (folder / "rules.json").read_bytes() == before


def test_an_accepted_rule_is_noted_in_the_file_and_can_be_listed(folder: Path) -> None:
    with serving(folder) as server:
        rule = first_rule(server)
        assert decide(server, rule, "accepted").status_code == 200
        assert decide(server, rule, "accepted").json()["result"]["before"] == "accepted"
        assert [each["id"] for each in server.client.get("/rules?state=accepted").json()["result"]] == [rule]
        assert decide(server, "nonesuch", "accepted").status_code == 404
        assert decide(server, rule, "gone").status_code == 422
    assert load_rules(folder / "rules.json").about["review"][rule]["state"] == "accepted"


LINES = [
    "h.com  //….h.com/a?s={?}  →  //….h.com/a",
    "h.com  //….h.com/…?do=print&s={?}  →  //….h.com/…",
    "h.com  //….h.com/…?s={?}  →  //….h.com/…",
]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (2, 0, 1), (0, 2, 1), (1,)])
def test_rules_that_are_withdrawn_and_put_back_in_any_order_stand_where_they_stood(order: tuple[int, ...]) -> None:
    rules = RuleSet(map(read_line, LINES))
    names = [rule.id for rule in rules]
    changed = rules
    for place in order:
        changed = decided(changed, names[place], "withdrawn", "", "2026-01-01")
        assert names[place] not in {rule.id for rule in changed}
    for place in order:
        changed = decided(changed, names[place], "open", "", "2026-01-02")
    assert list(changed) == list(rules)
    assert changed.withdrawn == ()
    assert changed.about == rules.about


def test_changes_from_another_site_are_refused(folder: Path) -> None:
    with serving(folder) as server:
        rule = first_rule(server)
        host = server.address.removeprefix("http://")
        for headers in (
            {"origin": "http://evil.test"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            assert decide(server, rule, "accepted", **headers).json()["error"]["code"] == "origin"
        form = {"content-type": "text/plain"}  # what another site may send without asking first
        plain = server.client.post(f"/rules/{rule}/state", content='{"state":"accepted"}', headers=form)
        assert plain.status_code == 422
        assert decide(server, rule, "accepted", origin=f"http://{host}").status_code == 200


def test_a_name_that_was_pointed_at_this_machine_gets_nothing(folder: Path) -> None:
    with serving(folder) as server:
        port = server.address.rpartition(":")[2]
        for path in ("/", "/rules", "/health"):
            for name in (f"evil.test:{port}", f"127.0.0.1:{port}@evil.test", "127.0.0.1.evil.test", ""):
                answer = server.client.get(path, headers={"host": name})
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host"), name
        assert server.client.get("/health", headers={"host": f"localhost:{port}"}).status_code == 200
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(port))) as connection:
            connection.putrequest("GET", "/health", skip_host=True)
            for name in ("127.0.0.1", "evil.test"):
                connection.putheader("Host", name)
            connection.endheaders()
            assert connection.getresponse().status == 400


def test_beyond_this_machine_changes_need_the_token() -> None:
    assert access_of("127.0.0.1", None, ()) == Access(LOOPBACK, None)
    assert access_of("127.0.0.1", "secret", ()).token == "secret"  # noqa: S105 - of a test
    for host, allowed in (("0.0.0.0", ()), ("192.0.2.1", ()), ("127.0.0.1", ("dust.example",))):  # noqa: S104 - a case
        made = access_of(host, None, allowed)
        assert made.token is not None
        assert len(made.token) > 20
        assert made.hosts is None or "evil.test" not in made.hosts


def test_a_token_is_asked_for_and_taken(folder: Path) -> None:
    with serving(folder, Access(None, "secret")) as server:
        rule = first_rule(server)
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret"}):
            refused = decide(server, rule, "accepted", **headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert server.client.post("/reload", headers=headers).status_code == 401
        assert decide(server, rule, "accepted", authorization="Bearer secret").status_code == 200
        assert server.ask("/normalize", {"url": "http://a.test"}) == {"url": "http://a.test/", "problem": None}


def test_every_answer_carries_the_headers_that_keep_pages_harmless(folder: Path) -> None:
    with serving(folder) as server:
        for path in ("/", "/page/app.js", "/page/style.css", "/sites", "/nothing", "/openapi.json"):
            headers = server.client.get(path).headers
            assert "script-src 'self'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cache-control"] in ("no-cache", "no-store")
            assert "access-control-allow-origin" not in headers
            assert "set-cookie" not in headers


def test_a_rule_file_that_was_broken_leaves_the_rules_read_before_in_force(folder: Path) -> None:
    with serving(folder) as server:
        whole = (folder / "rules.json").read_text()
        answer = server.ask("/key", {"url": "http://shop.test/item/3?sid=7"})
        (folder / "rules.json").write_text('{"version": 1, "rules": [{"site": 3}]}')
        told = server.client.post("/reload").json()["result"]
        assert "rule 1" in told["problem"]
        assert not told["changed"]
        assert server.ask("/key", {"url": "http://shop.test/item/3?sid=7"}) == answer
        health = server.result("/health")
        assert isinstance(health, dict)
        assert health["status"] == "stale"
        (folder / "rules.json").write_text(whole)
        server.client.post("/reload")
        health = server.result("/health")
        assert isinstance(health, dict)
        assert health["status"] == "ok"


def test_rules_that_change_under_load_never_give_a_mixed_answer(folder: Path) -> None:
    """All URLs of a batch are decided by one set of rules, and every answer is by a set that was in force."""
    texts = [dumps([read_line(f"h.com  //….h.com/…?x={{?}}  →  //….h.com/…?x=v{number}")]) for number in range(12)]
    urls = [f"http://h.com/{number}?x={number}" for number in range(500)]
    allowed = [{f"http://h.com/{page}?x=v{number}" for page in range(500)} for number in range(12)]
    (folder / "rules.json").write_text(texts[0])
    wrong: list[object] = []
    with serving(folder) as server:
        ended = threading.Event()

        def asking() -> None:
            with httpx.Client(base_url=server.address) as client:
                while not ended.is_set():
                    made = client.post("/normalize", json={"urls": urls}).json()["result"]["urls"]
                    if not any(set(made) == each for each in allowed):
                        wrong.append(made)

        askers = [threading.Thread(target=asking) for _ in range(3)]
        for asker in askers:
            asker.start()
        for number in (*range(1, 12), 0, 5, 3):
            (folder / "aside.json").write_text(texts[number])
            (folder / "aside.json").replace(folder / "rules.json")
            server.client.post("/reload")
            answer = server.ask("/normalize", {"url": "http://h.com/0?x=1"})
            assert answer == {"url": f"http://h.com/0?x=v{number}", "problem": None}
        ended.set()
        for asker in askers:
            asker.join()
    assert not wrong
