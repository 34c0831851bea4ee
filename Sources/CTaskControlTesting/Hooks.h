// The hooks of the runtime, and where a platform has them. Private: `include` holds what Swift sees.
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
/// A deadline, a tolerance, and the clock of both.
typedef SWIFT void (*EnqueueAt)(long long, long long, long long, long long, int clock, void *job);
typedef SWIFT void (*EnqueueAtHook)(long long, long long, long long, long long, int clock, void *job, EnqueueAt original);
typedef SWIFT Executor (*GetMain)(void);
typedef SWIFT Executor (*GetMainHook)(GetMain original);

/// The runtime's variables; `NULL` where it has none.
typedef struct {
    EnqueueHook *enqueue, *enqueueMain;
    EnqueueAfterHook *enqueueAfter;
    EnqueueAtHook *enqueueAt;
    GetMainHook *getMain;
    /// The time of the clock that a deadline is of. Not `NULL` where there is `enqueueAt`.
    SWIFT void (*getTime)(long long *seconds, long long *nanoseconds, int clock);
} Hooks;

__attribute__((visibility("hidden"))) Hooks tc_findHooks(void);
#endif
