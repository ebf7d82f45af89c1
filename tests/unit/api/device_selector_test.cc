#include "operator/api/device_selector.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::api {
namespace {

DeviceFacts Card() {
  DeviceFacts card;
  card.driver = "nic.example.com";
  card.attributes = {{"nic.example.com/model", std::string("cx7")},
                     {"nic.example.com/rdma", true},
                     {"nic.example.com/ports", std::int64_t{2}},
                     {"nic.example.com/firmware", DeviceValue()}};                     // a version
  card.capacity = {{"nic.example.com/bandwidth", std::int64_t{400'000'000'000'000}}};  // 400G
  return card;
}

// `D`: device.attributes["nic.example.com"], `C`: device.capacity["nic.example.com"].
std::string Spelled(std::string text) {
  const auto replace = [&](const std::string& short_name, const std::string& name) {
    for (std::size_t at = 0; (at = text.find(short_name, at)) != text.npos; at += name.size()) {
      text.replace(at, short_name.size(), name);
    }
  };
  replace("D.", R"(device.attributes["nic.example.com"].)");
  replace("C.", R"(device.capacity["nic.example.com"].)");
  return text;
}

struct SelectorCase {
  const char* expression;
  Selected matches;
};

const SelectorCase kExact[] = {
    {R"(device.driver == "nic.example.com")", Selected::kYes},
    {R"(device.driver == 'nic.example.com')", Selected::kYes},
    {R"("nic.example.com"==device.driver)", Selected::kYes},
    {R"(device.driver != "nic.example.com")", Selected::kNo},
    {R"(D.model == "cx7")", Selected::kYes},
    {R"(D.model == "cx6")", Selected::kNo},
    {R"(D.model != "cx6")", Selected::kYes},
    {R"(D.model in ["cx6", "cx7"])", Selected::kYes},
    {R"(D.model in ["cx6"])", Selected::kNo},
    {R"(D.model in [])", Selected::kNo},
    {"D.rdma", Selected::kYes},
    {"!D.rdma", Selected::kNo},
    {"D.rdma == true", Selected::kYes},
    {"D.rdma == false", Selected::kNo},
    {"D.ports == 2", Selected::kYes},
    {"D.ports == -2", Selected::kNo},
    {"D.ports >= 2", Selected::kYes},
    {"D.ports > 2", Selected::kNo},
    {"D.ports <= 2", Selected::kYes},
    {"D.ports < 2", Selected::kNo},
    {"has(D.model)", Selected::kYes},
    {"has(D.vendor)", Selected::kNo},
    {"!has(D.vendor)", Selected::kYes},
    {R"(has(D.vendor) && D.vendor == "x")", Selected::kNo},
    {R"(D.rdma && D.model == "cx7" && D.ports == 2)", Selected::kYes},
    {R"(D.rdma && D.model == "cx6" || D.ports == 2)", Selected::kYes},
    {R"(D.rdma && (D.model == "cx6" || D.ports == 3))", Selected::kNo},
    {R"(!(D.model == "cx6" || D.ports == 3))", Selected::kYes},
    {R"(C.bandwidth.compareTo(quantity("400G")) == 0)", Selected::kYes},
    {R"(C.bandwidth.compareTo(quantity("200G")) >= 0)", Selected::kYes},
    {R"(C.bandwidth.compareTo(quantity("400Gi")) >= 0)", Selected::kNo},
    {R"(C.bandwidth.isGreaterThan(quantity("399G")))", Selected::kYes},
    {R"(C.bandwidth.isLessThan(quantity("399G")))", Selected::kNo},
    // What the device lacks is an error: no match, however it is asked for.
    {R"(D.vendor == "x")", Selected::kNo},
    {R"(D.vendor != "x")", Selected::kNo},
    {R"(!(D.vendor == "x"))", Selected::kNo},
    {R"(D.vendor in ["x"])", Selected::kNo},
    {R"(C.queues.compareTo(quantity("1")) >= 0)", Selected::kNo},
    {R"(device.attributes["other.com"].model == "cx7")", Selected::kNo},
    // || and && pass over an error where the other side decides.
    {R"(D.vendor == "x" || D.rdma)", Selected::kYes},
    {R"(D.vendor == "x" || !D.rdma)", Selected::kNo},
    {R"(!(D.vendor == "x" && !D.rdma))", Selected::kYes},
    {"device.driver", Selected::kNo},  // not a bool
    {"!D.model", Selected::kNo},
    // A version is not compared, nor are values of two kinds.
    {R"(D.firmware == "1.2.3")", Selected::kUnknown},
    {R"(D.firmware == "1.2.3" && !D.rdma)", Selected::kNo},
    {R"(D.firmware == "1.2.3" || D.rdma)", Selected::kYes},
    {R"(!(D.firmware == "1.2.3"))", Selected::kUnknown},
    {R"(D.model == 7)", Selected::kUnknown},
    {R"(D.model in [7])", Selected::kUnknown},
};

TEST(DeviceSelector, MatchesAsKubeScheduler) {
  for (const SelectorCase& c : kExact) {
    SCOPED_TRACE(c.expression);
    const DeviceSelector selector(Spelled(c.expression));
    EXPECT_TRUE(selector.exact());
    EXPECT_EQ(selector.Matches(Card()), c.matches);
  }
}

TEST(DeviceSelector, DoesNotJudgeWhatItCannotRead) {
  const std::string deep = std::string(60, '(') + "D.rdma" + std::string(60, ')');
  const std::string nots = std::string(60, '!') + "D.rdma";
  const std::string long_text = "D.rdma" + std::string(20'000, ' ');
  const std::string expressions[] = {
      "",
      "device",
      "device.driver ==",
      "device.driver == nic",
      "device.name == 'x'",
      "device.driver = 'x'",
      "device.driver == 'x",
      "device.driver == 'x' &&",
      "device.driver == 'x' & D.rdma",
      "device.driver == 'x' D.rdma",
      "(device.driver == 'x'",
      "device.driver == 'x')",
      R"(device.driver == "a\"b")",
      R"(device.driver == """x""")",
      R"(device.driver == r"x")",
      "device.driver.startsWith('nic')",
      "device.attributes['nic.example.com']",
      "'model' in device.attributes['nic.example.com']",
      "device.attributes['nic.example.com']['model'] == 'cx7'",
      "device.attributes['nic.example.com'].?model.orValue('') == 'cx7'",
      "D.model == 'cx7' ? true : false",
      "D.ports + 1 == 3",
      "D.ports == 2.0",
      "D.ports == 2u",
      "D.ports == 0x2",
      "D.ports == 2 == true",
      "D.model in ['cx7'",
      "D.model in 'cx7'",
      "[1, 2].all(x, D.ports == x)",
      "C.bandwidth > quantity('400G')",
      "C.bandwidth.compareTo('400G') > 0",
      "C.bandwidth.compareTo(quantity('many')) > 0",
      "C.bandwidth.sub(quantity('1')) == 0",
      "has(device.driver)",
      "has(D.model.x)",
      "cel.bind(d, device.driver, d == 'x')",
      deep,
      nots,
      long_text,
  };
  for (const std::string& one : expressions) {
    SCOPED_TRACE(one.substr(0, 80));
    const DeviceSelector selector(Spelled(one));
    EXPECT_FALSE(selector.exact());
    EXPECT_EQ(selector.Matches(Card()), Selected::kUnknown);
  }
}

}  // namespace
}  // namespace weft::api
