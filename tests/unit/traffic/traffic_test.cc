#include "operator/traffic/traffic.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/base/units.h"
#include "tests/support/models.h"

namespace weft::traffic {
namespace {

using testing::Degrees;
using testing::Llama70B;
using testing::Small;
using testing::SmallExperts;

std::string Show(const GroupFamily& family) {
  constexpr std::array<const char*, 3> kPatterns = {"ring", "stages", "all"};
  std::string text(AxisName(family.axis));
  text += std::string(" ") + kPatterns[static_cast<std::size_t>(family.pattern)] + " {";
  for (std::size_t k = 0; k < family.group_size; ++k) {
    const bool shown = k < 4 || k + 1 == family.group_size;
    if (shown) text += (k == 0 ? "" : ",") + std::to_string(family.group(0)[k].Raw());
    if (k == 4 && !shown) text += ",..";
  }
  text += "}x" + std::to_string(family.groups()) + " " + std::to_string(family.amount);
  if (family.pattern != Pattern::kNeighbours) return text;
  return text + " end " + std::to_string(family.end_amount) + " wrap " +
         std::to_string(family.wrap_amount);
}

std::string Show(const Result<Traffic>& traffic) {
  if (!traffic) return traffic.error().message;
  std::string text;
  for (const GroupFamily& family : traffic->families) text += Show(family) + "\n";
  return text;
}

struct Case {
  const char* name;
  std::optional<Model> model;
  Parallelism shape;
  std::uint32_t ranks;
  std::string families;
};

void Check(std::span<const Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(Show(ComputeTraffic(c.model, c.shape, c.ranks, 1)), c.families) << c.name;
  }
}

template <typename T, typename... Changes>
T With(T value, Changes... changes) {
  (changes(value), ...);
  return value;
}

auto ShardedAs(Sharding sharding, std::optional<std::int64_t> size = std::nullopt) {
  return [=](Parallelism& shape) {
    shape.sharding = sharding;
    shape.shard_group_size = size;
  };
}

auto Experts(std::int64_t expert, std::int64_t expert_tensor) {
  return [=](Parallelism& shape) {
    shape.expert = expert;
    shape.expert_tensor = expert_tensor;
  };
}

Model Dense(Transformer model) { return {std::move(model), {}}; }

TEST(ComputeTraffic, GivesTheWorkedFiguresOfLlama70B) {
  const auto half_gradients = [](Transformer& model) {
    model.gradient_precision = GradientPrecision::kBF16;
    model.global_batch_size = 64;  // one micro-batch on each of 64 ranks
  };
  const Case cases[] = {
      {"64 ranks: 2062 GB tensor, 64 GB context, 19.9 GB data, 4.3 GB each way pipeline",
       Dense(Llama70B()), With(Degrees(4, 2, 4), ShardedAs(Sharding::kOptimizerState)), 64,
       "Tensor ring {0,1,2,3}x16 2061584302080\n"
       "Context ring {0,4}x32 64424509440\n"
       "Data ring {0,4,8,12}x16 19856250000\n"
       "Pipeline stages {0,16,32,48}x16 4294967296 end 4294967296 wrap 0\n"},
      {"pure FSDP on 64 ranks: 417 GB a micro-batch", Dense(With(Llama70B(), half_gradients)),
       With(Degrees(1, 1, 1), ShardedAs(Sharding::kFull)), 64,
       "Sharding ring {0,1,2,3,..,63}x1 416981250000\n"},
      {"HSDP 8 x 8: 371 GB inside, 31 GB across", Dense(With(Llama70B(), half_gradients)),
       With(Degrees(1, 1, 1), ShardedAs(Sharding::kHybrid, 8)), 64,
       "Data ring {0,8,16,24,..,56}x8 30887500000\n"
       "Sharding ring {0,1,2,3,..,7}x8 370650000000\n"},
  };
  Check(cases);
}

TEST(ComputeTraffic, GroupsRanksAsMegatronDoes) {
  const auto replicas_last = [](Parallelism& shape) {
    shape.rank_order = {Axis::kTensor, Axis::kContext, Axis::kPipeline, Axis::kData};
  };
  const std::vector<MeasuredAxis> every = {{Axis::kTensor, 2},   {Axis::kContext, 2},
                                           {Axis::kData, 2},     {Axis::kPipeline, 2},
                                           {Axis::kExpert, 126}, {Axis::kExpertTensor, 2}};
  const Model ones{std::nullopt, every};
  const Case cases[] = {
      {"tp-cp-ep-pp-dp: pipeline inside a replica", ones, With(Degrees(4, 2, 4), replicas_last), 64,
       "Tensor ring {0,1,2,3}x16 2\nContext ring {0,4}x32 2\nData ring {0,4,32,36}x16 2\n"
       "Pipeline stages {0,8,16,24}x16 1 end 2 wrap 0\nExpertTensor ring {0,1,2,3}x16 2\n"},
      {"the 405B row, 1024 ranks", ones, Degrees(8, 2, 8), 1024,
       "Tensor ring {0,1,2,3,..,7}x128 2\nContext ring {0,8}x512 2\n"
       "Data ring {0,8,16,24,..,120}x64 2\nPipeline stages {0,128,256,384,..,896}x128 1 end 2 wrap "
       "0\nExpertTensor ring {0,1,2,3,..,7}x128 2\n"},
      {"the DeepSeek-V3 row: an expert group is 64 ranks in a row", ones,
       With(Degrees(2, 1, 16), Experts(64, 1)), 1024,
       "Tensor ring {0,1}x512 2\nData ring {0,2,4,6,..,62}x32 2\n"
       "Pipeline stages {0,64,128,192,..,960}x64 1 end 2 wrap 0\n"
       "Expert all {0,1,2,3,..,63}x16 2\n"},
  };
  Check(cases);
}

TEST(ComputeTraffic, FollowsTheFormulasOfTheDenseAxes) {
  const auto full = [](Transformer& m) { m.recomputation = Recomputation::kFull; };
  const auto wide = [](Transformer& m) { m.precision = Precision::kTF32; };
  const auto int8 = [](Transformer& m) { m.gradient_precision = GradientPrecision::kINT8; };
  const auto interleaved = [](Parallelism& s) { s.virtual_pipeline = 3; };
  const Case cases[] = {
      {"tensor, data and pipeline", Dense(Small()), Degrees(2, 1, 2), 8,
       "Tensor ring {0,1}x4 2048\nData ring {0,2}x4 4096\n"
       "Pipeline stages {0,4}x4 128 end 128 wrap 0\n"},
      {"full recomputation repeats the forward", Dense(With(Small(), full)), Degrees(2, 1, 2), 8,
       "Tensor ring {0,1}x4 3072\nData ring {0,2}x4 4096\n"
       "Pipeline stages {0,4}x4 128 end 128 wrap 0\n"},
      {"wide elements, narrow gradients", Dense(With(Small(), wide, int8)), Degrees(2, 1, 2), 8,
       "Tensor ring {0,1}x4 4096\nData ring {0,2}x4 1024\n"
       "Pipeline stages {0,4}x4 256 end 256 wrap 0\n"},
      {"context joins the gradient group", Dense(Small()), Degrees(1, 2, 1), 4,
       "Context ring {0,1}x2 1536\nData ring {0,1,2,3}x1 24576\n"},
      {"context recomputes a third more", Dense(With(Small(), full)), Degrees(1, 2, 1), 4,
       "Context ring {0,1}x2 2048\nData ring {0,1,2,3}x1 24576\n"},
      {"fewer key-value heads than tensor ranks are copied", Dense(Small()), Degrees(4, 2, 1), 8,
       "Tensor ring {0,1,2,3}x2 6144\nContext ring {0,4}x4 1536\nData ring {0,4}x4 4096\n"},
      {"interleaved stages wrap around", Dense(Small()), With(Degrees(1, 1, 4), interleaved), 4,
       "Pipeline stages {0,1,2,3}x1 1536 end 1536 wrap 1024\n"},
      {"two interleaved stages are neighbours twice", Dense(Small()),
       With(Degrees(1, 1, 2), interleaved), 2, "Pipeline stages {0,1}x1 2560 end 2560 wrap 0\n"},
      {"one rank sends nothing", Dense(Small()), Degrees(1, 1, 1), 1, ""},
  };
  Check(cases);
}

TEST(ComputeTraffic, ShardsStateAsNamed) {
  const auto data_two = Degrees(2, 1, 1);  // 4 ranks: data 2, m 4, 2048 parameters a rank
  const auto shape = [&](Sharding sharding) { return With(data_two, ShardedAs(sharding)); };
  const std::string tensor = "Tensor ring {0,1}x2 4096\n";
  const Case cases[] = {
      {"None reduces once", Dense(Small()), shape(Sharding::kNone), 4,
       tensor + "Data ring {0,2}x2 8192\n"},
      {"OptimizerState gathers weights once", Dense(Small()), shape(Sharding::kOptimizerState), 4,
       tensor + "Data ring {0,2}x2 6144\n"},
      {"Gradients reduces every micro-batch", Dense(Small()), shape(Sharding::kGradients), 4,
       tensor + "Data ring {0,2}x2 18432\n"},
      {"Full gathers twice every micro-batch", Dense(Small()), shape(Sharding::kFull), 4,
       tensor + "Sharding ring {0,2}x2 32768\n"},
      {"Hybrid is Full inside and None on the shard across", Dense(Small()),
       With(Degrees(1, 1, 1), ShardedAs(Sharding::kHybrid, 2)), 4,
       "Data ring {0,2}x2 8192\nSharding ring {0,1}x2 32768\n"},
      {"Hybrid of one rank a shard only reduces", Dense(Small()),
       With(Degrees(1, 1, 1), ShardedAs(Sharding::kHybrid, 1)), 4, "Data ring {0,1,2,3}x1 24576\n"},
  };
  Check(cases);
}

TEST(ComputeTraffic, SplitsExperts) {
  const auto full = [](Transformer& m) { m.recomputation = Recomputation::kFull; };
  const auto plain = [](Transformer& m) { m.gated_feed_forward = false; };
  const auto unsized = [](Transformer& m) { m.moe->feed_forward_size.reset(); };
  const auto tiny = [](Transformer& m) {
    m.moe->feed_forward_size.reset();
    m.parameters = 100;
  };
  const std::string stages = "Pipeline stages {0,8}x8 64 end 64 wrap 0\n";
  const auto shape = Degrees(2, 1, 2);
  const Case cases[] = {
      {"whole experts: 832 dense and 192 expert parameters a rank", Dense(SmallExperts()),
       With(shape, Experts(2, 1)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 4992\n" + stages +
           "Expert all {0,1}x8 256\nData ring {0,2,4,6}x4 1152\n"},
      {"split experts: expertTensor is tensor unless said", Dense(SmallExperts()),
       With(shape, Experts(2, 0)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 4992\n" + stages +
           "Expert all {0,2}x8 256\nExpertTensor ring {0,1}x8 512\nData ring {0,4}x8 384\n"},
      {"full recomputation", Dense(With(SmallExperts(), full)), With(shape, Experts(2, 0)), 16,
       "Tensor ring {0,1}x8 1536\nData ring {0,2,4,6}x4 4992\n" + stages +
           "Expert all {0,2}x8 384\nExpertTensor ring {0,1}x8 768\nData ring {0,4}x8 384\n"},
      {"two matrices without a gate: 512 expert parameters", Dense(With(SmallExperts(), plain)),
       With(shape, Experts(2, 1)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 5376\n" + stages +
           "Expert all {0,1}x8 256\nData ring {0,2,4,6}x4 768\n"},
      {"without a width experts are what attention leaves", Dense(With(SmallExperts(), unsized)),
       With(shape, Experts(2, 1)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 1152\n" + stages +
           "Expert all {0,1}x8 256\nData ring {0,2,4,6}x4 4992\n"},
      {"and never below zero", Dense(With(SmallExperts(), tiny)), With(shape, Experts(2, 1)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 150\n" + stages +
           "Expert all {0,1}x8 256\n"},
      {"with expert 1 they are sharded like the rest", Dense(SmallExperts()), shape, 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,2,4,6}x4 6144\n" + stages},
      {"Hybrid shards both kinds of gradients", Dense(SmallExperts()),
       With(shape, Experts(2, 1), ShardedAs(Sharding::kHybrid, 2)), 16,
       "Tensor ring {0,1}x8 1024\nData ring {0,4}x8 1664\nSharding ring {0,2}x8 6656\n" + stages +
           "Expert all {0,1}x8 256\nData ring {0,4}x8 384\nSharding ring {0,2}x8 1536\n"},
  };
  Check(cases);
}

TEST(ComputeTraffic, RoundsOnceHalfUp) {
  const auto seven = [](Transformer& m) { m.parameters = 7; };
  const Model odd{std::nullopt, {{Axis::kExpert, 7}, {Axis::kPipeline, 5}}};
  const Case cases[] = {
      {"7 parameters x 8 bytes x 2/3 is 37.3",
       Dense(With(Small(), seven, [](auto& m) { m.global_batch_size = 9; })), Degrees(1, 1, 1), 3,
       "Data ring {0,1,2}x1 37\n"},
      {"measured bytes are split before they are rounded", odd,
       With(Degrees(1, 1, 3), Experts(3, 1)), 9,
       "Expert all {0,1,2}x3 4\nPipeline stages {0,3,6}x3 3 end 5 wrap 0\n"},
      {"less than half a byte is no family", Model{std::nullopt, {{Axis::kExpert, 1}}},
       With(Degrees(1, 1, 1), Experts(4, 1)), 4, ""},
  };
  Check(cases);
}

TEST(ComputeTraffic, TakesMeasuredBytesAsTheyAre) {
  const Model sharding{std::nullopt, {{Axis::kSharding, 10}}};
  const Case cases[] = {
      {"Sharding goes over the gradient group", sharding, Degrees(2, 1, 1), 8,
       "Sharding ring {0,2,4,6}x2 10\n"},
      {"and stays in the shard group of Hybrid", sharding,
       With(Degrees(2, 1, 1), ShardedAs(Sharding::kHybrid, 2)), 8, "Sharding ring {0,2}x4 10\n"},
      {"two stages send all to each other", Model{std::nullopt, {{Axis::kPipeline, 9}}},
       Degrees(1, 1, 2), 2, "Pipeline stages {0,1}x1 5 end 9 wrap 0\n"},
      {"expert groups need no moe", Model{std::nullopt, {{Axis::kExpert, 9}}},
       With(Degrees(1, 1, 1), Experts(4, 1)), 4, "Expert all {0,1,2,3}x1 3\n"},
  };
  Check(cases);
}

TEST(ComputeTraffic, WithoutAModelIsOneRing) {
  const Case cases[] = {
      {"a byte a rank", std::nullopt, Degrees(2, 1, 2), 8, "Data ring {0,1,2,3,..,7}x1 1\n"}};
  Check(cases);
  const auto traffic = ComputeTraffic(std::nullopt, Degrees(2, 1, 2), 4, 2);
  ASSERT_TRUE(traffic);
  EXPECT_FALSE(traffic->modelled);
  EXPECT_EQ(traffic->ranks, 8U);
  EXPECT_EQ(traffic->workers, 4U);
  EXPECT_TRUE(ComputeTraffic(Dense(Small()), Degrees(2, 1, 2), 4, 2)->modelled);
}

TEST(ComputeTraffic, RefusesBytesPast63Bits) {
  const auto huge = [](Transformer& m) { m.sequence_length = m.hidden_size = 1LL << 30; };
  const auto widest = [](Transformer& m) {
    m.parameters = m.hidden_size = m.layers = m.sequence_length = kSaturated;
    m.vocabulary_size = m.global_batch_size = kSaturated;
  };
  const std::string tensor =
      "model: the bytes that one rank sends on axis Tensor in one step are more than 2^56";
  const Case cases[] = {
      {"a product of large fields", Dense(With(Small(), huge)), Degrees(8, 1, 1), 8, tensor},
      {"all fields at their largest", Dense(With(SmallExperts(), widest)),
       With(Degrees(8, 1, 1), Experts(2, 1)), 8, tensor},
  };
  Check(cases);
}

// "Sharding 4": the axis, and the members of a group by seats; "none".
std::string ShowRing(const std::optional<Model>& model, const Parallelism& shape) {
  const auto traffic = ComputeTraffic(model, shape, 8, 1);
  const SeatedGroups* ring = LargestRing(*traffic);
  for (std::size_t f = 0; f < traffic->families.size() && ring != nullptr; ++f) {
    if (ring != &traffic->seated[f]) continue;
    return std::string(AxisName(traffic->families[f].axis)) + " " +
           std::to_string(ring->seats(0).size());
  }
  return "none";
}

TEST(LargestRing, IsOfShardingOrDataIfNothingElseLeavesATensorGroup) {
  const Model small{Small(), {}}, experts{SmallExperts(), {}};
  EXPECT_EQ(ShowRing(small, Degrees(1, 1, 1)), "Data 8");
  EXPECT_EQ(ShowRing(small, Degrees(2, 1, 1)), "Data 4");
  EXPECT_EQ(ShowRing(small, With(Degrees(2, 1, 1), ShardedAs(Sharding::kFull))), "Sharding 4");
  EXPECT_EQ(ShowRing(small, With(Degrees(1, 1, 1), ShardedAs(Sharding::kHybrid, 4))), "Sharding 4");
  EXPECT_EQ(ShowRing(small, Degrees(8, 1, 1)), "none");
  EXPECT_EQ(ShowRing(small, Degrees(1, 2, 1)), "none");
  EXPECT_EQ(ShowRing(small, Degrees(1, 1, 2)), "none");
  EXPECT_EQ(ShowRing(experts, With(Degrees(1, 1, 1), Experts(2, 1))), "none");
  EXPECT_EQ(ShowRing(std::nullopt, Degrees(1, 1, 1)), "none");
}

}  // namespace
}  // namespace weft::traffic
