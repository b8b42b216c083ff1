#include "rdtd/base/break_lines.hpp"

#include <algorithm>

namespace rdtd {

namespace {

// Where the first line of the text ends if it has room for `room` bytes. The first `kept` bytes of
// the text are never alone on a line.
size_t end_of_line(std::string_view text, size_t room, size_t kept) {
  if (text.size() <= room) return text.size();
  for (const std::string_view separators : {" ;", ","}) {
    const size_t last = text.substr(0, room).find_last_of(separators);
    if (last != std::string_view::npos && last >= kept) return last + 1;
  }
  const size_t next = text.find_first_of(" ;,", std::max(room, kept));
  return next == std::string_view::npos ? text.size() : next + 1;
}

}  // namespace

std::string break_lines(std::string_view text, size_t width, size_t indent) {
  std::string out;
  for (bool first = true; !text.empty(); first = false) {
    if (!first) out += '\n' + std::string(indent, ' ');
    const size_t room = first ? width : width - std::min(indent, width);
    const size_t end = end_of_line(text, room, first ? indent : 0);
    out += text.substr(0, end);
    out.erase(out.find_last_not_of(' ') + 1);
    text.remove_prefix(end);
    // The line may end with a separator that a space follows.
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return out;
}

}  // namespace rdtd
