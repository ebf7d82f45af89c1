#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/result.h"

namespace weft::manifest {

// Limits for hostile input. Each is a count or a size, never wall time.
struct Limits {
  std::size_t bytes = std::size_t{2} << 30;
  std::size_t depth = 64;
  std::size_t values = 400'000'000;  // scalars, maps and sequences in one text
  std::size_t documents = 2'000'000;
  std::size_t scalar_bytes = std::size_t{4} << 20;
  // What all aliases and merge keys of one text may add: a few lines can stand for any number of
  // values ("billion laughs"). 5,000 nodes with 60 aliased values each have 300,000; a million
  // values take about 100 MB and 0.2 s.
  std::size_t alias_values = 1'000'000;
  std::size_t alias_bytes = std::size_t{64} << 20;
};

// One text, and its name in messages.
struct Source {
  std::string name;  // a path, "-" for standard input
  std::string text;
};

// Called once per object, in order. `place` is "FILE: document 2" or "FILE: document 1: items[7]".
using ObjectSink = std::function<Status(nlohmann::json object, const std::string& place)>;

}  // namespace weft::manifest
