#include "operator/manifest/inputs.h"

#include <nlohmann/json.hpp>

#include "operator/api/apply_runtime_classes.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/read_stream.h"

namespace weft::manifest {
namespace {

Result<api::Inputs> Read(const std::vector<Source>& sources, const Limits& limits,
                         api::Reading reading) {
  api::Inputs inputs;
  const ObjectSink decode = [&](nlohmann::json object, const std::string& place) {
    return api::DecodeInto(object, place, inputs, reading);
  };
  std::size_t documents = 0;
  for (const Source& source : sources) {
    const Result<std::size_t> read = ReadStream(source, decode, limits);
    if (!read) return read.error();
    documents += *read;
  }
  if (documents == 0) {
    std::string names;
    for (const Source& source : sources) names += (names.empty() ? "" : ", ") + source.name;
    return Invalid((names.empty() ? "no input" : names) + ": no document");
  }
  if (Status status = api::CheckUnique(inputs); !status) return status.error();
  api::ApplyRuntimeClasses(inputs);
  return inputs;
}

}  // namespace

Result<api::Inputs> ReadInputs(const std::vector<Source>& sources, const Limits& limits,
                               api::Reading reading) {
  Result<api::Inputs> inputs = Read(sources, limits, reading);
  if (inputs) return inputs;
  return Error{inputs.error().kind, WithLine(sources, inputs.error().message)};
}

}  // namespace weft::manifest
