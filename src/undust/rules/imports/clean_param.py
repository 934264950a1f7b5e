"""Clean-param: lines of a robots.txt, for the site it is of: that of a `# Site:` above it, or those that are named."""

from undust.rules.imports.entries import EVERYWHERE, Entry, Place, Read, host_place
from undust.rules.imports.lists import standard_name, standard_path


def read(text: str, source: str) -> Read:
    """Read the directives `Clean-param` of a robots.txt."""
    made = Read()
    site, base = EVERYWHERE, Place()
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.lower().startswith("# site:"):
            found = host_place(bare[7:].strip())
            if found is None:
                made.skip(f"{number}: {bare}", "its host is none")
            else:
                site, base = found
            continue
        name, mark, value = line.partition("#")[0].partition(":")
        if not mark or name.strip().lower() != "clean-param":
            continue
        fields = value.split()
        path = _path(fields[1]) if len(fields) > 1 else ()
        if not 1 <= len(fields) <= 2 or path is None:
            made.skip(f"{number}: {bare}", "its path is more than the start of one")
            continue
        names = frozenset(known for each in fields[0].split("&") if (known := standard_name(each)))
        made.entries.append(Entry(site, base._replace(path=path), names, line=f"{number}: {bare}"))
    return made


def _path(path: str) -> tuple[str, ...] | None:
    """Read a path; the start of one here means whole segments, which is less."""
    path = path.removesuffix("*")
    return None if "*" in path or "$" in path or not path.startswith("/") else standard_path(path.rstrip("/") or "/")
