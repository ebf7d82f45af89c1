#include "operator/kube/reflector.h"

#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/kube/status_code.h"

namespace weft::kube {
namespace {

constexpr std::size_t kLargestPageBytes = std::size_t{256} << 20;

std::string UidOf(const nlohmann::json& object) {
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return "";
  const auto uid = meta->find("uid");
  return uid != meta->end() && uid->is_string() ? uid->get<std::string>() : "";
}

Watch::End EndOf(const Result<Response>& answer) {
  if (!answer) return {};
  return {answer->status, answer->retry_after, false};
}

std::string Sentence(const std::string& path, const Result<Response>& answer,
                     const std::string& fault) {
  const std::string start = "watch of " + path + ": ";
  if (!fault.empty()) return start + fault;
  if (!answer) return start + answer.error().message;
  const std::string message = StatusMessage(answer->body);
  if (!message.empty()) return start + message;
  if (answer->status / 100 == 2) return start + "the answer ended too early";
  return start + "the API server answered " + std::to_string(answer->status);
}

}  // namespace

Reflector::Reflector(Transport& transport, ObjectSink& sink, Options options)
    : transport_(transport),
      sink_(sink),
      options_(std::move(options)),
      watch_(options_.watch),
      contact_(options_.timer->Now().time_since_epoch().count()) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() {
  thread_ = options_.executor->Start([this] { Run(); });
}

void Reflector::Cancel() {
  cancel_ = true;
  cancel_.notify_all();
  options_.timer->End();
}

void Reflector::Stop() {
  Cancel();
  if (thread_) thread_->Join();
  thread_.reset();
}

void Reflector::Touch() { contact_ = options_.timer->Now().time_since_epoch().count(); }

Millis Reflector::Staleness() const {
  const Instant contact{Instant::duration(contact_.load())};
  return std::chrono::duration_cast<Millis>(options_.timer->Now() - contact);
}

void Reflector::Run() {
  using Kind = Watch::Action::Kind;
  while (!cancel_) {
    Watch::Action action = watch_.Next(options_.timer->Now());
    if (action.kind == Kind::kWait) {
      options_.timer->Wait(action.wait);
      continue;
    }
    if (std::exchange(failed_, false) && options_.hooks.on_restart) options_.hooks.on_restart();
    if (action.begins_list) list_begins_ = true;
    fault_.clear();
    malformed_ = false;
    action.request.accept = AcceptOf(options_.subject);
    action.kind == Kind::kReadPage ? ReadPage(action.request) : Follow(action.request);
  }
}

void Reflector::Malformed(std::string what) {
  fault_ = std::move(what);
  malformed_ = true;
}

// Reads a page as a stream too, because that can be cancelled and limited.
void Reflector::ReadPage(const Request& request) {
  std::string body;
  const ChunkSink sink = [&](std::string_view chunk) {
    if (body.size() + chunk.size() > kLargestPageBytes) Malformed("a page is too large");
    if (malformed_ || cancel_) return false;
    body += chunk;
    return true;
  };
  const Result<Response> answer = transport_.Stream(request, sink, cancel_);
  if (cancel_) return;
  if (!answer || answer->status / 100 != 2 || malformed_) return End(answer);
  Touch();
  const Result<Page> page = ParsePage(body, options_.subject);
  if (!page) {
    Malformed(page.error().message);
    return End(answer);
  }
  BeginList();
  for (const ServedObject& item : page->items) {
    known_.Add(item.key);
    sink_.OnUpsert(item);
  }
  if (watch_.OnPage(*page, options_.timer->Now())) FinishList(page->resource_version);
}

void Reflector::Follow(const Request& request) {
  FrameSplitter frames;
  const ChunkSink sink = [&](std::string_view chunk) {
    Touch();
    const Instant arrived = options_.timer->Now();
    const FrameSplitter::Fed fed =
        frames.Feed(chunk, [this](const std::string& frame) { return TakeFrame(frame); });
    if (options_.hooks.on_lag) {
      options_.hooks.on_lag(options_.timer->Now() - arrived);
    }
    if (fed == FrameSplitter::Fed::kTooLong) Malformed("a frame is too long");
    return fed == FrameSplitter::Fed::kAll && !cancel_;
  };
  const Result<Response> answer = transport_.Stream(request, sink, cancel_);
  if (!cancel_) End(answer);
}

bool Reflector::TakeFrame(const std::string& frame) {
  const Result<WatchEvent> event = ParseWatchFrame(frame, options_.subject);
  if (!event) {
    Malformed(event.error().message);
    return false;
  }
  switch (watch_.OnEvent(*event, options_.timer->Now())) {
    case Watch::Meaning::kChange:
      BeginList();
      Apply(*event);
      break;
    case Watch::Meaning::kNothing:
      break;
    case Watch::Meaning::kListed:
      BeginList();
      FinishList(event->resource_version);
      return false;
    case Watch::Meaning::kFailed:
      fault_ = event->message;
      return false;
  }
  return !cancel_;
}

void Reflector::Apply(const WatchEvent& event) {
  if (event.type == EventType::kDeleted) {
    known_.Remove(event.object.key);
    sink_.OnDelete({event.object.key, UidOf(event.object.json), event.resource_version});
    return;
  }
  known_.Add(event.object.key);
  sink_.OnUpsert(event.object);
}

void Reflector::SetAnswered(std::atomic<bool>& answer) {
  if (!answer.exchange(true) && options_.hooks.on_answered) options_.hooks.on_answered();
}

void Reflector::BeginList() {
  if (!std::exchange(list_begins_, false)) return;
  known_.BeginList();
  sink_.OnReplaceBegin();
}

void Reflector::FinishList(const std::string& resource_version) {
  // In versions up to that of the list; what the sink holds of later ones is from our own writes.
  const auto remove = [&](const api::ObjectKey& key) {
    sink_.OnDelete({.key = key, .version = resource_version});
  };
  const auto gone = known_.EndList();
  for (const api::ObjectKey& key : gone) {
    if (!Seeded(Bug::kGoneStaysListed)) remove(key);
  }
  for (const api::ObjectKey& key : sink_.HeldUpTo(resource_version)) {
    if (!known_.Contains(key) && !Seeded(Bug::kGoneStaysListed)) remove(key);
  }
  sink_.OnSynced(resource_version);
  SetAnswered(synced_);
}

void Reflector::End(const Result<Response>& answer) {
  Watch::End end = EndOf(answer);
  end.malformed = malformed_;
  if (watch_.OnEnd(end, options_.timer->Now())) {
    absent_ = false;
    return Touch();
  }
  if (options_.optional && (end.status == kNotFound || end.status == kForbidden)) {
    sink_.OnAbsent();
    SetAnswered(absent_);
    Touch();
    if (end.status == kNotFound) return;
  }
  failed_ = true;
  if (options_.hooks.on_failure) {
    options_.hooks.on_failure(Sentence(options_.watch.path, answer, fault_));
  }
}

}  // namespace weft::kube
