#include "operator/base/shared_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weft {
namespace {

using List = SharedList<std::string>;

TEST(SharedListTest, ReadsLikeAVector) {
  List list = {"c", "a", "b"};
  list.push_back("d");
  EXPECT_EQ(list.size(), 4U);
  EXPECT_EQ(list.front() + list[1] + list.back(), "cad");
  EXPECT_EQ(*std::max_element(list.begin(), list.end()), "d");
  std::string all;
  for (const std::string& text : list) all += text;
  EXPECT_EQ(all, "cabd");
}

TEST(SharedListTest, CopiesShareTheirValues) {
  const List list = {"a", "b"};
  const List copy = list;
  EXPECT_EQ(&copy[1], &list[1]);
}

TEST(SharedListTest, AnEditIsSeenInOneListAlone) {
  List list = {"a", "b"};
  const List copy = list;
  list.Edit(1) += "!";
  EXPECT_EQ(list[1], "b!");
  EXPECT_EQ(copy[1], "b");
  EXPECT_EQ(&copy[0], &list[0]);
}

TEST(SharedListTest, AReplacementIsSeenInOneListAlone) {
  List list = {"a"};
  const List copy = list;
  list.Replace(0, std::make_shared<const std::string>("z"));
  EXPECT_EQ(list[0], "z");
  EXPECT_EQ(copy[0], "a");
}

}  // namespace
}  // namespace weft
