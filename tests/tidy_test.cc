// Style as a test: every source of the repository, and bad inputs that each check must catch.

#include "tests/tidy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/files.h"

namespace ouro::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// Every C++ file of the project.
std::vector<Source> sources() {
  std::vector<Source> found;
  for (const char* folder : {"include", "src", "tests", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      found.push_back({fs::relative(entry.path(), kRoot).string(), slurp(entry.path())});
    }
  }
  return found;
}

std::string all(const Complaints& complaints) {
  std::string text;
  for (const std::string& complaint : complaints) text += complaint + '\n';
  return text;
}

template <class Check>
void expect_clean(Check check) {
  for (const Source& source : sources()) {
    const Complaints complaints = check(source.path, source.text);
    EXPECT_TRUE(complaints.empty()) << all(complaints);
  }
}

Sizes sizes_of(std::string_view text) {
  Sizes sizes;
  measure("src/base/x.cc", text, sizes);
  return sizes;
}

std::string function_of(int lines) {
  std::string text = "int f() {\n";
  for (int i = 2; i < lines; ++i) text += "  g();\n";
  return text + "}\n";
}

// The repository.

TEST(TidyTest, FindsTheSourcesItIsToCheck) {
  std::vector<std::string> paths;
  for (const Source& source : sources()) paths.push_back(source.path);
  EXPECT_THAT(paths, ::testing::IsSupersetOf({"include/ouro/history.h", "src/history/history.cc",
                                              "src/cli/main.cc", "tests/tidy_test.cc"}));
}

TEST(TidyTest, RoomsIncludeOnlyRoomsWithAnOpenDoor) { expect_clean(check_doors); }
TEST(TidyTest, NoTwoFoldersIncludeEachOther) {
  const Complaints complaints = check_folder_cycles(sources());
  EXPECT_TRUE(complaints.empty()) << all(complaints);
}

TEST(TidyTest, TheLibraryNeitherPrintsNorExits) { expect_clean(check_silence); }
TEST(TidyTest, ReportsDoNotSearch) { expect_clean(check_searches); }
TEST(TidyTest, SourcesAreWellFormed) { expect_clean(check_form); }
TEST(TidyTest, NobodyComparesKindsByTheirOrder) { expect_clean(check_kind_order); }
TEST(TidyTest, NobodyLeftNotesToOneself) { expect_clean(check_words); }
TEST(TidyTest, NobodyComparesLevelsByTheOrderOfTheEnum) { expect_clean(check_level_order); }
TEST(TidyTest, WhatReChecksVerdictsHasRulesOfItsOwn) { expect_clean(check_own_rules); }

TEST(TidyTest, DocumentsArePointedToInOnePlace) { expect_clean(check_documents); }

TEST(TidyTest, TheCoreStandsAlone) {
  EXPECT_THAT(check_core(), IsEmpty());
  // CMake compiles the same rooms into the same libraries.
  std::string outside;
  for (const std::string_view room : rooms()) {
    if (!is_core(room) && room != "cli" && room != "workload") outside += ' ' + std::string(room);
  }
  const std::string lists = slurp(kRoot / "CMakeLists.txt");
  EXPECT_THAT(lists, HasSubstr("set(OURO_OUTSIDE_ROOMS" + outside + ")"));
  EXPECT_THAT(lists, HasSubstr("set(OURO_AROUND_ROOMS workload ${OURO_OUTSIDE_ROOMS})"));
  // The page for browsers has them, too, but for what is about histories that are too long for it.
  std::set<std::string_view> in_page;
  for (const std::string_view room : rooms()) {
    if (is_core(room) && room != "stream" && room != "shard") in_page.insert(room);
  }
  std::string folders;
  for (const std::string_view room : in_page) {
    folders += (folders.empty() ? "" : "|") + std::string(room);
  }
  EXPECT_THAT(slurp(kRoot / "cmake/web.cmake"), HasSubstr("\"/src/(" + folders + ")/\""));
}

TEST(TidyTest, ATypeNameMeansOneType) {
  const Complaints complaints = check_type_names(sources());
  EXPECT_TRUE(complaints.empty()) << all(complaints);
}

TEST(TidyTest, FilesAndFunctionsAreShortOrShrinking) {
  Complaints complaints;
  const Ratchet ratchet = parse_ratchet(slurp(kRoot / "tests/tidy_ratchet.txt"), complaints);
  Sizes sizes;
  for (const Source& source : sources()) measure(source.path, source.text, sizes);
  EXPECT_TRUE(complaints.empty()) << all(complaints);
  const Complaints too_long = check_sizes(sizes, ratchet);
  EXPECT_TRUE(too_long.empty()) << all(too_long);
}

TEST(TidyTest, EnginesAndTheirJudgesHaveTestsBesideThem) {
  Complaints complaints;
  const Ratchet ratchet = parse_ratchet(slurp(kRoot / "tests/tidy_ratchet.txt"), complaints);
  const Complaints missing = check_tests_beside(sources(), ratchet);
  EXPECT_TRUE(missing.empty()) << all(missing);
}

TEST(TidyTest, ExamplesInPublicHeadersAreCompiledCode) {
  Complaints complaints;
  const Ratchet ratchet = parse_ratchet(slurp(kRoot / "tests/tidy_ratchet.txt"), complaints);
  std::vector<std::string> missing;
  for (const Source& source : sources()) {
    const std::string example = example_path(source.text);
    if (!source.path.starts_with("include/") || example.empty()) continue;
    if (!fs::exists(kRoot / example)) {
      missing.push_back(source.path);
      continue;
    }
    const Complaints different = check_example(source.path, source.text, slurp(kRoot / example));
    EXPECT_TRUE(different.empty()) << all(different);
  }
  EXPECT_THAT(missing, ::testing::UnorderedElementsAreArray(ratchet.examples));
}

TEST(TidyTest, EveryRoomIsDescribed) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kRoot / "src")) {
    if (entry.is_directory()) folders.push_back(entry.path().filename().string());
  }
  const Complaints complaints = check_rooms(folders, slurp(kRoot / "src/README.md"));
  EXPECT_TRUE(complaints.empty()) << all(complaints);
}

TEST(TidyTest, TheDocumentedHouseHasAllRooms) {
  const std::string page = slurp(kRoot / "docs/ARCHITECTURE.md");
  EXPECT_THAT(page, HasSubstr("\n## The house\n"));
  for (const std::string_view room : rooms()) {
    EXPECT_THAT(page, HasSubstr("`src/" + std::string(room) + "/`"));
  }
}

// The checks: each can fail.

TEST(TidyLevelsTest, ComparingLevelsByTheEnumIsFound) {
  for (const char* line : {
           "if (level >= Level::Prefix) return;",
           "if (level_ <= other) return;",
           "return verdict.level < other.level;",
           "return Level::Causal < level;",
           "return static_cast<int>(level) > 3;",
           "return static_cast<std::size_t>(Level::Si) <= which;",
           "return levels[i] > ouro::Level::Si;",
           "return std::min(claims(), Level::Si);",
           "return std::max(level, other);",
           "std::set<Level> levels;",
           "std::map<Level, Outcome> verdicts;",
       }) {
    EXPECT_THAT(check_level_order("src/report/x.cc", std::string(line) + "\n"),
                ElementsAre(HasSubstr("src/report/x.cc:1: error: levels are not a line")))
        << line;
    EXPECT_THAT(check_level_order("src/base/level.cc", line), IsEmpty());
  }
}

TEST(TidyLevelsTest, OtherUsesOfLevelsAreFine) {
  for (const char* line : {
           "if (level == Level::Prefix) return;",
           "std::vector<Level> levels{Level::Si, Level::Gsi};",
           "std::set<Level, InListOrder> levels;",
           "std::map<Level, Outcome, InListOrder> verdicts;",
           "out << Level::Si << level << '\\n';",
           "counts[static_cast<std::size_t>(level)] > 3;",
           "status = std::max(status, Checker(flags, level).check_one(path));",
           "if (implies(level, Level::Si) && level_count > 3) return;",
       }) {
    EXPECT_THAT(check_level_order("src/report/x.cc", std::string(line) + "\n"), IsEmpty()) << line;
  }
}

TEST(TidyLevelsTest, TheEnginesTableIsNotForThoseWhoReCheck) {
  const std::string text = "#include <set>\n#include \"base/level_rules.h\"\n";
  for (const char* path : {"src/certify/rules.h", "tests/oracle.cc", "tests/replay.cc"}) {
    EXPECT_THAT(check_own_rules(path, text), ElementsAre(HasSubstr(":2: error: what re-checks")));
  }
  EXPECT_THAT(check_own_rules("src/check/check.cc", text), IsEmpty());
}

TEST(TidyDoorsTest, AClosedDoorIsNamedWithFileAndLine) {
  EXPECT_THAT(check_doors("src/graph/scc.cc",
                          "#include \"graph/scc.h\"\n\n#include \"history/storage.h\"\n"),
              ElementsAre("src/graph/scc.cc:3: error: graph/ may not include history/ "
                          "(see docs/ARCHITECTURE.md, The house)"));
}

TEST(TidyDoorsTest, DoorsAreTransitiveAndOneWay) {
  EXPECT_THAT(check_doors("src/report/html.cc", "#include \"base/column.h\"\n"), IsEmpty());
  EXPECT_THAT(check_doors("src/serve/page.cc", "#include \"solver/solver.h\"\n"), IsEmpty());
  EXPECT_THAT(check_doors("src/base/column.h", "#include \"report/html.h\"\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/certify/replay.cc", "#include \"check/local/local.h\"\n"),
              SizeIs(1));
  EXPECT_THAT(check_doors("src/workload/zipf.cc", "#include \"format/native.h\"\n"), SizeIs(1));
}

TEST(TidyDoorsTest, FoldersOfCheckAreSmallRooms) {
  const char* const observed = "#include \"check/observed/observed.h\"\n";
  const char* const weak = "#include \"check/weak/weak.h\"\n";
  EXPECT_THAT(check_doors("src/check/weak/rc.cc", observed), IsEmpty());
  EXPECT_THAT(check_doors("src/check/polygraph/encoding.h", observed), IsEmpty());
  EXPECT_THAT(check_doors("src/check/check.cc", weak), IsEmpty());
  EXPECT_THAT(check_doors("src/check/observed/observed.h", weak),
              ElementsAre("src/check/observed/observed.h:1: error: check/observed/ may not include "
                          "check/weak/ (see src/README.md, check/)"));
  EXPECT_THAT(check_doors("src/check/weak/rc.cc", "#include \"check/check.h\"\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/check/attic/old.cc", observed),
              ElementsAre(HasSubstr("check/attic/ is no folder")));
}

TEST(TidyDoorsTest, FoldersThatIncludeEachOtherAreFound) {
  const std::vector<Source> sources = {
      {"src/check/a/x.h", "#include \"check/b/x.h\"\n"},
      {"src/check/b/x.h", "#include \"base/column.h\"\n\n#include \"check/x.h\"\n"},
      {"src/check/x.h", "#include <vector>\n#include \"check/a/x.h\"\n#include \"ouro/x.h\"\n"},
      {"src/check/c/x.h", "#include \"check/a/x.h\"\n#include \"check/c/y.h\"\n"},
      {"src/check/a/x_test.cc", "#include \"check/c/x.h\"\n"}};
  EXPECT_THAT(check_folder_cycles(sources),
              ElementsAre("src/check/x.h:2: error: check/ and check/a/ include each other; move "
                          "what both need to a folder below",
                          HasSubstr("src/check/a/x.h:1:"), HasSubstr("src/check/b/x.h:3:")));
  EXPECT_THAT(check_folder_cycles(std::span(sources).first(2)), IsEmpty());
}

TEST(TidyDoorsTest, TestsGoAnywhere) {
  const char* const text = "#include \"report/html.h\"\n#include \"tests/oracle.h\"\n";
  EXPECT_THAT(check_doors("src/graph/scc_test.cc", text), IsEmpty());
  EXPECT_THAT(check_doors("tests/engine_test.cc", text), IsEmpty());
  EXPECT_THAT(check_doors("src/graph/scc_benchmark.cc", text), SizeIs(2));
}

TEST(TidyDoorsTest, TheCoreKnowsNoDatabaseAndNoNetwork) {
  for (const char* header : {"rocksdb/db.h", "libpq-fe.h", "mysql.h", "sqlite3.h", "httplib.h",
                             "sys/socket.h", "netdb.h", "netinet/in.h"}) {
    const std::string text = "#include <" + std::string(header) + ">\n";
    EXPECT_THAT(check_doors("src/stream/x.cc", text), ElementsAre(HasSubstr("is core"))) << header;
    EXPECT_THAT(check_doors("src/db/x.cc", text), IsEmpty()) << header;
    EXPECT_THAT(check_doors("src/stream/x_test.cc", text), IsEmpty()) << header;
  }
  EXPECT_THAT(check_doors("src/format/x.cc",
                          "#include <fcntl.h>\n#include <zstd.h>\n#include <sys/mman.h>\n"
                          "#include <absl/hash/hash.h>\n#include <vector>\n"),
              IsEmpty());
  EXPECT_THAT(check_doors("src/report/x.cc", "#include \"workload/random.h\"\n"), SizeIs(1));
  EXPECT_TRUE(is_core("stream"));
  EXPECT_FALSE(is_core("workload"));
}

TEST(TidyDocumentsTest, APlaceThatIsNotAskedForIsFound) {
  EXPECT_THAT(check_documents("src/report/x.cc", "x = 1;\nout += \"See docs/run.md.\";\n"),
              ElementsAre(HasSubstr("src/report/x.cc:2: error: where documents are")));
  EXPECT_THAT(check_documents("src/report/x.cc", "// As docs/run.md says.\n"), IsEmpty());
  EXPECT_THAT(check_documents("src/report/x_test.cc", "\"docs/run.md\"\n"), IsEmpty());
}

// Otherwise a mistake of an engine could be repeated by what judges it.
TEST(TidyDoorsTest, JudgesShareNothingWithTheEngines) {
  EXPECT_THAT(check_doors("src/certify/rows.cc", "#include \"history/value_order.h\"\n"),
              ElementsAre(HasSubstr("src/certify/rows.cc:1: error: certify/ may not include "
                                    "history/value_order.h")));
  EXPECT_THAT(check_doors("src/certify/rows.cc", "#include \"check/predicates/aggregate.h\"\n"),
              SizeIs(1));
  EXPECT_THAT(check_doors("src/certify/rows.cc", "#include \"history/moment.h\"\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/certify/rows.cc", "#include \"base/radix_sort.h\"\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/certify/writer.cc", "#include \"format/output.h\"\n"), IsEmpty());
  EXPECT_THAT(
      check_doors("src/certify/rows_test.cc", "#include \"check/predicates/aggregate.h\"\n"),
      IsEmpty());
  for (const char* const oracle : {"tests/oracle.cc", "tests/observed.cc", "tests/value_oracle.h",
                                   "tests/timeline_oracle.cc"}) {
    EXPECT_THAT(check_doors(oracle, "#include \"history/value_order.h\"\n"), SizeIs(1));
    EXPECT_THAT(check_doors(oracle, "#include \"certify/values.h\"\n"), SizeIs(1));
    EXPECT_THAT(check_doors(oracle, "#include \"ouro/check.h\"\n#include \"tests/relation.h\"\n"),
                IsEmpty());
  }
}

TEST(TidyDoorsTest, NoDetours) {
  EXPECT_THAT(check_doors("src/graph/scc.cc", "#include \"../history/storage.h\"\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/graph/scc.cc", "#include <history/storage.h>\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/graph/scc.cc", "#  include  \"scc.h\"  // beside\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/attic/old.cc", "#include <vector>\n"), SizeIs(1));
}

TEST(TidyDoorsTest, TheCommandLineSeesPublicHeadersOnly) {
  EXPECT_THAT(check_doors("src/cli/check.cc",
                          "#include <fmt/format.h>\n#include <unistd.h>\n#include <CLI/CLI.hpp>\n"
                          "#include \"cli/flags.h\"\n#include \"ouro/check.h\"\n"),
              IsEmpty());
  EXPECT_THAT(check_doors("src/cli/check.cc", "#include \"check/local/local.h\"\n"),
              ElementsAre(HasSubstr("cli/ may not include check/")));
  EXPECT_THAT(check_doors("src/cli/check.cc", "#include <simdjson.h>\n"), SizeIs(1));
  EXPECT_THAT(check_doors("src/cli/check.cc", "#include \"base/column.h\"\n"), SizeIs(1));
}

TEST(TidyDoorsTest, PublicHeadersSeeTheStandardLibraryOnly) {
  EXPECT_THAT(check_doors("include/ouro/x.h", "#include <span>\n#include \"ouro/ids.h\"\n"),
              IsEmpty());
  EXPECT_THAT(check_doors("include/ouro/x.h", "#include <fmt/format.h>\n"), SizeIs(1));
  EXPECT_THAT(check_doors("include/ouro/x.h", "#include <zlib.h>\n"), SizeIs(1));
  EXPECT_THAT(check_doors("include/ouro/x.h", "#include \"base/column.h\"\n"), SizeIs(1));
}

TEST(TidyDoorsTest, BenchmarksSeeNoRoom) {
  EXPECT_THAT(check_doors("bench/load.cc", "#include \"ouro/format.h\"\n"), IsEmpty());
  EXPECT_THAT(check_doors("bench/load.cc", "#include \"format/native.h\"\n"), SizeIs(1));
}

TEST(TidySilenceTest, PrintingAndExitingAreFound) {
  for (const char* line :
       {"std::cout << 1;", "  std::cerr << x;", "printf(\"x\");", "std::fprintf(stderr, \"x\");",
        "fmt::print(\"x\");", "exit(1);", "if (bad) std::exit(1);", "std::abort();", "abort();"}) {
    EXPECT_THAT(check_silence("src/format/x.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(check_silence("src/cli/x.cc", line), IsEmpty()) << line;
    EXPECT_THAT(check_silence("src/format/x_test.cc", line), IsEmpty()) << line;
  }
}

TEST(TidySilenceTest, WhatOnlyLooksLikeItIsAllowed) {
  for (const char* line : {"// std::cout is for others", "x = \"exit(1)\";", "std::snprintf(b, n);",
                           "txn.abort();", "on_exit(1);", "abort(txn);", "fmt::format(\"x\");"}) {
    EXPECT_THAT(check_silence("src/format/x.cc", line), IsEmpty()) << line;
  }
}

TEST(TidySearchesTest, OnlyCallsInReportsAreFound) {
  for (const char* line : {"x = explain(history, verdict);", "check(history, level);",
                           "ouro::examine(history, how);", "const Budget budget;"}) {
    EXPECT_THAT(check_searches("src/report/x.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(check_searches("src/explain/x.cc", line), IsEmpty()) << line;
    EXPECT_THAT(check_searches("src/report/x_test.cc", line), IsEmpty()) << line;
  }
  for (const char* line : {"// explain(history) was called before", "story.explain();",
                           "const Explanation& explanation = told(level);", "recheck(x);"}) {
    EXPECT_THAT(check_searches("src/report/x.cc", line), IsEmpty()) << line;
  }
}

TEST(TidyFormTest, EachFaultIsFound) {
  EXPECT_THAT(check_form("a.cc", "int x;\n"), IsEmpty());
  EXPECT_THAT(check_form("a.cc", "int x;\n\tint y;\n"),
              ElementsAre(HasSubstr("a.cc:2: error: tab")));
  EXPECT_THAT(check_form("a.cc", "int x; \n"), ElementsAre(HasSubstr("trailing space")));
  EXPECT_THAT(check_form("a.cc", "int x;\r\n"), ElementsAre(HasSubstr("carriage return")));
  EXPECT_THAT(check_form("a.cc", "int x;"), ElementsAre(HasSubstr("line break")));
  EXPECT_THAT(check_form("a.cc", ""), SizeIs(1));
  EXPECT_THAT(check_form("a.h", "int x;\n"), ElementsAre(HasSubstr("#pragma once")));
  EXPECT_THAT(check_form("a.h", "#pragma once\n"), IsEmpty());
}

TEST(TidyFormTest, ColumnsAreCharactersNotBytes) {
  std::string line = "//";
  for (int i = 0; i < 98; ++i) line += "∪";
  EXPECT_THAT(check_form("a.cc", line + "\n"), IsEmpty());
  EXPECT_THAT(check_form("a.cc", line + "x\n"), ElementsAre(HasSubstr("101 columns")));
}

TEST(TidyFormTest, LinesOfARawStringMayBeLongAndOnlyThose) {
  const std::string data(120, 'x');
  const std::string text = "f(R\"q(" + data + "\n" + data + ")\" " + data + ")q\");\n";
  EXPECT_THAT(check_form("a.cc", text), IsEmpty());
  EXPECT_THAT(check_form("a.cc", text + "// " + data + "\n"),
              ElementsAre(HasSubstr("a.cc:3: error: 123 columns")));
  EXPECT_THAT(check_form("a.cc", "f(R\"(x\n)\", \"" + data + "\");\n"), SizeIs(1));
}

TEST(TidyWordsTest, NotesAreFoundAsWholeWords) {
  for (const std::string word : {"TO"
                                 "DO",
                                 "FIX"
                                 "ME",
                                 "XX"
                                 "X"}) {
    EXPECT_THAT(check_words("a.cc", "int x;\n// " + word + ": later\n"),
                ElementsAre(HasSubstr("a.cc:2: error: " + word)));
    EXPECT_THAT(check_words("a.cc", "// " + word + "_" + word + "\n"), IsEmpty());
  }
}

TEST(TidyTypesTest, TheSecondTypeOfANameIsFound) {
  const std::vector<Source> sources = {
      {"src/a/x.h", "namespace ouro {\nstruct Box {\n};\nclass Lid;\n}\n"},
      {"src/a/y.h", "namespace ouro::b {\nstruct Box {\n};\n}\n"},
      {"src/b/z.h", "namespace ouro {\nclass Lid {\n};\nclass Box : Lid {\n};\n}\n"},
      {"src/b/z.cc", "namespace ouro {\nclass Lid {\n};\n}\n"}};
  EXPECT_THAT(check_type_names(sources),
              ElementsAre("src/b/z.h:4: error: ouro::Box is also a type of src/a/x.h"));
}

TEST(TidyTypesTest, ANameMeansOneThingInRoomsThatMeet) {
  const auto box_in = [](std::string path, const std::string& space) {
    return Source{std::move(path), "namespace ouro::" + space + " {\nstruct Box {\n};\n}\n"};
  };
  const auto complaints_of = [](std::vector<Source> sources) { return check_type_names(sources); };
  EXPECT_THAT(complaints_of({box_in("src/stream/x.h", "a"), box_in("src/serve/x.h", "b")}),
              ElementsAre("src/serve/x.h:2: error: ouro::b::Box is also a type of src/stream/x.h"));
  EXPECT_THAT(complaints_of({box_in("include/ouro/x.h", "a"), box_in("src/db/x.h", "b")}),
              SizeIs(1));
  EXPECT_THAT(complaints_of({box_in("src/certify/x.h", "a"), box_in("src/check/x.h", "b")}),
              IsEmpty());
  EXPECT_THAT(complaints_of({box_in("src/db/x.h", "a"), box_in("tests/x.h", "b")}), IsEmpty());
}

TEST(TidySizesTest, FunctionsAreMeasuredFromSignatureToClosingBrace) {
  const Sizes sizes = sizes_of(
      "namespace a {\n"
      "template <class T>\n"
      "class Box : public Base<T> {\n"
      " public:\n"
      "  explicit Box(int x = {}) : a_{1}, b_{x} {\n"
      "    if (x) { go(); }\n"
      "  }\n"
      "  int get() const { return a_; }\n"
      " private:\n"
      "  int a_{1};\n"
      "};\n"
      "const int kTable[] = {\n"
      "    1, 2,\n"
      "    3};\n"
      "std::vector<int> Box::many(\n"
      "    int count) {\n"
      "  const char c = '{'; // {\n"
      "  const auto* s = R\"(}{{)\";\n"
      "}\n"
      "TEST(BoxTest, Holds) {\n"
      "}\n"
      "bool Box::operator==(const Box& other) const {\n"
      "  return 1'000 == 2;\n"
      "}\n"
      "}  // namespace a\n");
  EXPECT_THAT(
      sizes.functions,
      ElementsAre(std::pair("src/base/x.cc Box", 3), std::pair("src/base/x.cc Box::many", 5),
                  std::pair("src/base/x.cc Box::operator==", 3),
                  std::pair("src/base/x.cc BoxTest.Holds", 2), std::pair("src/base/x.cc get", 1)));
  EXPECT_EQ(sizes.lines.at("src/base/x.cc Box::many"), 15);
}

TEST(TidySizesTest, CodeLinesAreNeitherBlankNorComment) {
  const Sizes sizes = sizes_of("// Why.\n#include <span>\n\nint x;  // x\n/* a\n b */\nint y;\n");
  EXPECT_EQ(sizes.files.at("src/base/x.cc"), 3);
}

TEST(TidySizesTest, TheLimitIsAllowedAndOneMoreIsNot) {
  EXPECT_THAT(check_sizes(sizes_of(function_of(70)), {}), IsEmpty());
  EXPECT_THAT(check_sizes(sizes_of("\n" + function_of(71)), {}),
              ElementsAre("src/base/x.cc:2: error: function 'f' has 71 lines, the limit is 70; "
                          "split it"));
  std::string file;
  for (int i = 0; i < 700; ++i) file += "int x;\n";
  EXPECT_THAT(check_sizes(sizes_of(file), {}), IsEmpty());
  EXPECT_THAT(check_sizes(sizes_of(file + "int y;\n"), {}),
              ElementsAre(HasSubstr("701 code lines")));
}

TEST(TidyRatchetTest, WhatIsListedMayStayButNotGrow) {
  Complaints complaints;
  const Ratchet ratchet =
      parse_ratchet("# Old.\nfunction src/base/x.cc f 80\nfile src/base/y.cc 900\n", complaints);
  EXPECT_THAT(complaints, IsEmpty());
  Sizes sizes = sizes_of(function_of(80));
  sizes.files["src/base/y.cc"] = 900;
  EXPECT_THAT(check_sizes(sizes, ratchet), IsEmpty());
  sizes = sizes_of(function_of(81));
  sizes.files["src/base/y.cc"] = 901;
  EXPECT_THAT(check_sizes(sizes, ratchet),
              ElementsAre(HasSubstr("901 code lines, the limit is 900"),
                          HasSubstr("81 lines, the limit is 80")));
}

TEST(TidyRatchetTest, AnEntryThatAllowsTooMuchIsRefused) {
  Complaints complaints;
  const Ratchet ratchet = parse_ratchet("function src/base/x.cc f 80\n", complaints);
  EXPECT_THAT(check_sizes(sizes_of(function_of(75)), ratchet),
              ElementsAre(HasSubstr("shrank to 75")));
  EXPECT_THAT(check_sizes(sizes_of(function_of(70)), ratchet),
              ElementsAre(HasSubstr("not needed any more")));
  EXPECT_THAT(check_sizes(sizes_of("int x;\n"), ratchet),
              ElementsAre(HasSubstr("not needed any more")));
}

TEST(TidyBesideTest, ASourceWithoutATestIsFoundUnlessAnotherTestHasIt) {
  const std::vector<Source> sources = {{"src/check/x.cc", ""},           {"src/check/y.cc", ""},
                                       {"src/check/y_test.cc", ""},      {"src/check/z.h", ""},
                                       {"src/check/y_benchmark.cc", ""}, {"src/base/w.cc", ""}};
  EXPECT_THAT(check_tests_beside(sources, {}),
              ElementsAre("src/check/x.cc:1: error: it has no test beside it, x_test.cc"));
  const auto with = [&](std::string path, std::string test) {
    return check_tests_beside(
        sources, {.tested = {{"src/check/x.cc", "y_test.cc"}, {std::move(path), std::move(test)}}});
  };
  EXPECT_THAT(with("src/check/x.cc", ""), IsEmpty());
  EXPECT_THAT(with("src/check/y.cc", "y_test.cc"), ElementsAre(HasSubstr("not needed any more")));
  EXPECT_THAT(with("src/check/v.cc", "y_test.cc"), ElementsAre(HasSubstr("not needed any more")));
  EXPECT_THAT(check_tests_beside(sources, {.tested = {{"src/check/x.cc", "v_test.cc"}}}),
              ElementsAre(HasSubstr("there is no v_test.cc beside src/check/x.cc")));
}

TEST(TidyRatchetTest, AnUnreadableEntryIsNamed) {
  Complaints complaints;
  (void)parse_ratchet("file src/a.cc\nfunction a 3\nexample\nexample include/ouro/x.h\ntested a\n",
                      complaints);
  EXPECT_THAT(complaints, SizeIs(4));
}

TEST(TidyExampleTest, TheExampleMustBeThereWordByWord) {
  const std::string header =
      "// Boxes.\n//\n// Example (built and run as tests/example_box.cc):\n//\n"
      "//   Box box;\n//   if (box)\n//     box.open();\n//\n// Thread safety: none.\n";
  EXPECT_EQ(example_path(header), "tests/example_box.cc");
  EXPECT_EQ(example_path("// Boxes.\n"), "");
  EXPECT_THAT(
      check_example("b.h", header, "int main() {\n  Box box;\n\n  if (box)\n    box.open();\n}"),
      IsEmpty());
  EXPECT_THAT(check_example("b.h", header, "int main() {\n  Box box;\n  box.open();\n}\n"),
              ElementsAre("b.h:1: error: the example is not in tests/example_box.cc as shown, see "
                          "'if (box)'"));
  EXPECT_THAT(check_example("b.h", header, "if (box)\nbox.open();\nBox box;\n"), SizeIs(1));
  EXPECT_THAT(check_example("b.h", "// Example (built and run as tests/example_box.cc):\n", "x"),
              ElementsAre(HasSubstr("shows none")));
}

TEST(TidyRoomsTest, UndescribedAndUnknownRoomsAreFound) {
  std::string readme;
  for (const std::string_view room : rooms()) readme += "## " + std::string(room) + "/\n\nText.\n";
  const std::vector<std::string> folders = {"base", "attic"};
  EXPECT_THAT(check_rooms(folders, readme), ElementsAre(HasSubstr("src/attic: error: no room")));
  const std::size_t graph = readme.find("## graph/\n\n") + 11;
  readme.erase(graph, 6);  // Its text.
  EXPECT_THAT(check_rooms({}, readme), ElementsAre(HasSubstr("no paragraph under '## graph/'")));
}

}  // namespace
}  // namespace ouro::tidy
