#include "operator/framework/mpi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/launch/host_file.h"
#include "operator/launch/objects.h"
#include "operator/launch/ssh_secret.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

api::TrainingJob Job(const std::string& mpi) {
  Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "x", "namespace": "team-a", "uid": "u1"},
    "spec": {"framework": {"type": "MPI"}, "workers": {"replicas": 2, "template": {"spec": {
      "containers": [{"name": "helper", "image": "i", "command": ["sleep"]},
                     {"name": "trainer", "image": "i", "command": ["mpirun"], "args": ["train"],
                      "resources": {"limits": {"nvidia.com/gpu": 2}}}]}}}}})json");
  object["spec"]["framework"]["mpi"] = Json::parse(mpi);
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

Gang GangOf(const api::TrainingJob& job) { return {&job, 1, "p1", {"b", "a"}, {}, {}, ""}; }

struct Case {
  std::string name;  // reads as a sentence
  std::string mpi, hosts;
};

TEST(MpiTest, TheHostfileIsInTheImplementationsOwnForm) {
  const std::vector<Case> cases = {
      {"Open MPI has a line for each rank", R"({"implementation": "OpenMPI"})",
       "x-0\nx-0\nx-1.x\nx-1.x\n"},
      {"Intel MPI counts them", R"({"implementation": "Intel"})", "x-0.x:2\nx-1.x:2\n"},
      {"so does MPICH", R"({"implementation": "MPICH"})", "x-0.x:2\nx-1.x:2\n"},
  };
  for (const Case& c : cases) {
    const api::TrainingJob job = Job(c.mpi);
    EXPECT_EQ(HostFile(job), c.hosts) << c.name;
  }
}

TEST(MpiTest, HydraIsReachedAtThePodsOwnAddress) {
  const auto defaults = [](const std::string& mpi, bool host_network) {
    api::TrainingJob job = Job(mpi);
    Json raw = *job.raw;
    raw["spec"]["workers"]["template"]["spec"]["hostNetwork"] = host_network;
    job.raw = std::make_shared<const Json>(std::move(raw));
    return MpiDefaults(GangOf(job));
  };
  const std::string intel = R"({"implementation": "Intel"})",
                    mpich = R"({"implementation": "MPICH"})";
  EXPECT_EQ(defaults(intel, false), (Environment{{"I_MPI_HYDRA_IFACE", "eth0"}}));
  EXPECT_EQ(defaults(mpich, false), (Environment{{"HYDRA_IFACE", "eth0"}}));
  EXPECT_EQ(defaults(intel, true), Environment{});
  EXPECT_EQ(defaults(mpich, true), Environment{});
}

TEST(MpiTest, NoVersionOfOpenMpiBindsRanksToCores) {
  const api::TrainingJob job = Job("{}");
  const Environment defaults = MpiDefaults(GangOf(job));
  for (const char* name :
       {"OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_hwloc_default_binding_policy"}) {
    const auto found =
        std::find(defaults.begin(), defaults.end(), Environment::value_type{name, "none"});
    EXPECT_TRUE(found != defaults.end()) << name;
  }
}

TEST(MpiTest, WorkerZeroRunsTheLauncherAndTheOthersServeIt) {
  const api::TrainingJob job = Job("{}");
  const Json launcher = MakePod(GangOf(job), WorkerIndex{0})["spec"]["containers"];
  const Json worker = MakePod(GangOf(job), WorkerIndex{1})["spec"]["containers"];
  EXPECT_EQ(launcher[1]["command"], Json::array({"mpirun"}));
  EXPECT_EQ(launcher[1]["args"], Json::array({"train"}));
  EXPECT_EQ(worker[1]["command"], Json::parse(R"(["/bin/sh", "/etc/weft/worker"])"));
  EXPECT_FALSE(worker[1].contains("args"));
  EXPECT_EQ(worker[0]["command"], Json::array({"sleep"}));
}

TEST(MpiTest, KeysAreMountedBesideTheFilesForTheirOwnerAlone) {
  const api::TrainingJob job = Job("{}");
  EXPECT_EQ(MakePod(GangOf(job), WorkerIndex{1})["spec"]["volumes"][0],
            Json::parse(R"json({"name": "weft",
    "projected": {"defaultMode": 365, "sources": [
      {"configMap": {"name": "x-1-weft"}},
      {"secret": {"name": "x-1-weft-p1", "items": [
        {"key": "id", "path": "ssh/id", "mode": 256},
        {"key": "authorized_keys", "path": "ssh/authorized_keys", "mode": 292},
        {"key": "known_hosts", "path": "ssh/known_hosts", "mode": 292}]}}]}})json"));
  const Json secret = MakeSshSecret(GangOf(job), {"PEM", "ecdsa AAAA"});
  EXPECT_EQ(secret["kind"], "Secret");
  EXPECT_FALSE(secret.contains("data"));
  EXPECT_EQ(secret["stringData"], Json::parse(R"({"id": "PEM",
    "authorized_keys": "ecdsa AAAA\n", "known_hosts": "* ecdsa AAAA\n"})"));
}

// Of an earlier job of the same name the Secret may still be there.
TEST(MpiTest, TheSecretIsThePlacementsByItsName) {
  const api::TrainingJob job = Job("{}");
  Gang gang = GangOf(job);
  gang.placement_uid = "0123abcd-4567-89ef";
  EXPECT_EQ(MakeSshSecret(gang, {"PEM", "ecdsa AAAA"})["metadata"]["name"], "x-1-weft-0123abcd");
  const Json sources = MakePod(gang, WorkerIndex{1})["spec"]["volumes"][0]["projected"]["sources"];
  EXPECT_EQ(sources[0]["configMap"]["name"], "x-1-weft");
  EXPECT_EQ(sources[1]["secret"]["name"], "x-1-weft-0123abcd");
}

TEST(MpiTest, PortAndUserAreTheJobs) {
  const api::TrainingJob job = Job(R"({"sshPort": 2200, "sshUser": "mpi"})");
  const auto files = MpiFiles(GangOf(job));
  EXPECT_NE(files.at("sshd_config").find("Port 2200\n"), std::string::npos);
  EXPECT_NE(files.at("ssh_config").find("Port 2200\n"), std::string::npos);
  EXPECT_NE(files.at("ssh_config").find("User mpi\n"), std::string::npos);
}

}  // namespace
}  // namespace weft::launch
