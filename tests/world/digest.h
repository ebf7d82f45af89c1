#pragma once

#include <cstdint>
#include <string_view>

#include "tests/world/api_server.h"

namespace weft::world {

// A number for a history: equal for equal ones, and different for others but for one in 2^64. It
// depends on no address, no order of a hash table and no build.
// How  each part is mixed in as its length and its bytes, eight at a time, as FNV-1a does with one;
//      an object of JSON as its types, names and values in the order of their names.
class Digest {
 public:
  void Mix(std::uint64_t value);
  void Mix(std::string_view text);
  void MixJson(const Json& value);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

}  // namespace weft::world
