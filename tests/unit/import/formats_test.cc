#include "operator/import/formats.h"

#include <gtest/gtest.h>

namespace weft::import {
namespace {

struct Case {
  std::string name;  // reads as a sentence
  std::string text;
  ImportRequest request;
  std::string want;  // part of the error
};

TEST(FormatsTest, ChooseTheImporterOrSayWhatIsRead) {
  const std::string formats =
      "an ibnetdiscover dump, a topograph model, a Slurm topology.conf or topology.yaml";
  const std::vector<Case> cases = {
      {"an unknown text", "hello\n", {}, "f: is not " + formats + "; for a table with a row"},
      {"a trace of jobs", "job_id,submit\n", {}, "reads the network between nodes: " + formats},
      {"an NCCL topology", "<system version=\"1\">\n", {}, "describes the inside of one node"},
      {"a format by its text is asked for one topology",
       "SwitchName=a Nodes=n[1-2]\n",
       {.topology = "gpu"},
       "--topology: f holds one topology"},
      {"so is an unknown text", "hello\n", {.topology = "gpu"}, "--topology: f holds one topology"},
      {"levels ask for a table, whatever the text is",
       "SwitchName=a Nodes=n[1-2]\n",
       {.table = {{"rack"}, {}}},
       "f: line 1: no column \"rack\""},
  };
  for (const Case& c : cases) {
    const auto cluster = Import({"f", c.text}, c.request);
    ASSERT_FALSE(cluster) << c.name;
    EXPECT_NE(cluster.error().message.find(c.want), std::string::npos)
        << c.name << ": " << cluster.error().message;
  }
}

TEST(FormatsTest, RecogniseTheirOwnTextAlone) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"switchguid=0x1\n", "ibnetdiscover"},
      {"SwitchName=a Nodes=n\n", "slurm"},
      {"- topology: t\n  tree: {switches: []}\n", "slurm"},
      {"switches:\n  a: {}\n", "topograph"},
      {"{\"switches\": {}}\n", "topograph"},
      {"node,rack\n", ""},
  };
  for (const auto& [text, want] : cases) {
    std::string found;
    for (const Format& format : Formats()) {
      if (format.recognises != nullptr && format.recognises(text)) found += format.name;
    }
    EXPECT_EQ(found, want) << text;
  }
}

TEST(FormatsTest, ReadAFileOfANamedFormat) {
  ImportRequest request;
  request.format = "slurm";
  const auto cluster = Import({"f", "SwitchName=a Nodes=n[1-2]\n"}, request);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nodes.size(), 2U);
}

}  // namespace
}  // namespace weft::import
