// The law of lost time: what a failure has cost stays counted, and each second is counted once.

#include <array>
#include <optional>

#include "operator/base/timestamp.h"
#include "tests/world/laws.h"

namespace weft::world {
namespace {

constexpr std::array kLostParts = {"keptSeconds",    "workSeconds",  "detectSeconds",
                                   "replaceSeconds", "startSeconds", "loadSeconds"};

std::int64_t CountedSeconds(const Json& job) {
  std::int64_t sum = 0;
  for (const char* part : kLostParts) sum += NumberAt(job, {"status", "lost", part});
  return sum;
}

std::optional<UnixSeconds> CountedUntil(const Json& job) {
  return ParseTime(TextAt(job, {"status", "lost", "countedUntil"}));
}

}  // namespace

void Laws::LookAtLosses(const Json& job, const Json& before) {
  const std::string name = api::Show(KeyOf(job));
  if (At(job, {"spec", "checkpoint"}).is_null()) {
    for (const char* field : {"checkpoint", "recovery", "lost"}) {
      if (At(job, {"status", field}).is_null()) continue;
      Break("I27", name + " has status." + field + " without spec.checkpoint");
    }
    return;
  }
  for (const char* part : kLostParts) {
    const std::int64_t now = NumberAt(job, {"status", "lost", part});
    const std::int64_t was = NumberAt(before, {"status", "lost", part});
    if (now >= was) continue;
    Break("I27", name + ": " + part + " " + std::to_string(now) + " after " + std::to_string(was));
  }
  const std::int64_t down = NumberAt(job, {"status", "lost", "downSeconds"});
  std::int64_t parts = CountedSeconds(job);
  parts -= NumberAt(job, {"status", "lost", "keptSeconds"});
  parts -= NumberAt(job, {"status", "lost", "workSeconds"});
  if (down != parts) {
    Break("I27", name + ": downSeconds " + std::to_string(down) + ", the parts are " +
                     std::to_string(parts));
  }
  const auto now = CountedUntil(job), was = CountedUntil(before);
  const std::int64_t counted = CountedSeconds(job) - CountedSeconds(before);
  if (now && was && counted != *now - *was) {
    Break("I27", name + ": " + std::to_string(counted) + " seconds are counted of " +
                     std::to_string(*now - *was));
  }
  if (now && (IsTrue(job, "Complete") || IsTrue(job, "Failed"))) {
    Break("I27", name + " has ended, and its time is still counted");
  }
}

}  // namespace weft::world
