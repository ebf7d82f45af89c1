#include "operator/manifest/object_builder.h"

#include "operator/api/json_member.h"
#include "operator/manifest/text_check.h"

namespace weft::manifest {
namespace {

using Json = nlohmann::json;

// The longest key in Kubernetes, a label's, has 317 bytes; keys in topology models may be longer.
constexpr std::size_t kKeyBytes = 64 << 10;

// "Node" for "NodeList"; "" for "List", whose items name their own kinds.
std::string ItemKind(const std::string& list_kind) {
  constexpr std::string_view kSuffix = "List";
  return list_kind.ends_with(kSuffix) ? list_kind.substr(0, list_kind.size() - kSuffix.size()) : "";
}

// Adds kind and version, which the API server leaves out in the items of a <Kind>List.
void FillKind(const Json& list, Json& item) {
  item["kind"] = ItemKind(api::TextAt(list, "kind"));
  if (!item.contains("apiVersion")) item["apiVersion"] = api::TextAt(list, "apiVersion");
}

}  // namespace

ObjectBuilder::ObjectBuilder(const std::string& name, const Limits& limits, Shape shape,
                             const ObjectSink& sink)
    : name_(name), limits_(limits), shape_(shape), sink_(sink) {}

Subject ObjectBuilder::StartSubject() const {
  if (shape_.mode == Mode::kServed) return shape_.served;
  return shape_.mode == Mode::kObjects ? Subject::kUnknown : Subject::kEverything;
}

bool ObjectBuilder::Refuse(std::string what) {
  refusal_ = std::move(what);
  return false;
}

Error ObjectBuilder::Failure(std::size_t line) const {
  if (!sink_status_) return sink_status_.error();
  return Invalid(name_ + ": line " + std::to_string(line) + ": " + refusal_);
}

std::string ObjectBuilder::DocumentPlace() const {
  return name_ + ": document " + std::to_string(documents_);
}

std::string ObjectBuilder::ItemPlace(std::size_t index) const {
  return DocumentPlace() + ": items[" + std::to_string(index) + "]";
}

bool ObjectBuilder::Count() {
  if (++values_ > limits_.values) {
    return Refuse("more than " + std::to_string(limits_.values) + " values");
  }
  return true;
}

bool ObjectBuilder::StartDocument() {
  if (++documents_ > limits_.documents) {
    return Refuse("more than " + std::to_string(limits_.documents) + " documents");
  }
  if (shape_.mode != Mode::kObjects && documents_read_ > 0) {
    return Refuse("a second document; only one is read here");
  }
  document_ = Json();
  has_items_ = false;
  item_count_ = 0;
  waiting_.clear();
  subject_ = StartSubject();
  return true;
}

Where ObjectBuilder::NextWhere() const {
  if (frames_.empty()) return shape_.mode == Mode::kServed ? Where::kAround : Where::kRoot;
  if (frames_.back().container == nullptr) return Where::kRoot;
  return frames_.back().container->is_object() ? member_where_ : frames_.back().where;
}

bool ObjectBuilder::StartsItems(Json::value_t type) const {
  if (shape_.mode != Mode::kObjects || type != Json::value_t::array || !items_next_) return false;
  // If the kind comes after the items, FinishList checks it.
  return frames_.size() == 1 &&
         (!document_.contains("kind") || api::TextAt(document_, "kind").ends_with("List"));
}

Json* ObjectBuilder::Slot() {
  if (frames_.empty()) return &document_;
  Json* container = frames_.back().container;
  if (container == nullptr) {
    const std::string kind = ItemKind(api::TextAt(document_, "kind"));
    subject_ = kind.empty() ? Subject::kUnknown : SubjectOfKind(kind);
    item_ = Json();
    return &item_;
  }
  return container->is_object() ? member_ : &container->emplace_back();
}

bool ObjectBuilder::Open(Json::value_t type) {
  if (!Count()) return false;
  if (frames_.size() + skip_depth_ >= limits_.depth) {
    return Refuse("nested deeper than " + std::to_string(limits_.depth));
  }
  if (skipping()) {
    skip_next_ = false;
    ++skip_depth_;
    return true;
  }
  const Where where = NextWhere();
  if (StartsItems(type)) {
    has_items_ = true;
    frames_.push_back({nullptr, Where::kRoot});
    return true;
  }
  Json* slot = Slot();
  *slot = Json(type);
  frames_.push_back({slot, where});
  return true;
}

bool ObjectBuilder::Key(std::string_view key) {
  if (key.size() > kKeyBytes) return Refuse("a key longer than 64 KiB");
  if (skip_depth_ > 0) return true;
  const Where here = frames_.back().where;
  const std::optional<Where> where = Enter(subject_, here, key);
  if (!where) {
    skip_next_ = true;
    return true;
  }
  auto& members = frames_.back().container->get_ref<Json::object_t&>();
  const std::size_t before = members.size();
  const auto at = members.try_emplace(members.end(), std::string(key), nullptr);
  if (members.size() == before) return Refuse("duplicate key \"" + ForMessage(key) + "\"");
  member_ = &at->second;
  member_where_ = *where;
  kind_next_ = here == Where::kRoot && key == "kind";
  items_next_ = here == Where::kRoot && key == "items";
  return true;
}

bool ObjectBuilder::String(std::string_view text) {
  if (text.size() > limits_.scalar_bytes) {
    return Refuse("a text longer than " + std::to_string(limits_.scalar_bytes) + " bytes");
  }
  if (text.find('\0') != text.npos) return Refuse("a NUL inside a text");
  if (skipping()) return Scalar(nullptr);
  const bool is_kind = kind_next_ && !frames_.empty() && frames_.back().where == Where::kRoot;
  if (is_kind && shape_.mode == Mode::kObjects) subject_ = SubjectOfKind(text);
  return Scalar(Json(text));
}

bool ObjectBuilder::Scalar(Json value) {
  if (!Count()) return false;
  if (skipping()) {
    skip_next_ = false;
    return true;
  }
  *Slot() = std::move(value);
  return Completed();
}

bool ObjectBuilder::End() {
  if (skip_depth_ > 0) {
    --skip_depth_;
    return true;
  }
  const bool was_items = frames_.back().container == nullptr;
  frames_.pop_back();
  if (was_items) {
    subject_ = Subject::kUnknown;  // the parser is in the List again
    return true;
  }
  return Completed();
}

bool ObjectBuilder::Completed() {
  kind_next_ = items_next_ = false;
  if (frames_.empty()) return FinishDocument();
  if (frames_.back().container == nullptr) return FinishItem();
  return true;
}

bool ObjectBuilder::FinishItem() {
  const std::size_t index = item_count_++;
  if (!item_.is_object()) {
    return Refuse("items[" + std::to_string(index) + "] must be an object");
  }
  if (!item_.contains("kind")) {
    if (!document_.contains("kind") || !document_.contains("apiVersion")) {
      waiting_.emplace_back(index, std::move(item_));
      return true;
    }
    if (!ItemKind(api::TextAt(document_, "kind")).empty()) FillKind(document_, item_);
  }
  return Deliver(std::move(item_), ItemPlace(index));
}

bool ObjectBuilder::FinishDocument() {
  if (document_.is_null()) return true;
  ++documents_read_;
  if (shape_.mode != Mode::kObjects) return Deliver(std::move(document_), DocumentPlace());
  if (!document_.is_object()) return Refuse("a document must be an object (key: value)");
  const std::string kind = api::TextAt(document_, "kind");
  if (has_items_) return FinishList(kind);
  if (kind == "List") {
    if (!document_.contains("items") || document_["items"].is_null()) return true;
    return Refuse("items must be a list");
  }
  return Deliver(std::move(document_), DocumentPlace());
}

bool ObjectBuilder::FinishList(const std::string& kind) {
  if (!kind.ends_with("List")) {
    return Refuse(kind.empty()
                      ? "a document with items but without a kind"
                      : "items in an object of kind " + ForMessage(kind) + ", which is not a List");
  }
  for (auto& [index, item] : waiting_) {
    if (!ItemKind(kind).empty()) FillKind(document_, item);
    if (!Deliver(std::move(item), ItemPlace(index))) return false;
  }
  waiting_.clear();
  return true;
}

bool ObjectBuilder::Deliver(Json object, const std::string& place) {
  sink_status_ = sink_(std::move(object), place);
  return static_cast<bool>(sink_status_);
}

}  // namespace weft::manifest
