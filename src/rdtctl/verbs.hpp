// The verbs. Each lies in the file of its name, with its options and what it does: add_VERB makes the subcommand, whose
// callback sets `exit`. A verb prints data on standard output and notes on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "context.hpp"

namespace rdtd {

struct Verbs {
  CLI::App& app;
  const Context& context;  // complete by the time that a callback runs
  int& exit;

  // A subcommand with the example that its help ends with.
  CLI::App& add(const char* name, const char* description, const char* example) const {
    return *app.add_subcommand(name, description)->footer(std::string("Example: ") + example);
  }
};

void add_apply(const Verbs& verbs);
void add_assign(const Verbs& verbs);
void add_cat_config(const Verbs& verbs);
void add_check(const Verbs& verbs);
void add_completion(const Verbs& verbs);
void add_doctor(const Verbs& verbs);
void add_events(const Verbs& verbs);
void add_explain(const Verbs& verbs);
void add_import(const Verbs& verbs);
void add_layout(const Verbs& verbs);
void add_list(const Verbs& verbs);  // and show
void add_metrics(const Verbs& verbs);
void add_plan(const Verbs& verbs);
void add_reload(const Verbs& verbs);
void add_reset(const Verbs& verbs);
void add_run(const Verbs& verbs);
void add_snapshot(const Verbs& verbs);
void add_status(const Verbs& verbs);
void add_top(const Verbs& verbs);

// What status falls back on where the daemon does not run.
int list(const Context& context);

}  // namespace rdtd
