#include "operator/manifest/protobuf.h"

#include <google/protobuf/io/coded_stream.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "operator/base/timestamp.h"
#include "operator/manifest/text_check.h"

namespace weft::manifest {
namespace {

using Json = nlohmann::json;
using google::protobuf::io::CodedInputStream;

enum class Shape : std::uint8_t {
  kText,
  kBytes,
  kNumber,
  kBool,
  kTime,      // {seconds = 1, nanos = 2} as RFC 3339
  kQuantity,  // {string = 1} as that text
  kObject,
};

enum class Many : std::uint8_t { kOne, kList, kMap };  // kMap: {key = 1, value = 2}, keys are text

struct FieldRule {
  std::uint32_t number;
  const char* key;
  Shape shape = Shape::kText;
  std::span<const FieldRule> of = {};  // kObject
  Many many = Many::kOne;
};
using Fields = std::span<const FieldRule>;

constexpr FieldRule kOwner[] = {
    {1, "kind"}, {3, "name"}, {4, "uid"}, {5, "apiVersion"}, {6, "controller", Shape::kBool}};
constexpr FieldRule kObjectMeta[] = {{1, "name"},
                                     {3, "namespace"},
                                     {5, "uid"},
                                     {6, "resourceVersion"},
                                     {7, "generation", Shape::kNumber},
                                     {8, "creationTimestamp", Shape::kTime},
                                     {9, "deletionTimestamp", Shape::kTime},
                                     {11, "labels", Shape::kText, {}, Many::kMap},
                                     {12, "annotations", Shape::kText, {}, Many::kMap},
                                     {13, "ownerReferences", Shape::kObject, kOwner, Many::kList},
                                     {14, "finalizers", Shape::kText, {}, Many::kList}};

constexpr FieldRule kTaint[] = {{1, "key"}, {2, "value"}, {3, "effect"}};
constexpr FieldRule kNodeSpec[] = {{4, "unschedulable", Shape::kBool},
                                   {5, "taints", Shape::kObject, kTaint, Many::kList}};
constexpr FieldRule kNodeCondition[] = {
    {1, "type"}, {2, "status"}, {4, "lastTransitionTime", Shape::kTime}};
constexpr FieldRule kNodeStatus[] = {
    {1, "capacity", Shape::kQuantity, {}, Many::kMap},
    {2, "allocatable", Shape::kQuantity, {}, Many::kMap},
    {4, "conditions", Shape::kObject, kNodeCondition, Many::kList}};
constexpr FieldRule kNodeMeta[] = {{1, "name"},
                                   {5, "uid"},
                                   {6, "resourceVersion"},
                                   {8, "creationTimestamp", Shape::kTime},
                                   {11, "labels", Shape::kText, {}, Many::kMap},
                                   {12, "annotations", Shape::kText, {}, Many::kMap}};
constexpr FieldRule kNode[] = {{1, "metadata", Shape::kObject, kNodeMeta},
                               {2, "spec", Shape::kObject, kNodeSpec},
                               {3, "status", Shape::kObject, kNodeStatus}};

constexpr FieldRule kResources[] = {{1, "limits", Shape::kQuantity, {}, Many::kMap},
                                    {2, "requests", Shape::kQuantity, {}, Many::kMap}};
constexpr FieldRule kPort[] = {{2, "hostPort", Shape::kNumber},
                               {3, "containerPort", Shape::kNumber},
                               {4, "protocol"},
                               {5, "hostIP"}};
constexpr FieldRule kContainer[] = {{1, "name"},
                                    {6, "ports", Shape::kObject, kPort, Many::kList},
                                    {8, "resources", Shape::kObject, kResources},
                                    {24, "restartPolicy"}};
constexpr FieldRule kRequirement[] = {
    {1, "key"}, {2, "operator"}, {3, "values", Shape::kText, {}, Many::kList}};
constexpr FieldRule kTerm[] = {{1, "matchExpressions", Shape::kObject, kRequirement, Many::kList},
                               {2, "matchFields", Shape::kObject, kRequirement, Many::kList}};
constexpr FieldRule kNodeSelector[] = {
    {1, "nodeSelectorTerms", Shape::kObject, kTerm, Many::kList}};
constexpr FieldRule kPreferred[] = {{1, "weight", Shape::kNumber},
                                    {2, "preference", Shape::kObject, kTerm}};
constexpr FieldRule kNodeAffinity[] = {
    {1, "requiredDuringSchedulingIgnoredDuringExecution", Shape::kObject, kNodeSelector},
    {2, "preferredDuringSchedulingIgnoredDuringExecution", Shape::kObject, kPreferred,
     Many::kList}};
constexpr FieldRule kLabelSelector[] = {
    {1, "matchLabels", Shape::kText, {}, Many::kMap},
    {2, "matchExpressions", Shape::kObject, kRequirement, Many::kList}};
constexpr FieldRule kPodTerm[] = {{1, "labelSelector", Shape::kObject, kLabelSelector},
                                  {2, "namespaces", Shape::kText, {}, Many::kList},
                                  {3, "topologyKey"},
                                  {4, "namespaceSelector", Shape::kObject, kLabelSelector},
                                  {5, "matchLabelKeys", Shape::kText, {}, Many::kList},
                                  {6, "mismatchLabelKeys", Shape::kText, {}, Many::kList}};
constexpr FieldRule kPreferredPod[] = {{1, "weight", Shape::kNumber},
                                       {2, "podAffinityTerm", Shape::kObject, kPodTerm}};
constexpr FieldRule kPodAffinity[] = {
    {1, "requiredDuringSchedulingIgnoredDuringExecution", Shape::kObject, kPodTerm, Many::kList},
    {2, "preferredDuringSchedulingIgnoredDuringExecution", Shape::kObject, kPreferredPod,
     Many::kList}};
constexpr FieldRule kAffinity[] = {{1, "nodeAffinity", Shape::kObject, kNodeAffinity},
                                   {2, "podAffinity", Shape::kObject, kPodAffinity},
                                   {3, "podAntiAffinity", Shape::kObject, kPodAffinity}};
constexpr FieldRule kSpread[] = {
    {1, "maxSkew", Shape::kNumber},    {2, "topologyKey"},
    {3, "whenUnsatisfiable"},          {4, "labelSelector", Shape::kObject, kLabelSelector},
    {5, "minDomains", Shape::kNumber}, {6, "nodeAffinityPolicy"},
    {7, "nodeTaintsPolicy"},           {8, "matchLabelKeys", Shape::kText, {}, Many::kList}};
constexpr FieldRule kToleration[] = {{1, "key"}, {2, "operator"}, {3, "value"}, {4, "effect"}};
constexpr FieldRule kGate[] = {{1, "name"}};
constexpr FieldRule kClaim[] = {
    {1, "name"}, {3, "resourceClaimName"}, {4, "resourceClaimTemplateName"}};
constexpr FieldRule kClaimSource[] = {{1, "claimName"}};
constexpr FieldRule kStorage[] = {{2, "requests", Shape::kQuantity, {}, Many::kMap}};
constexpr FieldRule kClaimSpec[] = {{1, "accessModes", Shape::kText, {}, Many::kList},
                                    {2, "resources", Shape::kObject, kStorage},
                                    {5, "storageClassName"},
                                    {6, "volumeMode"}};
constexpr FieldRule kClaimTemplate[] = {{2, "spec", Shape::kObject, kClaimSpec}};
constexpr FieldRule kEphemeral[] = {{1, "volumeClaimTemplate", Shape::kObject, kClaimTemplate}};
constexpr FieldRule kVolumeSource[] = {{10, "persistentVolumeClaim", Shape::kObject, kClaimSource},
                                       {29, "ephemeral", Shape::kObject, kEphemeral}};
constexpr FieldRule kVolume[] = {{1, "name"}, {2, "volumeSource", Shape::kObject, kVolumeSource}};
constexpr FieldRule kSchedulingGroup[] = {{1, "podGroupName"}};
constexpr FieldRule kPodSpec[] = {
    {1, "volumes", Shape::kObject, kVolume, Many::kList},
    {2, "containers", Shape::kObject, kContainer, Many::kList},
    {7, "nodeSelector", Shape::kText, {}, Many::kMap},
    {10, "nodeName"},
    {11, "hostNetwork", Shape::kBool},
    {18, "affinity", Shape::kObject, kAffinity},
    {20, "initContainers", Shape::kObject, kContainer, Many::kList},
    {22, "tolerations", Shape::kObject, kToleration, Many::kList},
    {24, "priorityClassName"},
    {25, "priority", Shape::kNumber},
    {32, "overhead", Shape::kQuantity, {}, Many::kMap},
    {33, "topologySpreadConstraints", Shape::kObject, kSpread, Many::kList},
    {38, "schedulingGates", Shape::kObject, kGate, Many::kList},
    {39, "resourceClaims", Shape::kObject, kClaim, Many::kList},
    {40, "resources", Shape::kObject, kResources},
    {43, "schedulingGroup", Shape::kObject, kSchedulingGroup}};
constexpr FieldRule kPodCondition[] = {{1, "type"},
                                       {2, "status"},
                                       {4, "lastTransitionTime", Shape::kTime},
                                       {5, "reason"},
                                       {6, "message"}};
constexpr FieldRule kWaiting[] = {{1, "reason"}, {2, "message"}};
constexpr FieldRule kTerminated[] = {{1, "exitCode", Shape::kNumber},
                                     {3, "reason"},
                                     {4, "message"},
                                     {6, "finishedAt", Shape::kTime}};
constexpr FieldRule kState[] = {{1, "waiting", Shape::kObject, kWaiting},
                                {3, "terminated", Shape::kObject, kTerminated}};
constexpr FieldRule kContainerStatus[] = {
    {1, "name"},
    {2, "state", Shape::kObject, kState},
    {3, "lastState", Shape::kObject, kState},
    {5, "restartCount", Shape::kNumber},
    {6, "image"},
    {10, "allocatedResources", Shape::kQuantity, {}, Many::kMap},
    {11, "resources", Shape::kObject, kResources}};
constexpr FieldRule kClaimStatus[] = {{1, "name"}, {2, "resourceClaimName"}};
constexpr FieldRule kPodStatus[] = {
    {1, "phase"},
    {2, "conditions", Shape::kObject, kPodCondition, Many::kList},
    {4, "reason"},
    {8, "containerStatuses", Shape::kObject, kContainerStatus, Many::kList},
    {10, "initContainerStatuses", Shape::kObject, kContainerStatus, Many::kList},
    {11, "nominatedNodeName"},
    {15, "resourceClaimStatuses", Shape::kObject, kClaimStatus, Many::kList},
    {19, "allocatedResources", Shape::kQuantity, {}, Many::kMap},
    {20, "resources", Shape::kObject, kResources}};
constexpr FieldRule kPod[] = {{1, "metadata", Shape::kObject, kObjectMeta},
                              {2, "spec", Shape::kObject, kPodSpec},
                              {3, "status", Shape::kObject, kPodStatus}};

constexpr FieldRule kTypeMeta[] = {{1, "apiVersion"}, {2, "kind"}};
constexpr FieldRule kEnvelope[] = {{1, "typeMeta", Shape::kObject, kTypeMeta},
                                   {2, "raw", Shape::kBytes}};
constexpr FieldRule kRaw[] = {{1, "raw", Shape::kBytes}};
constexpr FieldRule kWatchEvent[] = {{1, "type"}, {2, "object", Shape::kObject, kRaw}};
constexpr FieldRule kListMeta[] = {{2, "resourceVersion"}, {3, "continue"}};
constexpr FieldRule kList[] = {{1, "metadata", Shape::kObject, kListMeta},
                               {2, "items", Shape::kBytes, {}, Many::kList}};
constexpr FieldRule kObject[] = {{1, "metadata", Shape::kObject, kObjectMeta}};
constexpr FieldRule kStatus[] = {{3, "message"}, {4, "reason"}, {6, "code", Shape::kNumber}};

Fields FieldsOf(Message message) {
  switch (message) {
    case Message::kEnvelope:
      return kEnvelope;
    case Message::kWatchEvent:
      return kWatchEvent;
    case Message::kList:
      return kList;
    case Message::kObject:
      return kObject;
    case Message::kNode:
      return kNode;
    case Message::kPod:
      return kPod;
    case Message::kStatus:
      return kStatus;
  }
  return {};
}

constexpr UnixSeconds kLastSecond = 253'402'300'799;  // of the year 9999

// A field's tag: its number, and in the lowest three bits how its value is written.
// Source  Protocol Buffers Encoding, protobuf.dev/programming-guides/encoding.
constexpr unsigned kTypeBits = 3;
constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5;
constexpr std::uint32_t NumberOf(std::uint32_t tag) { return tag >> kTypeBits; }
constexpr std::uint32_t TypeOf(std::uint32_t tag) { return tag & ((1U << kTypeBits) - 1); }

// Reads one message by its table of fields. All methods return false if the bytes are not such a
// message.
class Reader {
 public:
  explicit Reader(std::string_view bytes)
      : in_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  bool Read(Fields fields, Json& json) {
    json = Json::object();
    while (const std::uint32_t tag = in_.ReadTag()) {
      const FieldRule* field = Find(fields, tag);
      if (field == nullptr ? !Skip(tag) : !ReadField(*field, json)) return false;
    }
    return in_.ConsumedEntireMessage();
  }
  bool clean() const { return clean_; }

 private:
  static const FieldRule* Find(Fields fields, std::uint32_t tag) {
    const std::uint32_t number = NumberOf(tag);
    for (const FieldRule& field : fields) {
      if (field.number != number) continue;
      const bool varint = field.many == Many::kOne &&
                          (field.shape == Shape::kNumber || field.shape == Shape::kBool);
      return TypeOf(tag) == (varint ? kVarint : kLengthDelimited) ? &field : nullptr;
    }
    return nullptr;
  }

  // Skips the value of a field that is in no table. Kubernetes writes no groups.
  bool Skip(std::uint32_t tag) {
    std::uint64_t number = 0;
    std::uint32_t size = 0;
    if (NumberOf(tag) == 0) return false;
    switch (TypeOf(tag)) {
      case kVarint:
        return in_.ReadVarint64(&number);
      case kFixed64:
        return in_.Skip(8);
      case kLengthDelimited:
        return in_.ReadVarint32(&size) && size <= Left() && in_.Skip(static_cast<int>(size));
      case kFixed32:
        return in_.Skip(4);
      default:
        return false;
    }
  }

  bool ReadField(const FieldRule& field, Json& json) {
    if (field.many == Many::kMap) return ReadEntry(field, json[field.key]);
    Json value;
    if (!ReadValue(field, value)) return false;
    if (field.many == Many::kList) {
      json[field.key].push_back(std::move(value));
    } else if (!value.is_null()) {
      json[field.key] = std::move(value);
    }
    return true;
  }

  bool ReadEntry(const FieldRule& field, Json& map) {
    const FieldRule entry[] = {{1, "key"}, {2, "value", field.shape}};
    Json read;
    if (!Nested(entry, read)) return false;
    if (!map.is_object()) map = Json::object();
    map[read.value("key", "")] = read.value("value", "");
    return true;
  }

  // The value is null if JSON would leave the field out.
  bool ReadValue(const FieldRule& field, Json& value) {
    switch (field.shape) {
      case Shape::kObject:
        return Nested(field.of, value);
      case Shape::kNumber:
      case Shape::kBool:
        return ReadNumber(field.shape, value);
      case Shape::kTime:
        return ReadTime(value);
      case Shape::kQuantity: {
        static constexpr FieldRule kOnly[] = {{1, "text"}};
        Json read;
        if (!Nested(kOnly, read)) return false;
        value = read.value("text", "0");
        return true;
      }
      case Shape::kText:
      case Shape::kBytes:
        return ReadText(field, value);
    }
    return false;
  }

  bool Nested(Fields fields, Json& value) {
    std::uint32_t size = 0;
    if (!in_.ReadVarint32(&size) || size > Left()) return false;
    const CodedInputStream::Limit outer = in_.PushLimit(static_cast<int>(size));
    return Read(fields, value) && in_.CheckEntireMessageConsumedAndPopLimit(outer);
  }

  // Bytes left in the current message. The stream would silently shorten a limit beyond it.
  std::uint32_t Left() const { return static_cast<std::uint32_t>(in_.BytesUntilLimit()); }

  bool ReadNumber(Shape shape, Json& value) {
    std::uint64_t number = 0;
    if (!in_.ReadVarint64(&number)) return false;
    if (shape == Shape::kBool) {
      value = number != 0;
    } else {
      value = static_cast<std::int64_t>(number);
    }
    return true;
  }

  bool ReadTime(Json& value) {
    static constexpr FieldRule kSeconds[] = {{1, "seconds", Shape::kNumber}};
    Json read;
    if (!Nested(kSeconds, read)) return false;
    const auto seconds = read.value("seconds", std::int64_t{0});  // 0: no time
    if (seconds > 0 && seconds <= kLastSecond) value = FormatTime(seconds);
    return true;
  }

  bool ReadText(const FieldRule& field, Json& value) {
    std::string text;
    std::uint32_t size = 0;
    if (!in_.ReadVarint32(&size) || !in_.ReadString(&text, static_cast<int>(size))) return false;
    if (field.shape == Shape::kText && !IsCleanUtf8(text)) {
      clean_ = false;
      text.clear();
    }
    if (!text.empty() || field.many == Many::kList) value = std::move(text);
    return true;
  }

  CodedInputStream in_;
  bool clean_ = true;
};

}  // namespace

bool ReadProtobuf(std::string_view bytes, Message message, nlohmann::json& json, bool& clean) {
  Reader reader(bytes);
  const bool read = reader.Read(FieldsOf(message), json);
  clean = reader.clean();
  return read;
}

}  // namespace weft::manifest
