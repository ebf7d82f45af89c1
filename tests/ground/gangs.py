"""The TrainingJob of the tests on real nodes: a gang of one program, in an image that each has."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks"))
from operator_lib import training_job  # noqa: E402
from real_nodes import IMAGE  # noqa: E402
GRACE_SECONDS = 3  # of a first process that ignores SIGTERM


def gang(space, name, command, workers, gpus, **spec):
    """Of so many workers with so many GPUs each."""
    job = training_job(space, name, workers, gpus=gpus, framework={"type": "Custom"}, **spec)
    pod = job["spec"]["workers"]["template"]["spec"]
    pod["terminationGracePeriodSeconds"] = GRACE_SECONDS
    pod["containers"][0].update(image=IMAGE, imagePullPolicy="IfNotPresent", command=command)
    return job


def cued_gang(space, name, program, folder, workers, gpus, **spec):
    """Whose containers run a program of bash; /cue is the machine's folder."""
    job = gang(space, name, ["bash", "-c", program], workers, gpus, **spec)
    pod = job["spec"]["workers"]["template"]["spec"]
    pod["volumes"] = [{"name": "cue", "hostPath": {"path": folder}}]
    pod["containers"][0].update(env=[], volumeMounts=[{"name": "cue", "mountPath": "/cue"}])
    return job
