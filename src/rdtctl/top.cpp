// top: what the groups use.
#include "usage_view.hpp"

namespace rdtd {

std::vector<std::string> verbs::top_columns() { return UsageView::column_names(); }

int verbs::top(const Context& context, const TopOptions& options) {
  if (!options.play.empty())
    return UsageView(context, std::nullopt, options,
                     {.verb = "top --play", .unit = {}, .groups = {}, .over = {}})
        .play(options.play);
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  if (!monitors(context, *tree)) return Exit::no_resctrl;
  return UsageView(context, std::move(*tree), options, {}).show();
}

}  // namespace rdtd
