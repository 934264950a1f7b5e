"""`undust.crawl`: a crawl into a folder, begun or continued."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from undust.crawl.frontier import Frontier
from undust.crawl.loop import STATE, Loop, start_urls
from undust.crawl.options import Options
from undust.crawl.summary import RuleUse, Summary, summarize
from undust.crawl.table import write_tables
from undust.errors import InputError, MissingExtraError, OutputError, UndustError, UsageError
from undust.outputs import write_whole
from undust.rule_files import load_rules
from undust.rules.files import dumps
from undust.rules.ruleset import RuleSet

RULES = "rules.json"
SUMMARY = "summary.json"

Progress = Callable[[Loop], None]


def crawl(
    *urls: str,
    output: str | os.PathLike[str],
    rules: str | os.PathLike[str] | RuleSet | None = None,
    resume: bool = False,
    **options: Any,
) -> Summary:
    """Crawl sites from start URLs into the folder `output`, fetching each page once.

    `options` are those of `undust.crawl.options.Options`. The crawl runs in a process of its own, so that it can be
    called any number of times, in notebooks, too.
    """
    Options(**options)  # refuses what makes no sense before anything is begun
    asked = {"urls": list(urls), "output": os.fspath(output), "resume": resume, "options": options}
    if isinstance(rules, RuleSet):
        asked["rules_text"] = dumps(rules)
    elif rules is not None:
        asked["rules"] = os.fspath(rules)
    done = subprocess.run(
        [sys.executable, "-m", "undust.crawl.flow"],
        input=json.dumps(asked).encode(),
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        told = orjson.loads(done.stdout) if done.stdout.startswith(b"{") else {"error": "the crawl was stopped"}
        kinds: dict[str, type[UndustError]] = {
            kind.__name__: kind for kind in (UsageError, InputError, OutputError, MissingExtraError)
        }
        raise kinds.get(told.get("kind", ""), OutputError)(told["error"])
    value = orjson.loads(done.stdout)
    value["rules"] = tuple(RuleUse(**use) for use in value["rules"])
    return Summary(**value)


def crawl_here(
    urls: Iterable[str],
    output: str | os.PathLike[str],
    options: dict[str, Any],
    *,
    rules: RuleSet | None = None,
    resume: bool = False,
    progress: Progress = lambda loop: None,
) -> Summary:
    """Do the same in this process, where it can be done once only."""
    try:
        from undust.crawl.running import run_here
    except ImportError as error:
        raise MissingExtraError("crawling needs Scrapy: pip install 'undust[scrapy]'") from error
    folder = Path(output)
    urls = start_urls(urls)
    _make_folder(folder, bool(urls), resume=resume)
    lock = _lock(folder)
    try:
        loop = Loop(folder, _settled(folder, options), urls, rules)
        _limit(loop, options)
        ended = run_here(loop, folder, progress)
        if ended.problem is not None:
            loop.frontier.close()
            raise ended.problem
        loop.commit()
        found = replace(summarize(loop.frontier, loop.counts, str(folder)), stopped=ended.stopped)
        write_tables(loop.frontier, folder)
        write_whole(folder / RULES, dumps(loop.rulebook.rules).encode())
        write_whole(folder / SUMMARY, orjson.dumps(found.to_dict(), option=orjson.OPT_INDENT_2))
        loop.close()
        return found
    finally:
        lock.close()


def _limit(loop: Loop, options: dict[str, Any]) -> None:
    """Let limits of pages and seconds count from now on, not from when the crawl began."""
    loop.options = replace(
        loop.options,
        max_pages=options["max_pages"] + loop.counts.requests if options.get("max_pages") else 0,
        max_seconds=options["max_seconds"] + loop.counts.seconds if options.get("max_seconds") else 0,
    )


def _settled(folder: Path, given: dict[str, Any]) -> Options:
    """Give the options that the crawl began with, but for those that are given anew."""
    if not (folder / STATE).exists():
        frontier = Frontier(folder / STATE)
        options = Options(**given)
    else:
        frontier = Frontier(folder / STATE)
        before = orjson.loads(frontier.get("options") or "{}")
        options = Options.from_dict({**before, **given})
    frontier.set("options", orjson.dumps(options.to_dict()).decode())
    frontier.commit()
    frontier.close()
    return options


def _make_folder(folder: Path, has_urls: bool, *, resume: bool) -> None:
    there = (folder / STATE).exists()
    if resume and not there and not has_urls:
        raise InputError(f"{folder}: no crawl to go on with; give URLs to begin one")
    if not resume and there:
        raise UsageError(f"{folder}: holds a crawl; go on with it by --resume, or choose another folder")
    if not has_urls and not there:
        raise UsageError("no URL to begin with; give some, or --resume DIR")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}; choose a folder that is yours") from error


def _lock(folder: Path) -> Any:
    """Keep others from the folder for as long as this process lives."""
    import fcntl

    try:
        file = (folder / ".lock").open("wb")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OutputError(f"{folder}: another crawl is at work in it; wait for its end") from error
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error
    return file


def main() -> int:
    """Crawl as asked for on stdin, for `crawl`."""
    asked = orjson.loads(sys.stdin.buffer.read())
    parent = os.getppid()

    def live_with_parent(loop: Loop) -> None:
        if os.getppid() != parent:  # whoever wanted the pages is gone
            os.kill(os.getpid(), signal.SIGKILL)

    from undust.rules.files import loads

    try:
        rules = RuleSet(loads(asked["rules_text"])) if "rules_text" in asked else None
        if "rules" in asked:
            rules = load_rules(asked["rules"])
        found = crawl_here(
            asked["urls"],
            asked["output"],
            asked["options"],
            rules=rules,
            resume=asked["resume"],
            progress=live_with_parent,
        )
    except UndustError as error:
        sys.stdout.buffer.write(orjson.dumps({"kind": type(error).__name__, "error": str(error)}))
        return 1
    sys.stdout.buffer.write(orjson.dumps(found.to_dict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
