#include "operator/manifest/reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::manifest {
namespace {

using Json = nlohmann::json;

// The document as JSON text, or the message.
std::string Document(const std::string& text, const Limits& limits = {}) {
  const Result<Json> document = ReadDocument({"f", text}, limits);
  return document ? document->dump() : document.error().message;
}

// Each object as "place object", or the message last.
std::vector<std::string> Objects(const std::string& text, const Limits& limits = {}) {
  std::vector<std::string> lines;
  const ObjectSink sink = [&](Json object, const std::string& place) {
    lines.push_back(place + " " + object.dump());
    return Status();
  };
  const Status status = ReadObjects({"f", text}, sink, limits);
  if (!status) lines.push_back(status.error().message);
  return lines;
}

TEST(ReadDocument, TypesScalarsAndRefusesWhatIsHostile) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;
  };
  const std::string nul("a: b\0c\n", 7);
  const Case cases[] = {
      {"null in all spellings", "[null, ~, Null, NULL, ]", "f: line 1: not JSON: Invalid value."},
      {"null in all spellings, block", "- null\n- ~\n- Null\n- NULL\n-\n",
       "[null,null,null,null,null]"},
      {"true and false in all spellings", "- true\n- False\n- TRUE\n", "[true,false,true]"},
      {"other spellings are text", "- tRue\n- nULL\n", R"(["tRue","nULL"])"},
      {"yes is refused", "a:\n  b: yes\n",
       "f: line 2: \"yes\" is true or false to some readers and text to others; write true or "
       "false, or quote it"},
      {"a quoted yes is text", "a: 'yes'\n", R"({"a":"yes"})"},
      {"a key is text, whatever it looks like", "y: 1\n8: 2\ntrue: 3\n",
       R"({"8":2,"true":3,"y":1})"},
      {"integers keep 64 bits", "- 9223372036854775807\n- -9223372036854775808\n- +7\n",
       "[9223372036854775807,-9223372036854775808,7]"},
      {"longer integers are unsigned, then floats",
       "- 18446744073709551615\n- 18446744073709551616\n",
       "[18446744073709551615,1.8446744073709552e+19]"},
      {"the same in JSON", "[18446744073709551615,18446744073709551616]",
       "[18446744073709551615,1.8446744073709552e+19]"},
      {"floats", "- 1.5\n- 1e3\n- .5\n- -2.5E-1\n- 1e-999\n", "[1.5,1000.0,0.5,-0.25,0.0]"},
      {"a number past the range is refused", "a: 1e999\n", "f: line 1: number out of range: 1e999"},
      {"what YAML versions read differently stays text",
       "- 012\n- 0x1F\n- 0o14\n- 1_000\n- 1:30\n- 2026-01-01\n- .inf\n- .nan\n",
       R"(["012","0x1F","0o14","1_000","1:30","2026-01-01",".inf",".nan"])"},
      {"tags decide", "- !!str 8\n- !!int '8'\n- ! 8\n", R"(["8",8,"8"])"},
      {"a value that does not fit its tag", "a: !!int x\n",
       "f: line 1: \"x\" is not of its tag's type"},
      {"unknown tags are refused", "a: !x y\n", "f: line 1: the tag \"!x\" is not read"},
      {"anchors without aliases", "a: &x 1\n", R"({"a":1})"},
      {"duplicate keys", "a: 1\nb:\n  c: 1\n  c: 2\n", "f: line 4: duplicate key \"c\""},
      {"duplicate keys in JSON", "{\"a\":1,\n\"a\":2}", "f: line 2: duplicate key \"a\""},
      {"a list as a key", "? [a]\n: b\n", "f: line 1: a key must be text, not a map or a list"},
      {"one comma", ",",
       "f: line 1: not YAML: did not find expected node content while parsing a "
       "block node"},
      {"a tab indents", "a:\n\tb: 1\n",
       "f: line 2: not YAML: found character that cannot start any token while scanning for the "
       "next token"},
      {"NUL", nul, "f: line 1: a NUL byte"},
      {"an escaped NUL", "a: \"\\0\"\n", "f: line 1: a NUL inside a text"},
      {"not UTF-8", "a: 1\nb: \xff\n", "f: line 2: not UTF-8"},
      {"a surrogate in UTF-8", "a: \xED\xA0\x80\n", "f: line 1: not UTF-8"},
      {"half a surrogate pair in JSON", "[\"\\udc00\"]",
       "f: line 1: a \\u escape of NUL or of half a character"},
      {"a byte order mark and carriage returns",
       "\xEF\xBB\xBF"
       "a: 1\r\nb: x\r\n",
       R"({"a":1,"b":"x"})"},
      {"truncated JSON", "{\"a\":\n[1,", "f: line 2: not JSON: Invalid value."},
      {"a second document", "a: 1\n---\nb: 1\n",
       "f: line 2: a second document; only one is read here"},
      {"nothing", "# empty\n", "f: no document"},
  };
  for (const Case& c : cases) EXPECT_EQ(Document(c.text), c.want) << c.name;
}

TEST(ReadDocument, WritesAliasesOut) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"of a scalar, with its type", "a: &x 1\nb: *x\nc: &y '1'\nd: *y\n",
       R"({"a":1,"b":1,"c":"1","d":"1"})"},
      {"of a map", "a: &x {b: [1]}\nc: *x\n", R"({"a":{"b":[1]},"c":{"b":[1]}})"},
      {"of a list", "a: &x\n- 1\n- {b: 2}\nc: [*x, *x]\n",
       R"({"a":[1,{"b":2}],"c":[[1,{"b":2}],[1,{"b":2}]]})"},
      {"as a key", "a: &x b\n*x : 1\n", R"({"a":"b","b":1})"},
      {"of an anchored key", "&x a: *x\n", R"({"a":"a"})"},
      {"of a value inside another anchor", "a: &x {b: &y [1], c: *y}\nd: *x\ne: *y\n",
       R"({"a":{"b":[1],"c":[1]},"d":{"b":[1],"c":[1]},"e":[1]})"},
      {"the last anchor of the name counts", "- &x 1\n- *x\n- &x 2\n- *x\n", "[1,1,2,2]"},
      {"also inside a value that was read before", "- &x 1\n- &y [*x]\n- &x 2\n- *y\n",
       "[1,[1],2,[1]]"},
      {"unknown", "a: 1\nb: *x\n",
       "f: line 2: unknown alias *x: no anchor &x stands before it in this document"},
      {"before its anchor", "a: *x\nb: &x 1\n",
       "f: line 1: unknown alias *x: no anchor &x stands before it in this document"},
      {"inside its own anchor", "a: 1\nb: &x\n  c:\n  - *x\n",
       "f: line 4: the alias *x stands inside its own anchor &x of line 2"},
      {"a map as a key", "a: &x {}\n*x : 1\n",
       "f: line 2: a key must be text, not a map or a list (read from line 1)"},
      {"a key twice", "a: &x b\nb: 1\n*x : 2\n",
       "f: line 3: duplicate key \"b\" (read from line 1)"},
  };
  for (const Case& c : cases) EXPECT_EQ(Document(c.text), c.want) << c.name;
}

TEST(ReadDocument, WritesMergeKeysOut) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;
  };
  const std::string anchors = "- &x {a: 1, b: {c: 1}}\n- &y {a: 2, d: 2}\n- &z [*x, *y]\n";
  const std::string first = R"([{"a":1,"b":{"c":1}},{"a":2,"d":2},)"
                            R"([{"a":1,"b":{"c":1}},{"a":2,"d":2}],)";
  const Case cases[] = {
      {"of an alias", anchors + "- <<: *x\n  e: 3\n", first + R"({"a":1,"b":{"c":1},"e":3}])"},
      {"of a list, in which the first map wins", anchors + "- <<: [*y, *x]\n",
       first + R"({"a":2,"b":{"c":1},"d":2}])"},
      {"of a map", anchors + "- <<: {e: *y, f: [1]}\n", first + R"({"e":{"a":2,"d":2},"f":[1]}])"},
      {"the map's own key wins before it and behind it",
       anchors + "- a: 3\n  <<: *x\n  b: {d: 4}\n", first + R"({"a":3,"b":{"d":4}}])"},
      {"of a map that merges another", anchors + "- &w {<<: *y, a: 3}\n- {<<: *w, e: 4}\n",
       first + R"({"a":3,"d":2},{"a":3,"d":2,"e":4}])"},
      {"inside one another", anchors + "- <<: {<<: {<<: *y, a: 3}, e: 4}\n",
       first + R"({"a":3,"d":2,"e":4}])"},
      {"in the value of an alias", anchors + "- &w [{<<: *y}]\n- *w\n",
       first + R"([{"a":2,"d":2}],[{"a":2,"d":2}]])"},
      {"whose key is an alias", "- &k <<\n- &x {a: 1}\n- &m {*k : *x}\n- *m\n",
       R"(["<<",{"a":1},{"a":1},{"a":1}])"},
      {"a quoted key is a key", "'<<': 1\n", R"({"<<":1})"},
      {"of text", "a: 1\n<<: b\n",
       "f: line 2: a merge key (<<) needs a map, an alias of a map, or a list of these"},
      {"of an alias of a list", "a: &x [{}]\nb:\n  <<: *x\n",
       "f: line 3: a merge key (<<) needs a map, an alias of a map, or a list of these"},
      {"twice", "a: &x {}\n<<: *x\n<<: *x\n", "f: line 3: duplicate key \"<<\""},
      {"of an unknown alias", "<<: [*x]\n",
       "f: line 1: unknown alias *x: no anchor &x stands before it in this document"},
      {"inside its own anchor", "a: &x\n  <<: *x\n",
       "f: line 2: the alias *x stands inside its own anchor &x of line 1"},
      {"a value that is wrong names both lines", "a: 1\n<<:\n  b:\n    yes\nc: 1\n",
       "f: line 3: \"yes\" is true or false to some readers and text to others; write true or "
       "false, or quote it (read from line 4)"},
      {"a key twice in a merged map", "<<: {b: 1,\n b: 2}\n",
       "f: line 1: duplicate key \"b\" (read from line 2)"},
      {"of text inside another", "<<: {<<: 1}\n",
       "f: line 1: a merge key (<<) needs a map, an alias of a map, or a list of these"},
      {"twice inside another", "<<: {<<: {}, <<: {}}\n", "f: line 1: duplicate key \"<<\""},
      {"a list as a key in a merged map", "<<: {[a]: 1}\n",
       "f: line 1: a key must be text, not a map or a list"},
  };
  for (const Case& c : cases) EXPECT_EQ(Document(c.text), c.want) << c.name;
}

TEST(ReadDocument, HoldsItsLimitsOfAliases) {
  std::string bomb = "a0: &a0 [x, x]\n", merges = "a0: &a0 {k: x}\n", chain = merges;
  for (int i = 1; i < 100; ++i) {
    const std::string next = "a" + std::to_string(i), last = "*a" + std::to_string(i - 1);
    bomb += next + ": &" + next + " [" + last + ", " + last + "]\n";
    merges += next + ": &" + next + " {<<: [" + last + ", " + last + "]}\n";
    chain += next + ": &" + next + " {<<: " + last + "}\n";
  }
  struct Case {
    const char* name;
    std::string text;
    Limits limits;
    std::string want;
  };
  const Case cases[] = {
      {"billion laughs",
       bomb,
       {},
       "f: line 18: *a16 (anchor in line 17) makes aliases stand for more than 1000000 values in "
       "this file; write the values out, or split the file"},
      {"billion laughs by merge keys",
       merges,
       {},
       "f: line 18: << (anchor in line 18) makes aliases stand for more than 1000000 values in "
       "this file; write the values out, or split the file"},
      {"merge keys nested in one another", chain, {}, "f: line 65: aliases nested deeper than 64"},
      {"a long text often",
       "a: &x xxxxx\nb: *x\nc: *x\n",
       {.alias_bytes = 9},
       "f: line 3: *x (anchor in line 1) makes aliases stand for more than 9 bytes in this file; "
       "write the values out, or split the file"},
      {"an anchor past the limit without an alias",
       "a: &x [1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
       {.alias_values = 3},
       R"({"a":[1,2,3,4,5,6,7,8,9]})"},
      {"an anchor past the limit",
       "a: &x [1, 2, 3, 4, 5, 6, 7, 8, 9]\nb: *x\n",
       {.alias_values = 3},
       "f: line 2: *x (anchor in line 1) makes aliases stand for more than 3 values in this file; "
       "write the values out, or split the file"},
      {"a merged map past the limit",
       "<<: {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}\n",
       {.alias_values = 3},
       "f: line 1: << (anchor in line 1) makes aliases stand for more than 3 values in this file; "
       "write the values out, or split the file"},
      {"depth",
       "- &a [[x]]\n- [[*a]]\n",
       {.depth = 4},
       "f: line 2: nested deeper than 4 (read from line 1)"},
  };
  for (const Case& c : cases) EXPECT_EQ(Document(c.text, c.limits), c.want) << c.name;
}

TEST(ReadObjects, KnowsAnchorsInTheirDocumentOnly) {
  EXPECT_EQ(Objects("kind: Fabric\nspec: &x {a: 1}\n---\nkind: Fabric\nspec: *x\n"),
            (std::vector<std::string>{
                R"(f: document 1 {"kind":"Fabric","spec":{"a":1}})",
                "f: line 5: unknown alias *x: no anchor &x stands before it in this document"}));
}

TEST(ReadObjects, WritesAliasesInListsAndDroppedPartsOut) {
  EXPECT_EQ(Objects("kind: List\nitems:\n"
                    "- &n\n  kind: Node\n  metadata: {name: a, managedFields: &m [1]}\n"
                    "  spec: {podCIDR: *m}\n"
                    "- <<: *n\n  metadata: {name: b, managedFields: *m}\n"
                    "- *n\n"),
            (std::vector<std::string>{
                R"(f: document 1: items[0] {"kind":"Node","metadata":{"name":"a"},"spec":{}})",
                R"(f: document 1: items[1] {"kind":"Node","metadata":{"name":"b"},"spec":{}})",
                R"(f: document 1: items[2] {"kind":"Node","metadata":{"name":"a"},"spec":{}})"}));
}

TEST(ReadDocument, HoldsItsLimits) {
  struct Case {
    const char* name;
    std::string text;
    Limits limits;
    std::string want;
  };
  std::string brackets(65, '['), dashes;
  for (int i = 0; i < 65; ++i) dashes += "- ";
  const Case cases[] = {
      {"depth of JSON", brackets, {}, "f: line 1: nested deeper than 64"},
      {"depth of YAML", dashes + "x", {}, "f: line 1: nested deeper than 64"},
      {"bytes", "a: 1\n", {.bytes = 4}, "f: larger than 4 bytes"},
      {"values", "a: [1, 2]\n", {.values = 3}, "f: line 1: more than 3 values"},
      {"length of a text",
       "a: xxxx\n",
       {.scalar_bytes = 3},
       "f: line 1: a text longer than 3 bytes"},
      {"length of a key",
       "{\"" + std::string(70'000, 'k') + "\":1}",
       {},
       "f: line 1: a key longer than 64 KiB"},
  };
  for (const Case& c : cases) EXPECT_EQ(Document(c.text, c.limits), c.want) << c.name;
}

TEST(ReadObjects, ReadsJsonDocumentsOfAYamlStream) {
  EXPECT_EQ(Objects(R"({"kind": "A", "metadata": {"name": "a\n---"}})"
                    "\n---\n"
                    R"({"kind": "B"})"),
            (std::vector<std::string>{R"(f: document 1 {"kind":"A","metadata":{"name":"a\n---"}})",
                                      R"(f: document 2 {"kind":"B"})"}));
}

TEST(ReadObjects, SplitsDocumentsAndLists) {
  using Lines = std::vector<std::string>;
  struct Case {
    const char* name;
    std::string text;
    Lines want;
  };
  const Case cases[] = {
      {"documents; empty ones count but are not objects",
       "---\n---\nkind: Fabric\n---\nkind: Fabric\n",
       {R"(f: document 2 {"kind":"Fabric"})", R"(f: document 3 {"kind":"Fabric"})"}},
      {"JSON values behind each other",
       "{\"kind\":\"Fabric\"}\n{\"kind\":\"Fabric\"}",
       {R"(f: document 1 {"kind":"Fabric"})", R"(f: document 2 {"kind":"Fabric"})"}},
      {"items of a List, as kubectl sorts its keys",
       "apiVersion: v1\nitems:\n- kind: Fabric\n- kind: Node\nkind: List\nmetadata: {}\n",
       {R"(f: document 1: items[0] {"kind":"Fabric"})",
        R"(f: document 1: items[1] {"kind":"Node"})"}},
      {"an empty List", "{\"kind\":\"List\",\"items\":[]}", {}},
      {"items of a NodeList get its kind",
       R"({"kind":"NodeList","apiVersion":"v1","items":[{"status":{"images":[1]}}]})",
       {R"(f: document 1: items[0] {"apiVersion":"v1","kind":"Node","status":{}})"}},
      {"also where the kind comes last",
       R"({"items":[{}],"kind":"NodeList","apiVersion":"v1"})",
       {R"(f: document 1: items[0] {"apiVersion":"v1","kind":"Node"})"}},
      {"items of something that is no List",
       "items: []\nkind: Menu\n",
       {"f: line 3: items in an object of kind Menu, which is not a List"}},
      {"a document that is no object",
       "- a\n",
       {"f: line 2: a document must be an object (key: value)"}},
      {"an item that is no object",
       "kind: List\nitems: [1]\n",
       {"f: line 2: items[0] must be an object"}},
  };
  for (const Case& c : cases) EXPECT_EQ(Objects(c.text), c.want) << c.name;
}

TEST(ReadObjects, DropsWhatIsNeverRead) {
  using Lines = std::vector<std::string>;
  struct Case {
    const char* name;
    std::string text;
    Lines want;
  };
  const Case cases[] = {
      {"of a Node",
       R"({"kind":"Node","metadata":{"name":"a",)"
       R"("annotations":{"x":"y","hami.io/node-nvidia-register":"[]"}},)"
       R"("spec":{"podCIDR":"x","unschedulable":true},"status":{"images":[{}],)"
       R"("conditions":[{"type":"Ready","status":"True","message":"m",)"
       R"("lastTransitionTime":"t"}],)"
       R"("capacity":{"cpu":"8"}}})",
       {R"(f: document 1 {"kind":"Node","metadata":{)"
        R"("annotations":{"hami.io/node-nvidia-register":"[]"},"name":"a"},)"
        R"("spec":{"unschedulable":true},)"
        R"("status":{"capacity":{"cpu":"8"},"conditions":[{"lastTransitionTime":"t",)"
        R"("status":"True","type":"Ready"}]}})"}},
      {"of a Pod",
       R"({"kind":"Pod","metadata":{"managedFields":[1],"labels":{"a":"b"}},)"
       R"("spec":{"volumes":[{"name":"v","secret":{}}],"containers":[{"name":"c","env":[{"name":"TOKEN"}],)"
       R"("resources":{}}]},"status":{"phase":"Running","podIP":"1",)"
       R"("conditions":[{"type":"PodScheduled","lastTransitionTime":"t","lastProbeTime":"p"}]}})",
       {R"(f: document 1 {"kind":"Pod","metadata":{"labels":{"a":"b"}},)"
        R"("spec":{"containers":[{"name":"c","resources":{}}],"volumes":[{"name":"v"}]},)"
        R"("status":{"conditions":[{"lastTransitionTime":"t","type":"PodScheduled"}],)"
        R"("phase":"Running"}})"}},
      {"of a Workload, in its pod templates what is dropped of a Pod",
       R"({"kind":"Workload","metadata":{"name":"w","managedFields":[1]},"spec":{"x":1,)"
       R"("priority":1,"podSets":[{"name":"s","count":1,"minCount":1,"template":{)"
       R"("metadata":{"labels":{"a":"b"}},"spec":{"dnsConfig":{},"nodeSelector":{"c":"d"},)"
       R"("containers":[{"name":"c","env":[{"name":"TOKEN"}],"resources":{}}]}}}]},)"
       R"("status":{"admission":{"clusterQueue":"q"}}})",
       {R"(f: document 1 {"kind":"Workload","metadata":{"name":"w"},"spec":{)"
        R"("podSets":[{"count":1,"name":"s","template":{"metadata":{"labels":{"a":"b"}},)"
        R"("spec":{"containers":[{"name":"c","resources":{}}],"nodeSelector":{"c":"d"}}}}],)"
        R"("priority":1},"status":{"admission":{"clusterQueue":"q"}}})"}},
      {"of a kind that is ignored, all but the name",
       R"({"kind":"Secret","metadata":{"name":"s","labels":{}},"data":{"k":"v"}})",
       {R"(f: document 1 {"kind":"Secret","metadata":{"name":"s"}})"}},
      {"of Weft's own kinds only bookkeeping",
       R"({"kind":"TrainingJob","metadata":{"managedFields":[1],"annotations":{"a":"b",)"
       R"("kubectl.kubernetes.io/last-applied-configuration":"x"}},"spec":{"env":[1]}})",
       {R"(f: document 1 {"kind":"TrainingJob","metadata":{"annotations":{"a":"b"}},)"
        R"("spec":{"env":[1]}})"}},
  };
  for (const Case& c : cases) EXPECT_EQ(Objects(c.text), c.want) << c.name;
}

TEST(ReadObjects, StopsAtWhatTheSinkSays) {
  int calls = 0;
  const ObjectSink sink = [&](Json, const std::string& place) -> Status {
    ++calls;
    return Invalid(place + ": enough");
  };
  const Status status = ReadObjects({"f", "kind: Fabric\n---\nkind: Fabric\n"}, sink);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(status.error().message, "f: document 1: enough");
}

}  // namespace
}  // namespace weft::manifest
