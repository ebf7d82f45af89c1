#include "operator/import/skipped_lines.h"

#include <utility>

namespace weft::import {
namespace {

constexpr std::size_t kWarningsShown = 20;

}  // namespace

Error SkippedLines::At(const std::string& where, const std::string& what) const {
  return Invalid(source_ + ": " + where + ": " + what);
}

void SkippedLines::Keep(const Error& placed, const char* left_out) {
  if (++all_ <= kWarningsShown) warnings_.push_back(placed.message + left_out);
  if (!first_) first_ = placed;
}

void SkippedLines::SkipLine(const Error& placed) {
  ++lines_;
  Keep(placed, " (the line is left out)");
}

void SkippedLines::SkipLine(const std::string& where, const std::string& what) {
  SkipLine(At(where, what));
}

void SkippedLines::SkipPart(const std::string& where, const std::string& what) {
  Keep(At(where, what), " (left out)");
}

Error SkippedLines::FirstOr(const Error& otherwise) const { return first_.value_or(otherwise); }

Result<ImportedCluster> SkippedLines::Judge(ImportedCluster cluster) const {
  if (lines_ > read_) {
    return Invalid(first_->message + "; " + std::to_string(lines_) + " lines of " +
                   std::to_string(lines_ + read_) + " cannot be read");
  }
  cluster.warnings.insert(cluster.warnings.end(), warnings_.begin(), warnings_.end());
  if (all_ > kWarningsShown) {
    cluster.warnings.push_back(source_ + ": " + std::to_string(all_ - kWarningsShown) +
                               " more lines or parts of lines are left out");
  }
  return cluster;
}

}  // namespace weft::import
