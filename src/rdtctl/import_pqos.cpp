// pqos(8): -e "llc:1=0xf;mba@0:1=50" defines classes of service, -a "core:1=0-3;pid:2=99" assigns
// to them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <span>
#include <vector>

#include "import_foreign.hpp"
#include "pqos_amounts.hpp"
#include "pqos_entry.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "shell_words.hpp"

namespace rdtd {

namespace {

struct ServiceClass {
  pqos::Amounts amounts;
  std::vector<std::string> pids;
};

std::string group_of(unsigned number) {
  return number == 0 ? "default" : fmt::format("COS{}", number);
}

// Short texts name many CPUs and domains; no script names so many.
constexpr size_t most_named = 1'000'000;

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
  void lose_by_mmio(std::string_view entry, const std::string& key);
  void give(const CpuSet& cpus, unsigned number);
  [[nodiscard]] std::vector<ShellWord> without_stop(std::vector<ShellWord> words);
  [[nodiscard]] std::string not_pqos(std::string_view entry, bool defines) const;
  [[nodiscard]] std::string no_classes(std::string_view text) const;

  std::map<unsigned, ServiceClass> classes_;
  struct Assigned {
    unsigned number = 0, line = 1;
  };
  std::map<unsigned, Assigned> class_of_;  // by CPU: the last one that it was given to
  size_t named_ = 0;                       // CPUs and domains
  unsigned line_ = 1;
  bool counts_rates_ = false;   // of the bandwidths: not percentages
  bool reset_pending_ = false;  // by -R: what is defined after it is all
  bool by_mmio_ = false;        // the present command
  std::string no_classes_;      // the reason, if the words name nothing else
  std::string lost_;
};

void PqosImport::lose(std::string_view what, std::string_view why) {
  lost_ += fmt::format("{}# Lost: '{}'{}.\n", lost_.empty() ? "\n" : "", printable(what), why);
}

void PqosImport::lose_replaced(std::string_view what, unsigned number) {
  lose(fmt::format("{} of {}", what, group_of(number)),
       fmt::format(", which line {} replaces; of the branches of a script, only the last is here",
                   line_));
}

// By MMIO, pqos numbers domains as ACPI does, and bandwidth is a register's value, perhaps a
// minimum, of some regions of memory: what resctrl calls by these numbers is something else.
void PqosImport::lose_by_mmio(std::string_view entry, const std::string& key) {
  const std::string meaning = fmt::format(
      "which pqos writes past the kernel (--iface=mmio), {}: write {} yourself, in resctrl's terms",
      key.starts_with('l') ? "with ACPI's numbers of domains"
                           : "into registers of single memory regions",
      key);
  lose(entry, ", " + meaning);
  no_classes_ = fmt::format("it has only values such as '{}', {}", printable(entry), meaning);
}

std::string PqosImport::not_pqos(std::string_view entry, bool defines) const {
  if (has_unknown_value(entry))
    return fmt::format("line {}: '{}' has a variable, whose value is not known here: {}", line_,
                       printable(entry), run_and_import);
  return fmt::format("line {}: '{}' is no {} of pqos, such as '{}'", line_, printable(entry),
                     defines ? "definition" : "assignment", defines ? "llc:1=0xf" : "core:1=0-3");
}

std::optional<std::string> PqosImport::define(std::string_view text) {
  const auto& keys = pqos::keys_of_amounts();
  const auto entry = pqos::parse_entry(text);
  const auto key = entry ? keys.find(entry->what) : keys.end();
  if (key == keys.end()) return not_pqos(text, true);
  if (by_mmio_) {
    lose_by_mmio(text, key->second);
    return std::nullopt;
  }
  const auto list = pqos::canonical_list(entry->domains);
  const auto domains = list ? parse_cpu_list(*list) : std::nullopt;
  if (!domains) return not_pqos(text, true);
  const bool is_cache = key->second.starts_with('l');
  for (const std::string_view part : split(entry->classes, ',')) {
    const auto one = pqos::parse_class(part);
    const auto value = one ? pqos::parse_number(one->value) : std::nullopt;
    if (!value || *value == 0 || (!is_cache && !one->half.empty())) return not_pqos(text, true);
    // For each of the classes.
    if (named_ += domains->size(); named_ > most_named)
      return "it names domains more often than a machine has any";
    const std::string amount = pqos::amount_of(entry->what, *value);
    if (!(is_cache ? parse_cache_amount(amount) : parse_bandwidth_amount(amount)))
      return not_pqos(text, true);
    for (const std::string& replaced :
         classes_[one->number].amounts.set(key->second, one->half, *domains, amount, line_))
      lose_replaced(replaced, one->number);
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
  const auto entry = pqos::parse_entry(text);
  if (entry && (entry->what == "dev" || entry->what == "channel")) {
    no_classes_ = fmt::format("'{}' is a device: a policy gives devices no group", printable(text));
    lose(text, " of pqos; a policy gives devices no group");
    return std::nullopt;
  }
  if (entry && !entry->domains.empty())
    return fmt::format(
        "line {}: '{}': pqos takes '@' in -e only, and refuses this: name the CPUs themselves",
        line_, printable(text));
  const auto one = entry ? pqos::parse_class(entry->classes) : std::nullopt;
  if (!one || !one->half.empty()) return not_pqos(text, false);
  ServiceClass& of = classes_[one->number];
  if (entry->what == "pid")
    of.pids.push_back(pqos::canonical_list(one->value).value_or(one->value));
  else if (entry->what == "core" || entry->what == "llc" || entry->what == "cos" ||
           entry->what == "clos") {
    const auto list = pqos::canonical_list(one->value);
    const auto cpus = list ? parse_cpu_list(*list) : std::nullopt;
    if (!cpus || cpus->empty()) return not_pqos(text, false);
    if (named_ += cpus->size(); named_ > most_named)
      return "it assigns CPUs more often than a machine has any";
    give(*cpus, one->number);
  } else {
    return not_pqos(text, false);
  }
  return std::nullopt;
}

std::string PqosImport::text_of(unsigned number, const ServiceClass& of, const CpuSet& cpus) const {
  const bool is_default = number == 0;
  std::string out =
      fmt::format("\n[group.{}]\n{}", group_of(number), of.amounts.text(!counts_rates_));
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

// The mount options of `pqos -R` are no part of a policy, and survive no boot.
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

// The counterpart in rdtd of an option of pqos that no policy has.
std::string_view counterpart_of(std::string_view option) {
  if (option == "-m" || option.starts_with("--mon-core"))
    return "monitor_cpus of a group counts what runs on CPUs";
  if (option == "-p" || option.starts_with("--mon-pid")) return "'rdtctl watch --pid' counts that";
  return "a policy has nothing like it";
}

// These make pqos write by MMIO, whatever --iface says.
bool is_of_mmio(std::string_view option) {
  return option == "--iface=mmio" ||
         std::ranges::any_of(std::array{"--alloc-domain", "--alloc-mem", "--alloc-opt",
                                        "--alloc-min", "--alloc-max"},
                             [&](const char* name) { return option.starts_with(name); });
}

// How the classes get into a policy that an option names: it has a file, or a profile of pqos
// itself. Else "".
std::string classes_elsewhere(std::string_view option, std::string_view value) {
  if (const size_t sign = option.find('='); sign != std::string_view::npos) {
    value = option.substr(sign + 1);
    option = option.substr(0, sign);
  }
  // Many take -c for the option of a file.
  const bool is_profile = option == "-c" || option == "--profile-set";
  if (option == "-f" || option == "--config-file" || (is_profile && value.contains('/')))
    return fmt::format(
        "of the file '{}', write what is behind 'alloc-class-set:' as a value of -e, and what is "
        "behind 'alloc-assoc-set:' as one of -a",
        printable(value));
  if (is_profile)
    return fmt::format(
        "'{}' is a profile of pqos: 'pqos -s' shows its masks once it is set, and then 'rdtctl "
        "import' writes a policy of them if pqos has set them by --iface=os",
        printable(value));
  return {};
}

// An option that is no amount, with its value. How pqos reaches the machine says nothing.
void PqosImport::note_option(const std::vector<ShellWord>& words, size_t at) {
  static const std::set<std::string, std::less<>> without_meaning = {
      "-I", "--iface-os", "--iface",   "--iface=os", "--iface=msr", "--iface=auto",
      "-v", "-V",         "--verbose", "-s",         "--show",      "-d",
      "-D", "--display",  "-h",        "--help",     "--version"};
  const std::string& option = words[at].text;
  if (!option.starts_with('-') || without_meaning.contains(option)) return;
  if (is_of_mmio(option)) return;  // each value says so
  const bool has_value =
      at + 1 < words.size() && !words[at + 1].text.empty() && !words[at + 1].text.starts_with('-');
  // A policy divides the whole machine anyway.
  if (option == "-R" && !has_value) return;
  const std::string value = has_value ? words[at + 1].text : "";
  const std::string text = has_value ? option + " " + value : option;
  const std::string options = mount_options_in(text);
  const std::string elsewhere = classes_elsewhere(option, value);
  if (!elsewhere.empty()) no_classes_ = "it has neither -e nor -a of pqos: " + elsewhere;
  lose(text, " of pqos; " + (!options.empty()     ? options
                             : !elsewhere.empty() ? elsewhere
                                                  : std::string(counterpart_of(option))));
}

// The words of the command at `at`.
std::span<const ShellWord> command_at(const std::vector<ShellWord>& words, size_t at) {
  const std::span<const ShellWord> rest = std::span(words).subspan(at);
  const auto end =
      std::ranges::find_if(rest, [](const ShellWord& word) { return word.text.empty(); });
  return rest.first(static_cast<size_t>(end - rest.begin()));
}

bool is_pqos(const ShellWord& word) { return starts_program(word.text, "pqos"); }

// The first pqos of each command, with what is behind it.
std::vector<std::span<const ShellWord>> calls_of_pqos(const std::vector<ShellWord>& words,
                                                      bool on_stop_or_reload) {
  std::vector<std::span<const ShellWord>> out;
  for (size_t begin = 0; begin < words.size();) {
    const auto command = command_at(words, begin);
    const auto first = std::ranges::find_if(command, [&](const ShellWord& word) {
      return is_pqos(word) && word.when.empty() != on_stop_or_reload;
    });
    if (first != command.end())
      out.push_back(command.subspan(static_cast<size_t>(first - command.begin())));
    begin += command.size() + 1;
  }
  return out;
}

bool writes_by_mmio(std::span<const ShellWord> command) {
  for (size_t i = 0; i < command.size(); ++i)
    if (is_of_mmio(command[i].text) ||
        (i > 0 && command[i - 1].text == "--iface" && command[i].text == "mmio"))
      return true;
  return false;
}

// The counterpart in rdtctl of rdtset, whose options end before the command that it starts.
std::string_view counterpart_of_rdtset(std::span<const ShellWord> words) {
  const auto is_option = [](const ShellWord& word) { return word.text.starts_with('-'); };
  for (size_t i = 1; i < words.size(); ++i) {
    if (!is_option(words[i]) && !is_option(words[i - 1])) break;
    const std::string& option = words[i].text;
    if (option == "-p" || option.starts_with("--pid")) return "a group and 'rdtctl assign' do";
    if (option == "-r" || option.starts_with("--reset"))
      return "'rdtctl run' does when its command ends";
  }
  return "'rdtctl run' does";
}

// Another command, at its first word, if it changes what pqos does.
void PqosImport::note_command(const std::vector<ShellWord>& words, size_t at) {
  std::string text;
  bool concerns = false;
  std::span<const ShellWord> rdtset;  // with what is behind it
  const std::span<const ShellWord> command = command_at(words, at);
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i].text;
    if (is_pqos(command[i])) return;
    text += (text.empty() ? "" : " ") + word;
    if (rdtset.empty() && word.ends_with("rdtset")) rdtset = command.subspan(i);
    concerns = concerns || word.contains("resctrl") || word.ends_with("wrmsr");
  }
  if (!rdtset.empty())
    lose(text, fmt::format(", which {}", counterpart_of_rdtset(rdtset)));
  else if (concerns)
    lose(text, ", which is no command of pqos");
}

// One machine counts either percentages or rates: what cannot be a percentage says so of all.
void PqosImport::unify_bandwidths() {
  counts_rates_ =
      std::ranges::any_of(classes_, [](const auto& one) { return one.second.amounts.has_rates(); });
  if (!counts_rates_) return;
  for (auto& [number, of] : classes_) of.amounts.make_rates();
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
  const auto changes = [](const ShellWord& word) {
    return word.text.starts_with("-e") || word.text.starts_with("-a") ||
           word.text.starts_with("--alloc");
  };
  if (!std::ranges::any_of(calls_of_pqos(words, false),
                           [&](const auto& call) { return std::ranges::any_of(call, changes); }))
    return words;
  for (const std::span<const ShellWord> call : calls_of_pqos(words, true)) {
    std::string text = "pqos";
    for (const ShellWord& word : call.subspan(1)) text += " " + word.text;
    lose(text, call.front().when == "stop"
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
    if (defined && i > 0 && is_first && pqos::is_entry(option, *defined)) {
      if (auto error = add(option, *defined)) return error;
      of_pqos = true;
      continue;
    }
    if (named && !option.empty() && is_first) note_command(words, i);
    const bool begins = is_pqos(words[i]);
    if (is_first) {
      looked_for_reset = false;
      by_mmio_ = writes_by_mmio(command_at(words, i));
    }
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
  if (!no_classes_.empty()) return no_classes_;
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
