// HTML files of rdtctl: one page each, without references to anything outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"

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

// Into the file that --html names; "": nowhere. Returns the exit code, after a note if it fails.
[[nodiscard]] int write_html(const std::string& file, const std::string& page);
// Whether that will work: before a measurement that takes an hour.
[[nodiscard]] int check_html(const std::string& file);

}  // namespace rdtd
