// Certificates of histories that were checked in segments; docs/certificates.md has the format.

#include <fmt/format.h>

#include <iterator>

#include "format/output.h"
#include "ouro/certificate.h"

namespace ouro {

struct SegmentsCertificateWriter::State {
  std::unique_ptr<Output> output;
  std::uint64_t sections = 0;
};

SegmentsCertificateWriter::SegmentsCertificateWriter() : state_(std::make_unique<State>()) {}
SegmentsCertificateWriter::~SegmentsCertificateWriter() = default;

Status SegmentsCertificateWriter::begin(const std::string& path, const SegmentsClaim& claim) {
  auto output = open_output(path);
  if (!output.ok()) return output.error();
  state_->output = *std::move(output);
  fmt::format_to(std::back_inserter(state_->output->buffer()),
                 R"({{"ouro-segments":1,"level":"{}","evidence":"observed","verdict":"holds",)"
                 R"("transactions":{},"operations":{},"clock_drift":{},"history":"{:016x}",)"
                 R"("segments":{}}})"
                 "\n",
                 info(claim.level).name, claim.txns, claim.ops, claim.clock_drift,
                 claim.fingerprint, claim.segments);
  return {};
}

Status SegmentsCertificateWriter::add(std::string_view section) {
  state_->output->buffer() += section;
  ++state_->sections;
  return state_->output->drain();
}

Status SegmentsCertificateWriter::finish() {
  fmt::format_to(std::back_inserter(state_->output->buffer()), "{{\"segments\":{}}}\n",
                 state_->sections);
  return state_->output->finish();
}

std::string print_section(const SegmentSection& section) {
  std::string out =
      fmt::format(R"({{"segment":[{},{}])", section.first + 1, section.end);
  const auto list = [&](std::string_view word, const std::vector<std::uint64_t>& places) {
    if (places.empty()) return;
    fmt::format_to(std::back_inserter(out), R"(,"{}":[)", word);
    for (std::size_t i = 0; i < places.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", places[i] + 1);
    }
    out += ']';
  };
  list("late", section.late);
  list("without", section.without);
  out += "}\n";
  return out + print_certificate(section.certificate);
}

}  // namespace ouro
