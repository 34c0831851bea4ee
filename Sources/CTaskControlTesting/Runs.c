// The actors that several simulations of one process share, each of which has a thread of its own: actors that outlive a
// run, such as global actors.
//
// An actor runs on one thread at a time, and would run the tasks of two simulations on the thread of one of them. So a
// simulation claims each actor when one of its tasks first arrives there. If another simulation has claimed the actor,
// the run is dropped, and repeated alone: while no other simulation runs.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// The actors that the simulation of one thread has claimed: a hash table with open addressing. Changed only by that
/// thread, while it holds `lock`; other threads read it while they hold `lock`.
typedef struct Claims {
    void **actors;
    size_t capacity, count;
    struct Claims *following;
} Claims;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// The claims of all threads that have claims.
static Claims *first;
static _Thread_local Claims own;

static size_t indexOf(void *const *actors, size_t capacity, const void *actor) {
    size_t index = ((uintptr_t)actor >> 4) * 0x9E3779B97F4A7C15u & (capacity - 1);
    while (actors[index] && actors[index] != actor) index = (index + 1) & (capacity - 1);
    return index;
}

/// Stands for an actor that was deallocated: the places behind it may be those of other actors.
#define GONE ((void *)1)

static bool contains(const Claims *claims, const void *actor) {
    return claims->count && claims->actors[indexOf(claims->actors, claims->capacity, actor)] != NULL;
}

/// Makes room for another actor.
static void grow(Claims *claims) {
    size_t alive = 0;
    for (size_t index = 0; index < claims->capacity; index++) {
        alive += claims->actors[index] && claims->actors[index] != GONE;
    }
    size_t capacity = claims->capacity < 16 ? 16 : claims->capacity << (alive * 4 >= claims->capacity);
    void **actors = calloc(capacity, sizeof *actors);
    if (!actors) abort();
    for (size_t index = 0; index < claims->capacity; index++) {
        void *actor = claims->actors[index];
        if (actor && actor != GONE) actors[indexOf(actors, capacity, actor)] = actor;
    }
    claims->count = alive;
    free(claims->actors);
    claims->actors = actors;
    claims->capacity = capacity;
}

bool tc_claim(void *actor) {
    if (contains(&own, actor)) return true;
    tc_exempt();
    pthread_mutex_lock(&lock);
    bool isFree = true;
    for (Claims *claims = first; claims && isFree; claims = claims->following) isFree = !contains(claims, actor);
    if (isFree) {
        if (own.count == 0) {
            own.following = first;
            first = &own;
        }
        if (own.count * 2 >= own.capacity) grow(&own);
        own.actors[indexOf(own.actors, own.capacity, actor)] = actor;
        own.count++;
    }
    pthread_mutex_unlock(&lock);
    tc_stopExempting();
    return isFree;
}

void tc_unclaim(void *actor) {
    if (!contains(&own, actor)) return;
    tc_exempt();
    pthread_mutex_lock(&lock);
    own.actors[indexOf(own.actors, own.capacity, actor)] = GONE;
    pthread_mutex_unlock(&lock);
    tc_stopExempting();
}

void tc_dropClaims(void) {
    if (own.count == 0) return;
    pthread_mutex_lock(&lock);
    Claims **link = &first;
    while (*link != &own) link = &(*link)->following;
    *link = own.following;
    // The memory is released, too: this may be the last run of the thread.
    free(own.actors);
    own = (Claims){0};
    pthread_mutex_unlock(&lock);
}

// MARK: Running alone

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
// All of these variables are accessed only while `lock` is held.
static unsigned running, waitingAlone;
static bool isAlone;

void tc_beginRun(bool alone) {
    pthread_mutex_lock(&lock);
    if (alone) {
        // Other runs that have not begun wait, so that this one is not delayed forever.
        waitingAlone++;
        while (running || isAlone) pthread_cond_wait(&changed, &lock);
        waitingAlone--;
        isAlone = true;
    } else {
        while (isAlone || waitingAlone) pthread_cond_wait(&changed, &lock);
        running++;
    }
    pthread_mutex_unlock(&lock);
}

void tc_endRun(bool alone) {
    pthread_mutex_lock(&lock);
    if (alone) isAlone = false; else running--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
#else
// Some linkers want a symbol in every object file.
void tc_noRuns(void) {}
#endif
