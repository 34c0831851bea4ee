// The actors of a simulation, which are numbered, and those that several simulations of one process share, each of which has a
// thread of its own: actors that outlive a run, such as global actors.
//
// An actor runs on one thread at a time, and would run the tasks of two simulations on the thread of one of them. So a
// simulation claims each actor when one of its tasks first arrives there. If another simulation has claimed the actor,
// the run is dropped, and repeated alone: while no other simulation runs.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *actor;
    int64_t number;
    bool isClaimed;
} Actor;

/// The actors that the simulation of one thread knows, and has claimed: a hash table with open addressing. Changed only by
/// that thread, while it holds `lock`; other threads read it while they hold `lock`.
typedef struct Claims {
    Actor *actors;
    size_t capacity, count;
    /// The number of the next actor.
    int64_t next;
    /// The metadata of the actors' types, indexed by the numbers of the actors.
    const void **types;
    struct Claims *following;
} Claims;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// The claims of all threads that have claims.
static Claims *first;
static _Thread_local Claims own;

static Actor *place(Actor *actors, size_t capacity, const void *actor) {
    size_t index = ((uintptr_t)actor >> 4) * 0x9E3779B97F4A7C15u & (capacity - 1);
    while (actors[index].actor && actors[index].actor != actor) index = (index + 1) & (capacity - 1);
    return &actors[index];
}

/// Stands for an actor that was deallocated: the places behind it may be those of other actors.
#define GONE ((void *)1)

/// Returns the place of an actor; null if it is not in the table.
static Actor *find(const Claims *claims, const void *actor) {
    if (claims->count == 0) return NULL;
    Actor *found = place(claims->actors, claims->capacity, actor);
    return found->actor ? found : NULL;
}

/// Makes room for another actor.
static void grow(Claims *claims) {
    size_t alive = 0;
    for (size_t index = 0; index < claims->capacity; index++) {
        void *actor = claims->actors[index].actor;
        alive += actor && actor != GONE;
    }
    size_t capacity = claims->capacity < 16 ? 16 : claims->capacity << (alive * 4 >= claims->capacity);
    Actor *actors = calloc(capacity, sizeof *actors);
    if (!actors) abort();
    for (size_t index = 0; index < claims->capacity; index++) {
        Actor actor = claims->actors[index];
        if (actor.actor && actor.actor != GONE) *place(actors, capacity, actor.actor) = actor;
    }
    claims->count = alive;
    free(claims->actors);
    claims->actors = actors;
    claims->capacity = capacity;
}

int64_t tc_actor(void *actor) {
    Actor *known = find(&own, actor);
    if (known) return known->number;
    tc_exempt();
    pthread_mutex_lock(&lock);
    if (!own.actors) {
        own.following = first;
        first = &own;
    }
    if (own.count * 2 >= own.capacity) grow(&own);
    int64_t number = own.next++;
    // A power of two, or the first.
    if ((number & (number - 1)) == 0) {
        const void **types = realloc(own.types, (size_t)(number ? number * 2 : 1) * sizeof *types);
        if (!types) abort();
        own.types = types;
    }
    own.types[number] = *(const void **)actor;
    *place(own.actors, own.capacity, actor) = (Actor){actor, number, false};
    own.count++;
    pthread_mutex_unlock(&lock);
    tc_stopExempting();
    return number;
}

bool tc_claim(void *actor) {
    Actor *known = find(&own, actor);
    if (known && known->isClaimed) return true;
    tc_actor(actor);
    tc_exempt();
    pthread_mutex_lock(&lock);
    bool isFree = true;
    for (Claims *claims = first; claims && isFree; claims = claims->following) {
        Actor *other = find(claims, actor);
        isFree = !other || !other->isClaimed;
    }
    find(&own, actor)->isClaimed = isFree;
    pthread_mutex_unlock(&lock);
    tc_stopExempting();
    return isFree;
}

void tc_unclaim(void *actor) {
    if (!find(&own, actor)) return;
    tc_exempt();
    pthread_mutex_lock(&lock);
    find(&own, actor)->actor = GONE;
    pthread_mutex_unlock(&lock);
    tc_stopExempting();
}

void tc_dropClaims(void) {
    if (!own.actors) return;
    pthread_mutex_lock(&lock);
    Claims **link = &first;
    while (*link != &own) link = &(*link)->following;
    *link = own.following;
    // The memory is released, too: this may be the last run of the thread.
    free(own.actors);
    free(own.types);
    own = (Claims){0};
    pthread_mutex_unlock(&lock);
}

// MARK: Names

/// Returns the name of a class. It is called by a signal handler, so it calls nothing. By ABI, the description of a class is
/// five words from its metadata, and the name is at an offset that is stored in the description, after two other fields.
static const char *nameOf(const void *metadata) {
#if defined(__linux__) && __SIZEOF_POINTER__ == 8
    enum { DescriptionWord = 5, NameField = 2 };
    if (((const uintptr_t *)metadata)[0] != 0) return NULL;
    const int32_t *description = ((const void *const *)metadata)[DescriptionWord];
    return (const char *)&description[NameField] + description[NameField];
#else
    (void)metadata;
    return NULL;
#endif
}

void tc_appendActor(Text *text, int64_t actor) {
    if (actor >= own.next) return;
    const char *name = nameOf(own.types[actor]);
    tc_append(text, name ? name : "actor");
    uint64_t number = 0, count = 0;
    for (int64_t index = 0; index < own.next; index++) {
        if (own.types[index] != own.types[actor]) continue;
        count++;
        if (index == actor) number = count;
    }
    if (count == 1) return;
    tc_append(text, " ");
    tc_appendNumber(text, number);
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
