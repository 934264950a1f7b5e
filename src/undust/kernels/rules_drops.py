"""Rules that do nothing but drop arguments: whether there is anything to do, and whether that can be all."""

from typing import Any

from undust.kernels.compiling import part
from undust.kernels.rules_layout import ON_QUERY_FROM, OPERATION, OPERATIONS, RULE
from undust.kernels.rules_split import ARGUMENTS, KNOWN, NTH, SPLIT_TURN, VALUE_AT

STAYS = -1  # instead of the number of an operation


@part
def find_operation(words: Any, rule: int, first: int, last: int, name: int, nth: int) -> Any:
    """Find the operation on the nth of a name, among those from `first` to `last` as the rule has them."""
    for k in range(words[rule + first], words[rule + last]):
        operation = rule + RULE + OPERATION * k
        if words[operation] == name and words[operation + 1] == nth:
            return k
    return STAYS


@part
def drops_any(words: Any, rule: int, s: Any) -> Any:
    """Tell whether there is something to take away for a rule that does nothing but drop arguments."""
    operations = rule + RULE
    for k in range(words[rule + OPERATIONS]):
        name, nth = words[operations + OPERATION * k], words[operations + OPERATION * k + 1]
        if s.counts[name, 0] == s.url[SPLIT_TURN] and s.counts[name, 1] >= nth:
            return True
    return False


@part
def leaves_plain(words: Any, rule: int, s: Any) -> Any:
    """Tell whether the arguments that a rule leaves are called as before.

    They are not where a name occurs twice, as the second may become the first, or where no `=` is left, as the query
    is one value then.
    """
    arguments = s.arguments
    left = named = 0
    for m in range(s.url[ARGUMENTS]):
        if arguments[m, KNOWN] >= 0:
            if arguments[m, NTH] > 1:
                return False
            if find_operation(words, rule, ON_QUERY_FROM, OPERATIONS, arguments[m, KNOWN], 1) != STAYS:
                continue
        left += 1
        named += arguments[m, VALUE_AT] >= 0
    return left == 0 or named > 0
