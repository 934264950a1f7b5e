"""The steps of undust as Spark jobs, for what one machine has no room for: same files, same kernels, same results.

    files ──> fingerprint ──> cluster ──> learn ──> evaluate, normalize
              pages           pairs       sites
                              components
                              centers

Functions take a session (`open_session`) and files, or DataFrames; heavy modules are imported when a step is called.
"""

from undust.spark.session import open_session

__all__ = ["open_session"]
