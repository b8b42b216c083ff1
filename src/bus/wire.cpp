#include "wire.hpp"

#include "rdtd/base/text.hpp"

namespace rdtd::wire {

std::string clean(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += printable(line) + '\n';
  out.pop_back();
  return out;
}

int reply_error(sd_bus_message* call, const std::string& name, std::string_view text) {
  return sd_bus_reply_method_errorf(call, name.c_str(), "%s", clean(text).c_str());
}

}  // namespace rdtd::wire
