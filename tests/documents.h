// The documents as tests read them: prose, headings and fenced blocks.
//
// What a fenced block is for stands behind its fence:
//
//   ```LANGUAGE FILE.NAME  kept under that name for the document's commands
//   ```jsonl               a native history
//   ```LANGUAGE FORMAT     a history in another format, by the name that --format takes
//   ```case NAME           the whole of tests/cases/NAME.case
//   ```console             "$ " lines are commands, the others what they print, times aside
//   ```sh                  in the tutorials: commands that are run, whatever they print
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ouro {

struct DocumentBlock {
  std::string language;
  std::string name;  // The second word behind the fence, if any.
  std::string text;
  int line = 0;

  [[nodiscard]] bool is_file() const { return name.find('.') != std::string::npos; }
};

struct Document {
  std::filesystem::path path;
  std::vector<DocumentBlock> blocks;
  std::vector<std::string> headings;
  std::string prose;  // Everything but the blocks.
};

[[nodiscard]] Document read_document(const std::filesystem::path& path);

// A temporary folder in which the commands of a document are run.
class CommandFolder {
 public:
  CommandFolder();
  ~CommandFolder();
  CommandFolder(const CommandFolder&) = delete;
  CommandFolder& operator=(const CommandFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const;
  // What a terminal would show, with ouro on the path.
  struct Shown {
    int status = -1;
    std::string text;
  };
  [[nodiscard]] Shown shell(const std::string& command) const;

 private:
  std::filesystem::path path_;
};

}  // namespace ouro
