// Any bytes as a certificate: an error or a certificate, never more. One that was read is judged
// against a small history, whatever it claims, and printed and read again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ouro/certificate.h"
#include "ouro/format.h"

namespace {

constexpr std::string_view kHistory =
    R"({"session":"a","invoked":1,"completed":2,"start_ts":1,"commit_ts":2,"ops":)"
    R"([["r","x",null],["w","x",1],["append","l",1]]}
{"session":"a","invoked":3,"completed":4,"start_ts":2,"commit_ts":5,"ops":)"
    R"([["r","x",null],["w","x",2],["r","l",[1,2]]]}
{"session":"b","status":"unknown","start_ts":3,"commit_ts":4,"ops":[["append","l",2],["r","x",1]]}
{"session":"c","status":"aborted","ops":[["w","x",3]]}
{"session":"c","start_ts":7,"commit_ts":6,"ops":[["r","x",2],["w","y",5]]}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ouro::History history =
      *ouro::parse_history(kHistory, {.format = ouro::Format::Native, .threads = 1});
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto certificate = ouro::parse_certificate(bytes);
  if (!certificate.ok()) return 0;
  if (!ouro::parse_certificate(ouro::print_certificate(*certificate)).ok()) __builtin_trap();
  certificate->fingerprint = ouro::fingerprint(history);
  certificate->txns = history.txn_count();
  certificate->ops = history.op_count();
  const auto checked = ouro::certify(history, *certificate);
  if (!checked.ok()) __builtin_trap();  // The history is unambiguous.
  return 0;
}
