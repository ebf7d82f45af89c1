#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "operator/objective/levels.h"

namespace weft::quality {

struct Key {
  std::string family;
  std::uint32_t workers = 0;
  std::uint64_t seed = 0;

  friend auto operator<=>(const Key&, const Key&) = default;
};

// The best placement known of an instance.
struct Known {
  objective::Objective objective;
  std::uint64_t fingerprint = 0;  // of the instance, to notice that its generator changed
  std::string who;                // found it: "normal", "thorough x10, seed 2", "annealing"
};

std::uint64_t Fingerprint(const std::string& what);

// The best placements known, in a text file that lasts from run to run: searching for them takes
// hours, and comparing with them takes seconds. One line for each instance:
//
//   FAMILY <tab> WORKERS <tab> SEED <tab> FINGERPRINT <tab> LEVELS WIDER <tab> GROUPS MISSED <tab>
//   COST in femtoseconds <tab> WHO
//
// Lines that begin with # are a heading, which is kept. Several processes may share a file: Offer
// locks it, reads it again and replaces it as a whole.
class Reference {
 public:
  // "" is a file that does not exist, and that Offer does not write.
  explicit Reference(std::string path);

  std::size_t size() const { return known_.size(); }
  // Nothing if the instance is unknown, or another one than when it was searched.
  std::optional<Known> Find(const Key& key, std::uint64_t fingerprint) const;
  // Keeps `found` if it is better than what is known. Ends the program if the file cannot be
  // written.
  void Offer(const Key& key, const Known& found);

 private:
  void Read();
  bool Improve(const Key& key, const Known& found);
  void Write() const;

  std::string path_;
  std::string heading_;
  std::map<Key, Known> known_;
};

}  // namespace weft::quality
