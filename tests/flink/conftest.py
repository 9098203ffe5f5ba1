"""A Flink inside of its job server, and a cluster."""

from collections.abc import Iterator

import flinks
import pytest


@pytest.fixture(scope="session")
def embedded(tmp_path_factory) -> Iterator[tuple[str, ...]]:
    """Options for the Flink inside of a job server."""
    log = tmp_path_factory.mktemp("flink") / "job-server.log"
    ready = r"JobService started on \S+:(\d+)"
    with flinks.started("job-server.sh", log, ready, JOB_PORT="0") as (_, found):
        yield (
            "--runner=PortableRunner",
            f"--job_endpoint=127.0.0.1:{found[1]}",
            "--environment_type=LOOPBACK",
            "--parallelism=2",
        )


@pytest.fixture
def cluster(tmp_path_factory) -> Iterator[flinks.Cluster]:
    logs = tmp_path_factory.mktemp("cluster")
    job, pool, rest, rpc = flinks.free_ports(4)
    known = {"JOB_PORT": job, "POOL_PORT": pool, "REST_PORT": rest, "RPC_PORT": rpc}
    script = logs / "standalone.log"
    told = flinks.started("standalone.sh", script, "ready", LOGS=str(logs), **known)
    with told as (group, _):
        yield flinks.Cluster(group, logs, job, pool, rest)
