#include "operator/api/gang_annotations.h"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

using Annotations = std::map<std::string, std::string>;

struct ErrorCase {
  const char* name;
  Annotations annotations;
  const char* want;
};

TEST(DecodeGangAnnotations, NothingIsAskedForWithoutAnnotations) {
  const auto read = DecodeGangAnnotations(TextMap(Annotations{{"example.com/other", "{"}}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->model || read->parallelism || read->topology || read->workers);
  EXPECT_TRUE(read->required_key.empty() && read->preferred_key.empty() && read->slices.empty());
}

TEST(DecodeGangAnnotations, AreTheFieldsOfAPlacement) {
  const auto read = DecodeGangAnnotations(TextMap(Annotations{
      {kModelAnnotation,
       R"({"type": "Measured", "measured": [{"axis": "Tensor", "bytesPerGPU": "2T"}]})"},
      {kParallelismAnnotation, R"({"tensor": 8, "pipeline": 2})"},
      {kTopologyAnnotation, R"({"required": "spine", "groups": [{"axes": ["Tensor"],
        "required": "node"}]})"},
      {kWorkersAnnotation, "16"},
      {kKueueRequired, "not read"}}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->model->measured[0].bytes_per_gpu, 2'000'000'000'000);
  EXPECT_EQ(read->parallelism->tensor, 8);
  EXPECT_EQ(read->parallelism->pipeline, 2);
  EXPECT_EQ(read->topology->required, "spine");
  EXPECT_EQ(read->topology->groups[0].required, "node");
  EXPECT_EQ(read->workers, 16);
  EXPECT_EQ(read->required_key, "");
}

TEST(DecodeGangAnnotations, KueuesAreLabelKeysAndSlices) {
  const auto one = DecodeGangAnnotations(TextMap(Annotations{
      {kKueuePreferred, "example.com/rack"}, {kKueueSlice, "a/b"}, {kKueueSliceSize, "4"}}));
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->preferred_key, "example.com/rack");
  EXPECT_EQ(one->slices, (std::vector<TopologySlice>{{kKueueSlice, "a/b", 4}}));
  const auto more = DecodeGangAnnotations(TextMap(Annotations{
      {kKueueRequired, "example.com/block"},
      {kKueueSlices, R"([{"topology": "a/b", "size": 8}, {"topology": "a/c", "size": 2}])"}}));
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->required_key, "example.com/block");
  EXPECT_EQ(more->slices,
            (std::vector<TopologySlice>{{kKueueSlices, "a/b", 8}, {kKueueSlices, "a/c", 2}}));
}

TEST(DecodeGangAnnotations, AnErrorNamesTheAnnotationAndTheField) {
  const ErrorCase cases[] = {
      {"text that is not JSON",
       {{kModelAnnotation, "{tensor: 8"}},
       "annotation weft.dev/model: is not valid JSON"},
      {"JSON that is no object",
       {{kTopologyAnnotation, "[]"}},
       "annotation weft.dev/topology: must be a JSON object"},
      {"a field of the wrong type",
       {{kParallelismAnnotation, R"({"tensor": "eight"})"}},
       "annotation weft.dev/parallelism: tensor: \"eight\" must be an integer"},
      {"a field that does not exist",
       {{kParallelismAnnotation, R"({"tensr": 8})"}},
       "annotation weft.dev/parallelism: tensr: unknown field; did you mean tensor?"},
      {"a field out of range",
       {{kModelAnnotation, R"({"type": "Transformer", "transformer": {"parameters": 1,
         "layers": 0}})"}},
       "annotation weft.dev/model: transformer.layers: 0 must be at least 1"},
      {"a group without axes",
       {{kTopologyAnnotation, R"({"groups": [{"required": "node"}]})"}},
       "annotation weft.dev/topology: groups[0].axes: is required"},
      {"a number of workers that is none",
       {{kWorkersAnnotation, "8x"}},
       "annotation weft.dev/workers: must be a whole number from 1 to 16384"},
      {"no workers",
       {{kWorkersAnnotation, "0"}},
       "annotation weft.dev/workers: must be a whole number from 1 to 16384"},
      {"two of Kueue's levels",
       {{kKueueRequired, "a/b"}, {kKueuePreferred, "a/b"}},
       "annotation kueue.x-k8s.io/podset-preferred-topology: cannot be given together with "
       "kueue.x-k8s.io/podset-required-topology"},
      {"a key that is no label's",
       {{kKueueRequired, "a b"}},
       "annotation kueue.x-k8s.io/podset-required-topology: must be a label key such as "
       "example.com/rack"},
      {"a slice without a size",
       {{kKueueSlice, "a/b"}},
       "annotation kueue.x-k8s.io/podset-slice-required-topology: needs the annotation "
       "kueue.x-k8s.io/podset-slice-size"},
      {"a size without a slice",
       {{kKueueSliceSize, "2"}},
       "annotation kueue.x-k8s.io/podset-slice-size: needs the annotation "
       "kueue.x-k8s.io/podset-slice-required-topology"},
      {"slices that do not nest",
       {{kKueueSlices, R"([{"topology": "a/b", "size": 4}, {"topology": "a/c", "size": 3}])"}},
       "annotation kueue.x-k8s.io/podset-slice-required-topology-constraints: [1].size: 3 must "
       "divide the size before it, 4"},
      {"slices that are no list",
       {{kKueueSlices, "{}"}},
       "annotation kueue.x-k8s.io/podset-slice-required-topology-constraints: must be a JSON "
       "list of {topology, size}"},
  };
  for (const ErrorCase& one : cases) {
    const auto read = DecodeGangAnnotations(TextMap(one.annotations));
    ASSERT_FALSE(read) << one.name;
    EXPECT_EQ(read.error().message, one.want) << one.name;
  }
}

}  // namespace
}  // namespace weft::api
