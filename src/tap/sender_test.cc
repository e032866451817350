#include "tap/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_service.h"

namespace ouro::tapping {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Waits for the first of what a Sender says.
struct Notices {
  std::promise<std::string> first;
  std::atomic<bool> told{false};
  void operator()(const std::string& what) {
    if (!told.exchange(true)) first.set_value(what);
  }
};

TEST(SenderTest, WhatIsAddedArrivesInOrderAndAtOnce) {
  FakeService service;
  auto sender = Sender::connect({.url = service.url(), .token = "", .notice = {}});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  (*sender)->add("one\n");
  EXPECT_TRUE(service.wait_for_text("one"));  // Before the end.
  (*sender)->add("two\n");
  EXPECT_EQ((*sender)->finish(), "");
  std::string all;
  for (const FakeService::Post& post : service.posts()) {
    EXPECT_EQ(post.path, "/check");
    EXPECT_EQ(post.source, service.posts()[0].source);
    all += post.body;
  }
  EXPECT_EQ(all, "one\ntwo\n");
}

TEST(SenderTest, AServiceThatIsNotThereIsAnError) {
  const auto sender =
      Sender::connect({.url = "http://127.0.0.1:1", .token = "", .notice = {}});
  ASSERT_FALSE(sender.ok());
  EXPECT_THAT(sender.error().what, HasSubstr("is 'ouro serve' running there?"));
}

TEST(SenderTest, AServiceThatIsAwayForAWhileGetsEverything) {
  FakeService service;
  auto sender = Sender::connect({.url = service.url(), .token = "", .notice = {}});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  for (const int status : {503, 507}) {
    service.answer(status);
    (*sender)->add("while away\n");
    service.answer(200);
  }
  EXPECT_EQ((*sender)->finish(), "");
  EXPECT_EQ(service.posts().size(), 3U);  // The first is empty.
}

TEST(SenderTest, AServiceThatLacksSomethingIsToldSoWhenItIsBack) {
  FakeService service;
  Notices notices;
  auto sender = Sender::connect({.url = service.url(),
                                 .token = "",
                                 .notice = std::ref(notices),
                                 .patience = 1ms});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  service.answer(503);
  (*sender)->add("lost\n");
  EXPECT_THAT(notices.first.get_future().get(), HasSubstr("status 503"));
  (*sender)->add("nobody wants this\n");
  service.answer(200);
  const std::string path = "/source/" + service.posts()[0].source + "/undecided";
  EXPECT_TRUE(service.wait_for([&](const auto& post) {
    return post.path == path && post.body.find("could be sent") != post.body.npos;
  }));
  EXPECT_THAT((*sender)->finish(), HasSubstr("status 503"));
  EXPECT_EQ(service.posts().size(), 2U);
}

TEST(SenderTest, ThatItCannotJudgeIsToldBeforeTheEnd) {
  FakeService service;
  auto sender = Sender::connect({.url = service.url(), .token = "", .notice = {}});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  (*sender)->undecided("table t: it was altered");
  EXPECT_TRUE(service.wait_for_text("table t: it was altered"));
  EXPECT_EQ((*sender)->finish(), "");
}

TEST(SenderTest, WhatWaitsHasALimit) {
  FakeService service;
  Notices notices;
  auto sender = Sender::connect({.url = service.url(),
                                 .token = "",
                                 .notice = std::ref(notices),
                                 .most_bytes = 1000});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  service.answer(503);
  for (int i = 0; i < 20; ++i) (*sender)->add(std::string(100, 'x'));
  EXPECT_THAT(notices.first.get_future().get(), HasSubstr("slower than the application"));
  service.answer(200);
  EXPECT_THAT((*sender)->finish(), HasSubstr("slower than the application"));
}

// The end does not wait for a service that is away.
TEST(SenderTest, AServiceThatStaysAwayIsLeftAlone) {
  FakeService service;
  Notices notices;
  auto sender = Sender::connect({.url = service.url(),
                                 .token = "",
                                 .notice = std::ref(notices),
                                 .patience = 1ms});
  ASSERT_TRUE(sender.ok()) << sender.error().what;
  service.answer(503);
  (*sender)->undecided("table t: it was altered");
  EXPECT_THAT((*sender)->finish(), HasSubstr("was not told that it cannot judge"));
  EXPECT_TRUE(notices.told);
}

}  // namespace
}  // namespace ouro::tapping
