#include "operator/manifest/writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/manifest/reader.h"

namespace weft::manifest {
namespace {

using Json = nlohmann::json;

TEST(ToYaml, WritesBlocks) {
  const auto value = nlohmann::ordered_json::parse(
      R"({"kind":"Node","metadata":{"name":"a","labels":{"x.io/y":"8"}},"empty":{},"none":[],)"
      R"("list":[{"a":1,"b":[true,null]},[2,[3.5]],"64Gi"],"text":"two\nlines"})");
  EXPECT_EQ(
      ToYaml(value),
      "kind: Node\nmetadata:\n  name: a\n  labels:\n    x.io/y: \"8\"\nempty: {}\nnone: []\n"
      "list:\n  - a: 1\n    b:\n      - true\n      - null\n  -\n    - 2\n    -\n      - 3.5\n"
      "  - 64Gi\n"
      "text: \"two\\nlines\"\n");
}

TEST(ToYaml, QuotesWhatAReaderCouldTakeForSomethingElse) {
  for (const char* text : {"",
                           "8",
                           "true",
                           "Null",
                           "~",
                           "y",
                           "No",
                           "1e3",
                           "0x1F",
                           "1_000",
                           "2026-01-01",
                           "1:30",
                           ".inf",
                           "-",
                           "- a",
                           "a: b",
                           "a:",
                           "#a",
                           "a #b",
                           "*a",
                           "&a",
                           "!a",
                           "<<",
                           "=",
                           "%a",
                           "@a",
                           "`a",
                           "{",
                           "[",
                           "'",
                           "\"",
                           "\\",
                           " a",
                           "a ",
                           "a\tb",
                           "a\r\nb",
                           "---",
                           "...",
                           "?",
                           "a,b",
                           "\x7f",
                           "\xC2\x85",
                           "\xE2\x80\xA8",
                           "\xEF\xBB\xBF",
                           "\xC3\xA9",
                           "\xF0\x9F\x98\x80"}) {
    const Json value = {{text, {text}}};
    const std::string yaml = ToYaml(value);
    const Result<Json> again = ReadDocument({"f", yaml});
    ASSERT_TRUE(again) << yaml << again.error().message;
    EXPECT_EQ(*again, value) << yaml;
    EXPECT_EQ(yaml[0], '"') << yaml;
  }
}

TEST(ToYaml, ReadsBackWhatNeedsNoQuotes) {
  for (const char* text : {"a", "gpu-a-01", "nvidia.com/gpu", "weft.dev/v1alpha1", "500m", "1.5T",
                           "/dev/x", "nope", "yesterday", "a:b"}) {
    EXPECT_EQ(ToYaml(Json(text)), std::string(text) + "\n");
    EXPECT_EQ(*ReadDocument({"f", ToYaml(Json(text))}), Json(text));
  }
}

TEST(ToYaml, WritesKeysLongerThanYamlsImplicitOnes) {
  const Json value = {{"a", {{{std::string(2000, 'k'), {{"b", 1}}}}}}};
  const Result<Json> again = ReadDocument({"f", ToYaml(value)});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, value);
}

}  // namespace
}  // namespace weft::manifest
