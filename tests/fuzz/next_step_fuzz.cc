#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/odd_worlds.h"

// Any bytes as objects in any state: no crash, and no law of odd_worlds.h broken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  for (const std::string& broken : {weft::testing::BrokenLawOfJob({bytes, size}),
                                    weft::testing::BrokenLawOfGang({bytes, size})}) {
    if (broken.empty()) continue;
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
