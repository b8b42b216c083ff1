// HTML files of rdtctl: one page each, without references to anything outside.
#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "rdtd/base/directory.hpp"

namespace rdtd {

// For text and for values of attributes.
[[nodiscard]] std::string html_escaped(std::string_view text);
// A page; the title becomes its heading too. `body` is HTML, the others are text. The page follows
// the reader's choice of a light or dark background.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body,
                                    std::string_view footer);
// Where a result is from: the command line, the machine, the versions and the time.
[[nodiscard]] std::string origin_of(const Context& context);
// A list of texts under a heading; "" without texts.
[[nodiscard]] std::string html_list(std::string_view heading,
                                    const std::vector<std::string>& texts);

// The file that --html names.
class HtmlFile {
 public:
  // Before a measurement that takes an hour, and without making the file: only its directory is
  // opened, and never again. "": there is none. The error is the exit code, after a note.
  [[nodiscard]] static std::expected<HtmlFile, int> open(const std::string& file);
  // Returns the exit code, after a note if it fails. The umask takes from `mode`.
  [[nodiscard]] int write(const std::string& page, mode_t mode = 0666) const;

 private:
  HtmlFile() = default;
  std::optional<Directory> directory_;
  std::string name_;
};

}  // namespace rdtd
