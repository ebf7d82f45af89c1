#include "operator/kube/watch.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using std::chrono::seconds;

// "list", "page 500", "page 500 next=TOKEN", "watch 9", "wait"; "new" where a list begins.
std::string Show(const Watch::Action& action) {
  using Kind = Watch::Action::Kind;
  if (action.kind == Kind::kWait) return "wait";
  const auto& query = action.request.query;
  const std::string begins = action.begins_list ? "new " : "";
  if (action.kind == Kind::kReadPage) {
    const auto next = query.find("continue");
    return begins + "page " + query.at("limit") +
           (next == query.end() ? "" : " next=" + next->second);
  }
  if (query.contains("sendInitialEvents")) return begins + "list";
  return begins + "watch " + query.at("resourceVersion");
}

std::string Show(Watch::Meaning meaning) {
  switch (meaning) {
    case Watch::Meaning::kChange:
      return "change";
    case Watch::Meaning::kNothing:
      return "nothing";
    case Watch::Meaning::kListed:
      return "listed";
    case Watch::Meaning::kFailed:
      return "failed";
  }
  return "";
}

WatchEvent Event(EventType type, const std::string& version) {
  WatchEvent event;
  event.type = type;
  event.resource_version = version;
  return event;
}

// Plays answers to a Watch, one a line:
//   added 5, bookmark 7, listed 9 (the bookmark behind a list), error 410     lines of a stream
//   page 9, page 9 next=TOKEN                                                 an answer to a page
//   end 200 [SECONDS later], end 0 (no answer), malformed                     the end of a request
class Player {
 public:
  Player() : watch_(Options()) {}

  std::string Next() { return Show(watch_.Next(now_)); }
  std::string Play(const std::string& input) {
    std::istringstream words(input);
    std::string verb, value, more;
    words >> verb >> value >> more;
    if (verb == "added") return Show(watch_.OnEvent(Event(EventType::kAdded, value), now_));
    if (verb == "bookmark") return Show(watch_.OnEvent(Event(EventType::kBookmark, value), now_));
    if (verb == "listed") {
      WatchEvent event = Event(EventType::kBookmark, value);
      event.initial_events_end = true;
      return Show(watch_.OnEvent(event, now_));
    }
    if (verb == "error") {
      WatchEvent event = Event(EventType::kError, "");
      event.code = std::stoi(value);
      return Show(watch_.OnEvent(event, now_));
    }
    if (verb == "page") {
      const std::string next = more.empty() ? "" : more.substr(5);
      return watch_.OnPage({{}, value, next}, now_) ? "listed" : "more";
    }
    if (!more.empty()) now_ += seconds(std::stoi(more));
    const int status = verb == "malformed" ? 200 : std::stoi(value);
    return watch_.OnEnd({status, std::nullopt, verb == "malformed"}, now_) ? "well" : "failure";
  }

 private:
  static Watch::Options Options() {
    Watch::Options options;
    options.path = "/api/v1/pods";
    return options;
  }

  Watch watch_;
  Instant now_{};
};

// What the watch asks for, then what comes: "input -> what it means".
struct Turn {
  std::string step;
  std::vector<std::string> answers;
};
struct Case {
  const char* name;
  std::vector<Turn> turns;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Player player;
    for (const Turn& turn : c.turns) {
      ASSERT_EQ(player.Next(), turn.step);
      for (const std::string& answer : turn.answers) {
        const std::string input = answer.substr(0, answer.find(" -> "));
        ASSERT_EQ(input + " -> " + player.Play(input), answer);
      }
    }
  }
}

const Turn kListed{"new list", {"listed 9 -> listed", "end 200 -> well"}};
const Turn kRefused{"new list", {"end 422 -> well"}};
const Turn kWait{"wait", {}};

TEST(Watch, ListsByAStreamAndGoesOnFromThere) {
  Check({
      {"the first list is complete at its bookmark",
       {{"new list",
         {"added 3 -> change", "bookmark 4 -> nothing", "added 5 -> change", "listed 9 -> listed",
          "end 200 -> well"}},
        {"watch 9", {}}}},
      {"how the stream of a complete list ends does not matter",
       {{"new list", {"listed 9 -> listed", "end 0 -> well"}}, {"watch 9", {}}}},
      {"an empty cluster", {kListed, {"watch 9", {}}}},
      {"a list that breaks off starts anew",
       {{"new list", {"added 3 -> change", "end 0 -> failure"}}, kWait, {"new list", {}}}},
      {"a malformed line in a list",
       {{"new list", {"added 3 -> change", "malformed -> failure"}}, kWait, {"new list", {}}}},
      {"an error in the middle of a list",
       {{"new list", {"added 3 -> change", "error 500 -> failed", "end 200 -> failure"}},
        kWait,
        {"new list", {}}}},
      {"no connection", {{"new list", {"end 0 -> failure"}}, kWait, {"new list", {}}}},
      {"not allowed", {{"new list", {"end 403 -> failure"}}, kWait, {"new list", {}}}},
      {"not served (the definition is not installed yet)",
       {{"new list", {"end 404 -> failure"}}, kWait, {"new list", {}}}},
      {"a busy server",
       {{"new list", {"error 429 -> failed", "end 200 -> failure"}}, kWait, {"new list", {}}}},
  });
}

TEST(Watch, ListsByPagesWhereStreamsAreRefused) {
  Check({
      {"a server that does not know streamed lists",
       {kRefused,
        {"new page 500", {"page 9 next=a -> more"}},
        {"page 500 next=a", {"page 9 next=b -> more"}},
        {"page 500 next=b", {"page 9 -> listed"}},
        {"watch 9", {"end 410 -> failure"}},
        kWait,
        {"new page 500", {}}}},
      {"an error as the first event may pass: the next list is streamed again",
       {{"new list", {"error 500 -> failed", "end 200 -> well"}},
        {"new page 500", {"page 9 -> listed"}},
        {"watch 9", {"end 410 -> failure"}},
        kWait,
        {"new list", {}}}},
      {"three streams in a row that end before their list does (no bookmark comes)",
       {{"new list", {"added 1 -> change", "end 200 600 -> failure"}},
        kWait,
        {"new list", {"end 200 -> failure"}},
        kWait,
        {"new list", {"end 200 -> failure"}},
        kWait,
        {"new page 500", {"page 9 -> listed"}},
        {"watch 9", {}}}},
      {"a page that fails is asked for again",
       {kRefused,
        {"new page 500", {"page 9 next=a -> more"}},
        {"page 500 next=a", {"end 0 -> failure"}},
        kWait,
        {"page 500 next=a", {"end 429 -> failure"}},
        kWait,
        {"page 500 next=a", {"malformed -> failure"}},
        kWait,
        {"page 500 next=a", {"page 9 -> listed"}}}},
      {"a list that outlives the server's memory starts anew with larger pages, once complete "
       "with the usual ones",
       {kRefused,
        {"new page 500", {"page 9 next=a -> more"}},
        {"page 500 next=a", {"end 410 -> failure"}},
        kWait,
        {"new page 1000", {"page 12 next=b -> more"}},
        {"page 1000 next=b", {"page 12 -> listed"}},
        {"watch 12", {"end 410 -> failure"}},
        kWait,
        {"new page 500", {}}}},
      {"a token that the server does not take",
       {kRefused,
        {"new page 500", {"page 9 next=a -> more"}},
        {"page 500 next=a", {"end 400 -> failure"}},
        kWait,
        {"new page 500", {}}}},
  });
}

TEST(Watch, ResumesWhereItWas) {
  Check({
      {"events and bookmarks both move it on",
       {kListed,
        {"watch 9", {"added 10 -> change", "bookmark 20 -> nothing", "end 200 24 -> well"}},
        {"watch 20", {"added 21 -> change", "end 200 -> well"}},
        {"watch 21", {}}}},
      {"a quiet watch that ends in time is well",
       {kListed, {"watch 9", {"end 200 22 -> well"}}, {"watch 9", {}}}},
      {"one that ends at once with nothing in it is not",
       {kListed, {"watch 9", {"end 200 0 -> failure"}}, kWait, {"watch 9", {}}}},
      {"a broken connection, silence, and no server at all",
       {kListed,
        {"watch 9", {"added 10 -> change", "end 0 -> failure"}},
        kWait,
        {"watch 10", {"end 0 28 -> failure"}},
        kWait,
        {"watch 10", {"end 0 -> failure"}},
        kWait,
        {"watch 10", {"end 0 -> failure"}},
        kWait,
        {"watch 10", {}}}},
      {"too many requests, however often",
       {kListed,
        {"watch 9", {"end 429 -> failure"}},
        kWait,
        {"watch 9", {"end 429 -> failure"}},
        kWait,
        {"watch 9", {"end 429 -> failure"}},
        kWait,
        {"watch 9", {}}}},
      {"credentials that are refused for a while",
       {kListed,
        {"watch 9", {"end 401 -> failure"}},
        kWait,
        {"watch 9", {"end 403 -> failure"}},
        kWait,
        {"watch 9", {}}}},
  });
}

TEST(Watch, ListsAgainWhereResumingCannotHelp) {
  Check({
      {"410 as a status", {kListed, {"watch 9", {"end 410 -> failure"}}, kWait, {"new list", {}}}},
      {"410 inside the stream",
       {kListed,
        {"watch 9", {"added 10 -> change", "error 410 -> failed", "end 200 -> failure"}},
        kWait,
        {"new list", {"listed 30 -> listed", "end 200 -> well"}},
        {"watch 30", {}}}},
      {"another error inside the stream",
       {kListed,
        {"watch 9", {"error 500 -> failed", "end 200 -> failure"}},
        kWait,
        {"new list", {}}}},
      {"a malformed line",
       {kListed, {"watch 9", {"malformed -> failure"}}, kWait, {"new list", {}}}},
      {"a watch refused as wrong",
       {kListed, {"watch 9", {"end 400 -> failure"}}, kWait, {"new list", {}}}},
      {"the definition is gone",
       {kListed, {"watch 9", {"end 404 -> failure"}}, kWait, {"new list", {}}}},
      {"too large a resourceVersion for the third time (the server's past was restored)",
       {kListed,
        {"watch 9", {"end 504 -> failure"}},
        kWait,
        {"watch 9", {"end 504 -> failure"}},
        kWait,
        {"watch 9", {"end 504 -> failure"}},
        kWait,
        {"new list", {}}}},
      {"server errors with something read in between are not in a row",
       {kListed,
        {"watch 9", {"end 500 -> failure"}},
        kWait,
        {"watch 9", {"end 503 -> failure"}},
        kWait,
        {"watch 9", {"bookmark 10 -> nothing", "end 200 -> well"}},
        {"watch 10", {"end 500 -> failure"}},
        kWait,
        {"watch 10", {}}}},
  });
}

// How long the failures make it wait.
TEST(Watch, BacksOffAndHonoursRetryAfter) {
  Watch::Options options;
  options.path = "/api/v1/pods";
  Watch watch(options);
  const Instant now{};
  (void)watch.Next(now);
  EXPECT_FALSE(watch.OnEnd({429, Millis(7'000), false}, now));
  const Watch::Action asked = watch.Next(now);
  EXPECT_EQ(asked.kind, Watch::Action::Kind::kWait);
  EXPECT_GE(asked.wait, Millis(7'000));
  EXPECT_LE(asked.wait, Millis(7'100));
  (void)watch.Next(now);
  EXPECT_FALSE(watch.OnEnd({}, now));
  const Watch::Action second = watch.Next(now);
  EXPECT_GE(second.wait, Millis(1'000));
  EXPECT_LE(second.wait, Millis(2'000));
}

// A stream that was silent until it counted as dead has waited long enough, however many failed
// before it: what it missed is known half a minute after its last byte.
TEST(Watch, TheTimeOfARequestCountsAsWaiting) {
  Watch::Options options;
  options.path = "/api/v1/pods";
  Watch watch(options);
  Instant now{};
  for (int failure = 0; failure < 8; ++failure) {
    (void)watch.Next(now);
    EXPECT_FALSE(watch.OnEnd({}, now));
    const Millis wait = watch.Next(now).wait;
    EXPECT_GE(wait, Millis(500));
    EXPECT_LE(wait, Millis(15'000));
    now += wait;
  }
  (void)watch.Next(now);
  now += seconds(28);
  EXPECT_FALSE(watch.OnEnd({}, now));
  EXPECT_EQ(watch.Next(now).wait, Millis(500));
}

// A watch asks for less time than the silence after which it counts as dead; both within 30 s.
TEST(Watch, AsksForLessThanItsLongestSilence) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Watch::Options options;
    options.path = "/api/v1/pods";
    options.query = {{"labelSelector", "a=b"}};
    options.seed = seed;
    Watch watch(options);
    const Request list = watch.Next({}).request;
    EXPECT_EQ(list.path, "/api/v1/pods");
    EXPECT_EQ(list.query.at("labelSelector"), "a=b");
    EXPECT_EQ(list.query.at("watch"), "true");
    EXPECT_EQ(list.query.at("sendInitialEvents"), "true");
    EXPECT_EQ(list.query.at("resourceVersionMatch"), "NotOlderThan");
    EXPECT_EQ(list.query.at("allowWatchBookmarks"), "true");
    EXPECT_FALSE(list.query.contains("resourceVersion"));
    EXPECT_GE(std::stoi(list.query.at("timeoutSeconds")), 300);
    EXPECT_LE(std::stoi(list.query.at("timeoutSeconds")), 600);

    WatchEvent listed = Event(EventType::kBookmark, "9");
    listed.initial_events_end = true;
    (void)watch.OnEvent(listed, {});
    const Request changes = watch.Next({}).request;
    EXPECT_EQ(changes.query.at("labelSelector"), "a=b");
    EXPECT_EQ(changes.query.at("allowWatchBookmarks"), "true");
    EXPECT_EQ(changes.query.at("resourceVersion"), "9");
    EXPECT_FALSE(changes.query.contains("sendInitialEvents"));
    const seconds asked{std::stoi(changes.query.at("timeoutSeconds"))};
    EXPECT_GE(asked, seconds(14));
    EXPECT_GE(changes.timeout, asked + seconds(4));
    EXPECT_LT(changes.timeout, seconds(25));
  }
}

}  // namespace
}  // namespace weft::kube
