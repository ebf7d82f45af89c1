#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/manifest/keep_rules.h"
#include "operator/manifest/source.h"

namespace weft::manifest {

// Builds objects from the events of the YAML or JSON parser, and passes each document, or each item
// of a List, to the sink as soon as it is complete. It drops the parts that keep_rules.h does not
// keep, and refuses input that exceeds the limits.
//
// A method for an event returns false if reading must stop; Failure says why. The parser must nest
// events correctly and send a map's members as Key, value, Key, value...
class ObjectBuilder {
 public:
  enum class Mode {
    kObjects,   // documents are Kubernetes objects or Lists of them
    kDocument,  // one document of any structure
    kServed,    // one document that contains objects: a watch event's `object`, a list's `items`
  };
  struct Shape {
    Mode mode = Mode::kObjects;
    Subject served = Subject::kWhole;  // kServed: subject of the inner objects, whatever their kind
  };
  ObjectBuilder(const std::string& name, const Limits& limits, Shape shape, const ObjectSink& sink);

  bool StartDocument();
  bool StartMap() { return Open(nlohmann::json::value_t::object); }
  bool StartList() { return Open(nlohmann::json::value_t::array); }
  bool Key(std::string_view key);
  bool String(std::string_view text);
  bool Scalar(nlohmann::json value);  // null, bool or number
  bool End();                         // ends the innermost map or list

  // Whether the next value will be dropped.
  bool skipping() const { return skip_next_ || skip_depth_ > 0; }
  // Whether the innermost map has the key already. Precondition: it is not being dropped.
  bool HasKey(std::string_view key) const { return frames_.back().container->contains(key); }
  const Limits& limits() const { return limits_; }
  // Records an error that the caller found. Returns false.
  bool Refuse(std::string what);
  void AddToRefusal(std::string_view more) { refusal_ += more; }

  // The recorded error with its line, or the sink's error.
  Error Failure(std::size_t line) const;
  // The number of documents that were not null.
  std::size_t documents_read() const { return documents_read_; }

 private:
  struct Frame {
    nlohmann::json* container;  // null: the items of a List
    Where where;
  };

  bool Count();
  bool Open(nlohmann::json::value_t type);
  // Where the next value is stored.
  nlohmann::json* Slot();
  Where NextWhere() const;
  bool StartsItems(nlohmann::json::value_t type) const;
  Subject StartSubject() const;
  bool Completed();  // after a complete value: checks if an item or document is complete
  bool FinishItem();
  bool FinishDocument();
  bool FinishList(const std::string& kind);
  bool Deliver(nlohmann::json object, const std::string& place);
  std::string DocumentPlace() const;
  std::string ItemPlace(std::size_t index) const;

  const std::string& name_;
  const Limits& limits_;
  const Shape shape_;
  const ObjectSink& sink_;

  nlohmann::json document_;
  nlohmann::json item_;
  std::vector<Frame> frames_;
  nlohmann::json* member_ = nullptr;  // the value of the key just read
  Where member_where_ = Where::kElsewhere;
  bool kind_next_ = false;  // ... which is the object's kind
  bool items_next_ = false;
  Subject subject_ = Subject::kUnknown;
  bool skip_next_ = false;
  std::size_t skip_depth_ = 0;

  bool has_items_ = false;  // the document has items
  std::size_t item_count_ = 0;
  // Items without a kind that were read before their list's kind.
  std::vector<std::pair<std::size_t, nlohmann::json>> waiting_;

  std::size_t values_ = 0;
  std::size_t documents_ = 0;
  std::size_t documents_read_ = 0;
  std::string refusal_;
  Status sink_status_;
};

}  // namespace weft::manifest
