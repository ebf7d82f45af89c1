#include "operator/cli/price_file.h"

#include <nlohmann/json.hpp>

#include "operator/cli/sources.h"
#include "operator/manifest/reader.h"
#include "operator/report/prices.h"

namespace weft::cli {

Result<outlook::Prices> ReadPrices(const std::string& path) {
  const auto source = ReadSource(path);
  if (!source) return source.error();
  const auto document = manifest::ReadDocument(*source);
  if (!document) return document.error();
  return report::DecodePrices(*document, source->name);
}

Status ReadPricesOf(const std::string& path, std::optional<outlook::Prices>& prices) {
  if (path.empty()) return {};
  auto read = ReadPrices(path);
  if (!read) return read.error();
  prices = *std::move(read);
  return {};
}

}  // namespace weft::cli
