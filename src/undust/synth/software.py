"""What web software is, as data: kinds of pages, and the ways in which it spells their URLs."""

from dataclasses import dataclass

from undust.synth.templates import Template


@dataclass(frozen=True, slots=True)
class Form:
    """Another way to write the URL of a page, and the family of duplicates that it belongs to."""

    family: str
    template: Template


@dataclass(frozen=True, slots=True)
class Extra:
    """An argument that may be there and says nothing."""

    family: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Section:
    """A kind of page of a web application."""

    name: str
    weight: float
    plain: Template
    forms: tuple[Form, ...] = ()
    extras: tuple[Extra, ...] = ()
    closed: frozenset[str] = frozenset()
    """Families of the whole site that do not show here."""
    giant: str = ""
    """All URLs are one page: an error, a login, an empty month; named by its family."""
    limit: int = 10**8
    """Pages there are at most."""

    @property
    def families(self) -> list[str]:
        """List the families of its other forms and of its extra arguments."""
        return [*(form.family for form in self.forms), *(extra.family for extra in self.extras)]


@dataclass(frozen=True, slots=True)
class Software:
    """A web application."""

    name: str
    sections: tuple[Section, ...]
    families: tuple[str, ...]
    """Families of whole sites that go with it."""
    separator: str = "&"


def section(
    name: str,
    weight: float,
    plain: str,
    *ways: str,
    closed: tuple[str, ...] = (),
    giant: str = "",
    limit: int = 10**8,
) -> Section:
    """Read a section from text; a way is `family: /template` or `family: argument=value`.

    >>> section("topic", 5, "/t/{id}", "print: /print/{id}", "default: start=0").extras
    (Extra(family='default', name='start', value='0'),)
    """
    forms, extras = [], []
    for way in ways:
        family, _, text = way.partition(": ")
        if text.startswith("/"):
            forms.append(Form(family, Template(text)))
        else:
            argument, _, value = text.partition("=")
            extras.append(Extra(family, argument, value))
    return Section(name, weight, Template(plain), tuple(forms), tuple(extras), frozenset(closed), giant, limit)


DECOYS = {
    "session": section("station", 1.5, "/stations?{session}={id}", closed=("session",)),
    "sort": section("ranking", 1.5, "/ranking?sort={sort}&page={page}&list={name}"),
    "tracking": section("source", 1.5, "/sources?{tracking}={name}", closed=("tracking",)),
    "case": section("short link", 1.5, "/s/{token}", closed=("case",)),
    "mirror": section("language", 1.5, "//{lang}/welcome/{name}", closed=("mirror", "www")),
    "default": section("issue", 1.5, "/issue?page={id}"),
}
"""For a family, pages of the same site to which what looks like it does matter."""
