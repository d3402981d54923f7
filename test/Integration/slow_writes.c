/*===- slow_writes.c - a disk that takes its time --------------------------===
 *
 * Loaded in front of a tool, it makes large writes to regular files and fsync wait CK_SLOW_MS milliseconds each, so
 * that a test can kill the tool in the middle of one.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_a_little(void) {
  const char *text = getenv("CK_SLOW_MS");
  long milliseconds = text ? atol(text) : 0;
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct stat info;
  if (count >= 1024 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    wait_a_little();
  return syscall(SYS_write, fd, bytes, count);
}

int fsync(int fd) {
  wait_a_little();
  return (int)syscall(SYS_fsync, fd);
}
