#include "serve/input_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/byte_order.h"
#include "base/system_error.h"

namespace ouro::serving {
namespace {

template <class Number>
void put(std::string& out, Number number) {
  append_little_endian<Number>(out, number);
}

constexpr std::size_t kFrameBytes = 8;  // Length and checksum.
// A larger length is damage: batches are smaller.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{3} << 30;

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void encode(const LogRecord& record, std::string& out) {
  put(out, static_cast<std::uint8_t>(record.kind));
  if (record.kind >= LogRecord::Kind::SourceBatch) put(out, record.source);
  if (record.kind == LogRecord::Kind::Doubt) put(out, static_cast<std::uint8_t>(record.scope));
  put(out, record.time);
  put(out, record.txns);
  put_text(out, record.id.client);
  put(out, record.id.number);
  put_text(out, record.position.path);
  put(out, record.position.device);
  put(out, record.position.inode);
  put(out, record.position.offset);
  out += record.history;
}

// Takes numbers and texts off the front of a record. If something is missing, ok() turns false and
// nothing is left.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  void take(Number& number) {
    if (bytes_.size() < sizeof(Number)) return fail();
    number = load_little_endian<Number>(bytes_.data());
    bytes_.remove_prefix(sizeof(Number));
  }
  void take_text(std::string& text) {
    std::uint32_t size = 0;
    take(size);
    if (bytes_.size() < size) return fail();
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  [[nodiscard]] std::string_view rest() const { return bytes_; }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  void fail() {
    ok_ = false;
    bytes_ = {};
  }
  std::string_view bytes_;
  bool ok_ = true;
};

bool decode(std::string_view bytes, LogRecord& record) {
  Decoder decoder(bytes);
  std::uint8_t kind = 0;
  decoder.take(kind);
  record.kind = static_cast<LogRecord::Kind>(kind);
  if (record.kind >= LogRecord::Kind::SourceBatch) decoder.take(record.source);
  std::uint8_t scope = 0;
  if (record.kind == LogRecord::Kind::Doubt) decoder.take(scope);
  record.scope = static_cast<Doubt::Scope>(scope);
  decoder.take(record.time);
  decoder.take(record.txns);
  decoder.take_text(record.id.client);
  decoder.take(record.id.number);
  decoder.take_text(record.position.path);
  decoder.take(record.position.device);
  decoder.take(record.position.inode);
  decoder.take(record.position.offset);
  record.history = decoder.rest();
  return decoder.ok() && kind >= 1 && kind <= static_cast<std::uint8_t>(LogRecord::Kind::Doubt) &&
         record.scope <= Doubt::Scope::Everything;
}

// Reads exactly `size` bytes; false at the end of the file.
Result<bool> read_exactly(int file, const std::string& path, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::read(file, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "cannot read the input log");
    if (count == 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Whether a crash of the machine can have left this part of a file, which begins at byte `at`: a
// sector of it was never written, and is zero.
bool has_blank_sector(std::string_view bytes, std::uint64_t at) {
  constexpr std::uint64_t kSector = 512;
  while (!bytes.empty()) {
    const auto size = static_cast<std::size_t>(kSector - at % kSector);
    const std::string_view part = bytes.substr(0, size);
    if (part.find_first_not_of('\0') == part.npos) return true;
    at += part.size();
    bytes.remove_prefix(part.size());
  }
  return false;
}

Error damaged_log(const std::string& path, std::uint64_t at) {
  Error error;
  error.file = path;
  error.what = fmt::format(
      "damaged at byte {}; restore the folder from a backup, or move it away to begin anew", at);
  return error;
}

Result<std::uint64_t> read_records(int file, const std::string& path,
                                   const std::function<Status(const LogRecord&)>& visit) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return system_error(path, "cannot read the input log");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  std::uint64_t whole = 0;
  std::string content;
  for (;;) {
    char frame[kFrameBytes];
    const auto framed = read_exactly(file, path, frame, kFrameBytes);
    if (!framed.ok()) return framed.error();
    const auto length = load_little_endian<std::uint32_t>(frame);
    if (!*framed || length == 0 || length > kMaxRecordBytes ||
        length > size - whole - kFrameBytes) {
      return whole;
    }
    content.resize(length);
    const auto filled = read_exactly(file, path, content.data(), length);
    if (!filled.ok()) return filled.error();
    LogRecord record;
    const bool same = checksum(content) == load_little_endian<std::uint32_t>(frame + 4);
    if (!*filled || (!same && has_blank_sector(content, whole + kFrameBytes))) return whole;
    if (!same || !decode(content, record)) return damaged_log(path, whole);
    if (auto visited = visit(record); !visited) return visited.error();
    whole += kFrameBytes + length;
  }
}

}  // namespace

LogWriter::~LogWriter() {
  if (file_ >= 0) ::close(file_);
}

LogWriter::LogWriter(LogWriter&& other) noexcept { *this = std::move(other); }

LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(bytes_, other.bytes_);
  std::swap(buffer_, other.buffer_);
  std::swap(full_, other.full_);
  return *this;
}

Result<LogWriter> LogWriter::open(const std::string& path, std::uint64_t bytes) {
  LogWriter log;
  log.path_ = path;
  log.bytes_ = bytes;
  log.file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (log.file_ < 0 || ::ftruncate(log.file_, static_cast<off_t>(bytes)) != 0 ||
      ::lseek(log.file_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
    return system_error(path, "cannot write the input log");
  }
  return log;
}

void LogWriter::append(const LogRecord& record) {
  const std::size_t frame = buffer_.size();
  buffer_.append(kFrameBytes, '\0');
  encode(record, buffer_);
  const std::string_view content = std::string_view(buffer_).substr(frame + kFrameBytes);
  std::string head;
  put(head, static_cast<std::uint32_t>(content.size()));
  put(head, checksum(content));
  buffer_.replace(frame, kFrameBytes, head);
}

Status LogWriter::flush() {
  full_ = false;
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      full_ = errno == ENOSPC || errno == EDQUOT;
      Error error = system_error(path_, "cannot write the input log");
      bytes_ += done;
      buffer_.erase(0, done);
      return error;
    }
    done += static_cast<std::size_t>(count);
  }
  bytes_ += buffer_.size();
  buffer_.clear();
  if (buffer_.capacity() > (std::size_t{4} << 20)) buffer_.shrink_to_fit();
  return {};
}

Status LogWriter::sync() const {
  if (::fdatasync(file_) != 0) return system_error(path_, "cannot sync the input log");
  return {};
}

Result<std::uint64_t> read_log(const std::string& path,
                               const std::function<Status(const LogRecord&)>& visit) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_error(path, "cannot read the input log");
  auto whole = read_records(file, path, visit);
  ::close(file);
  return whole;
}

}  // namespace ouro::serving
