/*
 * ring.pml: the protocol of src/backend/cpu/ring.h and pool.h, for the model checker spin.
 *
 * Modelled: head, the packed word of a job (sequence, tickets left), tickets taken in order, the
 * barrier inside a job, completion, slots used again, workers that sleep and are woken (futex with
 * its lost-wake traps), workers that leave (a lease ends at any moment that there is no work), a
 * caller that helps, a caller that sleeps until a job ends, shutdown; with -DLOSS also a kernel that
 * never ends and the loss of the device.
 *
 * -DBREAK_SLEEP (a worker looks for work before it counts itself as a sleeper) and -DBREAK_TAKE (a
 * ticket is taken without comparing the sequence) are wrong on purpose: the checker must find them.
 *
 * Every atomic access of the C code is one step here; steps of all processes interleave freely
 * (sequential consistency: the orders weaker than that are argued in ring.h and watched by tsan).
 *
 * Checked: every task runs exactly once (never twice, never lost), in order across jobs and across
 * the barrier inside a job; no deadlock (spin's invalid end states); after a loss no task starts that
 * was not taken before, and the caller and all workers that are not stuck end.
 */

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef JOBS
#define JOBS 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif

/* Tickets of job s: 2 for even jobs, 1 for odd ones. The second waits for the first. */
#define TICKETS(s) (((s) % 2) == 0 -> 2 : 1)
/* Jobs that a caller may help with: all except the last. */
#define HELPABLE(s) ((s) != JOBS)

#ifdef BREAK_TAKE
#define SAME_SEQUENCE true
#else
#define SAME_SEQUENCE (word_sequence[cursor % SLOTS] == seen_sequence)
#endif

byte head = 0;
byte completed = 0;
byte word_sequence[SLOTS];
byte word_left[SLOTS];
byte done[SLOTS];

byte wake_word = 0;
byte sleepers = 0;
bool asleep[WORKERS];
byte end_word = 0;
byte end_sleepers = 0;
bool caller_asleep = false;
bool stop = false;
bool lost = false;
bool stuck = false; /* some kernel does not end */

/* Ghosts: only the assertions look at them. */
byte taken[JOBS + 1];
byte ran[JOBS + 1];
byte exited = 0;

/* futex_wake(&wake_word, count): any `count` of those asleep. */
inline wake_workers(count)
{
    byte woken = 0;
    do
    :: woken < count && asleep[0] -> asleep[0] = false; woken++
#if WORKERS > 1
    :: woken < count && asleep[1] -> asleep[1] = false; woken++
#endif
    :: woken == count || !(asleep[0]
#if WORKERS > 1
                           || asleep[1]
#endif
                           ) -> break
    od;
    woken = 0
}

/* vyre_cpu_pool_wake */
inline pool_wake(count)
{
    if
    :: sleepers > 0 ->
        wake_word++;
        d_step { wake_workers(count) }
    :: else
    fi
}

inline declare_lost()
{
    lost = true;
    pool_wake(WORKERS)
}

/* Values that are not read again would only multiply the states. */
inline forget()
{
    d_step { seen_completed = 0; seen_sequence = 0; seen_left = 0 }
}

/*
 * vyre_cpu_ring_take: sets `got` and, if so, `job` and `index`. `last` bounds the jobs looked at.
 */
inline take(last, helping)
{
    got = false;
    if /* the head is read again only when its job is reached */
    :: cursor >= seen_head ->
        seen_head = head;
        seen_completed = completed;
        if
        :: cursor <= seen_completed -> cursor = seen_completed + 1
        :: else
        fi
    :: else
    fi;
    do
    :: cursor > last || cursor > seen_head -> break
    :: else ->
        atomic { /* one load of the packed word */
            seen_sequence = word_sequence[cursor % SLOTS];
            seen_left = word_left[cursor % SLOTS]
        }
        if
        :: seen_sequence == cursor && helping && !HELPABLE(cursor) -> break
        :: seen_sequence != cursor || seen_left == 0 -> cursor++
        :: else ->
            atomic { /* compare and exchange of the packed word */
                if
                :: word_left[cursor % SLOTS] == seen_left && SAME_SEQUENCE ->
                    word_left[cursor % SLOTS] = seen_left - 1;
                    got = true;
                    job = cursor;
                    index = TICKETS(job) - seen_left;
                    assert(!lost || stuck);
                    taken[job]++
                :: else
                fi
            }
            if
            :: got -> break
            :: else
            fi
        fi
    od;
    forget()
}

/* vyre_cpu_ring_run; the process that makes the job complete also does complete and vyre_cpu_ring_end. */
inline run_ticket()
{
    if /* wait_to_start */
    :: lost || (completed >= job - 1 && done[job % SLOTS] >= index)
#ifdef LOSS
    :: stuck && !may_hang -> declare_lost() /* a caller that waits looks for hangs */
#endif
    fi;
    if
    :: lost -> skip
    :: else ->
        assert(completed == job - 1);              /* jobs in order */
        assert(ran[job] >= index);                 /* the barrier inside the job */
        assert(word_sequence[job % SLOTS] == job); /* the slot was not filled anew */
#ifdef LOSS
        if
        :: may_hang && !stuck ->
            stuck = true;
end_stuck:  false /* this kernel never ends */
        :: skip
        fi;
#endif
        ran[job]++;
        assert(ran[job] <= TICKETS(job)); /* never twice */
        if
        :: lost -> skip
        :: else ->
            atomic { done[job % SLOTS]++; last_one = (done[job % SLOTS] == TICKETS(job)) }
            if
            :: last_one ->
                assert(completed == job - 1);
                completed = job;
                if
                :: end_sleepers > 0 ->
                    end_word++;
                    caller_asleep = false
                :: else
                fi
            :: else
            fi
        fi
    fi;
    d_step { job = 0; index = 0; last_one = false; got = false }
}

proctype Worker(byte me)
{
    byte cursor = 1, job, index, seen_head, seen_completed, seen_sequence, seen_left, seen_word;
    bool got, last_one, may_hang = true;
    do
    :: stop || lost -> break
    :: else ->
        take(JOBS, false);
        if
        :: got -> run_ticket()
        :: else ->
            if
            :: head >= cursor -> skip /* the spin saw work */
            :: true -> /* the spin or the lease is over */
                seen_word = wake_word;
#ifndef BREAK_SLEEP
                sleepers++;
#endif
                if
                :: head >= cursor || stop || lost -> skip
                :: else ->
                    atomic { /* futex_wait: asleep only while the word is as it was */
                        if
                        :: wake_word == seen_word -> asleep[me] = true
                        :: else
                        fi
                    }
#ifdef BREAK_SLEEP
                    sleepers++;
#endif
                    !asleep[me]
                fi;
#ifndef BREAK_SLEEP
                sleepers--;
#else
                if
                :: sleepers > 0 -> sleepers--
                :: else
                fi;
#endif
                seen_word = 0
            fi
        fi
    od;
    exited++
}

/* wait: helps, then sleeps until the job has ended. */
inline wait_for(target)
{
    atomic { cursor = 0; seen_head = 0 }
    do
    :: completed >= target || lost -> break
    :: else ->
        atomic { cursor = 0; seen_head = 0 }
        do
        :: take(target, true);
           if
           :: got -> run_ticket()
           :: else -> break
           fi
        od;
        if
        :: completed >= target || lost -> break
        :: else ->
            seen_word = end_word;
            end_sleepers++;
            if
            :: completed < target && !lost ->
                atomic {
                    if
                    :: end_word == seen_word -> caller_asleep = true
                    :: else
                    fi
                }
                if
                :: !caller_asleep
#ifdef LOSS
                :: stuck -> /* the futex timed out and nothing has moved: check_hang */
                    caller_asleep = false;
                    declare_lost()
#endif
                fi
            :: else
            fi;
            end_sleepers--;
            seen_word = 0
        fi
    od;
    atomic { cursor = 0; seen_head = 0 }
}

active proctype Caller()
{
    byte cursor, job, index, seen_head, seen_completed, seen_sequence, seen_left, seen_word;
    byte sequence = 1;
    bool got, last_one, may_hang = false; /* only kernels that ended before run on a caller */
    byte w = 0;
    atomic {
        do
        :: w < WORKERS -> run Worker(w); w++
        :: else -> break
        od
    }
    do
    :: sequence > JOBS || lost -> break
    :: else ->
        if /* in flight limit: the slot must be free */
        :: sequence > SLOTS -> wait_for(sequence - SLOTS)
        :: else
        fi;
        if
        :: lost -> break
        :: else
        fi;
        assert(sequence <= SLOTS || completed >= sequence - SLOTS);
        done[sequence % SLOTS] = 0;
        atomic {
            word_sequence[sequence % SLOTS] = sequence;
            word_left[sequence % SLOTS] = TICKETS(sequence)
        }
        head = sequence;
        pool_wake(TICKETS(sequence));
        if /* wait now, or later */
        :: wait_for(sequence)
        :: skip
        fi;
        sequence++
    od;
    if
    :: !lost -> wait_for(JOBS)
    :: else
    fi;
    stop = true;
    pool_wake(WORKERS);
#ifndef LOSS
    (exited == WORKERS);
    w = 1;
    do
    :: w <= JOBS -> assert(ran[w] == TICKETS(w) && taken[w] == TICKETS(w)); w++
    :: else -> break
    od;
    assert(completed == JOBS)
#else
    /* One kernel is stuck, with a worker or not at all; all others end. */
    (exited + (stuck && lost -> 1 : 0) >= WORKERS)
#endif
}
