"""Rules: the list, one rule in full, what people decide on it, and reading the file again."""

import datetime
from collections.abc import Callable
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from undust.rules.files import rule_to_json
from undust.rules.rule import Rule
from undust.rules.words import evidence_in_words, match_in_words, operations_in_words
from undust.serve import schemas as s
from undust.serve.answers import refuse, success
from undust.serve.browse import Limit, Start, Text, listed
from undust.serve.limits import MAX_TEXT, ROWS
from undust.serve.live_rules import Loaded, about_rule
from undust.serve.state import State
from undust.serve.threads import in_thread

_NUMBERS: dict[str, Callable[[Rule], float]] = {
    "merged": lambda rule: rule.statistics.saves,
    "coverage": lambda rule: rule.statistics.coverage,
    "fpr": lambda rule: rule.statistics.fpr,
}
Order = Annotated[
    str, Query(pattern=f"^({'|'.join(['order', *_NUMBERS])})$", description="What the rules are sorted by.")
]
Which = Annotated[str, Query(pattern="^(|open|accepted|withdrawn|in_force)$", description="What was decided on them.")]
Id = Annotated[str, Path(min_length=1, max_length=40, description="Short name of a rule.")]

_MAX_EXAMPLES = 20


class Decision(BaseModel):
    """What somebody decides on a rule."""

    model_config = ConfigDict(extra="forbid", strict=True)

    state: Literal["open", "accepted", "withdrawn"]
    reason: str = Field(default="", max_length=500, description="Why, for those who read the rule file.")


def routes(state: State) -> APIRouter:
    """Give the handlers."""
    router = APIRouter()

    @router.get("/rules", responses=s.responses(s.arr(s.RULE)), summary="List the rules")
    async def get_rules(
        request: Request,
        site: Annotated[str | None, Query(max_length=MAX_TEXT)] = None,
        q: Text = "",
        which: Annotated[Which, Query(alias="state")] = "",
        sort: Order = "order",
        start: Start = 0,
        limit: Limit = ROWS,
    ) -> Response:
        now = state.rules.current
        names = await in_thread(_chosen, state, now, site, q.strip().lower(), which, sort)
        rows = [about_rule(now, name) for name in names[start : start + limit]]
        return listed(request, rows, len(names), start, limit)

    @router.get("/rules/{rule}", responses=s.responses(s.RULE_IN_FULL, 404), summary="Give one rule in full")
    async def get_rule(rule: Id) -> Response:
        return success(in_full(state.rules.current, rule))

    @router.post(
        "/rules/{rule}/state",
        responses=s.responses(s.obj(id=s.STRING, state=s.STRING, before=s.STRING), 401, 404, 408, 413),
        summary="Accept a rule, withdraw it, or take that back",
    )
    async def post_state(rule: Id, decision: Decision) -> Response:
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        before, after = await in_thread(state.rules.decide, rule, decision.state, decision.reason, today)
        return success({"id": rule, "state": after, "before": before})

    @router.post(
        "/reload",
        responses=s.responses(s.obj(changed=s.FLAG, rules=s.COUNT, problem=s.TEXT_OR_NULL), 401),
        summary="Read the rule file again, if it has changed",
    )
    async def post_reload() -> Response:
        changed = await in_thread(state.rules.refresh)
        problem, rules = state.rules.problem, len(state.rules.current.rules)
        return success({"changed": changed, "rules": rules, "problem": problem})

    return router


def _chosen(state: State, now: Loaded, site: str | None, text: str, which: str, sort: str) -> list[str]:
    known = {name: rule for name, (_, rule) in now.by_id.items()}
    lines = state.rules.lines(now) if text else {}
    if which != "in_force":
        known |= {name: each.rule for name, each in now.withdrawn.items() if name not in known}
    found = [
        name
        for name, rule in known.items()
        if (site is None or rule.site == site)
        and (which in ("", "in_force") or now.state(name) == which)
        and (not text or text in name or text in lines[name])
    ]
    if number := _NUMBERS.get(sort):
        found.sort(key=lambda name: -number(known[name]))
    return found


def in_full(now: Loaded, name: str) -> dict[str, Any]:
    """Give all that is known of a rule."""
    if name not in now.by_id and name not in now.withdrawn:
        refuse(404, "no_rule", f"no rule {name!r}; GET /rules lists those that there are")
    rule = now.by_id[name][1] if name in now.by_id else now.withdrawn[name].rule
    known = rule.statistics
    return {
        **about_rule(now, name),
        "conditions": [match_in_words(*condition) for condition in rule.context.items()],
        "operations": operations_in_words(rule),
        "evidence": evidence_in_words(rule),
        "examples": [list(pair) for pair in known.examples[:_MAX_EXAMPLES]],
        "support": known.support,
        "false_positives": known.false_positives,
        "trained_on": known.trained_on,
        "json": orjson.loads(orjson.dumps(rule_to_json(rule))),
    }
