"""Long work behind everything else: in order, once per key, and a failure costs itself alone."""

import threading

from mkg.worker.jobs import Jobs
from tests.hooks.launching import wait_until
from tests.worker import fake_worker


def test_jobs_run_one_after_the_other_and_a_key_that_waits_is_one_job() -> None:
    log, done, gate = fake_worker.Log(), list[str](), threading.Event()
    jobs = Jobs(log)
    jobs.submit("first", lambda: gate.wait(10))
    wait_until(lambda: jobs.status()["jobs"] == 1)
    jobs.submit("a:1", lambda: done.append("old"))
    jobs.submit("b", lambda: done.append("b"))
    jobs.submit("a:1", lambda: done.append("new"))
    assert jobs.status()["jobs"] == 3
    assert not jobs.wait(0.0)
    gate.set()
    assert jobs.wait(10)
    assert done == ["new", "b"]
    assert jobs.status() == {"jobs": 0, "jobs_done": 3, "jobs_failed": 0}


def test_a_job_may_ask_for_itself_again_while_it_runs() -> None:
    jobs, runs = Jobs(fake_worker.Log()), list[int]()

    def work() -> None:
        runs.append(1)
        if len(runs) == 1:
            jobs.submit("x", work)

    jobs.submit("x", work)
    wait_until(lambda: len(runs) == 2)
    assert jobs.wait(10)


def test_a_job_that_breaks_costs_no_other() -> None:
    log, done = fake_worker.Log(), list[int]()
    jobs = Jobs(log)

    def broken() -> None:
        raise ValueError("a text of somebody's")

    jobs.submit("window:s1", broken)
    jobs.submit("y", lambda: done.append(1))
    assert jobs.wait(10) and done == [1]
    assert jobs.status()["jobs_failed"] == 1
    assert "somebody" not in str(vars(log)) and "s1" not in str(vars(log))


def test_a_stopped_queue_begins_nothing() -> None:
    jobs, done, gate = Jobs(fake_worker.Log()), list[int](), threading.Event()
    jobs.submit("x", lambda: gate.wait(10))
    jobs.submit("y", lambda: done.append(1))
    jobs.stop()
    jobs.submit("z", lambda: done.append(2))
    gate.set()
    assert jobs.wait(10) and done == []
