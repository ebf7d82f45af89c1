// What people have reported in public of schedulers, planners and importers, and what is right:
// each folder of tests/data/reports is one kind of report, told by inputs of our own. Beside the
// reported case stand others of its kind: another vendor's label, another scheduler's gang, another
// form of the same text. The sources are named in the inputs.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "operator/cli/main.h"
#include "tests/support/source_dir.h"

namespace weft::cli {
namespace {

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

std::string Join(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

struct Output {
  int code = 0;
  std::string out, err;
};

// `files` without folder and, for manifests, without ".yaml".
Output Weft(const std::string& folder, const std::string& command, const std::string& files) {
  std::vector<std::string> words = WordsOf("weft " + command);
  for (const std::string& file : WordsOf(files)) {
    const std::string path = testing::SourceDir() + "/tests/data/reports/" + folder + "/" + file;
    if (command.find("import") == command.npos) {
      words.insert(words.end(), {"-f", path + ".yaml"});
    } else {
      words.push_back(path);
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Output output;
  output.code = Main(static_cast<int>(arguments.size()), arguments.data());
  output.out = ::testing::internal::GetCapturedStdout();
  output.err = ::testing::internal::GetCapturedStderr();
  return output;
}

// The text in one line: tables and notes are wrapped at the width of a terminal.
std::string OneLine(const std::string& text) {
  std::string out;
  for (const std::string& word : WordsOf(text)) out += (out.empty() ? "" : " ") + word;
  return out;
}

// A case's name is the test's.
template <typename Case>
std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

struct PlanCase {
  const char* name;
  const char* folder;
  const char* files;
  const char* nodes;         // all that the job gets, by name; "": it is not placed
  const char* says = "";     // part of the reason and the message, if it is not placed
  const char* hides = "\n";  // what these do not say
};
class FieldReportPlan : public ::testing::TestWithParam<PlanCase> {};

TEST_P(FieldReportPlan, GivesTheNodesThatAreRight) {
  const PlanCase& wanted = GetParam();
  const Output output = Weft(wanted.folder, "plan -o json", wanted.files);
  const auto list = nlohmann::json::parse(output.out, nullptr, false);
  ASSERT_FALSE(list.is_discarded()) << output.err;
  ASSERT_EQ(list["items"].size(), 1U);
  const nlohmann::json& status = list["items"][0]["status"];
  std::set<std::string> nodes;
  for (const auto& node : status.value("nodes", nlohmann::json::array())) nodes.insert(node);
  const std::string said = OneLine(output.out);
  EXPECT_EQ(Join(nodes), wanted.nodes) << said;
  EXPECT_EQ(output.code, *wanted.nodes == '\0' ? 3 : 0);
  if (*wanted.nodes != '\0') return;
  EXPECT_NE(said.find(wanted.says), said.npos) << said;
  EXPECT_EQ(said.find(wanted.hides), said.npos) << said;
}

const std::vector<PlanCase> kPorts = {
    {"HostPortsPartWorkers", "ports", "nodes host_port", "g1 g2 g3 g4"},
    {"ContainerPortsUnderHostNetworkPartWorkers", "ports", "nodes container_port", "g1 g2 g3 g4"},
    {"APortThatAPodHoldsClosesItsNode", "ports", "nodes holder three_workers", "g1 g3 g4"},
    {"AntiAffinityByHostNamePartsWorkers", "ports", "nodes anti_affinity", "g1 g2 g3 g4"},
    {"ASpreadByHostNamePartsWorkers", "ports", "nodes spread", "g1 g2 g3 g4"},
    {"MoreWorkersThanNodesWithTheirPort", "ports", "nodes holder host_port", "", "port"},
    {"UdpAndTcpAreOtherPorts", "ports", "nodes holder udp", "g1 g2 g3 g4"},
    {"AnotherAddressIsAnotherPort", "ports", "nodes holder_address another_address", "g1 g2 g3"},
    {"ASidecarHoldsItsPort", "ports", "nodes sidecar", "g1 g2 g3 g4"},
    {"AntiAffinityToPodsOfOthers", "ports", "nodes cache away_from_others", "g1 g2 g4"},
    {"OneWorkerAZone", "ports", "nodes one_zone", "", "nti-affinity"},
    {"AntiAffinityByMatchLabelKeys", "ports", "nodes match_label_keys", "g1 g2 g3 g4"},
    {"ASpreadThatAllowsTwo", "ports", "nodes spread_by_two", "g1 g3"},
    {"APodThatHasEndedHoldsNoPort", "ports", "nodes ended_holder host_port", "g1 g2 g3 g4"},
};
INSTANTIATE_TEST_SUITE_P(Ports, FieldReportPlan, ::testing::ValuesIn(kPorts), NameOf<PlanCase>);

const std::vector<PlanCase> kParts = {
    {"NvlinkEndsAtNodesOfZeros", "zero_clique", "beside_real tensor16", "k1 k2"},
    {"WholeGpusComeBeforeTimeSlices", "time_slicing", "nodes any", "w1 w2"},
    {"TimeSlicesThatTheJobNames", "time_slicing", "nodes shared", "s1 s2"},
    {"WholeGpusComeBeforeMps", "time_slicing", "mps any", "w1 w2"},
    {"LabelsOfGpusThatAreNotShared", "time_slicing", "not_shared any", "s1 s2"},
    {"SharesUnderANameOfTheirOwn", "time_slicing", "renamed renamed_job", "s1 s2"},
    {"SharesOfGke", "time_slicing", "gke any", "w1 w2"},
    {"MigSlicesOfOneNode", "mig", "mixed mixed_job", "m1"},
    {"OneSizeOfMigSlices", "mig", "two_sizes four_each", "m2 m3"},
};
INSTANTIATE_TEST_SUITE_P(Parts, FieldReportPlan, ::testing::ValuesIn(kParts), NameOf<PlanCase>);

const std::vector<PlanCase> kVolumes = {
    {"TheZoneOfABoundVolume", "volume_zone", "nodes zone two_workers", "b1 b2"},
    {"TheNodeOfALocalVolume", "volume_zone", "nodes local one_worker", "a2"},
    {"TheZoneInLabelsOfAVolume", "volume_zone", "nodes zone_label two_workers", "b1 b2"},
    {"TheZoneOfAStorageClass", "volume_zone", "nodes first_consumer two_workers", "b1 b2"},
    {"AClaimForOnePodThatAPodHas", "volume_zone", "nodes read_once_pod one_worker", "", "corpus"},
    {"AClaimWhoseVolumeIsGone", "volume_zone", "nodes lost two_workers", "", "corpus"},
    {"ARegionalDiskInTwoZones", "volume_zone", "nodes two_zones two_workers", "b1 b2"},
    {"EphemeralVolumesOfOneZone", "volume_zone", "nodes ephemeral", "b1 b2"},
    {"ANodeWithoutAVolumeLeft", "volume_zone", "nodes limit one_worker", "a2"},
    {"ClaimsInTwoZones", "volume_zone", "nodes two_claims", "", "corpus"},
};
INSTANTIATE_TEST_SUITE_P(Volumes, FieldReportPlan, ::testing::ValuesIn(kVolumes), NameOf<PlanCase>);

const std::vector<PlanCase> kProducts = {
    {"OneProductByTypesBesideUnknownLabels", "products", "unknown any", "i-02 i-03"},
    {"AModelByTypesBesideUnknownLabels", "products", "unknown h100", "i-02 i-03"},
    {"OneProductOnEksAutoMode", "products", "eks any", "i-02 i-03"},
    {"AModelOnEksAutoMode", "products", "eks h100", "i-02 i-03"},
    {"OneProductByMachineTypesOfAzure", "products", "azure_types any", "i-02 i-03"},
    {"AModelByMachineTypesOfAzure", "products", "azure_types h100", "i-02 i-03"},
    {"OneProductOfAksProvisioning", "products", "azure_provisioning any", "i-02 i-03"},
    {"AModelOfAksProvisioning", "products", "azure_provisioning h100", "i-02 i-03"},
    {"OneProductByTheLabelOfAws", "products", "aws_label any", "i-02 i-03"},
    {"AModelByTheLabelOfAws", "products", "aws_label h100", "i-02 i-03"},
    {"OneProductOnCoreWeave", "products", "coreweave any", "i-02 i-03"},
    {"AModelOnCoreWeave", "products", "coreweave h100", "i-02 i-03"},
    {"OneProductOnGke", "products", "google any", "i-02 i-03"},
    {"AModelOnGke", "products", "google h100", "i-02 i-03"},
    {"OneProductByShapesOfOracle", "products", "oracle_types any", "i-02 i-03"},
    {"AModelByShapesOfOracle", "products", "oracle_types h100", "i-02 i-03"},
    {"OneProductOnDigitalOcean", "products", "doks any", "i-02 i-03"},
    {"AModelOnDigitalOcean", "products", "doks h100", "i-02 i-03"},
    {"OneProductByTypesOfCrusoe", "products", "crusoe_types any", "i-02 i-03"},
    {"AModelByTypesOfCrusoe", "products", "crusoe_types h100", "i-02 i-03"},
    {"OneProductByTypesOfLambda", "products", "lambda_types any", "i-02 i-03"},
    {"AModelByTypesOfLambda", "products", "lambda_types h100", "i-02 i-03"},
    {"OneProductByTypesOfIbm", "products", "ibm_types any", "i-02 i-03"},
    {"AModelByTypesOfIbm", "products", "ibm_types h100", "i-02 i-03"},
    {"OneProductByTypesOfNebius", "products", "nebius_types any", "i-02 i-03"},
    {"AModelByTypesOfNebius", "products", "nebius_types h100", "i-02 i-03"},
    {"OneProductByTypesOfGoogle", "products", "google_types any", "i-02 i-03"},
    {"AModelByTypesOfGoogle", "products", "google_types h100", "i-02 i-03"},
    {"OneProductByTypesOfAws", "products", "aws_types any", "i-02 i-03"},
    {"AModelByTypesOfAws", "products", "aws_types h100", "i-02 i-03"},
};
INSTANTIATE_TEST_SUITE_P(Products, FieldReportPlan, ::testing::ValuesIn(kProducts),
                         NameOf<PlanCase>);

const std::vector<PlanCase> kResources = {
    {"RenamedGpus", "resource_name", "nodes job", "r2 r3"},
    {"RenamedGpusOfAPlacement", "resource_name", "nodes placement", "r2 r3"},
    {"AVendorThatOnlyTheJobNames", "resource_name", "vendor vendor_job", "r2 r3"},
    {"BothHostsOfOneTpuSlice", "tpu_slices", "v5p v5p_job", "np-2-0 np-2-1"},
    {"AllFourHostsOfOneTpuSlice", "tpu_slices", "v6e v6e_job", "np-2-0 np-2-1 np-2-2 np-2-3"},
    {"TwoHalfTpuSlicesAreNotOne", "tpu_slices", "no_whole_slice v5p_job", ""},
    {"ATpuSliceOfTheShapeThatIsSelected", "tpu_slices", "two_shapes v5p_job", "np-2-0 np-2-1"},
    {"GpusThatAreNotAllocatableNow", "allocatable", "nodes job", "", "d1 offers 0 of its 8",
     "never"},
    {"ResourcesThatTheKubeletForgot", "allocatable", "absent job", "", "InsufficientCapacity",
     "never"},
    {"AmdGpusThatAreNotAllocatableNow", "allocatable", "amd amd_job", "", "InsufficientCapacity",
     "never"},
    {"SevenOfEightHaveRoomForFour", "allocatable", "nodes halves", "d2 d3"},
    {"MoreNodesThanThereAre", "allocatable", "nodes three_nodes", "", "never fits"},
    {"TpuSlicesOfOneHost", "tpu_slices", "single_host single_host_job", "np-1-1 np-1-2"},
    {"AJobThatMayUseSeveralSlices", "tpu_slices", "no_whole_slice any_slices", "np-1-1 np-2-0"},
    {"ACapacityThatARestartedKubeletForgot", "allocatable", "forgotten job", "",
     "InsufficientCapacity", "never"},
};
INSTANTIATE_TEST_SUITE_P(Resources, FieldReportPlan, ::testing::ValuesIn(kResources),
                         NameOf<PlanCase>);

const std::vector<PlanCase> kChannels = {
    {"OneChannelANode", "channel", "nodes three", "r1-t1 r1-t2 r1-t3"},
    {"MoreChannelsThanNodes", "channel", "nodes seven", "", "6 of 7"},
    {"WorkersWithoutAChannelShareANode", "channel", "nodes no_claim", "r1-t1"},
    {"AChannelByItsDeviceClass", "channel", "nodes by_class", "r1-t1 r1-t2 r1-t3"},
    {"AChannelThatWeftClaims", "channel", "nodes auto", "r1-t1 r1-t2 r1-t3"},
    {"AChannelThatAnotherDomainHolds", "channel", "nodes holder four", "r1-t2 r1-t3 r2-t2 r2-t3"},
};
INSTANTIATE_TEST_SUITE_P(Channels, FieldReportPlan, ::testing::ValuesIn(kChannels),
                         NameOf<PlanCase>);

const std::vector<PlanCase> kPreferred = {
    {"NothingPreferredTakesTheFirst", "preferred", "nodes plain", "p1 p2"},
    {"PreferredNodeAffinity", "preferred", "nodes affinity", "p2 p3"},
    {"PreferNoSchedule", "preferred", "tainted plain", "p2 p3"},
    {"AWishKeepsTheSpread", "preferred", "zones_spread", "na0 na1 nb0 nc0"},
    {"PreferredByNumber", "preferred", "generations greater", "p2 p3"},
    {"TheHeavierWishDecides", "preferred", "generations two_terms", "p3"},
    {"TheNetworkComesBeforeWishes", "preferred", "far affinity", "p1 p2"},
    {"PreferredAntiAffinityToPodsOfOthers", "preferred", "nodes cache away", "p2 p3"},
    {"ATolerationOfWhatIsPreferred", "preferred", "tainted tolerates", "p1 p2"},
    {"PreferredAffinityToPodsOfOthers", "preferred", "nodes cache_on_last towards", "p3"},
    {"PreferredByName", "preferred", "nodes by_name", "p3"},
};
INSTANTIATE_TEST_SUITE_P(Preferred, FieldReportPlan, ::testing::ValuesIn(kPreferred),
                         NameOf<PlanCase>);

const std::vector<PlanCase> kUnlabelled = {
    {"AKindWithoutLabelsIsAFlatPool", "unlabelled_kind", "nodes l40s", "l1 l2"},
    {"TheLabelledKindKeepsItsLeaves", "unlabelled_kind", "nodes h100", "h1 h2 h3"},
    {"AKindWithoutLabelsOfAws", "unlabelled_kind", "other_cloud t4", "t1 t2"},
    {"AKindThatOnlyItsMachineTypeTells", "unlabelled_kind", "by_type l40s", "l1 l2"},
    {"OneNodeOfAKindIsIncomplete", "unlabelled_kind", "one_of_a_kind five", "", "4 of 5"},
    {"AWorkerOfAKindWithoutLabelsIsOnOneLeaf", "unlabelled_kind", "nodes one_in_a_leaf", "l1"},
    {"ItsNodesAreOfNoKnownLeaf", "unlabelled_kind", "nodes two_in_a_leaf", "",
     "topology.required: removed", "nodeAffinity: removed"},
    {"TheirLeafIsAskedForTwice", "unlabelled_kind", "nodes two_that_need_a_leaf", "", "never fits",
     "topology.required: removed"},
};
INSTANTIATE_TEST_SUITE_P(Unlabelled, FieldReportPlan, ::testing::ValuesIn(kUnlabelled),
                         NameOf<PlanCase>);

struct TextCase {
  const char* name;
  const char* command;
  const char* folder;
  const char* files;
  std::vector<std::string> says, hides = {};
};
class FieldReportText : public ::testing::TestWithParam<TextCase> {};

TEST_P(FieldReportText, SaysWhatIsRight) {
  const TextCase& wanted = GetParam();
  const Output output = Weft(wanted.folder, wanted.command, wanted.files);
  const std::string said = OneLine(output.out + "\n" + output.err);
  for (const std::string& text : wanted.says) EXPECT_NE(said.find(text), said.npos) << said;
  for (const std::string& text : wanted.hides) EXPECT_EQ(said.find(text), said.npos) << said;
}

const std::vector<TextCase> kTexts = {
    {"ZerosAreNoNvlinkDomain",
     "fabric show",
     "zero_clique",
     "nodes",
     {"default: 4 nodes"},
     {"nvlink"}},
    {"ZerosOfAnotherCliqueNumber",
     "fabric show",
     "zero_clique",
     "other_clique",
     {"default: 4 nodes"},
     {"nvlink"}},
    {"ZerosOfTopograph",
     "fabric show",
     "zero_clique",
     "topograph_domain",
     {"default: 4 nodes"},
     {"nvlink"}},
    {"TensorGroupsLeaveNodesOfZeros",
     "lint",
     "zero_clique",
     "nodes tensor16",
     {"TensorLeavesScaleUp"}},
    {"TensorGroupsStayInARealDomain",
     "lint",
     "zero_clique",
     "beside_real tensor16",
     {},
     {"TensorLeavesScaleUp"}},
    {"TimeSlicesAreQuartersInAPrediction",
     "outlook",
     "time_slicing",
     "nodes shared",
     {"16 x H100 (time slice 1/4)"}},
    {"SharesUnderTheirNameAreQuarters",
     "outlook",
     "time_slicing",
     "renamed renamed_job",
     {"time slice 1/4"}},
    {"LintSpeaksOfTimeSlices",
     "lint",
     "time_slicing",
     "nodes shared",
     {"PartsOfAccelerators", "time slice 1/4"}},
    {"LintSpeaksOfMps", "lint", "time_slicing", "mps shared", {"PartsOfAccelerators", "MPS"}},
    {"LintSpeaksOfSharesUnderTheirName",
     "lint",
     "time_slicing",
     "renamed renamed_job",
     {"PartsOfAccelerators"}},
    {"AMigSliceHasItsOwnMemory",
     "outlook",
     "mig",
     "single large_model",
     {"MIG 1g.10gb", "does not fit"}},
    {"WholeGpusHaveAll",
     "outlook",
     "mig",
     "whole small_model",
     {"8 x H100"},
     {"MIG", "does not fit"}},
    {"AMigSliceOfTheStrategyMixed",
     "outlook",
     "mig",
     "mixed mixed_job",
     {"8 x H100 (nvidia.com/mig-3g.40gb) 37 %"}},
    {"AMigSliceOfAnA100", "outlook", "mig", "a100 small_model", {"A100", "MIG 3g.20gb"}},
    {"APartitionOfAmd", "outlook", "mig", "amd amd_job", {"MI300X (CPX 1/8)"}},
    {"LintSpeaksOfMig", "lint", "mig", "single large_model", {"PartsOfAccelerators"}},
    {"LintSpeaksOfPartitionsOfAmd", "lint", "mig", "amd amd_job", {"PartsOfAccelerators"}},
    {"LintNamesThePortThatStrandsGpus",
     "lint",
     "ports",
     "nodes host_port",
     {"StrandedByRules", "one host port 2222/TCP"},
     {"StrandedByRequests"}},
    {"LintNamesTheAntiAffinityThatStrandsGpus",
     "lint",
     "ports",
     "nodes anti_affinity",
     {"StrandedByRules", "anti-affinity"},
     {"StrandedByRequests"}},
    {"LintNamesTheChannelThatStrandsGpus",
     "lint",
     "channel",
     "nodes three",
     {"StrandedByRules", "one ComputeDomain channel"},
     {"StrandedByRequests"}},
    {"ShowsRenamedGpus",
     "fabric show",
     "resource_name",
     "nodes",
     {"8/8 free: r[2,3]", "0/8 free: r1"}},
    {"AuditsGangsOnRenamedGpus", "audit", "resource_name", "nodes gang", {"research/bert"}},
    {"ShowsAVendorWhoseNameTells", "fabric show", "resource_name", "npu", {"0/8 free: r[1-3]"}},
    {"AuditsGangsOfSuchAVendor", "audit", "resource_name", "npu", {"research/bert"}},
    {"ShowsNodesWithoutAllocatableGpus",
     "fabric show",
     "allocatable",
     "nodes",
     {"unusable: d1", "0 of 8 nvidia.com/gpu are allocatable: d1",
      "7 of 8 nvidia.com/gpu are allocatable: d2"}},
    {"ShowsNodesOfWhichTheKubeletForgot",
     "fabric show",
     "allocatable",
     "absent",
     {"0 of 8 nvidia.com/gpu are allocatable: d1"}},
    {"TwoGangsOfOneNameAndTwoKinds",
     "audit",
     "same_name",
     "nodes two_kinds",
     {"Fleet: 2 gangs, 4 workers"}},
    {"EndingPodsOfAnEarlierVolcanoJob",
     "audit",
     "same_name",
     "nodes made_again",
     {"Fleet: 1 gang, 2 workers"}},
    {"EndingPodsOfAnEarlierJob",
     "audit",
     "same_name",
     "nodes batch_made_again",
     {"Fleet: 1 gang, 2 workers"}},
    {"OneNameInTwoNamespaces",
     "audit",
     "same_name",
     "nodes two_spaces",
     {"Fleet: 2 gangs, 4 workers"}},
    {"AJobSetAndAnMpiJobOfOneName",
     "audit",
     "same_name",
     "nodes jobset_and_mpi",
     {"Fleet: 2 gangs, 4 workers", "JobSet", "MPIJob"}},
    {"AuditNamesHalfGangs",
     "audit",
     "half_gangs",
     "nodes mpi",
     {"MPIJob vision/one holds 16 accelerators with 2 of 3", "MPIJob vision/two holds 16",
      "PartlyStarted"}},
    {"QueueNamesHalfGangs",
     "queue",
     "half_gangs",
     "nodes mpi",
     {"MPIJob vision/one holds 16 accelerators with 2 of 3", "MPIJob vision/two holds 16"}},
    {"AuditNamesHalfPyTorchJobs",
     "audit",
     "half_gangs",
     "nodes pytorch",
     {"PyTorchJob vision/one holds 16"}},
    {"QueueNamesHalfVolcanoJobs",
     "queue",
     "half_gangs",
     "nodes volcano",
     {"vision/swin holds 16 accelerators with 2 of 3"}},
    {"MembersThatAreEnough", "queue", "half_gangs", "nodes enough", {}, {"PartlyStarted"}},
    {"AWorkerThatHasSucceeded", "queue", "half_gangs", "nodes succeeded", {}, {"PartlyStarted"}},
    {"ReplicasOfAService", "queue", "half_gangs", "nodes replica_set", {}, {"PartlyStarted"}},
    {"ShowsTheUnlabelledKind", "fabric show", "unlabelled_kind", "nodes", {"flat pool", "l1, l2"}},
    {"ShowsTheIncompleteNode",
     "fabric show",
     "unlabelled_kind",
     "one_of_a_kind",
     {"h5"},
     {"flat pool"}},
    {"AMigSliceWithMediaEngines", "outlook", "mig", "media small_model", {"H100", "MIG 1g.10gb"}},
    {"AMigSliceOfAB200", "outlook", "mig", "b200 small_model", {"B200", "MIG 3g.90gb"}},
    {"AuditsGangsOnAscend", "audit", "resource_name", "ascend", {"research/bert"}},
    {"AuditsGangsOnCambricon", "audit", "resource_name", "mlu", {"research/bert"}},
    {"AuditsGangsOnMetax", "audit", "resource_name", "metax", {"research/bert"}},
    {"AuditsGangsOnHygon", "audit", "resource_name", "dcu", {"research/bert"}},
    {"ATrainJobAndItsJobSetAreOne",
     "audit",
     "same_name",
     "nodes train_job",
     {"Fleet: 1 gang, 2 workers"}},
    {"ALeaderWorkerSetAndAJobOfOneName",
     "audit",
     "same_name",
     "nodes leader_and_job",
     {"Fleet: 2 gangs, 4 workers"}},
    {"QueueNamesHalfLeaderWorkerSets",
     "queue",
     "half_gangs",
     "nodes leader_worker_set",
     {"vision/serve-0 holds 16 accelerators with 2 of 3"}},
    {"QueueNamesLeaderWorkerSetsWithoutPods",
     "queue",
     "half_gangs",
     "nodes leader_short",
     {"vision/serve-0 holds 16 accelerators with 2 of 3"}},
    {"QueueNamesHalfIndexedJobs",
     "queue",
     "half_gangs",
     "nodes indexed_job",
     {"vision/swin holds 16 accelerators with 2 of 3"}},
    {"QueueNamesHalfJobSets",
     "queue",
     "half_gangs",
     "nodes jobset",
     {"vision/swin holds 16 accelerators with 2 of 3"}},
    {"QueueNamesHalfPodGroups",
     "queue",
     "half_gangs",
     "nodes pod_group",
     {"Job vision/swin holds 16 accelerators with 2 of 3"}},
    {"APodGroupThatWaitsIsDemand",
     "queue",
     "half_gangs",
     "nodes pod_group_waits",
     {"vision/swin-w (PodGroup) 0 3 24", "Unschedulable", "4 Insufficient nvidia.com/gpu"},
     {"PartlyStarted"}},
    {"TopNamesHalfGangs",
     "top",
     "half_gangs",
     "nodes mpi",
     {"MPIJob vision/one holds 16 accelerators with 2 of 3"}},
    {"QueueWaitsForADevicePlugin",
     "queue",
     "allocatable",
     "nodes job",
     {"research/train", "InsufficientCapacity"},
     {"never"}},
    {"QueueWaitsForAClaim",
     "queue",
     "volume_zone",
     "nodes lost two_workers",
     {"NoEligibleNode", "lost its volume disk-9"},
     {"never"}},
    {"APodGroupThatHasEnough",
     "queue",
     "half_gangs",
     "nodes pod_group_of_two",
     {},
     {"PartlyStarted"}},
    {"HostsWithoutASwitchHaveNoLevels",
     "fabric import",
     "back_to_back",
     "only_pair.txt",
     {"no switch: the hosts are linked to each other", "name: ml-01", "name: ml-02"}},
    {"EndingPodsOfAnEarlierJobSet",
     "audit",
     "same_name",
     "nodes jobset_made_again",
     {"Fleet: 1 gang, 2 workers"}},
    {"EndingPodsOfAnEarlierPyTorchJob",
     "audit",
     "same_name",
     "nodes pytorch_made_again",
     {"Fleet: 1 gang, 2 workers"}},
    {"QueueNamesHalfRayClusters",
     "queue",
     "half_gangs",
     "nodes ray",
     {"RayCluster vision/rc-gpus holds 16 accelerators with 2 of 3"}},
};
INSTANTIATE_TEST_SUITE_P(Texts, FieldReportText, ::testing::ValuesIn(kTexts), NameOf<TextCase>);

struct ImportCase {
  const char* name;
  const char* folder;
  const char* file;
  const char* groups;  // nodes by their innermost domain, " | " between; "": refused
};
class FieldReportImport : public ::testing::TestWithParam<ImportCase> {};

TEST_P(FieldReportImport, PutsNodesThatShareASwitchTogether) {
  const ImportCase& wanted = GetParam();
  const Output output = Weft(wanted.folder, "fabric import", wanted.file);
  std::map<std::string, std::set<std::string>> groups;
  std::string node;
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  name: ")) node = line.substr(8);
    const std::size_t at = line.find("weft.dev/");
    const bool leaf = line.find("/leaf: ") != line.npos || line.find("/block: ") != line.npos;
    if (line.starts_with("    ") && at == 4 && leaf) groups[line.substr(4)].insert(node);
  }
  std::string got;
  for (const auto& [domain, nodes] : groups) got += (got.empty() ? "" : " | ") + Join(nodes);
  EXPECT_EQ(got, wanted.groups) << output.out << output.err;
  EXPECT_EQ(output.err.find("warning"), output.err.npos) << output.err;
  EXPECT_EQ(output.code, *wanted.groups == '\0' ? 2 : 0);
}

const std::vector<ImportCase> kImports = {
    {"BlanksAroundTheSign", "slurm", "blanks.conf",
     "node001 node002 node003 | node004 node005 node006"},
    {"NamesAndListsInQuotes", "slurm", "quotes.conf", "node001 node002 node007 | node003 node004"},
    {"EmptyLists", "slurm", "empty_lists.conf", "node1 node2 | node3 node4"},
    {"BlanksInBlocks", "slurm", "blocks.conf", "tray01 tray02 | tray03 tray04"},
    {"WhatScontrolShows", "slurm", "scontrol.txt", "node001 node002 | node003 node004"},
    {"QuotesAndEmptyListsInYaml", "slurm", "operator.yaml", "node001 node002 | node003 node004"},
    {"HostsLinkedToEachOther", "back_to_back", "beside_fabric.txt", "ml-01 ml-02 | ml-03 ml-04"},
    {"NonChassisNodes", "back_to_back", "grouped.txt", "ml-01 ml-02 | ml-03 ml-04"},
    {"PortsOfHostsLinkedToEachOther", "back_to_back", "ports.txt", "ml-01 ml-02 | ml-03 ml-04"},
};
INSTANTIATE_TEST_SUITE_P(Imports, FieldReportImport, ::testing::ValuesIn(kImports),
                         NameOf<ImportCase>);

}  // namespace
}  // namespace weft::cli
