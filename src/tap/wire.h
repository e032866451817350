// The messages of PostgreSQL's protocol 3, as bytes.
//
// After the first message of a client every message is one byte that says what it is, four bytes
// of length, and a body. Here: cutting a stream of bytes into messages, reading bodies, and making
// the few messages that the tap sends itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ouro::tapping {

// What the first message of a connection asks for.
inline constexpr std::int32_t kProtocol3 = 196608;
inline constexpr std::int32_t kCancelRequest = 80877102;
inline constexpr std::int32_t kTlsRequest = 80877103;
inline constexpr std::int32_t kGssRequest = 80877104;

// A piece of a stream: a message, or part of one that is too large to be looked at.
struct Piece {
  enum class Kind : std::uint8_t {
    Message,  // A whole message.
    Begin,    // The beginning of a message that is too large; `body` is empty.
    More,     // The next part of that message.
  };
  Kind kind = Kind::Message;
  char type = 0;
  std::string_view body;
  std::string_view bytes;  // All of it, to be passed on.
};

// Cuts a stream into pieces.
class MessageReader {
 public:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;  // Bytes of a whole message.

  void add(std::string_view bytes);
  // The next piece; nothing if more bytes must come first. Its views are valid until the next call
  // of add().
  [[nodiscard]] std::optional<Piece> next();
  // The bytes that came and are in no piece yet; what comes is no message of the protocol.
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(at_); }
  // Whether a length was met that no message can have.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;    // Bytes before it are in pieces.
  std::size_t more_ = 0;  // Bytes left of a message that is too large.
  char type_ = 0;         // Its type.
  bool broken_ = false;
};

// Reads the body of a message from its beginning. Reading more than there is gives zeros and makes
// ok() false.
class Body {
 public:
  explicit Body(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  char byte();
  std::int16_t int16();
  std::int32_t int32();
  std::string_view text();  // Up to a zero byte, which is skipped.
  std::string_view bytes(std::size_t count);

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void put_int16(std::string& out, std::int16_t number);
void put_int32(std::string& out, std::int32_t number);
void put_int64(std::string& out, std::int64_t number);
// Appends a message.
void put_message(std::string& out, char type, std::string_view body);
// Appends messages that run one statement without parameters in a cycle of its own. They use a
// prepared statement and a portal called `name`, which are gone afterwards, so that the client's
// unnamed ones stay as they are.
void put_statement(std::string& out, std::string_view name, std::string_view sql);
// Appends an error that a server would send before it closes a connection.
void put_fatal(std::string& out, std::string_view code, std::string_view message);

}  // namespace ouro::tapping
