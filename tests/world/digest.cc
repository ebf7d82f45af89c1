#include "tests/world/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace weft::world {
namespace {

constexpr std::uint64_t kFnvPrime = 1'099'511'628'211ULL;

}  // namespace

// The product moves bits up alone; the shift brings them down again.
void Digest::Mix(std::uint64_t value) {
  value_ = (value_ ^ value) * kFnvPrime;
  value_ ^= value_ >> 32;
}

void Digest::Mix(std::string_view text) {
  Mix(std::uint64_t{text.size()});
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), count);
    Mix(word);
    text.remove_prefix(count);
  }
}

void Digest::MixJson(const Json& value) {
  Mix(static_cast<std::uint64_t>(value.type()));
  if (value.is_object()) {
    Mix(std::uint64_t{value.size()});
    for (const auto& [name, member] : value.items()) {
      Mix(std::string_view(name));
      MixJson(member);
    }
  } else if (value.is_array()) {
    Mix(std::uint64_t{value.size()});
    for (const Json& item : value) MixJson(item);
  } else if (value.is_string()) {
    Mix(std::string_view(value.get_ref<const std::string&>()));
  } else if (value.is_number_float()) {
    Mix(std::bit_cast<std::uint64_t>(value.get<double>()));
  } else if (value.is_number()) {
    Mix(static_cast<std::uint64_t>(value.get<std::int64_t>()));
  } else if (value.is_boolean()) {
    Mix(std::uint64_t{value.get<bool>()});
  }
}

}  // namespace weft::world
