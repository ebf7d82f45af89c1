#include "operator/fabric/rail_sets.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

// Each node's set and rails: "a+3:4 b+3:3 -".
std::string Show(const std::vector<RailLeaves>& nodes) {
  const RailSets sets = GroupByRails(nodes);
  std::string text;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (n > 0) text += ' ';
    if (sets.of_node[n] == kNoSet) {
      text += '-';
    } else {
      text += sets.names[sets.of_node[n]] + ":" + std::to_string(sets.rails_present[n]);
    }
  }
  return text;
}

TEST(RailSetsTest, GroupsNodesThatShareMostOfTheirLeaves) {
  struct Case {
    const char* name;
    std::vector<RailLeaves> nodes;
    const char* want;
  };
  const RailLeaves a = {"a1", "a2", "a3", "a4"}, b = {"b1", "b2", "b3", "b4"};
  const std::vector<Case> cases = {
      {"equal leaves are one set", {a, b, a, b}, "a1+3:4 b1+3:4 a1+3:4 b1+3:4"},
      {"a missing rail joins its majority", {a, a, {"a1", "", "a3", "a4"}}, "a1+3:4 a1+3:4 a1+3:3"},
      {"three missing rails still join", {a, b, {"", "", "b3", ""}}, "a1+3:4 b1+3:4 b1+3:1"},
      {"no rail is no set", {a, {"", "", "", ""}}, "a1+3:4 -"},
      {"a mis-cabled port does not split the set",
       {a, a, b, {"a1", "a2", "a3", "b4"}},
       "a1+3:4 a1+3:4 b1+3:4 a1+3:4"},
      {"swapped rails are the same leaves",
       {a, a, {"a2", "a1", "a3", "a4"}},
       "a1+3:4 a1+3:4 a1+3:4"},
      {"half the leaves are not most",
       {a, b, {"a1", "a2", "b3", "b4"}},
       "a1+a2+a3+a4:4 b1+3:4 a1+a2+b3+b4:4"},
      {"a tie goes to the least set", {b, a, {"a1", "b2", "", ""}}, "b1+3:4 a1+3:4 a1+3:2"},
      {"a set that lacks the same rail everywhere is a set of its own",
       {{"", "c2", "c3", "c4"}, {"", "c2", "c3", "c4"}, a},
       "c2+2:3 c2+2:3 a1+3:4"},
      {"gaps fill up from other members",
       {{"", "c2", "c3", "c4"}, {"c1", "c2", "c3", ""}, {"c1", "", "", ""}},
       "c1+3:3 c1+3:3 c1+3:1"},
      {"one leaf for all rails", {{"l", "l"}, {"l", "l"}, {"m", "m"}}, "l:2 l:2 m:2"},
      {"no node", {}, ""},
  };
  for (const Case& c : cases) EXPECT_EQ(Show(c.nodes), c.want) << c.name;
}

TEST(RailSetsTest, TheOrderOfTheNodesHasNoMeaning) {
  std::vector<RailLeaves> nodes = {{"a1", "a2", "a3"}, {"b1", "b2", "b3"}, {"a1", "a2", "b3"},
                                   {"", "b2", "a3"},   {"a1", "", ""},     {"", "c2", "c3"}};
  std::sort(nodes.begin(), nodes.end());
  const auto partition = [&] {
    std::vector<std::string> all;
    const RailSets sets = GroupByRails(nodes);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      std::string text = sets.names[sets.of_node[n]];
      for (std::string_view leaf : nodes[n]) text.append(" ").append(leaf);
      all.push_back(text);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<std::string> want = partition();
  while (std::next_permutation(nodes.begin(), nodes.end())) ASSERT_EQ(partition(), want);
}

}  // namespace
}  // namespace weft::fabric
