#include "tests/world/stock_jobs.h"

#include <algorithm>

#include "tests/world/by_number.h"
#include "tests/world/kueue_status.h"

namespace weft::world {

StockJobs::StockJobs(Fibers& fibers, ApiServer& server, Options options)
    : server_(server),
      user_(server, "researcher"),
      options_(std::move(options)),
      controller_(fibers, server, options_.now_seconds, options_.seed) {}

void StockJobs::Submit(std::size_t number) {
  SplitMix64 chance(ByNumber(options_.seed, number));
  const std::string space = options_.spaces[chance.Below(options_.spaces.size())];
  const std::string name = "batch-" + std::to_string(number);
  const std::uint64_t most = chance.Below(2) == 0 ? 3 : 8;
  const std::uint64_t pods = 1 + chance.Below(most);
  Json annotations = {{"weft.test/run-seconds", std::to_string(10 + chance.Below(1'200))}};
  annotations["weft.test/stop-seconds"] = std::to_string(chance.Below(20));
  // A program may take SIGTERM for a good end: then its pod is not made again.
  annotations["weft.test/stop-code"] = chance.Below(2) == 0 ? "0" : "143";
  const Json ignore = {{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}}}}};
  const Json container = {{"name", "trainer"},
                          {"image", "registry.example/train:1"},
                          {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
  Json job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", name}, {"namespace", space}, {"labels", Json::object()}}},
      {"spec",
       {{"completionMode", "Indexed"},
        {"completions", pods},
        {"parallelism", pods},
        {"backoffLimit", 50},
        {"podFailurePolicy", {{"rules", {ignore}}}},
        {"template",
         {{"metadata", {{"labels", {{"weft.dev/place", "true"}}}, {"annotations", annotations}}},
          {"spec", {{"restartPolicy", "Never"}, {"containers", {container}}}}}}}}};
  options_.dress(job, number);
  user_.Create(kJobs, job);
}

bool StockJobs::AllEnded() const {
  const auto& all = server_.All("jobs.batch");
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return IsOver(*one.second); });
}

void StockJobs::LookAtEvening(Laws& laws) const {
  for (const auto& [key, job] : server_.All("jobs.batch")) {
    if (IsOver(*job)) continue;
    laws.Break("I6", "Job " + api::Show(key) + " has not ended: " + At(*job, {"status"}).dump());
  }
}

}  // namespace weft::world
