"""Parts clusters into what is learned from and what is tested on, by a seed."""

import numpy as np
import pyarrow as pa


def by_cluster(clusters: pa.Table, share: float = 0.5, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Part by clusters (paper 000): nothing of a test page was seen. `share` of the clusters are to learn from."""
    coded = clusters["cluster"].combine_chunks().cast(pa.string()).dictionary_encode()
    names = coded.dictionary.to_pylist()
    ordered = sorted(range(len(names)), key=lambda place: str(names[place]))
    chosen = np.random.default_rng(seed).permutation(len(names))[: round(share * len(names))]
    learned = np.zeros(len(names), bool)
    learned[np.array(ordered, np.int64)[chosen]] = True
    rows = pa.array(learned[coded.indices.to_numpy()])
    return clusters.filter(rows), clusters.filter(pa.array(~learned[coded.indices.to_numpy()]))


def by_sample(clusters: pa.Table, share: float = 0.3, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Part by URLs (paper 003): more URLs of known pages come up. `share` of the URLs are to learn from."""
    ordered = clusters.sort_by([("url", "ascending"), ("cluster", "ascending")])
    chosen = np.zeros(len(ordered), bool)
    chosen[np.random.default_rng(seed).permutation(len(ordered))[: round(share * len(ordered))]] = True
    return ordered.filter(pa.array(chosen)), ordered.filter(pa.array(~chosen))
