#include "operator/kube/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace weft::kube {

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string packed;
  for (char c : text) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') packed += c;
  }
  if (packed.size() % 4 != 0 || packed.size() > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  if (packed.empty()) return std::string();
  std::string bytes(packed.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(packed.data()),
                                     static_cast<int>(packed.size()));
  if (length < 0) return std::nullopt;
  const auto padding = std::count(packed.end() - 2, packed.end(), '=');
  bytes.resize(static_cast<std::size_t>(length) - static_cast<std::size_t>(padding));
  return bytes;
}

}  // namespace weft::kube
