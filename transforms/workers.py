"""A worker process uses one thread: there are as many processes as cores."""

import os


def prepare_worker() -> None:
    """Sets every library that would start threads of its own to one."""
    import cv2
    import numba
    import threadpoolctl

    cv2.setNumThreads(1)
    numba.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def prepare_trainer(with_torch: bool) -> None:
    """The same for a worker that learns, with torch or without."""
    prepare_worker()
    if with_torch:
        import torch

        torch.set_num_threads(1)
