// SPDX-License-Identifier: Apache-2.0
// attack: an unprivileged user's attempts to slow rdtd down, and the probe that measures whether
// they succeed. The attacks run until they are killed.
//
//   attack rename NAME OTHER           the process renames itself in a loop
//   attack rename NAME OTHER COUNT MILLISECONDS
//                                      COUNT processes do, with a pause after each time
//   attack read-groups                 reads its own cpu_resctrl_groups in a loop, for which the
//                                      kernel takes the lock that a move waits for
//   attack rename-threads COUNT NAME OTHER
//                                      the same, with COUNT threads that sleep
//   attack exec PROGRAM [MILLISECONDS] starts PROGRAM and waits for it, in a loop, with a pause
//   attack groups UID PROGRAM          takes very many supplementary groups as root, becomes UID,
//   and
//                                      starts PROGRAM in a loop
//   attack nest DIRECTORY BYTES        makes directories "a" in each other until the path below
//                                      DIRECTORY has BYTES, and starts itself there in a loop
//   attack hold-up COUNT               keeps COUNT processes that rename themselves, whose command
//                                      lines nobody can read
//   attack probe LINK GROUP SECONDS    five times a second, starts itself as LINK; prints for each
//                                      the microseconds from exec until it is in GROUP, or -1
//                                      after 20 s
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
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
  nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)},
            NULL);
}

static int fail(const char* what) {
  fprintf(stderr, "attack: ");
  perror(what);
  return 1;
}

static _Noreturn int rename_loop(const char* name, const char* other, double pause) {
  for (;;) {
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_NAME, other);
    if (pause > 0) nap(pause);
  }
}

static _Noreturn int rename_loops(const char* name, const char* other, int count, double pause) {
  for (int i = 1; i < count; i++)
    if (fork() == 0) break;
  rename_loop(name, other, pause);
}

static int read_groups(void) {
  const int fd = open("/proc/self/cpu_resctrl_groups", O_RDONLY | O_CLOEXEC);
  char groups[512];
  while (pread(fd, groups, sizeof groups, 0) > 0) continue;
  return fail("cpu_resctrl_groups");
}

static _Noreturn void* sleep_forever(void* unused) {
  (void)unused;
  for (;;) pause();
}

static int rename_with_threads(int count, const char* name, const char* other) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, sleep_forever, NULL)) return fail("pthread_create");
  }
  rename_loop(name, other, 0);
}

static int exec_loop(const char* program, double pause_seconds) {
  for (;;) {
    const pid_t pid = vfork();
    if (pid < 0) return fail("vfork");
    if (pid == 0) {
      execl(program, program, (char*)NULL);
      _exit(127);
    }
    waitpid(pid, NULL, 0);
    if (pause_seconds > 0) nap(pause_seconds);
  }
}

// As many supplementary groups as a user can have, who has subordinate ids and newgidmap.
static int with_groups(uid_t user, const char* program) {
  static gid_t groups[65536];
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) groups[i] = 100000 + (gid_t)i;
  if (setgroups(sizeof groups / sizeof *groups, groups) || setresgid(user, user, user) ||
      setresuid(user, user, user))
    return fail("groups");
  return exec_loop(program, 0.025);
}

static int join_cgroup(void) {
  const int procs = open("cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (procs < 0 || write(procs, "0", 1) < 0) return fail("cgroup.procs");
  return close(procs);
}

static int nest(const char* directory, size_t bytes) {
  if (chdir(directory)) return fail(directory);
  for (size_t length = 0; length + 2 <= bytes; length += 2)
    if ((mkdir("a", 0755) && access("a", F_OK)) || chdir("a")) return fail("nest");
  return join_cgroup() ? 1 : exec_loop("/proc/self/exe", 0);
}

// The file system of a user: one file, which can be opened and mapped, and a read of which never
// ends (linux/fuse.h). The file is the root of the file system.
static void serve_file(int file) {
  static char request[1 << 20];
  while (read(file, request, sizeof request) > 0) {
    const struct fuse_in_header* in = (const void*)request;
    struct {
      struct fuse_out_header out;
      union {
        struct fuse_init_out init;
        struct fuse_attr_out attr;
        struct fuse_open_out open;
      };
    } answer = {.out = {.len = sizeof answer.out, .unique = in->unique}};
    if (in->opcode == FUSE_READ) continue;
    if (in->opcode == FUSE_INIT) {
      answer.init = (struct fuse_init_out){.major = 7, .minor = 31, .max_write = 4096};
      answer.out.len += sizeof answer.init;
    } else if (in->opcode == FUSE_GETATTR) {
      answer.attr.attr =
          (struct fuse_attr){.ino = 1, .size = 4096, .mode = S_IFREG | 0644, .nlink = 1};
      answer.out.len += sizeof answer.attr;
    } else if (in->opcode == FUSE_OPEN) {
      answer.out.len += sizeof answer.open;
    } else {
      answer.out.error = -ENOSYS;
    }
    if (write(file, &answer, answer.out.len) < 0) break;
  }
}

static int write_text(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) return fail(path);
  return close(file);
}

// In name spaces of its own, where the user is root.
static int mount_file(const char* place) {
  char users[32], groups[32], options[64];
  snprintf(users, sizeof users, "0 %u 1", getuid());
  snprintf(groups, sizeof groups, "0 %u 1", getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return fail("unshare");
  if (write_text("/proc/self/setgroups", "deny") || write_text("/proc/self/uid_map", users) ||
      write_text("/proc/self/gid_map", groups))
    return 1;
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return fail("/dev/fuse");
  snprintf(options, sizeof options, "fd=%d,rootmode=100644,user_id=0,group_id=0", device);
  if (mount("attack", place, "fuse", MS_NOSUID | MS_NODEV, options)) return fail("mount");
  const pid_t pid = fork();
  if (pid < 0) return fail("fork");
  if (pid > 0) return close(device);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  serve_file(device);
  _exit(0);
}

// Reads a page of the file as if by a debugger: the kernel keeps the memory map locked meanwhile.
static void* lock_map(void* page) {
  char byte;
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  (void)!pread(memory, &byte, 1, (off_t)(intptr_t)page);
  return NULL;
}

// Wants to change the memory map a moment later. Everybody who reads it after that waits too.
static void* change_map(void* page) {
  nap(0.02);
  munmap((char*)page + sysconf(_SC_PAGESIZE), 1);
  return NULL;
}

static int held(void) {
  const int place = open("held", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const int name = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
  if (place < 0 || name < 0) return fail("held");
  close(place);
  if (mount_file("held")) return 1;
  const int file = open("held", O_RDONLY | O_CLOEXEC);
  struct stat size;
  if (file < 0 || fstat(file, &size)) return fail("held");  // asks for its size
  void* const page = mmap(NULL, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_PRIVATE, file, 0);
  pthread_t threads[2];
  if (page == MAP_FAILED) return fail("mmap");
  if (pthread_create(&threads[0], NULL, change_map, page) ||
      pthread_create(&threads[1], NULL, lock_map, page))
    return fail("pthread_create");
  for (int i = 0; i < 60; i++) {
    if (write(name, i % 2 ? "held-a" : "held-b", 6) < 0) return fail("comm");
    nap(0.01);
  }
  _exit(0);
}

static int start_held(void) {
  const pid_t pid = vfork();
  if (pid < 0) return fail("vfork");
  if (pid == 0) {
    execl("/proc/self/exe", "attack", "held", (char*)NULL);
    _exit(127);
  }
  return 0;
}

static int hold_up(int count) {
  int status = 0;
  for (int i = 0; i < count; i++) status |= start_held();
  while (!status && wait(&status) >= 0) status |= start_held();
  return 1;
}

static double wait_for_group(const char* group) {
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

static int probe(const char* link, const char* group, double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
    const pid_t pid = vfork();
    if (pid < 0) return fail("vfork");
    if (pid == 0) {
      execl(link, link, "probed", group, (char*)NULL);
      _exit(127);
    }
    nap(0.2);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
  while (wait(NULL) > 0) continue;
  return 0;
}

int main(int argc, char** argv) {
  const char* job = argc > 1 ? argv[1] : "";
  if (argc == 1) return 0;  // what an exec loop starts
  if (!strcmp(job, "rename") && argc == 4) rename_loop(argv[2], argv[3], 0);
  if (!strcmp(job, "rename") && argc == 6)
    rename_loops(argv[2], argv[3], atoi(argv[4]), atof(argv[5]) / 1e3);
  if (!strcmp(job, "read-groups") && argc == 2) return read_groups();
  if (!strcmp(job, "rename-threads") && argc == 5)
    return rename_with_threads(atoi(argv[2]), argv[3], argv[4]);
  if (!strcmp(job, "exec") && (argc == 3 || argc == 4))
    return exec_loop(argv[2], argc == 4 ? atof(argv[3]) / 1e3 : 0);
  if (!strcmp(job, "groups") && argc == 4) return with_groups((uid_t)atoi(argv[2]), argv[3]);
  if (!strcmp(job, "nest") && argc == 4) return nest(argv[2], strtoul(argv[3], NULL, 10));
  if (!strcmp(job, "hold-up") && argc == 3) return hold_up(atoi(argv[2]));
  if (!strcmp(job, "held") && argc == 2) return held();
  if (!strcmp(job, "probe") && argc == 5) return probe(argv[2], argv[3], atof(argv[4]));
  if (!strcmp(job, "probed") && argc == 3) return printf("%.0f\n", wait_for_group(argv[2])) < 0;
  fprintf(stderr, "attack: see the top of attack.c\n");
  return 64;
}
