/*
 * Runs a program that opens strangers' files or talks to strangers' servers, with no more rights than it needs.
 *
 *   confine [--network] [--read PATH]... [--read-fd N]... [--fds N] [--memory BYTES] [--cpu SECONDS] [--require] -- PROGRAM ARG...
 *   confine --check        prints what this kernel offers: landlock=ABI seccomp=0|1
 *
 * Applied before PROGRAM begins, and for good: no_new_privs, no capabilities, resource limits, Landlock (reads libraries and what
 * --read names, writes no file, executes nothing but itself) and a seccomp filter (no process, no tracing, no kernel
 * interfaces that a media program has no use for; without --network no socket). A PROGRAM that is a script may execute
 * programs of the system. Without --require, protections that the kernel lacks are left out.
 *
 * Sources: landlock(7), seccomp(2), capabilities(7), setrlimit(2). The launcher is small and static, so that it costs a millisecond.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif
#ifndef __NR_close_range
#define __NR_close_range 436
#endif

/* linux/landlock.h; the headers of a builder may be older than the kernel that runs this. */
enum { EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, TRUNCATE = 1 << 14 };
struct ruleset { uint64_t fs, net, scoped; };
struct beneath { uint64_t access; int32_t fd; } __attribute__((packed));
static const uint64_t FS_RIGHTS[] = {0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1};

static const char *const SYSTEM[] = {"/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", NULL};
static const char *const READABLE[] = {
    "/etc/ld.so.cache", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/gnutls", "/etc/crypto-policies", "/etc/pkcs11",
    "/etc/fonts", "/etc/localtime", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
    "/etc/services", "/sys/devices/system", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", NULL};

static int required;

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("confine: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(126);
}

static void missing(const char *what) {
  if (required) fail("%s cannot be had: %s", what, strerror(errno));
}

static int landlock_abi(void) {
  int abi = syscall(__NR_landlock_create_ruleset, NULL, 0, 1U);
  return abi < 0 ? 0 : abi;
}

static void allow_fd(int ruleset, int fd, uint64_t access) {
  struct stat is;
  if (fstat(fd, &is) != 0) return;
  if (!S_ISDIR(is.st_mode)) access &= EXECUTE | WRITE_FILE | READ_FILE;
  struct beneath rule = {access, fd};
  syscall(__NR_landlock_add_rule, ruleset, 1, &rule, 0);
}

/* A missing file needs no right. */
static void allow(int ruleset, const char *path, uint64_t access) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  allow_fd(ruleset, fd, access);
  close(fd);
}

/* Finds the file that execvp(3) would run. */
static void find(const char *name, char *path, size_t size) {
  if (strchr(name, '/')) {
    snprintf(path, size, "%s", name);
    return;
  }
  const char *search = getenv("PATH");
  if (!search) search = "/usr/local/bin:/usr/bin:/bin";
  for (const char *at = search; *at;) {
    size_t length = strcspn(at, ":");
    snprintf(path, size, "%.*s/%s", (int)length, at, name);
    if (length > 0 && access(path, X_OK) == 0) return;
    at += length + (at[length] == ':');
  }
  fail("%s: %s", name, strerror(ENOENT));
}

/* Returns whether the program is a script; otherwise stores the dynamic loader that it names, if any, in `loader`. */
static int read_program(const char *path, char *loader, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("%s: %s", path, strerror(errno));
  Elf64_Ehdr head = {0};
  ssize_t length = pread(fd, &head, sizeof head, 0);
  int script = length > 2 && memcmp(&head, "#!", 2) == 0;
  if (length == (ssize_t)sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0)
    for (int n = 0; n < head.e_phnum; n++) {
      Elf64_Phdr part;
      if (pread(fd, &part, sizeof part, head.e_phoff + n * sizeof part) != sizeof part) break;
      if (part.p_type == PT_INTERP && part.p_filesz < size) pread(fd, loader, part.p_filesz, part.p_offset);
    }
  close(fd);
  return script;
}

static void allow_list(int ruleset, const char *list, uint64_t rights) {
  char path[4096];
  for (const char *at = list ? list : ""; *at;) {
    size_t length = strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s", (int)length, at);
    if (length > 0) allow(ruleset, path, rights);
    at += length + (at[length] == ':');
  }
}

struct grants { const char *paths[64]; int path_count; int fds[16]; int fd_count; };

static void restrict_files(const struct grants *grants, const char *program, const char *loader, int script, int network) {
  int abi = landlock_abi();
  if (abi == 0) return missing("Landlock");
  struct ruleset rules = {FS_RIGHTS[abi < 5 ? abi : 5], network ? 1 : 3, 3};
  size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 16 : 8;
  int ruleset = syscall(__NR_landlock_create_ruleset, &rules, size, 0);
  if (ruleset < 0) return missing("Landlock");
  const uint64_t reads = READ_FILE | READ_DIR, runs = script ? EXECUTE : 0;
  for (const char *const *path = SYSTEM; *path; path++) allow(ruleset, *path, reads | runs);
  for (const char *const *path = READABLE; *path; path++) allow(ruleset, *path, reads);
  allow(ruleset, "/dev/null", READ_FILE | WRITE_FILE);
  allow(ruleset, program, READ_FILE | EXECUTE);
  allow(ruleset, loader, READ_FILE | EXECUTE);
  allow_list(ruleset, getenv("LD_LIBRARY_PATH"), reads);
  for (int n = 0; n < grants->path_count; n++) allow(ruleset, grants->paths[n], reads);
  for (int n = 0; n < grants->fd_count; n++) allow_fd(ruleset, grants->fds[n], READ_FILE);
  if (syscall(__NR_landlock_restrict_self, ruleset, 0) != 0) missing("Landlock");
  close(ruleset);
}

/* Root keeps its user id and loses its capabilities. */
static void drop_capabilities(void) {
  for (int cap = 0; cap < 64; cap++) prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  if (syscall(__NR_capset, &head, none) != 0) missing("a process without capabilities");
}

static void limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
  struct rlimit then = {most, most};
  if (setrlimit(resource, &then) != 0) missing("a resource limit");
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "confine knows x86_64 and aarch64"
#endif

static const int NEVER[] = {
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_perf_event_open, __NR_bpf, __NR_userfaultfd,
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, __NR_swapon, __NR_swapoff, __NR_reboot,
    __NR_keyctl, __NR_add_key, __NR_request_key, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load,
    __NR_execveat, __NR_memfd_create, __NR_open_by_handle_at, __NR_name_to_handle_at, __NR_fanotify_init, __NR_acct,
    __NR_quotactl, __NR_syslog, __NR_vhangup, __NR_personality, __NR_settimeofday, __NR_clock_settime, __NR_adjtimex,
    __NR_sethostname, __NR_setdomainname, __NR_mknodat, __NR_kill, __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
    __NR_migrate_pages, __NR_move_pages, __NR_mbind, __NR_setuid, __NR_setgid, __NR_setreuid, __NR_setregid, __NR_setresuid,
    __NR_setresgid, __NR_setgroups, __NR_listen, __NR_accept, __NR_accept4,
    /* By number, for older headers: io_uring, pidfd, the newer mount calls, process_madvise, memfd_secret. */
    425, 426, 427, 424, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447, 448};
static const int SOCKETS[] = {__NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_sendto, __NR_sendmsg, __NR_sendmmsg};

static struct sock_filter code[512];
static unsigned short steps;

static void add(unsigned short op, uint32_t k, uint8_t yes, uint8_t no) {
  code[steps++] = (struct sock_filter){op, yes, no, k};
}
static void answer(uint32_t what) { add(BPF_RET | BPF_K, what, 0, 0); }
static void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
/* Needs the number of the call to be loaded; returns `what` for `call`. */
static void on(int call, uint32_t what) {
  add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
  answer(what);
}
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define ARGUMENT(n) offsetof(struct seccomp_data, args[n])
#define HIGH(n) (ARGUMENT(n) + 4)

static void filter_calls(int network, int script) {
  load(offsetof(struct seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
  answer(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(REFUSE);
  on(__NR_modify_ldt, REFUSE);
  on(__NR_mknod, REFUSE);
  if (!script) {
    on(__NR_fork, REFUSE);
    on(__NR_vfork, REFUSE);
  }
#endif
  for (size_t n = 0; n < sizeof NEVER / sizeof *NEVER; n++) on(NEVER[n], REFUSE);
  if (!network)
    for (size_t n = 0; n < sizeof SOCKETS / sizeof *SOCKETS; n++) on(SOCKETS[n], REFUSE);
  /* The filter cannot see the flags of clone3; without clone3 the C library uses clone. */
  on(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  /* Threads, and no namespaces. */
  add(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 6);
  load(ARGUMENT(0));
  add(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS, 2, 0);
  add(BPF_JMP | BPF_JSET | BPF_K, script ? ~0U : CLONE_THREAD, 0, 1);
  answer(SECCOMP_RET_ALLOW);
  answer(REFUSE);
  load(offsetof(struct seccomp_data, nr));
  /* Signals only to itself, and only its own limits. A script may signal its children, whose ids are not known yet. */
  add(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 5);
  load(ARGUMENT(0));
  add(BPF_JMP | (script ? BPF_JGE : BPF_JEQ) | BPF_K, script ? 1 : getpid(), 0, 1);
  answer(SECCOMP_RET_ALLOW);
  answer(REFUSE);
  load(offsetof(struct seccomp_data, nr));
  add(BPF_JMP | BPF_JEQ | BPF_K, __NR_prlimit64, 0, 5);
  load(ARGUMENT(0));
  add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
  answer(SECCOMP_RET_ALLOW);
  answer(REFUSE);
  load(offsetof(struct seccomp_data, nr));
  if (network) {
    /* Internet, names by the system's own services, and addresses of this machine (getaddrinfo). */
    add(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 7);
    load(ARGUMENT(0));
    add(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1);
    answer(SECCOMP_RET_ALLOW);
    answer(REFUSE);
  }
  answer(SECCOMP_RET_ALLOW);
  struct sock_fprog program = {steps, code};
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) missing("seccomp");
}

static int check(void) {
  uint32_t kill = SECCOMP_RET_KILL_PROCESS;
  printf("landlock=%d seccomp=%d\n", landlock_abi(), syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) == 0);
  return 0;
}

int main(int count, char **words) {
  struct grants grants = {0};
  int network = 0, first = 3, at = 1;
  rlim_t memory = RLIM_INFINITY, seconds = RLIM_INFINITY;
  for (; at < count && strcmp(words[at], "--") != 0; at++) {
    const char *word = words[at], *value = at + 1 < count ? words[at + 1] : "";
    if (strcmp(word, "--check") == 0) return check();
    if (strcmp(word, "--network") == 0) network = 1;
    else if (strcmp(word, "--require") == 0) required = 1;
    else if (strcmp(word, "--read") == 0 && grants.path_count < 64) grants.paths[grants.path_count++] = value, at++;
    else if (strcmp(word, "--read-fd") == 0 && grants.fd_count < 16) grants.fds[grants.fd_count++] = atoi(value), at++;
    else if (strcmp(word, "--fds") == 0) first = atoi(value), at++;
    else if (strcmp(word, "--memory") == 0) memory = strtoull(value, NULL, 10), at++;
    else if (strcmp(word, "--cpu") == 0) seconds = strtoull(value, NULL, 10), at++;
    else fail("%s is no option", word);
  }
  if (at + 1 >= count) fail("no program is named");
  char **arguments = words + at + 1;
  char program[4096] = "", loader[4096] = "";
  find(arguments[0], program, sizeof program);
  int script = read_program(program, loader, sizeof loader);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  if (memory != RLIM_INFINITY) limit(RLIMIT_DATA, memory);
  if (seconds != RLIM_INFINITY) limit(RLIMIT_CPU, seconds);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs: %s", strerror(errno));
  restrict_files(&grants, program, loader, script, network);
  drop_capabilities();
  syscall(__NR_close_range, first, ~0U, 0);
  filter_calls(network, script);
  execv(program, arguments);
  fail("%s: %s", program, strerror(errno));
}
