#include "operator/cli/main.h"

#include <iostream>
#include <new>
#include <string_view>

#include "operator/cli/command_line.h"

namespace weft::cli {

int Main(int argc, char** argv) {
  try {
    CommandLine line;
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {
      return line.Complete({argv + 2, argv + argc});
    }
    return line.Run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "weft: out of memory\n";
    return kFailed;
  }
}

}  // namespace weft::cli
