#include "operator/kube/event.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_text.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// Limits of events.k8s.io/v1.
constexpr std::size_t kNoteBytes = 1'024, kWordBytes = 128;
constexpr std::size_t kNameBytes = 253, kSuffixBytes = 17;

constexpr const char* kReportingController = "weft.dev/operator";
// Tokens of an object's bucket, and the time that one more takes; the same as in client-go.
constexpr int kBucketTokens = 25;
constexpr Millis kTokenTime{300'000};
// Between two writes of an event's count, except the first two.
constexpr Millis kCountPause{60'000};
// After the last note. An equal note that comes later is a new event.
constexpr Millis kSeriesKept{600'000};

// At most `bytes` bytes of a text, without a cut character at the end.
std::string Cut(const std::string& text, std::size_t bytes) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= bytes) return text;
  std::size_t end = bytes - kMore.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end).append(kMore);
}

// If there are more than `most` entries, removes the least recently used one.
template <typename Map, typename Age>
void Bound(Map& map, std::size_t most, const Age& age) {
  if (map.size() <= most) return;
  map.erase(std::min_element(map.begin(), map.end(), [&](const auto& a, const auto& b) {
    return age(a.second) < age(b.second);
  }));
}

}  // namespace

EventSeries::EventSeries(Options options) : options_(std::move(options)), random_(options_.seed) {}

bool EventSeries::TakeToken(const std::string& object, Instant now) {
  const auto [at, fresh] = buckets_.try_emplace(object);
  Bucket& bucket = at->second;
  constexpr double burst = kBucketTokens;
  const std::chrono::duration<double> since = now - bucket.filled;
  constexpr std::chrono::duration<double> refill = kTokenTime;
  bucket.tokens = fresh ? burst : std::min(burst, bucket.tokens + since / refill);
  bucket.filled = now;
  const bool has = bucket.tokens >= 1;
  if (has) bucket.tokens -= 1;
  Bound(buckets_, options_.remembered, [](const Bucket& b) { return b.filled; });
  return has;
}

// A create may be sent to the API server twice: because of the unique name, the second one fails.
api::ObjectKey EventSeries::NewKey(const EventNote& note) {
  std::string name = note.key.name.substr(0, kNameBytes - kSuffixBytes);
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.back())) == 0) {
    name.pop_back();
  }
  char suffix[kSuffixBytes + 1];
  std::snprintf(suffix, sizeof suffix, ".%016llx", static_cast<unsigned long long>(random_.Next()));
  // Events about objects without a namespace are stored in this namespace, as in Kubernetes.
  return {note.key.space.empty() ? "default" : note.key.space, name + suffix};
}

std::string EventSeries::Create(const EventNote& note, const api::ObjectKey& key,
                                WallMicros wall) const {
  Json regarding = {{"apiVersion", note.api_version},
                    {"kind", note.kind},
                    {"name", note.key.name},
                    {"uid", note.uid}};
  if (!note.key.space.empty()) regarding["namespace"] = note.key.space;
  const Json event = {{"apiVersion", "events.k8s.io/v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                      {"eventTime", FormatMicroTime(wall)},
                      {"reportingController", kReportingController},
                      {"reportingInstance", Cut(options_.instance, kWordBytes)},
                      {"action", Cut(note.action, kWordBytes)},
                      {"reason", Cut(note.reason, kWordBytes)},
                      {"regarding", std::move(regarding)},
                      {"note", Cut(note.note, kNoteBytes)},
                      {"type", note.warning ? "Warning" : "Normal"}};
  return api::JsonText(event);
}

EventSeries::Write EventSeries::CountOf(Series& series, Instant now) {
  series.due = false;
  series.written = now;
  const Json patch = {
      {"series", {{"count", series.count}, {"lastObservedTime", FormatMicroTime(series.last)}}}};
  return {false, series.key, api::JsonText(patch)};
}

std::optional<EventSeries::Write> EventSeries::Add(const EventNote& note, Instant now,
                                                   WallMicros wall) {
  const std::string object = note.kind + "/" + api::Show(note.key) + "/" + note.uid;
  const Alike alike{object, note.warning, note.reason, note.action, note.note};
  if (const auto found = series_.find(alike);
      found != series_.end() && now - found->second.seen < kSeriesKept) {
    Series& series = found->second;
    ++series.count;
    series.last = wall;
    series.seen = now;
    series.due = true;
    const bool second = series.count == 2;
    if (!second && now - series.written < kCountPause) return std::nullopt;
    return CountOf(series, now);
  }
  if (!TakeToken(object, now)) {
    ++limited_;
    return std::nullopt;
  }
  Series& series = series_[alike];
  series = {NewKey(note), 1, wall, now, now, false};
  Write write{true, series.key, Create(note, series.key, wall)};
  Bound(series_, options_.remembered, [](const Series& s) { return s.seen; });
  return write;
}

std::vector<EventSeries::Write> EventSeries::Flush(Instant now) {
  std::vector<Write> writes;
  for (auto at = series_.begin(); at != series_.end();) {
    Series& series = at->second;
    const bool over = now - series.seen >= kSeriesKept;
    if (series.due && (over || now - series.written >= kCountPause)) {
      writes.push_back(CountOf(series, now));
    }
    at = over ? series_.erase(at) : std::next(at);
  }
  return writes;
}

void EventSeries::Erase(const api::ObjectKey& event) {
  std::erase_if(series_, [&](const auto& entry) { return entry.second.key == event; });
}

}  // namespace weft::kube
