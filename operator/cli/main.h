#pragma once

namespace weft::cli {

// The command line of `weft`. Returns the process's exit code: 0 done; 1 a failure outside the
// input; 2 bad usage or input; 3 something could not be placed.
int Main(int argc, char** argv);

}  // namespace weft::cli
