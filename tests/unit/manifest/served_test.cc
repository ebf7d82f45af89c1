#include "operator/manifest/served.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::manifest {
namespace {

struct Case {
  const char* name;
  Subject subject;
  std::string text;
  std::string want;  // what was kept, or the error
};

std::string Read(const Case& c) {
  const Result<nlohmann::json> read = ReadServed("pods", c.text, c.subject);
  return read ? read->dump() : read.error().message;
}

TEST(ReadServed, KeepsOfTheObjectsInsideWhatTheirKindNeeds) {
  const Case cases[] = {
      {"a watch event's object loses what Weft never reads", Subject::kPod,
       R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","managedFields":[1]},)"
       R"("spec":{"nodeName":"n","dnsConfig":[1]}}})",
       R"({"object":{"kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":"n"}},)"
       R"("type":"ADDED"})"},
      {"items of a list need no kind of their own", Subject::kNode,
       R"({"metadata":{"resourceVersion":"7","continue":"c"},"items":[{"metadata":)"
       R"({"name":"a","resourceVersion":"5","annotations":{}},"status":{"images":[1]}}]})",
       R"({"items":[{"metadata":{"annotations":{},"name":"a","resourceVersion":"5"},"status":{}}],)"
       R"("metadata":{"continue":"c","resourceVersion":"7"}})"},
      {"an error's Status is kept, though the kind is no pod", Subject::kPod,
       R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})",
       R"({"object":{"code":410,"kind":"Status","message":"too old"},"type":"ERROR"})"},
      {"a second value is refused", Subject::kWhole, R"({"type":"ADDED"}{})",
       "pods: line 1: a second document; only one is read here"},
      {"half a line is no JSON", Subject::kWhole, R"({"type":"ADDED","obj)",
       "pods: line 1: not JSON: Missing a closing quotation mark in string."},
      {"a list alone is no object", Subject::kWhole, "[]", "pods: not an object"},
      {"a byte that is not UTF-8", Subject::kWhole, "{\"a\":\"\xff\"}",
       "pods: not UTF-8, or a NUL byte"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(c), c.want) << c.name;
}

}  // namespace
}  // namespace weft::manifest
