// The kinds of jobs and the states of tasks, which are read from the memory of the Swift runtime.
//
// The layout of this memory is an implementation detail of the runtime, on which its debugging tools rely, too.
#if defined(__linux__) || defined(__APPLE__)
#include "CTaskControlTesting.h"
#include <stddef.h>
#include <string.h>

// Before the simulation relies on the layout, it checks the layout with tasks whose states are known. On Apple's
// platforms, it uses the first line only.
enum {
    JobFlagsOffset = 4 * sizeof(void *), JobKindMask = 0xFF,
    StatusOffset = 96, StatusIsLocked = 0x200, StatusIsComplete = 0x2000,
    RecordsOffset = 104, RecordKindMask = 0xFF, RecordIsDependency = 0,
};

typedef struct Record {
    size_t flags;
    struct Record *parent;
    void *on[2];
    size_t kind;
} Record;

TCJobKind tc_jobKind(const void *job) {
    uint32_t flags;
    memcpy(&flags, (const char *)job + JobFlagsOffset, sizeof flags);
    switch (flags & JobKindMask) {
    case 0: return TCJobTask;
    case 192: case 193: case 194: return TCJobActor;
    case 195: return TCJobYield;
    default: return TCJobOther;
    }
}

uint8_t tc_jobPriority(const void *job) { return *((const uint8_t *)job + JobFlagsOffset + 1); }

static uint32_t status(const void *task) {
    return __atomic_load_n((const uint32_t *)((const char *)task + StatusOffset), __ATOMIC_ACQUIRE);
}

bool tc_hasEnded(const void *task) { return status(task) & StatusIsComplete; }

/// Returns the state of a task according to its records. The records are in memory that the task reuses when it runs.
static TCTaskState recorded(const void *task, void **on) {
    uintptr_t first = __atomic_load_n((const uintptr_t *)((const char *)task + RecordsOffset), __ATOMIC_ACQUIRE);
    int count = 0;
    for (Record *record = (Record *)(first & ~(uintptr_t)7); record && count < 1000; record = record->parent, count++) {
        if ((record->flags & RecordKindMask) != RecordIsDependency) continue;
        *on = record->on[0];
        switch ((uint8_t)record->kind) {
        case 1: return TCTaskAwaitsTask;
        case 2: return TCTaskAwaitsContinuation;
        case 3: return TCTaskAwaitsGroup;
        case 4: return TCTaskAwaitsExecutor;
        }
        return TCTaskReady;
    }
    return TCTaskReady;
}

TCTaskState tc_taskState(const void *task, void **on) {
    *on = NULL;
    uint32_t before = status(task);
    if (before & StatusIsComplete) return TCTaskFinished;
    TCTaskState state = recorded(task, on);
    // Another thread may have resumed the task meanwhile: it changes the records while it holds a lock, and then the
    // status. The state is valid only if the status shows neither the lock nor a change.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!(before & StatusIsLocked) && status(task) == before) return state;
    *on = NULL;
    return TCTaskReady;
}
#else
// Some linkers want a symbol in every object file.
void tc_noStates(void) {}
#endif
