#!/usr/bin/env bash
# Annotates on the session cluster of the current kubectl context, and waits.
#   submit.sh IMAGES MODELS OUTPUT [PARALLELISM]
#   submit.sh gs://bucket/shards gs://bucket/models gs://bucket/out 64
# PARALLELISM is the number of slots to use, by default 4. May be repeated, but does
# nothing while another run is under way: two jobs at once would stop each other's workers.
# From the environment: NAMESPACE, and JOB for another file than job.yaml beside this one.
set -euo pipefail

if [ $# -lt 3 ] || [ $# -gt 4 ]; then
  sed -n '2,7s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
namespace=${NAMESPACE:-default}

# Launchers of whatever made them: this script, the nightly CronJob, Airflow (pods alone).
ends='{.status.phase} {.status.conditions[?(@.status=="True")].type}{"\n"}'
under_way=$(kubectl get jobs,pods --namespace "$namespace" \
  --selector=app.kubernetes.io/name=belvedere-launcher \
  --output="jsonpath={range .items[*]}{.kind}/{.metadata.name} $ends{end}" |
  sed -E '/ (Complete|Failed|Succeeded)( |$)/d')
if [ -n "$under_way" ]; then
  echo "a run is under way, try again when it is over: ${under_way%% *}" >&2
  exit 1
fi

# A ConfigMap for this run alone: neither another run, whose launcher may start again, nor
# the nightly CronJob takes its paths from here. It goes when the job goes.
run=belvedere-run-$(date -u +%Y%m%d-%H%M%S)-$$
kubectl create configmap "$run" --namespace "$namespace" \
  --from-literal=IMAGES="$1" --from-literal=MODELS="$2" --from-literal=OUTPUT="$3" \
  --from-literal=PARALLELISM="${4:-4}" >&2
made=$(sed "s/name: belvedere-run /name: $run /" "$here/${JOB:-job.yaml}" |
  kubectl create --namespace "$namespace" --filename - \
    --output='jsonpath={.metadata.name} {.metadata.uid}') || {
  kubectl delete configmap "$run" --namespace "$namespace" >&2
  exit 1
}
name=${made% *} uid=${made#* }
kubectl patch configmap "$run" --namespace "$namespace" --type=merge --patch "
  metadata:
    ownerReferences: [{apiVersion: batch/v1, kind: Job, name: $name, uid: $uid}]" >&2 || echo "configmap/$run stays: delete it after the job" >&2
job=job/$name
echo "$job: follow it with kubectl logs --namespace $namespace --follow $job" >&2

# Either condition ends the wait; the launcher's deadline is 20 hours. The job does not
# depend on us: an API server that is away for up to five minutes is asked again.
failures=0
for _ in $(seq 7200); do
  if state=$(kubectl get --namespace "$namespace" "$job" \
    --output='jsonpath={.status.conditions[?(@.status=="True")].type}'); then
    failures=0
  else
    state='' failures=$((failures + 1))
    [ "$failures" -lt 30 ] || break
  fi
  case " $state " in
    *" Complete "*) exit 0 ;;
    *" Failed "*)
      kubectl logs --namespace "$namespace" "$job" --tail=20 >&2 || true
      exit 1
      ;;
  esac
  sleep 10
done
echo "$job: not known how it ended, it may go on" >&2
exit 1
