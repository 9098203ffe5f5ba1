"""What the steps of training have in common."""

import apache_beam as beam

from belvedere.transforms.lessons import Job
from belvedere.transforms.workers import prepare_worker
from belvedere.transforms.workshop import Workshop


class WorkshopDoFn(beam.DoFn):
    """Has a workshop, opened once per worker."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_worker()
        self.workshop = Workshop(self.job)

    def teardown(self) -> None:
        self.workshop.close()
