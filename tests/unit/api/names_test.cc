#include "operator/api/names.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "operator/traffic/spec.h"

namespace weft::api {
namespace {

struct Case {
  std::string name;  // reads as a sentence
  std::string text;
  bool job, fabric, level, qualified, extended;
};

TEST(NamesTest, EachKindOfNameHasItsAlphabet) {
  const std::string x39(39, 'x'), x63(63, 'x'), x253(253, 'x');
  // clang-format off
  const std::vector<Case> cases = {
      //                                                         job    fabric level  qual.  extended
      {"nothing is no name", "",                                 false, false, false, false, false},
      {"one letter is a name", "a",                              true,  true,  true,  true,  false},
      {"a digit starts no job and no level", "1a",               false, true,  false, true,  false},
      {"upper case is for levels and keys", "DSW",               false, false, true,  true,  false},
      {"a hyphen ends nothing", "a-",                            false, false, false, false, false},
      {"dots are not for jobs", "a.b",                           false, true,  true,  true,  false},
      {"underscores are for levels and keys", "tier_1",          false, false, true,  true,  false},
      {"40 characters fit a job", "a" + x39,                     true,  true,  true,  true,  false},
      {"41 characters do not", "aa" + x39,                       false, true,  false, true,  false},
      {"63 characters fit a label", x63,                         false, true,  false, true,  false},
      {"64 characters do not", "x" + x63,                        false, false, false, false, false},
      {"a prefix makes a resource", "nvidia.com/gpu",            false, false, false, true,  true},
      {"Kubernetes' own prefix does not", "kubernetes.io/gpu",   false, false, false, true,  false},
      {"nor one below it", "x.kubernetes.io/gpu",                false, false, false, true,  false},
      {"nor a quota's", "requests.nvidia.com/gpu",               false, false, false, true,  false},
      {"a prefix of 253 characters fits", x253 + "/gpu",         false, false, false, true,  true},
      {"a prefix of 254 does not", "x" + x253 + "/gpu",          false, false, false, false, false},
      {"a prefix needs a name", "nvidia.com/",                   false, false, false, false, false},
      {"two slashes are too many", "a/b/c",                      false, false, false, false, false},
      {"a space is never good", "a b",                           false, false, false, false, false},
      {"nor is what is not ASCII", "b\xC3\xA9" "b",              false, false, false, false, false},
      {"nor is a zero byte", std::string("a\0b", 3),             false, false, false, false, false},
  };
  // clang-format on
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(IsJobName(c.text), c.job);
    EXPECT_EQ(IsFabricName(c.text), c.fabric);
    EXPECT_EQ(IsLevelName(c.text), c.level);
    EXPECT_EQ(IsQualifiedName(c.text), c.qualified);
    EXPECT_EQ(IsExtendedResource(c.text), c.extended);
  }
}

TEST(NamesTest, AxesAreNamedAsTrafficNamesThem) {
  ASSERT_EQ(kMeasuredAxisNames.size(), static_cast<std::size_t>(traffic::kAxisCount));
  for (std::size_t i = 0; i < kMeasuredAxisNames.size(); ++i) {
    EXPECT_EQ(kMeasuredAxisNames[i], traffic::AxisName(static_cast<traffic::Axis>(i)));
  }
  EXPECT_TRUE(
      std::equal(kGroupAxisNames.begin(), kGroupAxisNames.end(), kMeasuredAxisNames.begin()));
  EXPECT_TRUE(std::equal(kRankAxisNames.begin(), kRankAxisNames.end(), kMeasuredAxisNames.begin()));
}

}  // namespace
}  // namespace weft::api
