#include "operator/api/gang_annotations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/api/decode_model.h"
#include "operator/api/decode_topology.h"
#include "operator/api/json_text.h"
#include "operator/api/names.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

// Kueue's limit of podset-slice-required-topology-constraints.
constexpr std::size_t kSlicesAtMost = 3;

std::string Named(std::string_view annotation, const std::string& what) {
  return "annotation " + std::string(annotation) + ": " + what;
}

class GangReader {
 public:
  explicit GangReader(const TextMap& annotations) : annotations_(annotations) {}

  Result<GangAnnotations> Read() {
    GangAnnotations read;
    ReadJson(kModelAnnotation, [&](const Field& field) { read.model = DecodeModel(field); });
    ReadJson(kParallelismAnnotation,
             [&](const Field& field) { read.parallelism = DecodeParallelism(field); });
    ReadJson(kTopologyAnnotation,
             [&](const Field& field) { read.topology = DecodeTopology(field); });
    if (const auto workers = Number(kWorkersAnnotation, kReplicas)) {
      read.workers = static_cast<std::uint32_t>(*workers);
    }
    if (!read.topology) ReadKueue(read);
    if (!why_.empty()) return Invalid(why_);
    return read;
  }

 private:
  void Fail(std::string_view annotation, const std::string& what) {
    if (why_.empty()) why_ = Named(annotation, what);
  }

  template <typename Read>
  void ReadJson(const char* annotation, Read read) {
    const auto text = annotations_.At(annotation);
    if (!text) return;
    const Json json = ParseJson(*text);
    if (json.is_discarded()) return Fail(annotation, "is not valid JSON");
    if (!json.is_object()) return Fail(annotation, "must be a JSON object");
    Decoding decoding(json, "");
    read(decoding.Root());
    if (decoding.failed()) Fail(annotation, decoding.why());
  }

  std::optional<std::int64_t> Number(const char* annotation, IntRange range) {
    const auto text = annotations_.At(annotation);
    if (!text) return std::nullopt;
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    const bool whole = error == std::errc() && stop == text->data() + text->size();
    if (whole && value >= range.min && value <= range.max) return value;
    Fail(annotation, "must be a whole number from " + std::to_string(range.min) + " to " +
                         std::to_string(range.max));
    return std::nullopt;
  }

  std::string LabelKey(const char* annotation) {
    std::string key(annotations_.At(annotation).value_or(""));
    if (annotations_.contains(annotation) && !IsQualifiedName(key)) {
      Fail(annotation, "must be a label key such as example.com/rack");
    }
    return key;
  }

  void ReadKueue(GangAnnotations& read) {
    read.required_key = LabelKey(kKueueRequired);
    read.preferred_key = LabelKey(kKueuePreferred);
    if (!read.required_key.empty() && !read.preferred_key.empty()) {
      Fail(kKueuePreferred, "cannot be given together with " + std::string(kKueueRequired));
    }
    const std::string slice = LabelKey(kKueueSlice);
    const auto size = Number(kKueueSliceSize, kReplicas);
    if (slice.empty() != !annotations_.contains(kKueueSliceSize)) {
      Fail(slice.empty() ? kKueueSliceSize : kKueueSlice,
           "needs the annotation " + std::string(slice.empty() ? kKueueSlice : kKueueSliceSize));
    }
    if (!slice.empty() && size) read.slices.push_back({kKueueSlice, slice, *size});
    ReadSlices(read);
  }

  void ReadSlices(GangAnnotations& read) {
    const auto text = annotations_.At(kKueueSlices);
    if (!text) return;
    if (!read.slices.empty()) {
      return Fail(kKueueSlices, "cannot be given together with " + std::string(kKueueSlice));
    }
    const Json json = ParseJson(*text);
    if (!json.is_array()) return Fail(kKueueSlices, "must be a JSON list of {topology, size}");
    Decoding decoding(json, "");
    for (const Field& item : ReadItems(decoding.Root(), kSlicesAtMost)) {
      item.RefuseUnknown({"topology", "size"});
      TopologySlice one{kKueueSlices, ReadLabelKey(item["topology"].Require()),
                        item["size"].Require().Int(kReplicas, 1)};
      if (!read.slices.empty() && (one.pods < 1 || read.slices.back().pods % one.pods != 0)) {
        item["size"].Fail("must divide the size before it, " +
                          std::to_string(read.slices.back().pods));
      }
      read.slices.push_back(std::move(one));
    }
    if (decoding.failed()) Fail(kKueueSlices, decoding.why());
  }

  const TextMap& annotations_;
  std::string why_;
};

}  // namespace

bool IsGangAnnotation(std::string_view key) {
  static constexpr std::array<std::string_view, 9> kRead = {
      kModelAnnotation,   kParallelismAnnotation, kTopologyAnnotation,
      kWorkersAnnotation, kKueueRequired,         kKueuePreferred,
      kKueueSlice,        kKueueSliceSize,        kKueueSlices};
  return std::find(kRead.begin(), kRead.end(), key) != kRead.end();
}

std::string IgnoredAnnotation(const TextMap& annotations) {
  if (!annotations.contains(kKueueGroupName)) return "";
  return std::string("the annotation ") + kKueueGroupName +
         " has no effect: Weft places each pod set by itself";
}

Result<GangAnnotations> DecodeGangAnnotations(const TextMap& annotations) {
  return GangReader(annotations).Read();
}

}  // namespace weft::api
