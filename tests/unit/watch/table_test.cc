#include "operator/watch/table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft::watch {
namespace {

struct Thing {
  api::ObjectMeta meta;
};

std::shared_ptr<const Thing> Make(const std::string& uid, const std::string& version) {
  Thing thing;
  thing.meta.key = {"ns", "a"};
  thing.meta.uid = uid;
  thing.meta.resource_version = version;
  return std::make_shared<const Thing>(std::move(thing));
}

const api::ObjectKey kKey = {"ns", "a"};

std::string VersionIn(const ObjectTable<Thing>& table) {
  const auto thing = table.Find(kKey);
  return thing ? thing->meta.resource_version : "";
}

TEST(TableTest, AnOlderStateNeverReplacesANewerOne) {
  ObjectTable<Thing> table;
  EXPECT_TRUE(table.Put(Make("u", "9")).second);
  EXPECT_FALSE(table.Put(Make("u", "8")).second);
  EXPECT_TRUE(table.Put(Make("u", "10")).second);
  EXPECT_EQ(VersionIn(table), "10");
}

TEST(TableTest, AnObjectThatWentDoesNotComeBackWithALateAnswer) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove({kKey});
  EXPECT_FALSE(table.Put(Make("u", "6")).second);
  EXPECT_EQ(VersionIn(table), "");
}

TEST(TableTest, AnotherObjectOfThatNameIsTaken) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove({kKey});
  EXPECT_TRUE(table.Put(Make("v", "7")).second);
  EXPECT_EQ(VersionIn(table), "7");
}

TEST(TableTest, RemembersARemovedNameUntilItsLastRemovalIsForgotten) {
  ObjectTable<Thing> table;
  for (const char* uid : {"u", "v"}) {
    table.Put(Make(uid, ""));
    table.Remove({kKey});
  }
  // As many others as are remembered, but one: the first time that the name went is forgotten.
  for (int i = 0; i < 65'535; ++i) {
    Thing other = *Make("w", "5");
    other.meta.key.name = std::to_string(i);
    table.Put(std::make_shared<const Thing>(other));
    table.Remove({other.meta.key});
  }
  EXPECT_FALSE(table.Put(Make("v", "6")).second);
  EXPECT_TRUE(table.Put(Make("u", "6")).second);
}

// We deleted and created it again, and the watch is behind.
TEST(TableTest, LateNewsOfADeletionKeepsTheNextObjectOfThatName) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove({kKey, "u"});
  table.Put(Make("v", "9"));
  EXPECT_EQ(table.Remove({kKey, "u", "7"}), nullptr);
  EXPECT_EQ(VersionIn(table), "9");
  EXPECT_TRUE(table.Put(Make("v", "10")).second);
}

TEST(TableTest, AListOfAnEarlierVersionKeepsALaterObject) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "35"));
  EXPECT_EQ(table.Remove({.key = kKey, .version = "30"}), nullptr);
  EXPECT_NE(table.Remove({.key = kKey, .version = "35"}), nullptr);
}

TEST(TableTest, ALateAnswerAboutAnEarlierObjectDoesNotReplaceTheNextOne) {
  ObjectTable<Thing> table;
  table.Put(Make("v", "9"));
  EXPECT_FALSE(table.Put(Make("u", "6")).second);
  table.Remove({kKey, "v"});
  EXPECT_FALSE(table.Put(Make("u", "6")).second);
}

// It lost the label that a watch selects by, and got it back.
TEST(TableTest, AnObjectThatLeftTheWatchComesBack) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove({kKey, "u", "7"});
  EXPECT_FALSE(table.Put(Make("u", "6")).second);
  EXPECT_TRUE(table.Put(Make("u", "8")).second);
}

// A server of one name, whose news arrive in order and late, and whose answers to our own requests
// arrive at any time after they were made. Now and then a list takes the place of the news.
class OneName {
 public:
  explicit OneName(std::uint32_t seed) : random_(seed) {}

  void Step() {
    switch (random_() % 8) {
      case 0:
        return Write(true);
      case 1:
        return Write(false);
      case 2:
        return Delete(true);
      case 3:
        return Delete(false);
      case 4:
        return List();
      case 5:
      case 6:
        return Answer();
      default:
        return News();
    }
  }
  void Settle() {
    while (!answers_.empty()) Answer();
    while (!news_.empty()) News();
  }
  std::string there() const { return there_ ? there_->meta.resource_version : ""; }
  std::string held() const { return VersionIn(table_); }

 private:
  using Object = std::shared_ptr<const Thing>;
  struct Change {
    Object now;  // null: deleted
    api::Deletion deletion;
  };

  void Write(bool own) {
    const std::string uid = there_ ? there_->meta.uid : "uid-" + std::to_string(++version_);
    there_ = Make(uid, std::to_string(++version_));
    news_.push_back({there_, {}});
    if (own) answers_.push_back({there_, {}});
  }
  void Delete(bool own) {
    if (!there_) return;
    const std::string uid = std::exchange(there_, nullptr)->meta.uid;
    news_.push_back({nullptr, {kKey, uid, std::to_string(++version_)}});
    if (own) answers_.push_back({nullptr, {kKey, uid}});
  }
  // Of this moment, so it says all that the news of before would have.
  void List() {
    news_.clear();
    news_.push_back({there_, {.key = kKey, .version = std::to_string(version_)}});
  }
  void News() {
    if (news_.empty()) return;
    Take(news_.front());
    news_.pop_front();
  }
  void Answer() {
    if (answers_.empty()) return;
    const auto one = answers_.begin() + static_cast<std::ptrdiff_t>(random_() % answers_.size());
    const Change change = *one;
    answers_.erase(one);
    Take(change);
  }
  void Take(const Change& change) {
    if (change.now) {
      table_.Put(change.now);
    } else {
      table_.Remove(change.deletion);
    }
  }

  std::mt19937 random_;
  std::uint64_t version_ = 1;
  Object there_;
  std::deque<Change> news_;
  std::vector<Change> answers_;
  ObjectTable<Thing> table_;
};

TEST(TableTest, HoldsWhatTheServerHasOnceAllNewsHaveArrived) {
  for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
    OneName name(seed);
    for (int step = 0; step < 40; ++step) name.Step();
    name.Settle();
    ASSERT_EQ(name.held(), name.there()) << "seed " << seed;
  }
}

TEST(TableTest, IgnoresMalformedResourceVersion) {
  EXPECT_EQ(VersionOf("12"), 12U);
  EXPECT_EQ(VersionOf(""), 0U);
  EXPECT_EQ(VersionOf("1x"), 0U);
  EXPECT_EQ(VersionOf("99999999999999999999"), 0U);
}

}  // namespace
}  // namespace weft::watch
