// The declarations that the files of this target share. Private: `include` holds what Swift sees.
#pragma once
#if defined(__linux__) || defined(__APPLE__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CTaskControlTesting.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

/// The simulation that this thread is in, if functions are interposed for it.
extern HIDDEN _Thread_local TCSimulation *tc_simulation;
#define simulation tc_simulation

#if defined(__linux__)
// The executable's definition of a function goes before that of the shared library, for all code that calls the function by name.
#if __has_feature(thread_sanitizer)
// ThreadSanitizer brings weak definitions of its own, which would win.
#define INTERPOSED __attribute__((visibility("default")))
#else
// Weak: if the runtime is linked statically its own definitions win, and the simulation is not available.
#define INTERPOSED __attribute__((weak, visibility("default")))
#endif

/// The definition that an interposed function stands in front of.
static inline void *next(const char *name) {
#if __has_feature(thread_sanitizer)
    // ThreadSanitizer's, if it has one: it must see the calls that it watches.
    char interceptor[64];
    snprintf(interceptor, sizeof interceptor, "___interceptor_%s", name);
    void *watched = dlsym(RTLD_DEFAULT, interceptor);
    if (watched) return watched;
#endif
    return dlsym(RTLD_NEXT, name);
}

/// The shared library's function, looked up once per place. `type` is that of a pointer to the function.
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

/// Reports that the program called a function that makes something outside the simulation work, or waits for it.
///
/// - why: A relative clause, for the message.
HIDDEN void tc_touch(const char *call, const char *why);

/// Calls of this thread are not the program's from here on; `tc_stopExempting` ends that.
HIDDEN void tc_exempt(void);
HIDDEN void tc_stopExempting(void);

/// Whether calls of this thread are the program's, in a simulation.
HIDDEN bool tc_isProgram(void);

/// Notes that a thread outside may have been made to work, by a call that is no escape by itself.
HIDDEN void tc_hint(void);

/// Sleeps in virtual time, if this thread has one.
///
/// - Returns: Whether it has.
HIDDEN bool tc_sleep(int64_t seconds, int64_t nanoseconds, const char *call);

// MARK: Progress, for the crash note and the watchdog

/// The simulation of a thread. Written by that thread, and read by its signal handlers and by the watchdog.
typedef struct Progress {
    uint64_t seed;
    TCStrategy strategy;
    /// The code that replays the schedule; `NULL` if the seed and the strategy do. On the heap.
    char *replay;
    /// The command that runs the test; `NULL` for a call in the source. On the heap.
    char *command;
    char fileID[192];
    int64_t line;
    /// Of all that follows each is one word, and is read and written atomically.
    int64_t step;
    /// Less than zero: none.
    int64_t task;
    const char *name;
    /// The call that the step has blocked in, if it is known.
    const char *call;
    bool isRunning;
    /// The watchdog's own.
    int64_t watchedStep, watchedSince;
    struct Progress *following;
} Progress;

/// `NULL`: this thread simulates nothing.
HIDDEN Progress *tc_progress(void);
/// The call that the step is about to block in; `NULL`: it has returned.
HIDDEN void tc_setBlocking(const char *call);

/// Text of a bounded length, made without anything that a signal handler must not call.
typedef struct {
    char bytes[4096];
    size_t count;
} Text;

HIDDEN void tc_append(Text *text, const char *string);
HIDDEN void tc_appendNumber(Text *text, uint64_t number);
/// "seed 3, strategy .random, step 17, task #2 name".
HIDDEN void tc_appendPlace(Text *text, const Progress *progress);
/// "called at File.swift:12 (replay: …)".
HIDDEN void tc_appendCallSite(Text *text, const Progress *progress);
HIDDEN void tc_print(const Text *text);

/// Makes crashes of this thread name its seed.
HIDDEN void tc_catchCrashes(void);
HIDDEN void tc_watch(Progress *progress);
HIDDEN void tc_stopWatching(Progress *progress);
#endif
