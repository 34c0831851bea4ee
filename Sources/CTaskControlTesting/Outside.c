// The functions that a program calls to make something outside the simulation work, or to wait for it. Each call is reported, and then passed on.
//
// Most of the functions are declared with arguments of one machine word each, which are passed in the same way as the
// real arguments. So the headers of the functions are not needed, and the functions need not exist.
#if defined(__linux__)
#include "Interposed.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Thread_local unsigned exemptions;
static _Thread_local bool hasHint;

void tc_exempt(void) { exemptions++; }
void tc_stopExempting(void) { exemptions--; }
UNSANITIZED bool tc_isProgram(void) { return simulation && !exemptions; }

void tc_hint(void) { hasHint = true; }

bool tc_takeHint(void) {
    bool had = hasHint;
    hasHint = false;
    return had;
}

void tc_touchFrom(const char *call, const char *why, const void *caller) {
    if (!tc_isProgram()) return;
    tc_exempt();
    simulation->touched(simulation->context, call, why, caller);
    tc_stopExempting();
}

typedef uintptr_t Word;

#define TOUCHES(name, why, parameters, arguments) \
    INTERPOSED Word name parameters { \
        tc_touch(#name, why); \
        return ORIGINAL(Word (*) parameters, name) arguments; \
    }
/// The same for a function that can block, so that the watchdog names it.
#define TOUCHES_BLOCKING(name, why, parameters, arguments) \
    INTERPOSED Word name parameters { \
        if (!tc_isProgram()) return ORIGINAL(Word (*) parameters, name) arguments; \
        tc_touch(#name, why); \
        return BLOCKING(#name, ORIGINAL(Word (*) parameters, name) arguments); \
    }
#define TOUCHES_1(name, why) TOUCHES(name, why, (Word a), (a))
#define TOUCHES_2(name, why) TOUCHES(name, why, (Word a, Word b), (a, b))
#define TOUCHES_3(name, why) TOUCHES(name, why, (Word a, Word b, Word c), (a, b, c))
#define TOUCHES_4(name, why) TOUCHES(name, why, (Word a, Word b, Word c, Word d), (a, b, c, d))
#define TOUCHES_5(name, why) TOUCHES(name, why, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e))
#define TOUCHES_6(name, why) TOUCHES(name, why, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f))

// MARK: Threads and queues

#define WORK "which makes another thread work"

INTERPOSED int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    tc_touch("pthread_create", WORK);
    typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return ORIGINAL(Create, pthread_create)(thread, attributes, start, argument);
}

TOUCHES_3(thrd_create, WORK)
TOUCHES_2(dispatch_async, WORK)
TOUCHES_3(dispatch_async_f, WORK)
TOUCHES_4(dispatch_async_enforce_qos_class_f, WORK)
TOUCHES_2(dispatch_barrier_async, WORK)
TOUCHES_3(dispatch_barrier_async_f, WORK)
TOUCHES_3(dispatch_after, WORK)
TOUCHES_4(dispatch_after_f, WORK)
TOUCHES_3(dispatch_group_async, WORK)
TOUCHES_4(dispatch_group_async_f, WORK)
TOUCHES_3(dispatch_group_notify, WORK)
TOUCHES_4(dispatch_group_notify_f, WORK)
TOUCHES_3(dispatch_block_notify, WORK)
TOUCHES_3(dispatch_apply, WORK)
TOUCHES_4(dispatch_apply_f, WORK)
TOUCHES_2(dispatch_source_merge_data, WORK)
TOUCHES_4(dispatch_read, WORK)
TOUCHES_4(dispatch_write, WORK)
TOUCHES_4(dispatch_io_create, WORK)
TOUCHES_6(dispatch_io_create_with_path, WORK)
TOUCHES_4(dispatch_io_create_with_io, WORK)
TOUCHES_5(dispatch_io_read, WORK)
TOUCHES_5(dispatch_io_write, WORK)
TOUCHES_2(dispatch_io_barrier, WORK)
TOUCHES_2(eventfd_write, WORK)

/// Reports a synchronous call on the main queue from another thread: a block of the main queue runs only on the main
/// thread. On any other queue, the block runs on the calling thread, and there is nothing to report.
INLINED void touchMainQueue(Word queue, const char *call) {
    if (!tc_isProgram() || queue != ORIGINAL(Word, _dispatch_main_q)) return;
    if (getpid() != syscall(SYS_gettid)) tc_touch(call, WORK);
}

#define RUNS_IN_PLACE(name, parameters, arguments) \
    INTERPOSED Word name parameters { \
        touchMainQueue(queue, #name); \
        return ORIGINAL(Word (*) parameters, name) arguments; \
    }
RUNS_IN_PLACE(dispatch_sync, (Word queue, Word block), (queue, block))
RUNS_IN_PLACE(dispatch_sync_f, (Word queue, Word context, Word work), (queue, context, work))
RUNS_IN_PLACE(dispatch_barrier_sync, (Word queue, Word block), (queue, block))
RUNS_IN_PLACE(dispatch_barrier_sync_f, (Word queue, Word context, Word work), (queue, context, work))
RUNS_IN_PLACE(dispatch_async_and_wait, (Word queue, Word block), (queue, block))
RUNS_IN_PLACE(dispatch_async_and_wait_f, (Word queue, Word context, Word work), (queue, context, work))

// MARK: Run loops

#define RUN_LOOP "which needs a thread that runs its run loop"

TOUCHES_3(CFRunLoopAddTimer, RUN_LOOP)
TOUCHES_3(CFRunLoopAddSource, RUN_LOOP)
TOUCHES_3(CFRunLoopPerformBlock, RUN_LOOP)

enum { RunLoopTimedOut = 3 };

/// Sleeps in virtual time instead of running the loop, which would read a clock that stands still again and again.
INTERPOSED int32_t CFRunLoopRunInMode(const void *mode, double seconds, unsigned char returnsAfterOne) {
    if (tc_isProgram()) {
        tc_touch("CFRunLoopRunInMode", RUN_LOOP);
        double nanoseconds = seconds * 1e9;
        tc_sleep(0, nanoseconds < 9e18 ? (int64_t)nanoseconds : INT64_MAX, "CFRunLoopRunInMode");
        return RunLoopTimedOut;
    }
    return ORIGINAL(int32_t (*)(const void *, double, unsigned char), CFRunLoopRunInMode)(mode, seconds, returnsAfterOne);
}

// MARK: The rest of the world

#define WORLD "which reaches something outside this process"

#define WAITS_1(name) TOUCHES_BLOCKING(name, WORLD, (Word a), (a))
#define WAITS_3(name) TOUCHES_BLOCKING(name, WORLD, (Word a, Word b, Word c), (a, b, c))
#define WAITS_4(name) TOUCHES_BLOCKING(name, WORLD, (Word a, Word b, Word c, Word d), (a, b, c, d))
#define WAITS_5(name) TOUCHES_BLOCKING(name, WORLD, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e))
#define WAITS_6(name) TOUCHES_BLOCKING(name, WORLD, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f))

WAITS_3(connect)
WAITS_3(accept)
WAITS_4(accept4)
WAITS_4(recv)
WAITS_6(recvfrom)
WAITS_3(recvmsg)
WAITS_4(send)
WAITS_6(sendto)
WAITS_3(sendmsg)
WAITS_4(getaddrinfo)
WAITS_4(epoll_wait)
WAITS_5(epoll_pwait)
WAITS_1(wait)
WAITS_3(waitpid)
WAITS_4(wait4)
WAITS_4(waitid)
WAITS_4(sendfile)
WAITS_6(splice)
TOUCHES_6(posix_spawn, WORLD)
TOUCHES_6(posix_spawnp, WORLD)
TOUCHES_1(system, WORLD)
TOUCHES_4(timerfd_settime, WORLD)
TOUCHES_3(setitimer, WORLD)
WAITS_4(sendmmsg)
WAITS_5(recvmmsg)
WAITS_5(epoll_pwait2)

INTERPOSED int sigwait(const sigset_t *restrict signals, int *restrict signal) {
    tc_touch("sigwait", WORLD);
    return BLOCKING("sigwait", ORIGINAL(int (*)(const sigset_t *, int *), sigwait)(signals, signal));
}

INTERPOSED int pthread_barrier_wait(pthread_barrier_t *barrier) {
    tc_touch("pthread_barrier_wait", "which waits for another thread");
    return BLOCKING("pthread_barrier_wait", ORIGINAL(int (*)(pthread_barrier_t *), pthread_barrier_wait)(barrier));
}

INTERPOSED FILE *popen(const char *command, const char *mode) {
    tc_touch("popen", WORLD);
    return ORIGINAL(FILE * (*)(const char *, const char *), popen)(command, mode);
}

INTERPOSED int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    tc_touch("timer_create", WORLD);
    return ORIGINAL(int (*)(clockid_t, struct sigevent *, timer_t *), timer_create)(clock, event, timer);
}

INTERPOSED pid_t fork(void) {
    tc_touch("fork", WORLD);
    return ORIGINAL(pid_t (*)(void), fork)();
}

INTERPOSED unsigned alarm(unsigned seconds) {
    tc_touch("alarm", WORLD);
    return ORIGINAL(unsigned (*)(unsigned), alarm)(seconds);
}

// MARK: Reading and writing

typedef enum { FileLocal, FileOutside, FileRandom } FileKind;

/// Whether the other end of a file is outside the simulation: that of a socket, a pipe, or a file of the system without a
/// name, such as an event.
static FileKind kind(int file) {
    struct stat status;
    int error = errno;
    bool isUnknown = fstat(file, &status) != 0;
    errno = error;
    if (isUnknown) return FileLocal;
    enum { MemoryMajor = 1, RandomMinor = 8, UrandomMinor = 9 };
    switch (status.st_mode & S_IFMT) {
    case S_IFSOCK: case S_IFIFO: case 0: return FileOutside;
    case S_IFCHR:
        if (major(status.st_rdev) != MemoryMajor) return FileLocal;
        return minor(status.st_rdev) == RandomMinor || minor(status.st_rdev) == UrandomMinor ? FileRandom : FileLocal;
    default: return FileLocal;
    }
}

INTERPOSED ssize_t read(int file, void *bytes, size_t count) {
    ssize_t (*original)(int, void *, size_t) = ORIGINAL(ssize_t (*)(int, void *, size_t), read);
    if (!tc_isProgram()) return original(file, bytes, count);
    switch (kind(file)) {
    case FileRandom:
        tc_fill(bytes, count);
        return (ssize_t)count;
    case FileOutside:
        tc_touch("read", WORLD);
        return BLOCKING("read", original(file, bytes, count));
    case FileLocal: break;
    }
    return original(file, bytes, count);
}

INTERPOSED ssize_t readv(int file, const struct iovec *parts, int count) {
    ssize_t (*original)(int, const struct iovec *, int) = ORIGINAL(ssize_t (*)(int, const struct iovec *, int), readv);
    if (!tc_isProgram()) return original(file, parts, count);
    ssize_t filled = 0;
    switch (kind(file)) {
    case FileRandom:
        for (int index = 0; index < count; index++) {
            tc_fill(parts[index].iov_base, parts[index].iov_len);
            filled += (ssize_t)parts[index].iov_len;
        }
        return filled;
    case FileOutside:
        tc_touch("readv", WORLD);
        return BLOCKING("readv", original(file, parts, count));
    case FileLocal: break;
    }
    return original(file, parts, count);
}

/// Output of the program is no escape, also if another process reads it.
static bool isWrittenOutside(int file) {
    return tc_isProgram() && file != STDOUT_FILENO && file != STDERR_FILENO && kind(file) == FileOutside;
}

INTERPOSED ssize_t write(int file, const void *bytes, size_t count) {
    ssize_t (*original)(int, const void *, size_t) = ORIGINAL(ssize_t (*)(int, const void *, size_t), write);
    if (!isWrittenOutside(file)) return original(file, bytes, count);
    tc_touch("write", WORLD);
    return BLOCKING("write", original(file, bytes, count));
}

INTERPOSED ssize_t writev(int file, const struct iovec *parts, int count) {
    ssize_t (*original)(int, const struct iovec *, int) = ORIGINAL(ssize_t (*)(int, const struct iovec *, int), writev);
    if (!isWrittenOutside(file)) return original(file, parts, count);
    tc_touch("writev", WORLD);
    return BLOCKING("writev", original(file, parts, count));
}

// Without files, each of these functions is a sleep.

INTERPOSED int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    if (!count && milliseconds >= 0 && tc_sleep(0, (int64_t)milliseconds * 1000000, "poll")) return 0;
    tc_touch("poll", WORLD);
    return BLOCKING("poll", ORIGINAL(int (*)(struct pollfd *, nfds_t, int), poll)(files, count, milliseconds));
}

INTERPOSED int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask) {
    if (!count && time && tc_sleep(time->tv_sec, time->tv_nsec, "ppoll")) return 0;
    tc_touch("ppoll", WORLD);
    typedef int (*Poll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    return BLOCKING("ppoll", ORIGINAL(Poll, ppoll)(files, count, time, mask));
}

INTERPOSED int select(int count, fd_set *reading, fd_set *writing, fd_set *failing, struct timeval *time) {
    if (!count && time && tc_sleep(time->tv_sec, (int64_t)time->tv_usec * 1000, "select")) return 0;
    tc_touch("select", WORLD);
    typedef int (*Select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    return BLOCKING("select", ORIGINAL(Select, select)(count, reading, writing, failing, time));
}

INTERPOSED int pselect(
    int count, fd_set *reading, fd_set *writing, fd_set *failing, const struct timespec *time, const sigset_t *mask) {
    if (!count && time && tc_sleep(time->tv_sec, time->tv_nsec, "pselect")) return 0;
    tc_touch("pselect", WORLD);
    typedef int (*Select)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    return BLOCKING("pselect", ORIGINAL(Select, pselect)(count, reading, writing, failing, time, mask));
}
#else
// Some linkers want a symbol in every object file.
void tc_nothingOutside(void) {}
#endif
