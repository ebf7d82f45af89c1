#include "operator/kube/resource.h"

#include <algorithm>
#include <array>

namespace weft::kube {
namespace {

// One segment of a path, escaped. Valid names need no escaping, but names that were read are not
// trusted.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~:";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      escaped += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return escaped;
}

}  // namespace

bool IsOfVolumes(const Resource& resource) {
  constexpr std::array<Resource, 4> kKinds = {kVolumes, kVolumeClaims, kStorageClasses, kCsiNodes};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](const Resource& one) {
    return one.group == resource.group && one.plural == resource.plural;
  });
}

std::string PathOf(const Resource& resource, const api::ObjectKey& key,
                   std::string_view subresource) {
  std::string path =
      resource.group.empty() ? "/api/" : "/apis/" + std::string(resource.group) + "/";
  path += resource.version;
  if (resource.namespaced && !key.space.empty()) path += "/namespaces/" + Escaped(key.space);
  path += "/" + std::string(resource.plural);
  if (!key.name.empty()) path += "/" + Escaped(key.name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

}  // namespace weft::kube
