#pragma once

#include <cstddef>

#include "operator/manifest/reader.h"

namespace weft::manifest {

// ReadObjects that also counts the documents that were not null (an empty List is one).
Result<std::size_t> ReadStream(const Source& source, const ObjectSink& sink, const Limits& limits);

}  // namespace weft::manifest
