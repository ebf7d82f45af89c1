#include "operator/api/device_details.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/pod_requirements.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

constexpr const char* kDetails = "weft.dev/device-details";
constexpr const char* kShareable = "allowMultipleAllocations";
constexpr IntRange kDevices = {.min = 0, .max = 1'000'000};

// Copies the members of that name that are there.
void Copy(const Field& from, std::initializer_list<const char*> names, Json& to) {
  for (const char* name : names) {
    if (const Field field = from[name]; field.present()) to[name] = *field.json();
  }
}

// Compact; manifests may have texts that are no UTF-8.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Keep(const Json& details, ObjectMeta& meta) {
  if (!details.empty()) meta.annotations.Set(kDetails, TextOf(details));
}

// Calls `read` with the details, if there are some and it notes no error.
template <typename T>
std::optional<T> Read(const ObjectMeta& meta, T (*read)(const Field& details)) {
  const auto text = meta.annotations.At(kDetails);
  if (!text) return std::nullopt;
  const Json details = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (details.is_discarded()) return std::nullopt;
  Decoding decoding(details, "");
  T found = read(decoding.Root());
  if (decoding.failed()) return std::nullopt;
  return found;
}

DevicePlace PlaceOf(const Field& body) {
  return {body["nodeName"].Str(), DecodeNodeSelector(body["nodeSelector"]),
          body["allNodes"].Bool()};
}

// Names without a domain are in that of the driver.
std::string QualifiedName(const Field& member, const std::string& driver) {
  const std::string key(member.key());
  return key.find('/') == key.npos ? driver + "/" + key : key;
}

DeviceValue ValueOf(const Field& attribute) {
  if (attribute["string"].present()) return attribute["string"].Str();
  if (attribute["bool"].present()) return attribute["bool"].Bool();
  if (attribute["int"].present()) return attribute["int"].Int();
  return {};
}

// A capacity is {"value": "40Gi"}; v1alpha3 and v1beta1's first releases had the quantity alone.
std::int64_t AmountOf(const Field& capacity) {
  const bool bare = capacity.json()->is_string() || capacity.json()->is_number();
  return (bare ? capacity : capacity["value"]).MilliQuantity();
}

std::vector<fabric::Taint> TaintsOf(const Field& body) {
  std::vector<fabric::Taint> taints;
  for (const Field& one : body["taints"].Items()) {
    taints.push_back({one["key"].Str(), one["value"].Str(), one["effect"].Str()});
  }
  return taints;
}

Device DeviceOf(const Field& item, const std::string& driver) {
  const Field basic = item["basic"], body = basic.present() ? basic : item;
  Device device;
  device.name = item["name"].Str();
  device.facts.driver = driver;
  for (const Field& one : body["attributes"].Members()) {
    device.facts.attributes[QualifiedName(one, driver)] = ValueOf(one);
  }
  for (const Field& one : body["capacity"].Members()) {
    if (one.present()) device.facts.capacity[QualifiedName(one, driver)] = AmountOf(one);
  }
  device.taints = TaintsOf(body);
  device.shareable = body[kShareable].Bool();
  device.place = PlaceOf(body);
  return device;
}

SliceDetails ReadSlice(const Field& spec) {
  SliceDetails slice{PlaceOf(spec), {}};
  const std::string driver = spec["driver"].Str();
  for (const Field& item : spec["devices"].Items()) {
    slice.devices.push_back(DeviceOf(item, driver));
  }
  return slice;
}

std::vector<std::string> ReadSelectors(const Field& spec) {
  std::vector<std::string> expressions;
  for (const Field& one : spec["selectors"].Items()) {
    expressions.push_back(one["cel"]["expression"].Str());
  }
  return expressions;
}

RequestChoice ChoiceOf(const Field& body) {
  RequestChoice choice;
  choice.device_class = body["deviceClassName"].Str();
  choice.count = body["adminAccess"].Bool() ? 0 : body["count"].Int(kDevices, 1);
  choice.all = body["allocationMode"].Str() == "All";
  choice.selectors = ReadSelectors(body);
  for (const Field& one : body["tolerations"].Items()) {
    choice.tolerations.push_back(
        {one["key"].Str(), one["operator"].Str("Equal"), one["value"].Str(), one["effect"].Str()});
  }
  return choice;
}

std::vector<ClaimRequest> ReadRequests(const Field& spec) {
  std::vector<ClaimRequest> requests;
  for (const Field& one : spec["requests"].Items()) {
    ClaimRequest request{one["name"].Str(), {}};
    for (const Field& choice : one["firstAvailable"].Items()) {
      request.choices.push_back(ChoiceOf(choice));
    }
    const Field exactly = one["exactly"];
    if (request.choices.empty())
      request.choices.push_back(ChoiceOf(exactly.present() ? exactly : one));
    requests.push_back(std::move(request));
  }
  return requests;
}

std::optional<std::vector<rules::NodeSelectorTerm>> ReadPlace(const Field& details) {
  return DecodeNodeSelector(details["nodeSelector"]);
}

}  // namespace

void KeepDetails(const Field& slice_spec, ResourceSlice& slice) {
  Json details = Json::object();
  Copy(slice_spec, {"driver", "nodeName", "nodeSelector", "allNodes", "devices"}, details);
  Keep(details, slice.meta);
}

void DropDetails(ResourceSlice& slice) { slice.meta.annotations = {}; }

void KeepDetails(const Field& class_spec, DeviceClass& device_class) {
  Json details = {{"selectors", Json::array()}};
  Copy(class_spec, {"selectors"}, details);
  Keep(details, device_class.meta);
}

void KeepDetails(const Field& claim_spec, ClaimTemplate& claim_template) {
  Json details = Json::object();
  Copy(claim_spec["devices"], {"requests"}, details);
  Keep(details, claim_template.meta);
}

void KeepDetails(const Field& claim_spec, const Field& allocation, ResourceClaim& claim) {
  Json details = Json::object();
  Copy(claim_spec["devices"], {"requests"}, details);
  Copy(allocation, {"nodeSelector"}, details);
  Keep(details, claim.meta);
}

std::optional<SliceDetails> DetailsOf(const ResourceSlice& slice) {
  return Read(slice.meta, ReadSlice);
}

// The text is compact JSON.
bool ListsDevice(const ResourceSlice& slice, const std::string& name) {
  const std::string member = R"("name":)" + TextOf(name);
  return slice.meta.annotations.At(kDetails).value_or("").find(member) != std::string_view::npos;
}

bool ListsShareable(const ResourceSlice& slice) {
  const std::string member = "\"" + std::string(kShareable) + "\":true";
  return slice.meta.annotations.At(kDetails).value_or("").find(member) != std::string_view::npos;
}

std::optional<std::vector<std::string>> SelectorsOf(const DeviceClass& device_class) {
  return Read(device_class.meta, ReadSelectors);
}

std::optional<std::vector<ClaimRequest>> RequestsOf(const ClaimTemplate& claim_template) {
  return Read(claim_template.meta, ReadRequests);
}

std::optional<std::vector<ClaimRequest>> RequestsOf(const ResourceClaim& claim) {
  return Read(claim.meta, ReadRequests);
}

std::optional<std::vector<rules::NodeSelectorTerm>> AllocatedPlace(const ResourceClaim& claim) {
  return Read(claim.meta, ReadPlace).value_or(std::nullopt);
}

}  // namespace weft::api
