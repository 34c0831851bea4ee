// The system's sources of random numbers. Inside a simulation, the seed decides the numbers.
#if defined(__linux__)
#include "Interposed.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void tc_fill(void *bytes, size_t count) {
    tc_exempt();
    for (size_t filled = 0; filled < count; filled += sizeof(uint64_t)) {
        uint64_t number = simulation->draw(simulation->context);
        size_t left = count - filled;
        memcpy((char *)bytes + filled, &number, left < sizeof number ? left : sizeof number);
    }
    tc_stopExempting();
}

static uint64_t number(void) {
    uint64_t number;
    tc_fill(&number, sizeof number);
    return number;
}

INTERPOSED ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    if (!tc_isProgram()) return ORIGINAL(ssize_t (*)(void *, size_t, unsigned), getrandom)(bytes, count, flags);
    tc_fill(bytes, count);
    return (ssize_t)count;
}

INTERPOSED int getentropy(void *bytes, size_t count) {
    if (!tc_isProgram() || count > 256) return ORIGINAL(int (*)(void *, size_t), getentropy)(bytes, count);
    tc_fill(bytes, count);
    return 0;
}

/// The runtime of Swift calls `getrandom` in this way.
INTERPOSED long syscall(long name, ...) {
    long arguments[6];
    __builtin_va_list list;
    __builtin_va_start(list, name);
    // A call with fewer arguments passes on what the registers contain, as the original function does.
    for (int index = 0; index < 6; index++) arguments[index] = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    if (name == SYS_getrandom && tc_isProgram() && arguments[1] > 0) {
        tc_fill((void *)arguments[0], (size_t)arguments[1]);
        return arguments[1];
    }
    return ORIGINAL(long (*)(long, ...), syscall)(
        name, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

INTERPOSED uint32_t arc4random(void) {
    return tc_isProgram() ? (uint32_t)number() : ORIGINAL(uint32_t (*)(void), arc4random)();
}

INTERPOSED void arc4random_buf(void *bytes, size_t count) {
    if (tc_isProgram()) tc_fill(bytes, count); else ORIGINAL(void (*)(void *, size_t), arc4random_buf)(bytes, count);
}

INTERPOSED uint32_t arc4random_uniform(uint32_t bound) {
    if (!tc_isProgram()) return ORIGINAL(uint32_t (*)(uint32_t), arc4random_uniform)(bound);
    return bound ? (uint32_t)(number() % bound) : 0;
}

// A program that sets the seed of these generators gets other numbers than outside, but the same ones in each run.

INTERPOSED int rand(void) {
    return tc_isProgram() ? (int)(number() & RAND_MAX) : ORIGINAL(int (*)(void), rand)();
}

INTERPOSED long random(void) {
    return tc_isProgram() ? (long)(number() & INT32_MAX) : ORIGINAL(long (*)(void), random)();
}

INTERPOSED long lrand48(void) {
    return tc_isProgram() ? (long)(number() & INT32_MAX) : ORIGINAL(long (*)(void), lrand48)();
}

INTERPOSED long mrand48(void) {
    return tc_isProgram() ? (long)(int32_t)number() : ORIGINAL(long (*)(void), mrand48)();
}

INTERPOSED double drand48(void) {
    return tc_isProgram() ? (double)(number() >> 11) * 0x1p-53 : ORIGINAL(double (*)(void), drand48)();
}

// MARK: Hashing

/// The parameters with which the standard library hashes: see `Hasher`.
typedef struct {
    uint64_t seeds[2];
    bool isDeterministic;
} Hashing;

/// Makes hashing the same in every process, as with `SWIFT_DETERMINISTIC_HASHING`, so that a seed has one schedule even if the program
/// iterates over a `Set`. Runs when the executable is loaded: later, there would be sets that could no longer find their elements.
__attribute__((constructor)) static void fixHashing(void) {
    const char *wish = getenv("TASKCONTROL_HASHING");
    if (wish && strcmp(wish, "random") == 0) return;
    Hashing *hashing = dlsym(RTLD_DEFAULT, "_swift_stdlib_Hashing_parameters");
    if (hashing) *hashing = (Hashing){.isDeterministic = true};
}
#else
// Some linkers want a symbol in every object file.
void tc_noChance(void) {}
#endif
