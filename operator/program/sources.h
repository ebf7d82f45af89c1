#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::program {

// Reads the texts that `-f` names, in the given order: files, folders (their .yaml, .yml and .json
// files by name, not recursive), and `-` for standard input.
// Errors  kInvalid "PATH: ..." if it is missing or holds no manifest; kTransient if reading
//         fails.
Result<std::vector<manifest::Source>> ReadSources(const std::vector<std::string>& paths);

Result<manifest::Source> ReadSource(const std::string& path);

// Writes to a file, or to standard output for "-".
Status WriteText(const std::string& path, const std::string& text);

}  // namespace weft::program
