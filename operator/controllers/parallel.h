#pragma once

#include <cstddef>
#include <functional>

namespace weft::controllers {

// Calls `work` once for every index below `count`, up to `most` at a time, in the caller's and in
// threads of its own; returns when all are done. A call that returns false lets no further one
// start.
void ForEach(std::size_t count, std::size_t most, const std::function<bool(std::size_t)>& work);

}  // namespace weft::controllers
