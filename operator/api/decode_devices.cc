#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/device_details.h"
#include "operator/api/devices.h"
#include "operator/api/json_reader.h"

namespace weft::api {
namespace {

constexpr const char* kExtendedClaim = "resource.kubernetes.io/extended-resource-claim";
constexpr const char* kPodClaimName = "resource.kubernetes.io/pod-claim-name";
constexpr IntRange kDevices = {.min = 0, .max = 1'000'000};

// A device's fields: v1beta1 has those of a device in `basic`.
Field DeviceBody(const Field& device) {
  const Field basic = device["basic"];
  return basic.present() ? basic : device;
}

// The attribute of that name, whoever its domain is: "type", "gpu.nvidia.com/type".
std::string AttributeOf(const Field& attributes, std::string_view name) {
  for (const Field& one : attributes.Members()) {
    const std::string_view key = one.key();
    const std::size_t slash = key.rfind('/');
    if (key.substr(slash == key.npos ? 0 : slash + 1) == name) return one["string"].Str();
  }
  return "";
}

// The name of what the device is a part of; "" if it is whole.
std::string WholeOf(const Field& body) {
  for (const Field& consumed : body["consumesCounters"].Items()) {
    if (std::string set = consumed["counterSet"].Str(); !set.empty()) return set;
  }
  std::string parent = AttributeOf(body["attributes"], "parentUUID");
  return parent.empty() ? AttributeOf(body["attributes"], "parentUuid") : parent;
}

bool IsTainted(const Field& body) {
  const std::vector<Field> taints = body["taints"].Items();
  return std::any_of(taints.begin(), taints.end(), [](const Field& taint) {
    const std::string effect = taint["effect"].Str();
    return effect == "NoSchedule" || effect == "NoExecute";
  });
}

ObjectMeta IdentityOf(ObjectMeta meta) {
  ObjectMeta identity;
  identity.key = std::move(meta.key);
  identity.uid = std::move(meta.uid);
  identity.resource_version = std::move(meta.resource_version);
  return identity;
}

// v1 has the fields of a request in `exactly`, or alternatives in `firstAvailable`.
DeviceRequest DecodeRequest(const Field& request) {
  Field body = request;
  if (const Field exactly = request["exactly"]; exactly.present()) body = exactly;
  DeviceRequest read;
  if (const auto alternatives = request["firstAvailable"].Items(); !alternatives.empty()) {
    body = alternatives.front();
    for (std::size_t i = 1; i < alternatives.size(); ++i) {
      read.other_classes.push_back(alternatives[i]["deviceClassName"].Str());
    }
  }
  read.device_class = body["deviceClassName"].Str();
  read.all = body["allocationMode"].Str() == "All";
  read.count = body["adminAccess"].Bool() ? 0 : body["count"].Int(kDevices, 1);
  return read;
}

std::vector<DeviceRequest> DecodeRequests(const Field& claim_spec) {
  std::vector<DeviceRequest> requests;
  for (const Field& request : claim_spec["devices"]["requests"].Items()) {
    requests.push_back(DecodeRequest(request));
  }
  return requests;
}

// The one node of a node selector; "" if it names none or several.
std::string NodeOf(const Field& selector) {
  const std::vector<Field> terms = selector["nodeSelectorTerms"].Items();
  if (terms.size() != 1) return "";
  for (const Field& one : terms.front()["matchFields"].Items()) {
    const std::vector<std::string> values = one["values"].StrList();
    const bool names = one["key"].Str() == "metadata.name" && one["operator"].Str() == "In";
    if (names && values.size() == 1) return values.front();
  }
  return "";
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The text of a CEL string literal without escapes; "" if it is anything else.
std::string_view LiteralOf(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back()) return "";
  if (text.front() != '"' && text.front() != '\'') return "";
  const std::string_view inner = text.substr(1, text.size() - 2);
  return inner.find_first_of("\"'\\") == inner.npos ? inner : "";
}

// Reads one term of a conjunction. Returns false if it says something else.
bool TakeTerm(std::string_view term, DeviceClass& into) {
  const std::size_t equals = term.find("==");
  if (equals == term.npos) return false;
  const std::string_view left = Trimmed(term.substr(0, equals));
  const std::string_view value = LiteralOf(Trimmed(term.substr(equals + 2)));
  if (value.empty()) return false;
  if (left == "device.driver") {
    into.driver = value;
    return true;
  }
  constexpr std::string_view kAttributes = "device.attributes[";
  if (!left.starts_with(kAttributes)) return false;
  if (left.ends_with("].productName")) {
    into.product = value;
    return true;
  }
  if (!left.ends_with("].type")) return false;
  into.type = value;
  return true;
}

}  // namespace

bool SameDevices(const ResourceSlice& a, const ResourceSlice& b) {
  return a.driver == b.driver && a.pool == b.pool && a.generation == b.generation &&
         a.slices_in_pool == b.slices_in_pool && a.node_name == b.node_name &&
         a.usable == b.usable && a.tainted == b.tainted && a.product == b.product &&
         a.profile == b.profile && a.parts == b.parts &&
         a.meta.annotations == b.meta.annotations;  // their details
}

Result<ResourceSlice> DecodeResourceSlice(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"];
  ResourceSlice slice;
  slice.place = decoding.place();
  slice.meta = IdentityOf(DecodeMeta(root["metadata"], Scope::kCluster));
  slice.driver = spec["driver"].Str();
  slice.pool = spec["pool"]["name"].Str();
  slice.generation = spec["pool"]["generation"].Int();
  slice.node_name = spec["nodeName"].Str();
  slice.slices_in_pool = spec["pool"]["resourceSliceCount"].Int(kDevices, 1);
  std::map<std::string, std::set<std::string>> wholes, tainted;
  std::set<std::string> products, profiles;
  for (const Field& device : spec["devices"].Items()) {
    const Field body = DeviceBody(device);
    const std::string name = device["name"].Str(), whole = WholeOf(body);
    if (!whole.empty()) slice.parts.push_back({name, whole});
    auto& of_kind = IsTainted(body) ? tainted : wholes;
    of_kind[AttributeOf(body["attributes"], "type")].insert(whole.empty() ? name : whole);
    products.insert(AttributeOf(body["attributes"], "productName"));
    profiles.insert(AttributeOf(body["attributes"], "partitionProfile"));
  }
  for (const auto& [type, names] : tainted) {
    slice.tainted[type] = static_cast<std::int64_t>(names.size());
  }
  if (products.size() == 1) slice.product = *products.begin();
  if (profiles.size() == 1) slice.profile = *profiles.begin();
  for (const auto& [type, names] : wholes) {
    slice.usable[type] = static_cast<std::int64_t>(names.size());
  }
  KeepDetails(spec, slice);
  if (Status done = decoding.status(); !done) return done.error();
  return slice;
}

Result<DeviceClass> DecodeDeviceClass(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"];
  DeviceClass one;
  one.place = decoding.place();
  one.meta = IdentityOf(DecodeMeta(root["metadata"], Scope::kCluster));
  one.extended_resource = spec["extendedResourceName"].Str();
  one.exact = true;
  for (const Field& selector : spec["selectors"].Items()) {
    const std::string expression = selector["cel"]["expression"].Str();
    std::string_view rest = expression;
    for (bool last = false; !last;) {
      const std::size_t end = rest.find("&&");
      last = end == rest.npos;
      if (!TakeTerm(Trimmed(rest.substr(0, end)), one)) one.exact = false;
      if (!last) rest.remove_prefix(end + 2);
    }
  }
  if (one.driver.empty()) one.exact = false;
  KeepDetails(spec, one);
  if (Status done = decoding.status(); !done) return done.error();
  return one;
}

Result<ClaimTemplate> DecodeClaimTemplate(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  ClaimTemplate one;
  one.place = decoding.place();
  one.meta = IdentityOf(DecodeMeta(root["metadata"], Scope::kNamespaced));
  one.requests = DecodeRequests(root["spec"]["spec"]);
  KeepDetails(root["spec"]["spec"], one);
  if (Status done = decoding.status(); !done) return done.error();
  return one;
}

Result<ClaimTemplate> DecodeComputeDomain(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  ClaimTemplate made;
  made.place = decoding.place();
  made.meta = IdentityOf(DecodeMeta(root["metadata"], Scope::kNamespaced));
  made.meta.key.name = root["spec"]["channel"]["resourceClaimTemplate"]["name"].Str();
  made.requests.push_back({kChannelClass, 1, false});
  if (Status done = decoding.status(); !done) return done.error();
  return made;
}

Result<ResourceClaim> DecodeResourceClaim(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  ResourceClaim claim;
  claim.place = decoding.place();
  ObjectMeta meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  claim.for_extended_resource = meta.annotations.At(kExtendedClaim) == "true";
  claim.of_template = meta.annotations.contains(kPodClaimName);
  claim.meta = IdentityOf(std::move(meta));
  claim.requests = DecodeRequests(root["spec"]);
  const Field status = root["status"], allocation = status["allocation"];
  for (const Field& device : allocation["devices"]["results"].Items()) {
    if (device["adminAccess"].Bool()) continue;
    claim.devices.push_back({device["driver"].Str(), device["pool"].Str(), device["device"].Str()});
  }
  claim.node_name = NodeOf(allocation["nodeSelector"]);
  KeepDetails(root["spec"], allocation, claim);
  for (const Field& user : status["reservedFor"].Items()) {
    if (user["resource"].Str() != "pods") continue;
    claim.users.push_back({user["name"].Str(), user["uid"].Str()});
  }
  if (Status done = decoding.status(); !done) return done.error();
  return claim;
}

}  // namespace weft::api
