/*
 * onetbb.cpp: oneTBB. P1 is a parallel_for each; P2 and P3 are a flow graph, a chain of
 * continue_nodes: built, run and freed in P2, kept in P3, where each run is waited for because a
 * second message would overtake the first. A launch too small to split is called, not split.
 */
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "host_memory.h"

#include "../launch.h"

namespace
{

using tbb::blocked_range;
namespace flow = tbb::flow;

/* About 1 us of work: below it a second thread does not pay. */
constexpr uint32_t grain_groups = 256;

using range = blocked_range<uint32_t>;

void run_range(const host_memory &memory, uint32_t groups, const uint32_t *constant,
               const range &part)
{
    vyre_host_group group = host_memory_group(&memory, groups, constant);
    for (uint32_t g = part.begin(); g != part.end(); ++g) {
        group.group_id[0] = g;
        launch_kernel(&group);
    }
}

/* Of what was tried, the fastest: as many equal parts as threads, in a context that is kept. */
class launcher
{
  public:
    explicit launcher(const host_memory &memory) : memory_(memory)
    {
    }

    void launch(uint32_t groups, uint32_t constant)
    {
        const uint32_t part = (groups + threads_ - 1) / threads_;
        tbb::parallel_for(
            range(0, groups, part > grain_groups ? part : grain_groups),
            [&](const range &r) { run_range(memory_, groups, &constant, r); },
            tbb::simple_partitioner(), context_);
    }

    /* Inside a node: small launches need no algorithm. */
    void launch_in_node(uint32_t groups, uint32_t constant)
    {
        if (groups <= grain_groups)
            run_range(memory_, groups, &constant, range(0, groups));
        else
            launch(groups, constant);
    }

  private:
    const host_memory &memory_;
    uint32_t threads_ = static_cast<uint32_t>(tbb::this_task_arena::max_concurrency());
    tbb::task_group_context context_;
};

class chain
{
  public:
    virtual ~chain() = default;
    virtual void run() = 0;
};

/* `policy` is lightweight for launches that stay on one thread, as the manual advises. */
template <typename policy> class chain_of : public chain
{
  public:
    chain_of(launcher &launcher, uint32_t groups, uint32_t launches)
        : nodes_(new std::optional<node>[launches])
    {
        for (uint32_t k = 0; k < launches; ++k) {
            const uint32_t constant = launches_constant(k);
            nodes_[k].emplace(graph_, [&launcher, groups, constant](const flow::continue_msg &) {
                launcher.launch_in_node(groups, constant);
            });
            if (k > 0)
                flow::make_edge(*nodes_[k - 1], *nodes_[k]);
        }
    }

    void run() override
    {
        nodes_[0]->try_put(flow::continue_msg());
        graph_.wait_for_all();
    }

  private:
    using node = flow::continue_node<flow::continue_msg, policy>;
    flow::graph graph_;
    std::unique_ptr<std::optional<node>[]> nodes_;
};

std::unique_ptr<chain> make_chain(launcher &launcher, const launches_cell *cell)
{
    if (cell->groups <= grain_groups)
        return std::make_unique<chain_of<flow::lightweight>>(launcher, cell->groups,
                                                             cell->launches);
    return std::make_unique<chain_of<flow::queueing>>(launcher, cell->groups, cell->launches);
}

struct onetbb {
    host_memory memory;
    std::unique_ptr<launcher> launch;
    std::unique_ptr<chain> chains[LAUNCHES_CELLS];
};

bool run(void *state, const launches_cell *cell, uint32_t repeats)
{
    onetbb *tbb = static_cast<onetbb *>(state);
    switch (cell->pattern) {
    case LAUNCHES_P1:
    case LAUNCHES_P1_REBUILT:
        for (uint32_t r = 0; r < repeats; ++r)
            tbb->launch->launch(cell->groups, launches_constant(0));
        break;
    case LAUNCHES_P2:
        for (uint32_t r = 0; r < repeats; ++r)
            make_chain(*tbb->launch, cell)->run();
        break;
    case LAUNCHES_P3: {
        std::unique_ptr<chain> &kept = tbb->chains[cell->index];
        if (!kept)
            kept = make_chain(*tbb->launch, cell);
        for (uint32_t r = 0; r < repeats; ++r)
            kept->run();
        break;
    }
    }
    return true;
}

bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    std::memcpy(static_cast<onetbb *>(state)->memory.buffer.data, bytes, size_bytes);
    return true;
}

bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    std::memcpy(out_bytes, static_cast<onetbb *>(state)->memory.buffer.data, size_bytes);
    return true;
}

void close_onetbb(void *state)
{
    onetbb *tbb = static_cast<onetbb *>(state);
    host_memory_deinit(&tbb->memory);
    delete tbb;
}

/* ---- Streaming -------------------------------------------------------------------------------- */

/* One serial node per buffer: items of one buffer stay in order, others run side by side. */
struct streamer {
    using node = flow::function_node<uint32_t>;
    host_memory memory;
    uint32_t constant = launches_constant(0);
    flow::graph graph;
    std::vector<std::unique_ptr<node>> nodes;
    tbb::task_group tasks;

    void run_item(uint32_t buffer)
    {
        run_range(memory, LAUNCH_STREAM_BUFFERS, &constant, range(buffer, buffer + 1));
    }
};

bool stream(void *state, uint32_t items)
{
    streamer *s = static_cast<streamer *>(state);
    for (uint32_t i = 0; i < items; ++i)
        s->nodes[i % LAUNCH_STREAM_BUFFERS]->try_put(i % LAUNCH_STREAM_BUFFERS);
    s->graph.wait_for_all();
    return true;
}

bool round_trip(void *state, uint32_t items)
{
    streamer *s = static_cast<streamer *>(state);
    for (uint32_t i = 0; i < items; ++i)
        s->tasks.run_and_wait([s] { s->run_item(0); });
    return true;
}

bool fill(void *state)
{
    launches_fill(static_cast<streamer *>(state)->memory.buffer.data, LAUNCH_STREAM_BYTES);
    return true;
}

bool digest(void *state, struct vyre_hash128 *out_digest)
{
    const host_memory &memory = static_cast<streamer *>(state)->memory;
    *out_digest = vyre_hash128(memory.buffer.data, LAUNCH_STREAM_BYTES);
    return true;
}

void close_stream(void *state)
{
    streamer *s = static_cast<streamer *>(state);
    host_memory_deinit(&s->memory);
    delete s;
}

/* Starts the workers and gives each its first task. */
void warm_up()
{
    tbb::parallel_for(0, 1 << 16, [](int) {});
}

} /* namespace */

void launch_open_onetbb(launches_row *out_row)
{
    out_row->name = "oneTBB";
    onetbb *tbb = new (std::nothrow) onetbb();
    if (tbb)
        host_memory_init(&tbb->memory);
    if (!tbb || !tbb->memory.buffer.data) {
        std::snprintf(out_row->absent, BENCH_ABSENT_BYTES, "out of memory");
        delete tbb;
        return;
    }
    warm_up();
    tbb->launch = std::make_unique<launcher>(tbb->memory);
    out_row->state = tbb;
    out_row->patterns = LAUNCHES_NOT_REBUILT;
    out_row->run = run;
    out_row->write = write_bytes;
    out_row->read = read_bytes;
    out_row->close = close_onetbb;
}

void launch_stream_open_onetbb(launch_streamer *out_streamer)
{
    out_streamer->name = "oneTBB flow graph, task_group";
    streamer *s = new (std::nothrow) streamer();
    if (s)
        host_memory_init(&s->memory);
    if (!s || !s->memory.buffer.data) {
        std::snprintf(out_streamer->absent, BENCH_ABSENT_BYTES, "out of memory");
        delete s;
        return;
    }
    for (uint32_t i = 0; i < LAUNCH_STREAM_BUFFERS; ++i) {
        s->nodes.push_back(std::make_unique<streamer::node>(
            s->graph, flow::serial, [s](uint32_t buffer) -> flow::continue_msg {
                s->run_item(buffer);
                return flow::continue_msg();
            }));
    }
    warm_up();
    out_streamer->state = s;
    out_streamer->stream = stream;
    out_streamer->round_trip = round_trip;
    out_streamer->fill = fill;
    out_streamer->digest = digest;
    out_streamer->close = close_stream;
}
