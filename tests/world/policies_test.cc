#include "tests/world/policies.h"

#include "gtest/gtest.h"
#include "tests/world/actor.h"
#include "tests/world/definitions.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

class PoliciesTest : public ::testing::Test {
 protected:
  PoliciesTest() {
    server.SetRights(kOperatorAccount, OperatorRights());
    server.SetRights("tenant", EditRights({"default"}));
    server.SetAdmission([this](const auto& attempt) -> std::optional<kube::Response> {
      policies.AddGate(attempt);
      return std::nullopt;
    });
    server.SetValidation([this](const auto& attempt) { return policies.Validate(attempt); });
  }

  static Json PodOf(const Json& labels) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", "pod"}, {"namespace", "default"}, {"labels", labels}}},
            {"spec", {{"containers", {{{"name", "main"}, {"image", "train:1"}}}}}}};
  }
  static std::string MessageOf(const Actor& actor) {
    return TextAt(Json::parse(actor.last().body), {"message"});
  }

  ApiServer server{{.definitions = WeftDefinitions(),
                    .now_seconds = [] { return std::int64_t{1'800'000'000}; }}};
  Policies policies{server};
  Actor admin{server, "admin"}, tenant{server, "tenant"}, weft{server, kOperatorAccount};
};

TEST_F(PoliciesTest, RightsThatTheChartLacksAreForbidden) {
  EXPECT_EQ(weft.Delete(kube::kNodes, {"", "n"}), 403);
  EXPECT_EQ(MessageOf(weft),
            "nodes \"n\" is forbidden: User \"system:serviceaccount:weft-system:weft-operator\" "
            "cannot delete resource \"nodes\" in API group \"\" at the cluster scope");
}

TEST_F(PoliciesTest, PodWithoutItsJobIsDeniedToTheOperatorAlone) {
  EXPECT_EQ(weft.Create(kube::kPods, PodOf({{"a", "b"}})), 422);
  EXPECT_EQ(
      MessageOf(weft),
      "pods \"pod\" is forbidden: ValidatingAdmissionPolicy 'weft-operator-pods-created' with "
      "binding 'weft-operator-pods-created' denied request: the operator creates only pods "
      "that a TrainingJob controls");
  EXPECT_EQ(tenant.Create(kube::kPods, PodOf({{"a", "b"}})), 201);
}

TEST_F(PoliciesTest, OnlyWhoMayPlaceTakesTheGateAway) {
  EXPECT_EQ(tenant.Create(kube::kPods, PodOf({{"weft.dev/place", "true"}})), 201);
  const Json ungate = {{"spec", {{"schedulingGates", nullptr}}}};
  EXPECT_EQ(tenant.Patch(kube::kPods, {"default", "pod"}, ungate), 403);
  EXPECT_EQ(At(*tenant.Find(kube::kPods, {"default", "pod"}), {"spec", "schedulingGates"}),
            Json::parse(R"([{"name": "weft.dev/placement"}])"));
  EXPECT_EQ(weft.Patch(kube::kPods, {"default", "pod"}, ungate), 200);
}

TEST_F(PoliciesTest, JobsAreDeniedToAnybodyInNamespacesOfTheSystem) {
  const Json job = {
      {"apiVersion", "weft.dev/v1alpha1"},
      {"kind", "TrainingJob"},
      {"metadata", {{"name", "job"}, {"namespace", "kube-system"}}},
      {"spec",
       {{"framework", {{"type", "Torch"}}},
        {"accelerator", {{"perWorker", 8}}},
        {"workers",
         {{"replicas", 1},
          {"template", {{"spec", {{"containers", {{{"name", "a"}, {"image", "b"}}}}}}}}}}}}};
  EXPECT_EQ(admin.Create(kube::kTrainingJobs, job), 403);
  EXPECT_NE(MessageOf(admin).find("denied request: Weft runs no jobs in this namespace"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::world
