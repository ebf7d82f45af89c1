#include "operator/program/map_page.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "operator/base/timestamp.h"
#include "operator/render/live_map.h"
#include "operator/render/map_html.h"

namespace weft::program {
namespace {

constexpr std::chrono::seconds kBetween{2};
constexpr int kPauseTimes = 20;

}  // namespace

std::string MapPage::Show(const Look& look) {
  const std::lock_guard lock(mutex_);
  const run::Instant begin = clock_.Now();
  const auto pause = std::max<run::Instant::duration>(kBetween, kPauseTimes * drawing_);
  if (!page_.empty() && begin - drawn_at_ < pause) return page_;
  const cluster::Cluster cluster = look();
  const std::vector<render::LiveMap> maps = render::BuildLiveMaps(cluster);
  std::vector<const render::MapInput*> inputs;
  for (const render::LiveMap& map : maps) inputs.push_back(&map.input);
  page_ = render::LiveMapHtml(inputs, FormatTime(clock_.Seconds()), kBetween.count());
  drawn_at_ = clock_.Now();
  drawing_ = drawn_at_ - begin;
  return page_;
}

}  // namespace weft::program
