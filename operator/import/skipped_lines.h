#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"

namespace weft::import {

// What an importer cannot read in a file and leaves out: whole lines, and parts of lines.
//
// A few of them are warnings, as one damaged line does not make the rest of a fabric unknown. A
// file that has more such lines than others, or that gives no cluster without them, is refused with
// the first of them.
class SkippedLines {
 public:
  explicit SkippedLines(std::string source) : source_(std::move(source)) {}

  // `where`: "line 12".
  void SkipLine(const std::string& where, const std::string& what);
  void SkipLine(const Error& placed);  // "FILE: line 12: what"
  void SkipPart(const std::string& where, const std::string& what);
  void CountRead() { ++read_; }

  // The error of a file that gives no cluster: its first skipped line or part, else `otherwise`.
  Error FirstOr(const Error& otherwise) const;

  // Adds the warnings to the cluster.
  // Errors  kInvalid, the first skipped line: more lines are skipped than read.
  Result<ImportedCluster> Judge(ImportedCluster cluster) const;

 private:
  void Keep(const Error& placed, const char* left_out);
  Error At(const std::string& where, const std::string& what) const;

  std::string source_;
  std::size_t read_ = 0, lines_ = 0, all_ = 0;
  std::optional<Error> first_;
  std::vector<std::string> warnings_;  // the first few
};

}  // namespace weft::import
