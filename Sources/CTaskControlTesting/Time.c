// The clocks of a thread that runs a simulation, and the functions that block the thread for a time. Both use virtual
// time.
#if defined(__linux__)
#include "Interposed.h"
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { Second = 1000000000 };
/// A simulation starts when its monotonic clocks show `Start` seconds. Its clocks of the date then show 2030-01-01,
/// which is `RealStart` seconds after 1970-01-01.
enum { Start = 1000000, RealStart = 1893456000 };

/// The number of times that a step can read the clocks before virtual time passes with each further read.
enum { MostReads = 10000 };

static _Thread_local int64_t virtualNow = -1;
/// The number of nanoseconds by which the clocks of this thread are ahead of virtual time: each read adds one, so that
/// time differs between any two reads, and code that divides by an elapsed time divides by no zero. Sleeps are measured
/// without this lead.
static _Thread_local int64_t lead;
static _Thread_local bool isLooking;
static _Thread_local int64_t reads;

void tc_setNow(int64_t nanoseconds) {
    virtualNow = nanoseconds;
    reads = 0;
}

void tc_resetLead(void) { lead = 0; }
int64_t tc_lead(void) { return lead; }
void tc_look(bool looks) { isLooking = looks; }

static bool isVirtual(void) { return virtualNow >= 0 && simulation; }

static void pass(int64_t nanoseconds, const char *call) {
    virtualNow = simulation->passed(simulation->context, nanoseconds, call);
}

/// Counts a read of the clock. A step that reads the clock again and again waits for a time: virtual time then passes, by
/// more and more with each read, so that every such loop ends.
static void countRead(void) {
    int64_t over = reads++ - MostReads;
    if (over >= 0) {
        int64_t doublings = over / MostReads;
        pass((int64_t)1000 << (doublings < 40 ? doublings : 40), NULL);
    }
    lead++;
}

/// A `Date` in 2030 has a precision of 120 ns: each read of the date adds more than that, so that two dates differ, too.
enum { LeadOfDate = 128 };

/// Returns the time that the clocks show, in nanoseconds.
///
/// - step: The time that each read so far has added.
static int64_t now(int64_t step) {
    if (!isLooking) countRead();
    int64_t time;
    return __builtin_add_overflow(virtualNow, lead * step, &time) ? INT64_MAX : time;
}

bool tc_sleep(int64_t seconds, int64_t nanoseconds, const char *call) {
    if (!isVirtual()) return false;
    int64_t duration;
    if (__builtin_mul_overflow(seconds, (int64_t)Second, &duration)
        || __builtin_add_overflow(duration, nanoseconds, &duration)) duration = INT64_MAX;
    // Every sleep takes at least one nanosecond, so that a loop of sleeps that are too short for the clock ends.
    pass(duration > 0 ? duration : 1, call);
    return true;
}

// MARK: Clocks

static struct timespec date(clockid_t clock) {
    int64_t time = now(clock == CLOCK_REALTIME ? LeadOfDate : 1);
    return (struct timespec){
        .tv_sec = time / Second + (clock == CLOCK_REALTIME ? RealStart - Start : 0),
        .tv_nsec = time % Second,
    };
}

static bool isOfProcessor(clockid_t clock) {
    // The IDs of the clocks of other processes and threads are negative.
    return clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID || clock < 0;
}

static clockid_t known(clockid_t clock) {
    return clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ? CLOCK_REALTIME : clock;
}

INTERPOSED int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!isVirtual() || isOfProcessor(clock)) {
        return ORIGINAL(int (*)(clockid_t, struct timespec *), clock_gettime)(clock, time);
    }
    *time = date(known(clock));
    return 0;
}

INTERPOSED int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    if (!isVirtual()) return ORIGINAL(int (*)(struct timeval *, void *), gettimeofday)(time, zone);
    struct timespec exact = date(CLOCK_REALTIME);
    *time = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
    return 0;
}

INTERPOSED time_t time(time_t *seconds) {
    if (!isVirtual()) return ORIGINAL(time_t (*)(time_t *), time)(seconds);
    time_t now = date(CLOCK_REALTIME).tv_sec;
    if (seconds) *seconds = now;
    return now;
}

INTERPOSED int timespec_get(struct timespec *time, int base) {
    if (!isVirtual() || base != TIME_UTC) {
        return ORIGINAL(int (*)(struct timespec *, int), timespec_get)(time, base);
    }
    *time = date(CLOCK_REALTIME);
    return base;
}

// MARK: Sleeps

static bool isInvalid(const struct timespec *time) {
    return time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= Second;
}

INTERPOSED int nanosleep(const struct timespec *duration, struct timespec *rest) {
    if (!isInvalid(duration) && tc_sleep(duration->tv_sec, duration->tv_nsec, "nanosleep")) return 0;
    return ORIGINAL(int (*)(const struct timespec *, struct timespec *), nanosleep)(duration, rest);
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    if (!isVirtual() || isInvalid(time) || isOfProcessor(clock)) {
        return ORIGINAL(int (*)(clockid_t, int, const struct timespec *, struct timespec *), clock_nanosleep)(
            clock, flags, time, rest);
    }
    struct timespec from = flags & TIMER_ABSTIME ? date(known(clock)) : (struct timespec){0, 0};
    tc_sleep(time->tv_sec - from.tv_sec, time->tv_nsec - from.tv_nsec, "clock_nanosleep");
    return 0;
}

INTERPOSED int usleep(useconds_t microseconds) {
    if (tc_sleep(0, (int64_t)microseconds * 1000, "usleep")) return 0;
    return ORIGINAL(int (*)(useconds_t), usleep)(microseconds);
}

INTERPOSED unsigned sleep(unsigned seconds) {
    if (tc_sleep(seconds, 0, "sleep")) return 0;
    return ORIGINAL(unsigned (*)(unsigned), sleep)(seconds);
}
#else
// Some linkers want a symbol in every object file.
void tc_nothingOfTime(void) {}
#endif
