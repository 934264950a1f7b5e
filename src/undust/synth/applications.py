"""The web applications that sites are made of, and how each spells the URLs of its pages."""

from undust.synth.software import Software, section

_HOSTS = ("www", "scheme", "mirror")
_COMMON = (*_HOSTS, "tracking")
_PATHS = ("index file", "trailing slash", "double slash", "case")

SOFTWARE = (
    Software(
        "wiki",
        (
            section(
                "article",
                10,
                "/wiki/{title}",
                "moved value: /index.php?title={title}",
                "moved value: /index.php/{title}",
                "print: /index.php?title={title}&printable=yes",
                "default: /index.php?title={title}&action=view",
            ),
            section("revision", 3, "/index.php?title={title}&oldid={id}", "order: /index.php?oldid={id}&title={title}"),
            section("history", 2, "/index.php?title={title}&action=history", "default: offset=0", "empty: dir="),
            section("edit", 1, "/index.php?title={title}&action=edit", "empty: section="),
            section("login", 1.5, "/index.php?title=Special:UserLogin&returnto={title}", giant="login"),
            section("language", 1, "/index.php?title={title}&uselang={lang}"),
        ),
        (*_COMMON, "escape", "order"),
    ),
    Software(
        "doku",
        (
            section(
                "page",
                8,
                "/doku.php?id={category}:{name}",
                "default: do=show",
                "print: do=export_xhtml",
                "moved value: /doku.php/{category}:{name}",
                "irrelevant: s[]={*title}",
            ),
            section("revisions", 2, "/doku.php?id={category}:{name}&do=revisions", "default: first=0"),
            section("diff", 2, "/doku.php?id={category}:{name}&do=diff&rev={id}"),
            section("index", 3, "/doku.php?id={category}:{name}&do=index", "irrelevant: idx={*category}"),
            section("login", 3, "/doku.php?id={category}:{name}&do=login", "irrelevant: sectok=", giant="login"),
            section("media", 1, "/lib/exe/fetch.php?media={name}.png", "irrelevant: cache=", "redundant: tok={hex}"),
        ),
        (*_COMMON, "session", "escape", "order"),
    ),
    Software(
        "board",
        (
            section(
                "topic",
                10,
                "/viewtopic.php?t={id}",
                "redundant: f={forum}",
                "default: start=0",
                "default: postdays=0",
                "default: postorder=asc",
                "empty: highlight=",
                "print: view=print",
            ),
            section(
                "topic page", 4, "/viewtopic.php?t={id}&start={start}", "redundant: f={forum}", "empty: highlight="
            ),
            section("post", 3, "/viewtopic.php?p={id}", "redundant: f={forum}"),
            section("forum", 1, "/viewforum.php?f={board}&start={start}", "default: topicdays=0", limit=200),
            section("members", 1, "/memberlist.php?mode={view}&sk={sort}&start={start}", limit=150),
            section("profile", 2, "/memberlist.php?mode=viewprofile&u={id}"),
            section("login", 2, "/ucp.php?mode=login&redirect={*id}", giant="login"),
            section("reply", 2, "/posting.php?mode=reply&t={id}", "redundant: f={forum}", giant="login"),
        ),
        (*_HOSTS, "session", "session", "order", "repeated"),
    ),
    Software(
        "simple forum",
        (
            section(
                "topic",
                10,
                "/index.php?topic={id}.0",
                "deep token: /index.php?topic={id}.msg{*number}",
                "moved value: /index.php/topic,{id}.0.html",
                "default: /index.php?topic={id}",
            ),
            section(
                "topic page", 3, "/index.php?topic={id}.{start}", "moved value: /index.php/topic,{id}.{start}.html"
            ),
            section("board", 1, "/index.php?board={board}.{start}", "sort: sort={*sort}", limit=200),
            section("print", 2, "/index.php?action=printpage&topic={id}.0"),
            section("profile", 2, "/index.php?action=profile&u={id}"),
            section("login", 2, "/index.php?action=login2&sa={*token}", giant="login"),
        ),
        (*_HOSTS, "session", "order"),
        ";",
    ),
    Software(
        "shop",
        (
            section(
                "product",
                10,
                "/{slug}/dp/{code}",
                "segment: /{*slug}/dp/{code}",
                "segment: /dp/{code}",
                "moved value: /product?asin={code}",
                "tracking: ref={*token}",
            ),
            section("variant", 3, "/{slug}/variant/{id}?color={color}", "segment: /{*slug}/variant/{id}?color={color}"),
            section("list", 3, "/c/{name}?page={page}&sort={sort}", "default: per=24"),
            section("short list", 2, "/brand/{name}", "sort: sort={*sort}", "default: page=1"),
            section("review", 2, "/reviews/{code}?page={page}", "irrelevant: from={*category}"),
            section("cart", 2, "/cart?add={*code}", "irrelevant: back={*number}", giant="login"),
            section("search", 1, "/search?q={name}&page={page}", "default: in=all", "empty: brand="),
        ),
        (*_COMMON, "tracking", "session", "order", "trailing slash", "path session"),
    ),
    Software(
        "blog",
        (
            section(
                "post",
                10,
                "/{date}/{slug}/",
                "unknowable: /?p={id}",
                "irrelevant: replytocom={*id}",
                "print: /{date}/{slug}/print/",
                "moved value: /index.php/{date}/{slug}/",
            ),
            section("tag", 2, "/tag/{name}/", "default: /tag/{name}/page/1/"),
            section("tag page", 2, "/tag/{name}/page/{page}/"),
            section("month", 1, "/archive/{year}/{month}/", limit=96),
            section("attachment", 1, "/{date}/{slug}/attachment/{id}/"),
            section("login", 2, "/wp-login.php?redirect_to={slug}", giant="login"),
        ),
        (*_COMMON, "trailing slash", "index file"),
    ),
    Software(
        "docs",
        (
            section("chapter", 6, "/{version}/{category}/{name}.html", "irrelevant: highlight={*category}"),
            section("part", 3, "/{version}/{name}/"),
            section("source", 2, "/_modules/{category}/{name}.html"),
            section("search", 1, "/search.html?q={*name}", giant="soft 404"),
            section("language", 1, "/{lang}/guide/{name}/"),
        ),
        (*_HOSTS, "index file", "trailing slash", "alias", "alias"),
    ),
    Software(
        "file index",
        (
            section("folder", 6, "/pub/{dir}/{name}/", "sort: C={*order}"),
            section("file", 6, "/pub/{dir}/{name}.tar.gz"),
            section("top", 0.5, "/pub/{name}/", "sort: C={*order}", limit=14),
        ),
        (*_HOSTS, "mirror", "index file", "double slash"),
        ";",
    ),
    Software(
        "portal",
        (
            section(
                "article",
                10,
                "/index.php?option=com_content&view=article&id={id}:{slug}",
                "deep token: /index.php?option=com_content&view=article&id={id}:{*slug}",
                "deep token: /index.php?option=com_content&view=article&id={id}",
                "irrelevant: Itemid={*forum}",
                "redundant: catid={forum}",
                "print: tmpl=component",
                "moved value: /component/content/article/{id}-{slug}",
            ),
            section(
                "category", 2, "/index.php?option=com_content&view=category&id={id}", "irrelevant: Itemid={*forum}"
            ),
            section("list", 2, "/index.php?option=com_list&view={view}&id={id}&start={start}"),
            section("mail", 2, "/index.php?option=com_mailto&link={*hex}", giant="login"),
            section("contact", 1, "/index.php?option=com_contact&view=contact&id={id}"),
        ),
        (*_COMMON, "order", "escape", "session"),
    ),
    Software(
        "news",
        (
            section(
                "story",
                10,
                "/news/{slug}-{id}.html",
                "deep token: /news/{*slug}-{id}.html",
                "print: /print/{slug}-{id}.html",
            ),
            section("dated", 4, "/{category}/{date}/{slug}", "print: /{category}/{date}/{slug}/print"),
            section("topic", 2, "/topic/{name}", "default: page=1", "default: sort=latest"),
            section("topic page", 2, "/topic/{name}?page={page}"),
            section("photo", 1, "/photo/{token}", "irrelevant: from={*category}"),
            section("gone", 1, "/news/{slug}-{id}.html", giant="soft 404"),
        ),
        (*_COMMON, "tracking", "trailing slash", "mirror"),
    ),
    Software(
        "code host",
        (
            section("commit", 8, "/?p={category}.git&a=commit&h={hex}"),
            section(
                "blob",
                4,
                "/?p={category}.git&a=blob&f=src/{name}.c&hb={hex}",
                "order: /?p={category}.git&f=src/{name}.c&a=blob&hb={hex}",
            ),
            section("tree", 2, "/?p={category}.git&a=tree&hb={hex}"),
            section("raw", 2, "/raw/{name}?ref={version}"),
            section("plain", 2, "/src/{dir}/{name}.c", "irrelevant: ref={*version}"),
            section("short log", 1, "/?p={name}.git&a=shortlog&pg={page}"),
        ),
        (*_HOSTS, "order"),
        ";",
    ),
    Software(
        "pages",
        (
            section("page", 8, "/{category}/{name}/"),
            section("file", 4, "/{category}/files/{name}.pdf"),
            section("person", 3, "/people/{name}", "print: /print/people/{name}"),
            section("asp", 3, "/news/article.aspx?id={id}", "default: lang=en", "print: print=1"),
            section("event", 2, "/events/{id}"),
            section("calendar", 1, "/calendar/{year}/{month}", limit=60),
            section("empty month", 2, "/calendar/{*future}/{*month}", giant="calendar"),
            section("missing", 2, "/{category}/{name}/", giant="soft 404"),
        ),
        (*_COMMON, *_PATHS, "extension", "path session"),
    ),
    Software(
        "catalog",
        (
            section(
                "item",
                10,
                "/item_W0QQ_itemZ{id}QQ_tabZ2",
                "moved value: /item_W0?_item={id}&_tab=2",
                "default: /item_W0QQ_itemZ{id}",
            ),
            section("seller", 2, "/seller-{token}", "deep token: /seller-{token}-{*hex}"),
            section("friends", 2, "/friends-{*token}", giant="login"),
            section(
                "place",
                3,
                "/attractions-{id}-{category}_{name}-all.html",
                "deep token: /attractions-{id}-{category}_{*name}-all.html",
            ),
            section("compare", 2, "/compare/{name}-or-{slug}.html"),
        ),
        (*_COMMON, "session", "path session", "case"),
    ),
)
"""What sites are made of."""
