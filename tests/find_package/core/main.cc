// Reads, checks, certifies and explains a history with the core alone: two clerks sell from the
// same stock, and one sale is lost.

#include <cstdio>
#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/report.h"
#include "ouro/stream.h"

int main() {
  const auto history =
      ouro::parse_history(R"({"session":"shop","ops":[["w","stock",10]]})"
                          "\n"
                          R"({"session":"clerk 1","ops":[["r","stock",10],["w","stock",9]]})"
                          "\n"
                          R"({"session":"clerk 2","ops":[["r","stock",10],["w","stock",8]]})"
                          "\n");
  if (!history.ok()) {
    std::printf("%s\n", history.error().to_string().c_str());
    return 1;
  }
  const auto verdict = ouro::check(*history, ouro::Level::Si);
  if (!verdict.ok()) return 1;
  const auto checked = ouro::certify(*history, ouro::make_certificate(*history, *verdict));
  if (!checked.ok() || !checked->accepted || !ouro::Stream::open({}).ok()) return 1;
  const std::string report = ouro::describe(*history, *verdict);
  std::printf("%s", report.c_str());
  return verdict->outcome == ouro::Outcome::Violated && report.find("lost update") != report.npos
             ? 0
             : 1;
}
