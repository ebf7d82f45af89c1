#include "operator/life/exclusion_memory.h"

#include <gtest/gtest.h>

#include "operator/life/exclusion.h"

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;

// The exclusions of one job, and the nodes by name with their uids.
class ExclusionMemoryTest : public ::testing::Test {
 protected:
  void ExcludeNode(const std::string& node, UnixSeconds now) {
    Exclude({node}, now, excluded_);
    See(now);
  }
  void See(UnixSeconds now) { memory_.See("job", excluded_, now, uid_of_); }
  std::vector<std::string> Out(UnixSeconds now, const std::string& owner = "job") const {
    std::vector<api::ExcludedNode> left = excluded_;
    memory_.DropMadeAgain(owner, uid_of_, left);
    return ExcludedAt(left, now);
  }

  using Names = std::vector<std::string>;
  std::map<std::string, std::string> uids_ = {{"a", "1"}, {"b", "2"}};
  ExclusionMemory::UidOf uid_of_ = [this](const std::string& node) { return uids_[node]; };
  std::vector<api::ExcludedNode> excluded_;
  ExclusionMemory memory_;
};

TEST_F(ExclusionMemoryTest, ANodeThatIsMadeAgainIsUsedAtOnce) {
  ExcludeNode("a", kNow);
  ExcludeNode("b", kNow);
  EXPECT_EQ(Out(kNow + 4), (Names{"a", "b"}));
  uids_["a"] = "3";
  EXPECT_EQ(Out(kNow + 5), Names{"b"});
  See(kNow + 6);  // it stays known while the same exclusion lasts
  EXPECT_EQ(Out(kNow + 7), Names{"b"});
}

TEST_F(ExclusionMemoryTest, ANodeThatIsGoneStaysExcludedUntilAnotherHasItsName) {
  ExcludeNode("a", kNow);
  uids_["a"] = "";
  EXPECT_EQ(Out(kNow + 1), Names{"a"});
  uids_["a"] = "1";  // the API server was away
  EXPECT_EQ(Out(kNow + 2), Names{"a"});
  uids_["a"] = "3";
  EXPECT_EQ(Out(kNow + 3), Names{});
}

TEST_F(ExclusionMemoryTest, ANodeThatWasGoneWhenItWasExcludedIsAnotherWhenItIsThere) {
  uids_["a"] = "";
  ExcludeNode("a", kNow);
  uids_["a"] = "3";
  EXPECT_EQ(Out(kNow + 1), Names{});
}

TEST_F(ExclusionMemoryTest, TheNewMachineCanBeExcludedItself) {
  ExcludeNode("a", kNow);
  uids_["a"] = "3";
  ExcludeNode("a", kNow + 20);
  EXPECT_EQ(Out(kNow + 21), Names{"a"});
  uids_["a"] = "4";
  EXPECT_EQ(Out(kNow + 22), Names{});
}

TEST_F(ExclusionMemoryTest, ExclusionsThatItHasNotSeenStay) {
  Exclude({"a"}, kNow, excluded_);
  uids_["a"] = "3";
  EXPECT_EQ(Out(kNow + 1), Names{"a"});
  See(kNow + 1);
  EXPECT_EQ(Out(kNow + 2), Names{"a"});
  EXPECT_EQ(Out(kNow + 2, "another job"), Names{"a"});
}

TEST_F(ExclusionMemoryTest, ForgetsWhatHasEnded) {
  ExcludeNode("a", kNow);
  EXPECT_FALSE(memory_.empty());
  memory_.DropEnded(kNow + 299);
  EXPECT_FALSE(memory_.empty());
  memory_.DropEnded(kNow + 300);
  EXPECT_TRUE(memory_.empty());
  ExcludeNode("a", kNow + 400);
  excluded_.clear();
  See(kNow + 401);
  EXPECT_TRUE(memory_.empty());
}

}  // namespace
}  // namespace weft::life
