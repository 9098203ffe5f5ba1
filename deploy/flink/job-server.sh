#!/usr/bin/env bash
# Beam's Flink job server, in the foreground: commands find it at --job_endpoint.
#   job-server.sh                    with a Flink inside, for a try and for tests
#   job-server.sh localhost:8081     jobs go to the cluster with this REST address
# From the environment: JOB_PORT, by default 8099, 0 for any; PYTHON, to fetch the jars
# with. Beam's program listens on all interfaces, and does as it is told by whoever
# reaches it: not on an open network.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
jars=$("${PYTHON:-python3}" "$here/fetch.py" job-server)
# What launchers send along; the TaskManagers of this machine read it there.
staged=$(dirname "$jars")/staged
exec java -Xmx2g -cp "$jars/*" org.apache.beam.runners.flink.FlinkJobServerDriver \
  --flink-master "${1:-[local]}" --job-host 127.0.0.1 --job-port "${JOB_PORT:-8099}" \
  --artifact-port 0 --expansion-port 0 --artifacts-dir "$staged"
