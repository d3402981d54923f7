//===- Process.cpp - running another program ------------------------------===//

#include "Process.h"
#include "Maps.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ck::check {

std::string shellWord(const std::string &text) {
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Result<Outcome> runShell(const std::string &command, const std::string &folder, const std::string &log, int seconds) {
  const int file = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0)
    return Error{log + ": cannot write it: " + std::strerror(errno)};
  const pid_t child = fork();
  if (child == 0) {
    // A group of its own, so that one signal reaches everything that it starts.
    setpgid(0, 0);
    if (chdir(folder.c_str()) != 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
      _exit(126);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
    _exit(127);
  }
  close(file);
  if (child < 0)
    return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  setpgid(child, child);

  Outcome outcome;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  for (pid_t done = 0; (done = waitpid(child, &status, WNOHANG)) != child;) {
    if (done < 0 && errno != EINTR)
      return Error{std::string("lost a process: ") + std::strerror(errno)};
    if (!outcome.timedOut && std::chrono::steady_clock::now() > end) {
      outcome.timedOut = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  Result<std::string> text = readText(log);
  if (!text)
    return text.error();
  outcome.output = *std::move(text);
  return outcome;
}

} // namespace ck::check
