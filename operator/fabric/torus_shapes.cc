#include "operator/fabric/torus_shapes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "operator/fabric/torus.h"

namespace weft::fabric {
namespace {

std::string ShapePath(std::size_t shape) {
  return "spec.torus.shapes[" + std::to_string(shape) + "]";
}

// `first_shape`: by name of a domain, the entry that names it.
Status CheckDomains(const std::vector<std::string>& domains, std::size_t shape,
                    std::map<std::string_view, std::size_t>& first_shape) {
  const std::string path = ShapePath(shape) + ".domains";
  if (domains.empty()) return Invalid(path + ": required");
  if (domains.size() > kMostDomainsOfShape) {
    return Invalid(path + ": " + std::to_string(domains.size()) + " are more than " +
                   std::to_string(kMostDomainsOfShape));
  }
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const std::string at = path + "[" + std::to_string(d) + "]: ";
    if (domains[d].empty()) return Invalid(at + "required");
    const auto [first, is_new] = first_shape.emplace(domains[d], shape);
    if (is_new) continue;
    return Invalid(at + "\"" + domains[d] + "\" is already in " + ShapePath(first->second));
  }
  return {};
}

Status CheckSizesOfShape(const TorusSpec& spec, std::size_t s) {
  const TorusShapeSpec& shape = spec.shapes[s];
  const std::size_t count = spec.dimensions.size();
  const auto miscounted = [&](const char* field, std::size_t has) {
    return Invalid(ShapePath(s) + field + ": must have one entry for each of the " +
                   std::to_string(count) + " dimensions, has " + std::to_string(has));
  };
  if (shape.sizes.size() != count) return miscounted(".sizes", shape.sizes.size());
  if (!shape.wraps.empty() && shape.wraps.size() != count) {
    return miscounted(".wraps", shape.wraps.size());
  }
  std::uint64_t places = 1;
  for (std::size_t d = 0; d < count; ++d) {
    const std::uint32_t size = shape.sizes[d];
    if (size < 1 || size > kTorusSizeAtMost) {
      return Invalid(ShapePath(s) + ".sizes[" + std::to_string(d) + "]: " + std::to_string(size) +
                     " is not from 1 to " + std::to_string(kTorusSizeAtMost));
    }
    places *= size;
  }
  if (places <= kTorusPlacesAtMost) return {};
  return Invalid(ShapePath(s) + ".sizes: " + std::to_string(places) + " places are more than the " +
                 std::to_string(kTorusPlacesAtMost) + " that a torus may have");
}

}  // namespace

std::vector<std::vector<TorusDimension>> DimensionsOfShapes(const TorusSpec& spec) {
  std::vector<std::vector<TorusDimension>> all = {spec.dimensions};
  for (const TorusShapeSpec& shape : spec.shapes) {
    std::vector<TorusDimension> dimensions = spec.dimensions;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      dimensions[d].size = shape.sizes[d];
      if (!shape.wraps.empty()) dimensions[d].wraps = shape.wraps[d];
    }
    all.push_back(std::move(dimensions));
  }
  return all;
}

std::vector<std::uint32_t> ShapesOfDomains(const TorusSpec& spec,
                                           std::span<const std::string> names) {
  std::map<std::string_view, std::uint32_t> shape_of;
  for (std::uint32_t s = 0; s < spec.shapes.size(); ++s) {
    for (const std::string& domain : spec.shapes[s].domains) shape_of.emplace(domain, s + 1);
  }
  std::vector<std::uint32_t> shapes;
  shapes.reserve(names.size());
  for (const std::string& name : names) {
    const auto named = shape_of.find(name);
    shapes.push_back(named == shape_of.end() ? 0 : named->second);
  }
  return shapes;
}

std::vector<std::string> AbsentDomainsOfShapes(const TorusSpec& spec,
                                               std::span<const std::string> names) {
  const std::set<std::string_view> present(names.begin(), names.end());
  std::vector<std::string> absent;
  for (const TorusShapeSpec& shape : spec.shapes) {
    std::copy_if(shape.domains.begin(), shape.domains.end(), std::back_inserter(absent),
                 [&](const std::string& domain) { return !present.contains(domain); });
  }
  return absent;
}

Status CheckTorusShapes(const TorusSpec& spec) {
  if (spec.shapes.empty()) return {};
  if (spec.level.empty()) {
    return Invalid(
        "spec.torus.shapes: needs spec.torus.level, the level whose domains the shapes name");
  }
  if (spec.shapes.size() > kMostTorusShapes) {
    return Invalid("spec.torus.shapes: " + std::to_string(spec.shapes.size()) + " are more than " +
                   std::to_string(kMostTorusShapes));
  }
  std::map<std::string_view, std::size_t> first_shape;
  for (std::size_t s = 0; s < spec.shapes.size(); ++s) {
    if (Status status = CheckDomains(spec.shapes[s].domains, s, first_shape); !status) {
      return status;
    }
    if (Status status = CheckSizesOfShape(spec, s); !status) return status;
  }
  return {};
}

}  // namespace weft::fabric
