"""Every framework with its ring of ranks, as it is started."""

import os
from typing import NamedTuple

from images import PROGRAMS

OLD_TORCH_IMAGE = "weft.test/torch1.13:1"  # tests/ground/image.sh torch1.13
# Under Python 3.11 its torchrun fails without them: it does not list flags whose value is 0.
OLD_TORCH = {"PET_TEE": "2", "PET_REDIRECTS": "2", "OMP_NUM_THREADS": "1"}
C10D = {"type": "Torch", "torch": {"rendezvous": "C10d"}}
OWN_LAUNCHER = ("deepspeed --hostfile /etc/weft/hostfile --no_ssh --node_rank $(WEFT_WORKER_INDEX)"
                " --master_addr $(WEFT_MASTER_ADDR) --master_port $(WEFT_MASTER_PORT)").split()


class Framework(NamedTuple):
    spec: dict            # spec.framework
    launcher: list
    program: str          # of tests/ranks/programs
    words: tuple = ()     # for the program
    folder: str = None    # of tests/ranks/install.sh
    container: str = None  # its image, if not that of all
    environment: dict = {}

    def command(self):
        return [*self.launcher, os.path.join(PROGRAMS, self.program), *self.words]


def mpi(folder, implementation, *flags):
    return Framework({"type": "MPI", "mpi": {"implementation": implementation}},
                     ["mpirun", *flags, "python"], "mpi_ring.py", (), folder, None,
                     {"OMPI_MCA_mpi_yield_when_idle": "1"})


def torch(spec, launcher=("torchrun",), folder="torch", words=(), **environment):
    return Framework(spec, list(launcher), "torch_ring.py", words, folder, None,
                     {"OMP_NUM_THREADS": "1", **environment})


def old_torch(spec):
    return Framework(spec, ["torchrun"], "torch_ring.py", (), None, OLD_TORCH_IMAGE, OLD_TORCH)


FRAMEWORKS = {
    "custom": Framework({"type": "Custom"}, ["python3"], "custom_ring.py"),
    "openmpi4": mpi("openmpi4", "OpenMPI"),
    "openmpi5": mpi("openmpi5", "OpenMPI"),
    "mpich": mpi("mpich", "MPICH"),
    "intelmpi": mpi("intelmpi", "Intel", "-genvnone"),
    "jax": Framework({"type": "JAX"}, ["python"], "jax_ring.py", (), "jax", None,
                     {"JAX_PLATFORMS": "cpu"}),
    "tensorflow": Framework({"type": "TensorFlow"}, ["python"], "tensorflow_ring.py", (),
                            "tensorflow", None, {"TF_CPP_MIN_LOG_LEVEL": "2"}),
    "torch_static": torch({"type": "Torch"}),
    "torch_c10d": torch(C10D),
    "old_torch_static": old_torch({"type": "Torch"}),
    "old_torch_c10d": old_torch(C10D),
    "deepspeed_torchrun": torch({"type": "DeepSpeed"}, folder="deepspeed", words=("deepspeed",),
                                DS_ACCELERATOR="cpu"),
    "deepspeed_own_launcher": torch({"type": "DeepSpeed"}, OWN_LAUNCHER, "deepspeed",
                                    ("deepspeed",), DS_ACCELERATOR="cpu"),
}
