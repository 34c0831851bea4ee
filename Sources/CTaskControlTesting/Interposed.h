// The declarations that the files of this target share. Private: Swift imports only the header in `include`.
#pragma once
#if defined(__linux__) || defined(__APPLE__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CTaskControlTesting.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

/// The simulation that this thread runs, if functions are interposed for this simulation; otherwise `NULL`.
extern HIDDEN _Thread_local TCSimulation *tc_simulation;
#define simulation tc_simulation

#if defined(__linux__)
// The executable's definition of a function takes precedence over that of a shared library, for all code that calls the
// function by name.
#if __has_feature(thread_sanitizer)
// Foundation calls such functions while a thread ends, after ThreadSanitizer has forgotten the thread: its checks would crash there.
#define UNSANITIZED __attribute__((disable_sanitizer_instrumentation))
// Not weak: ThreadSanitizer has weak definitions of its own, which would take precedence.
#define INTERPOSED UNSANITIZED __attribute__((visibility("default")))
#else
#define UNSANITIZED
// Weak: if the runtime is linked statically, its own definitions take precedence, and the simulation is not available.
#define INTERPOSED __attribute__((weak, visibility("default")))
#endif

/// Returns the original definition of an interposed function.
UNSANITIZED static inline void *next(const char *name) {
#if __has_feature(thread_sanitizer)
    // The interceptor of ThreadSanitizer, if there is one for this function: ThreadSanitizer must see the calls that it
    // checks.
    char interceptor[64];
    snprintf(interceptor, sizeof interceptor, "___interceptor_%s", name);
    void *watched = dlsym(RTLD_DEFAULT, interceptor);
    if (watched) return watched;
#endif
    return dlsym(RTLD_NEXT, name);
}

/// The original function of the shared library, as a pointer of the given type. Each use of this macro looks the
/// function up once.
#define ORIGINAL(type, name) \
    ({ \
        static void *cached; \
        void *found = __atomic_load_n(&cached, __ATOMIC_ACQUIRE); \
        if (!found) { \
            found = next(#name); \
            __atomic_store_n(&cached, found, __ATOMIC_RELEASE); \
        } \
        (type)found; \
    })
#endif

// MARK: Touching what is outside the simulation

/// Reports that the program called a function that makes something outside the simulation work, or waits for it. Does
/// nothing if `tc_isProgram()` is `false`.
///
/// - call: The name of the function.
/// - why: A relative clause for the message, such as "which wakes another thread".
/// - caller: The address to which the function returns.
HIDDEN void tc_touchFrom(const char *call, const char *why, const void *caller);
/// Used in interposed functions, and in functions that are always inlined into them.
#define tc_touch(call, why) tc_touchFrom(call, why, __builtin_return_address(0))
#define INLINED static inline __attribute__((always_inline))

/// Fills memory with random numbers of the seed. This thread must run a simulation.
HIDDEN void tc_fill(void *bytes, size_t count);

/// Stops the reporting of calls on this thread, because the runtime or the simulation makes them, and not the program.
/// `tc_stopExempting` ends this. The calls of both functions can be nested.
HIDDEN void tc_exempt(void);
HIDDEN void tc_stopExempting(void);

/// Whether this thread runs code of the program in a simulation, so that its calls are reported. Always `false` on
/// Apple's platforms.
HIDDEN bool tc_isProgram(void);

/// Notes that a call which is not an escape by itself may have made a thread outside the simulation work. See
/// `tc_takeHint`.
HIDDEN void tc_hint(void);

/// Sleeps in virtual time, if the clocks of this thread are virtual.
///
/// - call: The name of the function that the program has called to sleep.
/// - Returns: Whether the clocks are virtual. If not, this function has done nothing.
HIDDEN bool tc_sleep(int64_t seconds, int64_t nanoseconds, const char *call);

struct timespec;
/// Lets virtual time pass up to a limit, so that a loop that waits for this time ends.
///
/// - clock: The clock that measures the limit, as in `clock_gettime`.
HIDDEN void tc_passUpTo(int clock, const struct timespec *limit, const char *call);

/// Forgets the sources of signals that this thread has created in the seed before.
HIDDEN void tc_forgetSignals(void);

/// Ends the effect of `tc_actor` and `tc_claim` for an actor that is being deallocated on this thread.
HIDDEN void tc_unclaim(void *actor);

// MARK: Progress, for the crash note and the watchdog

/// The state of the simulation that a thread runs. Written by that thread, and read by its signal handlers and by the
/// watchdog.
typedef struct Progress {
    uint64_t seed;
    TCStrategy strategy;
    /// The code that replays the schedule; `NULL` if the seed and the strategy are sufficient to replay it. Allocated
    /// on the heap.
    char *replay;
    /// The command that runs the test; `NULL` if the source calls `simulate` directly. Allocated on the heap.
    char *command;
    char fileID[192];
    int64_t line;
    /// The number of the step. This field and the following ones up to `isRunning` are one word each, and are read and
    /// written atomically.
    int64_t step;
    /// The number of the task; negative if there is none.
    int64_t task;
    const char *name;
    /// The name of the function in which the step is blocked; `NULL` if it is not known, or the step is not blocked.
    const char *call;
    bool isRunning;
    /// The thread that runs the simulation.
    pthread_t thread;
    /// The step that the watchdog has seen last, the processor time of the thread when it has first and last seen this step,
    /// and the real time since which the thread has used none. Only the watchdog uses these fields.
    int64_t watchedStep, usedBefore, used, idleSince;
    /// Whether the watchdog has reported this step.
    bool isReported;
    struct Progress *following;
} Progress;

/// The number of the task that runs in the current step of this thread; negative if there is none.
extern HIDDEN _Thread_local int64_t tc_taskOfStep;

/// Returns the state of the simulation that this thread runs; `NULL` if it runs none.
HIDDEN Progress *tc_progress(void);
/// Sets the name of the function in which the step is about to block; `NULL` when the function has returned.
HIDDEN void tc_setBlocking(const char *call);

/// Makes a call that can block, with the name of the function for the watchdog. The call is not reported again.
#define BLOCKING(name, call) \
    ({ \
        tc_setBlocking(name); \
        tc_exempt(); \
        __typeof__(call) returned = call; \
        tc_stopExempting(); \
        tc_setBlocking(NULL); \
        returned; \
    })

/// A text of limited length, which is built without functions that a signal handler must not call. Text beyond this
/// length is dropped.
typedef struct {
    char bytes[4096];
    size_t count;
} Text;

HIDDEN void tc_append(Text *text, const char *string);
HIDDEN void tc_appendNumber(Text *text, uint64_t number);
/// Appends a text such as "seed 3, step 17, task #2 name".
HIDDEN void tc_appendPlace(Text *text, const Progress *progress);
/// Appends a text such as "called at File.swift:12 (replay: …)".
HIDDEN void tc_appendCallSite(Text *text, const Progress *progress);
/// Appends the last steps of the seed that this thread runs, one line each.
HIDDEN void tc_appendLastSteps(Text *text);
/// Appends the name of an actor's type and, if the seed has several actors of this type, its number.
HIDDEN void tc_appendActor(Text *text, int64_t actor);
HIDDEN void tc_print(const Text *text);

/// Installs the signal handlers that print the seed if this thread crashes.
HIDDEN void tc_catchCrashes(void);
HIDDEN void tc_watch(Progress *progress);
HIDDEN void tc_stopWatching(Progress *progress);
#endif
