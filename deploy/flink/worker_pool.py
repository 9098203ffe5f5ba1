#!/usr/bin/env python3
"""Beam's pool of Python workers for one TaskManager, on an address of this machine.

    worker_pool.py 127.0.0.1:50000

Beam's own program for it listens on all interfaces, and does as it is told by whoever
reaches it; this one listens where it is told. A TaskManager needs a pool of its own:
all of them number their workers alike, and one would stop those of another.
"""

import os
import pathlib
import signal
import sys
import threading

import grpc
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.worker import worker_pool_main
from apache_beam.utils import thread_pool_executor


def serve(address: str) -> None:
    """Starts workers when asked to, until the process is told to end."""
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    pool = worker_pool_main.BeamFnExternalWorkerPoolServicer(
        use_process=True, data_buffer_time_limit_ms=-1
    )
    server = grpc.server(thread_pool_executor.shared_unbounded_instance())
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(address)
    server.start()
    over.wait()
    server.stop(0)
    for worker in pool._worker_processes.values():
        worker_pool_main.kill_process_gracefully(worker)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    # Workers are started as `python`, with one thread: there is one for every slot.
    mine = pathlib.Path(sys.executable).parent
    os.environ["PATH"] = f"{mine}{os.pathsep}{os.environ['PATH']}"
    for library in ("OMP", "OPENBLAS", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    serve(sys.argv[1])
