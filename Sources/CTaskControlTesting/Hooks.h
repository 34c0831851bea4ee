// The types of the runtime's hooks, and the function that finds the hooks on a platform. Private: Swift imports only
// the header in `include`.
#pragma once
#if defined(__linux__) || defined(__APPLE__)
#include "CTaskControlTesting.h"
#include <stddef.h>

#define SWIFT __attribute__((swiftcall))

typedef struct { void *identity, *witness; } Executor;

typedef SWIFT void (*Enqueue)(void *job);
typedef SWIFT void (*EnqueueHook)(void *job, Enqueue original);
typedef SWIFT void (*EnqueueAfter)(uint64_t nanoseconds, void *job);
typedef SWIFT void (*EnqueueAfterHook)(uint64_t nanoseconds, void *job, EnqueueAfter original);
/// Enqueues a job at a deadline. The four numbers are the seconds and nanoseconds of the deadline and of the tolerance,
/// and `clock` measures both.
typedef SWIFT void (*EnqueueAt)(long long, long long, long long, long long, int clock, void *job);
typedef SWIFT void (*EnqueueAtHook)(long long, long long, long long, long long, int clock, void *job, EnqueueAt original);
typedef SWIFT Executor (*GetMain)(void);
typedef SWIFT Executor (*GetMainHook)(GetMain original);

/// The addresses of the runtime's variables that contain its hooks; `NULL` for a hook that the runtime does not have.
typedef struct {
    EnqueueHook *enqueue, *enqueueMain;
    EnqueueAfterHook *enqueueAfter;
    EnqueueAtHook *enqueueAt;
    GetMainHook *getMain;
    /// Reads the clock that measures a deadline. Not `NULL` if `enqueueAt` is not `NULL`.
    SWIFT void (*getTime)(long long *seconds, long long *nanoseconds, int clock);
} Hooks;

__attribute__((visibility("hidden"))) Hooks tc_findHooks(void);
#endif
