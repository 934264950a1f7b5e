"""Whether the order of query arguments matters on a site."""

import numpy as np

from undust.learn.columns import SiteUrls
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.workspace import Workspace, first_rows, numbered


def order_is_free(site: SiteUrls, limits: Limits) -> bool:
    """Tell whether URLs with the same arguments in another order are duplicates, in several clusters and in all."""
    work = Workspace(site)
    groups, sizes = numbered(work.hashes)
    if len(sizes) == len(site):
        return False
    both, _ = numbered((groups.astype(np.uint64) << np.uint64(32)) + site.clusters.astype(np.uint64))
    first = first_rows(both)
    several = sizes[groups] > 1
    wrong = len(first) - len(sizes)
    return wrong == 0 and len(np.unique(site.clusters[several])) >= limits.min_clusters
