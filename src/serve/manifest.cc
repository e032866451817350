#include "serve/manifest.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace ouro::serving {
namespace {

constexpr std::string_view kTitle = "ouro state 1";

// A name on one line: control characters and '%' as "%0a".
std::string percent_coded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || byte == '%') {
      out += fmt::format("%{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string percent_decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string print_manifest(const Manifest& manifest) {
  std::string text = fmt::format("{}\n", kTitle);
  std::istringstream settings(manifest.settings);
  for (std::string line; std::getline(settings, line);) text += fmt::format("setting {}\n", line);
  for (const std::uint64_t log : manifest.logs) text += fmt::format("log {}\n", log);
  for (const auto& [number, source] : manifest.sources) {
    const std::string saved = source.saved ? std::to_string(*source.saved) : "new";
    text += fmt::format("source {} {} {}\n", number, saved, percent_coded(source.name));
  }
  for (const std::uint32_t number : manifest.forgotten) {
    text += fmt::format("forgotten {}\n", number);
  }
  if (manifest.counters) text += "counters\n";
  if (manifest.repairing) text += "repairing\n";
  return text;
}

std::optional<Manifest> parse_manifest(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!std::getline(lines, line) || line != kTitle) return std::nullopt;
  Manifest manifest;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string what;
    std::string rest;
    words >> what;
    if (what == "setting") {
      std::getline(words.ignore(1), rest);
      manifest.settings += rest + '\n';
    } else if (what == "log") {
      std::uint64_t number = 0;
      words >> number;
      manifest.logs.insert(number);
    } else if (what == "source") {
      std::uint32_t number = 0;
      std::string saved;
      words >> number >> saved;
      std::getline(words.ignore(1), rest);
      Manifest::Source& source = manifest.sources[number];
      source.name = percent_decoded(rest);
      if (saved != "new") source.saved = std::strtoull(saved.c_str(), nullptr, 10);
    } else if (what == "forgotten") {
      std::uint32_t number = 0;
      words >> number;
      manifest.forgotten.insert(number);
    } else if (what == "counters") {
      manifest.counters = true;
    } else if (what == "repairing") {
      manifest.repairing = true;
    } else {
      return std::nullopt;
    }
  }
  return manifest;
}

}  // namespace ouro::serving
