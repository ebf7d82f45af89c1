// What Weft says of a TrainingJob's template: names of its own, and launchers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/life/launcher.h"
#include "operator/life/reserved_names.h"

namespace weft::life {
namespace {

using api::FrameworkType;
using Json = nlohmann::json;

api::TrainingJob Job(FrameworkType type, const std::string& pod_spec) {
  api::TrainingJob job;
  job.framework.type = type;
  job.accelerator.per_worker = 8;
  Json object;
  object["spec"]["workers"]["template"]["spec"] = Json::parse(pod_spec);
  job.raw = std::make_shared<const Json>(std::move(object));
  return job;
}

struct Reserved {
  std::string name;  // reads as a sentence
  FrameworkType type;
  std::string pod_spec, want;  // "" none
};

TEST(FindReservedUseTest, NamesTheFieldAndTheReason) {
  const std::string spec = "spec.workers.template.spec.";
  const std::vector<Reserved> cases = {
      {"a template of its own names is fine", FrameworkType::kTorch,
       R"({"containers": [{"name": "a", "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}]})", ""},
      {"WEFT_ is reserved with every framework", FrameworkType::kCustom,
       R"({"containers": [{"name": "a"}, {"name": "b", "env": [{"name": "WEFT_X"}]}]})",
       spec + "containers[1].env[0].name: WEFT_X is reserved with framework Custom: Weft sets the "
              "variables that tell each process its rank"},
      {"a rank of one's own would permute them", FrameworkType::kTorch,
       R"({"initContainers": [{"name": "a", "env": [{"name": "A"}, {"name": "PET_NODE_RANK"}]}]})",
       spec + "initContainers[0].env[1].name: PET_NODE_RANK is reserved with framework Torch: Weft "
              "sets the variables that tell each process its rank"},
      {"another framework's variables are free", FrameworkType::kJAX,
       R"({"containers": [{"name": "a", "env": [{"name": "PET_NODE_RANK"}]}]})", ""},
      {"so is how often torchrun restarts", FrameworkType::kTorch,
       R"({"containers": [{"name": "a", "env": [{"name": "PET_MAX_RESTARTS"}]}]})", ""},
      {"a volume of Weft's", FrameworkType::kTorch, R"({"volumes": [{"name": "weft"}]})",
       spec + "volumes[0].name: the volume name weft is reserved for Weft"},
      {"a mount below Weft's", FrameworkType::kTorch,
       R"({"containers": [{"name": "a", "volumeMounts": [{"mountPath": "/etc/weft/x"}]}]})",
       spec + "containers[0].volumeMounts[0].mountPath: /etc/weft is reserved for Weft"},
      {"a container of Weft's", FrameworkType::kTorch,
       R"({"initContainers": [{"name": "weft-verify"}]})",
       spec + "initContainers[0].name: the container name weft-verify is reserved for Weft"},
      {"what is no list is the API server's to judge", FrameworkType::kTorch,
       R"({"containers": 7, "volumes": "x"})", ""},
  };
  for (const Reserved& c : cases) {
    const auto use = FindReservedUse(Job(c.type, c.pod_spec));
    EXPECT_EQ(use ? use->field + ": " + use->message : "", c.want) << c.name;
  }
}

struct Launched {
  std::string name;  // reads as a sentence
  FrameworkType type;
  std::string command, want;  // "" nothing to say
};

TEST(WrongLauncherTest, SaysWhatTheFrameworkExpects) {
  const std::vector<Launched> cases = {
      {"torchrun is Torch's", FrameworkType::kTorch, R"(["torchrun", "train.py"])", ""},
      {"wherever it lies", FrameworkType::kTorch, R"(["/opt/bin/torchrun", "train.py"])", ""},
      {"a module may be torch's", FrameworkType::kTorch,
       R"(["python3", "-m", "torch.distributed.run"])", ""},
      {"mpirun is not", FrameworkType::kTorch, R"(["mpirun", "python"])",
       "framework Torch expects torchrun, but the command is mpirun"},
      {"python alone starts one process", FrameworkType::kTorch, R"(["python3.11", "train.py"])",
       "framework Torch expects torchrun for its 8 ranks per worker, but python3.11 starts one "
       "process"},
      {"DeepSpeed may be started by torchrun", FrameworkType::kDeepSpeed, R"(["torchrun"])", ""},
      {"or by its own launcher, told of the others", FrameworkType::kDeepSpeed,
       R"(["deepspeed", "--no_ssh", "--hostfile=/etc/weft/hostfile", "train.py"])", ""},
      {"which knows one worker alone without the hostfile", FrameworkType::kDeepSpeed,
       R"(["deepspeed", "--no_ssh", "train.py"])",
       "deepspeed needs --no_ssh and --hostfile /etc/weft/hostfile; without them each worker runs "
       "a "
       "job of its own"},
      {"MPI is not", FrameworkType::kMPI, R"(["torchrun", "train.py"])",
       "framework MPI expects mpirun or mpiexec, but the command is torchrun"},
      {"JAX's processes start themselves", FrameworkType::kJAX, R"(["python", "train.py"])", ""},
      {"JAX needs no launcher", FrameworkType::kJAX, R"(["torchrun", "train.py"])",
       "framework JAX expects the script itself, but the command is torchrun"},
      {"a shell may start anything", FrameworkType::kMPI, R"(["sh", "-c", "exec mpirun"])", ""},
      {"so may a custom job", FrameworkType::kCustom, R"(["mpirun"])", ""},
      {"and an image's own command", FrameworkType::kMPI, "[]", ""},
  };
  for (const Launched& c : cases) {
    auto job =
        Job(c.type, R"({"containers": [{"name": "trainer", "command": )" + c.command + "}]}");
    job.replicas = 2;
    EXPECT_EQ(WrongLauncher(job).value_or(""), c.want) << c.name;
  }
}

TEST(CommandOfTest, IsWhatTheTemplateSays) {
  const auto job = Job(FrameworkType::kTorch, R"({"containers": [
      {"name": "a", "command": ["sh", "-c"], "args": ["torchrun x"]}, {"name": "b"}]})");
  EXPECT_EQ(CommandOf(job, "a"), "sh -c torchrun x");
  EXPECT_EQ(CommandOf(job, "b"), "the image's own command");
  EXPECT_EQ(CommandOf(job, "c"), "the image's own command");
}

}  // namespace
}  // namespace weft::life
