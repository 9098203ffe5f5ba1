#!/usr/bin/env bash
# A Flink cluster of processes on this machine, in the foreground: a JobManager,
# TaskManagers of two slots, each with a pool of Python workers, and Beam's job server.
# Ctrl-C ends it all.
#   standalone.sh [TASKMANAGERS]     by default 2
# Then, with as many slots to spare as the loss of a TaskManager costs:
#   belvedere annotate --images=in --models=models --output=out -- \
#     --runner=PortableRunner --job_endpoint=localhost:8099 --flink_master=localhost:8081 \
#     --environment_type=EXTERNAL --environment_config=worker-pool:50000 \
#     --parallelism=2 --sdk_worker_parallelism=2
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

# All of Flink's addresses are localhost, by its conf/config.yaml.
ports=(-D "rest.port=$rest" -D "jobmanager.rpc.port=$rpc")
start jobmanager "$FLINK_HOME/bin/jobmanager.sh" start-foreground "${ports[@]}" \
  -D cluster.evenly-spread-out-slots=true -D restart-strategy.type=fixed-delay \
  -D restart-strategy.fixed-delay.attempts=30 -D restart-strategy.fixed-delay.delay=5s
for ((n = 1; n <= count; n++)); do
  # `worker-pool` is another address to each, as if each were on a machine of its own.
  printf '127.0.0.1 localhost %s\n127.0.0.%d worker-pool\n' "$HOSTNAME" "$n" \
    >"$LOGS/hosts-$n"
  start "worker-pool-$n" "$PYTHON" "$here/worker_pool.py" "127.0.0.$n:$pool"
  JVM_ARGS="-Djdk.net.hosts.file=$LOGS/hosts-$n" \
    start "taskmanager-$n" "$FLINK_HOME/bin/taskmanager.sh" start-foreground \
    "${ports[@]}" -D taskmanager.numberOfTaskSlots=2 \
    -D taskmanager.memory.process.size=2048m \
    -D taskmanager.memory.network.min=384m -D taskmanager.memory.network.max=384m
done
start job-server "$here/job-server.sh" "localhost:$rest"

answer() {
  exec 3<>"/dev/tcp/localhost/$rest" &&
    printf 'GET /overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3 && cat <&3
}
until (answer) 2>/dev/null | grep -q "\"taskmanagers\":$count" &&
  grep -q "JobService started" "$LOGS/job-server.log"; do
  for pid in "${pids[@]}"; do # one by one: of several `kill` asks for any
    kill -0 "$pid" || { echo "it does not start: look into $LOGS" >&2; exit 1; }
  done
  sleep 0.5
done
echo "ready: dashboard at http://localhost:$rest, logs in $LOGS"
wait
