#include "operator/program/sources.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace weft::program {

namespace fs = std::filesystem;

namespace {

bool IsManifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

Error Failed(const std::string& path) {
  const int code = errno;
  const std::string why = code == 0 ? "cannot be read" : std::strerror(code);
  return {code == ENOENT || code == EACCES ? ErrorKind::kInvalid : ErrorKind::kTransient,
          path + ": " + why};
}

Status AddFolder(const std::string& folder, std::vector<manifest::Source>& sources) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->is_regular_file(code) && IsManifest(it->path())) names.push_back(it->path().string());
  }
  if (code) return Invalid(folder + ": " + code.message());
  if (names.empty()) return Invalid(folder + ": holds no .yaml, .yml or .json file");
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    auto source = ReadSource(name);
    if (!source) return source.error();
    sources.push_back(*std::move(source));
  }
  return {};
}

}  // namespace

Result<manifest::Source> ReadSource(const std::string& path) {
  if (path == "-") {
    // Standard input can only be read once, so later calls get the same text.
    static const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    return manifest::Source{"-", text};
  }
  std::error_code code;
  if (fs::is_directory(path, code)) return Invalid(path + ": is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failed(path);
  std::string text;
  const auto size = fs::file_size(path, code);
  if (!code) text.reserve(size);
  char block[1 << 16];
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Failed(path);
  return manifest::Source{path, std::move(text)};
}

Result<std::vector<manifest::Source>> ReadSources(const std::vector<std::string>& paths) {
  std::vector<manifest::Source> sources;
  for (const std::string& path : paths) {
    std::error_code code;
    if (path != "-" && fs::is_directory(path, code)) {
      if (const Status added = AddFolder(path, sources); !added) return added.error();
      continue;
    }
    auto source = ReadSource(path);
    if (!source) return source.error();
    sources.push_back(*std::move(source));
  }
  return sources;
}

Status WriteText(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
    std::cout.flush();
    if (!std::cout) return Error{ErrorKind::kTransient, "standard output: cannot be written"};
    return {};
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Failed(path);
  return {};
}

}  // namespace weft::program
