#include "operator/kube/event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Json = nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant kStart{seconds(1'000)};
constexpr WallMicros kWall = 1'787'392'800'000'042;

EventNote Refused(const std::string& note = "short by 8 GPUs") {
  return {"weft.dev/v1alpha1", "TrainingJob", {"team-a", "llama"}, "u1", true, "Unplaceable",
          "Planning",          note};
}

EventSeries::Options Options() {
  EventSeries::Options options;
  options.instance = "weft-operator-0";
  options.seed = 1;
  return options;
}

TEST(EventSeries, WritesAnEventAsTheServerTakesIt) {
  EventSeries series(Options());
  const auto write = series.Add(Refused(), kStart, kWall);
  ASSERT_TRUE(write);
  EXPECT_TRUE(write->creates);
  EXPECT_EQ(write->key.space, "team-a");
  EXPECT_TRUE(write->key.name.starts_with("llama."));
  Json want = {{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", write->key.name}, {"namespace", "team-a"}}},
               {"eventTime", "2026-08-22T10:00:00.000042Z"},
               {"reportingController", "weft.dev/operator"},
               {"reportingInstance", "weft-operator-0"},
               {"action", "Planning"},
               {"reason", "Unplaceable"},
               {"regarding",
                {{"apiVersion", "weft.dev/v1alpha1"},
                 {"kind", "TrainingJob"},
                 {"namespace", "team-a"},
                 {"name", "llama"},
                 {"uid", "u1"}}},
               {"note", "short by 8 GPUs"},
               {"type", "Warning"}};
  EXPECT_EQ(Json::parse(write->body), want);
}

struct BoundCase {
  const char* name;
  EventNote note;
  std::string field, want;
};

TEST(EventSeries, KeepsWithinTheServersLimits) {
  EventNote long_note = Refused(std::string(2'000, 'x'));
  EventNote umlauts = Refused("x");
  umlauts.note.clear();
  for (int i = 0; i < 600; ++i) umlauts.note += "\xC3\xA4";
  EventNote broken = Refused("a\xFF");
  EventNote long_reason = Refused();
  long_reason.reason = std::string(200, 'R');
  std::string half;
  for (int i = 0; i < 510; ++i) half += "\xC3\xA4";
  const BoundCase cases[] = {
      {"a long note", long_note, "note", std::string(1'021, 'x') + "..."},
      {"a character is not cut in two", umlauts, "note", half + "..."},
      {"what is no UTF-8 is replaced", broken, "note", "a\xEF\xBF\xBD"},
      {"a long reason", long_reason, "reason", std::string(125, 'R') + "..."},
  };
  for (const BoundCase& c : cases) {
    EventSeries series(Options());
    const auto write = series.Add(c.note, kStart, kWall);
    ASSERT_TRUE(write) << c.name;
    EXPECT_EQ(Json::parse(write->body)[c.field], c.want) << c.name;
  }
}

TEST(EventSeries, NamesEventsApart) {
  struct Case {
    const char* name;
    api::ObjectKey about;
    std::string space, start;
    std::size_t bytes;
  };
  const Case cases[] = {
      {"of a job", {"team-a", "llama"}, "team-a", "llama.", 22},
      {"of what has no namespace", {"", "default"}, "default", "default.", 24},
      {"of a long name", {"", std::string(253, 'n')}, "default", std::string(236, 'n') + ".", 253},
      {"not two dots in a row",
       {"", std::string(235, 'n') + ".n"},
       "default",
       std::string(235, 'n') + ".",
       252},
  };
  for (const Case& c : cases) {
    EventSeries series(Options());
    EventNote note = Refused();
    note.key = c.about;
    const auto first = series.Add(note, kStart, kWall);
    note.note = "another";
    const auto second = series.Add(note, kStart, kWall);
    ASSERT_TRUE(first && second) << c.name;
    EXPECT_EQ(first->key.space, c.space) << c.name;
    EXPECT_TRUE(first->key.name.starts_with(c.start)) << c.name;
    EXPECT_EQ(first->key.name.size(), c.bytes) << c.name;
    EXPECT_NE(first->key.name, second->key.name) << c.name;
  }
}

// "create", "count N" of one note at those seconds; "" where nothing is written.
struct SeriesCase {
  const char* name;
  std::vector<std::pair<int, std::string>> notes;
};

std::string Show(const std::optional<EventSeries::Write>& write) {
  if (!write) return "";
  if (write->creates) return "create";
  return "count " + Json::parse(write->body)["series"]["count"].dump();
}

TEST(EventSeries, CountsWhatIsTheSame) {
  const SeriesCase cases[] = {
      {"the second is written at once, the next after a minute",
       {{0, "create"}, {1, "count 2"}, {2, ""}, {60, ""}, {61, "count 5"}, {62, ""}}},
      {"after ten minutes without it, it is a new event",
       {{0, "create"}, {1, "count 2"}, {601, "create"}, {602, "count 2"}}},
      {"short of ten minutes it is not", {{0, "create"}, {599, "count 2"}, {1'198, "count 3"}}},
  };
  for (const SeriesCase& c : cases) {
    EventSeries series(Options());
    for (const auto& [at, want] : c.notes) {
      EXPECT_EQ(Show(series.Add(Refused(), kStart + seconds(at), kWall)), want)
          << c.name << ", " << at << " s";
    }
  }
}

TEST(EventSeries, PatchesTheCountAlone) {
  EventSeries series(Options());
  const auto created = series.Add(Refused(), kStart, kWall);
  const auto counted = series.Add(Refused(), kStart, kWall + 1);
  ASSERT_TRUE(created && counted);
  EXPECT_FALSE(counted->creates);
  EXPECT_EQ(counted->key, created->key);
  EXPECT_EQ(counted->body,
            R"({"series":{"count":2,"lastObservedTime":"2026-08-22T10:00:00.000043Z"}})");
}

TEST(EventSeries, TellsApartWhatDiffers) {
  EventNote others[] = {
      Refused("short by 9 GPUs"), Refused(), Refused(), Refused(), Refused(), Refused()};
  others[1].uid = "u2";
  others[2].key.name = "other";
  others[3].reason = "Other";
  others[4].action = "Other";
  others[5].warning = false;
  EventSeries series(Options());
  EXPECT_EQ(Show(series.Add(Refused(), kStart, kWall)), "create");
  for (const EventNote& note : others) EXPECT_EQ(Show(series.Add(note, kStart, kWall)), "create");
}

TEST(EventSeries, WritesTheLastCountLater) {
  EventSeries series(Options());
  for (int i = 0; i < 4; ++i) (void)series.Add(Refused(), kStart, kWall);
  EXPECT_TRUE(series.Flush(kStart + seconds(59)).empty());
  const auto writes = series.Flush(kStart + seconds(60));
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(Show(writes[0]), "count 4");
  EXPECT_TRUE(series.Flush(kStart + minutes(5)).empty());
  EXPECT_TRUE(series.Flush(kStart + minutes(20)).empty());
}

TEST(EventSeries, WritesAnEventAnewThatIsGone) {
  EventSeries series(Options());
  const auto first = series.Add(Refused(), kStart, kWall);
  ASSERT_TRUE(first);
  series.Erase(first->key);
  const auto second = series.Add(Refused(), kStart, kWall);
  EXPECT_EQ(Show(second), "create");
  EXPECT_NE(second->key, first->key);
}

TEST(EventSeries, LimitsNewEventsPerObject) {
  EventSeries series(Options());
  const auto write = [&](int i, Instant now) {
    return Show(series.Add(Refused(std::to_string(i)), now, kWall));
  };
  for (int i = 0; i < 25; ++i) EXPECT_EQ(write(i, kStart), "create") << i;
  EXPECT_EQ(write(25, kStart), "");
  EXPECT_EQ(write(26, kStart + seconds(299)), "");
  EXPECT_EQ(series.limited(), 2U);
  EXPECT_EQ(write(0, kStart + seconds(299)), "count 2") << "counting needs no token";
  EXPECT_EQ(write(27, kStart + seconds(300)), "create");
  EXPECT_EQ(write(28, kStart + seconds(300)), "");
  EventNote other = Refused();
  other.uid = "u2";
  EXPECT_EQ(Show(series.Add(other, kStart, kWall)), "create") << "another object";
}

TEST(EventSeries, RemembersABoundedNumber) {
  EventSeries::Options options = Options();
  options.remembered = 2;
  EventSeries series(options);
  EventNote notes[] = {Refused(), Refused(), Refused()};
  for (int i = 0; i < 3; ++i) {
    notes[i].uid = std::to_string(i);
    EXPECT_EQ(Show(series.Add(notes[i], kStart + seconds(i), kWall)), "create");
  }
  EXPECT_EQ(Show(series.Add(notes[2], kStart + seconds(3), kWall)), "count 2");
  EXPECT_EQ(Show(series.Add(notes[1], kStart + seconds(4), kWall)), "count 2");
  EXPECT_EQ(Show(series.Add(notes[0], kStart + seconds(5), kWall)), "create") << "forgotten";
}

}  // namespace
}  // namespace weft::kube
