// The state folder of a service: what is missing, damaged, moved or of the version before, and full
// disks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/files.h"
#include "tests/serve_process.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string update(const std::string& key, int start, const std::string& read, int written,
                   int commit = 0) {
  return "{\"session\":\"s" + std::to_string(start) + "\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit == 0 ? start + 1 : commit) +
         ",\"ops\":[[\"r\",\"" + key + "\"," + read + "],[\"w\",\"" + key + "\"," +
         std::to_string(written) + "]]}\n";
}

// Two that overlap.
std::string conflict(const std::string& key, int start) {
  return update(key, start, "null", 1, start + 4) + update(key, start + 1, "null", 2, start + 5);
}

void rewrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

const HeaderList kShop = {{"X-Ouro-Source", "shop"}};
constexpr char kLines[] = "application/x-ndjson";

// A folder in which all kinds of files are: x was 1 in the checkpoint of the default source and of
// the source "shop", and 2 in the log. Three sources have a violation each, one has a doubt.
class ServeStateTest : public testing::Test {
 protected:
  void make() {
    PostServer hook([](const std::string&) { return 200; });
    std::vector<std::string> with = arguments(first_);
    with.insert(with.end(), {"--webhook", hook.url(), "--memory", "1MB"});
    ServeProcess service(with);
    const std::string begin = update("x", 1, "null", 1) + conflict("y", 10);
    EXPECT_EQ(service.post(begin).status, 200);
    EXPECT_EQ(service.post(begin, kLines, kShop).status, 200);
    EXPECT_EQ(service.post(begin, kLines, {{"X-Ouro-Source", "third"}}).status, 200);
    service.wait_until("the events", [&] { return service.events().size() == 3; });
    EXPECT_EQ(service.post("", kLines, {}, "/source/none/undecided").status, 200);
    service.wait_until("a checkpoint",
                       [&] { return fs::exists(first_ + "/sources/1/checkpoint"); });
    service.wait_until("deliveries", [&] { return slurp(first_ + "/webhook").starts_with("4\n"); });
    std::string log;
    service.wait_until("the logs before it are gone", [&] {
      log = newest_log(first_);
      return log != first_ + "/input-1.log" && logs(first_).size() == 1;
    });
    // From here on nothing is in a checkpoint: the next is due in a while.
    EXPECT_EQ(service.post(update("x", 20, "1", 2)).status, 200);
    EXPECT_EQ(service.post(update("x", 20, "1", 2), kLines, kShop).status, 200);
    service.kill();
  }
  static std::vector<std::string> arguments(const std::string& state) {
    return {"--state", state, "--level", "si", "--timeout", "0.05", "--checkpoint", "1"};
  }
  static std::vector<std::string> logs(const std::string& state) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(state)) {
      if (entry.path().filename().string().starts_with("input-")) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string newest_log(const std::string& state) { return logs(state).back(); }
  // A copy of the folder, which the next test may spoil.
  std::string copy() {
    const std::string path = folder_ / ("copy" + std::to_string(++copies_));
    fs::copy(first_, path, fs::copy_options::recursive);
    return path;
  }
  // The service refuses the folder and names the file; told to repair, it goes on, accuses nobody
  // of reading what was lost, and still tells what is new.
  void expect_refused_and_mended(const std::string& state, const std::string& file,
                                 bool input = true) {
    SCOPED_TRACE(file);
    ServeProcess refused(arguments(state));
    EXPECT_EQ(refused.wait().status, 254);
    EXPECT_THAT(refused.err(), HasSubstr(file));
    EXPECT_THAT(refused.err(), HasSubstr("--repair"));
    std::vector<std::string> with = arguments(state);
    with.push_back("--repair");
    for (int life = 0; life < 2; ++life) {
      ServeProcess service(with);
      ASSERT_NE(service.http_port(), 0) << service.err();
      if (life == 0) {
        EXPECT_THAT(service.err(), HasSubstr("lost: "));
      }
      const int start = 100 + 100 * life;
      const std::size_t before = service.events().size();
      EXPECT_EQ(service.post(update("x", start, std::to_string(2 + life), 3 + life)).status, 200);
      EXPECT_EQ(service.post(conflict("z" + std::to_string(life), start + 10)).status, 200);
      service.wait_until("the conflict", [&] {
        const auto events = service.events();
        return std::any_of(events.begin() + static_cast<std::ptrdiff_t>(before), events.end(),
                           [](const std::string& event) {
                             return event.find("\"write conflict\"") != std::string::npos;
                           });
      });
      for (const std::string& event : service.events()) {
        if (json_at(event, "/kind") != "\"violation\"") continue;
        EXPECT_EQ(json_at(event, "/counted_as"), "\"write conflict\"") << event;
      }
      if (input) {
        EXPECT_EQ(json_at(service.get("/summary").body, "/sources/0/doubt/voids"), "\"reads\"");
      }
      service.kill();
      with = arguments(state);  // Once is enough.
    }
  }

  // What must be there and whole, by the name of the newest log.
  static std::vector<std::string> files(const std::string& log) {
    return {"checkpoint", log, "sources/1/checkpoint", "manifest", "counters", "events.ndjson"};
  }

  ScratchFolder folder_;
  const std::string first_ = folder_ / "state";
  int copies_ = 0;
};

TEST_F(ServeStateTest, WhatIsMissingIsRefusedByName) {
  make();
  const std::string log = fs::path(newest_log(first_)).filename();
  for (const std::string& file : files(log)) {
    const std::string state = copy();
    fs::remove(state + '/' + file);
    expect_refused_and_mended(state, file, file != "counters" && file != "events.ndjson");
  }
}

TEST_F(ServeStateTest, WhatIsDamagedIsRefusedByName) {
  make();
  const std::string log = fs::path(newest_log(first_)).filename();
  for (const std::string& file : files(log)) {
    const std::string state = copy();
    std::string bytes = slurp(state + '/' + file);
    char& byte = bytes[file == log ? 20 : bytes.size() / 2];
    byte = static_cast<char>(byte ^ 1);
    rewrite(state + '/' + file, bytes);
    expect_refused_and_mended(state, file, file != "counters" && file != "events.ndjson");
  }
  for (const char* text : {"", "1\n", "9\nchecksum 0\n"}) {
    const std::string state = copy();
    rewrite(state + "/webhook", text);
    std::vector<std::string> with = arguments(state);
    with.insert(with.end(), {"--webhook", "http://127.0.0.1:1/"});
    ServeProcess service(with);
    EXPECT_EQ(service.wait().status, 254);
    EXPECT_THAT(service.err(), HasSubstr("webhook: is damaged"));
  }
}

TEST_F(ServeStateTest, AnOlderCheckpointIsRefused) {
  make();
  const std::string state = copy();
  const std::string former = slurp(state + "/checkpoint");
  {
    ServeProcess service(arguments(state));
    EXPECT_EQ(service.post(update("x", 30, "2", 3)).status, 200);
    EXPECT_EQ(service.stop().status, 1);
  }
  rewrite(state + "/checkpoint", former);
  ServeProcess service(arguments(state));
  EXPECT_EQ(service.wait().status, 254);
  EXPECT_THAT(service.err(), HasSubstr("checkpoint: is older than the last checkpoint"));
}

TEST_F(ServeStateTest, ADamagedEventIsNamedAndItsPlaceIsKept) {
  make();
  std::string events = slurp(first_ + "/events.ndjson");
  events.insert(events.find('\n') + 20, "\n");  // In the second line.
  rewrite(first_ + "/events.ndjson", events);
  {
    ServeProcess service(arguments(first_));
    EXPECT_EQ(service.wait().status, 254);
    EXPECT_THAT(service.err(), HasSubstr("events.ndjson: damaged at byte"));
  }
  std::vector<std::string> with = arguments(first_);
  with.push_back("--repair");
  ServeProcess service(with);
  ASSERT_EQ(service.events().size(), 4u);
  EXPECT_EQ(json_at(service.events()[1], "/id"), "\"lost-event\"");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(json_at(service.events()[i], "/event"), std::to_string(i + 1));
  }
}

TEST_F(ServeStateTest, AMovedFolderIsUsedAsItIsWithOtherMemoryAndRetention) {
  make();
  const std::vector<std::vector<std::string>> others = {
      {"--memory", "1MB"}, {"--memory", "2MB", "--retention", "60"}, {}};
  for (const std::vector<std::string>& other : others) {
    std::vector<std::string> with = arguments(copy() + "/.");
    with.insert(with.end(), other.begin(), other.end());
    ServeProcess service(with);
    ASSERT_NE(service.http_port(), 0) << service.err();
    EXPECT_EQ(service.post(update("x", 30, "2", 3)).status, 200);
    service.wait_until("all", [&] { return service.summary("/sources/0/transactions") == 5; });
    const auto end = service.stop();
    EXPECT_THAT(end.out, HasSubstr("(3 write conflict)"));
  }
}

// Takes away what the version before did not have.
void age(const std::string& state) {
  const auto unsealed = [](std::string text) { return text.substr(0, text.rfind("checksum ")); };
  const std::string manifest = slurp(state + "/manifest");
  std::istringstream lines(manifest);
  std::string settings;
  std::string forgotten;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("setting ")) settings += line.substr(8) + '\n';
    if (line.starts_with("forgotten ")) forgotten += line.substr(10) + '\n';
  }
  rewrite(state + "/settings", settings);
  rewrite(state + "/sources/forgotten", forgotten);
  fs::remove(state + "/manifest");
  for (const std::string& name : {std::string("counters"), std::string("webhook")}) {
    rewrite(state + '/' + name, unsealed(slurp(state + '/' + name)));
  }
  std::istringstream events(slurp(state + "/events.ndjson"));
  std::string bare;
  for (std::string line; std::getline(events, line);) {
    bare += line.substr(0, line.rfind(",\"crc32\"")) + "}\n";
  }
  rewrite(state + "/events.ndjson", bare);
}

TEST_F(ServeStateTest, AFolderOfTheVersionBeforeIsConverted) {
  make();
  std::string before;
  {
    ServeProcess service(arguments(copy()));
    before = service.get("/events?live=no").body;
    service.kill();
  }
  const std::string state = copy();
  age(state);
  for (int life = 0; life < 2; ++life) {
    ServeProcess service(arguments(state));
    ASSERT_NE(service.http_port(), 0) << service.err();
    EXPECT_EQ(service.get("/events?live=no").body, before);
    EXPECT_EQ(service.summary("/sources/0/transactions"), 4u);
    EXPECT_EQ(service.summary("/sources/1/transactions"), 4u);
    service.kill();
    EXPECT_FALSE(fs::exists(state + "/settings"));
  }
}

// ---- full disks ----

// From now on no file of the service may grow beyond this.
void limit_files(const ServeProcess& service, rlim_t bytes) {
  rlimit limit{bytes, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(service.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
}

TEST(ServeFullDiskTest, ABatchThatFindsNoRoomIsRefusedAtOnceAndTakenLater) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  const std::vector<std::string> arguments = {"--state", state, "--timeout", "0.05"};
  {
    ServeProcess service(arguments);
    EXPECT_EQ(service.post(update("x", 1, "null", 1)).status, 200);
    limit_files(service, fs::file_size(state + "/input-1.log") + 100);
    const std::string batch = update("x", 3, "1", 2) + update("x", 5, "2", 3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(service.post(batch).status, 507);
    EXPECT_EQ(service.get("/healthz").status, 200);
    EXPECT_THAT(service.err(), HasSubstr("the disk is full"));
    limit_files(service, RLIM_INFINITY);
    service.wait_until("room", [&] { return service.post(batch).status == 200; });
    service.kill();
  }
  ServeProcess service(arguments);
  EXPECT_EQ(service.summary("/transactions"), 3u);
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out << end.err;
}

TEST(ServeFullDiskTest, ItEndsWithTheVerdictOfWhatIsKnown) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  const std::vector<std::string> arguments = {"--state", state, "--timeout", "0.05"};
  std::size_t known = 0;
  {
    ServeProcess service(arguments);
    int start = 10;
    for (; known < 6; ++known, start += 10) {
      EXPECT_EQ(service.post(conflict("y" + std::to_string(start), start)).status, 200);
    }
    service.wait_until("the events", [&] { return service.events().size() == known; });
    // Events take more room than batches. So the next batch has room, and its event has none.
    limit_files(service, fs::file_size(state + "/events.ndjson") + 10);
    EXPECT_EQ(service.post(conflict("last", start)).status, 200);
    service.wait_until("no room", [&] {
      start += 10;
      return service.post(update("k" + std::to_string(start), start, "null", 1)).status == 507;
    });
    const auto end = service.stop();
    EXPECT_EQ(end.status, 1) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr("7 write conflict"));
    EXPECT_THAT(end.err, HasSubstr("the end is not saved"));
  }
  ServeProcess service(arguments);
  service.wait_until("the event", [&] { return service.events().size() == known + 1; });
  EXPECT_EQ(service.stop().status, 1);
}

}  // namespace
}  // namespace ouro
