from vllm.v1.worker import cpu_worker

from .worker import CountingWorker


class CPUWorker(CountingWorker, cpu_worker.CPUWorker):
    pass
