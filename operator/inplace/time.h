#pragma once

#include <chrono>

namespace weft::inplace {

// A moment on a clock that never goes back, or a span on it. The caller chooses where it starts.
using Time = std::chrono::milliseconds;

}  // namespace weft::inplace
