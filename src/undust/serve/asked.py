"""The hot questions: normalize, key, same and explain; for one URL or a batch, as JSON or lines of text."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from starlette.responses import Response

from undust.errors import UndustError, UrlError
from undust.rules.ruleset import RuleSet
from undust.run.words import in_words
from undust.serve import questions
from undust.serve.answers import refuse, success, text
from undust.serve.asgi import App, Receive, Scope, Send, header
from undust.serve.limits import INLINE_BYTES, MAX_EXPLAINED
from undust.serve.live_rules import LiveRules, Loaded
from undust.serve.metrics import Metrics
from undust.serve.schemas import EXPLANATION
from undust.serve.threads import in_thread
from undust.settings import MAX_LISTED
from undust.urls.batch import NormalizedUrls, normalize_many
from undust.urls.lines import normalize_lines
from undust.urls.normalize import normalize

Work = Callable[[Loaded, bytes, str], tuple[Response, int]]
"""Answers a body of a kind with the rules in force; also gives how many URLs that were."""


class Asked:
    """An ASGI application that answers hot questions, and leaves all others to another one.

    They do not go through routing and middleware, which would cost more than the answer.
    """

    def __init__(self, app: App, rules: LiveRules, metrics: Metrics) -> None:
        self._app, self._rules, self._metrics = app, rules, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        work = WORK.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if work is None:
            await self._app(scope, receive, send)
            return
        kind = questions.kind_of(header(scope["headers"], b"content-type"))
        body = await _body(receive)
        now = self._rules.current
        try:
            if len(body) <= INLINE_BYTES:
                response, urls = work(now, body, kind)
            else:
                response, urls = await in_thread(work, now, body, kind)
        except UndustError as error:
            refuse(503, "unavailable", str(error))
        self._metrics.urls += urls
        await response(scope, receive, send)


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            refuse(400, "gone", "the connection was closed before the body was complete")
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def normalize_asked(now: Loaded, body: bytes, kind: str) -> tuple[Response, int]:
    """Give the URL to fetch."""
    return _made(now.rules, body, kind, "url", "urls", now.rules.normalize, now.rules.normalize_many)


def key_asked(now: Loaded, body: bytes, kind: str) -> tuple[Response, int]:
    """Give the key that duplicates share."""
    return _made(now.rules, body, kind, "key", "keys", now.rules.key, now.rules.key_many)


def _made(
    rules: RuleSet, body: bytes, kind: str, one: str, many: str, scalar: Callable[[str], str], batch: Callable[..., Any]
) -> tuple[Response, int]:
    if kind == "text":

        def by_rules(urls: pa.Array) -> NormalizedUrls:
            made = batch(urls)
            return NormalizedUrls(pa.chunked_array([made]), 0, [])

        lines = normalize_lines(questions.lines_of(body), by_rules)
        return text(lines.text), lines.lines
    asked = questions.read_json(body, ("url",), ("urls",))
    if "url" in asked:
        url = questions.one(asked["url"], "url")
        try:
            return success({one: scalar(url), "problem": None}), 1
        except UrlError as error:
            return success({one: None, "problem": str(error)}), 1
    column = questions.many(asked["urls"], "urls")
    made = batch(column)
    problems = _problems(column, made) if made.null_count else []
    return success({many: made.to_pylist(), "unusable": made.null_count, "problems": problems}), len(column)


def _problems(given: pa.Array, made: pa.Array) -> list[dict[str, Any]]:
    """Say of the first URLs that cannot be parsed why."""
    places = pc.indices_nonzero(pc.is_null(made))[:MAX_LISTED].to_pylist()
    found = []
    for place in places:
        try:
            normalize(given[place].as_py())
        except UrlError as error:
            found.append({"row": place, "problem": str(error)})
    return found


def same_asked(now: Loaded, body: bytes, kind: str) -> tuple[Response, int]:
    """Tell whether two URLs lead to the same page, as far as the rules know."""
    if kind == "text":
        pieces = [line.split(None, 1) for line in questions.lines_of(body).decode("utf-8", "replace").splitlines()]
        given = [(pair[0], pair[1].strip()) if len(pair) == 2 else ("", "") for pair in pieces]
        told = _same(now.rules, pa.array([a for a, _ in given]), pa.array([b for _, b in given]))
        names = {True: "true", False: "false", None: "unusable"}
        return text("".join(f"{names[each]}\n" for each in told)), 2 * len(told)
    asked = questions.read_json(body, ("a", "b"), ("pairs",))
    if "pairs" in asked:
        first, second = questions.pairs(asked["pairs"], "pairs")
        told = _same(now.rules, first, second)
        return success({"same": told, "unusable": told.count(None)}), 2 * len(told)
    keys: list[str | None] = []
    problem = None
    for name in ("a", "b"):
        try:
            keys.append(now.rules.key(questions.one(asked[name], name)))
        except UrlError as error:
            keys.append(None)
            problem = problem or f"{name}: {error}"
    return success({"same": None if problem else keys[0] == keys[1], "keys": keys, "problem": problem}), 2


def _same(rules: RuleSet, first: pa.Array, second: pa.Array) -> list[bool | None]:
    found: list[bool | None] = pc.equal(rules.key_many(first), rules.key_many(second)).to_pylist()
    return found


def explain_asked(now: Loaded, body: bytes, kind: str) -> tuple[Response, int]:
    """Say which rule decides a URL, and why."""
    if kind == "text":
        lines = questions.lines_of(body, MAX_EXPLAINED).decode("utf-8", "replace").splitlines()
        return text("\n\n".join(_explained_text(now.rules, line) for line in lines) + "\n"), len(lines)
    asked = questions.read_json(body, ("url",), ("urls",))
    if "url" in asked:
        return success(explained(now, questions.one(asked["url"], "url"))), 1
    urls = questions.many(asked["urls"], "urls", MAX_EXPLAINED).to_pylist()
    return success({"explanations": [explained(now, url) for url in urls]}), len(urls)


def explained(now: Loaded, url: str) -> dict[str, Any]:
    """Explain a URL, or say why it cannot be parsed."""
    try:
        told = now.rules.explain(url)
    except UrlError as error:
        nothing: dict[str, Any] = {"matched": {}, "ignored": {}, "conditions": [], "operations": []}
        return {**dict.fromkeys(EXPLANATION["required"]), **nothing, "given": url, "problem": str(error)}
    words = None if told.rule is None else in_words(told.rule)
    return {**told.to_dict(), "words": words, "problem": None}


def _explained_text(rules: RuleSet, url: str) -> str:
    try:
        return str(rules.explain(url))
    except UrlError as error:
        return f"{url}\n  unusable  {error}"


WORK: dict[str, Work] = {
    "/normalize": normalize_asked,
    "/key": key_asked,
    "/same": same_asked,
    "/explain": explain_asked,
}


def warm(now: Loaded) -> None:
    """Compile what the hot questions need, before the first is asked."""
    urls = pa.array(["http://a.test/?x=1", "nothing"])
    normalize_many(urls)
    now.rules.key_many(urls)
    for _ in range(2):
        now.rules.explain("http://a.test/")
