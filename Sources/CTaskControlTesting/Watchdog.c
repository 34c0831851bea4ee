// The watchdog: a thread that reports a step which takes too long, and its seed.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__APPLE__)
#include <mach/mach.h>
#endif

#define GET(word) __atomic_load_n(&word, __ATOMIC_RELAXED)

enum { Millisecond = 1000000 };
enum { Second = 1000000000 };
static const double usualLimit = 5;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// All of these variables are accessed only while `lock` is held.
static Progress *first;
static bool isWatching;
/// The time after which a step is reported, in nanoseconds; zero if no step is reported.
static int64_t limit;

/// Returns the processor time that a thread has used, in nanoseconds; negative if it is not known.
static int64_t processorTime(pthread_t thread) {
#if defined(__APPLE__)
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    if (thread_info(pthread_mach_thread_np(thread), THREAD_BASIC_INFO, (thread_info_t)&info, &count) != KERN_SUCCESS) return -1;
    int64_t seconds = (int64_t)info.user_time.seconds + info.system_time.seconds;
    return seconds * Second + ((int64_t)info.user_time.microseconds + info.system_time.microseconds) * 1000;
#else
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return time.tv_sec * (int64_t)Second + time.tv_nsec;
#endif
}

/// A step that takes this many times the limit ends the process: nothing else can end it.
enum { LimitsToEnd = 12 };

/// Returns the value of `TASKCONTROL_WATCHDOG` in nanoseconds, or the usual limit if the variable is not set or
/// invalid. Zero means that no step is reported.
static int64_t wantedLimit(void) {
    const char *text = getenv("TASKCONTROL_WATCHDOG");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : usualLimit;
    if (text && (end == text || !(seconds >= 0))) seconds = usualLimit;
    return seconds < 1e9 ? (int64_t)(seconds * Second) : 0;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)Second + time.tv_nsec;
}

static void appendTime(Text *text, int64_t nanoseconds) {
    int64_t milliseconds = nanoseconds / Millisecond;
    tc_appendNumber(text, (uint64_t)(milliseconds % 1000 ? milliseconds : milliseconds / 1000));
    tc_append(text, milliseconds % 1000 ? " ms" : " s");
}

/// - time: The time that the step has run or waited, in nanoseconds.
/// - waits: Whether its thread uses no processor time, and so waits.
static void report(const Progress *progress, int64_t time, bool waits) {
    Text text = {.count = 0};
    tc_append(&text, "simulate: ");
    tc_appendPlace(&text, progress);
    tc_append(&text, waits ? " has waited for " : " has used the processor for ");
    appendTime(&text, time);
    tc_append(&text, " without suspending, ");
    tc_appendCallSite(&text, progress);
    tc_append(&text, time > limit ? ", and ends the process" : ". After ");
    if (time <= limit) {
        appendTime(&text, limit * LimitsToEnd);
        tc_append(&text, ", it ends the process");
    }
    const char *call = GET(progress->call);
    if (call) {
        tc_append(&text, ". It is blocked in ");
        tc_append(&text, call);
        tc_append(&text, ", which no other task of the simulation can end: all of them run on this thread.\n");
    } else if (waits) {
        tc_append(&text, ". It is blocked by a lock that another task of the simulation holds, or in a call that the simulation does not know.\n");
    } else {
        tc_append(&text, ". It is in a loop that never suspends.\n");
    }
    tc_print(&text);
}

/// Whether a debugger may have stopped the process.
static bool isDebugged(void) {
#if defined(__linux__)
    char text[4096];
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return false;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = 0;
    const char *tracer = strstr(text, "TracerPid:\t");
    return tracer && tracer[11] != '0';
#else
    return false;
#endif
}

/// A busy machine may give a thread no time for long. So a step that runs is judged by the processor time of its thread, and
/// one that waits by the real time in which that thread uses none.
static void look(Progress *progress) {
    int64_t step = GET(progress->step);
    if (!__atomic_load_n(&progress->isRunning, __ATOMIC_ACQUIRE)) {
        progress->watchedStep = -1;
        return;
    }
    int64_t time = now(), used = processorTime(progress->thread);
    if (used < 0) used = time;
    if (progress->watchedStep != step) {
        progress->watchedStep = step;
        progress->usedBefore = progress->used = used;
        progress->idleSince = time;
        progress->isReported = false;
        return;
    }
    if (progress->used != used) progress->idleSince = time;
    progress->used = used;
    int64_t busy = used - progress->usedBefore, idle = time - progress->idleSince;
    // For less than a second, a thread that runs may be given no time either.
    bool waits = idle >= (limit < Second ? Second : limit);
    if (!limit || (!waits && busy < limit)) return;
    if (!progress->isReported) {
        report(progress, limit, waits);
        progress->isReported = true;
        // The report itself takes time, in an instrumented build more than all limits.
        progress->usedBefore = used - limit;
        progress->idleSince = waits ? now() - limit : now();
        return;
    }
    int64_t end = limit * LimitsToEnd;
    if ((waits ? idle : busy) < end || isDebugged()) return;
    report(progress, end, waits);
    // On the thread that does not continue, so that the backtrace shows where it is. Not SIGABRT, which the threads of
    // Dispatch block.
    pthread_kill(progress->thread, SIGTRAP);
    progress->usedBefore = progress->idleSince = INT64_MAX;
}

static void *watch(void *nothing) {
    (void)nothing;
#if defined(__APPLE__)
    // On these platforms, a thread can only set its own name.
    pthread_setname_np("TC watchdog");
#endif
    pthread_mutex_lock(&lock);
    // The watchdog ends when it has found no simulation twice in a row. Between two seeds that follow each other, it
    // therefore continues to run.
    for (int idle = 0; idle < 2; idle++) {
        int64_t wait = limit / 8;
        wait = wait < 5 * Millisecond ? 5 * Millisecond : wait > Second ? Second : wait;
        pthread_mutex_unlock(&lock);
        struct timespec duration = {wait / Second, wait % Second};
        nanosleep(&duration, NULL);
        pthread_mutex_lock(&lock);
        for (Progress *progress = first; progress; progress = progress->following) {
            idle = -1;
            look(progress);
        }
    }
    isWatching = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void start(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The watchdog blocks all signals, so that the threads of the program receive them.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    isWatching = pthread_create(&thread, &attributes, watch, NULL) == 0;
#if !defined(__APPLE__)
    if (isWatching) pthread_setname_np(thread, "TC watchdog");
#endif
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void tc_watch(Progress *progress) {
    int64_t wanted = wantedLimit();
    progress->watchedStep = -1;
    pthread_mutex_lock(&lock);
    progress->following = first;
    first = progress;
    limit = wanted;
    if (wanted && !isWatching) start();
    pthread_mutex_unlock(&lock);
}

void tc_stopWatching(Progress *progress) {
    pthread_mutex_lock(&lock);
    Progress **link = &first;
    while (*link && *link != progress) link = &(*link)->following;
    if (*link) *link = progress->following;
    pthread_mutex_unlock(&lock);
}
#else
// Some linkers want a symbol in every object file.
void tc_noWatchdog(void) {}
#endif
