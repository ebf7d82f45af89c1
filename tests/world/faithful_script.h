#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/kube/requests.h"
#include "tests/world/faithful_side.h"
#include "tests/world/faithful_subjects.h"

namespace weft::world {

// One call of a script. It is made for each side, since they have other uids and versions.
struct Step {
  std::string what;  // for people
  std::function<kube::Request(const Side&)> request;
  bool watch = false;
};

// Random calls about few names in two namespaces of its own. The same seed gives the same script.
class Script {
 public:
  // `run` tells several runs of a seed on one server apart; it is part of all namespaces' names.
  explicit Script(std::uint64_t seed, const std::string& run = "");

  std::vector<Step> Begin() const;  // namespaces and their service accounts
  Step Next();
  std::vector<Step> WatchAll() const;  // of each resource, from the beginning
  std::vector<Step> ListAll() const;

 private:
  struct Chosen {
    const Subject* subject;
    kube::Resource resource;
    api::ObjectKey key;
    std::string path;
  };
  std::size_t Below(std::size_t count) { return static_cast<std::size_t>(random_.Below(count)); }
  bool Chance(std::size_t percent) { return Below(100) < percent; }
  template <typename List>
  const auto& Any(const List& list) {
    return list[Below(list.size())];
  }
  Chosen Choose();
  Chosen ChoosePod();
  std::string AnySpace();
  kube::Write AnyWrite();

  Step Create();
  Step Get();
  Step List();
  Step Watch();
  Step Replace();
  Step Merge();
  Step PatchJson();
  Step Apply();
  Step PatchStatus();
  Step Delete();
  Step DeleteAll();
  Step Bind();
  Step Evict();
  Step Namespace();
  Step Wrong();

  std::string prefix_;
  std::vector<std::string> spaces_;
  SplitMix64 random_;
};

}  // namespace weft::world
