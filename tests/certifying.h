// Functions that tests of certificates share.
#pragma once

#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "tests/engine_levels.h"

namespace ouro::oracle {

inline const std::vector<Level>& all_levels() {
  static const std::vector<Level> kLevels(kDecidableLevels.begin(), kDecidableLevels.end());
  return kLevels;
}

inline bool accepted(const History& history, const Certificate& certificate) {
  const auto checked = certify(history, certificate);
  return checked.ok() && checked->accepted;
}
inline bool accepted(const History& history, const Verdict& verdict) {
  return accepted(history, make_certificate(history, verdict));
}

// Why the certificate of the verdict, written and read again, is not accepted; or "".
inline std::string complaint_about_proof(const History& history, const Verdict& verdict,
                                         std::int64_t clock_drift = 0) {
  const std::string text = print_certificate(make_certificate(history, verdict, clock_drift));
  const std::string name(info(verdict.level).name);
  const auto certificate = parse_certificate(text);
  if (!certificate.ok()) return name + ": " + certificate.error().to_string() + "\n" + text;
  const auto checked = certify(history, *certificate);
  if (!checked.ok()) return name + ": " + checked.error().to_string();
  if (!checked->accepted) return name + ": " + checked->reason + "\n" + text;
  if (print_certificate(*certificate) != text) return name + ": prints differently\n" + text;
  return "";
}

inline Verdict timeline_verdict(const History& history, Level level) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  return *check(history, level, options);
}

}  // namespace ouro::oracle
