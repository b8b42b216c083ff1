#include "html.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "context.hpp"
#include "plot.hpp"
#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable_lines(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// Colors of series are told apart by people who do not tell red from green (Okabe and Ito).
static std::string style_of_series() {
  static constexpr std::array<std::string_view, series_colors> light = {
      "#0072b2", "#d55e00", "#009e73", "#aa4499", "#e69f00", "#56b4e9", "#777777", "#7a6a00"};
  static constexpr std::array<std::string_view, series_colors> dark = {
      "#56b4e9", "#e69f00", "#2fd8a5", "#e08fc0", "#f0e442", "#ff7f50", "#b0b0b0", "#9b8cff"};
  const auto variables = [](const auto& colors) {
    std::string out = ":root {";
    for (size_t i = 0; i < colors.size(); i++) out += fmt::format(" --s{}: {};", i, colors[i]);
    return out + " }";
  };
  std::string out =
      variables(light) + "\n@media (prefers-color-scheme: dark) { " + variables(dark) + " }\n";
  for (size_t i = 0; i < series_colors; i++)
    out += fmt::format(
        "circle.s{0}, polygon.s{0}, span.s{0} {{ fill: var(--s{0}); color: var(--s{0}); }}\n"
        "polyline.s{0} {{ stroke: var(--s{0}); }}\n",
        i);
  return out +
         "polyline.d1 { stroke-dasharray: 8 4; }\npolyline.d2 { stroke-dasharray: 2 4; }\n"
         "polygon.d1 { stroke: currentColor; stroke-dasharray: 8 4; }\n"
         "polygon.d2 { stroke: currentColor; stroke-dasharray: 2 4; }\n";
}

std::string html_page(std::string_view title, std::string_view body, std::string_view footer) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{0}</title>\n<style>\n:root {{ color-scheme: light dark; --grid: #8884; }}\n"
      "body {{ font: 15px sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; }}\n"
      "svg {{ width: 100%; }}\ntext {{ font-size: 12px; fill: currentColor; }}\n"
      "@media (max-width: 40em) {{ text {{ font-size: 18px; }} }}\n"
      ".grid {{ stroke: var(--grid); }}\n"
      ".mark {{ stroke: currentColor; stroke-dasharray: 4; }}\n"
      ".episode {{ fill: currentColor; fill-opacity: 0.12; }}\n"
      "circle, polygon {{ fill-opacity: 0.6; }}\npolyline {{ stroke-width: 2; fill: none; }}\n{3}"
      "td, th {{ padding: 0.1em 1em 0.1em 0; text-align: left; }}\n"
      "footer {{ margin-top: 2em; border-top: 1px solid var(--grid); font-size: 13px;"
      " white-space: pre-line; }}\n"
      "</style>\n</head>\n<body>\n<h1>{0}</h1>\n{1}<footer>{2}</footer>\n</body>\n</html>\n",
      html_escaped(title), body, html_escaped(footer), style_of_series());
}

std::string origin_of(const Context& context) {
  const auto text = [&](const std::string& file) {
    std::ifstream stream(context.proc + "/" + file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::string command = text("self/cmdline"), model = "processor not known";
  std::ranges::replace(command, '\0', ' ');
  std::istringstream processors(text("cpuinfo"));
  for (std::string line; std::getline(processors, line);)
    if (line.starts_with("model name")) {
      model = trim(line.substr(line.find(':') + 1));
      break;
    }
  utsname system{};
  (void)::uname(&system);
  const std::time_t now = std::time(nullptr);
  char date[sizeof "2026-01-31 23:59 +0000"] = {};
  (void)std::strftime(date, sizeof date, "%F %R %z", std::localtime(&now));
  return fmt::format("{}\n{}, {}, Linux {}\nrdtctl {}, {}", trim(command), system.nodename, model,
                     system.release, RDTD_VERSION, date);
}

std::string html_list(std::string_view heading, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", html_escaped(heading));
  for (const std::string& text : texts) out += fmt::format("<li>{}</li>\n", html_escaped(text));
  return out + "</ul>\n";
}

std::expected<HtmlFile, int> HtmlFile::open(const std::string& file) {
  HtmlFile out;
  if (file.empty()) return out;
  const auto refused = [&](int code, const char* why) {
    return std::unexpected(report_file({"write", file, code, why}));
  };
  if (file == "-") return refused(0, "a page is written to a file only; ./- is one of this name");
  const std::filesystem::path path(file);
  const std::string parent = path.parent_path().string();
  auto directory = Directory::open(parent.empty() ? "." : parent);
  if (!directory) return refused(directory.error().code, "");
  out.name_ = path.filename().string();
  struct stat status{};
  if (::fstatat(directory->fd(), out.name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(status.st_mode))
    return refused(0, "it is not a regular file");
  if (::faccessat(directory->fd(), ".", W_OK | X_OK, 0) != 0) return refused(errno, "");
  out.directory_ = std::move(*directory);
  return out;
}

int HtmlFile::write(const std::string& page, mode_t mode) const {
  if (!directory_) return Exit::ok;
  const auto done = directory_->replace_by_umask(name_, page, mode);
  return done ? Exit::ok : report_file(done.error());
}

}  // namespace rdtd
