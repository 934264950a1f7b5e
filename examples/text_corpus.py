# %% [markdown]
# # A text corpus without duplicates
#
# Parquet in, Parquet out: a table with `url` and `text` (or `html`) becomes one of the pages that stay, and one that
# says of each page that went which page that stayed it was a duplicate of, by which method, and how similar.
#
# On the command line:
#
# ```sh
# undust dedup corpus.parquet -o kept.parquet --method minhash --threshold 0.8 --memory 4GB
# ```

# %%
import random

import pyarrow as pa
import pyarrow.parquet as pq

import undust

# %% [markdown]
# A corpus of 200 texts, of which each fifth comes again with a few words more.

# %%
chance = random.Random(1)  # noqa: S311 - no secret
words = [f"{a}{b}{c}" for a in "bcdfgklm" for b in "aeiou" for c in ("n", "rt", "st", "ll")]
texts = [" ".join(chance.choices(words, k=150)) for _ in range(200)]
edited = [f"{text} and a last sentence" for text in texts[::5]]
urls = [f"https://example.org/{number}" for number in range(240)]
pq.write_table(pa.table({"url": urls, "text": texts + edited}), "corpus.parquet")

# %% [markdown]
# Candidates come from min-hash signatures, and every pair is verified by the words themselves: what is called a
# duplicate is as similar as it says. Nothing depends on the order of rows, on threads or on chance.

# %%
found = undust.dedup("corpus.parquet", method="minhash", threshold=0.8, content="all")
found.save("kept.parquet", text=True)
stay, go = pq.read_table("kept.parquet"), pq.read_table("kept.removed.parquet")
print(f"{stay.num_rows} stay, {go.num_rows} go, such as {go.slice(0, 1).to_pylist()}")
assert stay.num_rows == 200

# %% [markdown]
# Every day more? `undust.Index` keeps what was seen in files, answers page by page, and is larger than memory if need
# be: [the online index](../online-index.md).

# %%
with undust.Index("seen") as index:
    answers = [index.add(url, text) for url, text in zip(urls, texts + edited, strict=True)]
assert sum(answer.duplicate_of is not None for answer in answers) == 40
