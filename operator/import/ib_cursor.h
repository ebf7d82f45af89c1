#pragma once

#include <cstddef>
#include <string_view>

namespace weft::import {

// Takes parts off the front of a line that ibnetdiscover prints. A Take that does not match returns
// false and takes nothing.
class IbCursor {
 public:
  explicit IbCursor(std::string_view text) : text_(text) {}

  void SkipBlank();
  bool Take(std::string_view word);
  bool TakeNumber(int* value);  // from 0 to 65,535, which is the greatest LID
  // Takes all up to a blank or the end; at least one character.
  bool TakeWord(std::string_view* word);
  // Takes the text between `open` and `close`.
  bool TakeBetween(char open, char close, std::string_view* inside);
  bool TakeBracketedNumber(int* value);
  // Skips "[ext 12]" of -g, with or without a blank before it.
  void SkipExternalPort();

  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

// Whether the text is a hexadecimal number of at most 16 digits.
bool IsGuid(std::string_view text);
// Whether the text is a width and a rate, such as "4xNDR" or "12xSDR".
bool IsIbSpeed(std::string_view text);

}  // namespace weft::import
