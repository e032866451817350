// Small files of the state folder, which are replaced in one step. Those with more than one reader
// between crashes are sealed: their last line is a checksum of the others.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro::serving {

// Replaces the content of `path` in one step: a crash leaves the old content or the new. Once it
// has returned, the new content survives a crash of the machine.
[[nodiscard]] Status replace_file(const std::string& path, const std::string& content);
// The same with a checksum behind `text`, which ends with a line break.
[[nodiscard]] Status write_sealed(const std::string& path, const std::string& text);

struct SealedText {
  enum class State : std::uint8_t {
    Missing,
    Whole,
    Unsealed,  // It has no checksum, as in folders of the version before.
    Damaged,
  };
  State state = State::Missing;
  std::string text;  // Without the checksum.
};
[[nodiscard]] SealedText read_sealed(const std::string& path);

// Makes it last that files of the folder were made, renamed or removed.
[[nodiscard]] Status sync_folder(const std::string& path);

[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);
// Whether a write failed because there is no room: on the disk, or by a limit for files.
[[nodiscard]] inline bool no_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Says that a file is missing or damaged, and what to do.
[[nodiscard]] Error damaged_file(const std::string& path, std::string_view what);

}  // namespace ouro::serving
