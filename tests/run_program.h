// Runs a program and catches what it prints and how it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/this_build.h"

namespace ouro {

struct Ran {
  int status = -1;  // Exit status; 128 + the signal's number if one killed it.
  std::string out;
  std::string err;
};

class Program {
 public:
  // Caught: output is kept for wait(). Closed: standard output is closed from the start, as when
  // `| head` has read enough.
  enum class Output { Caught, Closed };

  // Starts `arguments`, the first of which is a path. Standard input stays open until
  // close_input().
  explicit Program(const std::vector<std::string>& arguments, Output output = Output::Caught);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void write_input(const std::string& bytes);
  void close_input();
  void send(int signal);
  // Waits until the program catches `signal`, then sends it.
  void send_when_caught(int signal);
  // Waits for the end. REQUIRES: input closed, or the program ends without reading it all.
  Ran wait();

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
};

// Starts a program, gives it `input`, and waits for its end.
Ran run_program(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace ouro
