"""torchrun under weft-run: worker 1 and then worker 0 are replaced, at new addresses.

weft_run_torch.py WEFT_RUN FOLDER TORCHRUN
"""

import sys
import time

from weft_run_gangs import FOLDER, Gang, wait_for

WORKERS = 2
SECONDS = 240  # importing torch is most of it

# Each step adds up over all ranks; every fifth is a checkpoint.
TRAIN = r"""
import os, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world, folder = dist.get_rank(), dist.get_world_size(), os.environ["GANG"]
checkpoint = folder + "/checkpoint"
step = int(open(checkpoint).read()) if os.path.exists(checkpoint) else 0
while True:
    total = torch.tensor([rank + step])
    dist.all_reduce(total)
    assert total.item() == world * (world - 1) // 2 + world * step
    step += 1
    with open(folder + "/steps", "a") as steps:
        print(rank, os.environ["WEFT_REVISION"], step, file=steps)
    if rank == 0 and step % 5 == 0:
        with open(checkpoint + ".new", "w") as file:
            file.write(str(step))
        os.rename(checkpoint + ".new", checkpoint)
    time.sleep(0.2)
"""


def steps_of(gang, revision):
    file = gang.folder / "steps"
    lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    return {int(rank): int(step) for rank, at, step in lines if int(at) == revision}


def expect_steps(gang, revision, least):
    wait_for(f"step {least} of both ranks at revision {revision}",
             lambda: sum(one >= least for one in steps_of(gang, revision).values()) == WORKERS,
             SECONDS)


def main():
    script = FOLDER / "train.py"
    script.write_text(TRAIN)
    command = ["env", "GLOO_SOCKET_IFNAME=lo", "OMP_NUM_THREADS=1", f"PET_NNODES={WORKERS}",
               "PET_NPROC_PER_NODE=1", "sh", "-c",
               f"PET_NODE_RANK=$RANK exec {sys.argv[3]} {script}"]
    gang = Gang("torch", 0, workers=WORKERS, command=command, limit=SECONDS, grace=10,
                contact_limit=SECONDS, checkpoint_file=FOLDER / "torch" / "checkpoint")
    try:
        expect_steps(gang, 0, 6)
        for revision, rank in ((1, 1), (2, 0)):
            kept = gang.parents[1 - rank].pid
            before = int((gang.folder / "checkpoint").read_text())
            gang.lose(rank)
            gang.move(rank)
            begin = time.monotonic()
            gang.start(rank, revision=revision)
            expect_steps(gang, revision, before + 6)
            took = time.monotonic() - begin
            print(f"worker {rank} replaced: {took:.1f} s until both train again")
            assert gang.parents[1 - rank].pid == kept and gang.parents[1 - rank].poll() is None
        wait_for("the checkpoint's time", lambda: gang.state(0)["lastCheckpointTime"])
    except BaseException:
        for log in sorted(gang.folder.glob("log.*")):
            print(f"--- {log.name}\n{log.read_text()[-4000:]}", file=sys.stderr)
        raise
    finally:
        gang.end()


main()
