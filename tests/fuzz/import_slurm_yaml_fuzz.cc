#include <cstddef>
#include <cstdint>
#include <string>

#include "operator/import/import_slurm_yaml.h"
#include "operator/import/write_manifests.h"

// Whatever comes in gives a cluster that can be written, or an error with a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const weft::manifest::Source source{"fuzz",
                                      std::string(reinterpret_cast<const char*>(data), size)};
  const auto cluster = weft::import::ImportSlurmYaml(source, "", {});
  if (cluster ? weft::import::WriteManifests(*cluster).empty() : cluster.error().message.empty()) {
    __builtin_trap();
  }
  return 0;
}
