#include "operator/program/map_page.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "operator/base/timestamp.h"
#include "operator/render/live_map.h"
#include "operator/render/map_html.h"

namespace weft::program {
namespace {

constexpr int kSecondsBetween = 2;
constexpr double kPauseTimes = 20;

double Now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string MapPage::Show(const Look& look) {
  const std::lock_guard lock(mutex_);
  const double begin = Now();
  const double pause = std::max<double>(kSecondsBetween, kPauseTimes * drawn_seconds_);
  if (!page_.empty() && begin - drawn_at_ < pause) return page_;
  const cluster::Cluster cluster = look();
  const std::vector<render::LiveMap> maps = render::BuildLiveMaps(cluster);
  std::vector<const render::MapInput*> inputs;
  for (const render::LiveMap& map : maps) inputs.push_back(&map.input);
  page_ = render::LiveMapHtml(inputs, FormatTime(std::time(nullptr)), kSecondsBetween);
  drawn_at_ = Now();
  drawn_seconds_ = drawn_at_ - begin;
  return page_;
}

}  // namespace weft::program
