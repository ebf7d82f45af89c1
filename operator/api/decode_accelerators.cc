#include "operator/api/decode_accelerators.h"

#include <algorithm>
#include <cctype>

#include "operator/api/decode.h"
#include "operator/api/names.h"

namespace weft::api {
namespace {

std::string ReadProduct(const Field& field) {
  std::string product = ReadText(field);
  const bool words = std::any_of(product.begin(), product.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  if (!words) field.Fail("must have a letter or digit");
  return product;
}

std::int64_t ReadPositive(const Field& field) {
  const std::int64_t value = ReadQuantity(field.Require()).value_or(1);
  if (value < 1) field.Fail("must be at least 1");
  return value;
}

// 0 if absent: the accelerator has no unit for that precision.
std::int64_t ReadPeak(const Field& field) { return field.present() ? ReadPositive(field) : 0; }

fabric::AcceleratorSpec DecodeOne(const Field& field) {
  field.RefuseUnknown({"name", "products", "peakFLOPS", "memory", "memoryBandwidth", "powerWatts",
                       "calibratedAs", "source"});
  fabric::AcceleratorSpec one;
  one.name = ReadLevelName(field["name"].Require());
  for (const Field& product : ReadItems(field["products"], kModelsAtMost)) {
    one.products.push_back(ReadProduct(product));
  }
  const Field peak = field["peakFLOPS"].Require();
  peak.RefuseUnknown({"fp32", "tf32", "bf16", "fp8", "fp4"});
  one.fp32 = ReadPeak(peak["fp32"]);
  one.tf32 = ReadPeak(peak["tf32"]);
  one.bf16 = ReadPositive(peak["bf16"]);
  one.fp8 = ReadPeak(peak["fp8"]);
  one.fp4 = ReadPeak(peak["fp4"]);
  one.memory_bytes = ReadPositive(field["memory"]);
  one.memory_bytes_per_second = ReadPositive(field["memoryBandwidth"]);
  one.watts = field["powerWatts"].Require().Int(kWatts, 1);
  one.calibrated_as = ReadText(field["calibratedAs"]);
  one.source = ReadText(field["source"]);
  return one;
}

}  // namespace

std::vector<fabric::AcceleratorSpec> DecodeAccelerators(const Field& accelerators) {
  std::vector<fabric::AcceleratorSpec> list;
  for (const Field& item : ReadItems(accelerators, kRulesAtMost)) {
    if (!item.present()) item.Fail("must be an object");
    list.push_back(DecodeOne(item));
    const bool twice = std::any_of(list.begin(), list.end() - 1, [&](const auto& other) {
      return other.name == list.back().name;
    });
    if (twice) item["name"].Fail("is given twice");
  }
  return list;
}

Result<std::vector<fabric::AcceleratorSpec>> DecodeAcceleratorFile(const nlohmann::json& document,
                                                                   const Place& place) {
  Decoding decoding(document, place);
  const Field root = decoding.Root();
  root.RefuseUnknown({"accelerators"});
  std::vector<fabric::AcceleratorSpec> list = DecodeAccelerators(root["accelerators"].Require());
  if (Status status = decoding.status(); !status) return status.error();
  return list;
}

}  // namespace weft::api
