// What is known of the order of the versions of x, in histories of a few transactions.

#include "certify/versions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

class KnownVersions {
 public:
  explicit KnownVersions(std::string_view text, Level level = Level::Si,
                         Evidence evidence = Evidence::Observed)
      : history_(oracle::history_of(text)),
        reading_(*Reading::of(history_, evidence)),
        versions_(reading_, level) {}

  // All pairs that are known, "01 02 12": T0 is the initial transaction.
  [[nodiscard]] std::string known() const {
    return pairs([&](auto early, auto late) { return versions_.precedes(early, late); });
  }
  // The same, if the version of `first` precedes that of `second`.
  [[nodiscard]] std::string known_if(std::size_t first, std::size_t second) const {
    return pairs([&](auto early, auto late) {
      return versions_.precedes_if(version(first), version(second), early, late);
    });
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The version of x that T`txn` left.
  [[nodiscard]] std::uint32_t version(std::size_t txn) const {
    const KeyId x = key();
    return txn == 0 ? versions_.initial(x) : reading_.last_write(TxnId{txn - 1}, x);
  }
  [[nodiscard]] KeyId key() const {
    std::size_t k = 0;
    while (history_.key_label(KeyId{k}) != "x") ++k;
    return KeyId{k};
  }
  template <class Known>
  [[nodiscard]] std::string pairs(Known known) const {
    std::string out;
    for (std::size_t a = 0; a <= history_.txn_count(); ++a) {
      for (std::size_t b = 0; b <= history_.txn_count(); ++b) {
        if (version(a) == kNone || version(b) == kNone || !known(version(a), version(b))) continue;
        out += (out.empty() ? "" : " ") + std::to_string(a) + std::to_string(b);
      }
    }
    return out;
  }

  const History history_;
  const Reading reading_;
  const Versions versions_;
};

TEST(KnownVersionsTest, OfBlindWritesOnlyThatTheyFollowTheInitialVersion) {
  EXPECT_EQ(KnownVersions("T1: w x 1\nT2: w x 2\nT3: r x 1, r y nil\n").known(), "01 02");
}

TEST(KnownVersionsTest, AnUpdateFollowsWhatItReadAndNothingStandsBetween) {
  const char* const text = "T1: w x 1\nT2: r x 1, w x 2\nT3: w x 3\n";
  const KnownVersions chain(text);
  EXPECT_EQ(chain.known(), "01 02 03 12");
  EXPECT_EQ(chain.known_if(3, 1), "31 32");
  EXPECT_EQ(chain.known_if(2, 3), "23") << "T1 may come from behind T3 only if T2 does";
  EXPECT_EQ(chain.known_if(1, 3), "13 23") << "T2 follows T1 at once";
  // Where updates may be lost T3 may stand between them.
  const KnownVersions loose(text, Level::Prefix);
  EXPECT_EQ(loose.known(), "01 02 03 12");
  EXPECT_EQ(loose.known_if(1, 3), "13");
}

TEST(KnownVersionsTest, AChainFromTheInitialVersionPrecedesEverythingElse) {
  const KnownVersions chain("T1: r x nil, w x 1\nT2: r x 1, w x 2\nT3: w x 3\n");
  EXPECT_EQ(chain.known(), "01 02 03 12 13 23");
  const KnownVersions loose("T1: r x nil, w x 1\nT2: r x 1, w x 2\nT3: w x 3\n", Level::Causal);
  EXPECT_EQ(loose.known(), "01 02 03 12");
}

TEST(KnownVersionsTest, WhoReadBehindItsOwnWriteReadNothing) {
  EXPECT_EQ(KnownVersions("T1: w x 1\nT2: w x 2, r x 2\n").known(), "01 02");
}

TEST(KnownVersionsTest, ListsTellTheOrderOfTheirElements) {
  const KnownVersions list("T1: append x 1\nT2: append x 2\nT3: append x 3\nT4: r x [2 1]\n");
  EXPECT_EQ(list.known(), "01 02 03 13 21 23") << "what nobody saw comes behind";
}

TEST(KnownVersionsTest, AnElementOfUnknownOriginTellsNothingOfItsWriters) {
  const KnownVersions list(
      "T1: append x 1\nT2: append x 7\nT3: append x 7\nT4: append x 4\nT5: r x [1 7 4 7]\n");
  EXPECT_EQ(list.known(), "01 02 03 04 12 13 14");
}

std::string stated(std::string_view order, std::string_view complete) {
  return "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n{\"session\":2,\"ops\":[[\"w\",\"x\",2]]}\n"
         "{\"session\":3,\"ops\":[[\"w\",\"x\",3]]}\n{\"key\":\"x\",\"versions\":" +
         std::string(order) + ",\"complete\":" + std::string(complete) + "}\n";
}

TEST(KnownVersionsTest, StatedOrdersCountIfTheyAreTheEvidence) {
  const auto known = [](const std::string& text, Evidence evidence = Evidence::Versions) {
    return KnownVersions(text, Level::Si, evidence).known();
  };
  EXPECT_EQ(known(stated("[3,1,2]", "true")), "01 02 03 12 31 32");
  EXPECT_EQ(known(stated("[3,1]", "false")), "01 02 03 31") << "T2 may be anywhere";
  EXPECT_EQ(known(stated("[3,1,2]", "true"), Evidence::Observed), "01 02 03");
}

TEST(KnownVersionsTest, ReadsThatGoRoundInACycleDoNotHang) {
  const KnownVersions cycle("T1: r x 2, w x 1\nT2: r x 1, w x 2\nT3: w x 3\n");
  EXPECT_EQ(cycle.known().find("33"), std::string::npos);
}

}  // namespace
}  // namespace ouro::recheck
