"""Writes a rewriting as regular expressions over whole URLs, with the groups that are kept: first match decides."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from undust.rules.exports.conditions import Condition, InexpressibleError, quoted
from undust.rules.exports.pieces import Piece
from undust.rules.exports.rewrite import Rewrite

MAX_GROUPS = 9
"""What can be named by one digit, as several engines ask for."""
_SEPARATOR = "[&;]"
_MARK = r"\?"


class Variant(NamedTuple):
    """One regular expression for a whole URL, and what it becomes: groups by number, and text."""

    regex: str
    result: tuple[int | str, ...]

    def substitution(self, group: str, before_digit: str = "", escape: str = "") -> str:
        """Write what it becomes: groups as `group` says, characters in `escape` behind a backslash.

        `before_digit` is how a group is written where a digit follows; empty: there is no way.
        """
        made = ""
        for part, following in zip(self.result, (*self.result[1:], ""), strict=True):
            if isinstance(part, str):
                made += "".join(f"\\{letter}" if letter in escape else letter for letter in part)
            elif isinstance(following, str) and following[:1].isdigit():
                if not before_digit:
                    raise InexpressibleError("a digit follows a part that is kept")
                made += before_digit.format(part)
            else:
                made += group.format(part)
        return made


def variants(rewrite: Rewrite, *, guarded: bool = False, marked: bool = False) -> Iterator[Variant]:
    """Give the regular expressions of a rewriting. A URL fits at most one of them.

    With `guarded` none fits a URL that stays as it is; with `marked` a question mark is never part of a group, but
    written anew.
    """
    ahead = _conditions(rewrite)
    for query in _queries(rewrite):
        if marked:
            query = [piece._replace(text="?") if piece.regex == _MARK else piece for piece in query]
        yield _variant(ahead, (*rewrite.head, *query), guarded=guarded)


def _conditions(rewrite: Rewrite) -> str:
    made = "".join(_ahead(condition) for condition in rewrite.conditions)
    for conditions in rewrite.earlier:
        made += f"(?!{''.join(_ahead(condition) for condition in conditions)})"
    return made


def _ahead(condition: Condition) -> str:
    return f"(?{'=' if condition.wanted else '!'}{condition.regex.removeprefix('^')})"


def _queries(rewrite: Rewrite) -> Iterator[list[Piece]]:
    """Give the forms of a query: which of its arguments goes, and where it stands, decides which separators go."""
    drops = rewrite.drops
    named = [*drops, *([rewrite.setting.name] if rewrite.setting else [])]
    if not named:
        yield [Piece(_MARK), Piece(".*")]
        yield []
        return
    other = f"(?!{_either(named)}(?:[=&;]|$))"
    kept = other + (r"[^&;=]*=[^&;]*" if rewrite.strict else "[^&;]*")
    gone = f"{_either(drops)}=[^&;]*" if drops else ""
    more = Piece(f"(?:{_SEPARATOR}{kept})*")
    later = [piece for _ in drops for piece in (Piece(f"(?:{_SEPARATOR}{gone})?", ""), more)]
    if rewrite.setting is None:
        yield [Piece(_MARK), Piece(kept), more, Piece(_SEPARATOR + gone, ""), more, *later[2:]]
        yield [Piece(_MARK), Piece(f"(?:{gone}{_SEPARATOR})+", ""), Piece(kept), more, *later[2:]]
        yield [Piece(rf"\?{gone}(?:{_SEPARATOR}{gone})*", "")]
        if _changes(rewrite.head):
            yield [Piece(_MARK), Piece(kept), more]
            yield []
        return
    value = [Piece(f"{quoted(rewrite.setting.name)}="), *rewrite.setting.pieces]
    first = [Piece(f"(?:{gone}{_SEPARATOR})*", "")] if gone else []
    yield [Piece(_MARK), *first, *value, more, *later]
    yield [Piece(_MARK), *first, Piece(kept), more, *later, Piece(_SEPARATOR), *value, more, *later]


def _either(names: Sequence[str]) -> str:
    return quoted(names[0]) if len(names) == 1 else f"(?:{'|'.join(map(quoted, names))})"


def _changes(pieces: Sequence[Piece]) -> bool:
    return any(piece.text is not None for piece in pieces)


def _goes(piece: Piece) -> bool:
    """Tell whether something of a URL is gone for sure."""
    return piece.text == "" and re.fullmatch(piece.regex, "") is None


def _variant(ahead: str, pieces: Sequence[Piece], *, guarded: bool) -> Variant:
    regex, kept = "", ""
    result: list[int | str] = []
    groups = 0

    def close() -> None:
        nonlocal regex, groups, kept
        if kept:
            groups += 1
            regex += f"({kept})"
            result.append(groups)
            kept = ""

    for piece in pieces:
        if piece.text is None:
            kept += piece.regex
            continue
        if not piece.regex and not piece.text:
            continue
        close()
        regex += piece.regex
        if piece.text and result and isinstance(result[-1], str):
            result[-1] += piece.text
        elif piece.text:
            result.append(piece.text)
    close()
    if groups > MAX_GROUPS:
        raise InexpressibleError("it keeps more parts than regular expressions can name")
    if guarded and (any(piece.text for piece in pieces) or not any(map(_goes, pieces))):
        same = "".join(piece.regex if piece.text is None else quoted(piece.text) for piece in pieces)
        ahead = f"(?!{same}$){ahead}"
    return Variant(f"^{ahead}{regex}$", tuple(result))
