#!/bin/sh
# Entry point of the image, by what the container is asked:
#   belvedere annotate ...         the command (any program of the image)
#   --worker_pool, --id=1 ...      Beam's boot: a pool of workers, or one worker
#   nothing                        Google's launcher if it is here (Flex Template)
# Beam's boot is the last program to run in a worker, as its container contract asks.
set -eu

boot=${BELVEDERE_BOOT:-/opt/apache/beam/boot}
flex=${BELVEDERE_FLEX:-/opt/google/dataflow/python_template_launcher}
scratch=${TMPDIR:-/tmp}

writable() { # -w says yes to root on folders that turn a file away
  probe=$1/.probe.$$
  (: >"$probe") 2>/dev/null && rm -f "$probe"
}

# numba must be able to write beside what it reads, or it refuses to load at all.
if ! writable "$NUMBA_CACHE_DIR"; then
  if ! writable "$scratch"; then
    echo "neither $NUMBA_CACHE_DIR nor $scratch can be written to:" \
      "mount a writable $scratch" >&2
    exit 2
  fi
  copy=$scratch/belvedere-numba
  if [ ! -d "$copy" ]; then
    made=$(mktemp -d "$scratch/belvedere-numba.XXXXXX")
    cp -R "$NUMBA_CACHE_DIR/." "$made/"
    # of two containers that share a folder, one makes the copy
    mv -T "$made" "$copy" 2>/dev/null || rm -rf "$made"
  fi
  export NUMBA_CACHE_DIR="$copy"
fi
writable "${HOME:-/}" || export HOME="$scratch"

start_boot() { # it writes pipeline_options.json into the folder it is started in
  writable . || cd "$scratch"
  exec "$boot" "$@"
}

case ${1:-} in
  "")
    if [ -x "$flex" ]; then exec "$flex"; fi
    exec belvedere --help
    ;;
  -*)
    for argument in "$@"; do
      case $argument in
        --worker_pool* | --id=* | --id | --provision_endpoint=* | --setup_only*)
          start_boot "$@"
          ;;
      esac
    done
    if [ -x "$flex" ]; then exec "$flex" "$@"; fi
    start_boot "$@"
    ;;
  *) exec "$@" ;;
esac
