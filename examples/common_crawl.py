# %% [markdown]
# # Rules from Common Crawl's index
#
# An index of a web archive names each capture with its URL and a digest of its content. That is all it takes: equal
# digests are equal pages, so rules can be learned without fetching anything. Common Crawl serves its index as CDXJ;
# pywb and OpenWayback write CDX; both are read as they are.
#
# On the command line:
#
# ```sh
# undust run example.com.cdxj.gz -o found --method exact
# ```

# %%
import json
from pathlib import Path

import undust

# %% [markdown]
# Some lines as the index server gives them, made here so that this page runs anywhere: a forum whose links carry a
# session.


# %%
def line(topic: int, session: str) -> str:
    """One capture of a topic."""
    facts = {
        "url": f"http://forum.example.com/view.php?t={topic}&sid={session}",
        "mime": "text/html",
        "status": "200",
        "digest": f"TOPIC{topic:04}",
    }
    return f"com,example,forum)/view.php?sid={session}&t={topic} 20240101000000 {json.dumps(facts)}\n"


captures = [line(topic, session) for topic in range(60) for session in (f"{topic:02}ab", f"{topic:02}cd")]
Path("index.cdxj").write_text("".join(captures))

# %% [markdown]
# In: captures. Out: clusters of URLs with one digest each, and the rules that explain them.

# %%
clusters = undust.cluster(undust.fingerprint("index.cdxj", exact_only=True))
rules = undust.learn(clusters)
for rule in rules:
    print(rule)

# %% [markdown]
# Half of the clusters teach, the other half says whether it was right. `micro` counts URLs, `macro` is the mean of
# sites.

# %%
from undust.pipeline import split_clusters

taught, kept_out = split_clusters(clusters, 0.5, 0)
found = undust.evaluate(undust.learn(taught), kept_out).micro
print(f"{found.compression:.0%} of the fetches saved, {found.pages_lost:.0%} of the pages lost")
assert found.compression > 0.4
assert found.pages_lost == 0

# %% [markdown]
# A digest is that of the bytes. Pages that print the time, or their own URL, have another digest each time, and no
# index can tell that they are the same. For these, feed undust the WARC files.

# %%
rules.save("rules.json")
assert rules.same("http://forum.example.com/view.php?t=7&sid=1", "http://forum.example.com/view.php?t=7")
