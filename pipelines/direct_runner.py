"""Prism for Beam's DirectRunner and PrismRunner, without waiting for ever.

DirectRunner prefers Prism, which it fetches from GitHub with no limit of time: where a
firewall drops packets it stands for minutes, before a server that is silent for ever.
Here Prism is fetched first, and a connection that is silent is given up. DirectRunner
then goes where it would have gone without Prism, to the runner in this process.
"""

import logging
import socket

from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.portability.prism_runner import PrismJobServer

from belvedere.pipelines.failures import Mistake

SILENCE = 10.0  # seconds
_log = logging.getLogger("belvedere")


def runs_in_process(options: PipelineOptions) -> bool:
    """Whether DirectRunner is wanted and Prism is not to be had for it.

    Mistake if it is Prism that is wanted.
    """
    runner = (options.view_as(StandardOptions).runner or "").lower()
    if runner not in ("directrunner", "switchingdirectrunner", "prismrunner"):
        return False
    fault = _fault(options)
    if fault and runner == "prismrunner":
        raise Mistake(f"no Prism: {fault}; give --prism_location=FILE")
    if fault:
        _log.info("DirectRunner runs in this process: %s", fault)
    return bool(fault)


def _fault(options: PipelineOptions) -> str:
    """Sees to it that Prism is in Beam's cache; why it is not, if it is not."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SILENCE)
    try:
        server = PrismJobServer(options)
        server.local_bin(server.path_to_binary())
    except Exception as error:  # of Beam, of the network, of the disk
        return f"{type(error).__name__}: {error}"
    finally:
        socket.setdefaulttimeout(before)
    return ""
