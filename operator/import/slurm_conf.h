#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/import_text.h"

namespace weft::import {

// The lines of a Slurm configuration file, as Slurm's own parser sees them: without comments ('#'
// to the end of the line, unless escaped), joined where a line ends in a backslash, and with
// escapes resolved. Empty lines are skipped.
//
// Source  SchedMD/slurm src/common/parse_config.c, _get_next_line.
class ConfLines {
 public:
  explicit ConfLines(std::string_view text);

  bool Next();  // false at the end
  const std::string& line() const { return line_; }
  std::size_t number() const { return number_; }  // of the first line of the file in it

 private:
  Lines lines_;
  std::string line_;
  std::size_t number_ = 0;
};

struct ConfPair {
  std::string key;  // in lower case
  std::string value;
};

// The pairs of a line, "Key=Value Key = "quoted value"...", in its order. Blanks may stand around
// the '=', before which Slurm accepts one of + - * / too. More lenient than Slurm: a value may be
// empty without quotes at the end of the line or before another "Key=".
//
// Errors  kInvalid without a place.
// Source  SchedMD/slurm src/common/parse_config.c, keyvalue_pattern.
Result<std::vector<ConfPair>> ParseConfPairs(std::string_view line);

// The path of "Include PATH"; "" for any other line.
Result<std::string> IncludedPath(std::string_view line);

}  // namespace weft::import
