#include "serve/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/half_written.h"
#include "base/system_error.h"

namespace ouro::serving {
namespace {

constexpr std::string_view kSeal = "checksum ";

}  // namespace

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Status sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return system_error(path, "cannot sync this folder");
  Status status;
  if (::fsync(folder) != 0) status = system_error(path, "cannot sync this folder");
  ::close(folder);
  return status;
}

Status replace_file(const std::string& path, const std::string& content) {
  HalfWritten part(path + ".part");
  const int file = ::open(part.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return system_error(path, "cannot write");
  const bool written =
      ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fdatasync(file) == 0;
  ::close(file);
  if (!written || !part.finish(path)) return system_error(path, "cannot write");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return sync_folder(folder.empty() ? "." : folder);
}

Status write_sealed(const std::string& path, const std::string& text) {
  return replace_file(path, fmt::format("{}{}{:08x}\n", text, kSeal, crc32_of(text)));
}

SealedText read_sealed(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem) && !problem) return {};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream found;
  if (!file || !(found << file.rdbuf())) return {SealedText::State::Damaged, {}};
  std::string text = found.str();
  const std::size_t seal = text.rfind(kSeal);
  if (seal == text.npos || (seal > 0 && text[seal - 1] != '\n')) {
    return {SealedText::State::Unsealed, std::move(text)};
  }
  const std::string said = text.substr(seal);
  text.resize(seal);
  const bool whole = said == fmt::format("{}{:08x}\n", kSeal, crc32_of(text));
  return {whole ? SealedText::State::Whole : SealedText::State::Damaged, std::move(text)};
}

Error damaged_file(const std::string& path, std::string_view what) {
  Error error;
  error.file = path;
  error.what = fmt::format(
      "{}; restore the folder from a backup, or keep what can be kept: --repair", what);
  return error;
}

}  // namespace ouro::serving
