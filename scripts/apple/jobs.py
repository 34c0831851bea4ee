"""Runs jobs that depend on each other, as many at a time as there are processors."""

import os
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor


class Jobs:
    def __init__(self):
        self.pool = ThreadPoolExecutor(os.cpu_count())
        self.lock = threading.Lock()
        self.idle = threading.Condition(self.lock)
        self.pending = 0
        self.crashes = 0

    def add(self, work, after):
        """Runs `work`, which returns whether it succeeded, after the jobs of `after`, unless one of them failed."""
        job = Job(work)
        with self.lock:
            self.pending += 1
            job.missing = sum(not other.is_done for other in after)
            for other in after:
                if other.is_done:
                    job.is_skipped |= not other.has_succeeded
                else:
                    other.waiting.append(job)
            if job.missing == 0:
                self.pool.submit(self.run, job)
        return job

    def run(self, job):
        try:
            succeeded = not job.is_skipped and job.work()
        except BaseException:
            # Otherwise jobs that wait for it would wait forever.
            traceback.print_exc()
            succeeded = False
            self.crashes += 1
        with self.lock:
            job.is_done, job.has_succeeded = True, succeeded
            for other in job.waiting:
                other.is_skipped |= not succeeded
                other.missing -= 1
                if other.missing == 0:
                    self.pool.submit(self.run, other)
            self.pending -= 1
            self.idle.notify_all()

    def wait(self):
        with self.lock:
            while self.pending:
                self.idle.wait()

    def map(self, work, values):
        return list(self.pool.map(work, values))


class Job:
    def __init__(self, work):
        self.work = work
        self.waiting = []
        self.missing = 0
        self.is_skipped = False
        self.is_done = False
        self.has_succeeded = False
