"""The shapes of questions and answers for the OpenAPI description, written by hand: they are checked by hand, too."""

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
COUNT_OR_NULL: Schema = {"type": ["integer", "null"], "minimum": 0}
FLAG: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}


def obj(*, closed: bool = True, **fields: Schema) -> Schema:
    """Describe an object that has all of these fields."""
    made: Schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {**made, "additionalProperties": False} if closed else made


def arr(items: Schema, **more: Any) -> Schema:
    """Describe a list."""
    return {"type": "array", "items": items, **more}


TEXTS: Schema = {"type": "object", "additionalProperties": STRING}
PROBLEM = obj(row=COUNT, problem=STRING)
EXPLANATION = obj(
    given=STRING, standard=TEXT_OR_NULL, url=TEXT_OR_NULL, key=TEXT_OR_NULL, site=TEXT_OR_NULL, rule=TEXT_OR_NULL,
    id=TEXT_OR_NULL, number=COUNT_OR_NULL, matched=TEXTS, conditions=arr(STRING), operations=arr(STRING),
    ignored=TEXTS, statistics={"type": ["object", "null"]}, unused={"type": ["object", "null"]}, words=TEXT_OR_NULL,
    problem=TEXT_OR_NULL,
)  # fmt: skip
RULE = obj(
    id=STRING, site=STRING, line=STRING, words=STRING,
    state={"type": "string", "enum": ["open", "accepted", "withdrawn"]}, reason=STRING, place=COUNT_OR_NULL,
    coverage=COUNT, merged=COUNT, saves=COUNT, clusters=COUNT, fpr=NUMBER, precision=NUMBER, learner=STRING,
)  # fmt: skip
RULE_IN_FULL = {
    **RULE,
    "properties": {
        **RULE["properties"],
        "conditions": arr(STRING),
        "operations": arr(STRING),
        "evidence": arr(STRING),
        "examples": arr(arr(STRING)),
        "support": COUNT,
        "false_positives": COUNT,
        "trained_on": COUNT,
        "json": ANY_OBJECT,
    },
    "required": [*RULE["required"], "conditions", "operations", "evidence", "examples", "json"],
}
CLUSTER = obj(name=STRING, size=COUNT, first=COUNT, site=STRING, url=STRING)
MEMBER = obj(url=STRING, similarity=NUMBER_OR_NULL)
SITE = obj(
    site=STRING, pages=COUNT, clusters=COUNT, largest=COUNT, duplicates=COUNT, duplicate_rate=NUMBER, rules=COUNT,
    saved=NUMBER_OR_NULL, possible=NUMBER_OR_NULL, lost=NUMBER_OR_NULL, fpr=NUMBER_OR_NULL, saved_all=NUMBER_OR_NULL,
)  # fmt: skip
NODE = obj(
    id=COUNT, parent=COUNT_OR_NULL, asks=STRING, pattern=STRING, urls=COUNT, clusters=COUNT, duplicate_rate=NUMBER,
    examples=arr(STRING),
)  # fmt: skip
_ENDS: Any = {"from": COUNT, "to": COUNT}
_LINK = obj(overlap=NUMBER, urls=COUNT, **_ENDS)
_DRAWN = obj(rule=TEXT_OR_NULL, urls=COUNT, changed=COUNT, **_ENDS)
TREE = obj(
    site=STRING, urls=COUNT, looked_at=COUNT, nodes=arr(NODE),
    links=arr(_LINK),
    rules=arr(_DRAWN),
)  # fmt: skip
ERROR = obj(ok={"const": False}, error=obj(status=COUNT, code=STRING, message=STRING))

_ERRORS = {
    400: "Not HTTP as it should be, or a body that is not JSON",
    401: "The token is missing or wrong",
    403: "Called by a name or from a site that may not",
    404: "There is no such thing in this run",
    408: "The body took too long to arrive",
    409: "Not ready yet; ask again",
    413: "Too large",
    415: "The body is neither JSON nor text",
    422: "The question has not the shape that it should",
    503: "Took too long, or the server is busy",
}


def envelope(result: Schema) -> Schema:
    """Describe the shape of every success."""
    return obj(ok={"const": True}, result=result, total=COUNT_OR_NULL, next=TEXT_OR_NULL)


def responses(result: Schema, *statuses: int, text: bool = False) -> dict[int | str, dict[str, Any]]:
    """Describe the answers of an operation: its success, and the errors that it may give besides those all may."""
    content: Schema = {"application/json": {"schema": envelope(result)}}
    if text:
        content["text/plain"] = {"schema": STRING}
    found: dict[int | str, dict[str, Any]] = {200: {"description": "The answer", "content": content}}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status in sorted({*statuses, 400, 403, 422, 503}):
        found[status] = {"description": _ERRORS[status], "content": error}
    return found
