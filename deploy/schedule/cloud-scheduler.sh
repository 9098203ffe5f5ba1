#!/usr/bin/env bash
# Cloud Scheduler launches the template every night with launch-body.json (edit it first).
#   PROJECT=... REGION=... cloud-scheduler.sh
set -euo pipefail
: "${PROJECT:?say PROJECT}" "${REGION:?say REGION}"

# Answered as soon as the job is accepted: three minutes are plenty. Tried three more
# times if the service does not answer; a job of that name that is still running makes
# Dataflow refuse, and the next night does what is left.
gcloud scheduler jobs create http belvedere-annotate \
  --project="$PROJECT" --location="$REGION" \
  --schedule="0 2 * * *" --time-zone=Etc/UTC \
  --uri="https://dataflow.googleapis.com/v1b3/projects/$PROJECT/locations/$REGION/flexTemplates:launch" \
  --http-method=POST --headers=Content-Type=application/json \
  --message-body-from-file="$(dirname "$0")/launch-body.json" \
  --oauth-service-account-email="belvedere-scheduler@$PROJECT.iam.gserviceaccount.com" \
  --attempt-deadline=180s --max-retry-attempts=3 --min-backoff=60s
