#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/import_text.h"

namespace weft::simulate {

// The lines of a table whose first line names the columns. Cells are separated by one character;
// with ',' a cell may stand in double quotes.
//
// Errors  kInvalid, "FILE: line N: column NAME: ...".
class TraceColumns {
 public:
  TraceColumns(std::string source, std::string_view text, char separator);

  // Reads the header. The columns can then be found by any of several names.
  Status ReadHeader();
  std::optional<std::size_t> Find(std::initializer_list<std::string_view> names) const;
  Result<std::size_t> Need(std::initializer_list<std::string_view> names) const;

  // The next line that is not blank; false at the end. A line with fewer cells than the header is
  // an error.
  Result<bool> Next();
  std::string_view cell(std::size_t column) const { return cells_[column]; }
  std::size_t line() const { return lines_.number(); }

  // The cell as a value. Counts are whole numbers, seconds may have a fraction and are not
  // negative.
  Result<std::uint32_t> Count(std::size_t column) const;
  Result<std::int64_t> Whole(std::size_t column) const;
  Result<double> Number(std::size_t column) const;
  Result<std::int64_t> MicrosOf(std::size_t column) const;
  // Seconds since 1970 in microseconds, of "2017-10-09 07:01:55" (a T for the space, and an offset,
  // are accepted), or seconds of a clock of the trace's own.
  Result<std::int64_t> Time(std::size_t column) const;
  // "1-02:03:04", "02:03:04" or "03:04", as Slurm writes durations.
  Result<std::int64_t> Duration(std::size_t column) const;

  Error At(std::size_t column, const std::string& what) const;
  Error AtLine(const std::string& what) const;

 private:
  Status Split(std::string_view line);

  std::string source_;
  import::Lines lines_;
  char separator_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
};

}  // namespace weft::simulate
