// pqos(8): -e "llc:1=0xf;mba@0:1=50" defines classes of service, -a "core:1=0-3;pid:2=99" assigns
// to them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

struct ServiceClass {
  std::map<std::string, std::map<std::string, std::string>> amounts;  // by key, then by domains
  std::string cpus;
  std::vector<std::string> pids;
};

// "llc@0,1:2d" or "core:1".
struct PqosTarget {
  std::string what, domains, number;
  char half = '\0';  // 'c', 'd'
};

std::optional<PqosTarget> parse_target(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  PqosTarget out;
  std::string_view what = text.substr(0, colon);
  std::string_view number = trim(text.substr(colon + 1));
  if (const size_t at = what.find('@'); at != std::string_view::npos) {
    out.domains = what.substr(at + 1);
    what = what.substr(0, at);
  }
  if (number.ends_with('c') || number.ends_with('d')) {
    out.half = number.back();
    number.remove_suffix(1);
  }
  if (!parse_unsigned<unsigned>(number)) return std::nullopt;
  out.what = lower(trim(what));
  out.number = number;
  return out;
}

class PqosImport {
 public:
  ImportedText run(std::string_view text);

 private:
  // Each returns the error.
  std::optional<std::string> define(std::string_view entry);
  std::optional<std::string> assign(std::string_view entry);
  [[nodiscard]] std::string text_of(const std::string& number, const ServiceClass& of) const;

  std::map<unsigned, ServiceClass> classes_;
};

std::string not_pqos(std::string_view entry) {
  return fmt::format("'{}' is no definition or assignment of pqos", printable(entry));
}

std::optional<std::string> PqosImport::define(std::string_view entry) {
  const size_t sign = entry.find('=');
  const auto target =
      sign == std::string_view::npos ? std::nullopt : parse_target(entry.substr(0, sign));
  if (!target) return not_pqos(entry);
  const std::string_view value = trim(entry.substr(sign + 1));
  const std::string half = target->half == 'c' ? "code" : target->half == 'd' ? "data" : "";
  std::string key;
  std::string amount;
  if (target->what == "llc" || target->what == "l3" || target->what == "l2") {
    key = (target->what == "l2" ? "l2" : "l3") + half;
    amount = value.starts_with("0x") ? std::string(value) : fmt::format("0x{}", value);
    if (!parse_cache_amount(amount)) return not_pqos(entry);
  } else if (target->what == "mba" || target->what == "mba_max") {
    key = "mb";
    amount = fmt::format("{}{}", value, target->what == "mba" ? "%" : " MB/s");
    if (!parse_bandwidth_amount(amount)) return not_pqos(entry);
  } else {
    return not_pqos(entry);
  }
  ServiceClass& of = classes_[*parse_unsigned<unsigned>(target->number)];
  of.amounts[key][target->domains.empty() ? "*" : target->domains] = amount;
  return std::nullopt;
}

std::optional<std::string> PqosImport::assign(std::string_view entry) {
  const size_t sign = entry.find('=');
  const auto target =
      sign == std::string_view::npos ? std::nullopt : parse_target(entry.substr(0, sign));
  if (!target) return not_pqos(entry);
  const std::string value(trim(entry.substr(sign + 1)));
  ServiceClass& of = classes_[*parse_unsigned<unsigned>(target->number)];
  if (target->what == "pid")
    of.pids.push_back(value);
  else if (target->what == "core" || target->what == "llc" || target->what == "cos")
    of.cpus += (of.cpus.empty() ? "" : ",") + value;
  else
    return not_pqos(entry);
  return std::nullopt;
}

std::string PqosImport::text_of(const std::string& number, const ServiceClass& of) const {
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
  if (!of.cpus.empty() && is_default)
    out += fmt::format("# CPUs {}: the default group has every CPU that no other group has.\n",
                       printable(of.cpus));
  else if (!of.cpus.empty())
    out += fmt::format("cpus = {}\n", toml_string(of.cpus));
  for (const std::string& pids : of.pids)
    out += fmt::format("# Lost: processes {}; write a [[rule]], or rdtctl assign -g {} PID.\n",
                       printable(pids), is_default ? "default" : "COS" + number);
  return out;
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

ImportedText PqosImport::run(std::string_view text) {
  const std::vector<std::string> words = shell_words(text);
  // The options of other programs are not pqos's. Without its name, all are.
  const bool named = std::ranges::any_of(words, is_pqos);
  bool of_pqos = !named;
  for (size_t i = 0; i < words.size(); i++) {
    std::string option = words[i];
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
    if (!defines && !assigns) continue;
    if (value.empty() && i + 1 < words.size()) value = words[++i];
    for (const std::string_view entry : split(value, ';')) {
      if (trim(entry).empty()) continue;
      if (auto error = defines ? define(trim(entry)) : assign(trim(entry)))
        return std::unexpected(std::move(*error));
    }
  }
  if (classes_.empty()) return std::unexpected("it has neither -e nor -a of pqos");
  std::string out =
      "# From a command line of pqos. Its classes are groups of the names that it uses.\n";
  for (const auto& [number, of] : classes_) out += text_of(std::to_string(number), of);
  return out;
}

}  // namespace

ImportedText import_pqos(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return PqosImport().run(text);
}

}  // namespace rdtd
