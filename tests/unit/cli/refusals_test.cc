// Every refusal of an input names the file, the line, the document, the field and the value.
#include <unistd.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "operator/cli/main.h"

namespace weft::cli {
namespace {

constexpr const char* kHere = "# here";  // marks the line that is to be named

const std::string kHead =
    "apiVersion: weft.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: x, namespace: a}\nspec:\n";
const std::string kAccelerator = "  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}\n";
const std::string kTemplate =
    "    template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: "
    "8}}}]}}\n";
const std::string kWorkers = "  workers:\n    replicas: 2\n" + kTemplate;
const std::string kJob = kHead + kAccelerator + kWorkers;
const std::string kModel =
    "  model:\n    type: Transformer\n    transformer: {parameters: 7000000000, layers: 32, "
    "hiddenSize: 4096, attentionHeads: 32, sequenceLength: 4096, microBatchSize: 1,\n";
const std::string kFabric =
    "apiVersion: weft.dev/v1alpha1\nkind: Fabric\nmetadata: {name: f}\nspec:\n"
    "  nodeSelector: {matchLabels: {none: here}}\n";
const std::string kLevels = "  levels: [{name: leaf, labelKey: weft.dev/leaf}]\n";
const std::string kPlacement =
    "apiVersion: weft.dev/v1alpha1\nkind: Placement\nmetadata: {name: p, namespace: a}\nspec:\n"
    "  workers: 2\n  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}\n";
const std::string kNode = "apiVersion: v1\nkind: Node\nmetadata: {name: m}\n";
const std::string kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec:\n  nodeName: n1\n";

struct Refusal {
  const char* name;
  std::string text;
  const char* path;   // of the field, "" for a text that is not read so far
  const char* value;  // as the message shows it
};

const std::string kNoSize = kHead + kAccelerator + "  workers:\n";

const std::vector<Refusal> kRefusals = {
    {"no replicas at all", kNoSize + "    replicas: 0  # here\n" + kTemplate,
     "spec.workers.replicas", "0"},
    {"too many replicas", kNoSize + "    replicas: 99999  # here\n" + kTemplate,
     "spec.workers.replicas", "99999"},
    {"replicas below zero", kNoSize + "    replicas: -3  # here\n" + kTemplate,
     "spec.workers.replicas", "-3"},
    {"replicas as text", kNoSize + "    replicas: two  # here\n" + kTemplate,
     "spec.workers.replicas", "\"two\""},
    {"replicas with a fraction", kNoSize + "    replicas: 1.5  # here\n" + kTemplate,
     "spec.workers.replicas", "1.5"},
    {"replicas past 2^63", kNoSize + "    replicas: 99999999999999999999  # here\n" + kTemplate,
     "spec.workers.replicas", "1e+20 must be at most 16384"},
    {"a list of replicas", kNoSize + "    replicas: [1, 2]  # here\n" + kTemplate,
     "spec.workers.replicas", "[1, 2]"},
    {"a misspelt field", kNoSize + "    replicas: 2\n    replica: 2  # here\n" + kTemplate,
     "spec.workers.replica", "did you mean replicas?"},
    {"a field that is not there", kNoSize + "    count: 2  # here\n    replicas: 2\n" + kTemplate,
     "spec.workers.count", "unknown field"},
    {"a restart policy",
     kNoSize + "    replicas: 2\n    template:\n      spec:\n        restartPolicy: Always # here\n"
               "        containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]\n",
     "spec.workers.template.spec.restartPolicy", "\"Always\""},
    {"a limit that is no quantity",
     kNoSize + "    replicas: 2\n    template:\n      spec:\n        containers:\n"
               "        - resources: {limits: {nvidia.com/gpu: 8x}} # here\n",
     "spec.workers.template.spec.containers[0].resources.limits[nvidia.com/gpu]", "\"8x\""},
    {"more GPUs than the template", kHead + "  accelerator:\n    perWorker: 4  # here\n" + kWorkers,
     "spec.accelerator.perWorker", "4"},
    {"a native resource", kHead + "  accelerator: {resourceName: cpu}  # here\n" + kWorkers,
     "spec.accelerator.resourceName", "\"cpu\""},
    {"GPUs of a worker past the bound",
     kHead + "  accelerator:\n    perWorker: 1000  # here\n" + kWorkers,
     "spec.accelerator.perWorker", "1000"},
    {"suspend as text", kJob + "  suspend: maybe  # here\n", "spec.suspend", "\"maybe\""},
    {"an ambiguous word", kJob + "  suspend: yes  # here\n", "", "\"yes\""},
    {"an unknown member of spec", kJob + "  sharding: Full  # here\n", "spec.sharding",
     "unknown field"},
    {"an unknown framework", kJob + "  framework: {type: Pytorch}  # here\n", "spec.framework.type",
     "\"Pytorch\""},
    {"another framework's member", kJob + "  framework:\n    type: Torch\n    mpi: {}  # here\n",
     "spec.framework.mpi", "Torch"},
    {"a port of 0", kJob + "  framework: {type: Torch, torch: {port: 0}}  # here\n",
     "spec.framework.torch.port", "0"},
    {"a port past the last", kJob + "  framework: {type: Torch, torch: {port: 70000}}  # here\n",
     "spec.framework.torch.port", "70000"},
    {"an unknown rendezvous",
     kJob + "  framework: {type: Torch, torch: {rendezvous: Etcd}}  # here\n",
     "spec.framework.torch.rendezvous", "\"Etcd\""},
    {"a user of ssh", kJob + "  framework: {type: MPI, mpi: {sshUser: 9x}}  # here\n",
     "spec.framework.mpi.sshUser", "\"9x\""},
    {"a degree of 0", kJob + "  parallelism: {tensor: 0}  # here\n", "spec.parallelism.tensor",
     "0"},
    {"a degree past the bound", kJob + "  parallelism: {tensor: 2000000}  # here\n",
     "spec.parallelism.tensor", "2000000"},
    {"a degree that does not divide", kJob + "  parallelism: {tensor: 3}  # here\n",
     "spec.parallelism", "3"},
    {"an unknown sharding", kJob + "  parallelism: {sharding: ZeRO3}  # here\n",
     "spec.parallelism.sharding", "\"ZeRO3\""},
    {"a shard group without Hybrid", kJob + "  parallelism: {shardGroupSize: 4}  # here\n",
     "spec.parallelism.shardGroupSize", "4"},
    {"Hybrid without a shard group", kJob + "  parallelism: {sharding: Hybrid}  # here\n",
     "spec.parallelism.shardGroupSize", "Hybrid"},
    {"a shard group that does not divide",
     kJob + "  parallelism: {sharding: Hybrid, shardGroupSize: 5}  # here\n",
     "spec.parallelism.shardGroupSize", "5"},
    {"a rank order that lacks an axis",
     kJob + "  parallelism: {rankOrder: [Tensor, Data]}  # here\n", "spec.parallelism.rankOrder",
     "[\"Tensor\", \"Data\"]"},
    {"a rank order of an unknown axis",
     kJob + "  parallelism:\n    rankOrder: [Tensor, Context, Data, Depth]  # here\n",
     "spec.parallelism.rankOrder[3]", "\"Depth\""},
    {"experts without a mixture",
     kJob + kModel +
         "      globalBatchSize: 16}\n"
         "  parallelism: {expert: 2}  # here\n",
     "spec.parallelism.expert", "2"},
    {"expert does not divide", kJob + "  parallelism: {expert: 5}  # here\n",
     "spec.parallelism.expert", "5"},
    {"a batch that does not divide", kJob + kModel + "      globalBatchSize: 17}  # here\n",
     "spec.model.transformer.globalBatchSize", "17"},
    {"a batch of nothing", kJob + kModel + "      globalBatchSize: 0}  # here\n",
     "spec.model.transformer.globalBatchSize", "0"},
    {"a model without its batch", kJob + kModel + "      vocabularySize: 1}\n  suspend: false\n",
     "spec.model.transformer.globalBatchSize", "is required"},
    {"more heads of keys than heads",
     kJob + kModel + "      keyValueHeads: 64,  # here\n      globalBatchSize: 16}\n",
     "spec.model.transformer.keyValueHeads", "64"},
    {"an unknown precision",
     kJob + kModel + "      precision: FP12,  # here\n      globalBatchSize: 16}\n",
     "spec.model.transformer.precision", "\"FP12\""},
    {"an unknown kind of model", kJob + "  model: {type: CNN}  # here\n", "spec.model.type",
     "\"CNN\""},
    {"a measured axis that is unknown",
     kJob + "  model: {type: Measured, measured: [{axis: Depth, bytesPerGPU: 1}]}  # here\n",
     "spec.model.measured[0].axis", "\"Depth\""},
    {"a measured axis twice",
     kJob + "  model:\n    type: Measured\n    measured:\n    - {axis: Data, bytesPerGPU: 1}\n"
            "    - {axis: Data, bytesPerGPU: 2}  # here\n",
     "spec.model.measured[1]", "Data"},
    {"measured bytes below zero",
     kJob + "  model: {type: Measured, measured: [{axis: Data, bytesPerGPU: -1}]}  # here\n",
     "spec.model.measured[0].bytesPerGPU", "-1"},
    {"measured bytes past 2^63",
     kJob + "  model: {type: Measured, measured: [{axis: Data, bytesPerGPU: 10E}]}  # here\n",
     "spec.model.measured[0].bytesPerGPU", "\"10E\""},
    {"measured bytes with a fraction",
     kJob + "  model: {type: Measured, measured: [{axis: Data, bytesPerGPU: 1.5}]}  # here\n",
     "spec.model.measured[0].bytesPerGPU", "1.5"},
    {"a level that the fabric lacks", kJob + "  topology: {required: rack}  # here\n",
     "spec.topology.required", "\"rack\""},
    {"outside as a level", kJob + "  topology: {required: outside}  # here\n",
     "spec.topology.required", "\"outside\""},
    {"preferred wider than required",
     kJob + "  topology:\n    required: leaf\n    preferred: spine  # here\n",
     "spec.topology.preferred", "spine"},
    {"waiting without preferred", kJob + "  topology: {waitForPreferredSeconds: 5}  # here\n",
     "spec.topology.waitForPreferredSeconds", "5"},
    {"a group of no axis", kJob + "  topology: {groups: [{axes: [], required: leaf}]}  # here\n",
     "spec.topology.groups[0].axes", "[]"},
    {"a group's axis twice",
     kJob + "  topology: {groups: [{axes: [Data, Data], required: leaf}]}  # here\n",
     "spec.topology.groups[0].axes[1]", "\"Data\""},
    {"a name of a level",
     kJob + "  topology: {groups: [{axes: [Data], required: 9leaf}]}  # here\n",
     "spec.topology.groups[0].required", "\"9leaf\""},
    {"an unknown Fabric", kJob + "  fabricName: nope  # here\n", "spec.fabricName", "\"nope\""},
    {"a Fabric's name in capitals", kJob + "  fabricName: NOPE  # here\n", "spec.fabricName",
     "\"NOPE\""},
    {"a time to live below zero", kJob + "  ttlSecondsAfterFinished: -1  # here\n",
     "spec.ttlSecondsAfterFinished", "-1"},
    {"restarts below zero", kJob + "  failurePolicy: {maxRestarts: -1}  # here\n",
     "spec.failurePolicy.maxRestarts", "-1"},
    {"an unknown reaction", kJob + "  failurePolicy: {infrastructure: Ignore}  # here\n",
     "spec.failurePolicy.infrastructure", "\"Ignore\""},
    {"an API version to come",
     "apiVersion: weft.dev/v9  # here\nkind: TrainingJob\nmetadata: {name: x}\nspec: {}\n",
     "apiVersion", "weft.dev/v9"},
    {"an unknown kind of ours",
     "apiVersion: weft.dev/v1alpha1\nkind: TrainJob  # here\nmetadata: {name: x}\n", "kind",
     "TrainJob"},
    {"a job's name",
     "apiVersion: weft.dev/v1alpha1\nkind: TrainingJob\n"
     "metadata: {name: Llama_70B}  # here\nspec:\n" +
         kAccelerator + kWorkers,
     "metadata.name", "\"Llama_70B\""},
    {"a spec that is text",
     "apiVersion: weft.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: x}\nspec: big  # here\n",
     "spec", "\"big\""},
    {"a Node's quantity", kNode + "status:\n  allocatable:\n    nvidia.com/gpu: eight  # here\n",
     "status.allocatable[nvidia.com/gpu]", "\"eight\""},
    {"a Node's taints", kNode + "spec:\n  taints: none  # here\n", "spec.taints", "\"none\""},
    {"a Pod's request", kPod + "  containers:\n  - resources:\n      requests: {cpu: -1}  # here\n",
     "spec.containers[0].resources.requests.cpu", "-1"},
    {"a Pod's node selector", kPod + "  nodeSelector: {pool: 8}  # here\n",
     "spec.nodeSelector.pool", "8"},
    {"a Fabric without levels", kFabric, "spec.levels", "is required"},
    {"a level's key", kFabric + "  levels:\n  - {name: leaf, labelKey: a b}  # here\n",
     "spec.levels[0].labelKey", "\"a b\""},
    {"a reserved level", kFabric + "  levels:\n  - {name: node, labelKey: a}  # here\n",
     "spec.levels[0].name", "\"node\""},
    {"a level twice",
     kFabric + "  levels:\n  - {name: leaf, labelKey: a}\n  - {name: leaf, labelKey: b}  # here\n",
     "spec.levels[1].name", "\"leaf\""},
    {"a link that is unknown",
     kFabric + "  levels:\n  - {name: leaf, labelKey: a, link: {type: Ethernet9}}  # here\n",
     "spec.levels[0].link.type", "\"Ethernet9\""},
    {"a bandwidth of nothing", kFabric + kLevels + "  outside: {bandwidthPerGPU: 0}  # here\n",
     "spec.outside.bandwidthPerGPU", "0"},
    {"an oversubscription of nothing",
     kFabric + kLevels + "  outside: {oversubscriptionPercent: 0}  # here\n",
     "spec.outside.oversubscriptionPercent", "0"},
    {"an unknown identity",
     kFabric + "  levels: [{name: leaf, labelKey: a, identity: Name}]  # here\n",
     "spec.levels[0].identity", "\"Name\""},
    {"rails past the bound", kFabric + kLevels + "  rails: {count: 100}  # here\n",
     "spec.rails.count", "100"},
    {"an unknown preset", kFabric + "  preset: Acme  # here\n", "spec.preset", "\"Acme\""},
    {"a tolerance past 100", kFabric + kLevels + "  costTolerancePercent: 101  # here\n",
     "spec.costTolerancePercent", "101"},
    {"a variable's name", kFabric + kLevels + "  environment:\n  - {name: 9X, value: a}  # here\n",
     "spec.environment[0].name", "\"9X\""},
    {"a variable of Weft's",
     kFabric + kLevels + "  environment:\n  - {name: WEFT_X, value: a}  # here\n",
     "spec.environment[0].name", "\"WEFT_X\""},
    {"a Placement's workers",
     "apiVersion: weft.dev/v1alpha1\nkind: Placement\nmetadata: {name: p}\nspec:\n"
     "  workers: none  # here\n",
     "spec.workers", "\"none\""},
    {"an operator of a selector",
     kPlacement + "  podSelector:\n    matchExpressions:\n    - {key: a, operator: Is}  # here\n",
     "spec.podSelector.matchExpressions[0].operator", "\"Is\""},
    {"a selector without values",
     kPlacement +
         "  podSelector: {matchExpressions: [{key: a, operator: In, values: []}]} # here\n",
     "spec.podSelector.matchExpressions[0].values", "[]"},
    {"a label key of a worker index",
     kPlacement + "  podSelector: {}\n  workerIndexLabels: [{key: a b}]  # here\n",
     "spec.workerIndexLabels[0].key", "\"a b\""},
    {"fewer nodes than workers", kPlacement + "status: {nodes: [n1]}  # here\n", "status.nodes",
     "1 nodes for 2 workers"},
    {"a key twice", kJob + "  suspend: true\n  suspend: false  # here\n", "", "\"suspend\""},
    {"an alias", kJob + "  suspend: *a  # here\n", "", "*a"},
    {"a tag", kJob + "  suspend: !!set a  # here\n", "", "set"},
    {"a number past a double", kJob + "  suspend: 1e999  # here\n", "", "1e999"},
};

std::size_t LineOf(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == text.npos) return 0;
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class Refused : public ::testing::Test {
 protected:
  Refused()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("weft-refusals-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::string cluster =
        "apiVersion: weft.dev/v1alpha1\nkind: Fabric\nmetadata: {name: default}\nspec:\n"
        "  levels: [{name: spine, labelKey: weft.dev/spine}, {name: leaf, labelKey: "
        "weft.dev/leaf}]\n";
    for (int i = 0; i < 4; ++i) {
      const std::string leaf = std::to_string(i / 2);
      cluster += "---\napiVersion: v1\nkind: Node\nmetadata: {name: n" + std::to_string(i) +
                 ", labels: {weft.dev/spine: s, weft.dev/leaf: l" + leaf +
                 "}}\nstatus: {allocatable: {cpu: 64, memory: 1Ti, pods: 110, nvidia.com/gpu: 8}, "
                 "conditions: [{type: Ready, status: 'True'}]}\n";
    }
    Write("cluster.yaml", cluster);
  }
  ~Refused() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // What `weft plan` says of the manifests; the exit code goes to `code`, the answer to `answer`.
  std::string Plan(const std::string& path, int& code, std::string& answer) {
    std::string words[] = {"weft", "plan", "-f", (folder_ / "cluster.yaml").string(), "-f", path};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    code = Main(static_cast<int>(argv.size()), argv.data());
    answer = ::testing::internal::GetCapturedStdout();
    return ::testing::internal::GetCapturedStderr();
  }

  const std::filesystem::path folder_;
};

TEST_F(Refused, NamesFileLineDocumentFieldAndValue) {
  const std::string before = "apiVersion: v1\nkind: Node\nmetadata: {name: before}\n---\n";
  std::size_t tried = 0;
  for (const Refusal& c : kRefusals) {
    if (*c.value == '\0') continue;
    ++tried;
    const std::string text = before + c.text;
    const std::string path = Write("bad.yaml", text);
    int code = 0;
    std::string answer;
    const std::string said = Plan(path, code, answer);
    EXPECT_EQ(code, 2) << c.name << ": " << said;
    EXPECT_EQ(answer, "") << c.name;
    const std::size_t line = LineOf(text, kHere);
    const std::string place =
        path + ": line " + (line > 0 ? std::to_string(line) + ": " : std::string());
    EXPECT_TRUE(said.starts_with("weft: " + place)) << c.name << ": " << said;
    if (*c.path != '\0') {
      EXPECT_NE(said.find(": document 2: "), said.npos) << c.name << ": " << said;
      EXPECT_NE(said.find(std::string(": ") + c.path + ": "), said.npos) << c.name << ": " << said;
    }
    EXPECT_NE(said.find(c.value), said.npos) << c.name << ": " << said;
  }
  EXPECT_GE(tried, 60U);
}

TEST_F(Refused, InJsonToo) {
  const std::string path = Write("bad.json",
                                 "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
                                 "  {\"apiVersion\": \"v1\", \"kind\": \"Node\",\n"
                                 "   \"metadata\": {\"name\": \"m\"}},\n"
                                 "  {\"apiVersion\": \"v1\", \"kind\": \"Node\",\n"
                                 "   \"metadata\": {\"name\": \"k\"},\n"
                                 "   \"status\": {\"allocatable\":\n"
                                 "      {\"cpu\": \"many\"}}}]}\n");
  int code = 0;
  std::string answer;
  const std::string said = Plan(path, code, answer);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(said, "weft: " + path +
                      ": line 7: document 1: items[1]: Node k: status.allocatable.cpu: \"many\" is "
                      "not a quantity such as 8, 250m, 1.5Gi or 50G\n");
}

}  // namespace
}  // namespace weft::cli
