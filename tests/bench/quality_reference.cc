#include "tests/bench/quality_reference.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "operator/base/quantity.h"

namespace weft::quality {

namespace {

enum Column : std::size_t {
  kFamily,
  kWorkers,
  kSeed,
  kFingerprint,
  kWider,
  kMissed,
  kCost,
  kWho,
  kColumns
};

[[noreturn]] void Stop(const std::string& path, const char* why) {
  std::fprintf(stderr, "quality: %s: %s\n", path.c_str(), why);
  std::exit(1);
}

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream text(line);
  for (std::string column; std::getline(text, column, '\t');) columns.push_back(column);
  return columns;
}

std::uint64_t Number(const std::string& text, int base = 10) {
  return std::strtoull(text.c_str(), nullptr, base);
}

Int128 Decimal(const std::string& text) {
  Int128 value = 0;
  for (const char digit : text) value = value * 10 + (digit - '0');
  return value;
}

// The lock of a file that is replaced as a whole must be another file.
class Lock {
 public:
  explicit Lock(const std::string& path)
      : file_(open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) Stop(path, "cannot lock");
  }
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

}  // namespace

// FNV-1a (Fowler, Noll, Vo, 1991).
std::uint64_t Fingerprint(const std::string& what) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : what) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

Reference::Reference(std::string path) : path_(std::move(path)) { Read(); }

std::optional<Known> Reference::Find(const Key& key, std::uint64_t fingerprint) const {
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.fingerprint != fingerprint) return std::nullopt;
  return known->second;
}

void Reference::Offer(const Key& key, const Known& found) {
  if (path_.empty()) {
    Improve(key, found);
    return;
  }
  const Lock lock(path_);
  Read();
  if (Improve(key, found)) Write();
}

bool Reference::Improve(const Key& key, const Known& found) {
  const auto known = Find(key, found.fingerprint);
  if (known && known->objective <= found.objective) return false;
  known_[key] = found;
  return true;
}

void Reference::Read() {
  if (path_.empty()) return;
  std::ifstream file(path_);
  heading_.clear();
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') {
      heading_ += line + "\n";
      continue;
    }
    const std::vector<std::string> columns = Split(line);
    if (columns.size() != kColumns) Stop(path_, "a line has not eight columns");
    Known known;
    known.objective.preferences = {static_cast<std::uint32_t>(Number(columns[kWider])),
                                   static_cast<std::uint32_t>(Number(columns[kMissed]))};
    known.objective.cost = Decimal(columns[kCost]);
    known.fingerprint = Number(columns[kFingerprint], 16);
    known.who = columns[kWho];
    known_[{columns[kFamily], static_cast<std::uint32_t>(Number(columns[kWorkers])),
            Number(columns[kSeed])}] = std::move(known);
  }
}

void Reference::Write() const {
  const std::string next = path_ + ".next";
  std::ofstream file(next);
  file << heading_;
  for (const auto& [key, known] : known_) {
    file << key.family << '\t' << key.workers << '\t' << key.seed << '\t' << std::hex
         << known.fingerprint << std::dec << '\t' << known.objective.preferences[0] << '\t'
         << known.objective.preferences[1] << '\t' << FormatInt128(known.objective.cost) << '\t'
         << known.who << '\n';
  }
  file.close();
  if (!file || std::rename(next.c_str(), path_.c_str()) != 0) Stop(path_, "cannot write");
}

}  // namespace weft::quality
