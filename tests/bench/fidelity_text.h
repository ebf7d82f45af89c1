#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::fidelity {

// Rows of a CSV file without its heading, cells without quotes. The program ends with a message
// where the file cannot be read.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path);
std::int64_t Whole(const std::string& text);

}  // namespace weft::fidelity
