#include "operator/fabric/torus_places.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "operator/fabric/torus_shapes.h"

namespace weft::fabric {
namespace {

// The level whose domains are toruses; null if all nodes are one torus.
const Groups* TorusGroups(const FabricSpec& spec, const LevelGroups& groups) {
  for (std::size_t l = 0; l < spec.levels.size(); ++l) {
    if (spec.levels[l].name == spec.torus->level) return &groups.levels[l];
  }
  return nullptr;
}

class Placing {
 public:
  Placing(const FabricSpec& spec, const std::vector<const NodeFacts*>& candidates,
          LevelGroups& groups)
      : torus_(*spec.torus),
        candidates_(candidates),
        groups_(groups),
        toruses_(TorusGroups(spec, groups)),
        shapes_(DimensionsOfShapes(torus_)),
        places_(candidates.size(), TorusPlace{}) {
    if (toruses_ != nullptr) shape_of_ = ShapesOfDomains(torus_, toruses_->names);
  }

  std::vector<TorusPlace> Run() {
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      if (!groups_.aside[n] && ReadPlace(n)) Take(n);
    }
    std::sort(groups_.incomplete.begin(), groups_.incomplete.end(),
              [](const IncompleteNode& a, const IncompleteNode& b) { return a.node < b.node; });
    return std::move(places_);
  }

 private:
  bool ReadPlace(std::size_t n) {
    const std::uint32_t shape = toruses_ == nullptr ? 0 : shape_of_[toruses_->of_node[n]];
    for (std::size_t d = 0; d < torus_.dimensions.size(); ++d) {
      const TorusDimension& dimension = shapes_[shape][d];
      const auto value = candidates_[n]->labels.At(dimension.label_key);
      // A ring beside toruses of three dimensions needs only its own label.
      if (!value && shape > 0 && dimension.size == 1) continue;
      if (!value) return SetAside(n, dimension.label_key, "");
      std::uint32_t at = 0;
      const auto [stop, error] = std::from_chars(value->data(), value->data() + value->size(), at);
      const bool whole = error == std::errc() && stop == value->data() + value->size();
      if (!whole || at >= dimension.size) {
        return SetAside(n, dimension.label_key,
                        dimension.label_key + " \"" + std::string(*value) +
                            "\" is not a number from 0 to " + std::to_string(dimension.size - 1));
      }
      places_[n][d] = static_cast<std::uint16_t>(at);
    }
    return true;
  }

  void Take(std::size_t n) {
    const std::uint32_t torus = toruses_ == nullptr ? 0 : toruses_->of_node[n];
    const auto [held, is_first] = taken_.try_emplace({torus, places_[n]}, n);
    if (is_first) return;
    const std::string& other = candidates_[held->second]->name;
    const std::string place =
        Show(places_[n]) + (toruses_ == nullptr ? "" : " of " + toruses_->names[torus]);
    groups_.inconsistencies.push_back({torus_.name, place, "", other, "", candidates_[n]->name});
    SetAside(n, torus_.dimensions.front().label_key,
             "place " + place + " is already that of node " + other);
  }

  std::string Show(const TorusPlace& place) const {
    std::string text;
    for (std::size_t d = 0; d < torus_.dimensions.size(); ++d) {
      text += (text.empty() ? "(" : ", ") + std::to_string(place[d]);
    }
    return text + ")";
  }

  bool SetAside(std::size_t n, const std::string& key, std::string why) {
    groups_.aside[n] = true;
    groups_.incomplete.push_back({candidates_[n]->name, torus_.name, key, std::move(why)});
    return false;
  }

  const TorusSpec& torus_;
  const std::vector<const NodeFacts*>& candidates_;
  LevelGroups& groups_;
  const Groups* toruses_;
  const std::vector<std::vector<TorusDimension>> shapes_;
  std::vector<std::uint32_t> shape_of_;  // by group of toruses_, an index into shapes_
  std::vector<TorusPlace> places_;
  std::map<std::pair<std::uint32_t, TorusPlace>, std::size_t> taken_;
};

}  // namespace

std::vector<TorusPlace> PlaceInTorus(const FabricSpec& spec,
                                     const std::vector<const NodeFacts*>& candidates,
                                     LevelGroups& groups) {
  return Placing(spec, candidates, groups).Run();
}

}  // namespace weft::fabric
