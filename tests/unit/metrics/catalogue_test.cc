#include "operator/metrics/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/support/source_dir.h"

namespace weft::metrics {
namespace {

const std::string kDocument = testing::SourceDir() + "/operator/docs/metrics.md";
constexpr const char* kBegin = "<!-- begin of the catalogue -->\n";
constexpr const char* kEnd = "\n<!-- end of the catalogue -->";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// To write the tables anew: WEFT_WRITE_DOCS=1 build/tests/metrics_test
TEST(CatalogueTest, IsWhatTheDocumentShows) {
  std::string document = ReadFile(kDocument);
  const std::size_t begin = document.find(kBegin), end = document.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << kDocument;
  const std::size_t from = begin + std::string(kBegin).size();
  if (std::getenv("WEFT_WRITE_DOCS") != nullptr) {
    document.replace(from, end - from, CatalogueTables());
    std::ofstream(kDocument) << document;
    return;
  }
  EXPECT_EQ(document.substr(from, end - from), CatalogueTables())
      << "written anew by WEFT_WRITE_DOCS=1 build/tests/metrics_test";
}

// promtool says the rest of what it would complain about: tests/e2e/metrics_test.sh.
TEST(CatalogueTest, NamesFollowOpenMetrics) {
  std::set<std::string_view> names;
  for (const Metric& metric : Catalogue()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name << " stands twice";
    const bool ours = metric.name.starts_with("weft_") || metric.name.starts_with("process_");
    EXPECT_TRUE(ours) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == Type::kCounter) << metric.name;
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.name << ": a help text is a sentence";
    const bool timed = metric.type != Type::kHistogram || metric.name.ends_with("_seconds");
    EXPECT_TRUE(timed) << metric.name;
  }
}

// Prometheus puts its own labels of these names on what it scrapes, and renames ours.
TEST(CatalogueTest, HasNoLabelThatScrapingRenames) {
  const std::set<std::string_view> taken = {"job",  "instance",  "namespace", "pod",
                                            "node", "container", "service",   "endpoint"};
  for (const Metric& metric : Catalogue()) {
    for (std::size_t i = 0; i < metric.label_count(); ++i) {
      EXPECT_FALSE(taken.contains(metric.labels[i])) << metric.name << ": " << metric.labels[i];
    }
  }
}

TEST(CatalogueTest, BucketsRise) {
  for (const Metric& metric : Catalogue()) {
    if (metric.type != Type::kHistogram) continue;
    const auto bounds = BucketsOf(metric.id);
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end())) << metric.name;
    EXPECT_GT(bounds.size(), 5U) << metric.name;
  }
}

}  // namespace
}  // namespace weft::metrics
