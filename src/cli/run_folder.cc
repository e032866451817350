#include "cli/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "ouro/format.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;

Error folder_error(const std::string& path, std::string_view what) {
  Error error;
  error.file = path;
  error.what = what;
  return error;
}

// A new folder of $TMPDIR; empty if it cannot be made, and errno says why.
std::string new_temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string name = base != nullptr && *base != '\0' ? base : "/tmp";
  name += "/ouro-run-XXXXXX";
  return ::mkdtemp(name.data()) == nullptr ? std::string() : name;
}

// The words that this process was started with.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

constexpr std::string_view kHidden = "***";
constexpr std::string_view kBlanks = " \t\r\n\"'`";

// Hides the passwords of addresses: scheme://user:password@host.
std::string without_address_passwords(std::string word) {
  std::size_t at = 0;
  while ((at = word.find("://", at)) != std::string::npos) {
    at += 3;
    const std::size_t end = std::min(word.find_first_of(kBlanks, at), word.size());
    const std::size_t path = std::min(word.find_first_of("/?#", at), end);
    std::size_t host = word.rfind('@', path);
    // A slash in the password, which should have been written as %2F.
    if (host == std::string::npos || host < at) host = std::min(word.find('@', at), end);
    const std::size_t colon = word.find(':', at);
    if (host >= end || colon >= host) continue;
    word.replace(colon + 1, host - colon - 1, kHidden);
    at = colon + 1;
  }
  return word;
}

// Where the value that starts at `at` ends. It may be in quotes; these have a backslash before them
// in a command within a command.
std::size_t value_end(const std::string& word, std::size_t at) {
  const std::string_view rest = std::string_view(word).substr(at);
  if (rest.starts_with("\\\"") || rest.starts_with("\\'")) {
    const std::size_t end = rest.find(rest.substr(0, 2), 2);
    return end == std::string_view::npos ? word.size() : at + end + 2;
  }
  if (at < word.size() && (word[at] == '\'' || word[at] == '"')) {
    const char quote = word[at];
    std::size_t end = at + 1;
    while (end < word.size() && word[end] != quote) end += word[end] == '\\' ? 2 : 1;
    return std::min(end + 1, word.size());
  }
  std::size_t end = at;
  while (end < word.size() && kBlanks.find(word[end]) == std::string_view::npos &&
         std::string_view("&;,)").find(word[end]) == std::string_view::npos) {
    end += word[end] == '\\' ? 2 : 1;
  }
  return std::min(end, word.size());
}

// The names of what nobody should read, in lower case.
constexpr std::string_view kSecrets[] = {"password", "passwd", "pwd",     "pass",  "passphrase",
                                         "secret",   "token",  "api_key", "apikey"};

std::string in_lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Whether `text` ends with such a name: "password", "--password", "PGPASSWORD".
bool names_secret(std::string_view text) {
  return std::any_of(std::begin(kSecrets), std::end(kSecrets),
                     [&](std::string_view secret) { return text.ends_with(secret); });
}

// Hides what follows "password=", and "--password " within a command.
std::string without_named_passwords(std::string word) {
  std::string lower = in_lower_case(word);
  for (std::size_t at = 0; at < word.size(); ++at) {
    std::size_t value = at + 1;
    if (word[at] == ' ') {
      const std::size_t flag = word.find_last_of(kBlanks, at == 0 ? 0 : at - 1);
      const std::size_t first = flag == std::string::npos ? 0 : flag + 1;
      if (word.compare(first, 2, "--") != 0 || first >= at) continue;
    } else if (word[at] != '=') {
      continue;
    }
    const std::size_t name_end = lower.find_last_not_of(' ', at - (at > 0 ? 1 : 0));
    if (at == 0 || name_end == std::string::npos) continue;
    if (!names_secret(std::string_view(lower).substr(0, name_end + 1))) continue;
    if (word[at] == '=') value = std::min(word.find_first_not_of(' ', value), word.size());
    const std::size_t end = value_end(word, value);
    if (end == value) continue;
    word.replace(value, end - value, kHidden);
    lower.replace(value, end - value, kHidden);
    at = value;
  }
  return word;
}

std::string without_password(std::string word) {
  return without_named_passwords(without_address_passwords(std::move(word)));
}

// Whether the word is a flag whose value, the next word, is a secret.
bool announces_secret(const std::string& word) {
  return word.starts_with('-') && names_secret(in_lower_case(word));
}

std::string quoted(const std::string& word) {
  const std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  bool secret = false;
  for (const std::string& word : arguments) {
    line += line.empty() ? "" : " ";
    line += secret ? std::string(kHidden) : quoted(without_password(word));
    secret = announces_secret(word);
  }
  return line;
}

RunFolder::~RunFolder() {
  if (path_.empty() || kept_) return;
  std::error_code ignored;
  if (made_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

Status RunFolder::make(const std::string& path) {
  if (path.empty()) {
    path_ = new_temporary_folder();
    made_ = !path_.empty();
    if (made_) return guard_.watch(path_.string());
    return folder_error("",
                        fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
  }
  std::error_code error;
  made_ = fs::create_directories(path, error);
  if (error) return folder_error(path, "cannot make this folder: " + error.message());
  const bool empty = fs::is_empty(path, error);
  if (error) return folder_error(path, "cannot look into this folder: " + error.message());
  if (!empty) return folder_error(path, "is not empty; name a new folder for what a run leaves");
  path_ = path;
  return made_ ? guard_.watch(fs::absolute(path, error).string()) : Status{};
}

Status RunFolder::keep(const std::string& history, std::string_view about) {
  kept_ = true;
  std::error_code error;
  if (history != this->history()) {
    fs::create_hard_link(history, this->history(), error);
    if (error) fs::copy_file(history, this->history(), error);  // On another disk, perhaps.
    if (error) return folder_error(this->history(), "cannot copy the history: " + error.message());
  }
  const std::string path = (path_ / "command.txt").string();
  return write_file(path, shell_line(own_arguments()) + '\n' + std::string(about));
}

}  // namespace ouro::cli
