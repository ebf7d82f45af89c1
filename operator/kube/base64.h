#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::kube {

// Decodes standard base64 with padding, ignoring white space; nothing if the text is not base64.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace weft::kube
