#include "operator/controllers/fabric_controller.h"

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class FabricControllerTest : public ::testing::Test {
 protected:
  FabricControllerTest() {
    api_.watch = [this](Kind, const api::ObjectKey&, const Json& object) {
      store_.Put(*api::DecodeFabric(object, "test", api::Reading::kServed));
    };
  }
  // A Fabric of that preset; its status stays.
  void Apply(const std::string& preset) {
    Json object = {{"metadata", {{"name", "default"}}}, {"spec", {{"preset", preset}}}};
    const auto found = api_.objects().find({Kind::kFabric, "", "default"});
    if (found != api_.objects().end()) object["status"] = found->second["status"];
    api_.Apply(Kind::kFabric, object);
  }
  Json Valid() const {
    const Json& status = api_.objects().at({Kind::kFabric, "", "default"})["status"];
    for (const Json& one : status["conditions"]) {
      if (one["type"] == "Valid") return one;
    }
    return Json();
  }

  UnixSeconds now_ = kStart;
  watch::Store store_{[this] { return now_; }};
  watch::FabricCache cache_;
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  FabricController controller_{store_,  cache_, api_,
                               events_, log_,   {.now = [this] { return now_; }}};
};

TEST_F(FabricControllerTest, WritesAStatusOnceForEachChange) {
  Apply("TopographV1");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Valid()["status"], "True");
  EXPECT_EQ(api_.requests, 1U);
  now_ += 60;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(api_.requests, 1U);
}

TEST_F(FabricControllerTest, ASpecThatCannotBeReadIsSaidOnceAndTakenBackOnceItCan) {
  Apply("TopographV1");
  controller_.Pass();
  Apply("Nothing");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Valid()["status"], "False");
  EXPECT_NE(Valid().dump().find("spec.preset"), std::string::npos);
  now_ += 60;
  const std::size_t requests = api_.requests;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(api_.requests, requests);
  Apply("TopographV1");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Valid()["status"], "True");
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"Invalid", "Valid"}));
}

TEST_F(FabricControllerTest, AWriteThatGotNoAnswerIsTriedAgain) {
  Apply("TopographV1");
  api_.fail_at = 1;
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  EXPECT_FALSE(controller_.Pass());
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Valid()["status"], "True");
}

}  // namespace
}  // namespace weft::controllers
