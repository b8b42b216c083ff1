// pqos(8): -e "llc:1=0xf;mba@0:1=50" defines classes of service, -a "core:1=0-3;pid:2=99" assigns
// to them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <span>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "shell_words.hpp"

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

// "4-7" of "7-4": pqos takes a range in either direction.
std::string ascending(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view part : split(list, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_unsigned<unsigned>(trim(part.substr(0, dash)));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_unsigned<unsigned>(trim(part.substr(dash + 1)));
    const bool turns = first && last && *last < *first;
    out.push_back(turns ? fmt::format("{}-{}", *last, *first) : std::string(part));
  }
  return join(out, ",");
}

std::string group_of(unsigned number) {
  return number == 0 ? "default" : fmt::format("COS{}", number);
}

class PqosImport {
 public:
  ImportedText run(std::string_view text);

 private:
  // Each returns the error.
  std::optional<std::string> define(std::string_view entry);
  std::optional<std::string> assign(std::string_view entry);
  [[nodiscard]] std::string text_of(unsigned number, const ServiceClass& of,
                                    const CpuSet& cpus) const;

  std::optional<std::string> add(std::string_view value, bool defines);
  std::optional<std::string> read(const std::vector<ShellWord>& words);
  void unify_bandwidths();
  void note_option(const std::vector<ShellWord>& words, size_t at);
  void note_command(const std::vector<ShellWord>& words, size_t at);
  void lose(std::string_view what, std::string_view why);
  void lose_replaced(std::string_view what, unsigned number);
  void give(const CpuSet& cpus, unsigned number);
  [[nodiscard]] std::vector<ShellWord> without_stop(std::vector<ShellWord> words);
  [[nodiscard]] std::string not_pqos(std::string_view entry, bool defines) const;
  [[nodiscard]] std::string no_classes(std::string_view text) const;

  std::map<unsigned, ServiceClass> classes_;
  struct Assigned {
    unsigned number = 0, line = 1;
  };
  std::map<unsigned, Assigned> class_of_;  // by CPU: the last one that it was given to
  size_t named_cpus_ = 0;
  unsigned line_ = 1;
  bool counts_rates_ = false;           // of the bandwidths: not percentages
  bool reset_pending_ = false;          // by -R: what is defined after it is all
  std::string device_, configuration_;  // one that the words name
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
  static const std::set<std::string, std::less<>> assigned = {"core", "llc", "cos",
                                                              "pid",  "dev", "channel"};
  const auto entry = parse_entry(word);
  if (!entry) return false;
  if (!(defines ? keys_of_amounts().contains(entry->what) : assigned.contains(entry->what)))
    return false;
  return parse_class(std::string_view(entry->classes).substr(0, entry->classes.find(',')))
      .has_value();
}

void PqosImport::lose(std::string_view what, std::string_view why) {
  lost_ += fmt::format("{}# Lost: '{}'{}.\n", lost_.empty() ? "\n" : "", printable(what), why);
}

void PqosImport::lose_replaced(std::string_view what, unsigned number) {
  lose(fmt::format("{} of {}", what, group_of(number)),
       fmt::format(", which line {} replaces; of the branches of a script, only the last is here",
                   line_));
}

std::string PqosImport::not_pqos(std::string_view entry, bool defines) const {
  if (has_unknown_value(entry))
    return fmt::format("line {}: '{}' has a variable, whose value is not known here: {}", line_,
                       printable(entry), run_and_import);
  return fmt::format("line {}: '{}' is no {} of pqos, such as '{}'", line_, printable(entry),
                     defines ? "definition" : "assignment", defines ? "llc:1=0xf" : "core:1=0-3");
}

std::optional<std::string> PqosImport::define(std::string_view text) {
  const auto& keys = keys_of_amounts();
  const auto entry = parse_entry(text);
  const auto key = entry ? keys.find(entry->what) : keys.end();
  if (key == keys.end()) return not_pqos(text, true);
  const bool is_cache = key->second.starts_with('l');
  for (const std::string_view part : split(entry->classes, ',')) {
    const auto one = parse_class(part);
    const auto value = one ? parse_number(one->value) : std::nullopt;
    if (!value || *value == 0 || (!is_cache && !one->half.empty())) return not_pqos(text, true);
    std::string amount = amount_of(entry->what, *value);
    if (!(is_cache ? parse_cache_amount(amount) : parse_bandwidth_amount(amount)))
      return not_pqos(text, true);
    std::string& to =
        classes_[one->number]
            .amounts[key->second + one->half][entry->domains.empty() ? "*" : entry->domains];
    if (!to.empty() && to != amount)
      lose_replaced(fmt::format("{} = {}", key->second + one->half, toml_string(to)), one->number);
    to = std::move(amount);
  }
  return std::nullopt;
}

// CPUs that one command gives to several classes have the last one: that is pqos's own rule.
void PqosImport::give(const CpuSet& cpus, unsigned number) {
  std::map<unsigned, CpuSet> replaced;  // by class
  for (const unsigned cpu : cpus) {
    const auto [had, is_new] = class_of_.emplace(cpu, Assigned{number, line_});
    if (!is_new && had->second.number != number && had->second.line != line_)
      replaced[had->second.number].insert(cpu);
    had->second = {number, line_};
  }
  for (const auto& [before, list] : replaced)
    lose_replaced(fmt::format("cpus = {}", toml_string(format_cpu_list(list))), before);
}

std::optional<std::string> PqosImport::assign(std::string_view text) {
  const auto entry = parse_entry(text);
  if (entry && (entry->what == "dev" || entry->what == "channel")) {
    device_ = text;
    lose(text, " of pqos; a policy gives devices no group");
    return std::nullopt;
  }
  const auto one = entry ? parse_class(entry->classes) : std::nullopt;
  if (!one || !one->half.empty()) return not_pqos(text, false);
  ServiceClass& of = classes_[one->number];
  if (entry->what == "pid")
    of.pids.push_back(one->value);
  else if (entry->what == "core" || entry->what == "llc" || entry->what == "cos") {
    const auto cpus = parse_cpu_list(ascending(one->value));
    if (!cpus) return not_pqos(text, false);
    // Short texts name many CPUs; no script names so many.
    constexpr size_t most_named = 1'000'000;
    if (named_cpus_ += cpus->size(); named_cpus_ > most_named)
      return "it assigns CPUs more often than a machine has any";
    give(*cpus, one->number);
  } else {
    return not_pqos(text, false);
  }
  return std::nullopt;
}

// "0xf" of all domains, or a table.
std::string value_of_domains(const std::map<std::string, std::string>& domains) {
  if (domains.size() == 1 && domains.contains("*")) return toml_string(domains.begin()->second);
  return table_of_strings(domains);
}

// Percentages that may be rates: AMD's bandwidths are in 1/8 GB/s.
void make_rates(std::map<std::string, std::string>& domains) {
  for (auto& [ids, amount] : domains)
    if (amount.ends_with('%'))
      amount =
          rate_of(parse_unsigned<uint64_t>(std::string_view(amount).substr(0, amount.size() - 1))
                      .value_or(0));
}

std::string PqosImport::text_of(unsigned number, const ServiceClass& of, const CpuSet& cpus) const {
  const bool is_default = number == 0;
  std::string out = fmt::format("\n[group.{}]\n", group_of(number));
  for (const auto& [key, domains] : of.amounts) {
    out += fmt::format("{} = {}\n", key, value_of_domains(domains));
    if (auto rates = domains; key == "mb" && !counts_rates_) {
      make_rates(rates);
      if (rates != domains)
        out += fmt::format("# On AMD, where pqos counts in 1/8 GB/s: mb = {}\n",
                           value_of_domains(rates));
    }
  }
  if (!cpus.empty() && is_default)
    out += fmt::format("# CPUs {}: the default group has every CPU that no other group has.\n",
                       format_cpu_list(cpus));
  else if (!cpus.empty())
    out += fmt::format("cpus = {}\n", toml_string(format_cpu_list(cpus)));
  for (const std::string& pids : of.pids)
    out += fmt::format("# Lost: processes {}; write a [[rule]], or rdtctl assign -g {} PID.\n",
                       printable(pids), group_of(number));
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

// One value of -e (`defines`) or -a. Returns the error.
std::optional<std::string> PqosImport::add(std::string_view value, bool defines) {
  for (const std::string_view entry : split(value, ';')) {
    if (trim(entry).empty()) continue;
    if (std::exchange(reset_pending_, false)) {
      classes_.clear();
      class_of_.clear();
    }
    if (auto error = defines ? define(trim(entry)) : assign(trim(entry))) return error;
  }
  return std::nullopt;
}

// What does in rdtd what an option of pqos does that no policy has.
std::string_view counterpart_of(std::string_view option) {
  if (option == "-m" || option.starts_with("--mon-core"))
    return "monitor_cpus of a group counts what runs on CPUs";
  if (option == "-p" || option.starts_with("--mon-pid")) return "'rdtctl watch --pid' counts that";
  return "a policy has nothing like it";
}

// An option that is no amount, with its value. How pqos reaches the machine says nothing.
void PqosImport::note_option(const std::vector<ShellWord>& words, size_t at) {
  static const std::set<std::string, std::less<>> without_meaning = {
      "-I", "--iface-os", "--iface=os", "--iface=msr", "--iface=auto", "-v", "-V",     "--verbose",
      "-s", "--show",     "-d",         "-D",          "--display",    "-h", "--help", "--version"};
  constexpr std::string_view long_option = "--config-file=";
  const std::string& option = words[at].text;
  if (!option.starts_with('-') || without_meaning.contains(option)) return;
  const bool has_value =
      at + 1 < words.size() && !words[at + 1].text.empty() && !words[at + 1].text.starts_with('-');
  // A policy divides the whole machine anyway.
  if (option == "-R" && !has_value) return;
  const std::string value = has_value ? words[at + 1].text : "";
  if (option == "-c" || option == "--config-file") configuration_ = value;
  if (option.starts_with(long_option)) configuration_ = option.substr(long_option.size());
  const std::string text = has_value ? option + " " + value : option;
  const std::string options = mount_options_in(text);
  lose(text, fmt::format(" of pqos; {}", !options.empty() ? options
                                         : text.ends_with(configuration_) && !configuration_.empty()
                                             ? "write what that file has behind -e and -a"
                                             : counterpart_of(option)));
}

// The words of the command at `at`.
std::span<const ShellWord> command_at(const std::vector<ShellWord>& words, size_t at) {
  const std::span<const ShellWord> rest = std::span(words).subspan(at);
  const auto end =
      std::ranges::find_if(rest, [](const ShellWord& word) { return word.text.empty(); });
  return rest.first(static_cast<size_t>(end - rest.begin()));
}

bool is_pqos(const ShellWord& word) { return starts_program(word.text, "pqos"); }

// Another command, at its first word, if it changes what pqos does.
void PqosImport::note_command(const std::vector<ShellWord>& words, size_t at) {
  std::string text;
  bool concerns = false, rdtset = false;
  std::string_view counterpart = "'rdtctl run' does";
  for (const ShellWord& word : command_at(words, at)) {
    if (is_pqos(word)) return;
    text += (text.empty() ? "" : " ") + word.text;
    rdtset = rdtset || word.text.ends_with("rdtset");
    if (word.text == "-p" || word.text.starts_with("--pid"))
      counterpart = "a group and 'rdtctl assign' do";
    if (word.text == "-r" || word.text.starts_with("--reset"))
      counterpart = "'rdtctl run' does when its command ends";
    concerns = concerns || word.text.contains("resctrl") || word.text.ends_with("wrmsr");
  }
  if (concerns || rdtset)
    lose(text, rdtset ? fmt::format(", which {}", counterpart) : ", which is no command of pqos");
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
  counts_rates_ = rates;
  if (!rates) return;
  for (auto& [number, of] : classes_) {
    const auto mb = of.amounts.find("mb");
    if (mb != of.amounts.end()) make_rates(mb->second);
  }
}

// The value of `option` in one word with it, which is cut off; else "".
std::string cut_value(std::string& option) {
  for (const std::string_view name : {"-e", "-a", "--alloc-class=", "--alloc-assoc="})
    if (option.starts_with(name) && option.size() > name.size()) {
      std::string value = option.substr(name.size());
      option = name;
      return value;
    }
  return {};
}

// pqos resets before it defines, wherever -R is in its command.
bool resets(std::span<const ShellWord> command) {
  return std::ranges::any_of(command, [](const ShellWord& word) {
    return word.text.starts_with("-R") || word.text.starts_with("--alloc-reset");
  });
}

// A policy is what holds between a start and a stop.
std::vector<ShellWord> PqosImport::without_stop(std::vector<ShellWord> words) {
  const auto is_of_start = [](const ShellWord& word) { return word.when.empty() && is_pqos(word); };
  if (std::ranges::none_of(words, is_of_start)) return words;
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i].when.empty() || !is_pqos(words[i])) continue;
    std::string text = "pqos";
    for (const ShellWord& word : command_at(words, i).subspan(1)) text += " " + word.text;
    lose(text, words[i].when == "stop"
                   ? ", which only runs on a stop: on_stop of [daemon] is for that"
                   : ", which only runs on a reload: 'rdtctl reload' applies the policy again");
  }
  std::erase_if(words, [](const ShellWord& word) { return !word.when.empty(); });
  return words;
}

// The error.
std::optional<std::string> PqosImport::read(const std::vector<ShellWord>& words) {
  // The options of other programs are not pqos's. Without its name, all are.
  const bool named = std::ranges::any_of(words, is_pqos);
  bool of_pqos = !named;
  std::optional<bool> defined;    // what the last option of the two does
  bool looked_for_reset = false;  // in this command
  for (size_t i = 0; i < words.size(); i++) {
    std::string option = words[i].text;
    line_ = words[i].line;
    const bool is_first = i == 0 || words[i - 1].text.empty();
    // A value without quotes, of which a shell would make several commands.
    if (defined && i > 0 && is_first && is_entry(option, *defined)) {
      if (auto error = add(option, *defined)) return error;
      of_pqos = true;
      continue;
    }
    if (named && !option.empty() && is_first) note_command(words, i);
    const bool begins = is_pqos(words[i]);
    if (is_first) looked_for_reset = false;
    if (begins && !std::exchange(looked_for_reset, true))
      reset_pending_ = resets(command_at(words, i)) || reset_pending_;
    of_pqos = (of_pqos && !(named && option.empty())) || begins;
    if (!of_pqos) continue;
    std::string value = cut_value(option);
    const bool defines = option == "-e" || option.starts_with("--alloc-class");
    const bool assigns = option == "-a" || option.starts_with("--alloc-assoc");
    if (!defines && !assigns) {
      note_option(words, i);
      continue;
    }
    if (value.empty() && i + 1 < words.size()) value = words[++i].text;
    defined = defines;
    if (auto error = add(value, defines)) return error;
  }
  return std::nullopt;
}

std::string PqosImport::no_classes(std::string_view text) const {
  if (!configuration_.empty())
    return fmt::format(
        "it has neither -e nor -a of pqos: write what '{}' has behind -e and -a of a command line",
        printable(configuration_));
  if (!device_.empty())
    return fmt::format("'{}' is a device: a policy gives devices no group", printable(device_));
  const std::string options = mount_options_in(text);
  return fmt::format("it has neither -e nor -a of pqos{}{}", options.empty() ? "" : "; ", options);
}

ImportedText PqosImport::run(std::string_view text) {
  if (auto error = read(without_stop(shell_words(text, "pqos"))))
    return std::unexpected(*std::move(error));
  if (classes_.empty()) return std::unexpected(no_classes(text));
  // As in ExecStop=.
  if (reset_pending_) lose("-R", " of pqos, which comes last: rdtctl reset does so");
  unify_bandwidths();
  std::string out =
      "# From a command line of pqos. Its classes are groups of the names that it uses. Where pqos "
      "has\n# made them already: rdtctl adopt NAME for each, or adopt = true in its table.\n";
  std::map<unsigned, CpuSet> cpus;
  for (const auto& [cpu, to] : class_of_) cpus[to.number].insert(cpu);
  for (const auto& [number, of] : classes_) out += text_of(number, of, cpus[number]);
  return out + lost_;
}

}  // namespace

ImportedText import_pqos(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return PqosImport().run(text);
}

}  // namespace rdtd
