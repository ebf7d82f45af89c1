#include "operator/controllers/fabric_controller.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/life/status_patch.h"
#include "operator/report/fabric_status.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

// Least pause between passes, also in multiples of the last pass's duration, so that passes take at
// most a tenth of a thread's time however large the cluster is; but no more than a minute: a pass
// may be long because a write has no answer.
constexpr std::int64_t kFabricPauseMilliseconds = 1'000, kFabricPauseTimes = 10;
constexpr std::int64_t kLongestFabricPauseMilliseconds = 60'000;
constexpr std::int64_t kFabricRetryMilliseconds = 10'000;  // after a write that failed

// The status of the condition Valid: "True", "False", or "" if absent.
std::string ValidIn(const Json& status) {
  if (!status.contains("conditions")) return "";
  for (const Json& condition : status.at("conditions")) {
    if (condition.value("type", "") == "Valid") return condition.value("status", "");
  }
  return "";
}

std::string MessageIn(const Json& status) {
  for (const Json& condition : status.at("conditions")) {
    if (condition.value("type", "") == "Valid") return condition.value("message", "");
  }
  return "";
}

}  // namespace

FabricController::FabricController(watch::Store& store, watch::FabricCache& cache,
                                   ApiWriter& writer, Recorder& recorder, Log& log, Options options)
    : store_(store),
      cache_(cache),
      writer_(writer),
      recorder_(recorder),
      log_(log),
      options_(std::move(options)),
      wakeup_(*options_.executor) {}

void FabricController::Run() {
  std::int64_t pause = 0;
  while (wakeup_.Await(Wakeup::Milliseconds(pause))) {
    const run::Instant start = options_.executor->Now();
    bool done = false;
    try {
      done = Pass();
    } catch (const std::exception& bug) {
      log_.Error("updating the status of Fabrics failed", {{"error", bug.what()}});
    }
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.executor->Now() - start);
    pause = std::clamp<std::int64_t>(kFabricPauseTimes * took.count(), kFabricPauseMilliseconds,
                                     kLongestFabricPauseMilliseconds);
    if (done) continue;
    pause = std::max(pause, kFabricRetryMilliseconds);
    OnChange();
  }
}

bool FabricController::Pass() {
  const watch::Store::Snapshot snapshot = store_.SnapshotFabrics();
  const auto fabrics = cache_.Of(snapshot);
  bool done = true;
  for (const api::Fabric& fabric : snapshot.inputs.fabrics) {
    const Json status = report::FabricStatus(fabric, *fabrics, options_.now());
    done = Write(fabric.meta, fabric.raw, status) && done;
  }
  for (const auto& fabric : store_.UnreadableFabrics()) {
    const Json status = report::UnreadableFabricStatus(*fabric, options_.now());
    done = Write(fabric->meta, fabric->raw, status) && done;
  }
  return done;
}

bool FabricController::Write(const api::ObjectMeta& meta, const api::Raw& raw, const Json& status) {
  const Json before = raw ? raw->value("status", Json::object()) : Json::object();
  Json patch = life::StatusPatch(before, status, life::kFabricStatusFields);
  if (patch.is_null()) return true;
  const auto stored =
      writer_.PatchStatus({Kind::kFabric, meta.key, meta.uid, ""}, {{"status", std::move(patch)}});
  if (!stored) {
    if (stored.error().kind == ErrorKind::kNotFound) return true;
    log_.Warning("status of a Fabric not written",
                 {{"fabric", meta.key.name}, {"reason", stored.error().message}});
    return false;
  }
  const std::string valid = ValidIn(status), was = ValidIn(before);
  if (valid != was && (valid == "False" || was == "False")) {
    recorder_.Record({"Fabric", &meta, valid == "False", valid == "False" ? "Invalid" : "Valid",
                      "Build", MessageIn(status)});
  }
  return true;
}

}  // namespace weft::controllers
