#include "operator/program/price_file.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"
#include "operator/program/sources.h"

namespace weft::program {

namespace {

Result<outlook::Prices> ReadPrices(const std::string& path, const report::PricedNames& known) {
  const auto source = ReadSource(path);
  if (!source) return source.error();
  const auto document = manifest::ReadDocument(*source);
  if (!document) return document.error();
  auto prices = report::DecodePrices(*document, source->name, known);
  if (prices) return prices;
  return Error{prices.error().kind, manifest::WithLine({*source}, prices.error().message)};
}

}  // namespace

Status ReadPricesFor(const cluster::Cluster& cluster, const std::string& path,
                     std::optional<outlook::Prices>& prices) {
  std::vector<fabric::AcceleratorSpec> added;
  for (const cluster::ClusterFabric& on : cluster.fabrics) {
    const auto& of_fabric = on.fabric->spec().accelerators;
    added.insert(added.end(), of_fabric.begin(), of_fabric.end());
  }
  return ReadPricesOf(path, {.added = added}, prices);
}

Status ReadPricesOf(const std::string& path, const report::PricedNames& known,
                    std::optional<outlook::Prices>& prices) {
  if (path.empty()) return {};
  auto read = ReadPrices(path, known);
  if (!read) return read.error();
  prices = *std::move(read);
  return {};
}

}  // namespace weft::program
