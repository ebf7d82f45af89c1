#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::quality {

// Most that the mean and the worst ratio of a cell may be.
inline constexpr double kMostMean = 1.003;
inline constexpr double kMostWorst = 1.02;

struct Column {
  std::vector<double> values;

  double Mean() const;
  double Worst() const;
  double Quantile(double share) const;  // 0.5 is the median
};

struct Measured {
  double cost = 0;  // over the best known
  double over_bound = 0;
  double milliseconds = 0;
  bool missed = false;  // preferences that the best known placement reaches
  bool known = false;   // somebody searched for the best placement before
};

// The instances of one family and size.
struct Cell {
  Column over_best;   // of instances that reach the best known preferences
  Column over_bound;  // of the plan's own bound
  Column milliseconds;
  std::uint32_t missed = 0;   // instances that miss preferences that the best known one reaches
  std::uint32_t unknown = 0;  // instances that nobody searched before

  void Add(const Measured& instance);
  bool InGoal() const;
};

// A Markdown table with one row for each family and size, and a line about all of them.
class Table {
 public:
  void PrintHeading() const;
  void Add(std::string_view family, std::uint32_t workers, const Cell& cell);
  void PrintSummary() const;

 private:
  Cell all_;
  std::size_t cells_ = 0;
  std::vector<std::string> outside_;  // cells outside the goal
};

}  // namespace weft::quality
