"""Shows the steps of a run while it goes on: their names, and how far each is."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from undust.cli.talk import progress, say, working

if TYPE_CHECKING:
    from undust.corpus import Tally

_DOING = {
    "pages": "fingerprints of the pages",
    "clusters": "clusters of duplicates",
    "similarity": "similarities around the threshold",
    "rules": "rules",
    "evaluation": "evaluation on pages that were not learned from",
    "tradeoff": "saving by the limit of false pairs",
    "report": "report",
}


@contextlib.contextmanager
def showing(inputs: Sequence[str], *, quiet: bool) -> Iterator[dict[str, Any]]:
    """Show the steps of a run of these inputs; give what `undust.run` is to call, by the names of its arguments."""
    with contextlib.ExitStack() as shown:
        read: Callable[[Tally], None] = _ignore
        worked: Callable[[int, int], None] = _ignore

        def tell(step: str, kept: bool) -> None:
            nonlocal read, worked
            shown.close()  # what was shown of the step before
            say(f"{_DOING[step]}{': kept from an earlier run' if kept else ' …'}", quiet=quiet)
            if kept:
                return
            if step == "pages":
                read = shown.enter_context(progress(inputs, quiet=quiet))
            else:
                worked = shown.enter_context(working(_DOING[step], quiet=quiet))

        yield {
            "tell": tell,
            "progress": lambda tally: read(tally),
            "moved": lambda done, of: worked(done, of),
        }


def _ignore(*told: object) -> None:
    """Show nothing: no step is under way."""
