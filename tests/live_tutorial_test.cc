// Runs the commands of the tutorials whose output says nothing: those of runs and of the service.
// What a reader has to fill in (a server, a driver, a folder) is filled in, and runs are short.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/documents.h"
#include "tests/files.h"
#include "tests/live_servers.h"
#include "tests/serve_process.h"

namespace ouro {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// The lines of the blocks of commands, without comments.
std::vector<std::string> commands() {
  std::vector<std::string> out;
  for (const DocumentBlock& block : read_document(kRoot / "docs/tutorials.md").blocks) {
    if (block.language != "sh") continue;
    std::istringstream lines(block.text);
    for (std::string line; std::getline(lines, line);) {
      line = line.substr(0, line.find("  #"));
      line.erase(line.find_last_not_of(' ') + 1);
      out.push_back(line);
    }
  }
  return out;
}

void fill_in(std::string& command, const std::string& text, const std::string& real) {
  const std::size_t at = command.find(text);
  if (at != std::string::npos) command.replace(at, text.size(), real);
}

// The words of a command without quotes, but for the first.
std::vector<std::string> arguments_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  out.erase(out.begin());
  return out;
}

TEST(LiveTutorialTest, TheCommandsOfTheTutorialsRun) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  std::string server = db::url_of(*live_server(db::ServerKind::Postgres), "");
  server = server.substr(0, server.find('?'));
  const CommandFolder folder;
  std::unique_ptr<ServeProcess> service;
  std::size_t count = 0;
  for (std::string command : commands()) {
    SCOPED_TRACE(command);
    ++count;
    if (command.starts_with("ouro serve ")) {
      fill_in(command, "/var/lib/ouro", (folder.path() / "state").string());
      std::vector<std::string> arguments = arguments_of(command);
      arguments.erase(arguments.begin());
      service = std::make_unique<ServeProcess>(arguments);
      ASSERT_FALSE(service->url().empty()) << service->err();
      continue;
    }
    ASSERT_TRUE(command.starts_with("ouro run ")) << "a command that this test cannot run";
    fill_in(command, "postgres://me@host/db", server);
    fill_in(command, "python3 my_driver.py",
            "python3 " + (kRoot / "clients/drivers/python/ouro_driver.py").string() + " sqlite");
    if (service) fill_in(command, "http://127.0.0.1:7117", service->url());
    const std::size_t seconds = command.find(" -s ");
    command = command.substr(0, seconds) + " -s 1";
    const auto shown = folder.shell(command);
    EXPECT_THAT(shown.status, AnyOf(0, 1)) << shown.text;
  }
  EXPECT_GE(count, 6u);
  ASSERT_TRUE(service);
  EXPECT_GT(service->summary("/transactions"), 0u) << "the service saw the run";
}

}  // namespace
}  // namespace ouro
