// The verbs, one file each. Each prints data on standard output and notes on standard error, and returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.hpp"

namespace rdtd {

int check(const Context& context, const std::vector<std::string>& files);
int plan(const Context& context, bool detailed_exitcode, bool unified);
int layout(const Context& context);
int status(const Context& context);
int list(const Context& context);
int show(const Context& context, const std::string& group);
int reload(const Context& context);
int explain(const Context& context, std::optional<pid_t> pid, const std::string& unit);
int cat_config(const Context& context);

}  // namespace rdtd
