from vllm.v1.worker import gpu_worker

from .worker import BankWorker


class Worker(BankWorker, gpu_worker.Worker):
    pass
