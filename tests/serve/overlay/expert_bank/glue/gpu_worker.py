from vllm.v1.worker import gpu_worker

from .worker import CountingWorker


class Worker(CountingWorker, gpu_worker.Worker):
    pass
