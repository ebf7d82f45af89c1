# Writes the source that defines kCommit (commit.h), but only if the commit is another one, so that
# nothing else is compiled again:  cmake -DSOURCE=<tree> -DOUT=<file> -P commit.cmake
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --match=
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT [[
#include "tests/world/commit.h"

namespace weft::world {
const char* const kCommit = "@commit@";
}  // namespace weft::world
]] @ONLY)
