#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"

namespace weft::import {

// An Error with the message "FILE: line 12: what".
Error AtLine(const std::string& source, std::size_t line, const std::string& what);

// The text in quotes for a message: at most 60 bytes; unprintable ones become '?'.
std::string Quoted(std::string_view text);

// Whether the text holds one of the words.
bool HasAny(std::string_view text, std::initializer_list<std::string_view> words);

std::string_view Trim(std::string_view text);
std::string LowerCase(std::string_view text);  // ASCII letters only

// Splits a text into lines without their ends ("\n" or "\r\n"); line numbers start at 1.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool Next();  // false at the end
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
  bool done_ = false;
};

// The names in a Slurm host list: "node[01-03,7],login" is node01, node02, node03, node7, login. A
// leading zero fixes the width. Several brackets in a name give all combinations. Commas and blanks
// separate names; empty names are skipped.
//
// Source  SchedMD/slurm src/common/hostlist.c, _hostlist_create_bracketed.
// Errors  kInvalid without a place: a malformed list, more than `limit` names, or a name of more
//         than 253 bytes (the limit of DNS); memory stays bounded.
Result<std::vector<std::string>> ExpandHostList(std::string_view text, std::size_t limit);

}  // namespace weft::import
