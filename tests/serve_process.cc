#include "tests/serve_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <simdjson.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/files.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

bool names(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
}

Reply reply_of(const httplib::Result& result) {
  Reply reply;
  if (!result) return reply;
  reply.status = result->status;
  reply.body = result->body;
  reply.headers.insert(result->headers.begin(), result->headers.end());
  return reply;
}

httplib::Headers headers_of(const HeaderList& headers) { return {headers.begin(), headers.end()}; }

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ouro_serve_XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() { std::filesystem::remove_all(path_); }

ServeProcess::ServeProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {kOuroBinary, "serve"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (!names(all, "--listen") && !names(all, "-")) {
    all.insert(all.end(), {"--listen", "127.0.0.1:0"});
  }
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const std::string out = folder_ / "out", err = folder_ / "err";
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  input_ = ends[1];
  if (names(all, "--listen")) await_addresses(names(all, "--tcp"));
}

ServeProcess::~ServeProcess() {
  close_input();
  kill();
}

bool ServeProcess::ended() const {
  siginfo_t how{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT);
  return how.si_pid != 0;
}

void ServeProcess::await_addresses(bool tcp) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline && !ended()) {
    const std::string text = err();
    const std::size_t at = text.find("ouro: http://");
    const std::size_t end = text.find("/\n", at);
    // Both addresses are printed at once, but not written at once.
    const std::size_t tcp_at = text.find("ouro: tcp ");
    const bool complete = !tcp || (tcp_at != text.npos && text.find('\n', tcp_at) != text.npos);
    if (at != text.npos && end != text.npos && complete) {
      url_ = text.substr(at + 6, end - at - 6);
      if (tcp) tcp_port_ = std::stoi(text.substr(text.find(':', tcp_at + 10) + 1));
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int ServeProcess::http_port() const {
  return url_.empty() ? 0 : std::stoi(url_.substr(url_.rfind(':') + 1));
}

Reply ServeProcess::get(const std::string& path, const HeaderList& headers) const {
  httplib::Client client("127.0.0.1", http_port());
  client.set_read_timeout(30);
  return reply_of(client.Get(path, headers_of(headers)));
}

Reply ServeProcess::post(const std::string& body, const std::string& type,
                         const HeaderList& headers, const std::string& path) const {
  httplib::Client client("127.0.0.1", http_port());
  client.set_read_timeout(30);
  return reply_of(client.Post(path, headers_of(headers), body, type));
}

void ServeProcess::stream(const std::string& path, const std::function<void()>& begin,
                          const std::function<void(const std::string&)>& receive) const {
  httplib::Client client("127.0.0.1", http_port());
  client.set_read_timeout(60);
  const auto head = [&](const httplib::Response&) {
    begin();
    return true;
  };
  const auto result = client.Get(path, head, [&](const char* bytes, std::size_t size) {
    receive(std::string(bytes, size));
    return true;
  });
  EXPECT_TRUE(result) << path;
}

std::vector<std::string> ServeProcess::events() const {
  std::istringstream text(get("/events?live=no").body);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::uint64_t ServeProcess::summary(const std::string& pointer) const {
  const std::string value = json_at(get("/summary").body, pointer);
  return value == "(nothing)" ? 0 : std::stoull(value);
}

void ServeProcess::wait_until(const std::string& what,
                              const std::function<bool()>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline || ended()) {
      ADD_FAILURE() << "never: " << what << "\n" << err();
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void ServeProcess::write_input(const std::string& bytes) {
  std::signal(SIGPIPE, SIG_IGN);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(input_, bytes.data() + done, bytes.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void ServeProcess::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void ServeProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

ServeProcess::End ServeProcess::stop() {
  ::kill(pid_, SIGTERM);
  return wait();
}

ServeProcess::End ServeProcess::wait() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ended() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!ended()) {
    ADD_FAILURE() << "the service does not end\n" << err();
    ::kill(pid_, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = slurp(folder_ / "out"),
          .err = err()};
}

std::string ServeProcess::err() const { return slurp(folder_ / "err"); }

FrameClient::FrameClient(int port) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

FrameClient::~FrameClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool FrameClient::send_raw(const std::string& bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool FrameClient::send(const std::string& content) const {
  std::string frame;
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(content.size() >> (8 * i) & 0xff);
  return send_raw(frame + content);
}

std::string FrameClient::receive() const {
  const auto exactly = [this](std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::recv(socket_, bytes.data() + done, size - done, 0);
      if (count <= 0) return std::string();
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  };
  const std::string head = exactly(4);
  if (head.empty()) return {};
  std::size_t size = 0;
  for (int i = 3; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(head[i]);
  return exactly(size);
}

struct PostServer::Server {
  httplib::Server http;
  int port = 0;
  std::thread listener;
};

PostServer::PostServer(std::function<int(const std::string&)> answer)
    : server_(std::make_unique<Server>()) {
  server_->http.Post("/hook",
                     [answer](const httplib::Request& request, httplib::Response& response) {
                       response.status = answer(request.body);
                     });
  server_->http.set_keep_alive_timeout(1);
  server_->port = server_->http.bind_to_any_port("127.0.0.1");
  server_->listener = std::thread([this] { server_->http.listen_after_bind(); });
  while (!server_->http.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

PostServer::~PostServer() {
  server_->http.stop();
  server_->listener.join();
}

std::string PostServer::url() const {
  return "http://127.0.0.1:" + std::to_string(server_->port) + "/hook";
}

std::string json_at(const std::string& document, const std::string& pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element root, at;
  if (parser.parse(document).get(root) != simdjson::SUCCESS) return "(no JSON)";
  if (root.at_pointer(pointer).get(at) != simdjson::SUCCESS) return "(nothing)";
  return simdjson::minify(at);
}

}  // namespace ouro
