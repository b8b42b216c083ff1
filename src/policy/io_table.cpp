#include "io_table.hpp"

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

IoTable read_io(const FileReader& in, const toml::key& key, const toml::table& table,
                AmountReader& amounts) {
  IoTable out;
  out.io.name = {group_label(io_group), in.at(key)};
  const size_t before = in.problems();
  in.read_table(table, "[io]",
                {{"l3",
                  [&](const auto& k, const auto& n) {
                    out.io.amounts[Resource::L3] =
                        amounts.read(in, AmountReader::Holder::other, Resource::L3, k, n);
                  }},
                 {"override", [&](const auto& k, const auto& n) {
                    out.replaces = in.boolean(k, n).value_or(false);
                  }}});
  if (in.problems() == before && out.io.amounts.empty())
    in.error(out.io.name.where, "[io] has no cache amount", "write l3 = \"2 ways\"");
  out.complete = in.problems() == before;
  return out;
}

}  // namespace rdtd
