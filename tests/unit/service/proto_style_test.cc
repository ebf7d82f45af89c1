// The rules that buf's category STANDARD would hold proto/ to, as far as a compiled file shows
// them. Source  https://buf.build/docs/lint/rules/
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "weft/v1/placement_service.pb.h"

namespace weft::service {
namespace {

namespace pb = google::protobuf;

const std::regex kPascal("([A-Z][a-z0-9]*)+"), kSnake("[a-z][a-z0-9]*(_[a-z0-9]+)*"),
    kUpperSnake("[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"),
    kVersioned(".*\\.v[1-9][0-9]*((alpha|beta)[1-9]*)?");

std::string UpperSnake(const std::string& pascal) {
  std::string text;
  for (const char letter : pascal) {
    if (std::isupper(static_cast<unsigned char>(letter)) != 0 && !text.empty()) text += '_';
    text += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

// What breaks a rule, as "name: rule".
class Lint {
 public:
  explicit Lint(const pb::FileDescriptor& file) {
    std::string folder = file.package() + "/";
    for (char& letter : folder) letter = letter == '.' ? '/' : letter;
    const std::string stem = file.name().substr(file.name().rfind('/') + 1);
    Require(file.name() == folder + stem, file.name(), "lies in the folder of its package");
    Require(std::regex_match(stem, std::regex("[a-z][a-z0-9_]*\\.proto")), file.name(),
            "is in snake_case");
    Require(std::regex_match(file.package(), kVersioned), file.package(), "ends in a version");
    Require(file.public_dependency_count() == 0 && file.weak_dependency_count() == 0, file.name(),
            "imports nothing in public");
    for (int i = 0; i < file.message_type_count(); ++i) Visit(*file.message_type(i));
    for (int i = 0; i < file.enum_type_count(); ++i) Visit(*file.enum_type(i));
    for (int i = 0; i < file.service_count(); ++i) Visit(*file.service(i));
    for (const auto& [message, uses] : used_by_calls_) {
      Require(uses == 1, message, "serves one call in one direction");
    }
  }

  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void Require(bool holds, const std::string& name, const std::string& rule) {
    if (!holds) broken_.push_back(name + ": " + rule);
  }

  void Visit(const pb::Descriptor& message) {
    if (message.options().map_entry()) return;
    Require(std::regex_match(message.name(), kPascal), message.name(), "is in PascalCase");
    for (int i = 0; i < message.field_count(); ++i) {
      Require(std::regex_match(message.field(i)->name(), kSnake), message.field(i)->name(),
              "is in snake_case");
    }
    for (int i = 0; i < message.real_oneof_decl_count(); ++i) {
      Require(std::regex_match(message.oneof_decl(i)->name(), kSnake),
              message.oneof_decl(i)->name(), "is in snake_case");
    }
    for (int i = 0; i < message.nested_type_count(); ++i) Visit(*message.nested_type(i));
    for (int i = 0; i < message.enum_type_count(); ++i) Visit(*message.enum_type(i));
  }

  void Visit(const pb::EnumDescriptor& type) {
    Require(std::regex_match(type.name(), kPascal), type.name(), "is in PascalCase");
    Require(!type.options().allow_alias(), type.name(), "has no aliases");
    const std::string prefix = UpperSnake(type.name()) + "_";
    for (int i = 0; i < type.value_count(); ++i) {
      const std::string& name = type.value(i)->name();
      Require(std::regex_match(name, kUpperSnake), name, "is in UPPER_SNAKE_CASE");
      Require(name.starts_with(prefix), name, "begins with its enum's name");
      if (type.value(i)->number() == 0) {
        Require(name == prefix + "UNSPECIFIED", name, "zero is UNSPECIFIED");
      }
    }
  }

  void Visit(const pb::ServiceDescriptor& service) {
    Require(std::regex_match(service.name(), kPascal), service.name(), "is in PascalCase");
    Require(service.name().ends_with("Service"), service.name(), "ends in Service");
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& call = *service.method(i);
      Require(std::regex_match(call.name(), kPascal), call.name(), "is in PascalCase");
      Require(call.input_type()->name() == call.name() + "Request", call.name(),
              "takes its own Request");
      Require(call.output_type()->name() == call.name() + "Response", call.name(),
              "gives its own Response");
      ++used_by_calls_[call.input_type()->name()];
      ++used_by_calls_[call.output_type()->name()];
    }
  }

  std::map<std::string, int> used_by_calls_;
  std::vector<std::string> broken_;
};

TEST(ProtoStyleTest, OurFileKeepsEveryRule) {
  const Lint lint(*v1::PlanRequest::descriptor()->file());
  EXPECT_EQ(lint.broken(), std::vector<std::string>{});
}

TEST(ProtoStyleTest, EveryRuleIsSeenBroken) {
  pb::FileDescriptorProto file;
  file.set_name("elsewhere/BadName.proto");
  file.set_package("weft");
  file.set_syntax("proto3");
  pb::DescriptorProto* const message = file.add_message_type();
  message->set_name("bad_message");
  pb::FieldDescriptorProto* const field = message->add_field();
  field->set_name("badField");
  field->set_number(1);
  field->set_type(pb::FieldDescriptorProto::TYPE_INT32);
  field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  field->set_oneof_index(0);
  message->add_oneof_decl()->set_name("badChoice");
  pb::EnumDescriptorProto* const type = file.add_enum_type();
  type->set_name("bad_enum");
  type->mutable_options()->set_allow_alias(true);
  for (const char* const name : {"BAD_ENUM_NONE", "Other"}) {
    pb::EnumValueDescriptorProto* const value = type->add_value();
    value->set_name(name);
    value->set_number(0);
  }
  pb::ServiceDescriptorProto* const service = file.add_service();
  service->set_name("placements");
  pb::MethodDescriptorProto* const call = service->add_method();
  call->set_name("get");
  call->set_input_type(".weft.bad_message");
  call->set_output_type(".weft.bad_message");

  pb::DescriptorPool pool;
  const pb::FileDescriptor* const built = pool.BuildFile(file);
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(
      Lint(*built).broken(),
      (std::vector<std::string>{
          "elsewhere/BadName.proto: lies in the folder of its package",
          "elsewhere/BadName.proto: is in snake_case", "weft: ends in a version",
          "bad_message: is in PascalCase", "badField: is in snake_case",
          "badChoice: is in snake_case", "bad_enum: is in PascalCase", "bad_enum: has no aliases",
          "BAD_ENUM_NONE: zero is UNSPECIFIED", "Other: is in UPPER_SNAKE_CASE",
          "Other: begins with its enum's name", "Other: zero is UNSPECIFIED",
          "placements: is in PascalCase", "placements: ends in Service", "get: is in PascalCase",
          "get: takes its own Request", "get: gives its own Response",
          "bad_message: serves one call in one direction"}));
}

}  // namespace
}  // namespace weft::service
