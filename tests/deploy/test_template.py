"""What Dataflow is given: a template of each pipeline, written to a storage emulator.

The options are those of the Dataflow row of deploy/README.md. Pictures and boxes are
lists of 92,000 in 219 classes, the size of the experiment; none of the pictures exists,
as nobody looks at them before a worker does.
"""

import base64
import bz2
import dataclasses
import json
import random
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
import runs
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2 as api
from emulators import BUCKET, Emulator, start

from belvedere.pipelines import annotate, train, voice
from belvedere.pipelines import commands as ending
from belvedere.transforms import cloud_stores, commits, manifests, stores
from belvedere.transforms.records import Counts, DataFile

CLASSES, PICTURES = 219, 92_000
LIMIT = 20_000_000  # bytes of a job request, as Dataflow allows them
IMAGE = "europe-west4-docker.pkg.dev/example/images/belvedere@sha256:" + 64 * "0"
ACCOUNT = "belvedere-worker@example.iam.gserviceaccount.com"
ROOT = f"gs://{BUCKET}"
GROUP = "beam:transform:group_by_key:v1"


@dataclasses.dataclass(frozen=True)
class Template:
    """The job as Dataflow gets it, the graph it refers to, and all that was staged."""

    job: dict
    graph: api.Pipeline
    size: int
    staged: tuple[str, ...]

    @property
    def pool(self) -> dict:
        (pool,) = self.job["environment"]["workerPools"]
        return pool

    @property
    def told(self) -> dict:
        return self.job["environment"]["sdkPipelineOptions"]["options"]

    def steps(self) -> dict[str, api.PTransform]:
        """The transforms that do something, by name."""
        every = self.graph.components.transforms.values()
        return {one.unique_name: one for one in every if not one.subtransforms}

    def functions(self) -> Iterator[bytes]:
        """Whatever is pickled into the graph, unpacked."""
        for one in self.steps().values():
            if one.spec.urn == "beam:transform:pardo:v1":
                packed = api.ParDoPayload.FromString(one.spec.payload).do_fn.payload
                yield bz2.decompress(base64.b64decode(packed))


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    from apache_beam.internal.gcp import auth

    running = start("gcp-storage-emulator")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", running.url)
        # Else Beam looks for credentials in this network, for twenty seconds.
        patch.setattr(auth._Credentials, "_credentials_init", True)
        patch.setattr(auth._Credentials, "_credentials", None)
        cloud_stores._storage_client.cache_clear()
        yield running
    cloud_stores._storage_client.cache_clear()
    running.stop()


@pytest.fixture(scope="module")
def inputs(emulator) -> dict[str, int]:
    """Lists `small` and `large` of pictures and boxes, models of 2 and 219 classes."""
    sizes = {"small": 20, "large": PICTURES}
    store = stores.store_for(ROOT)
    for name, count in sizes.items():
        rows = [_row(n) for n in range(count)]
        lists = {"list": "image,class", "boxes": "image,class,xmin,ymin,xmax,ymax"}
        for kind, head in lists.items():
            columns = head.count(",") + 1
            lines = [head, *(",".join(row[:columns]) for row in rows)]
            store._replace(f"{ROOT}/{name}/{kind}.csv", "\n".join(lines).encode())
    for name, classes in (("few", 2), ("all", CLASSES)):
        _commit_models(f"{ROOT}/{name}", classes)
    return sizes


def _row(number: int) -> list[str]:
    """A picture whose name no compression makes small."""
    lot = random.Random(number)
    label = f"n{10_000_000 + number % CLASSES}"
    return [f"{label}/{lot.randbytes(8).hex()}.jpg", label, "10", "20", "110", "90"]


def _commit_models(uri: str, classes: int) -> None:
    run = manifests.Run("run", "train", "0.1", "config", {})
    entries = []
    for number in range(classes):
        digest = random.Random(number).randbytes(32).hex()
        file = DataFile(f"class{number}/{digest[:16]}/model.npz", 0, 1, digest)
        entries.append(manifests.Entry(digest, Counts(1, 0, 0), (file,)))
    commits.commit(commits.Log(stores.store_for(uri)), run, entries)


@pytest.fixture(scope="module")
def beams(emulator, commands) -> list[str]:
    """The options that the README gives for Dataflow, filled in."""
    (told,) = [c.beams for c in commands if "--runner=DataflowRunner" in c.beams]
    filled = {
        "=PROJECT": "=example",
        "=REGION": "=europe-west4",
        "=IMAGE": f"={IMAGE}",
        "=ACCOUNT": f"={ACCOUNT}",
        "gs://b/": f"{ROOT}/",
    }
    for old, new in filled.items():
        assert any(old in word for word in told), old
        told = [word.replace(old, new) for word in told]
    return told


def _written(emulator: Emulator, name: str) -> Template:
    """Reads a template back from the emulator."""
    job = _get(emulator, f"{ROOT}/templates/{name}")
    told = json.loads(job)
    url = told["environment"]["sdkPipelineOptions"]["options"]["pipelineUrl"]
    graph = _get(emulator, url)
    folder = url.rpartition("/")[0]
    prefix = urllib.parse.quote(folder.removeprefix(f"{ROOT}/"), safe="")
    listing = f"{emulator.url}/storage/v1/b/{BUCKET}/o?prefix={prefix}"
    with urllib.request.urlopen(listing, timeout=60) as answer:
        found = json.load(answer)["items"]
    staged = tuple(sorted(one["name"].rpartition("/")[2] for one in found))
    return Template(told, api.Pipeline.FromString(graph), len(job + graph), staged)


def _get(emulator: Emulator, uri: str) -> bytes:
    key = urllib.parse.quote(uri.removeprefix(f"{ROOT}/"), safe="")
    asked = f"{emulator.url}/storage/v1/b/{BUCKET}/o/{key}?alt=media"
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return answer.read()


@pytest.fixture(scope="module")
def template(emulator, inputs, beams):
    """Writes the template of a command on an input, once."""
    written: dict[tuple, Template] = {}

    def write(pipeline: str, size: str, models: str = "all") -> Template:
        if (pipeline, size, models) not in written:
            name = f"{pipeline}-{size}-{models}"
            told = (*beams, f"--template_location={ROOT}/templates/{name}")
            images = (f"{ROOT}/{size}/list.csv",)
            quiet = voice.Voice(quiet=True)
            if pipeline == "train":
                paths = (f"{ROOT}/{size}/boxes.csv", f"{ROOT}/new", f"{ROOT}/work")
                options = train.Options(images, *paths, runs.TINY, beam_options=told)
                assert ending.train(options, quiet, 0.0) == 0
            else:
                paths = (f"{ROOT}/{models}", f"{ROOT}/out")
                options = annotate.Options(
                    images, *paths, runs.TINY.annotating, beam_options=told
                )
                assert ending.annotate(options, quiet, 0.0) == 0
            written[pipeline, size, models] = _written(emulator, name)
        return written[pipeline, size, models]

    return write


BOTH = pytest.mark.parametrize("pipeline", ["annotate", "train"])


@BOTH
def test_workers_are_as_the_options_say(template, pipeline):
    made = template(pipeline, "large")
    pool, environment = made.pool, made.job["environment"]
    (image,) = pool["sdkHarnessContainerImages"]
    assert image["containerImage"] == pool["workerHarnessContainerImage"] == IMAGE
    assert image["useSingleCorePerContainer"]  # a process for each core
    assert pool["machineType"] == "n2-standard-4"
    assert pool["numThreadsPerWorker"] == 1 and pool["diskSizeGb"] == 50
    assert pool["autoscalingSettings"]["maxNumWorkers"] == 20
    assert pool["ipConfiguration"] == "WORKER_IP_PRIVATE"
    assert environment["serviceAccountEmail"] == ACCOUNT
    limit = "max_workflow_runtime_walltime_seconds=72000"
    assert limit in environment["serviceOptions"]
    assert {"use_runner_v2", "use_multiple_sdk_containers"} <= {
        *environment["experiments"]
    }
    assert made.job["name"] == "belvedere-annotate"
    assert made.job["type"] == "JOB_TYPE_BATCH"


@BOTH
def test_nothing_is_staged_but_the_graph(template, pipeline):
    made = template(pipeline, "large")
    assert made.staged == ("pipeline.pb",)
    assert "packages" not in made.pool
    for environment in made.graph.components.environments.values():
        assert not environment.dependencies
        docker = api.DockerPayload.FromString(environment.payload)
        assert docker.container_image == IMAGE
    assert made.told["sdk_location"] == "container"
    assert made.told["save_main_session"] is False


@pytest.mark.parametrize(
    ("pipeline", "wanted"),
    [
        (
            "annotate",
            "List/New List/Slices/Cut List/Slices/Stamp Annotate/Localize "
            "Commit/Gather Commit/Commit",
        ),
        (
            "train",
            "List/Slices/Cut Choose/Boxed/ReadBoxes Choose/Boxed/Match "
            "Eyes/Descriptors Eyes/Words Negatives/Windows Negatives/Pool Learn/Plan "
            "Learn/Describe "
            "Learn/Appearance Learn/Compete Learn/Context Details/Tell Commit/Gather "
            "Commit/Commit",
        ),
    ],
)
def test_the_steps_are_there(template, pipeline, wanted):
    found = template(pipeline, "large").graph.components.transforms.values()
    names = {one.unique_name for one in found}
    assert set(wanted.split()) <= names


def _before(made: Template, name: str) -> list[str]:
    """The chain of single steps that lead to a step, the nearest first."""
    steps = made.steps()
    by_output = {o: n for n, one in steps.items() for o in one.outputs.values()}
    chain = []
    while len(inputs := list(steps[name].inputs.values())) == 1:
        name = by_output[inputs[0]]
        chain.append(name)
    return chain


def test_no_shuffle_stands_between_a_picture_and_its_file(template):
    made = template("annotate", "large")
    steps = made.steps()
    (localize,) = (n for n in steps if n.startswith("Annotate/Localize"))
    (committed,) = (n for n in steps if n.startswith("Commit/Commit"))
    after = _before(made, committed)  # as far as what was done before comes in
    packed = [n for n in steps if n.startswith("Commit/Pack")]
    meeting = {one for n in packed for one in steps[n].outputs.values()}
    assert set(steps[after[-1]].inputs.values()) == meeting  # nothing larger waits
    (ours,) = (way for n in packed if localize in (way := _before(made, n)))
    after += ours[: ours.index(localize)]
    shuffles = [n for n in after if steps[n].spec.urn == GROUP]
    assert len(shuffles) == 1 and shuffles[0].startswith("Commit/Gather")
    ahead = _before(made, localize)
    nearest = next(n for n in ahead if steps[n].spec.urn == GROUP)
    assert nearest.startswith("List/Slices/SpreadSlices")
    assert any(name.startswith("List/New") for name in ahead)


@BOTH
def test_no_element_is_in_the_graph(template, pipeline):
    names = [_row(number)[0].encode() for number in (0, 1, 2, PICTURES - 1)]
    every = [*template(pipeline, "large").functions()]
    assert len(every) > 5
    for function in every:
        assert not any(name in function for name in names)
        assert b"n10000000" not in function  # nor a class
    source = f"{ROOT}/large/list.csv".encode()
    assert sum(source in function for function in every) >= 1  # all that there is


@BOTH
def test_size_does_not_grow_with_the_pictures(template, pipeline):
    small, large = template(pipeline, "small"), template(pipeline, "large")
    assert abs(large.size - small.size) < 1000
    assert large.size < LIMIT / 50


def test_size_grows_by_the_id_of_a_model_for_each_class(template):
    few, every = template("annotate", "small", "few"), template("annotate", "small")
    grown = every.size - few.size
    assert 0 < grown < 30 * CLASSES
    assert every.size + 30 * 20_000 < LIMIT / 10  # of all classes of ImageNet


def test_a_dead_letter_that_is_tried_again_costs_a_few_bytes(emulator, beams, template):
    before, many = template("annotate", "small", "few").size, 10_000
    lot = random.Random(0)
    options = annotate.Options(
        (f"{ROOT}/small/list.csv",),
        f"{ROOT}/few",
        f"{ROOT}/out",
        runs.TINY.annotating,
        tasks=frozenset(lot.randbytes(16) for _ in range(many)),
        beam_options=(*beams, f"--template_location={ROOT}/templates/again"),
    )
    assert ending.annotate(options, voice.Voice(quiet=True), 0.0) == 0
    grown = (_written(emulator, "again").size - before) / many
    assert 16 < grown < 40
    assert 100_000 * grown < LIMIT / 2


def test_options_are_all_known(beams):
    told = PipelineOptions(beams)
    assert not told.get_all_options(retain_unknown_options=True).keys() - (
        told.get_all_options().keys()
    )
