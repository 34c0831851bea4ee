// The state of the simulation that each thread runs, and the text of messages about it.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GET(word) __atomic_load_n(&word, __ATOMIC_RELAXED)
#define SET(word, value) __atomic_store_n(&word, value, __ATOMIC_RELAXED)

static _Thread_local Progress progress;
static _Thread_local bool isSimulating;
_Thread_local int64_t tc_taskOfStep = -1;
/// The names of the tasks, indexed by the tasks' numbers.
static _Thread_local char **names;
static _Thread_local int64_t nameCount;

/// A step that has ended, or something that the program has noted.
typedef struct {
    int64_t time, task, actor;
    uint64_t value;
    int64_t kind;
    /// The text after the time, instead of the other fields; `NULL` if there is none. Allocated on the heap.
    char *text;
} Step;

/// The last steps of the seed, for the note of a crash: the step with the number n is at n % `KeptSteps`.
enum { KeptSteps = 20 };
static _Thread_local Step steps[KeptSteps];
static _Thread_local int64_t stepCount;

Progress *tc_progress(void) { return isSimulating ? &progress : NULL; }

static void copy(char *to, const char *from, size_t size) {
    size_t count = strnlen(from, size - 1);
    memcpy(to, from, count);
    to[count] = 0;
}

void tc_beginSeed(
    uint64_t seed, TCStrategy strategy, const char *replay, const char *command, const char *fileID, int64_t line) {
    progress = (Progress){.seed = seed, .strategy = strategy, .line = line, .task = -1, .thread = pthread_self()};
    if (replay) progress.replay = strdup(replay);
    if (command) progress.command = strdup(command);
    copy(progress.fileID, fileID, sizeof progress.fileID);
    isSimulating = true;
    tc_takeHint();
    tc_forgetLocks();
    tc_forgetSignals();
    tc_resetLead();
    tc_catchCrashes();
    tc_watch(&progress);
}

void tc_endSeed(void) {
    tc_stopWatching(&progress);
    isSimulating = false;
    free(progress.replay);
    free(progress.command);
    progress.replay = progress.command = NULL;
    for (int64_t number = 0; number < nameCount; number++) free(names[number]);
    free(names);
    names = NULL;
    nameCount = 0;
    for (int index = 0; index < KeptSteps; index++) free(steps[index].text);
    memset(steps, 0, sizeof steps);
    stepCount = 0;
}

void tc_nameTask(int64_t number, const char *name) {
    if (number >= nameCount) {
        int64_t count = number * 2 + 8;
        char **more = realloc(names, (size_t)count * sizeof *more);
        if (!more) return;
        memset(more + nameCount, 0, (size_t)(count - nameCount) * sizeof *more);
        names = more;
        nameCount = count;
    }
    // The watchdog or a signal handler may be reading a name, so names are kept until the seed ends.
    if (!names[number]) names[number] = strdup(name);
}

void tc_beginStep(int64_t step, int64_t task) {
    SET(progress.name, task >= 0 && task < nameCount ? names[task] : NULL);
    SET(progress.task, task);
    tc_taskOfStep = task;
    SET(progress.call, NULL);
    SET(progress.step, step);
    __atomic_store_n(&progress.isRunning, true, __ATOMIC_RELEASE);
}

void tc_endStep(void) { SET(progress.isRunning, false); }

void tc_keepStep(int64_t time, int64_t task, int64_t actor, int64_t kind, uint64_t value, const char *text) {
    Step *step = &steps[stepCount++ % KeptSteps];
    if (step->text) free(step->text);
    *step = (Step){time, task, actor, value, kind, text ? strdup(text) : NULL};
}

void tc_setBlocking(const char *call) {
    if (tc_isProgram()) SET(progress.call, call);
}

// MARK: Text

void tc_append(Text *text, const char *string) {
    while (*string && text->count < sizeof text->bytes) text->bytes[text->count++] = *string++;
}

void tc_appendNumber(Text *text, uint64_t number) {
    char digits[21] = {0};
    char *first = &digits[20];
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    tc_append(text, first);
}

static void appendTask(Text *text, int64_t task) {
    tc_append(text, "#");
    tc_appendNumber(text, (uint64_t)task);
    if (task >= nameCount || !names[task]) return;
    tc_append(text, " ");
    tc_append(text, names[task]);
}

static void appendMilliseconds(Text *text, int64_t nanoseconds) {
    int64_t microseconds = nanoseconds / 1000;
    tc_appendNumber(text, (uint64_t)(microseconds / 1000));
    tc_append(text, ".");
    for (int64_t digit = 100; digit; digit /= 10) tc_appendNumber(text, (uint64_t)(microseconds / digit % 10));
    tc_append(text, " ms");
}

/// Appends the text of a `SimulationStep`.
static void appendStep(Text *text, const Step *step) {
    appendMilliseconds(text, step->time);
    tc_append(text, "  ");
    if (step->text) {
        tc_append(text, step->text);
        return;
    }
    if (step->kind == TCStepAction) {
        tc_append(text, "an action of the program, at a moment that the seed decides");
        return;
    }
    if (step->task >= 0 && step->kind != TCStepActorTurn) appendTask(text, step->task); else tc_append(text, "an actor");
    if (step->actor >= 0) {
        tc_append(text, " on ");
        tc_appendActor(text, step->actor);
    }
    tc_append(text, " ");
    switch (step->kind) {
    case TCStepActorTurn:
        tc_append(text, "took its turn");
        if (step->task < 0) return;
        tc_append(text, ", for ");
        appendTask(text, step->task);
        return;
    case TCStepReady: tc_append(text, "can continue"); return;
    case TCStepYielded: tc_append(text, "yielded, and can continue"); return;
    case TCStepAwaitsContinuation: tc_append(text, "waits for a continuation to be resumed"); return;
    case TCStepAwaitsChildTasks: tc_append(text, "waits for its child tasks"); return;
    case TCStepEnded: tc_append(text, "ended"); return;
    case TCStepSleeps:
        tc_append(text, "sleeps until ");
        appendMilliseconds(text, (int64_t)step->value);
        return;
    case TCStepAwaitsTask:
        tc_append(text, "waits for ");
        if (step->value) appendTask(text, (int64_t)step->value - 1); else tc_append(text, "a task outside the simulation");
        return;
    case TCStepAwaitsActor:
        tc_append(text, "waits for its turn on ");
        tc_appendActor(text, (int64_t)step->value);
        return;
    case TCStepLeft: tc_append(text, "went to an executor outside the simulation"); return;
    default: tc_append(text, "ran");
    }
}

void tc_appendLastSteps(Text *text) {
    if (stepCount == 0) return;
    tc_append(text, "simulate: the last steps before (virtual time, the task that ran, its state afterwards):\n");
    for (int64_t number = stepCount > KeptSteps ? stepCount - KeptSteps : 0; number < stepCount; number++) {
        tc_append(text, "  ");
        appendStep(text, &steps[number % KeptSteps]);
        tc_append(text, "\n");
    }
}

void tc_appendPlace(Text *text, const Progress *progress) {
    tc_append(text, "seed ");
    tc_appendNumber(text, progress->seed);
    tc_append(text, ", step ");
    tc_appendNumber(text, (uint64_t)GET(progress->step));
    int64_t task = GET(progress->task);
    const char *name = GET(progress->name);
    if (task < 0) return;
    tc_append(text, ", task #");
    tc_appendNumber(text, (uint64_t)task);
    if (name) {
        tc_append(text, " ");
        tc_append(text, name);
    }
}

static void appendStrategy(Text *text, const TCStrategy *strategy) {
    tc_append(text, (const char *)strategy->name);
    if (strategy->depth >= 0) {
        tc_append(text, "(depth: ");
        tc_appendNumber(text, (uint64_t)strategy->depth);
        if (strategy->steps >= 0) {
            tc_append(text, ", steps: ");
            tc_appendNumber(text, (uint64_t)strategy->steps);
        }
        tc_append(text, ")");
    }
    if (strategy->hasSlowness) tc_append(text, ".withSlowness()");
    if (strategy->hasEarlyStarts) tc_append(text, ".withEarlyStarts()");
}

/// Appends the same text as the `replay` of a failure.
static void appendReplay(Text *text, const Progress *progress) {
    if (progress->replay) {
        tc_append(text, progress->replay);
    } else if (progress->command) {
        tc_append(text, "TASKCONTROL_SEED=");
        tc_appendNumber(text, progress->seed);
        tc_append(text, " ");
        tc_append(text, progress->command);
    } else {
        tc_append(text, "try simulate(seed: ");
        tc_appendNumber(text, progress->seed);
        tc_append(text, ", strategy: ");
        appendStrategy(text, &progress->strategy);
        tc_append(text, ") { … }");
    }
}

void tc_appendCallSite(Text *text, const Progress *progress) {
    tc_append(text, "called at ");
    tc_append(text, progress->fileID);
    tc_append(text, ":");
    tc_appendNumber(text, (uint64_t)progress->line);
    tc_append(text, " (replay: ");
    appendReplay(text, progress);
    tc_append(text, ")");
}

void tc_writeReplay(char *to, int64_t size) {
    Text text = {.count = 0};
    if (isSimulating) appendReplay(&text, &progress);
    if (size <= 0) return;
    size_t count = text.count < (size_t)size ? text.count : (size_t)size - 1;
    memcpy(to, text.bytes, count);
    to[count] = 0;
}

void tc_print(const Text *text) {
    size_t written = 0;
    while (written < text->count) {
        ssize_t count = write(STDERR_FILENO, text->bytes + written, text->count - written);
        if (count <= 0) return;
        written += (size_t)count;
    }
}
#else
// Some linkers want a symbol in every object file.
void tc_noProgress(void) {}
#endif
