"""A chart with its caption, its numbers as a table for those who cannot see it, and a way to take it along."""

from collections.abc import Sequence

from undust.run.html.markup import Html, tag, text


def figure(
    name: str, title: str, said: str, drawn: Html, numbers: tuple[Sequence[str], Sequence[Sequence[str]]]
) -> Html:
    """Put a chart together with what it says."""
    heads, rows = numbers
    head = tag("tr", *(tag("th", text(each), scope="col") for each in heads))
    body = [tag("tr", *(tag("td", text(each)) for each in row)) for row in rows]
    return tag(
        "figure",
        tag("figcaption", tag("b", text(title)), tag("span", text(said, most=None))),
        drawn,
        tag("output", class_="tip"),
        tag(
            "details",
            tag("summary", text("The numbers")),
            tag("table", tag("thead", head), tag("tbody", *body), class_="plain"),
        ),
        data_vega=name,
    )
