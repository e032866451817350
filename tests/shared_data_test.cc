// The real histories: every row of VERDICTS.tsv loads with the stated number of transactions, is
// detected as what it is and as nothing else, and gets the stated verdicts.
//
// A part of the collection is bundled, with a VERDICTS.tsv of its own; the whole lies beside the
// project and is tested too where it is.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "format/registry.h"
#include "history/columns.h"
#include "ouro/asked_levels.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/certifying.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

struct Row {
  std::filesystem::path folder;
  std::string path, format, txns;
  std::array<std::string, 5> verdicts;  // At kStatedLevels.
};
constexpr std::array kStatedLevels = {Level::ReadCommitted, Level::ReadAtomic, Level::Causal,
                                      Level::SessionSi, Level::SessionSerializable};

// What the collection calls a format, and which of ours that is. Detect: it is tested apart or not
// at all, for the reason given.
struct Kind {
  Format format = Format::Detect;
  std::string_view why_none;
};
const std::map<std::string, Kind> kKinds = {
    {"dbcop bincode", {Format::DbcopBincode, ""}},
    {"dbcop bincode (dup values)", {Format::DbcopBincode, ""}},
    {"dbcop YAML", {Format::DbcopYaml, ""}},
    {"cobra log dir", {Format::Cobra, ""}},
    {"cobra log dir (dup values)", {Format::Cobra, ""}},
    {"text", {Format::Plume, ""}},
    {"text r/w(k,v,s,t)", {Format::Plume, ""}},
    {"AWDIT test text", {Format::AwditText, ""}},
    {"viper JSON-lines dir", {Format::Viper, ""}},
    {"EDN list-append", {Format::JepsenEdn, ""}},
    {"EDN rw-register", {Format::JepsenEdn, ""}},
    {"elle-cli JSON list-append", {Format::JepsenJson, ""}},
    {"elle-cli JSON rw-register", {Format::JepsenJson, ""}},
    {"TimeKiller JSON kv", {Format::Chronos, ""}},
    {"TimeKiller JSON list", {Format::Chronos, ""}},
    {".polyg", {Format::Detect, "a constraint graph, no history"}},
    {"EDN long-fork", {Format::Detect, "see OtherModelsOfJepsenGetTheirVerdicts"}},
    {"EDN/JSON (other Jepsen model)", {Format::Detect, "see OtherModelsOfJepsenGetTheirVerdicts"}},
};

// Formats whose rows are left out as long as they have no reader; with one, they join in.
constexpr std::array kReaderMayBeMissing = {Format::JepsenEdn, Format::JepsenJson, Format::Chronos};

// The bundled histories, and the collection if it is there: beside the project or, seen from a
// worktree, beside its parent.
std::vector<std::filesystem::path> data_folders() {
  std::vector<std::filesystem::path> folders = {OURO_SOURCE_DIR "/tests/data"};
  for (const char* shared : {"/../shared/data", "/../../shared/data"}) {
    const std::filesystem::path folder = OURO_SOURCE_DIR + std::string(shared);
    if (folders.size() == 1 && std::filesystem::exists(folder / "VERDICTS.tsv")) {
      folders.push_back(folder);
    }
  }
  if (folders.size() == 1) {
    std::cout << "../shared/data is missing; testing the bundled histories only\n";
  }
  return folders;
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (const std::filesystem::path& folder : data_folders()) {
    std::ifstream file(folder / "VERDICTS.tsv");
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "path\tformat\ttxns\trc\tra\tcc\tsession-si\tsession-ser\tnote") << folder;
    const std::size_t before = rows.size();
    while (std::getline(file, line)) {
      std::vector<std::string> cells;
      std::string cell;
      for (std::istringstream in(line); std::getline(in, cell, '\t');) cells.push_back(cell);
      cells.resize(9);
      rows.push_back({folder,
                      cells[0],
                      cells[1],
                      cells[2],
                      {cells[3], cells[4], cells[5], cells[6], cells[7]}});
    }
    EXPECT_GE(rows.size() - before, 14u) << folder;
  }
  return rows;
}

std::string path_of(const Row& row) {
  std::string path = (row.folder / row.path).lexically_normal().string();
  while (path.ends_with('/')) path.pop_back();
  return path;
}

bool has_reader(Format format) {
  const auto all = format_table();
  return std::any_of(all.begin(), all.end(),
                     [&](const FormatEntry& entry) { return entry.info.format == format; });
}

// The rows that a reader exists for; complains of rows that are neither that nor excused.
std::vector<Row> readable_rows() {
  std::vector<Row> readable;
  for (const Row& row : rows()) {
    const auto kind = kKinds.find(row.format);
    if (kind == kKinds.end()) {
      ADD_FAILURE() << row.path << ": no entry for the format '" << row.format << "'";
    } else if (kind->second.format == Format::Detect) {
      EXPECT_FALSE(kind->second.why_none.empty());
    } else if (has_reader(kind->second.format)) {
      readable.push_back(row);
    } else {
      EXPECT_TRUE(std::find(kReaderMayBeMissing.begin(), kReaderMayBeMissing.end(),
                            kind->second.format) != kReaderMayBeMissing.end())
          << row.path << ": no reader for '" << row.format << "'";
    }
  }
  return readable;
}

bool has_duplicate_values(const Row& row) {
  return row.format.find("dup values") != std::string::npos;
}

std::size_t committed(const History& history) {
  const auto& status = columns_of(history).txn_status;
  return static_cast<std::size_t>(std::count(status.begin(), status.end(), TxnStatus::Committed));
}

// The names of the formats that claim what lies at `path`.
std::set<std::string_view> claimants(const std::string& path) {
  std::set<std::string_view> names;
  const bool folder = std::filesystem::is_directory(path);
  std::string head;
  if (!folder) {
    auto input = Input::open(path);
    EXPECT_TRUE(input.ok()) << path;
    if (input.ok()) head = input->head();
  }
  for (const FormatEntry& entry : format_table()) {
    const bool claims = folder ? entry.detect_folder != nullptr && entry.detect_folder(path)
                               : entry.detect != nullptr && entry.detect(head);
    if (claims) names.insert(entry.info.name);
  }
  return names;
}

bool writes_a_value_twice(const History& history) {
  std::vector<KeyVersion> written;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Write) written.push_back({op.key, op.value});
  }
  std::sort(written.begin(), written.end());
  return std::adjacent_find(written.begin(), written.end()) != written.end();
}

TEST(SharedDataTest, EveryHistoryLoadsWithItsNumberOfTransactions) {
  for (const Row& row : readable_rows()) {
    if (kSlowdown > 1 && std::atoll(row.txns.c_str()) > 20'000) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(std::to_string(committed(*history)), row.txns) << row.path;
  }
}

TEST(SharedDataTest, EveryHistoryIsDetectedAsWhatItIsAndNothingElse) {
  for (const Row& row : rows()) {
    const auto kind = kKinds.find(row.format);
    ASSERT_NE(kind, kKinds.end()) << row.format;
    const Format format = kind->second.format;
    std::set<std::string_view> expected;
    if (format != Format::Detect && has_reader(format)) expected.insert(info(format).name);
    std::set<std::string_view> found = claimants(path_of(row));
    // The Jepsen readers may know a file of theirs by sight and still refuse its model.
    if (format == Format::Detect && row.format.starts_with("EDN")) {
      found.erase("jepsen-edn");
      found.erase("jepsen-json");
      found.erase("edn");
      found.erase("elle-json");
    }
    EXPECT_EQ(found, expected) << row.path;
  }
}

TEST(SharedDataTest, ThreadsDoNotChangeAHistory) {
  std::map<std::string, int> seen;
  for (const Row& row : readable_rows()) {
    if (++seen[row.format] > 2) continue;
    std::array<std::string, 2> printed;
    for (const unsigned threads : {1u, 3u}) {
      const auto history = read_history(path_of(row), {.threads = threads});
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      ASSERT_TRUE(print_history(*history, Format::Native, printed[threads / 2]).ok());
    }
    EXPECT_EQ(printed[0], printed[1]) << row.path;
  }
}

TEST(SharedDataTest, VerdictsAreTheStatedOnes) {
  std::size_t checked = 0;
  for (const Row& row : readable_rows()) {
    // With sanitizers the large ones are left out.
    if (std::atoll(row.txns.c_str()) > (kSlowdown == 1 ? 60'000 : 600)) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    auto stated = row.verdicts;
    // The collection's README says that both hold, and that only real time is violated; the zeros
    // in the table are those of strong-si and strict-serializable.
    if (row.path == "elle/huge-scc/huge-scc.edn.zst") stated[3] = stated[4] = "1";
    for (std::size_t i = 0; i < kStatedLevels.size(); ++i) {
      if (stated[i] == "?") continue;
      const auto verdict = check(*history, kStatedLevels[i]);
      ASSERT_TRUE(verdict.ok()) << row.path << ": " << verdict.error().to_string();
      EXPECT_EQ(verdict->outcome, stated[i] == "1" ? Outcome::Holds : Outcome::Violated)
          << row.path << " at " << info(kStatedLevels[i]).name;
      ++checked;
    }
  }
  EXPECT_GE(checked, 14 * kStatedLevels.size());
}

// The collection states none for these. The models are told by what the files have in them, and
// give the level.
TEST(SharedDataTest, OtherModelsOfJepsenGetTheirVerdicts) {
  struct Stated {
    Level level;
    Outcome outcome;
  };
  const std::map<std::string, Stated> kStated = {
      {"elle-cli/bank/bank.edn", {Level::Serializable, Outcome::Holds}},
      {"elle-cli/bank-json/bank.json", {Level::Serializable, Outcome::Holds}},
      {"elle-cli/bank-neg/bank-neg.edn", {Level::Serializable, Outcome::Holds}},
      {"elle-cli/counter/counter.edn", {Level::StrictSerializable, Outcome::Holds}},
      {"elle-cli/set/set.edn", {Level::StrictSerializable, Outcome::Holds}},
      {"elle-cli/cas-memstress3-9/memstress3-9.edn", {Level::StrictSerializable, Outcome::Holds}},
      {"elle-cli/cas-rethink-fail-minimal/rethink-fail-minimal.edn",
       {Level::StrictSerializable, Outcome::Violated}},
      {"elle-cli/long-fork/long-fork.edn", {Level::Serializable, Outcome::Violated}},
  };
  for (const Row& row : rows()) {
    const bool model = row.format == "EDN long-fork" || row.format.ends_with("Jepsen model)");
    if (!model) continue;
    const auto stated = kStated.find(row.path);
    ASSERT_NE(stated, kStated.end()) << row.path;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(usual_level(*history, Evidence::Observed), stated->second.level) << row.path;
    const auto verdict = check(*history, stated->second.level);
    ASSERT_TRUE(verdict.ok()) << row.path << ": " << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, stated->second.outcome) << row.path;
    EXPECT_EQ(oracle::complaint_about_proof(*history, *verdict), "") << row.path;
  }
}

// The collection does not know what these satisfy. Whatever it is, it is decided and proven.
TEST(SharedDataTest, HistoriesWithRepeatedValuesAreDecidedAndProven) {
  for (const Row& row : readable_rows()) {
    const bool open = std::count(row.verdicts.begin(), row.verdicts.end(), "?") > 0;
    if (!open || !has_duplicate_values(row)) continue;
    if (kSlowdown > 1 && std::atoll(row.txns.c_str()) > 600) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    for (const Level level : kStatedLevels) {
      const auto verdict = check(*history, level);
      ASSERT_TRUE(verdict.ok()) << row.path << ": " << verdict.error().to_string();
      EXPECT_NE(verdict->outcome, Outcome::Undecided) << row.path << " at " << info(level).name;
      EXPECT_EQ(oracle::complaint_about_proof(*history, *verdict), "")
          << row.path << " at " << info(level).name;
    }
  }
}

// The collection states them as the outcome of a replay by timestamps; serializable is another
// matter there, since the databases run snapshot isolation.
TEST(SharedDataTest, HistoriesWithTimestampsHoldByThemAtTheStatedLevel) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  for (const Row& row : readable_rows()) {
    if (!row.format.starts_with("TimeKiller")) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    for (const Level level : {Level::Si, Level::SessionSi}) {
      const auto verdict = check(*history, level, options);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      EXPECT_EQ(row.verdicts[3], "1") << row.path;
      EXPECT_EQ(verdict->outcome, Outcome::Holds) << row.path << " at " << info(level).name;
    }
    const auto serial = check(*history, Level::SessionSerializable, options);
    ASSERT_TRUE(serial.ok()) << serial.error().to_string();
    EXPECT_EQ(serial->outcome, Outcome::Violated) << row.path;
  }
}

TEST(SharedDataTest, OnlyTheHistoriesMarkedSoWriteAValueTwice) {
  // Recorded like its siblings, but no value happens to repeat within a key.
  const std::set<std::string> marked_in_vain = {"veristrong/fig13/tpcc-10k/"};
  for (const Row& row : readable_rows()) {
    if (kSlowdown > 1 && std::atoll(row.txns.c_str()) > 600) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(writes_a_value_twice(*history),
              has_duplicate_values(row) && !marked_in_vain.contains(row.path))
        << row.path;
  }
}

// A file that leaves nothing out is written back byte by byte.
TEST(SharedDataTest, DbcopFilesAreWrittenBackAsTheyWere) {
  std::size_t same = 0;
  for (const Row& row : readable_rows()) {
    if (kKinds.at(row.format).format != Format::DbcopBincode) continue;
    if (kSlowdown > 1 && std::atoll(row.txns.c_str()) > 600) continue;
    auto input = Input::open(path_of(row));
    ASSERT_TRUE(input.ok());
    const auto bytes = input->read_all();
    const auto history = parse_history(*bytes);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    std::string printed;
    const auto report = print_history(*history, Format::DbcopBincode, printed);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    if (report->warnings.empty()) {
      EXPECT_EQ(printed == *bytes, true) << row.path;
      ++same;
    } else {
      EXPECT_EQ(report->warnings,
                std::vector<std::string>{"the remark 'failed_events' is left out"})
          << row.path;
    }
  }
  std::cout << same << " files are the same\n";
}

// Registers with numbers for names survive the formats that know nothing else.
TEST(SharedDataTest, RegisterHistoriesSurviveARoundTrip) {
  std::map<std::string, int> seen;
  for (const Row& row : readable_rows()) {
    const Format from = kKinds.at(row.format).format;
    if (from != Format::Plume && from != Format::DbcopBincode && from != Format::Cobra) continue;
    if (++seen[row.format] > 3) continue;
    const auto history = read_history(path_of(row));
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    for (const Format to : {Format::Plume, Format::DbcopBincode}) {
      std::string first;
      ASSERT_TRUE(print_history(*history, to, first).ok()) << row.path;
      const auto again = parse_history(first);
      ASSERT_TRUE(again.ok()) << row.path << ": " << again.error().to_string();
      EXPECT_EQ(committed(*again), committed(*history)) << row.path;
      EXPECT_EQ(again->op_count(), history->op_count()) << row.path;
      std::string second;
      const auto report = print_history(*again, to, second);
      ASSERT_TRUE(report.ok()) << report.error().to_string();
      EXPECT_TRUE(report->warnings.empty()) << row.path << ": " << report->warnings[0];
      EXPECT_TRUE(first == second) << row.path << " as " << info(to).name;
      if (to != from) continue;
      std::array<std::string, 2> texts;
      ASSERT_TRUE(print_history(*history, Format::Native, texts[0]).ok());
      ASSERT_TRUE(print_history(*again, Format::Native, texts[1]).ok());
      const bool failed_events = texts[0].find("\"failed_events\"") != std::string::npos;
      EXPECT_TRUE(failed_events || texts[0] == texts[1]) << row.path;
    }
  }
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace ouro
