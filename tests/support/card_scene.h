#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/cluster/workload.h"
#include "operator/rules/node_filter.h"
#include "tests/support/scene.h"

namespace weft::testing {

// n0 to n3, of 8 GPUs each, and a job of four workers with a GPU and a claim of template `cards`
// each: of one device of the class `nic`, unless the test asks for something else.
struct CardScene : Scene {
  CardScene() : Scene(FourNodes()) {
    Class("nic", {R"(device.driver == "nic.example.com")"});
    api::TrainingJob& job = Job("job", 4, 1);
    job.claims = {{"", "cards"}};
  }

  template <typename T>
  static T Of(Result<T> decoded) {
    EXPECT_TRUE(decoded) << decoded.error().message;
    return *std::move(decoded);
  }

  void Class(const std::string& name, const std::vector<std::string>& expressions) {
    nlohmann::json object = {{"kind", "DeviceClass"}, {"metadata", {{"name", name}}}};
    object["spec"]["selectors"] = nlohmann::json::array();
    for (const std::string& one : expressions) {
      object["spec"]["selectors"].push_back({{"cel", {{"expression", one}}}});
    }
    inputs.device_classes.push_back(Of(api::DecodeDeviceClass(object, "f")));
  }

  // A slice of its own pool, with this more in its spec.
  void Slice(const std::string& pool, nlohmann::json more, const nlohmann::json& devices) {
    more["driver"] = "nic.example.com";
    more["devices"] = devices;
    if (!more.contains("pool")) more["pool"] = {{"name", pool}, {"resourceSliceCount", 1}};
    const nlohmann::json object = {
        {"kind", "ResourceSlice"}, {"metadata", {{"name", pool + "-slice"}}}, {"spec", more}};
    inputs.resource_slices.push_back(Of(api::DecodeResourceSlice(object, "f")));
  }

  // Devices nic-0 and on, each with this more.
  static nlohmann::json Cards(int count, const nlohmann::json& more = nlohmann::json::object()) {
    nlohmann::json devices = nlohmann::json::array();
    for (int i = 0; i < count; ++i) {
      nlohmann::json device = more;
      device["name"] = "nic-" + std::to_string(i);
      devices.push_back(device);
    }
    return devices;
  }

  void CardsOn(const std::string& node, int count,
               const nlohmann::json& more = nlohmann::json::object()) {
    Slice(node, {{"nodeName", node}}, Cards(count, more));
  }

  static nlohmann::json Exactly(nlohmann::json more = nlohmann::json::object()) {
    if (!more.contains("deviceClassName")) more["deviceClassName"] = "nic";
    return {{"name", "card"}, {"exactly", more}};
  }

  void Template(const std::vector<nlohmann::json>& requests) {
    const nlohmann::json object = {{"kind", "ResourceClaimTemplate"},
                                   {"metadata", {{"name", "cards"}, {"namespace", "ns"}}},
                                   {"spec", {{"spec", {{"devices", {{"requests", requests}}}}}}}};
    inputs.claim_templates.push_back(Of(api::DecodeClaimTemplate(object, "f")));
  }

  // A claim that has these devices of the node.
  void Claim(const std::string& name, const std::string& node, std::vector<std::string> devices,
             const std::string& pod = "") {
    nlohmann::json object = {
        {"kind", "ResourceClaim"},
        {"metadata", {{"name", name}, {"namespace", "ns"}}},
        {"spec", {{"devices", {{"requests", nlohmann::json::array({Exactly()})}}}}}};
    nlohmann::json& allocation = object["status"]["allocation"];
    for (const std::string& one : devices) {
      allocation["devices"]["results"].push_back(
          {{"driver", "nic.example.com"}, {"pool", node}, {"device", one}});
    }
    if (!pod.empty())
      object["status"]["reservedFor"] =
          nlohmann::json::array({{{"resource", "pods"}, {"name", pod}}});
    inputs.resource_claims.push_back(Of(api::DecodeResourceClaim(object, "f")));
  }

  // How many workers each node takes.
  std::vector<std::uint32_t> Slots(bool ignore_claims = false) const {
    const cluster::Cluster cluster = Build();
    const auto pending = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
    EXPECT_TRUE(pending && pending->size() == 1);
    rules::SlotQuery query;
    query.pod = &pending->front().pod;
    query.job = "ns/job";
    query.cap = 4;
    query.ignore_claims = ignore_claims;
    fabric::ByNode<std::uint32_t> slots;
    rules::CountSlots(cluster.fabrics.front().claims, query, slots);
    return {slots.begin(), slots.end()};
  }
};

}  // namespace weft::testing
