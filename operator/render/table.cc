#include "operator/render/table.h"

#include <algorithm>
#include <cstdio>

#include "operator/base/utf8.h"

namespace weft::render {

namespace {

constexpr std::size_t kGap = 2;  // spaces between columns

const char* Code(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kRed:
      return "\x1b[31m";
  }
  return "";
}

void Trim(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

}  // namespace

std::string Paint(const std::string& text, Colour colour, bool on) {
  if (!on || colour == Colour::kNone || text.empty()) return text;
  return Code(colour) + text + "\x1b[0m";
}

std::vector<std::size_t> Table::Widths() const {
  std::vector<std::size_t> width;
  for (const Column& column : columns_) width.push_back(CodePoints(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < std::min(row.size(), width.size()); ++i) {
      width[i] = std::max(width[i], CodePoints(row[i].text));
    }
  }
  return width;
}

std::size_t Table::Width() const {
  std::size_t sum = 0;
  for (const std::size_t width : Widths()) sum += (sum == 0 ? 0 : kGap) + width;
  return sum;
}

std::string Table::Show(bool colour) const {
  const std::vector<std::size_t> width = Widths();
  std::string out;
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell cell = i < cells.size() ? cells[i] : Cell{};
      const std::string space(width[i] - CodePoints(cell.text), ' ');
      const std::string painted = Paint(cell.text, cell.colour, colour);
      if (i > 0) text += std::string(kGap, ' ');
      text += columns_[i].align == Align::kRight ? space + painted : painted + space;
    }
    Trim(text);
    out += text + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Colour::kBold});
  line(titles);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string Grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string Ratio(double numerator, double denominator) {
  if (denominator == 0) return numerator == 0 ? "1.00x" : "-";
  const double ratio = numerator / denominator;
  char text[32];
  std::snprintf(text, sizeof text, ratio < 10 ? "%.2fx" : ratio < 100 ? "%.1fx" : "%.0fx", ratio);
  return text;
}

}  // namespace weft::render
