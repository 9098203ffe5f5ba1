# syntax=docker/dockerfile:1
# One image for workers and launcher, so that both have the same code to the byte.
#   docker build -t belvedere:0.1.0 .                        learns, annotates
#   docker build -t belvedere:0.1.0-flex --target flex .     the same for Dataflow
# Only method.gp.objective=fitc needs torch: --build-arg LOCK=trainer.lock adds it, and
# 5 GB of packages.

ARG TEMPLATE_LAUNCHER=20230622_RC00
FROM gcr.io/dataflow-templates-base/python311-template-launcher-base:${TEMPLATE_LAUNCHER} \
  AS template_launcher

FROM apache/beam_python3.11_sdk:2.77.0 AS packages
ARG LOCK=worker.lock
# An environment of our own: nothing of the base image's packages can leak in.
RUN python -m venv /opt/belvedere
ENV PATH=/opt/belvedere/bin:$PATH
COPY deploy/image/${LOCK} /tmp/image.lock
RUN pip install --no-cache-dir --require-hashes --no-deps -r /tmp/image.lock

FROM packages AS builder
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY core core
COPY transforms transforms
COPY pipelines pipelines
# The lock has setuptools; without isolation nothing unlocked is fetched.
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM apache/beam_python3.11_sdk:2.77.0 AS worker
LABEL org.opencontainers.image.title="belvedere" \
  org.opencontainers.image.licenses="Apache-2.0"
# The instruction set is named, not taken from the machine that builds: else numba would
# find its cache made for another processor and compile anew on every worker. Any x86
# server since 2013 has it; for ARM build with CPU=generic CPU_FEATURES= .
ARG CPU=haswell
ARG CPU_FEATURES=+avx2,+bmi,+bmi2,+fma,+f16c,+lzcnt,+movbe,+popcnt
# RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT: boot would make another environment at each
# start, which a user other than root and a read-only container cannot.
ENV PATH=/opt/belvedere/bin:$PATH \
  RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT=1 \
  PYTHONDONTWRITEBYTECODE=1 \
  OMP_NUM_THREADS=1 \
  OPENBLAS_NUM_THREADS=1 \
  NUMBA_NUM_THREADS=1 \
  NUMBA_CPU_NAME=${CPU} \
  NUMBA_CPU_FEATURES=${CPU_FEATURES} \
  NUMBA_CACHE_DIR=/var/cache/belvedere/numba
RUN groupadd --gid 10001 belvedere \
  && useradd --uid 10001 --gid belvedere --create-home belvedere \
  && install -d -o belvedere -g belvedere /var/cache/belvedere/numba
# Layers by how often they change: a machine that has the packages of the last version
# fetches only our code and what numba makes of it.
COPY --from=packages /opt/belvedere /opt/belvedere
RUN --mount=from=builder,source=/wheels,target=/wheels \
  pip install --no-cache-dir --no-deps /wheels/*.whl
COPY deploy/image/warm.py /opt/belvedere/image/
USER 10001:10001
WORKDIR /home/belvedere
RUN python /opt/belvedere/image/warm.py
COPY deploy/dataflow/flex_launch.py /opt/belvedere/image/
COPY --chmod=0755 deploy/image/entrypoint.sh /opt/belvedere/image/
ENTRYPOINT ["/opt/belvedere/image/entrypoint.sh"]

# Google's launcher beside it: the same image starts the job and works on it. As root,
# for Dataflow alone: it mounts /var/opt/google and /var/log/dataflow as root and expects
# both launcher and worker to write there. The machine around it serves this job only.
FROM worker AS flex
# hadolint ignore=DL3002
USER 0:0
COPY --from=template_launcher /opt/google/dataflow/python_template_launcher \
  /opt/google/dataflow/python_template_launcher
ENV FLEX_TEMPLATE_PYTHON_PY_FILE=/opt/belvedere/image/flex_launch.py

FROM worker
