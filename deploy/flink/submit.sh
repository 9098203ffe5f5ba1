#!/usr/bin/env bash
# Annotates on the session cluster of the current kubectl context, and waits.
#   submit.sh IMAGES MODELS OUTPUT [PARALLELISM]
#   submit.sh gs://bucket/shards gs://bucket/models gs://bucket/out 64
# PARALLELISM is the number of slots to use, by default 4. May be repeated at any time.
# From the environment: NAMESPACE, and JOB for another file than job.yaml beside this one.
set -euo pipefail

if [ $# -lt 3 ] || [ $# -gt 4 ]; then
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
namespace=${NAMESPACE:-default}

kubectl create configmap belvedere-run --namespace "$namespace" \
  --from-literal=IMAGES="$1" --from-literal=MODELS="$2" --from-literal=OUTPUT="$3" \
  --from-literal=PARALLELISM="${4:-4}" --dry-run=client --output=yaml |
  kubectl apply --namespace "$namespace" --filename -
job=$(kubectl create --namespace "$namespace" --output=name \
  --filename "$here/${JOB:-job.yaml}")
echo "$job: follow it with kubectl logs --namespace $namespace --follow $job" >&2

# Either condition ends the wait; the launcher's deadline is 20 hours.
for _ in $(seq 7200); do
  state=$(kubectl get --namespace "$namespace" "$job" \
    --output='jsonpath={.status.conditions[?(@.status=="True")].type}')
  case " $state " in
    *" Complete "*) exit 0 ;;
    *" Failed "*)
      kubectl logs --namespace "$namespace" "$job" --tail=20 >&2 || true
      exit 1
      ;;
  esac
  sleep 10
done
exit 1
