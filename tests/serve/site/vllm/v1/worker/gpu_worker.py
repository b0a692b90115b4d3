from vllm.v1.worker.cpu_worker import CPUWorker


class Worker(CPUWorker):
    pass
