// cgrules.conf(5): USER[:PROCESS] CONTROLLERS DESTINATION [OPTIONS], the first line that matches
// decides, as in a policy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "shell_words.hpp"

namespace rdtd {

namespace {

using Words = std::vector<std::string>;

// Words with blanks between them; quotes and '\' keep a blank. The '\' of "CORP\alice" is a part.
Words rule_words(std::string_view line) {
  Words out;
  bool in_word = false;
  char quote = '\0';
  for (size_t at = 0; at < line.size(); at++) {
    char c = line[at];
    if (quote == '\0' && (c == ' ' || c == '\t')) {
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    const bool escapes =
        c == '\\' && at + 1 < line.size() && std::string_view(" \t\"'\\").contains(line[at + 1]);
    if (escapes) {
      out.back() += line[++at];
    } else if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
      quote = quote == '\0' ? c : '\0';
    } else {
      out.back() += c;
    }
  }
  return out;
}

// Without its comment: libcgroup takes any '#' for the begin of one.
std::string_view rule_of_line(std::string_view line) {
  return trim(line.substr(0, line.find('#')));
}

struct CgroupPlace {
  std::string group;
  std::string lost;  // of the path: components below the group, and what stands for a user
};

CgroupPlace destination_of(const std::string& path) {
  CgroupPlace out;
  std::string_view rest = path;
  while (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const size_t end = std::min(rest.find_first_of("/%"), rest.size());
  out.group = rest.substr(0, end);
  if (end < rest.size()) out.lost = rest.substr(end);
  if (out.group.empty() || out.group == "*") out.group = "default";
  return out;
}

class CgrulesImport {
 public:
  ImportedText run(std::string_view text);

 private:
  std::optional<std::string> add(const Words& words, std::string_view line);
  void add_group(const std::string& name);

  std::vector<std::string> groups_;
  std::string rules_;
  unsigned number_ = 0;  // of the line
};

void CgrulesImport::add_group(const std::string& name) {
  if (name != "default" && std::ranges::find(groups_, name) == groups_.end())
    groups_.push_back(name);
}

std::string user_condition(std::string_view user) {
  if (user == "*") return "";
  return user.starts_with('@') ? fmt::format("user_group = {}\n", toml_string(user.substr(1)))
                               : fmt::format("user = {}\n", toml_string(user));
}

// A process is given by its name or by the path of its executable.
std::string process_condition(std::string_view process) {
  if (process.empty()) return "";
  if (process.starts_with('/')) return fmt::format("exe = {}\n", toml_string(process));
  if (process.size() > longest_comm)
    return fmt::format("exe = {}\n", toml_string(fmt::format("**/{}", process)));
  return fmt::format("name = {}\n", toml_string(process));
}

// Whether "ignore" is among the options; the others are lost.
bool take_ignore(std::string_view options, std::vector<std::string>& lost) {
  bool ignores = false;
  for (const std::string_view option : split(options, ',')) {
    if (option == "ignore") ignores = true;
    if (option != "ignore" && !option.empty()) lost.emplace_back(option);
  }
  return ignores;
}

// The error.
std::optional<std::string> CgrulesImport::add(const Words& words, std::string_view line) {
  if (words.size() < 3 || words.size() > 4)
    return fmt::format("line {}: it is not 'USER[:PROCESS] CONTROLLERS DESTINATION [OPTIONS]'",
                       number_);
  rules_ += fmt::format("\n# line {}: {}\n", number_, printable(trim(line)));
  const std::string& who = words[0];
  if (who == "%") {
    rules_ += "# The same processes in other controllers: a process is in one group here.\n";
    return std::nullopt;
  }
  const size_t colon = who.find(':');
  const std::string user = who.substr(0, colon);
  const std::string process = colon == std::string::npos ? "" : who.substr(colon + 1);
  if (process.ends_with('/')) {
    rules_ += fmt::format("# Lost: '{}'; it is a directory, which no process executes.\n",
                          printable(process));
    return std::nullopt;
  }
  std::vector<std::string> lost;
  const bool ignores = words.size() == 4 && take_ignore(words[3], lost);
  CgroupPlace destination =
      ignores ? CgroupPlace{std::string(leave_group), ""} : destination_of(words[2]);
  if (const auto problem = group_name_problem(destination.group);
      problem && !ignores && destination.group != "default")
    return fmt::format("line {}: {}", number_, *problem);
  if (!ignores) add_group(destination.group);
  if (!destination.lost.empty())
    rules_ += fmt::format("# Lost: '{}'; a group has a fixed name, and no groups below it.\n",
                          printable(destination.lost));
  for (const std::string& option : lost)
    rules_ += fmt::format("# Lost: '{}'; rules do not know it.\n", printable(option));
  if (user.starts_with('@'))
    rules_ +=
        "# Lost: members of the group whose processes have another effective group; list them in\n"
        "# user = [\"NAME\"] of a rule of their own.\n";
  std::string conditions = user_condition(user) + process_condition(process);
  if (conditions.empty()) conditions = "name = \"*\"\n";
  rules_ += fmt::format("[[rule]]\ngroup = {}\n{}", toml_string(destination.group), conditions);
  return std::nullopt;
}

ImportedText CgrulesImport::run(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    number_++;
    const std::string_view content = rule_of_line(line);
    if (content.empty()) continue;
    if (auto error = add(rule_words(content), line)) return std::unexpected(std::move(*error));
  }
  std::string out = "# From cgrules.conf. Its groups have no amounts yet: write l3 and mb.\n";
  for (const std::string& group : groups_)
    out += fmt::format("\n[group.{}]\n# l3 = \"25%\"\n", toml_key(group));
  return out + rules_;
}

}  // namespace

ImportedText import_cgrules(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return CgrulesImport().run(text);
}

namespace {

// A script or a unit that calls the program, wherever in it.
bool calls(std::string_view text, std::string_view program) {
  return std::ranges::any_of(split(text, '\n'), [&](std::string_view line) {
    return std::ranges::any_of(shell_words(trim(line), program), [&](const ShellWord& word) {
      return starts_program(word.text, program);
    });
  });
}

// A script that makes groups, or writes into their files.
bool writes_resctrl(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), [](std::string_view line) {
    const std::string_view content = trim(line);
    return !content.starts_with('#') && content.contains("sys/fs/resctrl") &&
           (content.contains('>') || content.contains("tee ") || content.contains("mkdir ") ||
            content.contains("cd "));
  });
}

// "cpu,memory" or "*": cgrules.conf has no other sign of what it is.
bool are_controllers(std::string_view text) {
  constexpr std::array<std::string_view, 20> known = {
      "*",       "cpu",     "cpuset",  "cpuacct",  "memory",     "blkio",   "io",
      "devices", "freezer", "net_cls", "net_prio", "perf_event", "hugetlb", "pids",
      "rdma",    "misc",    "systemd", "debug",    "ns",         "bfqio"};
  return std::ranges::all_of(split(text, ','), [&](std::string_view one) {
    return one.starts_with("name=") || std::ranges::find(known, one) != known.end();
  });
}

// The sentence about a file of a known other kind, with a hint.
std::optional<std::string> known_other(std::string_view whole) {
  std::string text;
  for (const std::string_view line : split(whole, '\n'))
    if (!trim(line).starts_with('#')) text += std::string(line) + '\n';
  const auto has = [&](std::string_view word) { return text.contains(word); };
  const std::string_view content = trim(text);
  if ((content.starts_with("group ") || content.starts_with("mount {")) && has("{"))
    return "it is libcgroup's cgconfig.conf, which has no caches: import cgrules.conf";
  if (has("rdt_config_file"))
    return "it names the file that has the classes: import that of 'rdt_config_file'";
  if (has("\"intelRdt\""))
    return "it is a container's config.json: write a [group.NAME] of the name in its closID";
  if (has("alloc-class-set") || has("alloc-assoc-set"))
    return "it is pqos's configuration file: write its values behind -e and -a of a command line";
  if (has("resctrlQOS") || has("resctrlStrategy"))
    return "it is koordinator's: catRangeEndPercent and mbaPercent are l3 and mb of a [group.NAME]";
  if (has("[OSGroup]") || has(".cache]\n") || (has("cache:") && has("max:")))
    return "it is RMD's, whose min, max and cacheways are ways: write l3 = \"2 ways\" in a "
           "[group.NAME]";
  if (has("\"types\"") || has("\"type\":"))
    return "it is ananicy's, which has no amounts: write a [[rule]] with name = \"NAME\"";
  if (has("kind: ConfigMap") && !calls(text, "pqos"))
    return "it is a ConfigMap: import what is below 'NAME: |' in it, without the blanks before";
  if (text.starts_with("L3:") || has("\nL3:") || text.starts_with("MB:") || has("\nMB:"))
    return "it is a schemata file: 'rdtctl import --resctrl DIR' reads a copy of the whole tree";
  return std::nullopt;
}

}  // namespace

ImportedText import_foreign(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  if (trim(text).starts_with('<')) return import_libvirt(text);
  // JSON, which has no comments.
  if (trim(text).starts_with('{') && text.contains("\"partitions\"")) return import_goresctrl(text);
  if (auto what = known_other(text)) return std::unexpected(*std::move(what));
  if (calls(text, "pqos")) return import_pqos(text);
  if (calls(text, "rdtset"))
    return std::unexpected(
        "it calls rdtset, which gives one program amounts: use 'rdtctl run' for that, or a "
        "[group.NAME] and a [[rule]]");
  if (writes_resctrl(text))
    return std::unexpected(
        fmt::format("it is a script that writes into /sys/fs/resctrl: {}", run_and_import));
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view content = trim(line);
    if (content.empty() || content.starts_with('#')) continue;
    const Words words = rule_words(content);
    const Words of_rule = rule_words(rule_of_line(line));
    // YAML begins with a key.
    if (content == "---" || content.starts_with("apiVersion:") ||
        (words.size() == 1 && content.ends_with(':')) ||
        (words.front().ends_with(':') && text.contains("partitions:")))
      return import_goresctrl(text);
    if (std::ranges::any_of(words, [](const std::string& word) {
          return word.starts_with("-e") || word.starts_with("-a") || word.starts_with("--alloc");
        }))
      return import_pqos(text);
    if ((of_rule.size() == 3 || of_rule.size() == 4) && are_controllers(of_rule[1]))
      return import_cgrules(text);
    break;
  }
  return std::unexpected(
      "it is neither goresctrl's configuration, nor cgrules.conf, nor a command line of pqos, nor "
      "the XML of a virtual machine");
}

}  // namespace rdtd
