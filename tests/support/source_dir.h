#pragma once

#include <string>

namespace weft::testing {

// The folder of the source tree, absolute.
std::string SourceDir();

}  // namespace weft::testing
