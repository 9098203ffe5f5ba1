"""The values that training deals in, and when a class is to blame for a failure."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from belvedere.core import configuration
from belvedere.core.class_model import Appearance, ClassModel
from belvedere.core.configuration import Configuration
from belvedere.core.context import learning
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.marks import Mark
from belvedere.transforms.records import WorkUnit
from belvedere.transforms.training_slices import TrainingSlice
from belvedere.transforms.work import WorkFolder

_DATA_TO_BLAME = (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError)


@dataclasses.dataclass(frozen=True)
class Job:
    """All that the models of a run depend on besides the images.

    Attributes:
      models: where models go.
      work: where views, samples and tables are kept; see `work`.
      configuration: of the run.
      run_id, code_version: for the records.
    """

    models: str
    work: str
    configuration: Configuration
    run_id: str
    code_version: str

    @property
    def config_id(self) -> str:
        """Of what models depend on: when a box is accepted is not learned."""
        return configuration.digest(configuration.learning(self.configuration))

    @property
    def work_folder(self) -> WorkFolder:
        return WorkFolder(self.work, self.code_version)


class Unlearnable(Exception):
    """A class that cannot be learned from what was given, and why."""


@contextlib.contextmanager
def learning_of(step: str) -> Iterator[None]:
    """Tells data that cannot be learned from a machine that is too small."""
    try:
        yield
    except Exception as error:
        if "memory" in str(error):  # as torch says it
            raise MemoryError(str(error)) from error
        if not isinstance(error, _DATA_TO_BLAME):
            raise
        said = f"{step}: {type(error).__name__}, {error}"
        raise Unlearnable(said) from error


def refusal(ceilings: Sequence[float], chosen: Configuration) -> str:
    """Why a class is not to be learned; empty if it is.

    Args:
      ceilings: of each image that can be used, the IoU of its best window.
      chosen: says how many images are needed, and how good windows.
    """
    if len(ceilings) < chosen.least_images:
        return (
            f"{len(ceilings)} images with boxes can be used, at least "
            f"{chosen.least_images} are needed"
        )
    if (best := float(np.mean(ceilings))) < chosen.least_ceiling:
        return f"the windows miss the object: mean IoU of the best is {best:.2f}"
    return ""


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A class to be learned.

    Attributes:
      label: the class.
      unit: of work.
      slices: of its images.
      among: the ids of those to learn from, all if None.
    """

    label: str
    unit: WorkUnit
    slices: tuple[TrainingSlice, ...]
    among: frozenset[str] | None = None

    def __contains__(self, image_id: str) -> bool:
        return self.among is None or image_id in self.among


@dataclasses.dataclass(frozen=True)
class Sketch:
    """What a class needs to know of a slice before it learns.

    Attributes:
      training: the slice.
      ceilings: of each image that can be used, the IoU of its best window.
    """

    training: TrainingSlice
    ceilings: tuple[float, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Learnt:
    """A model, how its learning went, and the images that were no use after all.

    `marks` are those of the images that it was learned from.
    """

    model: ClassModel
    learned: learning.Learned
    appearance: Appearance
    marks: list[Mark]
    faults: list[InputFault]
