#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::render {

enum class Align : std::uint8_t { kLeft, kRight };
enum class Colour : std::uint8_t { kNone, kBold, kDim, kGreen, kYellow, kRed };

struct Cell {
  std::string text;
  Colour colour = Colour::kNone;
};

// Lines up cells in columns, two spaces apart. Width is counted in UTF-8 code points.
// Cost  O(cells).
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty; more cells than columns are dropped.
  void Add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Characters of the longest line.
  std::size_t Width() const;
  // Text with a title line; escape codes only where `colour`.
  std::string Show(bool colour) const;

 private:
  std::vector<std::size_t> Widths() const;  // by column

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// The text in the colour, or as it is.
std::string Paint(const std::string& text, Colour colour, bool on);

// 1234567 -> "1,234,567".
std::string Grouped(std::int64_t value);
// "1.37x", "12.4x", "530x"; "-" where the denominator is 0 and the numerator is not.
std::string Ratio(double numerator, double denominator);

}  // namespace weft::render
