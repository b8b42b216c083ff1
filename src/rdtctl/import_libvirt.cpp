// The cachetune and memorytune of a virtual machine in libvirt's XML
// (https://libvirt.org/formatdomain.html, "CPU Tuning"): each is for some virtual CPUs, and those
// of the same CPUs are one group of resctrl, whose ways nobody else fills.
#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

using Attributes = std::map<std::string, std::string>;

// Of the virtual CPUs that it is for.
struct Tuning {
  std::map<std::string, std::map<std::string, std::string>> amounts;  // by key, by domain
  bool has_cache = false;
  std::vector<std::string> monitored;  // vcpus
};

constexpr std::string_view no_counterpart = "a policy has nothing like it";

class DomainReader {
 public:
  // The error says why the text cannot be read.
  [[nodiscard]] std::optional<std::string> read(std::string_view text);

  std::string name;
  std::vector<std::pair<std::string, Tuning>> tunings;  // by vcpus, in their order
  std::vector<std::string> lost;                        // with its line and why

 private:
  static void XMLCALL on_start(void* self, const XML_Char* element, const XML_Char** attributes);
  static void XMLCALL on_end(void* self, const XML_Char*);
  static void XMLCALL on_text(void* self, const XML_Char* text, int length);
  void start(const std::string& element, const Attributes& attributes);
  void add_cache(const Attributes& attributes);
  bool add_priority(const Attributes& attributes);
  void add_bandwidth(const Attributes& attributes);
  void add_monitor(const Attributes& attributes);
  void lose(std::string_view what, std::string_view why) {
    lost.push_back(
        fmt::format("line {}: {}; {}", XML_GetCurrentLineNumber(parser_), printable(what), why));
  }
  [[nodiscard]] std::optional<CpuSet> vcpus_in(const Attributes& attributes);
  [[nodiscard]] Tuning& tuning(const std::string& vcpus);
  void fail(std::string why) {
    if (!problem_) problem_ = std::move(why);
  }
  void fail_second() {
    fail(fmt::format("line {}: a second machine: write each into a file of its own",
                     XML_GetCurrentLineNumber(parser_)));
  }
  [[nodiscard]] std::string inside() const { return path_.empty() ? "" : path_.back(); }

  XML_Parser parser_ = nullptr;
  std::vector<std::string> path_;  // the elements that are open
  std::string vcpus_;              // of the cachetune or memorytune that is open
  // Of a file with very many: where the tuning of these vcpus is, and which monitors are known.
  std::map<std::string, size_t> places_;
  std::set<std::pair<std::string, std::string>> monitors_;
  std::optional<std::string> problem_;
  size_t named_vcpus_ = 0;
};

std::string value_of(const Attributes& attributes, const char* key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "" : found->second;
}

// The policy language knows binary units only. libvirt refuses what is no number of ways.
std::string binary_size(uint64_t bytes) {
  constexpr uint64_t kib = 1024, mib = kib * kib;
  return bytes % mib == 0 ? fmt::format("{} MiB", bytes / mib)
                          : fmt::format("{} KiB", (bytes + kib - 1) / kib);
}

constexpr uint64_t largest = uint64_t{1} << 40;  // bytes of a cache

// "KiB", "k" and "KB" of libvirt, in small or capital letters; without a unit, KiB.
std::optional<uint64_t> bytes_of_unit(std::string_view text) {
  const std::string unit = lower(text);
  if (unit.empty()) return 1024;
  if (unit == "b" || unit == "byte" || unit == "bytes") return 1;
  const std::string_view rest = std::string_view(unit).substr(1);
  const size_t power = std::string_view("kmgt").find(unit.front());
  if (power == std::string_view::npos || !(rest.empty() || rest == "ib" || rest == "b"))
    return std::nullopt;
  uint64_t out = 1;
  for (size_t i = 0; i <= power; i++) out *= rest == "b" ? 1000 : 1024;
  return out;
}

std::optional<std::string> DomainReader::read(std::string_view text) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) return "there is no memory to read it";
  parser_ = parser.get();
  XML_SetUserData(parser_, this);
  XML_SetElementHandler(parser_, on_start, on_end);
  XML_SetCharacterDataHandler(parser_, on_text);
  if (XML_Parse(parser_, text.data(), static_cast<int>(text.size()), 1) != XML_STATUS_ERROR)
    return problem_;
  const XML_Error error = XML_GetErrorCode(parser_);
  // The output of several `virsh dumpxml`.
  if (!name.empty() && path_.empty() &&
      (error == XML_ERROR_JUNK_AFTER_DOC_ELEMENT || error == XML_ERROR_MISPLACED_XML_PI))
    fail_second();
  fail(fmt::format("line {}: it is not XML: {}", XML_GetCurrentLineNumber(parser_),
                   XML_ErrorString(error)));
  return problem_;
}

void DomainReader::on_start(void* self, const XML_Char* element, const XML_Char** attributes) {
  Attributes values;
  for (; *attributes != nullptr; attributes += 2) values[attributes[0]] = attributes[1];
  static_cast<DomainReader*>(self)->start(element, values);
}

void DomainReader::on_end(void* self, const XML_Char*) {
  static_cast<DomainReader*>(self)->path_.pop_back();
}

void DomainReader::on_text(void* self, const XML_Char* text, int length) {
  auto& reader = *static_cast<DomainReader*>(self);
  const size_t depth = reader.path_.size();
  if (depth >= 2 && reader.path_[depth - 1] == "name" && reader.path_[depth - 2] == "domain")
    reader.name.append(text, static_cast<size_t>(length));
}

// Short texts name many CPUs; no machine has so many.
std::optional<CpuSet> DomainReader::vcpus_in(const Attributes& attributes) {
  constexpr size_t most_named = 1'000'000;
  if (problem_) return std::nullopt;
  auto vcpus = parse_cpu_list_with_exceptions(value_of(attributes, "vcpus"));
  if (vcpus) named_vcpus_ += vcpus->size();
  if (named_vcpus_ > most_named) fail("it names virtual CPUs more often than a machine has any");
  return vcpus;
}

Tuning& DomainReader::tuning(const std::string& vcpus) {
  const auto [place, is_new] = places_.try_emplace(vcpus, tunings.size());
  if (is_new) tunings.emplace_back(vcpus, Tuning{});
  return tunings[place->second].second;
}

void DomainReader::start(const std::string& element, const Attributes& attributes) {
  const std::string parent = inside();
  path_.push_back(element);
  const auto line = XML_GetCurrentLineNumber(parser_);
  if (element == "domain" && !name.empty()) fail_second();
  if (element == "cachetune" || element == "memorytune") {
    const auto vcpus = vcpus_in(attributes);
    if (!vcpus || vcpus->empty())
      return fail(fmt::format("line {}: {} needs vcpus, such as '0-3,^2'", line, element));
    vcpus_ = format_cpu_list(*vcpus);
    (void)tuning(vcpus_);
  } else if (parent == "cachetune" && element == "cache") {
    if (!add_priority(attributes)) add_cache(attributes);
  } else if (parent == "memorytune" && element == "node") {
    add_bandwidth(attributes);
  } else if ((parent == "cachetune" || parent == "memorytune") && element == "monitor") {
    add_monitor(attributes);
  }
}

// A monitoring group counts the cache and the bandwidth, so that one is enough for both.
void DomainReader::add_monitor(const Attributes& attributes) {
  const auto vcpus = vcpus_in(attributes);
  if (!vcpus || vcpus->empty() || vcpus_.empty()) return;
  const std::string list = format_cpu_list(*vcpus);
  if (monitors_.emplace(vcpus_, list).second) tuning(vcpus_).monitored.push_back(list);
}

// <cache type='priority'>, which openEuler's libvirt has: a row of its kernel's schemata.
bool DomainReader::add_priority(const Attributes& attributes) {
  if (value_of(attributes, "type") != "priority") return false;
  const auto domain = parse_unsigned<uint32_t>(value_of(attributes, "id"));
  const auto value = parse_unsigned<uint32_t>(value_of(attributes, "size"));
  if (value_of(attributes, "level") != "3" || !domain || !value)
    lose("a cache of type 'priority'", no_counterpart);
  else if (!vcpus_.empty())
    tuning(vcpus_).amounts["control.L3PRI"][std::to_string(*domain)] = std::to_string(*value);
  return true;
}

void DomainReader::add_cache(const Attributes& attributes) {
  static const std::map<std::string, std::string> keys = {
      {"3 both", "l3"}, {"3 code", "l3code"}, {"3 data", "l3data"},
      {"2 both", "l2"}, {"2 code", "l2code"}, {"2 data", "l2data"}};
  const auto key = keys.find(value_of(attributes, "level") + " " + value_of(attributes, "type"));
  const auto unit = bytes_of_unit(value_of(attributes, "unit"));
  const auto domain = parse_unsigned<uint32_t>(value_of(attributes, "id"));
  const auto size = parse_unsigned<uint64_t>(value_of(attributes, "size"));
  if (key == keys.end() || !unit || !domain || !size || *size == 0 || *size > largest / *unit)
    return fail(
        fmt::format("line {}: a cache needs id, level (2 or 3), type (both, code or data), "
                    "size and unit (KiB, MiB, ...)",
                    XML_GetCurrentLineNumber(parser_)));
  if (vcpus_.empty()) return;
  Tuning& to = tuning(vcpus_);
  to.has_cache = true;
  to.amounts[key->second][std::to_string(*domain)] = binary_size(*size * *unit);
}

// Beside the bandwidth, openEuler's libvirt has a floor, and rows of its kernel's schemata.
void DomainReader::add_bandwidth(const Attributes& attributes) {
  static const std::map<std::string, std::string> others = {
      {"min_bandwidth", "mb_min"}, {"hardlimit", "control.MBHDL"}, {"priority", "control.MBPRI"}};
  constexpr uint32_t whole = 100;
  const auto domain = parse_unsigned<uint32_t>(value_of(attributes, "id"));
  const auto percent = parse_unsigned<uint32_t>(value_of(attributes, "bandwidth"));
  const bool has_others = std::ranges::any_of(
      others, [&](const auto& other) { return attributes.contains(other.first); });
  const bool has_cap = attributes.contains("bandwidth") || !has_others;
  if (!domain || (has_cap && (!percent || *percent == 0 || *percent > whole)))
    return fail(fmt::format("line {}: a node needs id and bandwidth, 1 to 100 percent",
                            XML_GetCurrentLineNumber(parser_)));
  if (vcpus_.empty()) return;
  auto& amounts = tuning(vcpus_).amounts;
  if (has_cap) amounts["mb"][std::to_string(*domain)] = fmt::format("{}%", *percent);
  for (const auto& [attribute, text] : attributes) {
    if (attribute == "id" || attribute == "bandwidth") continue;
    const auto other = others.find(attribute);
    const auto value = parse_unsigned<uint32_t>(text);
    const bool is_floor = attribute == "min_bandwidth";
    if (other == others.end() || !value || (is_floor && *value > whole))
      lose(fmt::format("{}='{}' of a node", attribute, text),
           other == others.end() ? no_counterpart : "that is no value of it");
    else if (!is_floor || *value > 0)
      amounts[other->second][std::to_string(*domain)] =
          fmt::format("{}{}", *value, is_floor ? "%" : "");
  }
}

constexpr size_t longest = 64;  // name of a group of either kind

// Of letters, digits, '.', '_' and '-', and none that resctrl or the policy has for something else.
std::string name_of_group(const DomainReader& domain, size_t number) {
  const std::string end = domain.tunings.size() > 1 ? "-vcpus_" + domain.tunings[number].first : "";
  std::string out = domain.name;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  if (out == "default" || out.starts_with('.') || group_name_problem(out.substr(0, longest)))
    out = "vm-" + out;
  std::string vcpus = end;
  std::ranges::replace(vcpus, ',', '_');
  // A long list of virtual CPUs is a number instead.
  if (vcpus.size() > longest / 2) vcpus = fmt::format("-{}", number + 1);
  return out.substr(0, longest - vcpus.size()) + vcpus;
}

// The name of the machine is no pattern, and no list of names either.
std::string pattern_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("*?[\\&|,;:(){}^$%~=!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string rule_of(const std::string& group, const std::string& vm, const std::string& vcpus,
                    const std::string& monitor) {
  return fmt::format("\n[[rule]]\ngroup = {}\nvm = {}\nvcpu = {}\n", toml_string(group),
                     toml_string(pattern_of(vm)), toml_string(vcpus)) +
         (monitor.empty() ? "" : fmt::format("monitor = {}\n", toml_string(monitor)));
}

std::string name_of_monitor(const std::string& vcpus, size_t number) {
  std::string out = "vcpus_" + vcpus;
  std::ranges::replace(out, ',', '_');
  return out.size() > longest ? fmt::format("vcpus-{}", number + 1) : out;
}

// The rows of schemata have numbers.
std::string table_of(const std::string& key, const std::map<std::string, std::string>& domains) {
  if (!key.starts_with("control.")) return fmt::format("{} = {}\n", key, table_of_strings(domains));
  std::string out;
  for (const auto& [id, number] : domains)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", toml_string(id), number);
  return fmt::format("{} = {{ {} }}\n", key, out);
}

std::string text_of(const DomainReader& domain, size_t number) {
  const auto& [vcpus, tuning] = domain.tunings[number];
  const bool only_counts = tuning.amounts.empty();
  const std::string group = only_counts ? "default" : name_of_group(domain, number);
  std::string out;
  if (!only_counts) out += fmt::format("\n[group.{}]\n", toml_key(group));
  for (const auto& [key, domains] : tuning.amounts) out += table_of(key, domains);
  if (tuning.has_cache) out += "exclusive = true\n";
  std::string monitor_of_all;
  for (size_t i = 0; i < tuning.monitored.size(); i++) {
    const std::string monitor = name_of_monitor(tuning.monitored[i], i);
    if (tuning.monitored[i] == vcpus)
      monitor_of_all = monitor;
    else
      out += rule_of(group, domain.name, tuning.monitored[i], monitor);
  }
  if (!only_counts || !monitor_of_all.empty())
    out += rule_of(group, domain.name, vcpus, monitor_of_all);
  return out;
}

}  // namespace

ImportedText import_libvirt(std::string_view text) {
  DomainReader domain;
  if (auto problem = domain.read(text)) return std::unexpected(*std::move(problem));
  if (domain.name.empty()) return std::unexpected("the virtual machine has no name");
  if (domain.tunings.empty())
    return std::unexpected(
        fmt::format("the virtual machine '{}' has no cachetune and no memorytune: write a "
                    "[[rule]] with vm = {}, and a [group.NAME]",
                    printable(domain.name), toml_string(domain.name)));
  std::string out = fmt::format(
      "# From libvirt's virtual machine '{}'. Remove its cachetune and memorytune there:\n"
      "# a thread is in one group only.\n",
      printable(domain.name));
  for (size_t number = 0; number < domain.tunings.size(); number++) out += text_of(domain, number);
  for (const std::string& what : domain.lost)
    out += fmt::format("{}# Lost: {}.\n", &what == &domain.lost.front() ? "\n" : "", what);
  return out;
}

}  // namespace rdtd
