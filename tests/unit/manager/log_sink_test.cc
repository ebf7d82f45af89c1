#include "operator/manager/log_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <string>

namespace weft::manager {
namespace {

class LogSinkTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  std::string Read() {
    std::string text(std::size_t{1} << 20, '\0');
    const ssize_t count = read(ends_[0], text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }
  int ends_[2] = {};
};

TEST_F(LogSinkTest, WritesLinesAsTheyAre) {
  LogSink sink(ends_[1]);
  sink.Write("one\n");
  sink.Write("two\n");
  EXPECT_EQ(Read(), "one\ntwo\n");
}

TEST_F(LogSinkTest, DropsWhatAFullPipeWouldMakeItWaitForAndSaysSo) {
  LogSink sink(ends_[1]);
  const std::string line(1023, 'x');
  constexpr int kLines = 2000;  // more than any pipe holds
  for (int i = 0; i < kLines; ++i) sink.Write(line + "\n");
  const std::size_t written = Read().size() / (line.size() + 1);
  ASSERT_LT(written, static_cast<std::size_t>(kLines));
  sink.Write("again\n");
  EXPECT_EQ(Read(), "(" + std::to_string(kLines - written) + " lines dropped) again\n");
  sink.Write("more\n");
  EXPECT_EQ(Read(), "more\n");
}

TEST_F(LogSinkTest, CutsALineThatAPipeDoesNotTakeAtOnce) {
  LogSink sink(ends_[1]);
  sink.Write(std::string(std::size_t{2} * PIPE_BUF, 'x') + "\n");
  EXPECT_EQ(Read(), std::string(PIPE_BUF - 1, 'x') + "\n");
}

}  // namespace
}  // namespace weft::manager
