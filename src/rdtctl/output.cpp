#include "output.hpp"

#include <libsmartcols/libsmartcols.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr size_t widest_list = 48, narrowest_list = 12;  // columns of a cell
constexpr char kept_space = '\x01';                      // no cell has such a character

using Rows = std::vector<std::vector<std::string>>;

size_t columns_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Where the character of this number begins, in bytes.
size_t byte_of(const std::string& text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (begins && character-- == 0) break;
  }
  return at;
}

// The width of the lists with which the lines fit.
size_t width_of_lists(const Context& context, const std::vector<Column>& columns,
                      const Rows& rows) {
  const size_t most =
      context.columns == 0 ? widest_line : std::min<size_t>(widest_line, context.columns);
  std::vector<size_t> lists;
  size_t others = columns.size() - 1;  // the gaps
  for (size_t i = 0; i < columns.size(); i++) {
    size_t width = columns_of(columns[i].name);  // libsmartcols keeps room for it in any case
    for (const auto& row : rows) width = std::max(width, columns_of(row[i]));
    if (columns[i].list)
      lists.push_back(width);
    else
      others += width;
  }
  size_t width = widest_list;
  const auto needed = [&] {
    size_t sum = others;
    for (const size_t list : lists) sum += std::min(list, width);
    return sum;
  };
  while (width > narrowest_list && needed() > most) width--;
  return width;
}

// Where not all fits a terminal, the widest texts get narrower, one column after the other. What no
// terminal shows is whole.
void shorten_texts(const Context& context, const std::vector<Column>& columns, size_t list_width,
                   Rows& rows) {
  constexpr size_t narrowest_text = 8;
  if (context.columns == 0) return;
  std::vector<size_t> widths;
  size_t sum = columns.size() - 1;  // the gaps
  for (size_t i = 0; i < columns.size(); i++) {
    size_t width = columns_of(columns[i].name);
    for (const auto& row : rows)
      width = std::max(
          width, columns[i].list ? std::min(columns_of(row[i]), list_width) : columns_of(row[i]));
    widths.push_back(width);
    sum += width;
  }
  const auto can_shrink = [&](size_t i) {
    return !columns[i].right && !columns[i].list && !columns[i].whole &&
           widths[i] > std::max(narrowest_text, columns_of(columns[i].name));
  };
  for (; sum > context.columns; sum--) {
    std::optional<size_t> widest;
    for (size_t i = 0; i < columns.size(); i++)
      if (can_shrink(i) && (!widest || widths[i] > widths[*widest])) widest = i;
    if (!widest) break;
    widths[*widest]--;
  }
  for (auto& row : rows)
    for (size_t i = 0; i < columns.size(); i++)
      if (!columns[i].list) row[i] = shortened(row[i], widths[i], context.utf8);
}

// Breaks before "NAME:", and if `sizes` before the size of ways too: "4 ways 256 KiB".
std::string break_at_entries(std::string text, size_t width, size_t indent, bool sizes) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto is_of_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;  // MB_MAX
  };
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != ' ') continue;
    size_t end = i + 1;
    if (sizes && end < text.size() && is_digit(text[end])) continue;
    while (end < text.size() && is_of_name(text[end])) end++;
    if (end >= text.size() || text[end] != ':') text[i] = kept_space;
  }
  text = break_lines(text, width, indent);
  std::ranges::replace(text, kept_space, ' ');
  return text;
}

std::string in_color(int color, std::string_view text) {
  return fmt::format("\033[{}m{}\033[0m", color, text);
}

constexpr int green = 32, yellow = 33, red = 31;

constexpr std::string_view excerpt_margin = "      | ";  // of what is below an excerpt

// The hints of a text of format_diagnostics() in lines of the terminal: beside their mark, or below
// it if that leaves too little room.
std::string wrap_hints(const Context& context, std::string_view text) {
  constexpr size_t least_room = 32;
  const size_t width = width_of_text(context);
  std::string out;
  for (const std::string_view line : split(trim(text), '\n')) {
    const size_t mark = std::min(line.find_first_not_of(' ', excerpt_margin.size()), line.size());
    const size_t hint = line.find_first_not_of("^~ ", mark);
    if (!line.starts_with(excerpt_margin) || hint == std::string_view::npos ||
        columns_of(std::string(line)) <= width) {
      out += fmt::format("{}\n", line);
      continue;
    }
    const bool beside = hint + least_room <= width;
    const size_t indent = beside ? hint - excerpt_margin.size() : 0;
    const std::string begin = fmt::format("\n{}{}", excerpt_margin, std::string(indent, ' '));
    const size_t room = width - std::min(width, excerpt_margin.size() + indent);
    out += line.substr(0, beside ? hint : hint - 1);
    if (!beside) out += begin;
    for (const char c : break_lines(line.substr(hint), room)) {
      if (c == '\n')
        out += begin;
      else
        out += c;
    }
    out += '\n';
  }
  return out;
}

// The severities in a text of format_diagnostics(), and the marks below its excerpts.
std::string color_diagnostics(std::string_view text) {
  std::string out;
  int color = red;
  for (const std::string_view line : split(trim(text), '\n')) {
    size_t begin = std::min(line.find("error: "), line.find("warning: ")), end = begin;
    if (line.starts_with(excerpt_margin)) {
      begin = line.find_first_not_of(' ', excerpt_margin.size());
      end = std::min(line.find_first_not_of("^~", begin), line.size());
    } else if (line.starts_with(' ') || begin == std::string_view::npos) {
      begin = end = 0;
    } else {
      end = line.find(':', begin);
      color = line[begin] == 'e' ? red : yellow;
    }
    out += fmt::format("{}{}{}\n", line.substr(0, begin),
                       begin == end ? "" : in_color(color, line.substr(begin, end - begin)),
                       line.substr(end));
  }
  return out;
}

// `text`: of format_diagnostics().
void note_findings(const Context& context, std::string text) {
  if (context.columns != 0 && !text.empty()) text = wrap_hints(context, text);
  if (!context.error_color || text.empty())
    note("{}", text);
  else
    note("{}", Styled{color_diagnostics(text)});
}

// JSON escapes the control characters below U+0020 only; the others occur in strings alone.
std::string escape_other_controls(const std::string& json) {
  std::string out;
  for (size_t i = 0; i < json.size(); i++) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    if (byte == 0x7f)
      out += "\\u007f";
    else if (byte == 0xc2 && next >= 0x80 && next < 0xa0)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[++i]));
    else
      out += json[i];
  }
  return out;
}

}  // namespace

std::string shortened(const std::string& text, size_t width, bool utf8) {
  const size_t length = columns_of(text);
  if (length <= width || width == 0) return text.substr(0, byte_of(text, width));
  const size_t end = (width - 1) / 2, begin = width - 1 - end;
  return text.substr(0, byte_of(text, begin)) + (utf8 ? "\u2026" : "~") +
         text.substr(byte_of(text, length - end));
}

void print_json(const Context& context, JsonValue value) {
  JsonValue out = {{"schema", 1}};
  out.update(value);
  print("{}\n", escape_other_controls(out.dump(context.json == Json::pretty ? 2 : -1, ' ', false,
                                               JsonValue::error_handler_t::replace)));
}

void print_table(const Context& context, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows) {
  if (quiet) return;
  Rows cells = rows;
  for (auto& row : cells)
    for (std::string& cell : row) cell = printable(cell.empty() ? "-" : cell);
  const size_t list_width = width_of_lists(context, columns, cells);
  shorten_texts(context, columns, list_width, cells);
  const std::unique_ptr<libscols_table, void (*)(libscols_table*)> table(scols_new_table(),
                                                                         scols_unref_table);
  (void)scols_table_enable_noheadings(table.get(), context.legend ? 0 : 1);
  (void)scols_table_enable_colors(table.get(), context.color ? 1 : 0);
  (void)scols_table_enable_ascii(table.get(), context.utf8 ? 0 : 1);
  for (const Column& column : columns) {
    libscols_column* made = scols_table_new_column(
        table.get(), column.name.c_str(), 0,
        (column.right ? SCOLS_FL_RIGHT : 0) | (column.list ? SCOLS_FL_WRAP : 0));
    if (column.list) {
      (void)scols_column_set_safechars(made, "\n");
      (void)scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
                                      nullptr);
    }
    if (context.color) (void)scols_cell_set_color(scols_column_get_header(made), "bold");
  }
  for (const auto& row : cells) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    for (size_t i = 0; i < row.size(); i++)
      (void)scols_line_set_data(
          line, i, (columns[i].list ? break_entries(row[i], list_width) : row[i]).c_str());
  }
  (void)scols_print_table(table.get());
}

std::string break_entries(const std::string& text, size_t width, size_t indent) {
  std::string out = break_at_entries(text, width, indent, false);
  const bool fits = std::ranges::all_of(
      split(out, '\n'), [&](std::string_view line) { return line.size() <= width; });
  return fits ? out : break_at_entries(text, width, indent, true);
}

JsonValue& new_entry(JsonValue& object, std::string key) {
  if (object.is_null()) object = JsonValue::object();
  return object.get_ref<JsonValue::object_t&>().emplace_back(std::move(key), nullptr).second;
}

JsonValue schemata_json(const Schemata& schemata) {
  JsonValue out = JsonValue::object();
  for (const auto& [resource, values] : schemata) {
    JsonValue row;
    for (const auto& [domain, value] : values)
      new_entry(row, to_string(domain)) =
          resource.is_bitmap() ? JsonValue(to_string(Cbm{value})) : JsonValue(value);
    if (!values.empty()) out[std::string(to_string(resource))] = std::move(row);
  }
  return out;
}

JsonValue asked_json(const std::map<Resource, std::map<DomainId, std::string>>& asked) {
  JsonValue out = JsonValue::object();
  for (const auto& [resource, domains] : asked) {
    JsonValue row;
    for (const auto& [domain, text] : domains) new_entry(row, to_string(domain)) = text;
    if (!domains.empty()) out[std::string(to_string(resource))] = std::move(row);
  }
  return out;
}

JsonValue bandwidth_units_json(const Capabilities& capabilities) {
  JsonValue out = JsonValue::object();
  for (const auto& [resource, info] : capabilities.bandwidths)
    out[std::string(to_string(resource))] = to_string(info.unit);
  return out;
}

size_t width_of_text(const Context& context) {
  constexpr size_t widest_text = 100;
  return context.columns == 0 ? widest_text : std::min<size_t>(widest_text, context.columns);
}

std::string wrapped(const Context& context, const std::string& text, size_t indent) {
  return context.columns == 0 ? text : break_lines(text, width_of_text(context), indent);
}

void print_sentences(const Context& context, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences)
    print("{}\n", sentence.contains('\n') ? sentence : wrapped(context, sentence, 2));
}

Styled colored(const Context& context, Judgment judgment, const std::string& text) {
  const std::string plain = printable(text);
  const int color = judgment == Judgment::good ? green : judgment == Judgment::odd ? yellow : red;
  return {context.color ? in_color(color, plain) : plain};
}

static JsonValue diagnostics_json(std::span<const Diagnostic> diagnostics) {
  JsonValue out = JsonValue::array();
  for (const Diagnostic& d : diagnostics) {
    JsonValue entry = {{"severity", d.severity == Severity::error ? "error" : "warning"},
                       {"file", d.where.file},
                       {"message", d.message}};
    if (d.where.line != 0) entry["line"] = d.where.line;
    if (d.where.column != 0) entry["column"] = d.where.column;
    if (!d.hint.empty()) entry["hint"] = d.hint;
    out.push_back(std::move(entry));
  }
  return out;
}

void print_diagnostics(const Context& context, std::span<const Diagnostic> diagnostics,
                       const Sources& sources) {
  if (context.json == Json::off) return note_diagnostics(context, diagnostics, sources);
  print_json(context,
             {{"valid", !has_errors(diagnostics)}, {"diagnostics", diagnostics_json(diagnostics)}});
}

void note_diagnostics(const Context& context, std::span<const Diagnostic> diagnostics,
                      const Sources& sources) {
  note_findings(context, format_diagnostics(diagnostics, sources));
}

int report(const Context& context, const Client::Failure& failure) {
  if (failure.kind != Client::Failure::Kind::refused || !failure.text.ends_with('\n'))
    return report(failure);
  note_findings(context, printable_lines(failure.text));
  return Exit::failed;
}

Styled emphasized(const Context& context, const std::string& text) {
  const std::string plain = printable(text);
  return {context.color ? "\033[1m" + plain + "\033[0m" : plain};
}

void print_version(const Context& context, const std::string& version) {
  if (context.json != Json::off) return print_json(context, {{"version", version}});
  print("rdtctl {}\n", version);
}

}  // namespace rdtd
