#include "tests/support/source_dir.h"

namespace weft::testing {

std::string SourceDir() { return WEFT_SOURCE_DIR; }

}  // namespace weft::testing
