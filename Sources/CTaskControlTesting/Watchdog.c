// The watchdog: a thread that reports a step which takes too long, and its seed.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

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

static void report(const Progress *progress) {
    Text text = {.count = 0};
    tc_append(&text, "simulate: ");
    tc_appendPlace(&text, progress);
    tc_append(&text, " has run for ");
    int64_t milliseconds = limit / Millisecond;
    tc_appendNumber(&text, (uint64_t)(milliseconds % 1000 ? milliseconds : milliseconds / 1000));
    tc_append(&text, milliseconds % 1000 ? " ms" : " s");
    tc_append(&text, " without suspending, ");
    tc_appendCallSite(&text, progress);
    const char *call = GET(progress->call);
    if (call) {
        tc_append(&text, ". It is blocked in ");
        tc_append(&text, call);
        tc_append(&text, ", which no other task of the simulation can end: all of them run on this thread.\n");
    } else {
        tc_append(&text, ". Either it is blocked by a lock that another task of the simulation holds, or it is in a loop without await.\n");
    }
    tc_print(&text);
}

static void look(Progress *progress) {
    int64_t step = GET(progress->step);
    if (!__atomic_load_n(&progress->isRunning, __ATOMIC_ACQUIRE)) {
        progress->watchedStep = -1;
    } else if (progress->watchedStep != step) {
        progress->watchedStep = step;
        progress->watchedSince = now();
    } else if (limit && progress->watchedSince >= 0 && now() - progress->watchedSince >= limit) {
        // Each step is reported once.
        progress->watchedSince = -1;
        report(progress);
    }
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
