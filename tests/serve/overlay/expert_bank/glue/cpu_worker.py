from vllm.v1.worker import cpu_worker

from .worker import BankWorker


class CPUWorker(BankWorker, cpu_worker.CPUWorker):
    pass
