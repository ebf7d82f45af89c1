#include "operator/manifest/locate.h"

#include <gtest/gtest.h>

namespace weft::manifest {
namespace {

const std::string kYaml =
    "apiVersion: v1\n"                      // 1
    "spec:\n"                               // 2
    "  workers:\n"                          // 3
    "    replicas: 8\n"                     // 4
    "  levels:\n"                           // 5
    "  - name: spine\n"                     // 6
    "  - name: leaf\n"                      // 7
    "    labelKey: a\n"                     // 8
    "  selector: {matchLabels: {a/b: c,\n"  // 9
    "    d.e/f: g}}\n"                      // 10
    "---\n"                                 // 11
    "# another\n"                           // 12
    "kind: List\n"                          // 13
    "items:\n"                              // 14
    "- {kind: Node}\n"                      // 15
    "- kind: Node\n"                        // 16
    "  metadata:\n"                         // 17
    "    name: n2\n";                       // 18

const std::string kJson =
    "{\"kind\": \"List\",\n"           // 1
    " \"items\": [\n"                  // 2
    "  {\"kind\": \"Node\",\n"         // 3
    "   \"spec\": {\"taints\": [1,\n"  // 4
    "     {\"key\":\n"                 // 5
    "       \"x\"}]}}]}\n"             // 6
    "{\"kind\": \"Pod\"}\n";           // 7

TEST(LineOf, FindsTheKeyOfTheValue) {
  struct Case {
    const char* name;
    const std::string& text;
    ValuePlace place;
    std::optional<std::size_t> want;
  };
  const Case cases[] = {
      {"a field", kYaml, {1, {}, "spec.workers.replicas"}, 4},
      {"a map", kYaml, {1, {}, "spec.workers"}, 3},
      {"an absent field is where its map is", kYaml, {1, {}, "spec.workers.template.spec"}, 3},
      {"a field that starts alike is another", kYaml, {1, {}, "spec.worker"}, 2},
      {"an element of a list", kYaml, {1, {}, "spec.levels[1]"}, 7},
      {"a field of an element", kYaml, {1, {}, "spec.levels[1].labelKey"}, 8},
      {"an element that is not there", kYaml, {1, {}, "spec.levels[2].name"}, 5},
      {"a key with dots and slashes", kYaml, {1, {}, "spec.selector.matchLabels[d.e/f]"}, 10},
      {"the document", kYaml, {1, {}, ""}, 1},
      {"the second document", kYaml, {2, {}, ""}, 13},
      {"an item of a List", kYaml, {2, 1, ""}, 16},
      {"a field of an item", kYaml, {2, 1, "metadata.name"}, 18},
      {"a document that is not there", kYaml, {3, {}, "kind"}, std::nullopt},
      {"JSON: an item", kJson, {1, 0, ""}, 3},
      {"JSON: a key before its value's line", kJson, {1, 0, "spec.taints[1].key"}, 5},
      {"JSON: the second value", kJson, {2, {}, "kind"}, 7},
  };
  for (const Case& c : cases) EXPECT_EQ(LineOf(c.text, c.place), c.want) << c.name;
}

TEST(LineOf, FindsTheAliasOrTheMergeKeyThatStandsForTheValue) {
  const std::string text =
      "a: &a\n"         // 1
      "  b: {c: 1}\n"   // 2
      "d: &d e\n"       // 3
      "f:\n"            // 4
      "  g: *a\n"       // 5
      "  h: [1,\n"      // 6
      "    *a]\n"       // 7
      "i:\n"            // 8
      "  *d : 1\n"      // 9
      "  j: 2\n"        // 10
      "k:\n"            // 11
      "  l: {c: 1}\n"   // 12
      "  <<: {m: 1,\n"  // 13
      "    n: 2}\n";    // 14
  const std::pair<const char*, std::size_t> cases[] = {
      {"f.g.b.c", 5}, {"f.h[1].b", 7}, {"i.j", 10}, {"k.n", 13}, {"k.l.c", 12}, {"k", 11},
  };
  for (const auto& [path, want] : cases) EXPECT_EQ(LineOf(text, {1, {}, path}), want) << path;
}

TEST(LineOf, StopsWhereTheTextCannotBeRead) {
  EXPECT_EQ(LineOf("a: 1\nb: [\n", {1, {}, "b"}), 2U);
  EXPECT_EQ(LineOf("{\"a\": {\"b\": x", {1, {}, "a.b"}), 1U);
  EXPECT_EQ(LineOf("", {1, {}, "a"}), std::nullopt);
}

TEST(WithLine, PutsTheLineBehindTheSourcesName) {
  const std::vector<Source> sources = {{"a.yaml", kYaml}, {"dir/a.yaml: b", kJson}};
  const std::pair<const char*, const char*> cases[] = {
      {"a.yaml: document 1: Fabric f: spec.levels[0].name: is wrong",
       "a.yaml: line 6: document 1: Fabric f: spec.levels[0].name: is wrong"},
      {"a.yaml: document 2: items[1]: Node n2: metadata.name: is wrong",
       "a.yaml: line 18: document 2: items[1]: Node n2: metadata.name: is wrong"},
      {"a.yaml: document 2: the same object as another: it is",
       "a.yaml: line 13: document 2: the same object as another: it is"},
      {"dir/a.yaml: b: document 2: Pod p: kind: is wrong",
       "dir/a.yaml: b: line 7: document 2: Pod p: kind: is wrong"},
      {"a.yaml: spec.workers.replicas: 8 is wrong",
       "a.yaml: line 4: spec.workers.replicas: 8 is wrong"},
      {"a.yaml: line 2: not YAML", "a.yaml: line 2: not YAML"},
      {"b.yaml: document 1: no such source", "b.yaml: document 1: no such source"},
      {"a.yaml: document x", "a.yaml: document x"},
  };
  for (const auto& [message, want] : cases) EXPECT_EQ(WithLine(sources, message), want);
}

}  // namespace
}  // namespace weft::manifest
