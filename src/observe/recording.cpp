#include "rdtd/observe/recording.hpp"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::observe {

namespace {

// Written in the order of the text. Read without an order: an ordered object is searched from its
// begin for each of its keys, and a file may have any number of them.
using Written = nlohmann::ordered_json;
using Json = nlohmann::json;

constexpr unsigned schema = 1;
constexpr const char* format_name = "rdtd-recording";
constexpr std::string_view header_begin = R"({"format":"rdtd-recording")";

Written to_json(const CounterValue& value) {
  if (const auto* integer = std::get_if<uint64_t>(&value)) return *integer;
  if (const auto* decimal = std::get_if<double>(&value)) return *decimal;
  return to_string(std::get<NoCount>(value));
}

// More is no number of bytes or events, and would not fit where it is shown as an integer.
constexpr uint64_t most_counted = uint64_t{1} << 63;

std::optional<CounterValue> counter_of(const Json& value) {
  if (value.is_number_unsigned()) return std::min(value.get<uint64_t>(), most_counted);
  // No counter is below zero.
  if (value.is_number_float() && value.get<double>() >= 0)
    return std::min(value.get<double>(), static_cast<double>(most_counted));
  if (!value.is_string()) return std::nullopt;
  const auto parsed = parse_counter(value.get_ref<const std::string&>());
  return parsed && std::holds_alternative<NoCount>(*parsed) ? parsed : std::nullopt;
}

std::string dumped(const Written& json) {
  return json.dump(-1, ' ', false, Written::error_handler_t::replace) + "\n";
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The year 2096. Later times would overflow where they are counted in nanoseconds.
constexpr uint64_t latest_usec = 4'000'000'000'000'000;
constexpr size_t longest_schemata = 16384, longest_name = 512, longest_mark = 1024;
// No machine has more, and what is kept of a sample grows with them.
constexpr size_t most_rows = 100'000, most_counters = 64, most_marks = 1000;
constexpr double longest_interval = 3600;  // seconds
constexpr size_t deepest = 8;              // what is read has a depth of 4

constexpr const char* not_a_sample = "this is no sample";
constexpr const char* long_name = "it has a name of more than 512 bytes";
// Why a line is refused.
using Refused = std::unexpected<std::string>;

// A text that is nested deeper takes far more memory than its own length.
bool is_too_deep(std::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return true;
    else if (!quoted && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return false;
}

Json parsed(std::string_view text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

// The kernel takes any other character in the name of a directory.
bool is_directory_name(std::string_view name) {
  return !name.empty() && name.size() <= NAME_MAX && name != "." && name != ".." &&
         name.find_first_of(std::string_view("\n\0", 2)) == std::string_view::npos;
}

// Whether resctrl can have it: "", "redis", "redis/mon_groups/web".
bool is_group_directory(std::string_view directory) {
  const std::string_view control = control_group_of(directory);
  if (!control.empty() && !is_directory_name(control)) return false;
  if (!is_mon_group(directory)) return true;
  const std::string_view name = directory.substr(directory.rfind('/') + 1);
  return is_directory_name(name) && directory == mon_group_directory(control, name);
}

// A name as it may be printed: what the kernel allows in it, a terminal need not.
std::expected<std::string, std::string> name_of(const std::string& name) {
  if (name.size() > longest_name) return Refused(long_name);
  return printable(name);
}

std::expected<std::string, std::string> group_of(const std::string& directory) {
  constexpr size_t longest = size_t{2} * NAME_MAX + std::string_view("/mon_groups/").size();
  if (directory.size() > longest) return Refused(long_name);
  if (!is_group_directory(directory)) return Refused("it has a group that resctrl cannot have");
  return printable(directory);
}

std::string mark_of(const std::string& text) {
  constexpr std::string_view cut = "...";
  std::string out = printable(text);
  if (out.size() <= longest_mark) return out;
  size_t size = 0;
  for (size_t next = 0; next <= longest_mark - cut.size();
       next += std::max<size_t>(1, first_character(std::string_view(out).substr(next)).length))
    size = next;
  out.resize(size);
  return out.append(cut);
}

// [directory of the group, resource, domain, {counter: value}]
std::expected<DomainCounters, std::string> counters_of(const Json& row) {
  if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_string() ||
      !row[2].is_number_unsigned() || row[2].get<uint64_t>() > UINT32_MAX || !row[3].is_object())
    return Refused(not_a_sample);
  auto group = group_of(row[0].get_ref<const std::string&>());
  auto resource = name_of(row[1].get_ref<const std::string&>());
  if (!group || !resource) return Refused(group ? resource.error() : group.error());
  DomainCounters out{std::move(*group), std::move(*resource), DomainId{row[2].get<uint32_t>()}, {}};
  for (const auto& [key, value] : row[3].items()) {
    auto name = name_of(key);
    if (!name) return Refused(name.error());
    const auto counter = counter_of(value);
    if (!counter) return Refused(not_a_sample);
    out.counters.emplace(std::move(*name), *counter);
  }
  return out;
}

// The problem, if there is one.
using Wrong = std::optional<std::string>;

Wrong read_counters(const Json& rows, Sample& out) {
  if (!rows.is_array()) return not_a_sample;
  if (rows.size() > most_rows) return "it has more than 100000 rows";
  std::map<std::pair<std::string, DomainId>, size_t> groups;
  std::set<std::string> counters;
  for (const Json& row : rows) {
    auto read = counters_of(row);
    if (!read) return read.error();
    if (++groups[{read->resource, read->domain}] > most_groups)
      return "it has more than 2000 groups in a domain";
    for (const auto& [name, value] : read->counters) counters.insert(name);
    if (counters.size() > most_counters) return "it has more than 64 counters";
    out.counters.push_back(std::move(*read));
  }
  return std::nullopt;
}

Wrong read_schemata(const Json& schemata, Sample& out) {
  if (!schemata.is_object()) return not_a_sample;
  for (const auto& [label, text] : schemata.items()) {
    if (!text.is_string()) return not_a_sample;
    const auto group = group_of(group_directory(label));
    if (!group) return group.error();
    auto& amounts = out.schemata[printable(label)];
    // No machine's are longer, and they are searched with every sample.
    amounts = text.get_ref<const std::string&>().size() > longest_schemata
                  ? ""
                  : printable(text.get_ref<const std::string&>());
  }
  return std::nullopt;
}

Wrong read_marks(const Json& marks, Sample& out) {
  if (!marks.is_array()) return not_a_sample;
  if (marks.size() > most_marks) return "it has more than 1000 marks";
  for (const Json& mark : marks) {
    if (!mark.is_string()) return not_a_sample;
    out.marks.push_back(mark_of(mark.get_ref<const std::string&>()));
  }
  return std::nullopt;
}

std::expected<Sample, std::string> sample_of(const Json& json) {
  Sample out;
  const auto number = [&](const char* key, uint64_t& to) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned()) return false;
    to = found->get<uint64_t>();
    return to <= latest_usec;
  };
  if (!json.is_object() || !number("t", out.time_usec) || !number("m", out.monotonic_usec))
    return Refused(not_a_sample);
  const auto rows = json.find("counters"), schemata = json.find("schemata"),
             marks = json.find("marks");
  if (rows == json.end()) return Refused(not_a_sample);
  Wrong wrong = read_counters(*rows, out);
  if (!wrong && schemata != json.end()) wrong = read_schemata(*schemata, out);
  if (!wrong && marks != json.end()) wrong = read_marks(*marks, out);
  if (wrong) return Refused(*wrong);
  return out;
}

// {"L3": {"0": 131072}}; what is not of this form is left out.
template <class T>
std::map<std::string, std::map<DomainId, T>> by_domain(const Json& header, const char* key) {
  std::map<std::string, std::map<DomainId, T>> out;
  const auto found = header.find(key);
  if (found == header.end() || !found->is_object()) return out;
  for (const auto& [resource, domains] : found->items())
    for (const auto& [domain, value] : domains.items())
      if (const auto id = parse_unsigned<uint32_t>(domain);
          id && (value.is_number_unsigned() ||
                 (std::is_floating_point_v<T> && value.is_number_float() && value > 0)))
        out[resource][DomainId{*id}] = value.template get<T>();
  return out;
}

Header::MbValues mb_values_of(const Json& header) {
  const auto found = header.find("mb");
  if (found == header.end() || !found->is_object()) return {};
  const auto number = [&](const char* key) {
    const auto value = found->find(key);
    return value != found->end() && value->is_number() ? value->get<double>() : 0;
  };
  const double step = number("step"), least = number("least");
  if (!(step > 0) || !(least >= 0)) return {};
  return {text_or_empty(*found, "unit") != "bytes_per_second", step, least};
}

std::optional<std::string> read_header(const Json& json, Header& out) {
  if (!json.is_object() || text_or_empty(json, "format") != format_name)
    return "this is not a recording of rdtd";
  const auto number = json.find("schema");
  if (number == json.end() || *number != schema)
    return "its format is not known here: another version of rdtd wrote it";
  for (const auto& [key, to] : {std::pair("host", &out.host), std::pair("kernel", &out.kernel),
                                std::pair("version", &out.version), std::pair("boot", &out.boot)}) {
    auto name = name_of(text_or_empty(json, key));
    if (!name) return name.error();
    *to = std::move(*name);
  }
  const auto interval = json.find("interval");
  out.interval = interval != json.end() && interval->is_number() ? interval->get<double>() : 0;
  if (!(out.interval > 0 && out.interval <= longest_interval)) out.interval = 0;
  out.way_bytes = by_domain<uint64_t>(json, "way_bytes");
  out.io_ways = by_domain<uint64_t>(json, "io_ways");
  out.ceilings = by_domain<double>(json, "ceilings");
  const auto mba_mbps = json.find("mba_MBps");
  out.mba_mbps = mba_mbps != json.end() && *mba_mbps == true;
  out.mb = mb_values_of(json);
  return std::nullopt;
}

}  // namespace

std::string header_line(const Header& header) {
  Written out{{"format", format_name},     {"schema", schema},
              {"host", header.host},       {"kernel", header.kernel},
              {"version", header.version}, {"interval", header.interval}};
  for (const auto& [resource, domains] : header.way_bytes)
    for (const auto& [domain, bytes] : domains)
      out["way_bytes"][resource][to_string(domain)] = bytes;
  for (const auto& [resource, domains] : header.io_ways)
    for (const auto& [domain, ways] : domains) out["io_ways"][resource][to_string(domain)] = ways;
  for (const auto& [resource, domains] : header.ceilings)
    for (const auto& [domain, rate] : domains) out["ceilings"][resource][to_string(domain)] = rate;
  if (!header.boot.empty()) out["boot"] = header.boot;
  if (header.mba_mbps) out["mba_MBps"] = true;
  if (header.mb.step > 0)
    out["mb"] = {{"unit", header.mb.percent ? "percent" : "bytes_per_second"},
                 {"step", header.mb.step},
                 {"least", header.mb.least}};
  return dumped(out);
}

std::string sample_line(const Sample& sample) {
  Written rows = Written::array();
  for (const DomainCounters& of : sample.counters) {
    Written counters = Written::object();
    for (const auto& [name, value] : of.counters) counters[name] = to_json(value);
    rows.push_back({of.group, of.resource, static_cast<uint32_t>(of.domain), std::move(counters)});
  }
  Written out{{"t", sample.time_usec}, {"m", sample.monotonic_usec}, {"counters", std::move(rows)}};
  if (!sample.schemata.empty()) out["schemata"] = sample.schemata;
  if (!sample.marks.empty()) out["marks"] = sample.marks;
  return dumped(out);
}

std::expected<std::optional<Sample>, BadRecording> RecordingReader::line(std::string_view text,
                                                                         bool whole) {
  ++number_;
  // The last line of the file before may have been cut off, and be its only one.
  if (const size_t header = text.rfind(header_begin); header != std::string_view::npos)
    text.remove_prefix(header);
  const Json json = parsed(text);
  const bool begins = number_ == 1 || text.starts_with(header_begin);
  if (begins && number_ > 1 && !whole && json.is_discarded()) {
    cut_off_ = true;
    return std::nullopt;
  }
  if (begins) {
    if (auto why = read_header(json, header_)) return std::unexpected(BadRecording{number_, *why});
    last_usec_ = 0;
    begins_file_ = true;
    return std::nullopt;
  }
  auto sample = json.is_discarded() ? Refused(not_a_sample) : sample_of(json);
  if (!sample && !whole) {
    cut_off_ = true;
    return std::nullopt;
  }
  if (!sample) return std::unexpected(BadRecording{number_, sample.error()});
  if (sample->monotonic_usec < last_usec_)
    return std::unexpected(BadRecording{number_, "it is older than the sample before"});
  last_usec_ = sample->monotonic_usec;
  sample->begins_file = std::exchange(begins_file_, false);
  return std::move(*sample);
}

std::expected<Recording, BadRecording> parse_recording(std::string_view text) {
  Recording out;
  RecordingReader reader;
  if (text.empty()) return std::unexpected(BadRecording{1, "the file is empty"});
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    auto sample = reader.line(text.substr(0, end), whole);
    if (!sample) return std::unexpected(sample.error());
    if (*sample) out.samples.push_back(std::move(**sample));
    text.remove_prefix(whole ? end + 1 : text.size());
  }
  out.header = reader.header();
  out.cut_off = reader.cut_off();
  return out;
}

}  // namespace rdtd::observe
