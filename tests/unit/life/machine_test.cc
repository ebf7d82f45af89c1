#include "operator/life/machine.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/life/node_state.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

constexpr UnixSeconds kNow = 1'800'000'000;

NodeState MadeAt(UnixSeconds made, bool exists = true) {
  NodeState node;
  node.exists = exists;
  node.made = made;
  return node;
}

TEST(NameMachine, WritesWhenTheNodeWasMade) {
  Json pod = Json::parse(R"({"metadata": {"annotations": {"kept": "yes"}}})");
  NameMachine(kNow, pod);
  EXPECT_EQ(pod["metadata"]["annotations"],
            Json({{"kept", "yes"}, {kNodeCreatedAnnotation, FormatTime(kNow)}}));
}

TEST(NameMachine, WritesNothingOfANodeThatIsNotKnown) {
  Json pod = Json::object();
  NameMachine(0, pod);
  EXPECT_EQ(pod, Json::object());
  NameMachine(kNow, pod);  // as if its template had it
  NameMachine(0, pod);
  EXPECT_EQ(pod["metadata"]["annotations"], Json::object());
}

TEST(IsMadeAgain, ALaterNodeThanThatOfThePodIsAnother) {
  api::Pod pod;
  pod.bound = kNow;
  pod.meta.annotations.Set(kNodeCreatedAnnotation, FormatTime(kNow - 500));
  const auto again = [&](UnixSeconds made) { return IsMadeAgain(MadeAt(made), pod); };
  EXPECT_FALSE(again(kNow - 500));
  EXPECT_TRUE(again(kNow - 499));
  EXPECT_FALSE(again(kNow - 501)) << "late news of the node before";
  EXPECT_TRUE(again(kNow + 5));
  EXPECT_FALSE(again(0)) << "not known";
  EXPECT_FALSE(IsMadeAgain(MadeAt(kNow, false), pod)) << "gone, and not made again";
}

TEST(IsMadeAgain, ComparesTheTimesOfAPodWithoutTheAnnotation) {
  for (const char* text : {"", "yesterday"}) {
    api::Pod pod;
    if (*text != 0) pod.meta.annotations.Set(kNodeCreatedAnnotation, text);
    EXPECT_FALSE(IsMadeAgain(MadeAt(kNow + 100), pod)) << "not bound";
    pod.bound = kNow;
    EXPECT_FALSE(IsMadeAgain(MadeAt(kNow + 60), pod));
    EXPECT_TRUE(IsMadeAgain(MadeAt(kNow + 61), pod));
  }
}

}  // namespace
}  // namespace weft::life
