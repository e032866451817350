// A listener in place of a service (ouro serve), which keeps what is posted to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace ouro {

class FakeService {
 public:
  struct Post {
    std::string path, body, source;
  };

  FakeService() : server_({}, handlers()) {
    const auto port = server_.start({"127.0.0.1", 0});
    EXPECT_TRUE(port.ok());
    if (port.ok()) url_ = "http://127.0.0.1:" + std::to_string(*port);
  }
  ~FakeService() { server_.stop(); }
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  // What it answers from now on. Posts that do not get 200 are not kept.
  void answer(int status) { status_ = status; }

  [[nodiscard]] std::vector<Post> posts() {
    const std::lock_guard lock(mutex_);
    return posts_;
  }
  // Waits until `test` holds for a post; a minute at most.
  [[nodiscard]] bool wait_for(const std::function<bool(const Post&)>& test) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] {
      return std::any_of(posts_.begin(), posts_.end(), test);
    });
  }
  [[nodiscard]] bool wait_for_text(const std::string& text) {
    return wait_for([&](const Post& post) { return post.body.find(text) != post.body.npos; });
  }

 private:
  net::HttpServer::Handlers handlers() {
    net::HttpServer::Handlers handlers;
    handlers.admit = [](const net::HttpRequest&) { return net::HttpServer::Admission{}; };
    handlers.make_room = [](const std::shared_ptr<void>&, std::size_t) { return true; };
    handlers.late = [] {
      return net::HttpResponse{.status = 503, .type = "text/plain", .body = "late"};
    };
    handlers.crowded = [] { return false; };
    handlers.handle = [this](const net::HttpRequest& request, const std::shared_ptr<void>&,
                             const std::shared_ptr<net::HttpServer::Reply>& reply) {
      const int status = status_;
      if (status == 200) {
        const std::lock_guard lock(mutex_);
        posts_.push_back({request.path, request.body, request.header("x-ouro-source")});
        changed_.notify_all();
      }
      reply->send({.status = status, .type = "application/json", .body = "{}"});
    };
    handlers.complain = [](const net::HttpProblem& problem) {
      return net::HttpResponse{
          .status = problem.status, .type = "text/plain", .body = problem.what};
    };
    return handlers;
  }

  std::atomic<int> status_{200};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Post> posts_;
  std::string url_;
  net::HttpServer server_;
};

}  // namespace ouro
