#include "wire.hpp"

#include <cstring>

#include "rdtd/base/text.hpp"

namespace rdtd::wire {

namespace {

// Adds the sizes of the values of one container to `size`.
int add_sizes(sd_bus_message* message, size_t most, size_t& size) {
  char type = 0;
  const char* contents = nullptr;
  int r = 0;
  while (size <= most && (r = sd_bus_message_peek_type(message, &type, &contents)) > 0) {
    size += 8;
    if (contents != nullptr) {
      r = sd_bus_message_enter_container(message, type, contents);
      if (r >= 0) r = add_sizes(message, most, size);
      if (r >= 0 && size <= most) r = sd_bus_message_exit_container(message);
    } else if (type == 's' || type == 'o' || type == 'g') {
      const char* text = nullptr;
      r = sd_bus_message_read_basic(message, type, &text);
      if (r >= 0) size += std::strlen(text);
    } else {
      uint64_t number = 0;
      r = sd_bus_message_read_basic(message, type, &number);
    }
    if (r < 0) return r;
  }
  return r;
}

}  // namespace

bool fits(sd_bus_message* message, size_t most) {
  size_t size = 0;
  const int r = add_sizes(message, most, size);
  (void)sd_bus_message_rewind(message, 1);
  return r >= 0 && size <= most;
}

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
