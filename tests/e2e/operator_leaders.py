#!/usr/bin/env python3
"""Two operators, one leader: it is killed, cut off or asked to go, and the other goes on. How long
that takes depends on the machine and is printed; tests/world has the law of it (I7)."""

import http.client
import signal
import time

from operator_lib import (GPUS, PATIENCE_SECONDS, Audit, Operator, as_user, free_port, poll,
                          slowness, training_job)
from operator_scenarios import Scenarios, main



class Leaders(Scenarios):
    """`operator` is the leader, and `standby` becomes it."""

    flags = ()  # no short deadline: a gang must not start anew for want of a leader
    names = 0

    @classmethod
    def start_operator(cls):
        cls.names += 1
        name = f"operator-{cls.names}"
        port = free_port()
        operator = Operator(cls.work.name, name, *cls.flags, "--kubeconfig",
                            as_user(cls.work.name, name), "--probe-address", f"127.0.0.1:{port}")
        operator.port = port
        return operator

    def setUp(self):
        self.until_holder(self.operator)
        self.operator.stop()
        type(self).operator = leader = self.start_operator()
        self.until_holder(leader)
        self.standby = self.start_operator()
        # Last of all: one of them has to clean up.
        self.addCleanup(lambda: [one.kill() for one in (leader, self.standby)
                                 if one is not self.operator])
        super().setUp()
        poll(lambda: self.probe(self.standby, "/readyz")[0] == 200, "the standby is ready")

    def stand_in(self):
        """The standby is the one that counts from now on."""
        type(self).operator = self.standby

    def holder(self):
        lease = self.cluster.get("leases", "weft-system", "weft-operator")
        return lease and lease["spec"]["holderIdentity"]

    def until_holder(self, operator):
        """The seconds that it took."""
        begun = time.monotonic()
        poll(lambda: self.holder() == operator.name, f"{operator.name} leads", PATIENCE_SECONDS)
        return time.monotonic() - begun

    @staticmethod
    def probe(operator, path):
        connection = http.client.HTTPConnection("127.0.0.1", operator.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError as error:
            return 0, str(error)
        finally:
            connection.close()

    def apply_jobs(self, prefix, jobs=6, run_seconds=3):
        for number in range(jobs):
            self.apply(training_job(self.space, f"{prefix}-{number}", 4, run_seconds))

    def until_complete(self, prefix, jobs=6):
        for number in range(jobs):
            job = self.cluster.until_condition(self.space, f"{prefix}-{number}", "Complete")
            self.assertEqual((job["status"]["attempt"], job["status"]["restarts"]), (1, 0))

    def test_a_killed_leader_is_followed_by_the_standby(self):
        self.apply_jobs("before")
        self.cluster.until_running(self.space, "before-0")
        self.operator.kill()
        begun = time.monotonic()
        self.stand_in()
        self.apply_jobs("without", 1)
        seconds = self.until_holder(self.standby)
        self.until_complete("without", 1)
        print(f"a killed leader: Lease taken {seconds:.1f} s later, the job of the meantime done "
              f"{time.monotonic() - begun:.1f} s later", flush=True)
        self.until_complete("before")

    def test_a_leader_that_was_cut_off_writes_nothing_when_it_is_back(self):
        former = self.operator
        self.apply_jobs("before")
        self.cluster.until_running(self.space, "before-0")
        former.signal(signal.SIGSTOP)
        self.apply_jobs("meanwhile", 2)
        seconds = self.until_holder(self.standby)
        self.stand_in()
        self.until_complete("before")
        # There is work to be done when it comes back.
        self.apply_jobs("after")
        audit = Audit()
        soon = time.time() + 2 * min(5.0, slowness())
        on_its_way = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(soon))
        former.signal(signal.SIGCONT)
        self.assertEqual(former.process.wait(PATIENCE_SECONDS), 1)
        self.assertIn("lost the lead", former.said())
        self.until_complete("meanwhile", 2)
        self.until_complete("after")
        # What was on its way when it was stopped goes out; its preconditions guard the rest.
        late = [(one["verb"], one["requestURI"]) for one in audit.writes(former.name)
                if one["requestReceivedTimestamp"] > on_its_way]
        self.assertEqual(late, [])
        self.assertNotEqual(audit.writes(self.standby.name), [])
        self.assertEqual(self.holder(), self.standby.name)
        print(f"a leader cut off: Lease taken {seconds:.1f} s later", flush=True)

    def test_a_leader_that_is_asked_to_go_hands_over_at_once(self):
        self.apply_jobs("before")
        self.cluster.until_running(self.space, "before-0")
        former = self.operator
        self.stand_in()
        begun = time.monotonic()
        former.stop()
        ended = time.monotonic() - begun
        self.assertNotEqual(self.holder(), former.name, "it gave the Lease back")
        self.until_holder(self.standby)
        print(f"a leader asked to go: ended {ended:.1f} s later, Lease taken "
              f"{time.monotonic() - begun:.1f} s later", flush=True)
        self.apply_jobs("after", 2)
        self.until_complete("before")
        self.until_complete("after", 2)

    def test_a_leader_that_is_asked_to_go_leaves_its_batch(self):
        job = training_job(self.space, "large", 256, 0)
        job["spec"]["accelerator"]["perWorker"] = 1
        container = job["spec"]["workers"]["template"]["spec"]["containers"][0]
        container["resources"]["limits"][GPUS] = 1
        self.apply(job)
        self.cluster.until("its first pods are there",
                           lambda: self.cluster.pods(self.space, "large"))
        former = self.operator
        self.stand_in()
        former.signal(signal.SIGTERM)
        begun = time.monotonic()
        poll(lambda: self.holder() != former.name, "the Lease is given back", PATIENCE_SECONDS)
        print(f"a leader asked to go in the middle of a batch: Lease given back "
              f"{time.monotonic() - begun:.1f} s later, {len(self.cluster.pods(self.space, 'large'))}"
              f" of 256 pods made", flush=True)
        self.assertEqual(former.process.wait(PATIENCE_SECONDS), 0)
        job = self.cluster.until_condition(self.space, "large", "Complete")
        self.assertEqual((job["status"]["attempt"], job["status"]["restarts"]), (1, 0))

    def test_both_answer_probes_and_one_writes(self):
        audit = Audit()
        self.apply_jobs("job", 2)
        self.until_complete("job", 2)
        for operator in (self.operator, self.standby):
            self.assertEqual(self.probe(operator, "/healthz"), (200, "ok\n"))
            self.assertEqual(self.probe(operator, "/readyz"), (200, "ok\n"))
            self.assertEqual(self.probe(operator, "/else")[0], 404)
        self.assertNotEqual(audit.writes(self.operator.name), [])
        self.assertEqual(audit.writes(self.standby.name), [])


if __name__ == "__main__":
    main()
