#include "serve/input_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
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

// As a length, which records of the version before begin with, it would be too large.
constexpr std::uint32_t kMark = 0xf5324c4f;
constexpr std::size_t kFrameBytes = 12;    // Mark, length and checksum.
constexpr std::size_t kOldFrameBytes = 8;  // Length and checksum.
// A larger length is damage: batches are smaller.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{3} << 30;

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Of a record: of the length of its content, and of the content.
std::uint32_t checksum_of_record(std::string_view content) {
  std::string length;
  put(length, static_cast<std::uint32_t>(content.size()));
  return checksum(content, checksum(length));
}

// Whether a record says which source it is about.
bool has_source(LogRecord::Kind kind) {
  using Kind = LogRecord::Kind;
  return kind == Kind::SourceBatch || kind == Kind::Source || kind == Kind::Doubt;
}

void encode(const LogRecord& record, std::string& out) {
  put(out, static_cast<std::uint8_t>(record.kind));
  if (has_source(record.kind)) put(out, record.source);
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
  if (has_source(record.kind)) decoder.take(record.source);
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

// Reads the records of one file.
class LogReader {
 public:
  LogReader(int file, const std::string& path, std::uint64_t size)
      : file_(file), path_(path), size_(size) {}

  Result<std::uint64_t> read(const std::function<Status(const LogRecord&)>& visit,
                             std::vector<LostPart>* lost) {
    std::uint64_t at = 0;
    bool marked = false;  // The last record had a mark, so that later ones must have one, too.
    while (at < size_) {
      const auto seen = look(at);
      if (!seen.ok()) return seen.error();
      if (*seen == Seen::Record) {
        if (auto visited = visit(record_); !visited) return visited.error();
        marked = frame_ == kFrameBytes;
        at += frame_ + content_.size();
        continue;
      }
      if (*seen == Seen::Blank) return at;
      const auto next = record_after(at);
      if (!next.ok()) return next.error();
      const bool damaged = *seen == Seen::Damaged || *next < size_ || disguised(at, marked);
      if (!damaged) return at;
      if (lost == nullptr) return damaged_log(path_, at);
      lost->push_back({at, *next});
      at = *next;
    }
    return size_;
  }

 private:
  enum class Seen {
    Record,   // It is in record_.
    Cut,      // The file ends before the record, or its length is wrong.
    Blank,    // A sector was never written.
    Damaged,  // It is wholly there, and not what was written.
  };

  // What there is at a byte of the file. Its content is in content_, and frame_ bytes before that.
  Result<Seen> look(std::uint64_t at) {
    const auto head = bytes_at(at, kFrameBytes);
    if (!head.ok()) return head.error();
    const std::string_view frame = *head;
    if (frame.substr(0, 4).find_first_not_of('\0') == frame.npos) return Seen::Blank;
    if (frame.size() < 4) return Seen::Cut;
    const bool marked = load_little_endian<std::uint32_t>(frame.data()) == kMark;
    frame_ = marked ? kFrameBytes : kOldFrameBytes;
    if (frame.size() < frame_) return Seen::Cut;
    const auto length = load_little_endian<std::uint32_t>(frame.data() + frame_ - 8);
    const auto sum = load_little_endian<std::uint32_t>(frame.data() + frame_ - 4);
    if (length == 0 || length > kMaxRecordBytes || length > size_ - at - frame_) return Seen::Cut;
    auto content = bytes_at(at + frame_, length);
    if (!content.ok()) return content.error();
    content_ = *std::move(content);
    if (sum == (marked ? checksum_of_record(content_) : checksum(content_))) {
      return decode(content_, record_) ? Seen::Record : Seen::Damaged;
    }
    return has_blank_sector(content_, at + frame_) ? Seen::Blank : Seen::Damaged;
  }

  // Where the next record begins that has a mark and is whole; if there is none, the end.
  Result<std::uint64_t> record_after(std::uint64_t at) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    std::string mark;
    put(mark, kMark);
    for (std::uint64_t from = at + 1; from < size_; from += kPiece) {
      // Pieces overlap, so that no mark lies across their border.
      const auto piece = bytes_at(from, kPiece + mark.size() - 1);
      if (!piece.ok()) return piece.error();
      for (std::size_t i = piece->find(mark); i != piece->npos; i = piece->find(mark, i + 1)) {
        const auto seen = look(from + i);
        if (!seen.ok()) return seen.error();
        if (*seen == Seen::Record) return from + i;
      }
    }
    return size_;
  }

  // Whether what looks like a record that was cut is a whole one with a damaged mark or length. It
  // is the last one.
  bool disguised(std::uint64_t at, bool after_marked) {
    const auto rest = bytes_at(at, kFrameBytes);
    if (!rest.ok() || rest->size() < 4) return false;
    if (load_little_endian<std::uint32_t>(rest->data()) != kMark && after_marked) return true;
    if (rest->size() < kFrameBytes) return false;
    const auto sum = load_little_endian<std::uint32_t>(rest->data() + 8);
    const auto length = load_little_endian<std::uint32_t>(rest->data() + 4);
    for (const std::uint64_t size : {std::uint64_t{length}, size_ - at - kFrameBytes}) {
      if (size > size_ - at - kFrameBytes || size > kMaxRecordBytes) continue;
      const auto content = bytes_at(at + kFrameBytes, size);
      if (content.ok() && size > 0 && checksum_of_record(*content) == sum) return true;
    }
    return false;
  }

  // Up to `size` bytes; fewer at the end of the file.
  [[nodiscard]] Result<std::string> bytes_at(std::uint64_t at, std::uint64_t size) const {
    std::string bytes(std::min(size, size_ - std::min(at, size_)), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pread(file_, bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error(path_, "cannot read the input log");
      if (count == 0) bytes.resize(done);
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

  int file_;
  const std::string& path_;
  std::uint64_t size_;
  std::size_t frame_ = 0;
  std::string content_;
  LogRecord record_;
};

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
  put(head, kMark);
  put(head, static_cast<std::uint32_t>(content.size()));
  put(head, checksum_of_record(content));
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

Error damaged_log(const std::string& path, std::uint64_t at) {
  Error error;
  error.file = path;
  error.what = fmt::format(
      "damaged at byte {}; restore the folder from a backup, or keep what can be kept: --repair",
      at);
  return error;
}

Result<std::uint64_t> read_log(const std::string& path,
                               const std::function<Status(const LogRecord&)>& visit,
                               std::vector<LostPart>* lost) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (file < 0 || ::fstat(file, &facts) != 0) {
    return system_error(path, "cannot read the input log");
  }
  auto whole = LogReader(file, path, static_cast<std::uint64_t>(facts.st_size)).read(visit, lost);
  ::close(file);
  return whole;
}

}  // namespace ouro::serving
