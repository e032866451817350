// A real `ouro serve` for tests, and clients that share no code with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ouro {

// A temporary folder; the destructor removes it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

struct Reply {
  int status = 0;  // Zero: no answer.
  std::string body;
  std::map<std::string, std::string> headers;
};

using HeaderList = std::multimap<std::string, std::string>;

class ServeProcess {
 public:
  // Starts `ouro serve` with `arguments`, and waits until it listens or has ended. If they name no
  // port, it takes any that is free.
  explicit ServeProcess(const std::vector<std::string>& arguments);
  // Kills it if it still runs.
  ~ServeProcess();
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  [[nodiscard]] std::string url() const { return url_; }  // Without the last slash.
  [[nodiscard]] int http_port() const;
  [[nodiscard]] int tcp_port() const { return tcp_port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  Reply get(const std::string& path, const HeaderList& headers = {}) const;
  Reply post(const std::string& body, const std::string& type = "application/x-ndjson",
             const HeaderList& headers = {}, const std::string& path = "/check") const;
  // A GET whose answer is passed on as it comes, until it ends. Calls begin() when its head is
  // there.
  void stream(const std::string& path, const std::function<void()>& begin,
              const std::function<void(const std::string& bytes)>& receive) const;
  // The lines of /events so far.
  [[nodiscard]] std::vector<std::string> events() const;
  // The number at a JSON pointer of /summary.
  [[nodiscard]] std::uint64_t summary(const std::string& pointer) const;
  // Waits until `condition` is true. If it does not become true in time, the test fails.
  void wait_until(const std::string& what, const std::function<bool()>& condition) const;

  void write_input(const std::string& bytes);
  void close_input();
  void kill();
  // Sends SIGTERM and waits.
  struct End {
    int status = -1;
    std::string out;
    std::string err;
  };
  End stop();
  // Waits for an end that comes by itself.
  End wait();
  [[nodiscard]] std::string err() const;

 private:
  void await_addresses(bool tcp);
  [[nodiscard]] bool ended() const;

  ScratchFolder folder_;
  pid_t pid_ = -1;
  int input_ = -1;
  std::string url_;
  int tcp_port_ = 0;
};

// A connection to the TCP input.
class FrameClient {
 public:
  explicit FrameClient(int port);
  ~FrameClient();
  FrameClient(const FrameClient&) = delete;
  FrameClient& operator=(const FrameClient&) = delete;

  // False: the service is gone.
  bool send(const std::string& content) const;
  bool send_raw(const std::string& bytes) const;
  // The content of the next frame; "" if the connection ended.
  [[nodiscard]] std::string receive() const;
  std::string ask(const std::string& content) const {
    return send(content) ? receive() : std::string();
  }

 private:
  int socket_ = -1;
};

// A server that takes POSTs, for webhooks.
class PostServer {
 public:
  // `answer` gets each body and returns the status to answer.
  explicit PostServer(std::function<int(const std::string& body)> answer);
  ~PostServer();
  PostServer(const PostServer&) = delete;
  PostServer& operator=(const PostServer&) = delete;
  [[nodiscard]] std::string url() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

// The value at a JSON pointer, minified; "(nothing)" if there is none.
[[nodiscard]] std::string json_at(const std::string& document, const std::string& pointer);

}  // namespace ouro
