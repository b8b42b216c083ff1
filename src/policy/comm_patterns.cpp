#include "comm_patterns.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "pattern_slips.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/comm_name.hpp"

namespace rdtd {

using pattern::Check;
using pattern::Finding;
using pattern::last_component;
using pattern::misunderstood;
using pattern::never;
using pattern::write;

namespace {

// "[kworker/0:1]", "[kthreadd]", "[mysqld]": a class of characters has none twice, a name no '/',
// and a class with so many letters is most often a range.
bool is_in_brackets(std::string_view text) {
  constexpr size_t least_letters = 5;
  if (text.size() < 4 || !text.starts_with('[') || text.find(']') != text.size() - 1) return false;
  std::string inside(text.substr(1, text.size() - 2));
  const bool is_word = inside.size() >= least_letters && !inside.contains('-');
  std::erase(inside, '-');
  std::ranges::sort(inside);
  return is_word || is_word_in_brackets(text.substr(1, text.size() - 2)) || inside.contains('/') ||
         std::ranges::adjacent_find(inside) != inside.end();
}

// "CPU 0/KVM", "IO mon_iothread": threads of QEMU, of which the process has another name.
bool is_thread_of_qemu(std::string_view text) {
  return text.starts_with("CPU ") || text.starts_with("IO ");
}

// "postgres: writer": what these programs write over their command line is not their name.
std::string_view program_of_title(std::string_view text) {
  constexpr auto programs = std::to_array<std::string_view>(
      {"postgres", "nginx", "sshd", "php-fpm", "slurmstepd", "vsftpd", "dovecot", "proftpd"});
  const size_t colon = text.find(": ");
  const auto* const found = std::ranges::find(programs, text.substr(0, colon));
  return colon == std::string_view::npos || found == programs.end() ? "" : *found;
}

// "kworker/0:1*" of "kworker/0:1-events": what a worker does changes.
std::string kernel_thread(std::string_view name) {
  if (name == "kworker") return "kworker/*";
  const size_t dash = name.starts_with("kworker/") ? name.find('-') : std::string_view::npos;
  if (dash != std::string_view::npos) return fmt::format("{}*", name.substr(0, dash));
  return can_be_comm(name) ? std::string(name) : comm_of(name);
}

bool is_program(std::string_view word) {
  constexpr auto known = std::to_array<std::string_view>(
      {"tar",      "gzip",   "bzip2",    "xz",        "zstd",    "pigz",  "rsync",       "cp",
       "mv",       "dd",     "cat",      "find",      "grep",    "scp",   "make",        "gcc",
       "cc1",      "clang",  "ld",       "ninja",     "java",    "node",  "python",      "python3",
       "perl",     "ruby",   "php",      "nginx",     "apache2", "httpd", "redis",       "mysqld",
       "mariadbd", "mongod", "postgres", "memcached", "haproxy", "fio",   "stress-ng",   "ffmpeg",
       "restic",   "borg",   "dpkg",     "apt",       "rpm",     "dnf",   "redis-server"});
  return std::ranges::find(known, word) != known.end();
}

// ["tar", "gzip", "xz"] of "tar gzip xz"; empty of what may be one name, as "tmux: server" and
// "docker init", and of "tar or gzip", which is a slip of its own.
std::string list_of_words(std::string_view text) {
  constexpr std::string_view of_a_word = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr size_t least = 3;
  const auto words = split(text, ' ');
  std::string out;
  for (const std::string_view word : words) {
    if (word.empty() || word.find_first_not_of(of_a_word) != std::string_view::npos) return {};
    if (word == "or" || word == "and") return {};
    out += (out.empty() ? "[" : ", ") + rdtd::quoted(word);
  }
  // A text that would be cut as one name is more often one name that is not known here.
  const bool are_enough = words.size() >= least && can_be_comm(text);
  const bool all_known = words.size() > 1 && std::ranges::all_of(words, is_program);
  return are_enough || all_known ? out + "]" : "";
}

// "java -jar x", "python3 a.py": a program and what follows it.
bool is_command_line(std::string_view text) {
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || blank == 0 || text[blank - 1] == ':') return false;
  const std::string_view rest = trim(text.substr(blank));
  if (rest.empty() || rest.starts_with("- ")) return false;
  const bool has_path = rest.starts_with('/') || rest.contains(" /") || rest.contains("./");
  return rest.starts_with('-') || rest.contains(" -") || has_path || rest.contains('=') ||
         (is_program(text.substr(0, blank)) && rest.find_first_of("./") != std::string_view::npos);
}

std::string write_cmdline(std::string_view text) {
  return fmt::format("write cmdline = {}", rdtd::quoted(fmt::format("*{}*", text)));
}

// A name that the kernel does not show whole.
std::string hint_for_long(std::string_view text, bool of_thread) {
  if (is_kernel_thread(text)) return write(fmt::format("{}*", comm_of(text)));
  constexpr std::ptrdiff_t least = 2;  // blanks of a sentence
  const size_t blank = text.find(' ');
  const std::string_view first = text.substr(0, blank);
  // "nginx: worker process": the title that a program writes over its command line.
  const bool is_title = blank != std::string_view::npos && first.size() > 1 && first.ends_with(':');
  const bool is_command = is_command_line(text);
  if (!is_title && !is_command)
    return write(comm_of(text)) + (of_thread            ? ""
                                   : blank == text.npos ? ", or use 'exe'"
                                   : std::ranges::count(text, ' ') < least
                                       ? ""
                                       : ", or a comment (#) if it names the rule");
  const std::string name = comm_of(is_title ? first.substr(0, first.size() - 1) : first);
  if (of_thread) return write(name);
  return is_title ? fmt::format("{}, or cmdline = {}", write(name),
                                rdtd::quoted(fmt::format("{}*", text)))
                  : write_cmdline(text);
}

// "redis-server *:6379": what stands beside the '*' is more than a program's name has.
Check check_least_size(std::string_view text, bool of_thread) {
  const std::string_view prefix = glob_prefix(text);
  if (glob_least_size(text) <= longest_comm || can_begin_kernel_thread(prefix)) return std::nullopt;
  const size_t blank = prefix.find(' ');
  const bool is_command = blank != std::string_view::npos && !of_thread;
  const std::string name = comm_of(prefix.substr(0, blank));
  const bool is_whole = blank != std::string_view::npos || prefix.size() >= longest_comm;
  std::string hint =
      is_command
          ? fmt::format("write name = {}, or cmdline = {}", rdtd::quoted(name),
                        rdtd::quoted(fmt::format("{}{}", text, text.ends_with('*') ? "" : "*")))
          : write(is_whole ? name : name + "*");
  return Finding{
      fmt::format("'{}' has more than the {} bytes of a program's name; only kernel threads have "
                  "more",
                  text, longest_comm),
      std::move(hint), false};
}

Check check_length(std::string_view text, bool of_thread) {
  const auto only = glob_only_match(text);
  if (!only) return check_least_size(text, of_thread);
  if (can_be_comm(*only)) return std::nullopt;
  return never(text,
               is_kernel_thread(*only)
                   ? fmt::format("the kernel cuts the names of its threads to {} bytes",
                                 longest_kernel_thread)
                   : fmt::format("the kernel cuts names to {} bytes", longest_comm),
               hint_for_long(*only, of_thread));
}

// Texts that are no name of a process, however long they are: a unit, and several names.
Check check_other_kinds(std::string_view text, bool of_thread) {
  const bool certain = glob_is_literal(text) && !can_be_comm(text);
  if (text.ends_with(".service") || text.ends_with(".slice") || text.ends_with(".scope"))
    return Finding{fmt::format("'{}' looks like a unit of systemd; '{}' is the name of a {}", text,
                               of_thread ? "thread" : "name", of_thread ? "thread" : "process"),
                   fmt::format("write unit = {}", rdtd::quoted(text)), certain};
  if (const std::string list = list_of_words(text); !list.empty() && !is_command_line(text))
    return Finding{fmt::format("'{}' is one name with blanks in it", text), "write " + list,
                   certain};
  return std::nullopt;
}

// "usr/bin/java", and the "-jar" of ["java", "-jar"].
Check check_part_of_command(std::string_view text, bool of_thread) {
  if (of_thread) return std::nullopt;
  const std::string_view first = text.substr(0, text.find('/'));
  if (first.size() < text.size() &&
      is_one_of(first, {"usr", "bin", "sbin", "opt", "home", "srv", "snap", "lib", "var"}))
    return misunderstood(text, "the name of a process has no directory",
                         fmt::format("{}, or exe = {}", write(comm_of(last_component(text))),
                                     rdtd::quoted(fmt::format("/{}", text))),
                         false);
  if (text.size() > 1 && text.front() == '-' && !text.ends_with("sh"))
    return Finding{fmt::format("'{}' looks like an option of a command", text),
                   fmt::format("write cmdline = {}", rdtd::quoted(fmt::format("*{}*", text))),
                   false};
  return std::nullopt;
}

}  // namespace

Check check_comm(std::string_view text, bool of_thread) {
  if (text.starts_with('/') || text.starts_with("./") || text.starts_with("~/")) {
    if (const size_t blank = text.find(' ');
        !of_thread && blank != std::string_view::npos && trim(text.substr(blank)).starts_with('/'))
      return never(text, "the name of a process has no directory", write_cmdline(text));
    const std::string name = comm_of(last_component(text));
    const bool is_file = text.starts_with('/') && text.size() > 1 && !text.ends_with('/');
    return never(text, "the name of a process has no directory",
                 is_file && !of_thread
                     ? fmt::format("{}, or exe = {}", write(name), rdtd::quoted(text))
                     : write(name));
  }
  if (auto found = check_part_of_command(text, of_thread)) return found;
  if (auto found = check_other_kinds(text, of_thread)) return found;
  if (auto found = check_length(text, of_thread)) return found;
  if (const std::string_view program = program_of_title(text); !program.empty() && !of_thread)
    return Finding{
        fmt::format("'{}' is a title in the command line; the name of such a process is '{}'", text,
                    program),
        fmt::format("{}, or cmdline = {}",
                    // Debian's has its version in the name.
                    write(program == "php-fpm" ? "php-fpm*" : program),
                    rdtd::quoted(fmt::format("{}{}", text, text.ends_with('*') ? "" : "*"))),
        false};
  if (!of_thread && is_thread_of_qemu(text))
    return Finding{
        fmt::format("'{}' looks like a thread of QEMU; 'name' is the name of a process", text),
        fmt::format("write thread = {}", rdtd::quoted(text)), false};
  // The kernel can cut a name behind a blank.
  if (const std::string_view bare = trim(text);
      !bare.empty() &&
      (text.starts_with(' ') || (text.ends_with(' ') && text.size() < longest_comm)))
    return Finding{fmt::format("'{}' {} with a blank, which few names do", text,
                               text.starts_with(' ') ? "begins" : "ends"),
                   write(bare), false};
  if (is_in_brackets(text) && !text.contains(','))
    return Finding{
        fmt::format("'{}' is one of the characters in the brackets; ps has a kernel thread in "
                    "brackets",
                    text),
        write(kernel_thread(text.substr(1, text.size() - 2))), false};
  if (is_command_line(text) && glob_is_literal(text))
    return Finding{fmt::format("'{}' is one name with blanks in it", text),
                   of_thread ? write(text.substr(0, text.find(' '))) : write_cmdline(text), false};
  if (text.starts_with("**/"))
    return Finding{fmt::format("'{}' looks like a path; 'name' is the name of a process", text),
                   fmt::format("write exe = {}", rdtd::quoted(text)), false};
  return std::nullopt;
}

}  // namespace rdtd
