// pqos(8): -e "llc:1=0xf;mba@0:1=50" defines classes of service, -a "core:1=0-3;pid:2=99" assigns
// to them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

struct ServiceClass {
  std::map<std::string, std::map<std::string, std::string>> amounts;  // by key, then by domains
  std::vector<std::string> pids;
};

// The part before the colon, "llc@0,1", and that behind it, "1=0xf,2d=0xf0" or "1=0-3,7".
struct PqosEntry {
  std::string what, domains;
  std::string_view classes;
};

std::optional<PqosEntry> parse_entry(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  PqosEntry out;
  out.classes = text.substr(colon + 1);
  std::string_view what = text.substr(0, colon);
  if (const size_t at = what.find('@'); at != std::string_view::npos) {
    out.domains = trim(what.substr(at + 1));
    what = what.substr(0, at);
  }
  out.what = lower(trim(what));
  return out;
}

// "2d=0xf0": of the data of class 2.
struct PqosClass {
  unsigned number = 0;
  std::string half;  // "code", "data"
  std::string value;
};

std::optional<PqosClass> parse_class(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  PqosClass out;
  out.value = trim(text.substr(sign + 1));
  std::string number = lower(trim(text.substr(0, sign)));
  if (number.ends_with('c') || number.ends_with('d')) {
    out.half = number.ends_with('c') ? "code" : "data";
    number.pop_back();
  }
  const auto parsed = parse_unsigned<unsigned>(number);
  if (!parsed) return std::nullopt;
  out.number = *parsed;
  return out;
}

// Decimal unless it begins with 0x, as pqos reads all its numbers.
std::optional<uint64_t> parse_number(std::string_view text) {
  const std::string number = lower(text);
  if (!number.starts_with("0x")) return parse_unsigned<uint64_t>(number);
  return parse_unsigned<uint64_t>(std::string_view(number).substr(2), 16);
}

// AMD's bandwidths are in 1/8 GB/s.
std::string rate_of(uint64_t eighths) {
  return fmt::format("{} GB/s", static_cast<double>(eighths) / 8);
}

// What this amount of pqos is in the policy language.
std::string amount_of(const std::string& what, uint64_t value) {
  constexpr uint64_t most_percent = 100;
  if (what == "llc" || what == "l3" || what == "l2") return fmt::format("0x{:x}", value);
  // It is written as it is, and the kernel's MBps are MiB/s.
  if (what == "mba_max") return fmt::format("{} MiB/s", value);
  if (what == "smba" || value > most_percent) return rate_of(value);
  return fmt::format("{}%", value);
}

class PqosImport {
 public:
  ImportedText run(std::string_view text);

 private:
  // Each returns the error.
  std::optional<std::string> define(std::string_view entry);
  std::optional<std::string> assign(std::string_view entry);
  [[nodiscard]] static std::string text_of(const std::string& number, const ServiceClass& of,
                                           const CpuSet& cpus);

  std::optional<std::string> add(std::string_view value, bool defines);
  void unify_bandwidths();
  void note_lost(const std::vector<std::string>& words, size_t at);

  void note_command(const std::vector<std::string>& words, size_t at);

  std::map<unsigned, ServiceClass> classes_;
  std::map<unsigned, unsigned> class_of_;  // by CPU: the last one that it was given to
  size_t named_cpus_ = 0;
  std::string lost_;
};

// What the policy calls the resources of -e.
const std::map<std::string, std::string>& keys_of_amounts() {
  static const std::map<std::string, std::string> keys = {{"llc", "l3"},     {"l3", "l3"},
                                                          {"l2", "l2"},      {"mba", "mb"},
                                                          {"mba_max", "mb"}, {"smba", "smba"}};
  return keys;
}

// Whether a word is what -e (`defines`) or -a takes, and not another command.
bool is_entry(std::string_view word, bool defines) {
  static const std::set<std::string, std::less<>> assigned = {"core", "llc", "cos", "pid"};
  const auto entry = parse_entry(word);
  if (!entry) return false;
  if (!(defines ? keys_of_amounts().contains(entry->what) : assigned.contains(entry->what)))
    return false;
  return parse_class(std::string_view(entry->classes).substr(0, entry->classes.find(',')))
      .has_value();
}

std::string not_pqos(std::string_view entry) {
  return fmt::format("'{}' is no definition or assignment of pqos", printable(entry));
}

std::optional<std::string> PqosImport::define(std::string_view text) {
  const auto& keys = keys_of_amounts();
  const auto entry = parse_entry(text);
  const auto key = entry ? keys.find(entry->what) : keys.end();
  if (key == keys.end()) return not_pqos(text);
  const bool is_cache = key->second.starts_with('l');
  for (const std::string_view part : split(entry->classes, ',')) {
    const auto one = parse_class(part);
    const auto value = one ? parse_number(one->value) : std::nullopt;
    if (!value || *value == 0 || (!is_cache && !one->half.empty())) return not_pqos(text);
    std::string amount = amount_of(entry->what, *value);
    if (!(is_cache ? parse_cache_amount(amount) : parse_bandwidth_amount(amount)))
      return not_pqos(text);
    classes_[one->number]
        .amounts[key->second + one->half][entry->domains.empty() ? "*" : entry->domains] =
        std::move(amount);
  }
  return std::nullopt;
}

std::optional<std::string> PqosImport::assign(std::string_view text) {
  const auto entry = parse_entry(text);
  const auto one = entry ? parse_class(entry->classes) : std::nullopt;
  if (!one || !one->half.empty()) return not_pqos(text);
  ServiceClass& of = classes_[one->number];
  if (entry->what == "pid")
    of.pids.push_back(one->value);
  else if (entry->what == "core" || entry->what == "llc" || entry->what == "cos") {
    const auto cpus = parse_cpu_list(one->value);
    if (!cpus) return not_pqos(text);
    // Short texts name many CPUs; no script names so many.
    constexpr size_t most_named = 1'000'000;
    if (named_cpus_ += cpus->size(); named_cpus_ > most_named)
      return "it assigns CPUs more often than a machine has any";
    for (const unsigned cpu : *cpus) class_of_[cpu] = one->number;
  } else {
    return not_pqos(text);
  }
  return std::nullopt;
}

std::string PqosImport::text_of(const std::string& number, const ServiceClass& of,
                                const CpuSet& cpus) {
  const bool is_default = number == "0";
  std::string out = is_default ? "\n[group.default]\n" : fmt::format("\n[group.COS{}]\n", number);
  for (const auto& [key, domains] : of.amounts) {
    const bool everywhere = domains.size() == 1 && domains.contains("*");
    std::string table;
    for (const auto& [ids, amount] : domains)
      table += fmt::format("{}{} = {}", table.empty() ? "" : ", ", toml_string(ids),
                           toml_string(amount));
    out += everywhere ? fmt::format("{} = {}\n", key, toml_string(domains.begin()->second))
                      : fmt::format("{} = {{ {} }}\n", key, table);
  }
  if (!cpus.empty() && is_default)
    out += fmt::format("# CPUs {}: the default group has every CPU that no other group has.\n",
                       format_cpu_list(cpus));
  else if (!cpus.empty())
    out += fmt::format("cpus = {}\n", toml_string(format_cpu_list(cpus)));
  for (const std::string& pids : of.pids)
    out += fmt::format("# Lost: processes {}; write a [[rule]], or rdtctl assign -g {} PID.\n",
                       printable(pids), is_default ? "default" : "COS" + number);
  return out;
}

// What `pqos -R` mounts resctrl with is no part of a policy, and survives no boot.
std::string mount_options_in(std::string_view words) {
  std::vector<std::string> found;
  for (const auto& [word, option] :
       {std::pair("l3cdp-on", "cdp"), {"l2cdp-on", "cdpl2"}, {"mbactrl-on", "mba_MBps"}})
    if (lower(words).contains(word)) found.emplace_back(option);
  if (found.empty()) return "";
  return fmt::format("{} of sys-fs-resctrl.mount", found.size() == 1
                                                       ? found.front() + " is an option"
                                                       : join(found, " and ") + " are options");
}

bool is_pqos(std::string_view word) {
  return word == "pqos" || word.ends_with("/pqos") || word.ends_with("=pqos");
}

// The words of a shell's command lines; quotes keep a blank. Between two commands, "".
std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false, in_comment = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    in_comment = (in_comment || (quote == '\0' && !in_word && c == '#')) && c != '\n';
    if (in_comment) continue;
    const bool goes_on = c == '\\' && i + 1 < text.size() && text[i + 1] == '\n';
    if (quote == '\0' && goes_on) i++;
    if (quote == '\0' && (goes_on || c == ' ' || c == '\t' || c == '\r')) {
      in_word = false;
      continue;
    }
    if (quote == '\0' && (c == '\n' || c == ';' || c == '&' || c == '|')) {
      if (in_word || (!out.empty() && !out.back().empty())) out.emplace_back();
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    if (quote != '\0' ? c == quote : c == '"' || c == '\'')
      quote = quote == '\0' ? c : '\0';
    else
      out.back() += c;
  }
  return out;
}

// One value of -e (`defines`) or -a. Returns the error.
std::optional<std::string> PqosImport::add(std::string_view value, bool defines) {
  for (const std::string_view entry : split(value, ';')) {
    if (trim(entry).empty()) continue;
    if (auto error = defines ? define(trim(entry)) : assign(trim(entry))) return error;
  }
  return std::nullopt;
}

// An option that is no amount, with its value. How pqos reaches the machine says nothing.
void PqosImport::note_lost(const std::vector<std::string>& words, size_t at) {
  static const std::set<std::string, std::less<>> without_meaning = {
      "-I", "--iface-os", "--iface=os", "--iface=msr", "--iface=auto", "-v", "-V", "--verbose"};
  if (!words[at].starts_with('-') || without_meaning.contains(words[at])) return;
  std::string text = words[at];
  if (at + 1 < words.size() && !words[at + 1].empty() && !words[at + 1].starts_with('-'))
    text += " " + words[at + 1];
  const std::string options = mount_options_in(text);
  lost_ += fmt::format("{}# Lost: '{}' of pqos; {}.\n", lost_.empty() ? "\n" : "", printable(text),
                       options.empty() ? "a policy has nothing like it" : options);
}

// Another command, at its first word, if it changes what pqos does.
void PqosImport::note_command(const std::vector<std::string>& words, size_t at) {
  const size_t end = static_cast<size_t>(
      std::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), "") - words.begin());
  std::string text;
  bool concerns = false, rdtset = false;
  for (size_t i = at; i < end; i++) {
    if (is_pqos(words[i])) return;
    text += (text.empty() ? "" : " ") + words[i];
    rdtset = rdtset || words[i].ends_with("rdtset");
    concerns = concerns || words[i].contains("resctrl") || words[i].ends_with("wrmsr");
  }
  if (concerns || rdtset)
    lost_ += fmt::format("{}# Lost: '{}', {}.\n", lost_.empty() ? "\n" : "", printable(text),
                         rdtset ? "which 'rdtctl run' does" : "which is no command of pqos");
}

// One machine counts either percentages or rates: what cannot be a percentage says so of all.
void PqosImport::unify_bandwidths() {
  const auto is_rate = [](const auto& one) { return one.second.ends_with("GB/s"); };
  const bool rates = std::ranges::any_of(classes_, [&](const auto& one) {
    const auto& amounts = one.second.amounts;
    const auto mb = amounts.find("mb");
    return amounts.contains("smba") ||
           (mb != amounts.end() && std::ranges::any_of(mb->second, is_rate));
  });
  if (!rates) return;
  for (auto& [number, of] : classes_) {
    const auto mb = of.amounts.find("mb");
    if (mb == of.amounts.end()) continue;
    for (auto& [domains, amount] : mb->second)
      if (amount.ends_with('%'))
        amount =
            rate_of(parse_unsigned<uint64_t>(std::string_view(amount).substr(0, amount.size() - 1))
                        .value_or(0));
  }
}

ImportedText PqosImport::run(std::string_view text) {
  const std::vector<std::string> words = shell_words(text);
  // The options of other programs are not pqos's. Without its name, all are.
  const bool named = std::ranges::any_of(words, is_pqos);
  bool of_pqos = !named;
  std::optional<bool> defined;  // what the last option of the two does
  for (size_t i = 0; i < words.size(); i++) {
    std::string option = words[i];
    // A value without quotes, of which a shell would make several commands.
    if (defined && i > 0 && words[i - 1].empty() && is_entry(option, *defined)) {
      if (auto error = add(option, *defined)) return std::unexpected(std::move(*error));
      of_pqos = true;
      continue;
    }
    if (named && !option.empty() && (i == 0 || words[i - 1].empty())) note_command(words, i);
    of_pqos = (of_pqos && !(named && option.empty())) || is_pqos(option);
    if (!of_pqos) continue;
    std::string value;
    for (const std::string_view name : {"-e", "-a", "--alloc-class=", "--alloc-assoc="})
      if (option.starts_with(name) && option.size() > name.size()) {
        value = option.substr(name.size());
        option = name;
      }
    const bool defines = option == "-e" || option.starts_with("--alloc-class");
    const bool assigns = option == "-a" || option.starts_with("--alloc-assoc");
    if (!defines && !assigns) {
      note_lost(words, i);
      continue;
    }
    if (value.empty() && i + 1 < words.size()) value = words[++i];
    defined = defines;
    if (auto error = add(value, defines)) return std::unexpected(std::move(*error));
  }
  if (const std::string options = mount_options_in(text); classes_.empty() && !options.empty())
    return std::unexpected("it has neither -e nor -a of pqos; " + options);
  if (classes_.empty()) return std::unexpected("it has neither -e nor -a of pqos");
  unify_bandwidths();
  std::string out =
      "# From a command line of pqos. Its classes are groups of the names that it uses.\n";
  std::map<unsigned, CpuSet> cpus;
  for (const auto& [cpu, number] : class_of_) cpus[number].insert(cpu);
  for (const auto& [number, of] : classes_)
    out += text_of(std::to_string(number), of, cpus[number]);
  return out + lost_;
}

}  // namespace

ImportedText import_pqos(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return PqosImport().run(text);
}

}  // namespace rdtd
