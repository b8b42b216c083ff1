// metrics: what Prometheus is to know, printed or put into a file.
#include "metrics_text.hpp"

#include <filesystem>

#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// A file is put in place at once, for a collector that may read at any moment: a link to one stays
// a link. A pipe or a device is written to.
int write_out(const std::string& text, const std::string& file) {
  std::error_code unknown;
  const auto status = std::filesystem::status(file, unknown);
  const bool special = std::filesystem::exists(status) && !is_regular_file(status);
  const std::filesystem::path path = std::filesystem::is_symlink(file, unknown) && !special
                                         ? std::filesystem::weakly_canonical(file, unknown)
                                         : std::filesystem::path(file);
  const auto parent = Directory::open(path.has_parent_path() ? path.parent_path().string() : ".");
  const std::string name = path.filename().string();
  const auto written = !parent   ? std::unexpected(parent.error())
                       : special ? parent->write(name, text)
                                 : parent->replace(name, text);
  if (written) return Exit::ok;
  const int exit = report(written.error());
  return exit == Exit::no_resctrl ? Exit::failed : exit;  // the directory does not exist
}

}  // namespace

int verbs::metrics(const Context& context, const std::string& file) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  auto counters = tree->read_counters();
  if (!counters) return report(counters.error());
  MetricsSource source;
  source.counters = std::move(*counters);
  if (auto machine = read_machine(context)) {
    source.capabilities = std::move(machine->capabilities);
    source.groups = std::move(machine->snapshot.groups);
  }
  // Of a copied tree there is no daemon; where it does not run here, there is nothing of it to
  // report.
  auto client = context.snapshot_given ? std::unexpected(Client::Failure{}) : Client::connect();
  if (client) {
    if (auto daemon = client->properties()) source.daemon = std::move(*daemon);
    source.locks = client->list_locks().value_or(std::vector<LockStatus>{});
    auto observed = client->observed(UINT64_MAX).value_or(Client::Observed{});
    source.contention = std::move(observed.counts);
    source.guard = std::move(observed.guard);
  }
  const std::string text = metrics_text(source);
  if (!file.empty() && file != "-") return write_out(text, file);
  print("{}", text);
  return Exit::ok;
}

}  // namespace rdtd
