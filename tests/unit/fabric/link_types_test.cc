#include "operator/fabric/link_types.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

TEST(LinkTypesTest, FiguresAreBytesPerSecondInOneDirection) {
  struct Case {
    const char* name;
    std::int64_t megabytes_per_second;
  };
  const Case cases[] = {
      {"NVLink2", 150'000},       {"NVLink3", 300'000},      {"NVLink4", 450'000},
      {"NVLink5", 900'000},       {"PCIeGen3", 15'750},      {"PCIeGen4", 31'500},
      {"PCIeGen5", 63'000},       {"PCIeGen6", 121'000},     {"InfiniBandFDR", 6'800},
      {"InfiniBandEDR", 12'500},  {"InfiniBandHDR", 25'000}, {"InfiniBandNDR", 50'000},
      {"InfiniBandXDR", 100'000}, {"RoCE100", 12'500},       {"RoCE200", 25'000},
      {"RoCE400", 50'000},        {"RoCE800", 100'000},      {"xGMIMI300X", 448'000},
  };
  for (const Case& c : cases) {
    const auto type = FindLinkType(c.name);
    ASSERT_TRUE(type) << c.name;
    EXPECT_EQ(type->bandwidth_per_gpu, c.megabytes_per_second * 1'000'000) << c.name;
  }
}

TEST(LinkTypesTest, EveryTypeHasOneNameAFigureAndASource) {
  std::set<std::string_view> names;
  for (const LinkType& type : KnownLinkTypes()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_GT(type.bandwidth_per_gpu, 0) << type.name;
    EXPECT_FALSE(type.source.empty()) << type.name;
  }
  EXPECT_FALSE(FindLinkType("InfiniBandndr"));
  EXPECT_FALSE(FindLinkType(""));
}

}  // namespace
}  // namespace weft::fabric
