#include "fake/calls.hpp"

#include <fmt/format.h>

namespace rdtd::fake {

namespace {

bool changes_something(const Call& call) {
  return call.operation == "make" || call.operation == "remove" || call.operation == "write" ||
         call.operation == "add";
}

}  // namespace

std::string Call::text() const {
  std::string out = operation;
  if (!path.empty()) out += " " + path;
  if (!argument.empty()) out += fmt::format(" '{}'", argument);
  return out;
}

void Calls::fail(size_t number, int code, When when) {
  fail_if([number](const Call& call) { return call.number == number; }, code, when);
}

void Calls::fail_if(std::function<bool(const Call&)> matches, int code, When when) {
  rules_.push_back({std::move(matches), {code, when}});
}

void Calls::reset() {
  rules_.clear();
  log_.clear();
}

std::vector<std::string> Calls::texts() const {
  std::vector<std::string> out;
  for (const Call& call : log_) out.push_back(call.text());
  return out;
}

std::vector<std::string> Calls::changes() const {
  std::vector<std::string> out;
  for (const Call& call : log_)
    if (changes_something(call)) out.push_back(call.text());
  return out;
}

std::optional<Calls::Failure> Calls::begin(std::string operation, std::string path,
                                           std::string argument) {
  argument.resize(argument.find_last_not_of('\n') + 1);
  const Call call{log_.size() + 1, std::move(operation), std::move(path), std::move(argument)};
  log_.push_back(call);
  if (hook) hook(call);
  for (const Rule& rule : rules_)
    if (rule.matches(call)) return rule.failure;
  return std::nullopt;
}

}  // namespace rdtd::fake
