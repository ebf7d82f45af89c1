#include "operator/launch/host_file.h"
#include "operator/launch/attempt_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "operator/api/decode.h"
#include "operator/framework/tensor_flow.h"
#include "operator/launch/framework.h"
#include "operator/launch/objects.h"
#include "operator/life/worker_limit.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint32_t kMostWorkers = 16'384;                  // the maximum of crds/
constexpr std::size_t kLongestString = std::size_t{128} << 10;  // MAX_ARG_STRLEN

struct Case {
  const char* name;
  const char* framework;
};

const Case kCases[] = {
    {"Torch", R"({"type": "Torch"})"},
    {"Torch with C10d", R"({"type": "Torch", "torch": {"rendezvous": "C10d"}})"},
    {"DeepSpeed", R"({"type": "DeepSpeed"})"},
    {"Open MPI", R"({"type": "MPI", "mpi": {"implementation": "OpenMPI"}})"},
    {"Intel MPI", R"({"type": "MPI", "mpi": {"implementation": "Intel"}})"},
    {"MPICH", R"({"type": "MPI", "mpi": {"implementation": "MPICH"}})"},
    {"JAX", R"({"type": "JAX"})"},
    {"TensorFlow", R"({"type": "TensorFlow"})"},
    {"Custom", R"({"type": "Custom"})"},
};

api::TrainingJob Job(const char* framework, std::uint32_t replicas, const std::string& name) {
  Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"namespace": "team-a", "uid": "u1"},
    "spec": {"accelerator": {"perWorker": 8}, "workers": {"template": {"spec": {
      "containers": [{"name": "helper", "image": "other"},
                     {"name": "trainer", "image": "i", "command": ["launch"],
                      "imagePullPolicy": "Always", "securityContext": {"runAsUser": 7},
                      "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})json");
  object["metadata"]["name"] = name;
  object["spec"]["framework"] = Json::parse(framework);
  object["spec"]["workers"]["replicas"] = replicas;
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

// On nodes with names as long as a label's value, in as many leaves.
Gang GangOf(const api::TrainingJob& job) {
  Gang gang{&job, 1'000'000, "0123abcd-0000", {}, {{"leaf", {}, {}, false}}, {}, ""};
  for (std::uint32_t w = 0; w < job.replicas; ++w) {
    gang.nodes.push_back(std::string(57, 'n') + std::to_string(100'000 + w));
    gang.levels[0].domains.push_back(std::string(57, 'l') + std::to_string(100'000 + w));
    gang.levels[0].of_worker.push_back(w);
  }
  return gang;
}

std::size_t DataBytes(const Json& config_map) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : config_map["data"].items()) {
    bytes += name.size() + text.get_ref<const std::string&>().size();
  }
  return bytes;
}

// Of "name=value" and the NUL behind it.
std::size_t LongestVariable(const Environment& environment) {
  std::size_t longest = 0;
  for (const auto& [name, value] : environment) {
    longest = std::max(longest, name.size() + 1 + value.size() + 1);
  }
  return longest;
}

TEST(HostFileTest, FitsSizeLimitsForEveryAcceptedNumberOfWorkers) {
  for (const Case& c : kCases) {
    for (const std::string& name : {std::string("a"), std::string(40, 'a')}) {
      for (const std::uint32_t workers : {1U, 1'024U, 4'096U, kMostWorkers}) {
        const api::TrainingJob job = Job(c.framework, workers, name);
        if (life::TooManyWorkers(job)) continue;
        const Gang gang = GangOf(job);
        EXPECT_LE(DataBytes(MakeConfigMap(gang)), kConfigMapBytes) << c.name << " " << workers;
        EXPECT_LE(LongestVariable(FrameworkEnvironment(gang, WorkerIndex(workers - 1))),
                  kLongestString)
            << c.name << " " << workers;
      }
    }
  }
}

TEST(HostFileTest, TensorFlowAloneHasAMostOfWorkers) {
  for (const Case& c : kCases) {
    const api::TrainingJob job = Job(c.framework, kMostWorkers, std::string(40, 'a'));
    EXPECT_EQ(life::TooManyWorkers(job).has_value(), std::string(c.name) == "TensorFlow") << c.name;
  }
}

TEST(HostFileTest, TheMostOfTensorFlowIsExact) {
  const char* framework = kCases[7].framework;
  for (const auto& [name, most] :
       {std::pair{std::string("a"), 8'186U}, {std::string(40, 'a'), 1'393U}}) {
    const api::TrainingJob fits = Job(framework, most, name),
                           too_many = Job(framework, most + 1, name);
    EXPECT_EQ(life::TooManyWorkers(fits), std::nullopt) << name;
    const auto why = life::TooManyWorkers(too_many);
    ASSERT_TRUE(why) << name;
    EXPECT_NE(why->find("enough for " + std::to_string(most) + " with"), std::string::npos) << *why;
    const Gang gang = GangOf(too_many);
    EXPECT_EQ(LongestVariable(FrameworkEnvironment(gang, WorkerIndex(most))),
              framework::TensorFlowConfigBytes(too_many, most + 1));
    EXPECT_GT(framework::TensorFlowConfigBytes(too_many, most + 1), kLongestString);
  }
}

TEST(HostFileTest, ItsSizeIsKnownBeforeItIsMade) {
  for (const Case& c : kCases) {
    const api::TrainingJob job = Job(c.framework, 123, "llama");
    EXPECT_EQ(HostFileBytes(job), HostFile(job).size()) << c.name;
  }
}

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Runs the script as the init container does, and looks at what it has made.
TEST(HostFileTest, ThePodMakesTheSameFile) {
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("weft-fill-" + std::to_string(getpid()));
  for (const Case& c : kCases) {
    const api::TrainingJob job = Job(c.framework, kMostWorkers, std::string(40, 'a'));
    if (!MakesHostFileInPod(job)) continue;
    fs::create_directories(folder / "from" / "ssh");
    fs::create_directories(folder / "to");
    const Json made = MakeConfigMap(GangOf(job));
    for (const auto& [name, text] : made["data"].items()) {
      std::ofstream(folder / "from" / name) << text.get<std::string>();
    }
    std::ofstream(folder / "from" / "ssh" / "id") << "key";
    fs::permissions(folder / "from" / "ssh" / "id", fs::perms(0440));  // as with fsGroup
    const std::string command = "/bin/sh " + (folder / "from" / "fill").string() + " " +
                                (folder / "from").string() + " " + (folder / "to").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << c.name;
    EXPECT_TRUE(ReadFile(folder / "to" / "hostfile") == HostFile(job)) << c.name;
    EXPECT_TRUE(ReadFile(folder / "to" / "placement.json") == made["data"]["placement.json"]);
    EXPECT_EQ(fs::status(folder / "to" / "ssh" / "id").permissions(), fs::perms(0400));
    fs::remove_all(folder);
  }
}

TEST(HostFileTest, WhereItFitsPodsHaveNoMoreContainers) {
  const api::TrainingJob job = Job(kCases[3].framework, 1'024, "llama");
  ASSERT_FALSE(MakesHostFileInPod(job));
  EXPECT_FALSE(MakePod(GangOf(job), WorkerIndex{0})["spec"].contains("initContainers"));
  EXPECT_EQ(MakeConfigMap(GangOf(job))["data"]["hostfile"], HostFile(job));
}

TEST(HostFileTest, OnlyThePodsThatReadItMakeIt) {
  const api::TrainingJob mpi = Job(kCases[3].framework, kMostWorkers, "llama");
  const api::TrainingJob deep_speed = Job(kCases[2].framework, kMostWorkers, std::string(40, 'a'));
  EXPECT_TRUE(MakePod(GangOf(mpi), WorkerIndex{0})["spec"].contains("initContainers"));
  EXPECT_FALSE(MakePod(GangOf(mpi), WorkerIndex{1})["spec"].contains("initContainers"));
  const Json spec = MakePod(GangOf(deep_speed), WorkerIndex{1})["spec"];
  Json fill = spec["initContainers"][0];
  fill.erase("env");
  EXPECT_EQ(fill, Json::parse(R"({
    "name": "weft-files", "image": "i", "imagePullPolicy": "Always",
    "securityContext": {"runAsUser": 7},
    "command": ["/bin/sh", "/etc/weft-files/fill", "/etc/weft-files", "/etc/weft"],
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                  "limits": {"cpu": "100m", "memory": "64Mi"}},
    "volumeMounts": [{"name": "weft-files", "mountPath": "/etc/weft-files", "readOnly": true},
                     {"name": "weft", "mountPath": "/etc/weft"}]})"));
  EXPECT_EQ(spec["volumes"][0]["name"], "weft-files");
  EXPECT_EQ(spec["volumes"].back(),
            Json::parse(R"({"name": "weft", "emptyDir": {"medium": "Memory"}})"));
}

}  // namespace
}  // namespace weft::launch
