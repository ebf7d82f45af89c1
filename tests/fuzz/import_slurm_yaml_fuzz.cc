#include <cstddef>
#include <cstdint>
#include <string>

#include "operator/manifest/import_slurm_yaml.h"

// Whatever comes in gives a cluster that can be written, or an error with a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const weft::manifest::Source source{"fuzz",
                                      std::string(reinterpret_cast<const char*>(data), size)};
  const auto cluster = weft::manifest::ImportSlurmYaml(source, "", {});
  if (cluster ? weft::manifest::WriteManifests(*cluster).empty()
              : cluster.error().message.empty()) {
    __builtin_trap();
  }
  return 0;
}
