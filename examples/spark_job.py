# %% [markdown]
# # Spark
#
# The steps of undust run on Spark as well, on the same files, with the same results, byte for byte.
#
# ```sh
# pip install 'undust[spark]'
# undust learn clusters.parquet -o rules.json --engine spark --master spark://host:7077
# ```
#
# In a job of your own, steps take and give DataFrames. Here on two cores of this machine.

# %%
from pathlib import Path

import undust
from undust.rules.files import dumps
from undust.spark import open_session
from undust.spark.normalization import normalize
from undust.spark.sites import Learning, learn

settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
session = open_session("local[2]", settings=settings)

# %% [markdown]
# Clusters in, rules out. Whole sites go to tasks; only rules come back to the driver.

# %%
undust.synth("web", sites=4, urls=2000)
clusters = session.read.parquet("web/clusters.parquet").select("url", "cluster")
rules = learn(session, clusters, Learning())
print(*rules, sep="\n")

# %% [markdown]
# One machine comes to the same.

# %%
alone = undust.learn(undust.read_clusters("web/clusters.parquet").select(["url", "cluster"]))
assert dumps(rules) == dumps(alone)

# %% [markdown]
# Rules applied to a DataFrame, column by column in Arrow batches.

# %%
answers = normalize(clusters.select("url"), rules)
answers.show(5, truncate=60)
assert answers.count() == clusters.count()
Path("rules.json").write_text(dumps(rules))
session.stop()

# %% [markdown]
# How to run it on a cluster, what to give it and what it costs: [past one machine](../scale.md).
