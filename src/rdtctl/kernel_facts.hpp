// The facts that doctor reads about the kernel and its mount of resctrl.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "context.hpp"
#include "diagnose.hpp"

namespace rdtd {

// Of a file; empty if it cannot be read.
[[nodiscard]] std::string text_of(const std::filesystem::path& path);

// The name of a process or thread, printable in a line; empty if it has ended.
[[nodiscard]] std::string name_of_process(const Context& context, pid_t pid);

// From the files of /proc, and the configuration with which the kernel was built.
void read_kernel(const Context& context, MachineFacts& facts);

}  // namespace rdtd
