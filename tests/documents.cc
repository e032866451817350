#include "tests/documents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/files.h"
#include "tests/run_program.h"

namespace ouro {

namespace fs = std::filesystem;

Document read_document(const fs::path& path) {
  Document document{.path = path, .blocks = {}, .headings = {}, .prose = {}};
  std::istringstream lines(slurp(path));
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_block = !in_block;
      if (!in_block) continue;
      DocumentBlock block;
      std::istringstream words(line.substr(3));
      words >> block.language >> block.name;
      block.line = number;
      document.blocks.push_back(block);
    } else if (in_block) {
      document.blocks.back().text += line + '\n';
    } else {
      if (line.starts_with("#")) document.headings.push_back(line);
      document.prose += line + '\n';
    }
  }
  EXPECT_FALSE(in_block) << path << ": the last block has no end";
  return document;
}

CommandFolder::CommandFolder() {
  std::string pattern = (fs::temp_directory_path() / "ouro_docs_XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

CommandFolder::~CommandFolder() { fs::remove_all(path_); }

void CommandFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

CommandFolder::Shown CommandFolder::shell(const std::string& command) const {
  const std::string program = fs::path(kOuroBinary).parent_path().string();
  const std::string script =
      "cd '" + path_.string() + "' && PATH='" + program + "':$PATH && { " + command + "\n} 2>&1";
  const Ran ran = run_program({"/bin/sh", "-c", script});
  return {ran.status, ran.out};
}

}  // namespace ouro
