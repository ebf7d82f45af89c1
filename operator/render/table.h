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

// Aligns cells in columns, two spaces apart. Widths count UTF-8 code points.
// Cost  O(cells).
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row. Missing cells at its end are empty; cells beyond the last column are dropped.
  void Add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // The length of the longest line in characters.
  std::size_t Width() const;
  // The table as text with a title line; escape codes only if `colour`.
  std::string Show(bool colour) const;

 private:
  std::vector<std::size_t> Widths() const;  // by column

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// The text in the colour if `on`, else unchanged.
std::string Paint(const std::string& text, Colour colour, bool on);

// 1234567 -> "1,234,567".
std::string Grouped(std::int64_t value);
// "1.37x", "12.4x", "530x"; "-" if only the denominator is 0.
std::string Ratio(double numerator, double denominator);

}  // namespace weft::render
