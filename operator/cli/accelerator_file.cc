#include "operator/cli/accelerator_file.h"

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"
#include "operator/outlook/accelerators.h"
#include "operator/program/sources.h"

namespace weft::cli {

Result<std::vector<fabric::AcceleratorSpec>> ReadAccelerators(const std::string& path) {
  if (path.empty()) return std::vector<fabric::AcceleratorSpec>();
  const auto source = program::ReadSource(path);
  if (!source) return source.error();
  const auto document = manifest::ReadDocument(*source);
  if (!document) return document.error();
  auto added = api::DecodeAcceleratorFile(*document, source->name);
  std::string wrong = added ? "" : added.error().message;
  if (added) {
    const Status known = outlook::CheckAccelerators(*added);
    if (!known) wrong = source->name + ": accelerators" + known.error().message;
  }
  if (wrong.empty()) return added;
  return Invalid(manifest::WithLine({*source}, wrong));
}

Status CheckAcceleratorName(const std::string& name,
                            const std::vector<fabric::AcceleratorSpec>& added) {
  if (name.empty()) return {};
  const auto found = outlook::FindAccelerator(name, added);
  if (found && found->name == name) return {};
  return Invalid("--accelerator: " +
                 (found ? "\"" + name + "\" means " + std::string(found->name) + "; give that name"
                        : found.error().message));
}

}  // namespace weft::cli
