#include "control_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cbm.hpp"

namespace rdtd {

namespace {

using ControlNumber = std::expected<uint32_t, ControlRefusal>;

std::unexpected<ControlRefusal> other_form(const Amount& amount, std::string_view what,
                                           const Resource& name, const Control& control) {
  const bool percent = !name.is_bitmap() && whole_of(control).has_value();
  const std::string unit = name.is_bitmap()       ? "ways in a bit mask"
                           : percent              ? "percent"
                           : control.unit.empty() ? "in a unit that the kernel does not name"
                                                  : control.unit;
  return std::unexpected(ControlRefusal{
      fmt::format("'{}' is {}, and {} counts {} here", amount.text, what, name.name(), unit),
      name.is_bitmap()             ? "write \"0xf0\""
      : percent                    ? "write a percentage such as \"50%\""
      : rate_of_unit(control) != 0 ? "write \"8 GB/s\", or the number for schemata"
                                   : "write the number for schemata",
      true});
}

ControlNumber mask_value(const Amount& amount, Cbm mask, const Resource& name,
                         const Control& control) {
  if (!name.is_bitmap()) return other_form(amount, "a mask", name, control);
  if (control.maximum && !Cbm{*control.maximum}.contains(mask))
    return std::unexpected(
        ControlRefusal{fmt::format("'{}' is out of range: the mask of {} is 0x{}", amount.text,
                                   name.name(), to_string(Cbm{*control.maximum})),
                       {}});
  if (!control.sparse && !mask.contiguous())
    return std::unexpected(ControlRefusal{
        fmt::format("'{}' has gaps; masks of {} must be contiguous", amount.text, name.name()),
        fmt::format("write \"0x{}\"",
                    to_string(Cbm::range(mask.lowest(), mask.highest() - mask.lowest() + 1)))});
  if (mask.count() < control.min_bits)
    return std::unexpected(
        ControlRefusal{fmt::format("'{}' is too little: a mask of {} has at least {} ({})",
                                   amount.text, name.name(), counted(control.min_bits, "way"),
                                   control.resource.empty() ? "min_cbm_bits" : "min_bits"),
                       {}});
  return mask.bits;
}

// More than any control takes stays so.
uint64_t whole_number(double value) {
  constexpr double above_all = 1e18;
  return static_cast<uint64_t>(std::ceil(std::min(value, above_all) - 1e-9));
}

// A number in `schemata`, not yet rounded; nothing if the control does not count so.
std::optional<uint64_t> number_of(const Amount& amount, const Control& control) {
  if (const auto* number = std::get_if<Number>(&amount.value)) return number->value;
  if (const auto* percent = std::get_if<Percent>(&amount.value))
    if (const auto whole = whole_of(control)) return whole_number(*whole * percent->value / 100);
  if (const auto* rate = std::get_if<Rate>(&amount.value))
    if (const uint64_t unit = rate_of_unit(control); unit != 0)
      return whole_number(static_cast<double>(rate->bytes_per_second) / static_cast<double>(unit) *
                          control.resolution / control.scale);
  if (std::holds_alternative<Unlimited>(amount.value))
    return control.maximum ? control.maximum : whole_of(control);
  return std::nullopt;
}

std::unexpected<ControlRefusal> out_of_range(const Amount& amount, const Resource& name,
                                             uint64_t least, uint64_t most) {
  const bool in_schemata = std::holds_alternative<Number>(amount.value);
  return std::unexpected(
      ControlRefusal{fmt::format("'{}' is out of range: {} takes {} to {}{}", amount.text,
                                 name.name(), least, most, in_schemata ? "" : " in schemata"),
                     {}});
}

std::string_view form_of(const Amount& amount) {
  if (std::holds_alternative<Percent>(amount.value)) return "a percentage";
  if (std::holds_alternative<Rate>(amount.value)) return "a rate";
  if (std::holds_alternative<Number>(amount.value)) return "a number";
  return "no number";
}

}  // namespace

ControlNumber control_value(const Amount& amount, const Resource& name, const Control& control) {
  if (const auto* mask = std::get_if<Cbm>(&amount.value))
    return mask_value(amount, *mask, name, control);
  if (name.is_bitmap() && std::holds_alternative<Unlimited>(amount.value) && control.maximum)
    return *control.maximum;
  const auto number = name.is_bitmap() ? std::nullopt : number_of(amount, control);
  if (!number) return other_form(amount, form_of(amount), name, control);
  const uint64_t step = control.granularity, least = control.minimum.value_or(0),
                 most = control.maximum.value_or(whole_of(control).value_or(UINT32_MAX));
  const bool in_schemata = std::holds_alternative<Number>(amount.value);
  const bool percent = std::holds_alternative<Percent>(amount.value);
  // As a fraction with few bits, the whole can be a little more than the kernel takes.
  if (*number > most && !percent) return out_of_range(amount, name, least, most);
  uint64_t value = std::min((*number + step - 1) / step * step, most);
  // A share that is too small for the kernel becomes the smallest one, as for MB.
  if (!in_schemata) value = std::max(value, least);
  if (value < least) return out_of_range(amount, name, least, most);
  return static_cast<uint32_t>(value);
}

}  // namespace rdtd
