// The values of a policy that are written as text: amounts, durations and lists of CPUs.
#include "fuzz/input.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/parse.hpp"

using namespace rdtd;

namespace {

void check_amount(const std::expected<Amount, AmountError>& amount, std::string_view text) {
  if (!amount) return fuzz::require(!amount.error().message.empty(), "an error has a message");
  fuzz::require(amount->text == trim(text), "an amount keeps its text", amount->text);
  const auto& value = amount->value;
  if (const auto* percent = std::get_if<Percent>(&value))
    fuzz::require(percent->value > 0 && percent->value <= 100, "a percentage is above 0, to 100");
  if (const auto* ways = std::get_if<WayCount>(&value))
    fuzz::require(ways->count >= 1, "a number of ways is at least 1");
  if (const auto* cbm = std::get_if<Cbm>(&value))
    fuzz::require(!cbm->empty(), "a mask has at least one way");
  if (const auto* bytes = std::get_if<Bytes>(&value))
    fuzz::require(bytes->count >= 1, "a size is at least 1 byte");
  if (const auto* rate = std::get_if<Rate>(&value))
    fuzz::require(rate->bytes_per_second >= 1, "a rate is at least 1 byte per second");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_amount(parse_cache_amount(text), text);
  check_amount(parse_bandwidth_amount(text), text);
  const auto duration = parse_duration(text);
  fuzz::require(!duration || (duration->count() >= 0 && *duration <= std::chrono::days(100)),
                "a duration is at most 100 days");
  if (const auto cpus = parse_cpu_list(text))
    fuzz::require(parse_cpu_list(format_cpu_list(*cpus)) == *cpus,
                  "a list of CPUs that is formatted is parsed to the same CPUs");
  return 0;
}
