"""What a TrainingJob says of its checkpoints, and what its status says of lost time."""

from schema import *  # noqa: F403


def checkpoint():
    return object_of(
        {
            "intervalSeconds": integer(SECONDS, "a checkpoint at least this often; the alert"
                                       " WeftCheckpointLate tells of later ones"),
            "source": object_of(
                {"type": enum(["Annotation"], "Annotation: the job or worker 0's pod has the"
                              " annotation weft.dev/last-checkpoint-time", "Annotation")},
                default={}),
            "stallSeconds": integer(SECONDS, "for how long a checkpoint stops the training; for the"
                                    " advised interval", 60),
        },
        description="how the job stores its state; with it status.lost counts the time that"
        " failures cost")


def losses():
    """The members of status that spec.checkpoint asks for."""
    time = {"type": "string", "format": "date-time"}
    count = {"type": "integer", "format": "int64", "minimum": 0}
    short = text(longest=253)
    return {
        "checkpoint": object_of({
            "lastTime": time, "lastStep": count, "source": short,
            "advisedIntervalSeconds": described(count, "the interval that loses least, by the rates"
                                                " of failures of the job's nodes")}),
        "recovery": object_of({
            "cause": short, "worker": count, "node": short, "since": time, "phase": short},
            description="of a failure whose job does not train again yet"),
        "lost": object_of({
            "workSeconds": described(count, "training after the last checkpoint before a failure or"
                                     " a stop"),
            "downSeconds": described(count, "from failures to the next step: the sum of the next"
                                     " four"),
            "detectSeconds": described(count, "until a failure was found"),
            "replaceSeconds": described(count, "until every new pod had its node"),
            "startSeconds": described(count, "until every worker was ready"),
            "loadSeconds": described(count, "until the first step, where the annotation"
                                     " weft.dev/first-step-time tells of it"),
            "keptSeconds": described(count, "training that a checkpoint holds"),
            "failures": count,
            "exact": described({"type": "boolean"}, "false: work was lost without any checkpoint,"
                               " and workSeconds are at most that"),
            "effectivePercent": described({"type": "number", "minimum": 0, "maximum": 100},
                                          "keptSeconds of all seconds counted"),
            "countedUntil": described(time, "absent while the job is stopped")},
            description="what became of the time since all workers were ready first"),
    }
