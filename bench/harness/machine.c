/*
 * machine.c: whether figures taken now can be trusted. See bench.h.
 *
 * Other programs: what /proc/stat counts as busy while this process sleeps. The load average is not used: it
 * remembers a minute, and so calls a machine busy because of the program that was measured before.
 *
 * Two cores: virtual machines sometimes run two threads on one core, or give the second core half the speed. Two
 * pinned loops at once must do nearly twice the work of one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define LOOK_NS       400000000
#define LOOP_NS       UINT64_C(40000000)
#define LOOP_ROUNDS   5
#define OTHERS_MOST   0.10 /* cores; a tenth of one core hides in the spread of the rounds */
#define STOLEN_MOST   0.05
#define PAIR_AT_LEAST 1.8

uint64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- Other programs --------------------------------------------------------------------------- */

struct usage {
    double busy;   /* seconds of all cores since the start; negative: unknown */
    double stolen; /* the same, taken by the hypervisor */
};

static struct usage read_usage(void)
{
    unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0,
                       steal = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return (struct usage){.busy = -1};
    int fields = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                        &idle, &wait, &irq, &soft, &steal);
    fclose(file);
    double ticks = (double)sysconf(_SC_CLK_TCK);
    if (fields < 4)
        return (struct usage){.busy = -1};
    return (struct usage){.busy = (double)(user + nice + system + irq + soft) / ticks,
                          .stolen = (double)steal / ticks};
}

static void look_at_others(struct bench_machine *machine)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    struct usage before = read_usage();
    uint64_t start_ns = bench_now_ns();
    nanosleep(&pause, NULL);
    double seconds = (double)(bench_now_ns() - start_ns) / 1e9;
    struct usage after = read_usage();
    machine->others = -1;
    if (before.busy >= 0 && after.busy >= 0) {
        machine->others = (after.busy - before.busy) / seconds;
        machine->stolen = (after.stolen - before.stolen) / seconds;
    }
}

/* ---- Two cores -------------------------------------------------------------------------------- */

struct loop {
    size_t core;
    atomic_uint *ready; /* Borrowed: the loops that stand at the start */
    unsigned together;  /* so many start at once */
    double steps;
};

static void *run_loop(void *argument)
{
    struct loop *loop = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(loop->core, &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* refused: the scheduler places it */
    atomic_fetch_add(loop->ready, 1);
    while (atomic_load(loop->ready) < loop->together)
        sched_yield();
    volatile uint64_t value = 1;
    uint64_t steps = 0;
    uint64_t start_ns = bench_now_ns();
    uint64_t now_ns = start_ns;
    while (now_ns - start_ns < LOOP_NS) {
        for (int i = 0; i < 1000; i++)
            value = value * 3 + 1;
        steps++;
        now_ns = bench_now_ns();
    }
    loop->steps = (double)steps / (double)(now_ns - start_ns);
    return NULL;
}

/* Steps per nanosecond of loops on these cores at once; 0: no thread could be started. */
static double run_loops(const size_t *cores, unsigned count)
{
    atomic_uint ready = 0;
    struct loop loops[2];
    pthread_t threads[2];
    unsigned started = 0;
    double steps = 0;
    for (unsigned i = 0; i < count; i++)
        loops[i] = (struct loop){.core = cores[i], .ready = &ready, .together = count};
    while (started < count &&
           pthread_create(&threads[started], NULL, run_loop, &loops[started]) == 0)
        started++;
    if (started < count)
        atomic_store(&ready, count);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        steps += loops[i].steps;
    }
    return started == count ? steps : 0;
}

/* A number that sysfs has of a core's place, or -1. */
static int read_topology(size_t core, const char *name)
{
    char path[96];
    int value = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%zu/topology/%s", core, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

/* Two threads of one core share its units; they are not two cores. */
static bool is_same_core(size_t a, size_t b)
{
    int core = read_topology(a, "core_id");
    return core >= 0 && core == read_topology(b, "core_id") &&
           read_topology(a, "physical_package_id") == read_topology(b, "physical_package_id");
}

/* Counts the cores that this process may use, and picks two, of different cores where there are such. */
static void pick_cores(struct bench_machine *machine, size_t out_cores[2])
{
    cpu_set_t allowed;
    bool is_apart = false;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed))
            continue;
        if (machine->cores == 0)
            out_cores[0] = core;
        else if (!is_apart) {
            is_apart = !is_same_core(out_cores[0], core);
            if (is_apart || machine->cores == 1)
                out_cores[1] = core;
        }
        machine->cores++;
    }
}

static void look_at_cores(struct bench_machine *machine)
{
    size_t cores[2] = {0, 0};
    pick_cores(machine, cores);
    if (machine->cores < 2)
        return;
    double ratios[LOOP_ROUNDS];
    for (int round = 0; round < LOOP_ROUNDS; round++) {
        double first = run_loops(&cores[0], 1);
        double both = run_loops(cores, 2);
        double second = run_loops(&cores[1], 1);
        double one = first > second ? first : second;
        ratios[round] = one > 0 ? both / one : 0;
    }
    machine->pair = bench_summarize(ratios, LOOP_ROUNDS).median;
}

void bench_machine_look(struct bench_machine *out_machine)
{
    memset(out_machine, 0, sizeof *out_machine);
    look_at_others(out_machine);
    look_at_cores(out_machine);
    bench_machine_judge(out_machine);
}

void bench_machine_judge(struct bench_machine *machine)
{
    machine->is_quiet =
        machine->others >= 0 && machine->others <= OTHERS_MOST && machine->stolen <= STOLEN_MOST;
    machine->has_two_cores = machine->pair >= PAIR_AT_LEAST;
}

void bench_machine_format(const struct bench_machine *machine, char *out_text, size_t capacity)
{
    char cores[96];
    if (machine->cores < 2)
        snprintf(cores, sizeof cores, "ONE CORE");
    else
        snprintf(cores, sizeof cores, "%s (two loops at once do %.2f times the work of one)",
                 machine->has_two_cores ? "two full cores" : "NOT TWO FULL CORES", machine->pair);
    char others[96];
    if (machine->others < 0)
        snprintf(others, sizeof others, "UNKNOWN what other programs do");
    else
        snprintf(others, sizeof others, "%s (other programs use %.2f cores, the hypervisor %.2f)",
                 machine->is_quiet ? "quiet" : "BUSY", machine->others, machine->stolen);
    snprintf(out_text, capacity, "%s, %s%s", others, cores,
             machine->is_quiet && machine->has_two_cores ? "" : ": do not trust these figures");
}
