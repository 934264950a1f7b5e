"""SQL: a macro for DuckDB that gives the URL to fetch, by conditions and replacements of linear time (RE2)."""

from collections.abc import Sequence

from undust.rules.exports.conditions import Condition, Conditions, InexpressibleError, quoted
from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import compile_all
from undust.rules.exports.pieces import Piece
from undust.rules.exports.rewrite import Rewrite
from undust.rules.rule import Rule

HEAD = """-- Written by undust, for DuckDB: SELECT undust_normalize(url) FROM urls. URLs must be in standard form.
CREATE OR REPLACE MACRO undust_normalize(url) AS CASE
"""


def write(rules: Sequence[Rule]) -> Written:
    """Write rules as a macro. What other engines do by looking ahead, a CASE does by asking before."""
    made, fates = compile_all(rules)
    cases = [_case(rule, steps) for rule, steps in made] or ["  WHEN false THEN url\n"]
    return Written(f"{HEAD}{''.join(cases)}  ELSE url\nEND;\n", fates)


def _case(rule: Rule, steps: Sequence[Rewrite]) -> str:
    first = steps[0]
    value = "url"
    for step in steps:
        value = _applied(step, value)
    asked = [_asked(condition) for condition in _conditions(steps)]
    asked += [f"NOT ({_all(conditions)})" for conditions in first.earlier]
    return f"  -- {str(rule).replace(chr(10), ' ')}\n  WHEN {' AND '.join(asked)}\n  THEN {value}\n"


def _conditions(steps: Sequence[Rewrite]) -> list[Condition]:
    """Give all that must hold, what the forms of regular expressions ask elsewhere included."""
    first = steps[0]
    made = [Condition(f"^{''.join(piece.regex for piece in first.head)}(?:\\?.*)?$")]
    made += dict.fromkeys(condition for step in steps for condition in step.conditions)
    names = [name for step in steps for name in step.drops]
    if first.setting:
        value = "".join(piece.regex for piece in first.setting.pieces)
        made.append(Condition(rf"^[^?]*\?(?:.*[&;])?{quoted(first.setting.name)}={value}(?:[&;]|$)"))
        names.append(first.setting.name)
    if names:
        made.append(Condition(rf"^[^?]*\?(?:.*[&;])?(?:{'|'.join(map(quoted, names))})(?:[&;]|$)", wanted=False))
        if first.strict:
            made.append(Condition(r"^[^?]*\?(?:.*[&;])?[^&;=]*(?:[&;]|$)", wanted=False))
    return made


def _applied(step: Rewrite, value: str) -> str:
    if any(piece.text is not None for piece in step.head):
        value = _replaced(value, [*step.head, Piece(r"(?:\?.*)?")], end="$")
    for name in step.drops:
        gone = f"{quoted(name)}=[^&;]*"
        value = _replaced(value, [Piece(r"[^?]*\?.*"), Piece(f"[&;]{gone}", ""), Piece("(?:[&;].*)?")], end="$")
        value = _replaced(value, [Piece(r"[^?]*\?"), Piece(f"{gone}[&;]", "")])
        value = _replaced(value, [Piece("[^?]*"), Piece(rf"\?{gone}", "")], end="$")
    if step.setting:
        start = Piece(rf"[^?]*\?(?:.*[&;])?{quoted(step.setting.name)}=")
        value = _replaced(value, [start, *step.setting.pieces, Piece("(?:[&;].*)?")], end="$")
    return value


def _replaced(value: str, pieces: Sequence[Piece], end: str = "") -> str:
    regex, result, groups = "", "", 0
    for piece in pieces:
        if piece.text is None:
            groups += 1
            regex += f"({piece.regex})"
            result += f"\\{groups}"
        else:
            regex += piece.regex
            result += piece.text
    if groups > 9:
        raise InexpressibleError("it keeps more parts than regular expressions can name")
    return f"regexp_replace({value}, {_text(f'^{regex}{end}')}, {_text(result)})"


def _all(conditions: Conditions) -> str:
    return " AND ".join(map(_asked, conditions)) or "true"


def _asked(condition: Condition) -> str:
    return f"{'' if condition.wanted else 'NOT '}regexp_matches(url, {_text(condition.regex)})"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
