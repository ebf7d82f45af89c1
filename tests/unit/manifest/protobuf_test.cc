#include "operator/manifest/protobuf.h"

#include <nlohmann/json.hpp>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/protobuf_text.h"

namespace weft::manifest {
namespace {

using testing::Entry;
using testing::Number;
using testing::Part;

std::string Show(std::string_view bytes, Message message) {
  nlohmann::json json;
  bool clean = true;
  if (!ReadProtobuf(bytes, message, json, clean)) return "broken";
  return json.dump() + (clean ? "" : " unclean");
}

std::string Quantity(std::uint32_t field, std::string_view name, std::string_view amount) {
  return Entry(field, name, Part(1, amount));
}

// 2026-11-22T00:32:54Z.
constexpr std::uint64_t kSecond = 1'795'307'574;

struct Case {
  const char* name;
  Message message;
  std::string bytes;
  std::string want;
};

TEST(ReadProtobuf, IsTheJsonThatAPodStandsFor) {
  const Case cases[] = {
      {"nothing", Message::kPod, "", "{}"},
      {"a pod's metadata", Message::kPod,
       Part(1, Part(1, "p") + Part(2, "") + Part(3, "team") + Part(5, "u") + Part(6, "7") +
                   Number(7, 2) + Part(8, Number(1, kSecond) + Number(2, 0)) +
                   Part(9, Number(1, kSecond)) + Entry(11, "app", "train") + Entry(11, "b", "") +
                   Entry(12, "note", "n") + Part(14, "weft.dev/x") + Part(17, "managed") +
                   Part(13, Part(1, "Job") + Part(3, "j") + Part(4, "ju") + Part(5, "batch/v1") +
                                Number(6, 1) + Number(7, 1))),
       R"({"metadata":{"annotations":{"note":"n"},"creationTimestamp":"2026-11-22T00:32:54Z",)"
       R"("deletionTimestamp":"2026-11-22T00:32:54Z","finalizers":["weft.dev/x"],"generation":2,)"
       R"("labels":{"app":"train","b":""},"name":"p","namespace":"team","ownerReferences":)"
       R"([{"apiVersion":"batch/v1","controller":true,"kind":"Job","name":"j","uid":"ju"}],)"
       R"("resourceVersion":"7","uid":"u"}})"},
      {"a time that is none", Message::kObject, Part(1, Part(8, "")), R"({"metadata":{}})"},
      {"a time past the year 9999", Message::kObject, Part(1, Part(8, Number(1, kSecond << 20))),
       R"({"metadata":{}})"},
      {"a pod's spec", Message::kPod,
       Part(2, Part(2, Part(1, "c") + Part(2, "image") +
                           Part(8, Quantity(1, "nvidia.com/gpu", "8") + Quantity(2, "cpu", "4"))) +
                   Part(20, Part(1, "i") + Part(24, "Always")) + Entry(7, "pool", "a") +
                   Part(10, "n1") + Part(22, Part(1, "k") + Part(2, "Exists") + Number(5, 300)) +
                   Part(24, "high") + Quantity(32, "memory", "1Gi") + Part(38, Part(1, "gate")) +
                   Part(39, Part(1, "x") + Part(3, "y") + Part(4, "z")) +
                   Part(40, Quantity(2, "cpu", "2"))),
       R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"8"},)"
       R"("requests":{"cpu":"4"}}}],"initContainers":[{"name":"i","restartPolicy":"Always"}],)"
       R"("nodeName":"n1","nodeSelector":{"pool":"a"},"overhead":{"memory":"1Gi"},)"
       R"("priorityClassName":"high","resourceClaims":[{"name":"x","resourceClaimName":"y",)"
       R"("resourceClaimTemplateName":"z"}],"resources":{"requests":{"cpu":"2"}},)"
       R"("schedulingGates":[{"name":"gate"}],"tolerations":[{"key":"k","operator":"Exists"}]}})"},
      {"a pod's affinity", Message::kPod,
       Part(2, Part(18, Part(1, Part(1, Part(1, Part(1, Part(1, "zone") + Part(2, "In") +
                                                            Part(3, "a") + Part(3, "")) +
                                                    Part(2, Part(1, "metadata.name"))))))),
       R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
       R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":)"
       R"(["a",""]}],"matchFields":[{"key":"metadata.name"}]}]}}}}})"},
      {"a pod's status", Message::kPod,
       Part(3, Part(1, "Failed") +
                   Part(2, Part(1, "Ready") + Part(2, "False") + Part(4, Number(1, kSecond)) +
                               Part(5, "r")) +
                   Part(4, "Evicted") + Part(11, "n2") + Part(15, Part(1, "x") + Part(2, "y")) +
                   Quantity(19, "cpu", "3") + Part(20, Quantity(2, "cpu", "2")) +
                   Part(8, Part(1, "c") + Part(2, Part(3, Number(1, 137) + Part(3, "OOMKilled") +
                                                              Part(6, Number(1, kSecond))))) +
                   Part(10, Part(1, "i") + Part(2, Part(1, Part(1, "ImagePullBackOff"))) +
                                Part(3, Part(3, Number(1, 1))) + Part(6, "x:1"))),
       R"({"status":{"allocatedResources":{"cpu":"3"},)"
       R"("conditions":[{"lastTransitionTime":"2026-11-22T00:32:54Z","reason":"r",)"
       R"("status":"False","type":"Ready"}],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,)"
       R"("finishedAt":"2026-11-22T00:32:54Z","reason":"OOMKilled"}}}],"initContainerStatuses":[{"image":"x:1",)"
       R"("lastState":{"terminated":{"exitCode":1}},"name":"i","state":{"waiting":)"
       R"({"reason":"ImagePullBackOff"}}}],"nominatedNodeName":"n2","phase":"Failed",)"
       R"("reason":"Evicted","resourceClaimStatuses":[{"name":"x","resourceClaimName":"y"}],)"
       R"("resources":{"requests":{"cpu":"2"}}}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(Show(c.bytes, c.message), c.want) << c.name;
}

TEST(ReadProtobuf, IsTheJsonOfWhatAPodDemandsOfOthers) {
  const Case cases[] = {
      {"what a pod demands of other pods", Message::kPod,
       Part(2,
            Part(2, Part(6, Part(1, "ssh") + Number(2, 22) + Number(3, 2222) + Part(4, "TCP") +
                                Part(5, "10.0.0.1"))) +
                Number(11, 1) +
                Part(18, Part(2, Part(1, Part(1, Entry(1, "app", "a")) + Part(2, "x") +
                                             Part(3, "zone") + Part(4, "") + Part(5, "rev"))) +
                             Part(3, Part(1, Part(1, Part(2, Part(1, "app") + Part(2, "Exists"))) +
                                                 Part(3, "host") + Part(6, "rev")))) +
                Part(33, Number(1, 2) + Part(2, "zone") + Part(3, "DoNotSchedule") +
                             Part(4, Entry(1, "app", "a")) + Number(5, 3) + Part(6, "Ignore") +
                             Part(7, "Honor") + Part(8, "rev"))),
       R"({"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
       R"([{"labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["rev"],)"
       R"("namespaceSelector":{},"namespaces":["x"],"topologyKey":"zone"}]},"podAntiAffinity":)"
       R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":)"
       R"([{"key":"app","operator":"Exists"}]},"mismatchLabelKeys":["rev"],"topologyKey":"host"}]}},)"
       R"("containers":[{"ports":[{"containerPort":2222,"hostIP":"10.0.0.1","hostPort":22,)"
       R"("protocol":"TCP"}]}],"hostNetwork":true,"topologySpreadConstraints":[{"labelSelector":)"
       R"({"matchLabels":{"app":"a"}},"matchLabelKeys":["rev"],"maxSkew":2,"minDomains":3,)"
       R"("nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor",)"
       R"("topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}})"},
      {"the claims of its volumes", Message::kPod,
       Part(2,
            Part(1, Part(1, "d") + Part(2, Part(10, Part(1, "data") + Number(2, 1)))) +
                Part(1,
                     Part(1, "s") +
                         Part(2,
                              Part(29, Part(1, Part(2, Part(1, "ReadWriteOnce") +
                                                           Part(2, Quantity(2, "storage", "1Gi")) +
                                                           Part(5, "fast") + Part(6, "Block")))))) +
                Part(1, Part(1, "c") + Part(2, Part(19, Part(1, "config"))))),
       R"({"spec":{"volumes":[{"name":"d","volumeSource":{"persistentVolumeClaim":)"
       R"({"claimName":"data"}}},{"name":"s","volumeSource":{"ephemeral":)"
       R"({"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
       R"({"requests":{"storage":"1Gi"}},"storageClassName":"fast","volumeMode":"Block"}}}}},)"
       R"({"name":"c","volumeSource":{}}]}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(Show(c.bytes, c.message), c.want) << c.name;
}

TEST(ReadProtobuf, KnowsNodesStatusesAndWhatItDoesNotKnow) {
  const Case cases[] = {
      {"a node", Message::kNode,
       Part(1, Part(1, "n") + Part(6, "3") + Part(8, Number(1, 5)) + Entry(11, "leaf", "l1") +
                   Entry(12, "note", "n")) +
           Part(2, Number(4, 1) + Part(5, Part(1, "k") + Part(3, "NoSchedule"))) +
           Part(3, Quantity(1, "cpu", "224") + Quantity(2, "cpu", "222") +
                       Part(4, Part(1, "Ready") + Part(2, "True") + Part(5, "KubeletReady")) +
                       Part(8, "an image")),
       R"({"metadata":{"annotations":{"note":"n"},"creationTimestamp":"1970-01-01T00:00:05Z",)"
       R"("labels":{"leaf":"l1"},"name":"n","resourceVersion":"3"},)"
       R"("spec":{"taints":[{"effect":"NoSchedule","key":"k"}],"unschedulable":true},)"
       R"("status":{"allocatable":{"cpu":"222"},"capacity":{"cpu":"224"},)"
       R"("conditions":[{"status":"True","type":"Ready"}]}})"},
      {"a status", Message::kStatus,
       Part(1, "") + Part(2, "Failure") + Part(3, "gone") + Part(4, "Expired") + Number(6, 410),
       R"({"code":410,"message":"gone","reason":"Expired"})"},
      {"numbers of unknown fields, of every type", Message::kStatus,
       Number(99, 5) + Part(98, "x") + "\x99\x06" + "12345678" + "\x9d\x06" + "1234" + Number(6, 1),
       R"({"code":1})"},
      {"a known number of another type", Message::kStatus, Part(6, "x") + Number(3, 1), "{}"},
      {"text that is none", Message::kPod, Part(1, Part(1, "p") + Part(5, "\xff")),
       R"({"metadata":{"name":"p"}} unclean)"},
      {"text with a NUL", Message::kPod, Part(1, Entry(11, "a", std::string_view("\0", 1))),
       R"({"metadata":{"labels":{"a":""}}} unclean)"},
  };
  for (const Case& c : cases) EXPECT_EQ(Show(c.bytes, c.message), c.want) << c.name;
}

TEST(ReadProtobuf, RefusesWhatIsNoMessage) {
  const Case cases[] = {
      {"a tag without its value", Message::kStatus, Number(6, 300).substr(0, 2), "broken"},
      {"text shorter than its length", Message::kStatus, Part(3, "text").substr(0, 4), "broken"},
      {"a message longer than the one around it", Message::kPod,
       Part(1, Part(1, "name").substr(0, 4)), "broken"},
      {"the end of a group", Message::kStatus, "\x0c", "broken"},
      {"a field without a number", Message::kStatus, std::string("\0", 1), "broken"},
      {"JSON", Message::kPod, R"({"metadata":{"name":"a"}})", "broken"},
  };
  for (const Case& c : cases) EXPECT_EQ(Show(c.bytes, c.message), c.want) << c.name;
}

// Every beginning of a message is refused or read, never more.
TEST(ReadProtobuf, ReadsNoFurtherThanTheEnd) {
  const std::string whole =
      Part(1, Part(1, "p") + Entry(11, "a", "b")) + Part(3, Part(1, "Running"));
  int read = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::string copy = whole.substr(0, size);  // a block of its own, for AddressSanitizer
    if (Show(copy, Message::kPod) != "broken") ++read;
  }
  EXPECT_EQ(read, 3);  // nothing, up to metadata, all of it
}

}  // namespace
}  // namespace weft::manifest
