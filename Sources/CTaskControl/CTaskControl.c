#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CTaskControl.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sched.h>
#endif
#if defined(__APPLE__) || defined(__linux__)
#include <pthread.h>
#include <signal.h>
#endif
#if defined(__linux__)
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// On separate cache lines, so that taking a number does not invalidate the flag that every call reads.
_Alignas(128) bool tc_observed = false;
bool tc_simulates = false;
_Alignas(128) uint64_t tc_number = 0;

static _Thread_local const void *observerCall;

const void *tc_observerCall(void) { return observerCall; }
void tc_setObserverCall(const void *call) { observerCall = call; }

static _Thread_local const void *simulatedProcess;

const void *tc_simulatedProcess(void) { return simulatedProcess; }

void tc_setSimulatedProcess(const void *values) {
    __atomic_store_n(&tc_simulates, true, __ATOMIC_RELAXED);
    simulatedProcess = values;
}

static _Thread_local bool insideHandler;

bool tc_isInsideHandler(void) { return insideHandler; }
void tc_setInsideHandler(bool isInside) { insideHandler = isInside; }

// A function of the Swift runtime. Every version of the runtime has it, because compiled code calls it.
extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);

const void *tc_runningTask(void) { return swift_task_getCurrent(); }

extern __attribute__((swiftcall)) bool swift_task_isCancelled(void *task);

bool tc_isCancelled(const void *task) { return swift_task_isCancelled((void *)task); }

_Alignas(128) uint32_t tc_recordCounts[tc_recordParts];

bool tc_isMainThread(void) {
#if defined(__APPLE__)
    return pthread_main_np() != 0;
#elif defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#else
    return false;
#endif
}

void tc_yieldThread(void) {
#if defined(_WIN32)
    SwitchToThread();
#else
    sched_yield();
#endif
}

#if defined(__linux__)
// A function of libdispatch, which the core imports. Without a queue: the label of the one that runs the caller.
extern const char *dispatch_queue_get_label(void *queue);
#endif

bool tc_isMainQueue(void) {
#if defined(__linux__)
    // A server whose main function is async runs the main queue on another thread than the first of the process.
    return strcmp(dispatch_queue_get_label(NULL), "com.apple.main-thread") == 0;
#else
    return tc_isMainThread();
#endif
}

bool tc_startThread(void *(*function)(void *), void *context) {
#if defined(__APPLE__) || defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    // Some systems give 128 or 512 KB by default.
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The new thread inherits the mask: the program's signals are for its own threads.
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pthread_t thread;
    bool isStarted = pthread_create(&thread, &attributes, function, context) == 0;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    pthread_attr_destroy(&attributes);
    return isStarted;
#else
    (void)function;
    (void)context;
    return false;
#endif
}
