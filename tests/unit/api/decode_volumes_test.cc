#include "operator/api/volumes.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "operator/api/decode.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;
using rules::NodeSelectorTerm;

Json Parsed(const char* kind, const char* rest) {
  return Json::parse(std::string(R"({"apiVersion":"v1","kind":")") + kind + "\"," + rest + "}");
}

TEST(DecodePersistentVolume, ReadsWhereItIsAndWhoHasIt) {
  const auto volume = DecodePersistentVolume(
      Parsed("PersistentVolume", R"("metadata":{"name":"pv1","uid":"u","resourceVersion":"7",
        "labels":{"topology.kubernetes.io/zone":"a"},"annotations":{"x":"y"}},
       "spec":{"capacity":{"storage":"1Ti"},"accessModes":["ReadOnlyMany"],
        "storageClassName":"fast","volumeMode":"Block",
        "claimRef":{"namespace":"team","name":"data","uid":"c"},
        "csi":{"driver":"disks","volumeHandle":"v1"},
        "nodeAffinity":{"required":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]},
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
       "status":{"phase":"Bound"})"),
      "f");
  ASSERT_TRUE(volume) << volume.error().message;
  EXPECT_EQ(volume->meta.key.name, "pv1");
  EXPECT_EQ(volume->meta.labels.At("topology.kubernetes.io/zone"), "a");
  EXPECT_TRUE(volume->meta.annotations.empty());
  ASSERT_TRUE(volume->affinity);
  EXPECT_EQ(*volume->affinity, (std::vector<NodeSelectorTerm>{{{{"zone", "In", {"a"}}}, {}}}));
  EXPECT_EQ(volume->bytes, std::int64_t{1} << 40);
  EXPECT_EQ(volume->storage_class, "fast");
  EXPECT_TRUE(volume->block);
  EXPECT_EQ(volume->driver + " " + volume->handle, "disks v1");
  EXPECT_EQ(volume->claim, (ObjectKey{"team", "data"}));
  EXPECT_FALSE(volume->available);
}

TEST(DecodeVolumeClaim, TellsWhetherItIsBound) {
  struct Case {
    const char* name;
    const char* object;
    const char* volume;
    bool served, bound, lost;
  };
  const Case cases[] = {
      {"one that is new", R"("metadata":{"name":"c","namespace":"n"},"spec":{})", "", false, false,
       false},
      {"one that waits",
       R"("metadata":{"name":"c","namespace":"n"},"spec":{},"status":{"phase":"Pending"})", "",
       true, false, false},
      {"one that names a volume, which does not name it yet",
       R"("metadata":{"name":"c","namespace":"n"},"spec":{"volumeName":"pv"},
          "status":{"phase":"Pending"})",
       "pv", true, false, false},
      {"by its annotation",
       R"("metadata":{"name":"c","namespace":"n",
            "annotations":{"pv.kubernetes.io/bind-completed":"yes"}},
          "spec":{"volumeName":"pv"},"status":{"phase":"Pending"})",
       "pv", true, true, false},
      {"by its phase",
       R"("metadata":{"name":"c","namespace":"n"},"spec":{"volumeName":"pv"},
          "status":{"phase":"Bound"})",
       "pv", true, true, false},
      {"in a file without a status",
       R"("metadata":{"name":"c","namespace":"n"},"spec":{"volumeName":"pv"})", "pv", false, true,
       false},
      {"lost",
       R"("metadata":{"name":"c","namespace":"n"},"spec":{"volumeName":"pv"},
          "status":{"phase":"Lost"})",
       "pv", true, false, true},
  };
  for (const Case& c : cases) {
    const auto claim = DecodeVolumeClaim(Parsed("PersistentVolumeClaim", c.object), "f");
    ASSERT_TRUE(claim) << c.name << ": " << claim.error().message;
    EXPECT_EQ(claim->volume, c.volume) << c.name;
    EXPECT_EQ(claim->served, c.served) << c.name;
    EXPECT_EQ(claim->bound, c.bound) << c.name;
    EXPECT_EQ(claim->lost, c.lost) << c.name;
  }
}

TEST(DecodeVolumeClaim, ReadsWhatItAsksFor) {
  const auto claim =
      DecodeVolumeClaim(Parsed("PersistentVolumeClaim", R"("metadata":{"name":"c","namespace":"n",
          "annotations":{"volume.beta.kubernetes.io/storage-class":"old",
                         "volume.kubernetes.io/selected-node":"n1"}},
        "spec":{"storageClassName":"new","accessModes":["ReadWriteOncePod"],
          "resources":{"requests":{"storage":"10Gi"}},"selector":{"matchLabels":{"disk":"ssd"}}})"),
                        "f");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->storage_class, "old");
  EXPECT_EQ(claim->selected_node, "n1");
  EXPECT_EQ(claim->bytes, std::int64_t{10} << 30);
  EXPECT_EQ(claim->access_modes, std::vector<std::string>{"ReadWriteOncePod"});
  ASSERT_TRUE(claim->selector);
  EXPECT_EQ(claim->selector->match_labels.at("disk"), "ssd");
}

TEST(DecodeStorageClass, ReadsModeAndTopologies) {
  const auto one =
      DecodeStorageClass(Parsed("StorageClass", R"("metadata":{"name":"fast"},"provisioner":"disks",
        "volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[{"matchLabelExpressions":[
          {"key":"zone","values":["a","b"]}]}])"),
                         "f");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(one->waits);
  EXPECT_EQ(one->provisioner, "disks");
  EXPECT_EQ(one->topologies, (std::vector<NodeSelectorTerm>{{{{"zone", "In", {"a", "b"}}}, {}}}));
}

TEST(DecodeCsiNode, KeepsTheLimitsOnly) {
  const auto node = DecodeCsiNode(Parsed("CSINode", R"("metadata":{"name":"n"},"spec":{"drivers":[
        {"name":"disks","nodeID":"n","allocatable":{"count":25}},{"name":"files","nodeID":"n"}]})"),
                                  "f");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->limits, (std::map<std::string, std::int64_t>{{"disks", 25}}));
}

TEST(DecodeInto, KnowsTheKindsOfWhichAFileHasObjects) {
  Inputs inputs;
  Json claim = Parsed("PersistentVolumeClaim", R"("metadata":{"name":"c","namespace":"n"})");
  ASSERT_TRUE(DecodeInto(claim, "f", inputs));
  EXPECT_FALSE(inputs.knows_claims);
  claim["metadata"]["name"] = "d";
  claim["status"]["phase"] = "Pending";
  ASSERT_TRUE(DecodeInto(claim, "f", inputs));
  EXPECT_TRUE(inputs.knows_claims);
  EXPECT_FALSE(inputs.knows_volumes);
  EXPECT_FALSE(inputs.knows_classes);
  EXPECT_EQ(inputs.volume_claims.size(), 2U);
  ASSERT_TRUE(DecodeInto(Parsed("PersistentVolume", R"("metadata":{"name":"v"})"), "f", inputs));
  Json one = Parsed("StorageClass", R"("metadata":{"name":"s"})");
  one["apiVersion"] = "storage.k8s.io/v1";
  ASSERT_TRUE(DecodeInto(one, "f", inputs));
  EXPECT_TRUE(inputs.knows_volumes && inputs.knows_classes);
  EXPECT_TRUE(inputs.notes.empty());
}

}  // namespace
}  // namespace weft::api
