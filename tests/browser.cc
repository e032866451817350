// The protocol: each message is a JSON object, followed by a zero byte. A call has a number, which
// its answer repeats; events may come in between. The browser reads descriptor 3 and writes 4.

#include "tests/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <simdjson.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

namespace ouro {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// How long to wait for an answer. More than enough: it only ends tests that would wait for ever.
constexpr std::chrono::seconds kPatience{60};

std::string find_program() {
  for (const char* path :
       {"/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

std::string as_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The value at a JSON pointer, as JSON; "" if there is none.
std::string member(const std::string& json, const char* pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::element found;
  if (parser.parse(json).get(document) != simdjson::SUCCESS) return {};
  if (document.at_pointer(pointer).get(found) != simdjson::SUCCESS) return {};
  return simdjson::minify(found);
}

// The string at a JSON pointer, without quotes.
std::string text_at(const std::string& json, const char* pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  std::string_view found;
  if (parser.parse(json).get(document) != simdjson::SUCCESS) return {};
  if (document.at_pointer(pointer).get(found) != simdjson::SUCCESS) return {};
  return std::string(found);
}

std::string decode_base64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    unsigned digit = 0;
    if (c >= 'A' && c <= 'Z') {
      digit = static_cast<unsigned>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<unsigned>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0') + 52;
    } else if (c == '+' || c == '/') {
      digit = c == '+' ? 62 : 63;
    } else {
      break;
    }
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

// A pipe whose ends are out of the way of descriptors 3 and 4.
std::array<int, 2> high_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ends;
  for (int& end : ends) {
    const int high = ::fcntl(end, F_DUPFD_CLOEXEC, 10);
    ::close(end);
    end = high;
  }
  return ends;
}

}  // namespace

Browser::Browser() {
  const char* const without = std::getenv("OURO_NO_BROWSER");
  if (without != nullptr && std::string_view(without) == "1") {
    unwanted_ = broken_ = true;
    return;
  }
  const std::string program = find_program();
  if (program.empty()) {
    fail("there is no chromium-headless-shell; install it (scripts/setup test does)");
    return;
  }
  start(program);
  const std::string target =
      text_at(call("Target.createTarget", R"({"url":"about:blank"})"), "/targetId");
  session_ = text_at(call("Target.attachToTarget",
                          fmt::format(R"({{"targetId":{},"flatten":true}})", as_json(target))),
                     "/sessionId");
  if (session_.empty()) fail("the browser opens no page");
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) {
    call(fmt::format("{}.enable", domain));
  }
  resize(1280, 800);
  prefer_dark(false);
}

Browser::~Browser() { stop(); }

void Browser::start(const std::string& program) {
  std::string pattern = (fs::temp_directory_path() / "ouro_browser_XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
  const auto commands = high_pipe();
  const auto answers = high_pipe();
  const std::vector<std::string> arguments = {program,
                                              "--remote-debugging-pipe",
                                              "--no-sandbox",  // Does not work as root.
                                              "--no-zygote",
                                              "--disable-gpu",
                                              "--disable-dev-shm-usage",
                                              "--disable-background-networking",
                                              "--disable-component-update",
                                              "--disable-extensions",
                                              "--no-first-run",
                                              "--hide-scrollbars",
                                              "--force-color-profile=srgb",
                                              "--user-data-dir=" + (folder_ / "profile").string()};
  const std::string log = (folder_ / "log").string();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int messages = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(messages, STDOUT_FILENO);
    ::dup2(messages, STDERR_FILENO);
    ::dup2(commands[0], 3);
    ::dup2(answers[1], 4);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::setpgid(pid_, pid_);
  ::close(commands[0]);
  ::close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
}

void Browser::stop() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  for (int* fd : {&to_, &from_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

void Browser::fail(const std::string& what) {
  if (broken_) return;
  broken_ = true;
  std::string said;
  std::ifstream log(folder_ / "log");
  for (std::string line; std::getline(log, line);) {
    const bool about_us =
        line.find("dbus") == std::string::npos;  // It looks for a desktop in vain.
    if (about_us) said += line + '\n';
  }
  if (said.size() > 2000) said.erase(0, said.size() - 2000);
  ADD_FAILURE() << "browser: " << what << (said.empty() ? "" : "\nit printed:\n" + said);
}

bool Browser::send(const std::string& message) {
  std::string_view rest(message.c_str(), message.size() + 1);  // With the zero byte.
  while (!rest.empty()) {
    const ssize_t count = ::write(to_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string Browser::receive(Clock::time_point deadline) {
  for (;;) {
    const std::size_t end = received_.find('\0');
    if (end != std::string::npos) {
      std::string message = received_.substr(0, end);
      received_.erase(0, end + 1);
      return message;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd waiting{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      fail("no answer in time");
      return {};
    }
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(from_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      fail("it ended");
      return {};
    }
    received_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string Browser::call(const std::string& method, const std::string& parameters) {
  if (broken_) return {};
  const int id = ++last_id_;
  const std::string session =
      session_.empty() ? std::string() : fmt::format(R"(,"sessionId":{})", as_json(session_));
  if (!send(fmt::format(R"({{"id":{},"method":{},"params":{}{}}})", id, as_json(method), parameters,
                        session))) {
    fail("it does not listen to " + method);
    return {};
  }
  const auto deadline = Clock::now() + kPatience;
  for (;;) {
    const std::string message = receive(deadline);
    if (message.empty()) return {};
    if (member(message, "/id") != std::to_string(id)) {
      note(message);
      continue;
    }
    const std::string error = text_at(message, "/error/message");
    if (!error.empty()) fail(method + ": " + error);
    return member(message, "/result");
  }
}

void Browser::note(const std::string& event) {
  const std::string method = text_at(event, "/method");
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Network.requestWillBeSent") {
    requests_.push_back(text_at(event, "/params/request/url"));
  }
  if (method == "Runtime.exceptionThrown") {
    const std::string what = text_at(event, "/params/exceptionDetails/exception/description");
    complaints_.push_back("exception: " +
                          (what.empty() ? member(event, "/params/exceptionDetails") : what));
  }
  if (method == "Log.entryAdded") {
    complaints_.push_back(text_at(event, "/params/entry/level") + ": " +
                          text_at(event, "/params/entry/text"));
  }
  if (method == "Runtime.consoleAPICalled") {
    const std::string kind = text_at(event, "/params/type");
    if (kind == "error" || kind == "warning" || kind == "assert") {
      complaints_.push_back("console " + kind + ": " + member(event, "/params/args"));
    }
  }
}

void Browser::open(const std::string& url) {
  if (broken_) return;
  complaints_.clear();
  requests_.clear();
  loaded_ = false;
  const std::string went = call("Page.navigate", fmt::format(R"({{"url":{}}})", as_json(url)));
  const std::string error = text_at(went, "/errorText");
  if (!error.empty()) fail("cannot open " + url + ": " + error);
  const auto deadline = Clock::now() + kPatience;
  while (!broken_ && !loaded_) note(receive(deadline));
}

void Browser::open(const fs::path& file) { open("file://" + fs::absolute(file).string()); }

std::string Browser::evaluate(const std::string& expression) {
  const std::string answer =
      call("Runtime.evaluate",
           fmt::format(R"({{"expression":{},"returnByValue":true,"awaitPromise":true}})",
                       as_json(expression)));
  if (broken_) return {};
  if (const std::string thrown = member(answer, "/exceptionDetails"); !thrown.empty()) {
    fail(expression + " throws " + thrown);
    return {};
  }
  return member(answer, "/result/value");
}

void Browser::wait_for(const std::string& expression) {
  const auto deadline = Clock::now() + kPatience;
  while (!broken_ && !is_true(expression)) {
    if (Clock::now() > deadline) fail("never true: " + expression);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string Browser::text(const std::string& selector) {
  const std::string json = evaluate(
      fmt::format("(e => [e ? (e.innerText ?? e.textContent) : ''])(document.querySelector({}))",
                  as_json(selector)));
  return text_at(json, "/0");
}

std::size_t Browser::count(const std::string& selector) {
  const std::string json =
      evaluate(fmt::format("document.querySelectorAll({}).length", as_json(selector)));
  return json.empty() ? 0 : std::stoul(json);
}

bool Browser::find(const std::string& selector, double& x, double& y) {
  constexpr const char* kFind = R"((selector => {
    const element = document.querySelector(selector);
    if (!element) return {error: 'no such element'};
    element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    let x, y;
    if (/^(path|line|polyline)$/.test(element.localName) &&
        getComputedStyle(element).fill === 'none') {
      const middle = element.getPointAtLength(element.getTotalLength() / 2);
      const place = new DOMPoint(middle.x, middle.y).matrixTransform(element.getScreenCTM());
      [x, y] = [place.x, place.y];
    } else {
      const box = element.getBoundingClientRect();
      [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    }
    const top = document.elementFromPoint(x, y);
    const hit = top && (element.contains(top) || top.contains(element));
    return hit ? {x, y} : {error: `at ${x},${y} there is ${top ? top.outerHTML.slice(0, 200) : 'nothing'}`};
  }))";
  const std::string found = evaluate(fmt::format("{}({})", kFind, as_json(selector)));
  if (broken_) return false;
  const std::string error = text_at(found, "/error");
  if (!error.empty()) {
    fail(selector + ": " + error);
    return false;
  }
  x = std::stod(member(found, "/x"));
  y = std::stod(member(found, "/y"));
  return true;
}

void Browser::mouse(const std::string& kind, double x, double y, int buttons) {
  call("Input.dispatchMouseEvent",
       fmt::format(R"({{"type":"{}","x":{},"y":{},"button":"{}","buttons":{},"clickCount":{}}})",
                   kind, x, y, kind == "mouseMoved" ? "none" : "left", buttons,
                   kind == "mouseMoved" ? 0 : 1));
}

void Browser::hover(const std::string& selector) {
  double x = 0;
  double y = 0;
  if (find(selector, x, y)) mouse("mouseMoved", x, y, 0);
}

void Browser::click(const std::string& selector) {
  double x = 0;
  double y = 0;
  if (!find(selector, x, y)) return;
  mouse("mouseMoved", x, y, 0);
  mouse("mousePressed", x, y, 1);
  mouse("mouseReleased", x, y, 0);
}

void Browser::press(const std::string& key) {
  static const std::map<std::string, int> kCodes = {
      {"Backspace", 8},   {"Tab", 9},        {"Enter", 13},     {"Escape", 27},
      {"End", 35},        {"Home", 36},      {"ArrowLeft", 37}, {"ArrowUp", 38},
      {"ArrowRight", 39}, {"ArrowDown", 40}, {"Delete", 46},    {" ", 32}};
  const auto code = kCodes.find(key);
  const std::string text = key == "Enter" ? "\r" : key.size() == 1 ? key : "";
  for (const char* kind : {"keyDown", "keyUp"}) {
    const bool down = std::string_view(kind) == "keyDown";
    call("Input.dispatchKeyEvent",
         fmt::format(
             R"({{"type":"{}","key":{},"code":{},"windowsVirtualKeyCode":{}{}}})",
             down && text.empty() ? "rawKeyDown" : kind, as_json(key),
             as_json(key == " " ? "Space" : key),
             code == kCodes.end() ? static_cast<int>(text.empty() ? 0 : text[0]) : code->second,
             down && !text.empty() ? ",\"text\":" + as_json(text) : std::string()));
  }
}

void Browser::type(const std::string& text) {
  call("Input.insertText", fmt::format(R"({{"text":{}}})", as_json(text)));
}

void Browser::resize(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       fmt::format(R"({{"width":{},"height":{},"deviceScaleFactor":1,"mobile":{}}})", width, height,
                   width < 600));
}

void Browser::prefer_dark(bool dark) {
  call("Emulation.setEmulatedMedia",
       fmt::format(R"({{"features":[{{"name":"prefers-color-scheme","value":"{}"}}]}})",
                   dark ? "dark" : "light"));
}

void Browser::use_touch(bool touch) {
  call("Emulation.setTouchEmulationEnabled", fmt::format(R"({{"enabled":{}}})", touch));
}

void Browser::screenshot(const fs::path& file, Extent extent) {
  const std::string picture = text_at(
      call("Page.captureScreenshot",
           fmt::format(R"({{"format":"png","captureBeyondViewport":{}}})", extent == Extent::Page)),
      "/data");
  if (broken_) return;
  std::ofstream out(file, std::ios::binary);
  out << decode_base64(picture);
  out.close();
  if (!out) fail("cannot write " + file.string());
}

std::vector<std::string> Browser::complaints() {
  evaluate("0");  // When this is answered, all complaints so far have arrived.
  return complaints_;
}

std::vector<std::string> Browser::requests() {
  evaluate("0");
  return requests_;
}

}  // namespace ouro
