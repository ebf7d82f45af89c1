#pragma once

namespace weft::world {

// The commit that weft-day was built from, with "-dirty" if tracked files differ from it;
// "unknown" outside a repository. Made at every build by commit.cmake.
extern const char* const kCommit;

}  // namespace weft::world
