#include "rdtd/observe/recording.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd::observe {

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned schema = 1;
constexpr const char* format_name = "rdtd-recording";

Json to_json(const CounterValue& value) {
  if (const auto* integer = std::get_if<uint64_t>(&value)) return *integer;
  if (const auto* decimal = std::get_if<double>(&value)) return *decimal;
  return to_string(std::get<NoCount>(value));
}

std::optional<CounterValue> counter_of(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  // No counter is below zero.
  if (value.is_number_float() && value.get<double>() >= 0) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto parsed = parse_counter(value.get_ref<const std::string&>());
  return parsed && std::holds_alternative<NoCount>(*parsed) ? parsed : std::nullopt;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// [directory of the group, resource, domain, {counter: value}]
std::optional<DomainCounters> counters_of(const Json& row) {
  if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_string() ||
      !row[2].is_number_unsigned() || row[2].get<uint64_t>() > UINT32_MAX || !row[3].is_object())
    return std::nullopt;
  DomainCounters out{
      row[0].get<std::string>(), row[1].get<std::string>(), DomainId{row[2].get<uint32_t>()}, {}};
  for (const auto& [name, value] : row[3].items()) {
    const auto counter = counter_of(value);
    if (!counter) return std::nullopt;
    out.counters.emplace(name, *counter);
  }
  return out;
}

// The year 2096. Later times would overflow where they are counted in nanoseconds.
constexpr uint64_t latest_usec = 4'000'000'000'000'000;
constexpr size_t longest_schemata = 16384, most_groups = 2000;

std::optional<Sample> sample_of(const Json& json) {
  Sample out;
  const auto number = [&](const char* key, uint64_t& to) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned()) return false;
    to = found->get<uint64_t>();
    return to <= latest_usec;
  };
  if (!json.is_object() || !number("t", out.time_usec) || !number("m", out.monotonic_usec))
    return std::nullopt;
  const auto rows = json.find("counters");
  if (rows == json.end() || !rows->is_array()) return std::nullopt;
  for (const Json& row : *rows) {
    auto counters = counters_of(row);
    if (!counters) return std::nullopt;
    out.counters.push_back(std::move(*counters));
  }
  if (const auto schemata = json.find("schemata"); schemata != json.end()) {
    if (!schemata->is_object()) return std::nullopt;
    for (const auto& [group, text] : schemata->items()) {
      if (!text.is_string()) return std::nullopt;
      auto& amounts = out.schemata[group];
      amounts = text.get<std::string>();
      // No machine's are longer, and they are searched with every sample.
      if (amounts.size() > longest_schemata) amounts.clear();
    }
  }
  if (const auto marks = json.find("marks"); marks != json.end()) {
    if (!marks->is_array()) return std::nullopt;
    for (const Json& mark : *marks) {
      if (!mark.is_string()) return std::nullopt;
      out.marks.push_back(mark.get<std::string>());
    }
  }
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
    return "this is no recording of rdtd";
  const auto number = json.find("schema");
  if (number == json.end() || *number != schema)
    return "a newer rdtd wrote it: its format is not known here";
  out.host = text_or_empty(json, "host");
  out.kernel = text_or_empty(json, "kernel");
  out.version = text_or_empty(json, "version");
  const auto interval = json.find("interval");
  out.interval = interval != json.end() && interval->is_number() ? interval->get<double>() : 0;
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
  Json out{{"format", format_name},   {"schema", schema},          {"host", header.host},
           {"kernel", header.kernel}, {"version", header.version}, {"interval", header.interval}};
  for (const auto& [resource, domains] : header.way_bytes)
    for (const auto& [domain, bytes] : domains)
      out["way_bytes"][resource][to_string(domain)] = bytes;
  for (const auto& [resource, domains] : header.io_ways)
    for (const auto& [domain, ways] : domains) out["io_ways"][resource][to_string(domain)] = ways;
  for (const auto& [resource, domains] : header.ceilings)
    for (const auto& [domain, rate] : domains) out["ceilings"][resource][to_string(domain)] = rate;
  if (header.mba_mbps) out["mba_MBps"] = true;
  if (header.mb.step > 0)
    out["mb"] = {{"unit", header.mb.percent ? "percent" : "bytes_per_second"},
                 {"step", header.mb.step},
                 {"least", header.mb.least}};
  return dumped(out);
}

std::string sample_line(const Sample& sample) {
  Json rows = Json::array();
  for (const DomainCounters& of : sample.counters) {
    Json counters = Json::object();
    for (const auto& [name, value] : of.counters) counters[name] = to_json(value);
    rows.push_back({of.group, of.resource, static_cast<uint32_t>(of.domain), std::move(counters)});
  }
  Json out{{"t", sample.time_usec}, {"m", sample.monotonic_usec}, {"counters", std::move(rows)}};
  if (!sample.schemata.empty()) out["schemata"] = sample.schemata;
  if (!sample.marks.empty()) out["marks"] = sample.marks;
  return dumped(out);
}

void update_schemata(std::map<std::string, std::string>& in_force, const Sample& sample) {
  for (const auto& [group, text] : sample.schemata) {
    if (text.empty())
      in_force.erase(group);
    else if (in_force.size() < most_groups || in_force.contains(group))
      in_force[group] = text;
  }
}

std::expected<std::optional<Sample>, BadRecording> RecordingReader::line(std::string_view text,
                                                                         bool whole) {
  ++number_;
  const Json json = Json::parse(text, nullptr, false);
  if (number_ == 1) {
    if (auto why = read_header(json, header_)) return std::unexpected(BadRecording{1, *why});
    return std::nullopt;
  }
  auto sample = json.is_discarded() ? std::nullopt : sample_of(json);
  if (!sample && !whole) {
    cut_off_ = true;
    return std::nullopt;
  }
  if (!sample) return std::unexpected(BadRecording{number_, "this is no sample"});
  if (number_ > 2 && sample->monotonic_usec < last_usec_)
    return std::unexpected(BadRecording{number_, "it is older than the sample before"});
  last_usec_ = sample->monotonic_usec;
  return sample;
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
