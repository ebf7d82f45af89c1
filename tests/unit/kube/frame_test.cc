#include "operator/kube/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/protobuf_text.h"

namespace weft::kube {
namespace {

using testing::Entry;
using testing::Envelope;
using testing::Number;
using testing::Part;

using Lines = std::vector<std::string>;

struct FeedCase {
  const char* name;
  Lines chunks;
  Lines lines;
  FrameSplitter::Fed last = FrameSplitter::Fed::kAll;
};

TEST(FrameSplitter, HandsOutWholeLines) {
  const FeedCase cases[] = {
      {"one line in one piece", {"abc\n"}, {"abc"}},
      {"a line in three pieces", {"a", "b", "c\n"}, {"abc"}},
      {"many lines in one piece", {"a\nb\nc\n"}, {"a", "b", "c"}},
      {"the end of one and the start of the next", {"a\nb", "c\nd"}, {"a", "bc"}},
      {"the end of a line alone", {"a", "\n", "b\n"}, {"a", "b"}},
      {"empty lines are none", {"\n\na\n\n"}, {"a"}},
      {"a line that breaks off is never handed out", {"a\nhalf of"}, {"a"}},
      {"nothing", {""}, {}},
      {"a line of the longest length", {"12345678\n"}, {"12345678"}},
      {"a longer line", {"a\n123456789\n"}, {"a"}, FrameSplitter::Fed::kTooLong},
      {"a longer line without an end", {"12345", "6789"}, {}, FrameSplitter::Fed::kTooLong},
      {"stops where it is told to", {"a\nstop\nb\n"}, {"a", "stop"}, FrameSplitter::Fed::kStopped},
  };
  for (const FeedCase& c : cases) {
    FrameSplitter splitter(8);
    Lines lines;
    FrameSplitter::Fed last = FrameSplitter::Fed::kAll;
    for (const std::string& chunk : c.chunks) {
      last = splitter.Feed(chunk, [&](const std::string& line) {
        lines.push_back(line);
        return line != "stop";
      });
    }
    EXPECT_EQ(lines, c.lines) << c.name;
    EXPECT_EQ(last, c.last) << c.name;
  }
}

// A message behind its length.
std::string Framed(const std::string& message) {
  std::string length;
  for (int shift = 24; shift >= 0; shift -= 8) {
    length += static_cast<char>(message.size() >> shift & 0xff);
  }
  return length + message;
}

TEST(FrameSplitter, HandsOutWholeMessages) {
  const std::string two = Framed("\nab") + Framed("\nstop");
  Lines bytes;
  for (const char byte : two) bytes.emplace_back(1, byte);
  const FeedCase cases[] = {
      {"two in one piece", {two}, {"\nab", "\nstop"}},
      {"two byte by byte", bytes, {"\nab", "\nstop"}},
      {"the end of one and the start of the next",
       {two.substr(0, 5), two.substr(5, 4), two.substr(9)},
       {"\nab", "\nstop"}},
      {"an empty one", {Framed("") + Framed("\na")}, {"\na"}},
      {"one that breaks off", {Framed("\na") + Framed("\nbc").substr(0, 6)}, {"\na"}},
      {"a longer one",
       {Framed("\na") + Framed("123456789")},
       {"\na"},
       FrameSplitter::Fed::kTooLong},
      {"a length past all bounds", {"\xff\xff\xff\xff\n"}, {}, FrameSplitter::Fed::kTooLong},
      {"stops where it is told to",
       {Framed("stop") + Framed("\nb")},
       {"stop"},
       FrameSplitter::Fed::kStopped},
  };
  for (const FeedCase& c : cases) {
    FrameSplitter splitter(8);
    Lines frames;
    FrameSplitter::Fed last = FrameSplitter::Fed::kAll;
    for (const std::string& chunk : c.chunks) {
      last = splitter.Feed(chunk, [&](const std::string& frame) {
        frames.push_back(frame);
        return frame != "stop";
      });
    }
    EXPECT_EQ(frames, c.lines) << c.name;
    EXPECT_EQ(last, c.last) << c.name;
  }
}

std::string Show(const ServedObject& object) {
  return api::Show(object.key) + " " + object.json.dump() +
         (object.unreadable.empty() ? "" : " unreadable: " + object.unreadable);
}

std::string Show(const Result<WatchEvent>& event) {
  if (!event) return "broken: " + event.error().message;
  const std::string version = " @" + event->resource_version;
  switch (event->type) {
    case EventType::kAdded:
      return "added " + Show(event->object) + version;
    case EventType::kModified:
      return "modified " + Show(event->object) + version;
    case EventType::kDeleted:
      return "deleted " + Show(event->object) + version;
    case EventType::kBookmark:
      return "bookmark" + version + (event->initial_events_end ? " listed" : "");
    case EventType::kError:
      return "error " + std::to_string(event->code) + " " + event->message;
  }
  return "";
}

struct LineCase {
  const char* name;
  std::string line;
  std::string want;
  manifest::Subject subject = manifest::Subject::kPod;
};

TEST(ParseWatchFrame, ReadsWhatTheServerSends) {
  const LineCase cases[] = {
      {"a pod that is new",
       R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"x",)"
       R"("resourceVersion":"7","managedFields":[{"f":1}]},"spec":{"dnsConfig":[1]}}})",
       R"(added x/a {"kind":"Pod","metadata":{"name":"a","namespace":"x",)"
       R"("resourceVersion":"7"},"spec":{}} @7)"},
      {"a node that changed",
       R"({"type":"MODIFIED","object":{"metadata":{"name":"n","resourceVersion":"8"}}})",
       R"(modified n {"metadata":{"name":"n","resourceVersion":"8"}} @8)",
       manifest::Subject::kNode},
      {"a job that is gone",
       R"({"type":"DELETED","object":{"metadata":{"name":"j","namespace":"x",)"
       R"("resourceVersion":"9"}}})",
       R"(deleted x/j {"metadata":{"name":"j","namespace":"x","resourceVersion":"9"}} @9)",
       manifest::Subject::kWhole},
      {"a bookmark",
       R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12",)"
       R"("creationTimestamp":null}}})",
       "bookmark @12"},
      {"the bookmark behind a streamed list, of a kind whose annotations are dropped",
       R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"12",)"
       R"("annotations":{"k8s.io/initial-events-end":"true"}}}})",
       "bookmark @12 listed", manifest::Subject::kNode},
      {"an error",
       R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,)"
       R"-("reason":"Expired","message":"too old resource version: 1 (9)"}})-",
       "error 410 too old resource version: 1 (9)"},
      {"an error without a code", R"({"type":"ERROR","object":{}})", "error 0 "},
  };
  for (const LineCase& c : cases) {
    EXPECT_EQ(Show(ParseWatchFrame(c.line, c.subject)), c.want) << c.name;
  }
}

TEST(ParseWatchFrame, SaysThatTheStreamIsBroken) {
  const LineCase cases[] = {
      {"half a line", R"({"type":"ADDED","obj)",
       "broken: watch event: line 1: not JSON: Missing a closing quotation mark in string."},
      {"a page of a proxy", "<html>", "broken: watch event: line 1: not JSON: Invalid value."},
      {"another type", R"({"type":"MOVED","object":{}})", "broken: not a watch event"},
      {"no object", R"({"type":"ADDED"})", "broken: not a watch event"},
      {"an object that is none", R"({"type":"ADDED","object":[]})", "broken: not a watch event"},
      {"an object without a name",
       R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}})",
       "broken: a watch event whose object has no name or no resourceVersion"},
      {"an object without a version", R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})",
       "broken: a watch event whose object has no name or no resourceVersion"},
      {"a bookmark without a version", R"({"type":"BOOKMARK","object":{"metadata":{}}})",
       "broken: a bookmark without a resourceVersion"},
      {"a bookmark without anything", R"({"type":"BOOKMARK","object":{}})",
       "broken: a bookmark without a resourceVersion"},
  };
  for (const LineCase& c : cases) {
    EXPECT_EQ(Show(ParseWatchFrame(c.line, c.subject)), c.want) << c.name;
  }
}

std::string Nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

// Valid JSON that our guards refuse must cost one object, not the watch.
TEST(ParseWatchFrame, NamesAnObjectThatItCannotRead) {
  const std::string start =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"x","uid":"u",)"
      R"("resourceVersion":"7","generation":2},"spec":{"nodeSelector":)";
  const std::string meta =
      R"({"metadata":{"generation":2,"name":"a","namespace":"x","resourceVersion":"7",)"
      R"("uid":"u"}})";
  const LineCase cases[] = {
      {"a NUL inside a text", start + R"({"a":"\u0000"}}}})",
       "watch event: line 1: a \\u escape of NUL or of half a character"},
      {"nested too deep", start + Nested(100) + "}}}",
       "watch event: line 1: nested deeper than 64"},
      {"nested beyond any stack", start + Nested(1'000'000) + "}}}",
       "watch event: line 1: nested deeper than 64"},
      {"a key twice", start + R"({"a":"b","a":"c"}}}})",
       "watch event: line 1: duplicate key \"a\""},
  };
  for (const LineCase& c : cases) {
    EXPECT_EQ(Show(ParseWatchFrame(c.line, c.subject)),
              "added x/a " + meta + " unreadable: " + c.want + " @7")
        << c.name;
  }
}

TEST(ParseWatchFrame, OfAnObjectThatItCannotReadPassesOnWhatTheServerKeeps) {
  const std::string line =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7",)"
      R"("deletionTimestamp":"t","finalizers":["f"],"annotations":{"a":"\u0000"}},)"
      R"("spec":{"nodeName":"n","x":1},"status":{"phase":"Running","message":"a\u0000b"}}})";
  EXPECT_EQ(Show(ParseWatchFrame(line, manifest::Subject::kWhole)),
            R"(added a {"metadata":{"deletionTimestamp":"t","finalizers":["f"],"name":"a",)"
            R"("resourceVersion":"7"},"spec":{"nodeName":"n"},)"
            R"("status":{"message":"a?b","phase":"Running"}} unreadable: )"
            R"(watch event: line 1: a \u escape of NUL or of half a character @7)");
}

std::string Show(const Result<Page>& page) {
  if (!page) return "broken: " + page.error().message;
  std::string text = "@" + page->resource_version + " next=" + page->next;
  for (const ServedObject& item : page->items) text += "\n" + Show(item);
  return text;
}

std::string Event(const std::string& type, const std::string& kind, const std::string& object) {
  return Part(1, type) + Part(2, Part(1, Envelope(kind, object)));
}

TEST(ParseWatchFrame, ReadsProtobufAsItReadsJson) {
  const std::string pod = Part(1, Part(1, "a") + Part(3, "x") + Part(6, "7"));
  const std::string listed =
      Part(1, Part(6, "12") + Entry(12, "k8s.io/initial-events-end", "true"));
  const auto kNode = manifest::Subject::kNode, kWhole = manifest::Subject::kWhole;
  const LineCase cases[] = {
      {"a pod that is new", Event("ADDED", "Pod", pod),
       R"(added x/a {"metadata":{"name":"a","namespace":"x","resourceVersion":"7"}} @7)"},
      {"a node that is gone", Event("DELETED", "Node", Part(1, Part(1, "n") + Part(6, "8"))),
       R"(deleted n {"metadata":{"name":"n","resourceVersion":"8"}} @8)", kNode},
      {"a bookmark", Event("BOOKMARK", "Pod", Part(1, Part(6, "12"))), "bookmark @12"},
      {"the bookmark behind a streamed list", Event("BOOKMARK", "Node", listed),
       "bookmark @12 listed", kNode},
      {"an error", Event("ERROR", "Status", Part(3, "too old") + Number(6, 410)),
       "error 410 too old"},
      {"a pod with text that is none", Event("MODIFIED", "Pod", pod + Part(2, Part(10, "\xff"))),
       R"(modified x/a {"metadata":{"name":"a","namespace":"x","resourceVersion":"7"}})"
       " unreadable: not UTF-8, or a NUL byte @7"},
      {"a kind that is not read in protobuf", Event("ADDED", "Job", pod),
       "broken: not a watch event", kWhole},
      {"an object without its envelope", Part(1, "ADDED") + Part(2, Part(1, pod)),
       "broken: not a watch event"},
      {"an unknown type", Event("MOVED", "Pod", pod), "broken: not a watch event"},
      {"no message", "\n\xff", "broken: not a watch event"},
      {"a bookmark of nothing", Event("BOOKMARK", "Pod", ""),
       "broken: a bookmark without a resourceVersion"},
      {"a pod without a name", Event("ADDED", "Pod", Part(1, Part(6, "7"))),
       "broken: a watch event whose object has no name or no resourceVersion"},
  };
  for (const LineCase& c : cases) {
    EXPECT_EQ(Show(ParseWatchFrame(c.line, c.subject)), c.want) << c.name;
  }
}

TEST(ParsePage, ReadsProtobufAsItReadsJson) {
  const std::string meta = Part(1, Part(2, "5") + Part(3, "more"));
  const std::string items =
      Part(2, Part(1, Part(1, "a"))) + Part(2, Part(1, Part(1, "b") + Part(5, "\xff")));
  const auto kNode = manifest::Subject::kNode;
  const LineCase cases[] = {
      {"two items", Envelope("NodeList", meta + items),
       "@5 next=more\na {\"metadata\":{\"name\":\"a\"}}\nb {\"metadata\":{\"name\":\"b\"}} "
       "unreadable: not UTF-8, or a NUL byte",
       kNode},
      {"none", Envelope("NodeList", Part(1, Part(2, "5"))), "@5 next=", kNode},
      {"no list", Envelope("Status", Part(3, "x")), "broken: not a list", kNode},
      {"half of it", Envelope("NodeList", meta + items).substr(0, 40), "broken: not a list", kNode},
  };
  for (const LineCase& c : cases) EXPECT_EQ(Show(ParsePage(c.line, c.subject)), c.want) << c.name;
  EXPECT_EQ(StatusMessage(Envelope("Status", Part(3, "pods is forbidden"))), "pods is forbidden");
}

TEST(ParsePage, ReadsItemsAndWhatComesNext) {
  const LineCase cases[] = {
      {"the first of several pages",
       R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"tok"},"items":[)"
       R"({"metadata":{"name":"a","namespace":"x","managedFields":[]},"spec":{"dnsConfig":[]}},)"
       R"({"metadata":{"name":"b","namespace":"x"}}]})",
       "@9 next=tok\n"
       R"(x/a {"metadata":{"name":"a","namespace":"x"},"spec":{}})"
       "\n"
       R"(x/b {"metadata":{"name":"b","namespace":"x"}})"},
      {"the metadata may follow the items",
       R"({"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"9"}})",
       "@9 next=\n"
       R"(a {"metadata":{"name":"a"}})"},
      {"an empty list", R"({"items":[],"metadata":{"resourceVersion":"9"}})", "@9 next="},
      {"an empty list as Go writes it", R"({"items":null,"metadata":{"resourceVersion":"9"}})",
       "@9 next="},
      {"an empty answer is no empty list", "", "broken: list: not an object"},
      {"an object without items is no empty list", R"({"metadata":{"resourceVersion":"9"}})",
       "broken: not a list"},
      {"a list without a version is not one moment's", R"({"items":[],"metadata":{}})",
       "broken: not a list"},
      {"items that are none", R"({"items":{},"metadata":{"resourceVersion":"9"}})",
       "broken: not a list"},
      {"an item without a name", R"({"items":[{}],"metadata":{"resourceVersion":"9"}})",
       "broken: a list with an item without a name"},
      {"half a page", R"({"items":[{"meta)",
       "broken: list: line 1: not JSON: Missing a closing quotation mark in string."},
  };
  for (const LineCase& c : cases) EXPECT_EQ(Show(ParsePage(c.line, c.subject)), c.want) << c.name;
}

TEST(ParsePage, NamesTheOneItemThatItCannotRead) {
  const std::string page =
      R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"bad","uid":"u"},)"
      R"("spec":{"nodeName":"\u0000"}},{"metadata":{"name":"c","managedFields":[1]}}],)"
      R"("metadata":{"resourceVersion":"9"}})";
  EXPECT_EQ(Show(ParsePage(page, manifest::Subject::kPod)),
            "@9 next=\n"
            R"(a {"metadata":{"name":"a"}})"
            "\n"
            R"(bad {"metadata":{"name":"bad","uid":"u"},"spec":{"nodeName":"?"}})"
            " unreadable: bad: line 1: a \\u escape of NUL or of half a character\n"
            R"(c {"metadata":{"name":"c"}})");
}

TEST(StatusMessage, IsTheServersOwn) {
  EXPECT_EQ(StatusMessage(R"({"kind":"Status","message":"pods is forbidden","code":403})"),
            "pods is forbidden");
  EXPECT_EQ(StatusMessage("<html>"), "");
  EXPECT_EQ(StatusMessage("[]"), "");
}

}  // namespace
}  // namespace weft::kube
