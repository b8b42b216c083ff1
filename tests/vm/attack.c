// SPDX-License-Identifier: Apache-2.0
// attack: an unprivileged user's attempts to slow rdtd down, and the probe that measures whether they
// succeed. The attacks run until they are killed.
//
//   attack rename NAME OTHER           the process renames itself in a loop
//   attack rename-threads COUNT NAME OTHER
//                                      the same, with COUNT threads that sleep
//   attack exec PROGRAM [MILLISECONDS] starts PROGRAM and waits for it, in a loop, with a pause
//   attack nest DIRECTORY BYTES        makes directories "a" in each other until the path below
//                                      DIRECTORY has BYTES, and starts itself there in a loop
//   attack probe LINK GROUP SECONDS    five times a second, starts itself as LINK; prints for each the
//                                      microseconds from exec until it is in GROUP, or -1 after 20 s
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROBE_PATIENCE = 20 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap(double seconds) {
  nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
}

static int fail(const char *what) {
  fprintf(stderr, "attack: ");
  perror(what);
  return 1;
}

static _Noreturn int rename_loop(const char *name, const char *other) {
  for (;;) {
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_NAME, other);
  }
}

static _Noreturn void *sleep_forever(void *unused) {
  (void)unused;
  for (;;) pause();
}

static int rename_with_threads(int count, const char *name, const char *other) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, sleep_forever, NULL)) return fail("pthread_create");
  }
  rename_loop(name, other);
}

static int exec_loop(const char *program, double pause_seconds) {
  for (;;) {
    const pid_t pid = vfork();
    if (pid < 0) return fail("vfork");
    if (pid == 0) {
      execl(program, program, (char *)NULL);
      _exit(127);
    }
    waitpid(pid, NULL, 0);
    if (pause_seconds > 0) nap(pause_seconds);
  }
}

static int join_cgroup(void) {
  const int procs = open("cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (procs < 0 || write(procs, "0", 1) < 0) return fail("cgroup.procs");
  return close(procs);
}

static int nest(const char *directory, size_t bytes) {
  if (chdir(directory)) return fail(directory);
  for (size_t length = 0; length + 2 <= bytes; length += 2)
    if ((mkdir("a", 0755) && access("a", F_OK)) || chdir("a")) return fail("nest");
  return join_cgroup() ? 1 : exec_loop("/proc/self/exe", 0);
}

static double wait_for_group(const char *group) {
  char wanted[300], text[512];
  const double begin = now();
  snprintf(wanted, sizeof wanted, "res:%s\n", group);
  const int file = open("/proc/self/cpu_resctrl_groups", O_RDONLY | O_CLOEXEC);
  if (file < 0) exit(fail("/proc/self/cpu_resctrl_groups"));
  while (now() - begin < PROBE_PATIENCE) {
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    if (strncmp(text, wanted, strlen(wanted)) == 0) return (now() - begin) * 1e6;
    nap(0.0005);
  }
  return -1;
}

static int probe(const char *link, const char *group, double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
    const pid_t pid = vfork();
    if (pid < 0) return fail("vfork");
    if (pid == 0) {
      execl(link, link, "probed", group, (char *)NULL);
      _exit(127);
    }
    nap(0.2);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
  while (wait(NULL) > 0) continue;
  return 0;
}

int main(int argc, char **argv) {
  const char *job = argc > 1 ? argv[1] : "";
  if (argc == 1) return 0;  // what an exec loop starts
  if (!strcmp(job, "rename") && argc == 4) rename_loop(argv[2], argv[3]);
  if (!strcmp(job, "rename-threads") && argc == 5)
    return rename_with_threads(atoi(argv[2]), argv[3], argv[4]);
  if (!strcmp(job, "exec") && (argc == 3 || argc == 4))
    return exec_loop(argv[2], argc == 4 ? atof(argv[3]) / 1e3 : 0);
  if (!strcmp(job, "nest") && argc == 4) return nest(argv[2], strtoul(argv[3], NULL, 10));
  if (!strcmp(job, "probe") && argc == 5) return probe(argv[2], argv[3], atof(argv[4]));
  if (!strcmp(job, "probed") && argc == 3) return printf("%.0f\n", wait_for_group(argv[2])) < 0;
  fprintf(stderr, "attack: see the top of attack.c\n");
  return 64;
}
