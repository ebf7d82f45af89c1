#include "operator/cli/verify_step.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "operator/kube/timer.h"

namespace weft::cli {
namespace {

constexpr const char* kJobPath = "/apis/weft.dev/v1alpha1/namespaces/ns/trainingjobs/llama";
constexpr const char* kPlacementPath = "/apis/weft.dev/v1alpha1/namespaces/ns/placements/llama-1";

// Answers gets by path, and notes the bodies of patches.
class Server final : public kube::Transport {
 public:
  std::map<std::string, std::string> objects;
  std::vector<std::string> patches;

  Result<kube::Response> Send(const kube::Request& request) override {
    const auto found = objects.find(request.path);
    if (found == objects.end()) return kube::Response{404, {}, "{}"};
    if (request.method != kube::Method::kGet) patches.push_back(request.body);
    return kube::Response{200, {}, found->second};
  }
  Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                const kube::Cancel&) override {
    return Error{ErrorKind::kTransient, "no streams"};
  }
};

class VerifyStepTest : public ::testing::Test {
 protected:
  VerifyStepTest() {
    server_.objects[kJobPath] =
        R"({"metadata": {"name": "llama"}, "status": {"placementName": "llama-1"}})";
    Predict(R"({"accelerator": "H100", "stepMilliseconds": 10000})");
  }
  void Predict(const std::string& outlook) {
    server_.objects[kPlacementPath] =
        R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
            "metadata": {"name": "llama-1", "namespace": "ns"},
            "spec": {"workers": 1, "accelerator": {"perWorker": 8}},
            "status": {"nodes": ["n0"], "outlook": )" +
        outlook + "}}";
  }
  std::string Verify(double seconds) {
    const auto report = VerifyStep(client_, {"ns", "llama"}, seconds);
    return report ? report->text : report.error().message;
  }

  Server server_;
  kube::SystemTimer timer_;
  kube::Client client_{server_, timer_, {}};
};

TEST_F(VerifyStepTest, SetsTheAnnotationAndShowsTheRatio) {
  EXPECT_EQ(Verify(12.4), "TrainingJob ns/llama: predicted 10 s, measured 12.4 s, ratio 1.24");
  EXPECT_EQ(server_.patches,
            (std::vector<std::string>{
                R"({"metadata":{"annotations":{"weft.dev/measured-step-seconds":"12.4"}}})"}));
}

TEST_F(VerifyStepTest, ComparesWithThePredictionWithoutItsScalar) {
  Predict(R"({"accelerator": "H100", "stepMilliseconds": 12500, "learnedPercent": 125})");
  EXPECT_EQ(Verify(12.5), "TrainingJob ns/llama: predicted 10 s, measured 12.5 s, ratio 1.25");
}

TEST_F(VerifyStepTest, AnAbsurdNumberIsNotWritten) {
  EXPECT_EQ(Verify(12'400),
            "TrainingJob ns/llama: predicted 10 s, measured 1.24e+04 s, ratio 1240. Nothing was "
            "written: no step differs from its prediction by more than a factor of 5. Is it the "
            "time of one optimizer step, in seconds?");
  EXPECT_EQ(Verify(-1), "--step: must be a number of seconds above 0");
  EXPECT_TRUE(server_.patches.empty());
}

TEST_F(VerifyStepTest, WithoutAPredictionItIsWrittenWithoutARatio) {
  server_.objects.erase(kPlacementPath);
  EXPECT_EQ(Verify(12.4),
            "TrainingJob ns/llama: measured 12.4 s; nothing is predicted for the job, so there is "
            "no ratio");
  EXPECT_EQ(server_.patches.size(), 1U);
}

TEST_F(VerifyStepTest, AJobThatIsNotThereIsAnError) {
  server_.objects.clear();
  EXPECT_FALSE(VerifyStep(client_, {"ns", "llama"}, 12.4));
}

}  // namespace
}  // namespace weft::cli
