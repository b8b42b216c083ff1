// The text about a condition that does not hold.
#pragma once

#include <string>

#include "rdtd/rules/condition.hpp"

namespace rdtd {

// The patterns of the condition: "'redis' (999)", with the separator between them.
[[nodiscard]] std::string wanted_texts(const CompiledCondition& condition, const char* separator);

// "name is 'bash', not 'redis-server'", or without the patterns "name is 'bash', which does not
// match". Requires the fact that the condition is about.
[[nodiscard]] std::string failure(const CompiledCondition& condition, Subject& subject,
                                  bool with_patterns);

}  // namespace rdtd
