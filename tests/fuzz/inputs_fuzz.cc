#include <cstddef>
#include <cstdint>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/inputs.h"

// Any text through the reader and the decoders of all kinds: inputs, or an error that names a
// place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto inputs = weft::manifest::ReadInputs({{"fuzz", text}});
  WEFT_CHECK(inputs || inputs.error().message.starts_with("fuzz: "));
  return 0;
}
