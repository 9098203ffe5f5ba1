#!/usr/bin/env bash
# Builds the template, or runs it.
#   launch.sh build
#   launch.sh run IMAGES MODELS OUTPUT
#   launch.sh train IMAGES BOXES MODELS
# From the environment:
#   PROJECT, REGION   where
#   BUCKET            for the template and for staging, without gs://
#   IMAGE             of `docker build --target flex`, pushed, with its digest:
#                     REGION-docker.pkg.dev/PROJECT/REPOSITORY/belvedere@sha256:...
#   WORKERS           at most so many machines, by default 20
#   SUBNETWORK        where there is no network called default
set -euo pipefail

usage() {
  sed -n '2,12s/^# //p' "$0" >&2
  exit 2
}
: "${PROJECT:?say PROJECT}" "${REGION:?say REGION}" "${BUCKET:?say BUCKET}"
: "${IMAGE:?say IMAGE}"
template=gs://$BUCKET/templates/belvedere-annotate.json

case ${1:-} in
  build)
    gcloud dataflow flex-template build "$template" --project="$PROJECT" \
      --image="$IMAGE" --sdk-language=PYTHON \
      --metadata-file="$(dirname "$0")/metadata.json"
    exit
    ;;
  run)
    [ $# -eq 4 ] || usage
    name=belvedere-annotate
    given="images=$2;models=$3;output=$4"
    ;;
  train)
    [ $# -eq 4 ] || usage
    name=belvedere-train
    given="command=train;images=$2;boxes=$3;models=$4"
    ;;
  *) usage ;;
esac

# One name, always: Dataflow refuses a second job while the first is running.
# n2: rows are the same to the last bit on one kind of machine. No public
# addresses: workers reach storage through Private Google Access. What gcloud has no
# flag for, threads, disk and the longest time, is in flex_launch.py.
gcloud dataflow flex-template run "$name" --project="$PROJECT" \
  --region="$REGION" --template-file-gcs-location="$template" \
  --service-account-email="belvedere-worker@$PROJECT.iam.gserviceaccount.com" \
  --staging-location="gs://$BUCKET/staging" --temp-location="gs://$BUCKET/temp" \
  --worker-machine-type=n2-standard-4 --max-workers="${WORKERS:-20}" \
  --disable-public-ips ${SUBNETWORK:+"--subnetwork=$SUBNETWORK"} \
  --parameters="^;^$given;sdk_container_image=$IMAGE"
