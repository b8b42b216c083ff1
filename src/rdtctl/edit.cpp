// edit: a policy file in the user's editor, checked before it is in force, as visudo(8) and
// `systemctl edit` do.
#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <expected>
#include <optional>
#include <vector>

#include "argument_vector.hpp"
#include "output.hpp"
#include "policy_file.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/policy/parse.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr std::string_view suffix = ".toml";
constexpr std::string_view first_text =
    R"(# A policy of rdtd: who gets how much of the caches and the memory bandwidth.
# rdtd.toml(5) describes the language. For example, a service that others must not disturb:
#
# [group.redis]
# l3 = "40%"
# exclusive = true
#
# [[rule]]
# group = "redis"
# unit = "redis-server.service"
)";

// Why temp_directory_path() names none: the first of its variables decides.
Error no_directory(int code) {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* named = std::getenv(variable); named != nullptr)
      return {"use", named, code, fmt::format("{} names it", variable)};
  return {"use", "/tmp", code, {}};
}

// The copy that the editor gets: a directory of its own, with a file of the same name. Where others
// may write to the directory above, they can put another one in its place at any time, or a link:
// the directory is opened once, and the file is read through it.
class Draft {
 public:
  Draft() = default;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (path_.empty()) return;
    // The editor may have left a copy of its own: "10-web.toml~", ".10-web.toml.swp".
    if (directory_)
      if (const auto entries = directory_->list(); entries)
        for (const Directory::Entry& entry : *entries)
          if (entry.name.contains(name_)) (void)::unlinkat(directory_->fd(), entry.name.c_str(), 0);
    (void)::rmdir(path_.c_str());
  }
  [[nodiscard]] Result<void> write(const std::string& name, const std::string& text) {
    std::error_code error;
    const auto temporary = std::filesystem::temp_directory_path(error);
    if (error) return std::unexpected(no_directory(error.value()));
    std::string path = (temporary / "rdtd-edit-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return errno_error("make", path);
    path_ = path;
    name_ = name;
    const auto above = Directory::open(temporary.string());
    auto directory = above ? above->open_made(std::filesystem::path(path_).filename().string())
                           : std::unexpected(above.error());
    if (!directory) return std::unexpected(directory.error());
    directory_ = std::move(*directory);
    return directory_->replace(name_, text, 0600);
  }
  [[nodiscard]] Result<std::string> read() const {
    const auto fd = directory_->open_file(name_, O_RDONLY);
    if (!fd) return std::unexpected(fd.error());
    struct stat status{};
    if (::fstat(fd->get(), &status) != 0) return errno_error("read", file());
    if (status.st_uid != ::geteuid())
      return std::unexpected(Error{"read", file(), 0, "it belongs to another user"});
    return read_all(fd->get(), file());
  }
  [[nodiscard]] std::string file() const { return path_ + "/" + name_; }
  // Returns the file, which stays.
  [[nodiscard]] std::string keep() {
    std::string out = file();
    path_.clear();
    return out;
  }

 private:
  std::string path_, name_;
  std::optional<Directory> directory_;
};

struct Editors {
  std::vector<std::vector<std::string>> commands;  // to try, each with its options: "emacs -nw"
  std::string variable;                            // that names the only one
};

// As systemctl(1) chooses them.
Editors editors() {
  for (const char* variable : {"SYSTEMD_EDITOR", "EDITOR", "VISUAL"}) {
    const char* value = std::getenv(variable);
    std::vector<std::string> words;
    for (const std::string_view word : split(value != nullptr ? value : "", ' '))
      if (!word.empty()) words.emplace_back(word);
    if (!words.empty()) return {{words}, variable};
  }
  return {{{"editor"}, {"nano"}, {"vim"}, {"vi"}}, ""};
}

// Returns why the last one that exists cannot be executed.
int execute_editor(const std::string& file) {
  int failed = ENOENT;
  for (std::vector<std::string> words : editors().commands) {
    words.push_back(file);
    if (const int error = ArgumentVector(std::move(words)).execute(); error != ENOENT)
      failed = error;
  }
  return failed;
}

std::string no_editor_text(int failed) {
  const Editors tried = editors();
  if (tried.variable.empty()) return "there is no editor: set EDITOR";
  return fmt::format("cannot execute '{}', which {} names: {}", tried.commands.front().front(),
                     tried.variable, std::strerror(failed));
}

// Whether it succeeded; the error is that of its execution. Ctrl-C is the editor's.
std::expected<bool, int> run_editor(const std::string& file) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::unexpected(errno);
  const UniqueFd reading(pipe[0]);
  UniqueFd writing(pipe[1]);
  struct sigaction ignore{}, interrupt{}, quit{};
  ignore.sa_handler = SIG_IGN;
  (void)::sigaction(SIGINT, &ignore, &interrupt);
  (void)::sigaction(SIGQUIT, &ignore, &quit);
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::sigaction(SIGINT, &interrupt, nullptr);
    (void)::sigaction(SIGQUIT, &quit, nullptr);
    const int failed = execute_editor(file);
    (void)!::write(writing.get(), &failed, sizeof failed);
    ::_exit(127);
  }
  writing = UniqueFd();
  int status = -1, failed = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) != pid && errno == EINTR) continue;
  (void)::sigaction(SIGINT, &interrupt, nullptr);
  (void)::sigaction(SIGQUIT, &quit, nullptr);
  if (::read(reading.get(), &failed, sizeof failed) == sizeof failed)
    return std::unexpected(failed);
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The error about a name that is none of a policy file; empty for others.
std::string policy_name_meant(const std::string& name) {
  if (name == "-")
    return fmt::format(
        "edit takes the name of a file of {}; 'rdtctl check -' checks standard input",
        lasting_directory);
  if (name.ends_with(suffix) || name.starts_with('.') || name.contains('/')) return {};
  // "x.toml.bak", "x.TOML"
  size_t end = lower(name).find(suffix);
  for (const std::string_view other : {".conf", ".cfg", ".ini", ".json", ".yaml", ".yml", ".txt"})
    if (name.ends_with(other)) end = std::min(end, name.size() - other.size());
  if (end == std::string::npos) return {};
  return fmt::format("the name of a policy file ends in .toml: rdtctl edit {}.toml",
                     name.substr(0, end));
}

// The file that has the group, if a word is one and no file: its name; else empty.
std::string file_of_group(const std::vector<PolicyFile>& files, const std::string& given,
                          const std::string& name) {
  const auto name_of_file = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  if (given.ends_with(suffix) ||
      std::ranges::any_of(files, [&](const auto& file) { return name_of_file(file.path) == name; }))
    return {};
  for (const Group& group : parse_policy(files).policy.groups)
    if (group.name.value == given) return name_of_file(group.name.where.file.text());
  return {};
}

// The name in /etc/rdtd; the error is the exit code.
std::expected<std::string, int> name_of(const std::string& given) {
  std::string name = given;
  if (name.empty()) {
    std::vector<std::string> names;
    if (const auto directory = Directory::open(std::string(lasting_directory)); directory)
      if (const auto entries = directory->list(); entries)
        for (const Directory::Entry& entry : *entries)
          if (!entry.is_directory && entry.name.ends_with(suffix) && !entry.name.starts_with('.'))
            names.push_back(entry.name);
    if (names.size() > 1) {
      note("rdtctl: which file of {}: {}?\n", lasting_directory, join(names, ", "));
      return std::unexpected(static_cast<int>(Exit::usage));
    }
    return names.empty() ? "10-policy.toml" : names.front();
  }
  if (name.starts_with(fmt::format("{}/", lasting_directory)))
    name.erase(0, lasting_directory.size() + 1);
  if (const std::string meant = policy_name_meant(name); !meant.empty()) {
    note("rdtctl: '{}': {}\n", given, meant);
    return std::unexpected(static_cast<int>(Exit::usage));
  }
  if (name.contains('/') || name.starts_with('.')) {
    note("rdtctl: edit is for files of {}, and '{}' is not one of them: use any editor\n",
         lasting_directory, given);
    return std::unexpected(static_cast<int>(Exit::usage));
  }
  return name.ends_with(suffix) ? name : name + std::string(suffix);
}

// The text in force under that name: that of the file itself, or of one of a directory behind
// /etc/rdtd, which the new file replaces. A file that cannot be read would be lost.
Result<std::string> text_before(const std::vector<PolicyFile>& files, const std::string& name) {
  for (const PolicyFile& file : files) {
    if (std::filesystem::path(file.path).filename() != name) continue;
    if (file.state == PolicyFile::State::active) return file.text;
    if (file.state == PolicyFile::State::unreadable)
      return std::unexpected(Error{"edit", file.path, 0, "it " + file.problem});
  }
  return std::string(first_text);
}

bool asks_to_edit_again() {
  if (::isatty(STDIN_FILENO) != 1) return false;
  note("Edit it again? [Y/n] ");
  std::array<char, 16> line{};
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return false;
  return line.front() != 'n' && line.front() != 'N';
}

}  // namespace

int verbs::edit(const Context& context, const std::string& given) {
  if (editors().variable.empty() && ::isatty(STDIN_FILENO) != 1) {
    note("rdtctl: edit is for a terminal; without one, it requires EDITOR\n");
    return Exit::usage;
  }
  const auto name = name_of(given);
  if (!name) return name.error();
  if (const std::string file = file_of_group(find_policy_files(context.root), given, *name);
      !file.empty()) {
    note("rdtctl: group '{}' is in {}: rdtctl edit {}\n", given, file,
         std::filesystem::path(file).stem().string());
    return Exit::usage;
  }
  if (const auto may = may_install_policy_file(*name); !may) return report_file(may.error());
  const auto before = text_before(find_policy_files(context.root), *name);
  if (!before) return report_file(before.error());
  Draft draft;
  if (const auto written = draft.write(*name, *before); !written)
    return report_file(written.error());
  for (;;) {
    const auto edited = run_editor(draft.file());
    if (!edited) {
      note("rdtctl: {}; nothing was changed\n", no_editor_text(edited.error()));
      return Exit::failed;
    }
    const auto text = draft.read();
    if (!text) return report_file(text.error());
    if (!*edited) {
      note("rdtctl: the editor failed: nothing was changed{}\n",
           *text == *before ? "" : fmt::format("; your text is in '{}'", draft.keep()));
      return Exit::failed;
    }
    if (*text == *before) {
      note("rdtctl: nothing was changed\n");
      return Exit::ok;
    }
    if (check_policy_file(context, *name, *text)) {
      if (const auto now = text_before(find_policy_files(context.root), *name);
          !now || *now != *before) {
        note("rdtctl: '{}' was changed meanwhile; your text is in '{}'\n", *name, draft.keep());
        return Exit::failed;
      }
      const int exit = install_policy_file(*name, *text);
      if (exit != Exit::ok) note("rdtctl: your text is in '{}'\n", draft.keep());
      return exit;
    }
    if (!asks_to_edit_again()) {
      note("rdtctl: nothing was changed; your text is in '{}'\n", draft.keep());
      return Exit::failed;
    }
  }
}

}  // namespace rdtd
