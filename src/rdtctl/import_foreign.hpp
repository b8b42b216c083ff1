// Settings of other tools as a policy: goresctrl's configuration, cgrules.conf(5), the options of
// pqos(8), and cachetune and memorytune of libvirt. What the policy language cannot say becomes a
// comment. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace rdtd {

// The text of the policy; the error says why the settings cannot be read.
using ImportedText = std::expected<std::string, std::string>;

// The hint for a script that has more than its lines show.
constexpr std::string_view run_and_import =
    "run the script, and 'rdtctl import' without a file prints the groups that it made";

// Recognizes which of them it is.
[[nodiscard]] ImportedText import_foreign(std::string_view text);
[[nodiscard]] ImportedText import_cgrules(std::string_view text);
[[nodiscard]] ImportedText import_goresctrl(std::string_view text);
// A command line: pqos -e "llc:1=0xf;mba:1=50" -a "core:1=0-3"; also without the first word.
[[nodiscard]] ImportedText import_pqos(std::string_view text);
// The XML of a virtual machine.
[[nodiscard]] ImportedText import_libvirt(std::string_view text);

}  // namespace rdtd
