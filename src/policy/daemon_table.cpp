#include "daemon_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

// One of several words; anything else is reported.
std::optional<std::string> read_choice(const FileReader& in, const toml::key& key,
                                       const toml::node& node,
                                       const std::vector<std::string>& choices) {
  const auto text = in.string(key, node);
  if (!text) return std::nullopt;
  if (std::ranges::find(choices, text->value) != choices.end()) return text->value;
  const auto nearest = nearest_name(text->value, choices);
  in.error(text->where,
           fmt::format("'{}' in [daemon] must be one of {}, not '{}'", key.str(),
                       join(choices, ", "), text->value),
           nearest ? fmt::format("did you mean '{}'?", *nearest) : "");
  return std::nullopt;
}

}  // namespace

void DaemonReader::read(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return in.wrong_type(key, node, "a table", "write [daemon]");
  const auto once = [&](FileReader::Handler handler) -> FileReader::Handler {
    return [&, handler](const toml::key& k, const toml::node& n) {
      const auto [earlier, is_new] = set_.emplace(k.str(), in.at(k));
      if (!is_new)
        return in.error(in.at(k), fmt::format("'{}' in [daemon] is set twice: here and in {}",
                                              k.str(), earlier->second.text()));
      handler(k, n);
    };
  };
  in.read_table(*table, "[daemon]",
                {{"log_level", once([&](const auto& k, const auto& n) {
                    if (auto level = read_choice(in, k, n, {"debug", "info", "warning", "error"}))
                      settings_.log_level = *level;
                  })},
                 {"on_stop", once([&](const auto& k, const auto& n) {
                    if (auto word = read_choice(in, k, n, {"keep", "remove"}))
                      settings_.on_stop = *word == "keep" ? OnStop::keep : OnStop::remove;
                  })},
                 {"drift", once([&](const auto& k, const auto& n) {
                    if (auto word = read_choice(in, k, n, {"restore", "report"}))
                      settings_.drift = *word == "restore" ? OnDrift::restore : OnDrift::report;
                  })},
                 {"unsupported", once([&](const auto& k, const auto& n) {
                    if (auto word = read_choice(in, k, n, {"refuse", "skip"}))
                      settings_.unsupported =
                          *word == "refuse" ? OnUnsupported::refuse : OnUnsupported::skip;
                  })},
                 {"readers", once([&](const auto& k, const auto& n) {
                    if (auto word = read_choice(in, k, n, {"group", "all"}))
                      settings_.readers = *word == "group" ? Readers::group : Readers::all;
                  })},
                 {"reconcile_interval", once([&](const auto& k, const auto& n) {
                    if (const auto* seconds = n.as_integer()) {
                      const std::string meant = fmt::format("{}s", seconds->get());
                      return in.wrong_type(
                          k, n, "a string",
                          fmt::format("write \"{}\"", parse_duration(meant) ? meant : "30s"));
                    }
                    const auto text = in.string(k, n);
                    if (!text) return;
                    if (const auto span = parse_duration(text->value))
                      settings_.reconcile_interval = *span;
                    else
                      in.error(text->where, span.error());
                  })}});
}

}  // namespace rdtd
