// The C part of the simulation: access to the Swift runtime on Linux and Apple's platforms. On other platforms, only
// `tc_writeNumber` is available.
//
// A simulation belongs to the thread that runs it. Calls of runtime functions and system functions are intercepted only
// on that thread, and only between `tc_enter(simulation, …)` and `tc_enter(NULL, …)`. At any other time, and on every
// other thread, the original functions are called.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang diagnostic push
// Nullability annotations, and enumerations with an explicit type, are not standard C.
#pragma clang diagnostic ignored "-Wpedantic"

/// Writes a number at the position `end` of `bytes`: seven bits per byte, the lowest bits first. The eighth bit of a
/// byte is set if the number continues in the next byte. Writes at most ten bytes.
///
/// Written in C, because each step of a schedule calls this function several times: in a debug build, Swift code clears
/// each variable with a call.
///
/// - Returns: The position after the number.
static inline size_t tc_writeNumber(uint8_t *_Nonnull bytes, size_t end, uint64_t number) {
    for (; number > 0x7F; number >>= 7) bytes[end++] = (uint8_t)(number | 0x80);
    bytes[end++] = (uint8_t)number;
    return end;
}

#if defined(__linux__) || defined(__APPLE__)
/// The data of a simulation that the intercepting functions need: its executors, and the functions that they call. An
/// executor consists of two words: its object and its witness table.
typedef struct {
    void *_Nonnull context;
    /// The task executor of every task that is created in the simulation. With this executor, the simulation receives
    /// the jobs of the task from every thread that enqueues them.
    void *_Nonnull taskExecutor[2];
    void *_Nonnull mainExecutor[2];
    /// The executor to which a task is sent instead of an actor, so that the schedule decides when the task arrives at
    /// the actor.
    void *_Nonnull hopExecutor[2];
    /// The object of the global executor. A task that is created with this executor as its preference gets the executor
    /// of the simulation instead.
    void *_Nullable globalExecutor;
    /// Called when the program has created a task.
    ///
    /// - name: The name of the task; `NULL` if it has none.
    /// - foreign: The executor outside the simulation on which the task begins; `NULL` if there is none.
    void (*_Nonnull created)(
        void *_Nonnull context, void *_Nonnull task, const char *_Nullable name, void *_Nullable foreign);
    /// Called when the running task is about to move to an executor outside the simulation.
    void (*_Nonnull goes)(void *_Nonnull context, void *_Nonnull foreign);
    /// Returns whether the running task belongs to the simulation, so that it may be sent to the hop executor.
    bool (*_Nonnull mayHop)(void *_Nonnull context);
    /// Enqueues a job in the simulation, at once or after a delay. Returns `false`, and does nothing, if the job does
    /// not belong to the simulation, for example because the program resumes a task outside the simulation.
    bool (*_Nonnull enqueue)(void *_Nonnull context, void *_Nonnull job, bool onMain);
    bool (*_Nonnull enqueueAfter)(void *_Nonnull context, void *_Nonnull job, int64_t nanoseconds);
    /// Called when the program has called a function that makes something outside the simulation work, or waits for it.
    ///
    /// - call: The name of the function.
    /// - why: A relative clause for the message, such as "which wakes another thread".
    /// - caller: The address to which the function returns: see `tc_copyCaller`.
    void (*_Nonnull touched)(
        void *_Nonnull context, const char *_Nonnull call, const char *_Nonnull why, const void *_Nonnull caller);
    /// Called when the program waits for a lock that a task of the simulation holds, so that the wait would never end.
    ///
    /// - call: The name of the function.
    /// - holder: The number of the task that has acquired the lock; negative if no task was running.
    /// - caller: The address to which the function returns.
    void (*_Nonnull blocked)(
        void *_Nonnull context, const char *_Nonnull call, int64_t holder, const void *_Nonnull caller);
    /// Called when the program waits, without a time limit, for something that a task of the simulation may do. Runs a step
    /// of another task, on the stack of the caller, so that the step that waits ends, and with it the run, which fails.
    ///
    /// - Returns: Whether there was another step.
    bool (*_Nonnull runsOther)(void *_Nonnull context, const char *_Nonnull call, const void *_Nonnull caller);
    /// Called when no step of another task has ended the wait for which `runsOther` was called.
    void (*_Nonnull waitsInVain)(void *_Nonnull context);
    /// Called when a handler of a source of signals must run: after those before it.
    ///
    /// - block, unless: The handler, for `tc_callBlock`.
    void (*_Nonnull perform)(void *_Nonnull context, void *_Nonnull block, const bool *_Nullable unless);
    /// Returns the next of the random numbers with which the simulation replaces those of the system.
    uint64_t (*_Nonnull draw)(void *_Nonnull context);
    /// Called when the program has blocked its thread for a time, so that virtual time must pass.
    ///
    /// - call: The name of the blocking function; `NULL` for a loop that reads the clock.
    /// - Returns: The time that all clocks show from now on, in nanoseconds.
    int64_t (*_Nonnull passed)(void *_Nonnull context, int64_t nanoseconds, const char *_Nullable call);
} TCSimulation;

/// Whether the Swift runtime of this process has the hooks and functions that the simulation needs.
bool tc_isAvailable(void);
/// Whether the runtime has the hook with which the simulation replaces the executor of the main actor.
bool tc_standsInForMain(void);

/// Calls a block without parameters, unless a variable is `true`, and releases it.
void tc_callBlock(void *_Nonnull block, const bool *_Nullable unless);

/// Installs the hooks of the runtime, unless an earlier call has installed them. Each call must be balanced by a call
/// of `tc_unhook`, the last of which restores the former hooks.
void tc_hook(void);
void tc_unhook(void);
/// Whether the hooks of the runtime are installed. Used by tests only.
bool tc_isHooked(void);

/// Acquires the lock with which only one simulation at a time runs on the main actor. Each simulation has its own
/// thread, so without this lock the main actor would not protect its state.
void tc_lockMain(void);
void tc_unlockMain(void);

/// Makes this thread run a simulation: from now on, the simulation receives the jobs that the thread enqueues. `NULL`
/// ends this.
///
/// - interposes: Whether the calls of interposed functions on this thread are intercepted, too.
void tc_enter(TCSimulation *_Nullable simulation, bool interposes);
/// Makes the calls of interposed functions on this thread pass, or ends this. The thread must run a simulation.
///
/// - Returns: Whether calls were intercepted before.
bool tc_setOutside(bool isOutside);
/// The context of the simulation that this thread runs; `NULL` if it runs none.
void *_Nullable tc_context(void);
/// Sets the time, in nanoseconds, that all clocks show on this thread. With a negative value, they show the real time.
/// Does nothing on Apple's platforms.
void tc_setNow(int64_t nanoseconds);
/// The number of nanoseconds by which the clocks of this thread are ahead of virtual time: one for each time that they
/// were read since `tc_beginSeed`. Always zero on Apple's platforms.
int64_t tc_lead(void);
void tc_resetLead(void);
/// Makes reads of the clocks of this thread not count, or ends this.
void tc_look(bool looks);

// MARK: Several simulations at a time

/// Returns the number of an actor of the simulation of this thread. The actors are numbered from zero, in the order in which
/// this function sees them first.
int64_t tc_actor(void *_Nonnull actor);
/// Notes that the simulation of this thread uses an actor.
///
/// - Returns: `false` if another simulation uses the actor.
bool tc_claim(void *_Nonnull actor);
/// Ends the effect of all calls of `tc_actor` and `tc_claim` on this thread.
void tc_dropClaims(void);
/// Waits while another simulation runs alone, or, with `alone`, while any other simulation runs. Each call must be
/// balanced by a call of `tc_endRun` with the same argument.
void tc_beginRun(bool alone);
void tc_endRun(bool alone);

// MARK: Locks and callers

/// Whether a task of the simulation holds a lock of the C library. Always `false` on Apple's platforms.
bool tc_holdsLock(void);
/// Notes that the simulation of this thread begins, in which no lock was acquired yet.
void tc_forgetLocks(void);
/// Returns the name of the first function of the program on the stack of a caller, which must be on the stack of this
/// thread; `NULL` if it is not known. The result must be freed.
///
/// - caller: The address to which the called function returns.
char *_Nullable tc_copyCaller(const void *_Nonnull caller);

/// Returns whether a thread outside the simulation may have received work since the last call, so that it may resume a
/// task. Always `false` on Apple's platforms.
bool tc_takeHint(void);

/// The parts of a `Simulation.Strategy`, from which a report makes the text of the strategy. The text is made only for a
/// report, since most seeds report nothing.
typedef struct {
    /// The expression up to its arguments, such as `.pct`. Never deallocated.
    const uint8_t *_Nonnull name;
    /// The arguments of `.pct`; negative if there is none.
    int64_t depth, steps;
    bool hasSlowness, hasEarlyStarts;
} TCStrategy;

/// Notes that this thread runs a seed. From now on, a crash of this thread prints the seed, and a step that takes too
/// long is reported. `tc_endSeed` ends this.
///
/// - replay: The code that replays the schedule; `NULL` if the seed and the strategy are sufficient to replay it.
/// - command: The command that runs the test; `NULL` if the source calls `simulate` directly.
/// - fileID, line: The location of the call of `simulate`.
void tc_beginSeed(
    uint64_t seed, TCStrategy strategy, const char *_Nullable replay, const char *_Nullable command,
    const char *_Nonnull fileID, int64_t line);
void tc_endSeed(void);
/// Writes the code that replays the seed of this thread, as a report prints it, and a zero at its end: at most `size`
/// bytes. Used by tests only.
void tc_writeReplay(char *_Nonnull text, int64_t size);
/// Sets the name of a task, which reports show.
void tc_nameTask(int64_t number, const char *_Nonnull name);
/// Notes that a step begins, for reports.
///
/// - step: The number of the step.
/// - task: The number of the task that runs in the step, or for which work is done; negative if there is none.
void tc_beginStep(int64_t step, int64_t task);
void tc_endStep(void);

/// The kind of a step, with the raw values of `ScheduleLog.Kind`.
typedef enum : int64_t {
    TCStepActorTurn, TCStepAction, TCStepReady, TCStepYielded, TCStepAwaitsContinuation, TCStepAwaitsChildTasks, TCStepEnded,
    TCStepRan, TCStepNote, TCStepBlocked, TCStepSleeps, TCStepAwaitsTask, TCStepAwaitsActor, TCStepLeft,
} TCStepKind;

/// Keeps a step that has ended, for the note of a crash.
///
/// - time: The virtual time since the seed began, in nanoseconds.
/// - task, actor: The numbers of both; negative if there is none.
/// - kind: A `TCStepKind`.
/// - value: Depends on the kind, as in `ScheduleLog`.
/// - text: The text after the time, instead of all of these; `NULL` if there is none.
void tc_keepStep(
    int64_t time, int64_t task, int64_t actor, int64_t kind, uint64_t value, const char *_Nullable text);

/// Reads or writes a flag that several threads use.
static inline bool tc_isSet(const bool *_Nonnull flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void tc_set(bool *_Nonnull flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }

/// The state of a task.
typedef enum : uint32_t {
    TCTaskFinished,
    /// The task runs, or can run.
    TCTaskReady,
    TCTaskAwaitsTask,
    TCTaskAwaitsContinuation,
    TCTaskAwaitsGroup,
    TCTaskAwaitsExecutor,
} TCTaskState;

/// Whether a task has ended. The caller must retain the task.
bool tc_hasEnded(const void *_Nonnull task);
/// Returns the state of a task. The caller must retain the task, and no other thread may be running it: a running task
/// reuses the memory that is read here.
///
/// - on: Receives the task or the executor for which the task waits. Valid only for `TCTaskAwaitsTask` and
///   `TCTaskAwaitsExecutor`, and may be `NULL`.
TCTaskState tc_taskState(const void *_Nonnull task, void *_Nullable *_Nonnull on);

typedef enum : uint32_t {
    TCJobTask,
    /// The job with which an actor runs the work in its queue (the actor's turn).
    TCJobActor,
    /// The job that enqueues the task again after the task has called `Task.yield()`.
    TCJobYield,
    TCJobOther,
} TCJobKind;

TCJobKind tc_jobKind(const void *_Nonnull job);
uint8_t tc_jobPriority(const void *_Nonnull job);
/// The runtime's ID of a task. No other task of this process ever has the same ID.
uint64_t tc_taskID(const void *_Nonnull task);
void *_Nullable tc_currentTask(void);
/// Whether this thread is creating a task at the moment. A new task is enqueued before `created` is called for it.
bool tc_isCreating(void);

/// Whether the task that this thread is creating is detached: it inherits no task-locals, and is no child.
bool tc_isDetaching(void);
/// The actor to which a task hops. Valid while the hop executor receives this task.
void *_Nullable tc_destination(void);
void tc_retain(void *_Nonnull task);
void tc_release(void *_Nonnull task);
/// Enqueues a job in the global thread pool of Swift concurrency.
void tc_enqueueGlobal(void *_Nonnull job);
/// Whether this thread is running a job on the given actor.
bool tc_isOnActor(void *_Nonnull actor);
void tc_enqueueOnActor(void *_Nonnull job, void *_Nonnull actor);

#endif

#pragma clang diagnostic pop
