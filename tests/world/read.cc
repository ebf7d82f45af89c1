// GET, LIST and watches.
#include <algorithm>
#include <utility>

#include "operator/api/json_text.h"
#include "operator/base/ascii.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

std::string Option(const kube::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

std::optional<std::uint64_t> NumberOf(const std::string& text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// As etcd orders keys: a namespace sorts with the slash after it.
bool KeyLess(const api::ObjectKey& a, const api::ObjectKey& b) {
  if (a.space == b.space) return a.name < b.name;
  return a.space + "/" < b.space + "/";
}

using Entries = std::vector<const Logged*>;

// The entries of a namespace, or all, that the selector matches, in the order of keys.
Entries Matching(const std::map<api::ObjectKey, std::shared_ptr<Logged>>& objects,
                 const std::string& space, const Selector& selector) {
  Entries entries;
  const bool sorted = !space.empty();
  for (auto i = objects.lower_bound({space, ""}); i != objects.end(); ++i) {
    if (sorted && i->first.space != space) break;
    if (selector.empty() || selector.Matches(*i->second->change.object)) {
      entries.push_back(i->second.get());
    }
  }
  if (!sorted) {
    std::sort(entries.begin(), entries.end(), [](const Logged* a, const Logged* b) {
      return KeyLess(a->change.key, b->change.key);
    });
  }
  return entries;
}

struct Page {
  std::uint64_t version = 0;
  api::ObjectKey after;  // the last object of the page before
  bool first = true;
};

// "VERSION:SPACE/NAME".
std::string TokenOf(const Page& page) {
  return std::to_string(page.version) + ":" + page.after.space + "/" + page.after.name;
}

std::optional<Page> PageOf(const std::string& token) {
  const auto colon = token.find(':'), slash = token.find('/');
  if (colon == std::string::npos || slash == std::string::npos || slash < colon) {
    return std::nullopt;
  }
  const auto version = NumberOf(token.substr(0, colon));
  if (!version) return std::nullopt;
  return Page{
      *version, {token.substr(colon + 1, slash - colon - 1), token.substr(slash + 1)}, false};
}

std::string ListText(const Kind& kind, const Entries& entries, const Json& metadata) {
  std::string text = R"({"kind":")" + kind.kind + R"(List","apiVersion":")" + kind.api_version() +
                     R"(","metadata":)" + api::JsonText(metadata) + R"(,"items":[)";
  bool first = true;
  for (const Logged* entry : entries) {
    if (!std::exchange(first, false)) text += ',';
    text += ItemText(kind, *entry);
  }
  return text + "]}";
}

std::string Frame(const char* type, const std::string& object) {
  return std::string(R"({"type":")") + type + R"(","object":)" + object + "}\n";
}

// A state of an object at a later version than its own.
std::string TextOf(const Json& object, std::uint64_t version) {
  Json copy = object;
  copy["metadata"]["resourceVersion"] = std::to_string(version);
  return api::JsonText(copy);
}

class Stream final : public WatchStream {
 public:
  struct From {
    std::uint64_t version = 0;  // changes after this
    Entries initial = {};       // objects that come first
    bool ends_initial = false;  // a bookmark follows them
    std::string error = {};     // the only frame
  };
  Stream(const Collection& collection, std::string space, Selector selector, const From& from)
      : collection_(collection),
        space_(std::move(space)),
        selector_(std::move(selector)),
        taken_(from.version),
        ended_(false),
        pending_(from.error) {
    for (const Logged* entry : from.initial) pending_ += Frame("ADDED", entry->text());
    if (from.ends_initial) pending_ += BookmarkFrame(true);
    ends_ = !from.error.empty();
  }

  std::string Take(std::uint64_t up_to) override {
    if (ended_) return "";
    std::string frames = std::exchange(pending_, "");
    if (ends_) {
      ended_ = true;
      return frames;
    }
    const auto& log = collection_.log;
    if (taken_ < collection_.forgotten && up_to > taken_) {
      ended_ = true;
      return frames + Frame("ERROR", Expired("too old resource version: " + std::to_string(taken_) +
                                             " (" + std::to_string(collection_.forgotten + 1) + ")")
                                         .body);
    }
    if (!log.empty() && log.back()->change.version > taken_) {
      auto next = std::upper_bound(log.begin(), log.end(), taken_,
                                   [](std::uint64_t version, const std::shared_ptr<Logged>& each) {
                                     return version < each->change.version;
                                   });
      for (; next != log.end() && (*next)->change.version <= up_to; ++next) Add(**next, frames);
    }
    taken_ = std::max(taken_, up_to);
    return frames;
  }

  std::string Bookmark(std::uint64_t up_to) override {
    if (ended_ || !pending_.empty()) return "";
    const auto& log = collection_.log;
    const bool nothing_between = log.empty() || log.back()->change.version <= taken_;
    if (nothing_between && taken_ >= collection_.forgotten) taken_ = std::max(taken_, up_to);
    return BookmarkFrame(false);
  }

  bool ended() const override { return ended_; }

 private:
  bool Shows(const Json* object) const {
    return object != nullptr && (selector_.empty() || selector_.Matches(*object));
  }

  // An object that begins or ceases to match is added or deleted for this watch.
  void Add(const Logged& logged, std::string& frames) const {
    const Change& change = logged.change;
    if (!space_.empty() && change.key.space != space_) return;
    if (selector_.empty()) {
      frames += Frame(NameOf(change.type), logged.text());
      return;
    }
    const bool before = Shows(change.before.get());
    const bool after = change.type != Change::Type::kDeleted && Shows(change.object.get());
    if (before && !after) {
      frames += Frame("DELETED", TextOf(*change.before, change.version));
    } else if (after) {
      frames += Frame(before ? "MODIFIED" : "ADDED", logged.text());
    }
  }

  std::string BookmarkFrame(bool ends_initial) const {
    Json metadata = {{"resourceVersion", std::to_string(taken_)}};
    if (ends_initial) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    return Frame("BOOKMARK", api::JsonText(Json{{"kind", collection_.kind.kind},
                                                {"apiVersion", collection_.kind.api_version()},
                                                {"metadata", std::move(metadata)}}));
  }

  const Collection& collection_;
  const std::string space_;
  const Selector selector_;
  std::uint64_t taken_;
  bool ended_, ends_ = false;
  std::string pending_;
};

}  // namespace

const char* NameOf(Change::Type type) {
  switch (type) {
    case Change::Type::kAdded:
      return "ADDED";
    case Change::Type::kModified:
      return "MODIFIED";
    case Change::Type::kDeleted:
      break;
  }
  return "DELETED";
}

std::string ItemText(const Kind& kind, const Logged& logged) {
  if (kind.custom) return logged.text();
  const std::string head =
      R"({"apiVersion":")" + kind.api_version() + R"(","kind":")" + kind.kind + "\",";
  const std::string& text = logged.text();
  if (text.rfind(head, 0) == 0) return "{" + text.substr(head.size());
  Json item = *logged.change.object;
  item.erase("apiVersion");
  item.erase("kind");
  return api::JsonText(item);
}

kube::Response ApiServer::State::Get(const Call& call) {
  const Collection& collection = *call.target.collection;
  const auto found = collection.last.find(call.target.key);
  if (found == collection.last.end()) return NotFound(collection.kind, call.target.key.name);
  return Answer(200, found->second->text());
}

kube::Response ApiServer::State::List(const Call& call) {
  const Collection& collection = *call.target.collection;
  const Selector selector = *Selector::Of(call.request);
  if (const std::string field = selector.BadField(collection.kind.resource); !field.empty()) {
    return BadRequest("field label not supported: " + field);
  }
  const std::string wanted = Option(call.request, "resourceVersion");
  Page page{version, {}, true};
  if (const std::string token = Option(call.request, "continue"); !token.empty()) {
    const auto read = PageOf(token);
    if (!read) return BadRequest("continue key is not valid");
    page = *read;
  } else if (!wanted.empty()) {
    const auto number = NumberOf(wanted);
    if (!number) return BadRequest("Invalid value: \"" + wanted + "\"");
    if (*number > version) {
      return Failure(
          504, "Timeout",
          "Too large resource version: " + wanted + ", current: " + std::to_string(version),
          nullptr);
    }
    if (Option(call.request, "resourceVersionMatch") == "Exact") page.version = *number;
  }
  std::optional<std::map<api::ObjectKey, std::shared_ptr<Logged>>> earlier;
  if (page.version != version) {
    earlier = ObjectsAt(collection, page.version);
    if (!earlier) {
      return Expired(page.first ? "The resourceVersion for the provided list is too old."
                                : "The provided continue parameter is too old to display a "
                                  "consistent list result.");
    }
  }
  const auto& objects = earlier ? *earlier : collection.last;
  Entries entries = Matching(objects, call.target.key.space, selector);
  if (!page.first) {
    const auto next = std::find_if(entries.begin(), entries.end(), [&](const Logged* entry) {
      return KeyLess(page.after, entry->change.key);
    });
    entries.erase(entries.begin(), next);
  }
  Json metadata = {{"resourceVersion", std::to_string(page.version)}};
  const auto limit = NumberOf(Option(call.request, "limit")).value_or(0);
  if (limit > 0 && entries.size() >= limit) {
    const std::size_t rest = entries.size() - limit;
    if (selector.empty() && rest > 0) metadata["remainingItemCount"] = rest;
    entries.resize(limit);
    // With a selector nobody knows whether one of the next objects matches.
    const bool by_node = page.first && collection.kind.resource == "pods";
    const Entries all =
        Matching(objects, call.target.key.space, by_node ? selector.OfNode() : Selector());
    const api::ObjectKey& last = entries.back()->change.key;
    if (selector.Name().empty() && KeyLess(last, all.back()->change.key)) {
      metadata["continue"] = TokenOf({page.version, last, false});
    }
  }
  return Answer(200, ListText(collection.kind, entries, metadata));
}

ApiServer::Opened ApiServer::State::Open(const kube::Request& request, const std::string& user) {
  auto target = Route(request.path);
  if (!target) return {nullptr, NoSuchResource()};
  const auto selector = Selector::Of(request);
  if (!selector) return {nullptr, BadRequest("unable to parse requirement")};
  const Collection& collection = *target->collection;
  const Call call{request, user, std::move(*target), false, false, ""};
  if (auto refusal = CheckRights(call, "watch", *selector)) return {nullptr, std::move(*refusal)};
  if (const std::string field = selector->BadField(collection.kind.resource); !field.empty()) {
    return {nullptr, BadRequest("field label not supported: " + field)};
  }
  const std::string wanted = Option(request, "resourceVersion");
  const auto number = wanted.empty() ? 0 : NumberOf(wanted);
  if (!number) return {nullptr, BadRequest("Invalid value: \"" + wanted + "\"")};
  const bool with_initial = Option(request, "sendInitialEvents") == "true";
  if (with_initial && Option(request, "resourceVersionMatch") != "NotOlderThan") {
    return {nullptr,
            StatusAnswer(422, "Invalid",
                         "resourceVersionMatch is required when sendInitialEvents is set")};
  }
  const std::string& space = call.target.key.space;
  Stream::From from{*number};
  if (with_initial || *number == 0) {
    from = {version, Matching(collection.last, space, *selector),
            with_initial && Option(request, "allowWatchBookmarks") == "true", ""};
  } else if (*number < collection.forgotten) {
    from.error = Frame("ERROR", Expired("too old resource version: " + wanted + " (" +
                                        std::to_string(collection.forgotten + 1) + ")")
                                    .body);
  }
  return {std::make_unique<Stream>(collection, space, *selector, from), {}};
}

}  // namespace weft::world
