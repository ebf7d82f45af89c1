#pragma once

#include <cstddef>

#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::manifest {

// Like ReadObjects; returns the number of documents that were not null (an empty List counts).
Result<std::size_t> ReadStream(const Source& source, const ObjectSink& sink, const Limits& limits);

}  // namespace weft::manifest
