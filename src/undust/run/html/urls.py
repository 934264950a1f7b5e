"""URLs side by side: what they have in common, and where they differ."""

from collections.abc import Sequence

from undust.run.html.markup import MAX_TEXT, Html, join, tag, text


def alike(urls: Sequence[str], titles: dict[str, str] | None = None) -> Html:
    """List URLs with what is not common to all of them marked, and the titles of their pages where those are known."""
    start, end = common_ends(urls)
    items = []
    for url in urls:
        middle = url[start : len(url) - end]
        body = [text(url[:start]), tag("mark", text(middle)) if middle else text(""), text(url[len(url) - end :])]
        if len(url) > MAX_TEXT:
            body = [text(url)]
        title = (titles or {}).get(url)
        about = tag("span", text(title, most=120), class_="title", dir="auto") if title else text("")
        items.append(tag("li", tag("code", tag("bdi", *body)), about))
    return tag("ul", join(items), class_="urls")


def common_ends(texts: Sequence[str]) -> tuple[int, int]:
    """Give how many characters texts have in common at their start and, after that, at their end.

    Only whole words count, so that `sid=12` and `sid=17` differ in 12 and 17, not in 2 and 7.

    >>> common_ends(["http://h.com/a?sid=12&x=1", "http://h.com/a?sid=17&x=1"])
    (19, 4)
    """
    if len(set(texts)) < 2:
        return len(texts[0]) if texts else 0, 0
    shortest = min(map(len, texts))
    start = 0
    while start < shortest and len({each[start] for each in texts}) == 1:
        start += 1
    if any(each[start : start + 1].isalnum() for each in texts):
        while start and texts[0][start - 1].isalnum():
            start -= 1
    end = 0
    while end < shortest - start and len({each[len(each) - 1 - end] for each in texts}) == 1:
        end += 1
    if any(each[len(each) - end - 1].isalnum() for each in texts if len(each) > start + end):
        while end and texts[0][len(texts[0]) - end].isalnum():
            end -= 1
    return start, end
