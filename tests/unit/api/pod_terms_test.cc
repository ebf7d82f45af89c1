#include "operator/api/pod_terms.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "operator/api/decode.h"

namespace weft::api {
namespace {

using fabric::PodTerms;

PodTerms TermsOf(const char* spec, const char* labels = "{}") {
  const auto object = nlohmann::json::parse(
      std::string(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","labels":)") +
      labels + R"(},"spec":)" + spec + "}");
  const Result<Pod> pod = DecodePod(object, "f");
  EXPECT_TRUE(pod) << pod.error().message;
  return pod ? *pod->pod.terms : PodTerms{};
}

TEST(DecodePodTerms, ReadsPorts) {
  struct Case {
    const char* name;
    const char* spec;
    std::vector<fabric::HostPort> want;
  };
  const Case cases[] = {
      {"a containerPort is none", R"({"containers":[{"ports":[{"containerPort":22}]}]})", {}},
      {"a hostPort",
       R"({"containers":[{"ports":[{"containerPort":22,"hostPort":2222}]}]})",
       {{"TCP", "", 2222}}},
      {"with hostNetwork a containerPort is one",
       R"({"hostNetwork":true,"containers":[{"ports":[{"containerPort":22,"protocol":"UDP"}]}]})",
       {{"UDP", "", 22}}},
      {"an address",
       R"({"containers":[{"ports":[{"hostPort":1,"hostIP":"10.0.0.1"},
                                                  {"hostPort":2,"hostIP":"0.0.0.0"}]}]})",
       {{"TCP", "10.0.0.1", 1}, {"TCP", "", 2}}},
      {"sidecars have ports, other init containers have none while the pod runs",
       R"({"containers":[],"initContainers":[{"ports":[{"hostPort":1}]},
           {"restartPolicy":"Always","ports":[{"hostPort":2}]}]})",
       {{"TCP", "", 2}}},
  };
  for (const Case& c : cases) EXPECT_EQ(TermsOf(c.spec).host_ports, c.want) << c.name;
}

TEST(DecodePodTerms, ReadsTheClaimsOfVolumes) {
  struct Case {
    const char* name;
    const char* spec;
    std::vector<fabric::ClaimedVolume> want;
  };
  const Case cases[] = {
      {"other volumes have none", R"({"volumes":[{"name":"c","configMap":{"name":"x"}}]})", {}},
      {"a claim",
       R"({"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}}]})",
       {{.claim = "data"}}},
      {"a claim, from protobuf",
       R"({"volumes":[{"name":"d","volumeSource":{"persistentVolumeClaim":{"claimName":"data"}}},
                      {"name":"c","volumeSource":{}}]})",
       {{.claim = "data"}}},
      {"the pod's own claim",
       R"({"volumes":[{"name":"s","ephemeral":{"volumeClaimTemplate":{"spec":{
            "storageClassName":"fast","accessModes":["ReadWriteOnce"],"volumeMode":"Block",
            "resources":{"requests":{"storage":"1Ki"}}}}}}]})",
       {{"p-s", true, "fast", {"ReadWriteOnce"}, 1024, true}}},
  };
  for (const Case& c : cases) {
    const PodTerms terms = TermsOf(c.spec);
    EXPECT_EQ(terms.volumes, c.want) << c.name;
    nlohmann::ordered_json spec = nlohmann::ordered_json::object();
    EncodePodTerms(terms, spec, "p");
    EXPECT_EQ(TermsOf(spec.dump().c_str()), terms) << c.name;
  }
}

constexpr const char* kFull = R"({"affinity":{
  "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["rev"]}],
    "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":
      {"topologyKey":"zone","labelSelector":{}}}]},
  "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"topologyKey":"host","namespaces":["x"],"labelSelector":{},"mismatchLabelKeys":["rev","none"]},
    {"topologyKey":"rack","namespaceSelector":{}},
    {"topologyKey":"row","namespaceSelector":{"matchLabels":{"team":"x"}}}]}},
  "topologySpreadConstraints":[
    {"topologyKey":"zone","maxSkew":2,"minDomains":3,"whenUnsatisfiable":"DoNotSchedule",
     "labelSelector":{"matchLabels":{"app":"a"}}},
    {"topologyKey":"rack","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",
     "labelSelector":{},"matchLabelKeys":["rev"],"nodeAffinityPolicy":"Ignore",
     "nodeTaintsPolicy":"Honor"},
    {"topologyKey":"row","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",
     "nodeAffinityPolicy":"Honor","nodeTaintsPolicy":"Ignore"},
    {"topologyKey":"host","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"}],
  "containers":[{"ports":[{"hostPort":22,"protocol":"UDP","hostIP":"10.0.0.1"}]}]})";

TEST(DecodePodTerms, ReadsWhatIsRequired) {
  const PodTerms terms = TermsOf(kFull, R"({"rev":"7"})");
  const fabric::LabelSelector a = {{{"app", "a"}}, {}};
  EXPECT_EQ(
      terms.affinity,
      (std::vector<fabric::PodTerm>{
          {"zone", fabric::LabelSelector{{{"app", "a"}}, {{"rev", "In", {"7"}}}}, {}, false}}));
  EXPECT_EQ(terms.anti_affinity,
            (std::vector<fabric::PodTerm>{
                {"host", fabric::LabelSelector{{}, {{"rev", "NotIn", {"7"}}}}, {"x"}, false},
                {"rack", {}, {}, true},
                {"row", {}, {}, false, fabric::LabelSelector{{{"team", "x"}}, {}}}}));
  EXPECT_EQ(terms.spread,
            (std::vector<fabric::SpreadRule>{
                {"zone", 2, 3, a, true, false},
                {"rack", 1, 1, fabric::LabelSelector{{}, {{"rev", "In", {"7"}}}}, false, true},
                {"row", 1, 1, {}, true, false}}));
  EXPECT_EQ(terms.preferred_spread,
            (std::vector<fabric::SpreadRule>{{"host", 1, 1, {}, true, false}}));
}

TEST(EncodePodTerms, IsReadAsItWas) {
  const PodTerms terms = TermsOf(kFull, R"({"rev":"7"})");
  nlohmann::ordered_json spec = {{"containers", {{{"name", "c"}}}}};
  EncodePodTerms(terms, spec);
  EXPECT_EQ(TermsOf(spec.dump().c_str()), terms);
}

}  // namespace
}  // namespace weft::api
