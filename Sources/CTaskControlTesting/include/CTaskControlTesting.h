// The C part of the simulation: access to the Swift runtime, on Linux and Apple's platforms, and nothing of that elsewhere.
//
// A simulation belongs to the thread that runs it. All that is caught here is caught on that thread and while it is
// *entered*; every other thread, and this one at any other time, goes straight on to the real thing.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang diagnostic push
// Nullability, and types of enumerations.
#pragma clang diagnostic ignored "-Wpedantic"

/// Writes a number, seven bits per byte, the lowest first; the eighth bit of a byte says whether the number continues in
/// the next byte. Takes at most ten bytes.
///
/// In C, since each step of a schedule does it several times, and a debug build of Swift clears each variable with a call.
///
/// - Returns: The position after the number.
static inline size_t tc_writeNumber(uint8_t *_Nonnull bytes, size_t end, uint64_t number) {
    for (; number > 0x7F; number >>= 7) bytes[end++] = (uint8_t)(number | 0x80);
    bytes[end++] = (uint8_t)number;
    return end;
}

#if defined(__linux__) || defined(__APPLE__)
/// A simulation, as the runtime's entry points see it.
typedef struct {
    void *_Nonnull context;
    /// Given to every task that is created in the simulation, so that its jobs come to it from whatever thread they are
    /// enqueued on.
    void *_Nonnull taskExecutor[2];
    void *_Nonnull mainExecutor[2];
    /// Takes the tasks that are on their way to an actor.
    void *_Nonnull hopExecutor[2];
    /// The system's, which a task may be given by name.
    void *_Nullable globalExecutor;
    /// - foreign: The executor outside the simulation that it begins on.
    void (*_Nonnull created)(
        void *_Nonnull context, void *_Nonnull task, const char *_Nullable name, void *_Nullable foreign);
    /// The running task is about to move to an executor outside the simulation.
    void (*_Nonnull goes)(void *_Nonnull context, void *_Nonnull foreign);
    /// Whether the task that runs is the simulation's, so that it may be sent to the hop executor.
    bool (*_Nonnull mayHop)(void *_Nonnull context);
    /// Both say whether the job is the simulation's: it may resume a task outside.
    bool (*_Nonnull enqueue)(void *_Nonnull context, void *_Nonnull job, bool onMain);
    bool (*_Nonnull enqueueAfter)(void *_Nonnull context, void *_Nonnull job, int64_t nanoseconds);
    /// The program has called a function that makes something outside the simulation work, or waits for it.
    ///
    /// - why: A relative clause that says which of these.
    void (*_Nonnull touched)(void *_Nonnull context, const char *_Nonnull call, const char *_Nonnull why);
    /// The program has blocked its thread for a time: virtual time has to pass.
    ///
    /// - call: `NULL`: not in a call, but in a loop that looks at the clock.
    /// - Returns: The time that all clocks show from now on, in nanoseconds.
    int64_t (*_Nonnull passed)(void *_Nonnull context, int64_t nanoseconds, const char *_Nullable call);
} TCSimulation;

/// Whether this runtime has what the simulation hooks into.
bool tc_isAvailable(void);
/// Whether the simulation's main executor takes the place of the runtime's.
bool tc_standsInForMain(void);

/// Puts the hooks in place for the first of those that call it; the last that calls `tc_unhook` takes them away.
void tc_hook(void);
void tc_unhook(void);
/// For the tests.
bool tc_isHooked(void);

/// Of all simulations, one at a time is on its main actor: what that guards is guarded from the others.
void tc_lockMain(void);
void tc_unlockMain(void);

/// From here on, what this thread enqueues is the simulation's; `NULL` ends that.
///
/// - interposes: Whether its calls of interposed functions are so, too.
void tc_enter(TCSimulation *_Nullable simulation, bool interposes);
/// The context of the simulation that this thread is in.
void *_Nullable tc_context(void);
/// The time that all clocks of this thread show, in nanoseconds; less than zero: the real time.
void tc_setNow(int64_t nanoseconds);

/// Whether a thread outside the simulation may have received work since the last call: a thread that may resume a task.
bool tc_takeHint(void);

/// A strategy in parts, from which a report makes its text. No text is made for a seed that reports nothing.
typedef struct {
    /// The expression up to its arguments, such as `.pct`. Never deallocated.
    const uint8_t *_Nonnull name;
    /// The arguments of `.pct`; less than zero if there is none.
    int64_t depth, steps;
    bool hasSlowness, hasEarlyStarts;
} TCStrategy;

/// From here on, a crash of this thread names the seed, and a step that takes too long is reported; `tc_endSeed` ends that.
///
/// - replay: The code that replays the schedule; `NULL` if the seed and the strategy do.
/// - command: The command that runs the test; `NULL` for a call in the source.
void tc_beginSeed(
    uint64_t seed, TCStrategy strategy, const char *_Nullable replay, const char *_Nullable command,
    const char *_Nonnull fileID, int64_t line);
void tc_endSeed(void);
/// For the tests: writes the code that replays the seed of this thread, as a report prints it, with a zero at its end.
void tc_writeReplay(char *_Nonnull text, int64_t size);
/// The name of a task, for these reports.
void tc_nameTask(int64_t number, const char *_Nonnull name);
/// - task: The number of the task that the step is of, or is made for; less than zero: there is none.
void tc_beginStep(int64_t step, int64_t task);
void tc_endStep(void);

/// A flag that several threads read and write.
static inline bool tc_isSet(const bool *_Nonnull flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void tc_set(bool *_Nonnull flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }

/// The state of a task.
typedef enum : uint32_t {
    TCTaskFinished,
    /// Runs, or could run.
    TCTaskReady,
    TCTaskAwaitsTask,
    TCTaskAwaitsContinuation,
    TCTaskAwaitsGroup,
    TCTaskAwaitsExecutor,
} TCTaskState;

/// Whether a retained task has ended.
bool tc_hasEnded(const void *_Nonnull task);
/// Reads the state of a retained task. Not for a task that another thread may be running: what is read here is
/// memory that such a task uses for something else.
///
/// - on: The task or the executor that it waits for.
TCTaskState tc_taskState(const void *_Nonnull task, void *_Nullable *_Nonnull on);

typedef enum : uint32_t {
    TCJobTask,
    /// An actor's turn.
    TCJobActor,
    /// The way back of a task that has yielded.
    TCJobYield,
    TCJobOther,
} TCJobKind;

TCJobKind tc_jobKind(const void *_Nonnull job);
uint8_t tc_jobPriority(const void *_Nonnull job);
/// A number that no other task of this process ever has.
uint64_t tc_taskID(const void *_Nonnull task);
void *_Nullable tc_currentTask(void);
/// Whether a task is being created on this thread: it is enqueued before `created` reports it.
bool tc_isCreating(void);
/// The actor that the task is going to which the hop executor takes at this moment.
void *_Nullable tc_destination(void);
void tc_retain(void *_Nonnull task);
void tc_release(void *_Nonnull task);
/// Hands a job to the system's own pool.
void tc_enqueueGlobal(void *_Nonnull job);
/// Whether this thread runs a job on an actor.
bool tc_isOnActor(void *_Nonnull actor);
void tc_enqueueOnActor(void *_Nonnull job, void *_Nonnull actor);

#endif

#pragma clang diagnostic pop
