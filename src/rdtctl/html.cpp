#include "html.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "context.hpp"
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

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{0}</title>\n<style>\n"
      "body {{ font: 15px sans-serif; max-width: 50em; margin: 2em auto; }}\n"
      "svg {{ width: 100%; }}\ntext {{ font-size: 12px; }}\n"
      "circle, rect {{ fill: #2a6ebb; fill-opacity: 0.6; }}\n"
      "line {{ stroke: #b22; stroke-width: 2; }}\n"
      "polyline {{ stroke: #b22; stroke-width: 2; fill: none; }}\n"
      "td, th {{ padding: 0 0.8em 0 0; text-align: left; }}\n"
      "</style>\n</head>\n<body>\n<h1>{0}</h1>\n{1}</body>\n</html>\n",
      html_escaped(title), body);
}

std::string html_list(std::string_view heading, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", html_escaped(heading));
  for (const std::string& text : texts) out += fmt::format("<li>{}</li>\n", html_escaped(text));
  return out + "</ul>\n";
}

namespace {

// The directory of the file, which is made or replaced in it: never opened through a link that
// somebody else has put there.
Result<Directory> directory_of(const std::string& file) {
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  return Directory::open(parent.empty() ? "." : parent.string());
}

}  // namespace

int check_html(const std::string& file) {
  if (file.empty()) return Exit::ok;
  struct stat status{};
  if (::lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return report_file({"write", file, 0, "it is not a regular file"});
  const auto directory = directory_of(file);
  if (!directory) return report_file({"write", file, directory.error().code, {}});
  if (::access(directory->path().c_str(), W_OK | X_OK) == 0) return Exit::ok;
  return report_file({"write", file, errno, {}});
}

int write_html(const std::string& file, const std::string& page) {
  if (file.empty()) return Exit::ok;
  const auto directory = directory_of(file);
  if (!directory) return report_file(directory.error());
  const auto done = directory->replace(std::filesystem::path(file).filename().string(), page);
  return done ? Exit::ok : report_file(done.error());
}

}  // namespace rdtd
