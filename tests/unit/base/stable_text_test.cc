#include "operator/base/stable_text.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Case {
  std::string name, text, want;  // the name reads as a sentence
};

TEST(StableTextTest, LeavesOutWhatDiffersFromTryToTry) {
  const Case cases[] = {
      {"a plain message stays", R"(configmap "none" not found)", R"(configmap "none" not found)"},
      {"the port of a client goes", "read udp 10.0.0.1:43211->10.96.0.10:53: i/o timeout",
       "read udp 10.0.0.1->10.96.0.10:53: i/o timeout"},
      {"the port of a server stays", "dial tcp 10.0.0.1:443: connect: connection refused",
       "dial tcp 10.0.0.1:443: connect: connection refused"},
      {"the id of a sandbox goes", R"(network for sandbox "0a1b2c3d4e5f60718293a4b5c6d7e8f9": no)",
       R"(network for sandbox "...": no)"},
      {"a uid goes", "RequestID: 6a3f7e01-9c8d-4b2e-8f00-1234567890ab, denied",
       "RequestID: ..., denied"},
      {"names of hexadecimal digits stay", R"(configmap "20261128-1452", secret "deadbeef0001")",
       R"(configmap "20261128-1452", secret "deadbeef0001")"},
      {"names of objects stay", "volume pvc-0a1b2c3d4e5f of node gpu-a-000000000012",
       "volume pvc-0a1b2c3d4e5f of node gpu-a-000000000012"},
      {"words of hexadecimal letters stay", "decade-facade-added", "decade-facade-added"},
      {"durations go", "timed out after 2m3.5s (500ms, 1h)", "timed out after ... (..., ...)"},
      {"sizes and versions stay", "5Gi of 10 GB, v1.36.3, 8s4", "5Gi of 10 GB, v1.36.3, 8s4"},
      {"of lines the first and the output stay",
       "mount failed: exit status 32\nMounting command: mount\nOutput: mount.nfs: timed out\nx",
       "mount failed: exit status 32 Output: mount.nfs: timed out"},
      {"control characters go", "a\tb \x1b[31mred", "a b [31mred"},
      {"nothing is nothing", "", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(StableText(c.text, 256), c.want) << c.name;
  EXPECT_EQ(StableText("a longer message", 10), "a ...ssage");
  EXPECT_EQ(StableText("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 10),
            "\u00e9...\u00e9\u00e9");
}

TEST(StableTextTest, IsTheSameForAllTries) {
  const auto of = [](const char* port, const char* id) {
    return StableText("sandbox \"" + std::string(id) + "\": 10.0.0.1:" + port + "->10.0.0.2:53",
                      256);
  };
  EXPECT_EQ(of("40000", "0123456789abcdef0123456789abcdef"),
            of("41234", "fedcba9876543210fedcba9876543210"));
}

TEST(OneLineTest, KeepsTheEndOfAText) {
  const Case cases[] = {
      {"lines are joined", "Traceback:\n  File \"x\"\n\nValueError: bad\n",
       "Traceback: File \"x\" ValueError: bad"},
      {"rules are shortened", "------------\n=====\na...b", "--- === a...b"},
      {"a long one loses its beginning", std::string(60, 'x') + " the end",
       "..." + std::string(29, 'x') + " the end"},
      {"no character is cut in two", "\u00e9\u00e9\u00e9" + std::string(36, 'y'),
       "..." + std::string(36, 'y')},
      {"NUL and escapes go", std::string("a\0b\x1b[0m\x7f", 8), "a b [0m"},
  };
  for (const Case& c : cases) EXPECT_EQ(OneLine(c.text, 40), c.want) << c.name;
  EXPECT_EQ(OneLine("abcdef", 2), "ef");
}

}  // namespace
}  // namespace weft
