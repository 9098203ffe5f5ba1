#!/usr/bin/env bash
# A Flink cluster of processes on this machine, in the foreground: JobManager,
# TaskManagers, a pool of Python workers and Beam's job server. Ctrl-C ends it all.
#   standalone.sh [TASKMANAGERS]     by default 2, of two slots each
# Then, with two of the four slots to spare for the loss of a TaskManager:
#   belvedere annotate --images=in --models=models --output=out -- \
#     --runner=PortableRunner --job_endpoint=localhost:8099 \
#     --environment_type=EXTERNAL --environment_config=localhost:50000 \
#     --parallelism=2 --sdk_worker_parallelism=2 \
#     --number_of_execution_retries=30 --execution_retry_delay=5000
# From the environment: PYTHON, the one that has belvedere; the ports JOB_PORT (8099),
# POOL_PORT (50000), REST_PORT (8081), RPC_PORT (6123); LOGS, a folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
count=${1:-2}
PYTHON=$(command -v "${PYTHON:-python3}")
export PYTHON JOB_PORT=${JOB_PORT:-8099}
pool=${POOL_PORT:-50000} rest=${REST_PORT:-8081} rpc=${RPC_PORT:-6123}
LOGS=${LOGS:-$(mktemp -d "${TMPDIR:-/tmp}/belvedere-flink.XXXXXX")}

"$PYTHON" -c 'import belvedere.transforms, apache_beam' ||
  { echo "$PYTHON has no belvedere: say PYTHON=.venv/bin/python" >&2; exit 2; }
FLINK_HOME=$("$PYTHON" "$here/fetch.py" flink)
export FLINK_HOME FLINK_CONF_DIR=$FLINK_HOME/conf FLINK_LOG_DIR=$LOGS FLINK_PID_DIR=$LOGS

pids=()
trap 'trap - EXIT; kill "${pids[@]}" 2>/dev/null || true; wait; exit' EXIT
trap 'exit 130' INT TERM

start() { # NAME COMMAND...: in the background, with a log of its own
  "${@:2}" >"$LOGS/$1.log" 2>&1 </dev/null &
  pids+=($!)
}

# Addresses are those of conf/config.yaml: localhost, all of them.
ports=(-D "rest.port=$rest" -D "jobmanager.rpc.port=$rpc")
start jobmanager "$FLINK_HOME/bin/jobmanager.sh" start-foreground "${ports[@]}" \
  -D cluster.evenly-spread-out-slots=true
for ((n = 1; n <= count; n++)); do
  start "taskmanager-$n" "$FLINK_HOME/bin/taskmanager.sh" start-foreground \
    "${ports[@]}" -D taskmanager.numberOfTaskSlots=2 \
    -D taskmanager.memory.process.size=2048m \
    -D taskmanager.memory.network.min=384m -D taskmanager.memory.network.max=384m
done
# The pool starts its workers as `python`. One thread each: there is one for every slot.
PATH=$(dirname "$PYTHON"):$PATH OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
  start worker-pool "$PYTHON" -m apache_beam.runners.worker.worker_pool_main \
  --service_port="$pool"
start job-server "$here/job-server.sh" "localhost:$rest"

answer() {
  exec 3<>"/dev/tcp/localhost/$rest" &&
    printf 'GET /overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3 && cat <&3
}
until (answer) 2>/dev/null | grep -q "\"taskmanagers\":$count" &&
  grep -q "JobService started" "$LOGS/job-server.log"; do
  kill -0 "${pids[@]}" || { echo "it does not start: look into $LOGS" >&2; exit 1; }
  sleep 0.5
done
echo "ready: dashboard at http://localhost:$rest, logs in $LOGS"
wait
