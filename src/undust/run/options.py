"""The options of a run: what decides its result, besides its inputs."""

from dataclasses import dataclass

from undust import pipeline
from undust.clustering import THRESHOLDS
from undust.errors import UsageError
from undust.learn.methods import method as learning_method


@dataclass(frozen=True, slots=True)
class Options:
    """What decides the result of a run, besides its inputs."""

    method: str = "bag"
    by: str = "star"
    threshold: float | None = None
    """Least similarity; None: what the method has by default."""
    distance: int = 3
    content: str = "main"
    any_status: bool = False
    base_url: str | None = None
    learner: str = "both"
    max_fpr: float = 0.01
    site: str = "domain"
    holdout: float = 0.5
    seed: int = 0
    min_coverage: int | None = None

    @property
    def least_similarity(self) -> float:
        """The threshold that was given, or that of the method."""
        return THRESHOLDS.get(self.method, 0.0) if self.threshold is None else self.threshold

    def __post_init__(self) -> None:
        if self.method not in pipeline.METHODS:
            raise UsageError(f"unknown method {self.method!r}; one of {', '.join(pipeline.METHODS)}")
        learning_method(self.learner)  # refuses a name that there is not
        if not 0 < self.holdout < 1:
            raise UsageError("holdout: more than 0 and less than 1")
