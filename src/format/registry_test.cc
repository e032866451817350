#include "format/registry.h"

#include <gtest/gtest.h>

#include <string>

namespace ouro {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";

std::string text_or_error(const Result<History>& history) {
  if (!history.ok()) return history.error().to_string();
  std::string out;
  EXPECT_TRUE(print_history(*history, Format::Native, out).ok());
  return out;
}

TEST(RegistryTest, AByteOrderMarkInFrontOfTextIsSkipped) {
  const std::pair<Format, std::string> texts[] = {
      {Format::Native, "{\"session\":1,\"ops\":[[\"w\",1,2]]}\n"},
      {Format::JepsenEdn,
       "{:type :invoke, :f :txn, :value [[:w 1 2]], :process 0}\n"
       "{:type :ok, :f :txn, :value [[:w 1 2]], :process 0}\n"},
      {Format::JepsenJson, R"([{"type":"ok","f":"txn","process":0,"value":[["w",1,2]]}])"},
      {Format::Chronos, R"([{"tid":1,"sid":2,"sts":{"p":3,"l":4},"cts":{"p":5,"l":0},)"
                        R"("ops":[{"t":"w","k":1,"v":2}]}])"},
      {Format::Plume, "w(1,2,3,4)\n"},
  };
  for (const auto& [format, text] : texts) {
    const std::string marked = std::string(kMark) + text;
    const std::string wanted = text_or_error(parse_history(text));
    EXPECT_NE(wanted.find("[\"w\",1,2]"), std::string::npos) << wanted;
    EXPECT_EQ(text_or_error(parse_history(marked)), wanted);
    EXPECT_EQ(text_or_error(parse_history(marked, {.format = format})), wanted);
  }
}

TEST(RegistryTest, ColumnsAreCountedBehindTheByteOrderMark) {
  const std::string line = "{\"session\":1,\"ops\":[[\"w\",1:2]]}";
  EXPECT_EQ(
      text_or_error(parse_history(std::string(kMark) + line, {.format = Format::Native}, "h")),
      "h:1: column 27: expected ',' or ']', found ':'");
}

TEST(RegistryTest, BinaryFormatsHaveNoByteOrderMark) {
  std::string bytes;
  const auto history = parse_history("{\"session\":1,\"ops\":[[\"w\",1,2]]}");
  ASSERT_TRUE(history.ok());
  ASSERT_TRUE(print_history(*history, Format::NativeBinary, bytes).ok());
  EXPECT_EQ(text_or_error(
                parse_history(std::string(kMark) + bytes, {.format = Format::NativeBinary}, "h")),
            "h: byte 0: this is no .ouro file");
}

TEST(RegistryTest, ThereIsOneDetector) {
  EXPECT_EQ(detect_format("{\"session\":1,\"ops\":[]}"), Format::Native);
  EXPECT_EQ(detect_format("w(1,2,3,4)\n"), Format::Plume);
  EXPECT_EQ(detect_format("OUROBIN\n"), Format::NativeBinary);
  EXPECT_EQ(detect_format("nothing of ours"), Format::Detect);
}

TEST(RegistryTest, AmongFewFormatsTheFirstByteMayBeEnough) {
  constexpr Format kFew[] = {Format::Native, Format::NativeBinary, Format::Chronos};
  EXPECT_EQ(detect_format(" {\"se", kFew), Format::Native);
  EXPECT_EQ(detect_format("\n[", kFew), Format::Chronos);
  EXPECT_EQ(detect_format("OURO", kFew), Format::NativeBinary);
  EXPECT_EQ(detect_format("w(1,2,3,4)\n", kFew), Format::Detect);
  EXPECT_EQ(detect_format("{\"se"), Format::Detect) << "it may be of another format";
}

TEST(RegistryTest, EveryFormatHasAName) {
  for (const FormatInfo& format : formats())
    EXPECT_EQ(&info(format.format), find_format(format.name));
  EXPECT_EQ(info(Format::Detect).name, "detect");
  EXPECT_EQ(find_format("detect"), nullptr);
}

TEST(RegistryTest, NothingToReadIsSaidAsSuch) {
  EXPECT_EQ(text_or_error(parse_history("", {}, "h")),
            "h: is empty; a history has a transaction a line");
  EXPECT_EQ(text_or_error(parse_history(kMark, {}, "h")),
            "h: is empty; a history has a transaction a line");
  EXPECT_EQ(text_or_error(parse_history("\n  \r\n\t\n", {}, "h")),
            "h: has only blank lines; a history has a transaction a line");
  EXPECT_EQ(text_or_error(read_history("")),
            "the name of the history is empty; give a file, a folder, or - for standard input");
}

}  // namespace
}  // namespace ouro
