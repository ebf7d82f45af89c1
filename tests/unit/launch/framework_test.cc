#include "operator/launch/framework.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/launch/environment.h"
#include "operator/life/reserved_names.h"

namespace weft::launch {
namespace {

using api::FrameworkType;

struct Case {
  std::string name;  // reads as a sentence
  api::Framework framework;
  std::uint32_t per_worker;
  Environment want;  // of worker 3 of 12
};

api::Framework Of(FrameworkType type, std::uint16_t port,
                  api::Rendezvous rendezvous = api::Rendezvous::kStatic) {
  api::Framework framework;
  framework.type = type;
  framework.port = port;
  framework.rendezvous = rendezvous;
  return framework;
}

std::vector<Case> Cases() {
  return {
      {"torchrun is told its node's rank",
       Of(FrameworkType::kTorch, 29500),
       8,
       {{"PET_NNODES", "12"},
        {"PET_NPROC_PER_NODE", "8"},
        {"MASTER_ADDR", "llama-00.llama"},
        {"MASTER_PORT", "29500"},
        {"GROUP_RANK", "3"},
        {"PET_NODE_RANK", "3"},
        {"PET_MASTER_ADDR", "llama-00.llama"},
        {"PET_MASTER_PORT", "29500"}}},
      {"under c10d torchrun sorts by an address that sorts as the workers do",
       Of(FrameworkType::kTorch, 7000, api::Rendezvous::kC10d),
       8,
       {{"PET_NNODES", "12"},
        {"PET_NPROC_PER_NODE", "8"},
        {"MASTER_ADDR", "llama-00.llama"},
        {"MASTER_PORT", "7000"},
        {"GROUP_RANK", "3"},
        {"PET_RDZV_BACKEND", "c10d"},
        {"PET_RDZV_ENDPOINT", "llama-00.llama:7000"},
        {"PET_RDZV_ID", "u1-2"},
        {"PET_LOCAL_ADDR", "llama-03.llama"}}},
      {"a worker of one rank may do without torchrun",
       Of(FrameworkType::kDeepSpeed, 29500),
       1,
       {{"PET_NNODES", "12"},
        {"PET_NPROC_PER_NODE", "1"},
        {"MASTER_ADDR", "llama-00.llama"},
        {"MASTER_PORT", "29500"},
        {"GROUP_RANK", "3"},
        {"PET_NODE_RANK", "3"},
        {"PET_MASTER_ADDR", "llama-00.llama"},
        {"PET_MASTER_PORT", "29500"},
        {"RANK", "3"},
        {"WORLD_SIZE", "12"},
        {"LOCAL_RANK", "0"}}},
      {"JAX has one process a worker, and a partition for each NVLink domain",
       Of(FrameworkType::kJAX, 1234),
       4,
       {{"JAX_COORDINATOR_ADDRESS", "llama-00.llama:1234"},
        {"JAX_NUM_PROCESSES", "12"},
        {"JAX_PROCESS_ID", "3"},
        {"JAX_PARTITION_INDEX", "1"}}},
      {"a job of its own kind is told nothing more", Of(FrameworkType::kCustom, 29500), 8, {}},
  };
}

class FrameworkTest : public testing::Test {
 protected:
  FrameworkTest() {
    job_.meta.key = {"team-a", "llama"};
    job_.meta.uid = "u1";
    job_.replicas = 12;
    gang_.job = &job_;
    gang_.attempt = 2;
    gang_.nodes.assign(12, "n");
    gang_.levels = {{"leaf", {"l"}, ByWorker<std::uint32_t>(12, 0), false},
                    {"nvlink", {"a", "b"}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}, true}};
  }
  api::TrainingJob job_;
  Gang gang_;
};

TEST_F(FrameworkTest, EachIsToldWhatItReads) {
  for (const Case& c : Cases()) {
    job_.framework = c.framework;
    job_.accelerator.per_worker = c.per_worker;
    EXPECT_EQ(FrameworkEnvironment(gang_, WorkerIndex{3}), c.want) << c.name;
  }
}

TEST_F(FrameworkTest, WorkerZeroHostsTheStoreOfC10dAndTheOthersDoNot) {
  job_.framework = Of(FrameworkType::kTorch, 29500, api::Rendezvous::kC10d);
  const Environment host = {{"PET_RDZV_CONF", "is_host=true"}};
  const Environment guest = {{"PET_RDZV_CONF", "is_host=false"}};
  EXPECT_EQ(FrameworkOptions(gang_, WorkerIndex{0}), host);
  EXPECT_EQ(FrameworkOptions(gang_, WorkerIndex{11}), guest);
  job_.framework = Of(FrameworkType::kTorch, 29500);
  EXPECT_EQ(FrameworkOptions(gang_, WorkerIndex{0}), Environment());
  job_.framework = Of(FrameworkType::kDeepSpeed, 29500);
  EXPECT_EQ(FrameworkOptions(gang_, WorkerIndex{0}), Environment());
}

struct OptionCase {
  std::string name;          // reads as a sentence
  nlohmann::json own, want;  // env of the template's container, and of the pod's
};

TEST_F(FrameworkTest, OptionsAreAddedToThoseOfTheTemplate) {
  using Json = nlohmann::json;
  const auto one = [](const Json& rest) {
    Json variable = {{"name", "PET_RDZV_CONF"}};
    variable.update(rest);
    return Json::array({{{"name", "A"}, {"value", "a"}}, variable});
  };
  const auto value = [&](const char* text) { return one({{"value", text}}); };
  const Json by_reference =
      one({{"valueFrom", {{"configMapKeyRef", {{"name", "c"}, {"key", "k"}}}}}});
  const OptionCase cases[] = {
      {"no variable of that name", nullptr,
       Json::array({{{"name", "PET_RDZV_CONF"}, {"value", "is_host=true"}}})},
      {"options of others stay", value("join_timeout=900,read_timeout=9"),
       value("is_host=true,join_timeout=900,read_timeout=9")},
      {"references to other variables stay", value("join_timeout=$(A)"),
       value("is_host=true,join_timeout=$(A)")},
      {"a longer name is another option", value("is_hosted=1"), value("is_host=true,is_hosted=1")},
      {"no options", value(" "), value("is_host=true")},
      {"no value", one(Json::object()), value("is_host=true")},
      {"who sets it decides", value("join_timeout=9, is_host =0"),
       value("join_timeout=9, is_host =0")},
      {"a value from elsewhere", by_reference, by_reference},
  };
  for (const OptionCase& c : cases) {
    Json container = {{"name", "t"}};
    if (!c.own.is_null()) container["env"] = c.own;
    AddOptions({{"PET_RDZV_CONF", "is_host=true"}}, container);
    EXPECT_EQ(container["env"], c.want) << c.name;
  }
}

TEST_F(FrameworkTest, DeepSpeedsLauncherFindsTheWorkersInOrder) {
  job_.framework = Of(FrameworkType::kDeepSpeed, 29500);
  job_.accelerator.per_worker = 4;
  job_.replicas = 3;
  const std::map<std::string, std::string> want = {
      {"hostfile", "llama-0.llama slots=4\nllama-1.llama slots=4\nllama-2.llama slots=4\n"}};
  EXPECT_EQ(FrameworkFiles(gang_), want);
}

TEST_F(FrameworkTest, TensorFlowKnowsEveryWorkersServer) {
  job_.framework = Of(FrameworkType::kTensorFlow, 2222);
  job_.replicas = 3;
  const Environment want = {
      {"TF_CONFIG",
       R"({"cluster":{"worker":["llama-0.llama:2222","llama-1.llama:2222","llama-2.llama:2222"]},)"
       R"("task":{"type":"worker","index":1},"environment":"cloud"})"}};
  EXPECT_EQ(FrameworkEnvironment(gang_, WorkerIndex{1}), want);
}

TEST_F(FrameworkTest, WithoutAScaleUpNetworkJaxHasNoPartitions) {
  job_.framework = Of(FrameworkType::kJAX, 1234);
  gang_.levels.back().scale_up = false;
  EXPECT_EQ(FrameworkEnvironment(gang_, WorkerIndex{3}).size(), 3U);
}

TEST_F(FrameworkTest, ReservesEveryVariableThatItSets) {
  for (const FrameworkType type :
       {FrameworkType::kTorch, FrameworkType::kDeepSpeed, FrameworkType::kMPI, FrameworkType::kJAX,
        FrameworkType::kTensorFlow, FrameworkType::kCustom}) {
    for (const auto rendezvous : {api::Rendezvous::kStatic, api::Rendezvous::kC10d}) {
      job_.framework = Of(type, 1, rendezvous);
      job_.accelerator.per_worker = 1;
      for (const auto& [name, value] : FrameworkEnvironment(gang_, WorkerIndex{3})) {
        EXPECT_TRUE(life::IsReservedVariable(job_.framework, name)) << name;
      }
      for (const auto& [name, value] : WorkerEnvironment(gang_, WorkerIndex{3})) {
        EXPECT_TRUE(life::IsReservedVariable(job_.framework, name)) << name;
      }
    }
  }
}

TEST_F(FrameworkTest, DomainsOfEveryLevelAreInTheEnvironment) {
  const Environment environment = WorkerEnvironment(gang_, WorkerIndex{3});
  const Environment last(environment.end() - 2, environment.end());
  EXPECT_EQ(last, (Environment{{"WEFT_DOMAIN_LEAF", "l"}, {"WEFT_DOMAIN_NVLINK", "b"}}));
}

}  // namespace
}  // namespace weft::launch
