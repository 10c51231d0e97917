// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the per-task layer.
 *
 * What it shares out is the time of the device.  Every task has a cfq_queue
 * (cfqq) for its synchronous requests; asynchronous writes share one cfqq per
 * priority, and so do synchronous requests that a task submits on behalf of a
 * group that is not its own.  All cfqqs of one group on one device belong to a
 * cfq_data (cfqd), and this file only ever looks at one cfqd.  Which cfqd is
 * served, and when, is the business of the group layer (block/cfq-groups.c);
 * without it there is one cfqd per device.
 *
 * 1. Time.  A request is charged the device time that it took.  Nobody tells
 *    us that time when several requests are in the device at once, so it is
 *    estimated, in one of two ways (include/linux/cfq-iosched.h).  Where there
 *    is one head, the time since the previous completion: whatever finished
 *    now is what the head did since then.  On flash, the time that has passed
 *    and was not charged yet is divided among all requests in the device by
 *    the work that they are, and who is done is charged its part.  The work is
 *    the size, times what a write takes compared with a read.  If all requests
 *    counted alike, a group that reads 64 KiB at a time would have 94 % of a
 *    device beside one that reads 4 KiB, and one that writes 83 % beside one
 *    that reads (test_flash.sh).
 *
 *    As the charge is known only at completion, a queue is charged what its
 *    requests used to cost when one is sent, and the difference when it comes
 *    back.  So the order is right with any number of requests in flight.
 *
 * 2. Order.  Each class (real time, best effort, idle) has a service tree,
 *    sorted by virtual time: time charged over weight, where the weight of a
 *    queue is the length of the slice that its priority stands for (40..180
 *    for levels 7..0, 100 at level 4; two fifths of that if asynchronous).
 *    A queue stays on its tree while it has requests queued or in the device.
 *    Without a head it stays for a group_idle more (cfqq_check_idle()).
 *    The next request comes from the queue of the least virtual time that has
 *    one queued.
 *
 *    On a disk, no queue gets further ahead of the last one on its tree than
 *    a base slice of virtual time, even if the device could take more: with a
 *    few tasks, each with one request, all would be in the device at once and
 *    priorities would decide nothing.  For the same reason a class waits while
 *    a better one has requests in flight, but not for ever: after a while one
 *    of its requests is sent all the same (cfq_class_wait_ns()).  A request
 *    that is lost in the device is not waited for until the driver gives it
 *    up: who has sent nothing for a second (a tenth of that without a head),
 *    and has nothing queued, is left out of all this.  Without that, one such
 *    request stopped everybody else (test_tasks.sh, test_flash.sh).
 *
 *    Without a head that is done, with a smaller lead, while the device is busy
 *    (see 6), and only where levels differ.  Who has what others leave owes them
 *    little for it.
 *
 * 3. Slices.  Sequential synchronous queues profit from having the head for
 *    themselves.  When the turn of such a queue comes on a disk, it becomes
 *    the active queue and keeps the device for a slice of its priority; when
 *    it runs dry we wait for its next request (slice_idle), provided that
 *    its think time says that this is shorter than the wait.  Seeky queues
 *    get no slices: the more of them are in the device at once, the better a
 *    disk can order them, and the charge keeps them fair.
 *
 *    If the queue that ran dry is the last of its class, or is due before one
 *    that will take a slice, we wait for its next request (group_idle) even if
 *    it is seeky, as otherwise a lower class, another group or a stream would
 *    get the time that belongs to it.
 *
 *    Waiting needs no timer while nobody else wants the device; it is armed
 *    by a dispatch that finds other requests and must not send them.
 *
 * 4. Preemption.  A request of a better class ends the slice of the active
 *    queue, and so does one of another queue that is close to the head while
 *    the active queue idles (a close cooperator; e.g. two tasks that read one
 *    file in turns).  If a seeky queue is waited for, because it was the last
 *    of its group, another seeky queue will do.  A task that exits gives up
 *    its slice at once.
 *
 * 5. Choice within a queue.  The request that is nearest to the head, going
 *    up; a request behind the head counts back_seek_penalty times its
 *    distance, up to back_seek_max.  A request that is older than its
 *    fifo_expire goes first; this is looked at when a slice begins and every
 *    quantum requests.
 *
 * 6. Depth.  On a device without a head, how many requests keep it busy is
 *    learned from completions.  What a request of a direction and size takes
 *    by itself is known from those that had few beside them; times the rate at
 *    which requests are sent, it is the number that are worked on at the same
 *    time (Little's law).  Both layers bound by it who is ahead.  What
 *    writes and reads take by themselves tells what a write costs (see 1); the
 *    first few of each wait until the device has hardly anything else to do.
 *
 * 7. What others wait for.  Requests for metadata, the journal and swap space are
 *    sent before all others, whosever they are, and charged to whom they are
 *    for.  A disk gets nothing else while it serves others instead for long
 *    (cfq_waits_for_first()).  Who is in debt has none that are urgent, unless
 *    somebody works for him; so nobody gains by having many (cfq_opf_urgent()).
 *
 * Flushes, and data that had to wait for one, do not pass through here.  On a
 * disk their time is charged to the request that completes next.
 *
 * What has no other context in its description is called with cfqmd->lock held.
 */
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/part_stat.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include <linux/cfq-iosched.h>

#include <trace/events/block.h>

#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-debugfs.h"
#include "blk-mq-sched.h"
#include "blk-wbt.h"

#include "cfq-calc.h"
#define CREATE_TRACE_POINTS
#include "cfq-trace.h"

const char * const cfq_choice_names[CFQ_NR_CHOICES] = {
	[CFQ_CHOICE_TURN]	= "turn",
	[CFQ_CHOICE_SLICE]	= "slice",
	[CFQ_CHOICE_REQUEST]	= "request",
};

const char * const cfq_charge_names[CFQ_NR_CHARGES] = {
	[CFQ_CHARGE_REQUEST]	= "request",
	[CFQ_CHARGE_IDLE]	= "idle",
};

const char * const cfq_end_names[CFQ_NR_ENDS] = {
	[CFQ_END_USED]		= "used",
	[CFQ_END_EMPTY]		= "empty",
	[CFQ_END_IDLE]		= "idle",
	[CFQ_END_SEEKY]		= "seeky",
	[CFQ_END_CLOSE]		= "close",
	[CFQ_END_PREEMPTED]	= "preempted",
	[CFQ_END_LEFT]		= "left",
	[CFQ_END_TURN]		= "turn",
	[CFQ_END_DRAIN]		= "drain",
};

/*
 * The queues of a task on a device.  Its own are those from CFQ_SLOT_SYNC on,
 * one for each class, so that each request is served in the class that it has;
 * the others belong to a priority of a group, and are the ones that it used
 * last.
 */
enum cfq_slot {
	CFQ_SLOT_ASYNC,
	CFQ_SLOT_BEHALF,	/* sync, on behalf of another group */
	CFQ_SLOT_SYNC,
	CFQ_NR_SLOTS = CFQ_SLOT_SYNC + CFQ_NR_CLASSES,
};

/*
 * The part of a task that concerns one device: its queues there, on which it
 * owns references.  They are read under cfqmd->lock or RCU.
 */
struct cfq_io_cq {
	struct io_cq		icq;	/* must be first */
	struct cfq_queue __rcu	*cfqq[CFQ_NR_SLOTS];

	/* For requests that have no descriptor yet, of each task at most one. */
	struct list_head	places;

	/* Whose line the task was in, until it has a request queued. */
	struct cfq_data		*admitted;	/* owns a reference */
};

/* Defaults of the tunables; ms unless said otherwise. */
static const struct cfq_tunables cfq_default_tunables = {
	/* Few enough to end a slice soon, enough to keep a disk streaming. */
	.quantum		= 8,
	/* Below what a person notices; writes have somebody's cache behind. */
	.fifo_expire_ns		= { 250 * NSEC_PER_MSEC, 125 * NSEC_PER_MSEC },
	/* KiB: a seek that costs hardly more than settling. */
	.back_seek_max_kb	= 16 * 1024,
	.back_seek_penalty	= 2,
	/* At 100 ms, the seek between two streams costs a tenth at most. */
	.slice_ns		= { 40 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC },
	.slice_async_rq		= 2,
	/* About one revolution: waiting longer than a seek cannot pay. */
	.slice_idle_ns		= 8 * NSEC_PER_MSEC,
	.group_idle_ns		= 8 * NSEC_PER_MSEC,
	.target_latency_ns	= 300 * NSEC_PER_MSEC,
	/* Long against the time in which a full disk queue empties. */
	.group_slice_ns		= 400 * NSEC_PER_MSEC,
	.low_latency		= true,
};

/* What a request may cost on an unknown device, until there is experience. */
#define CFQ_COST_UNKNOWN_NS	(2 * NSEC_PER_MSEC)

/* Time in which a sample of a request by itself must be had, or never. */
#define CFQ_SAMPLE_WAIT_NS	(100 * NSEC_PER_MSEC)

/* From one request that is watched to the next: often enough in a window. */
#define CFQ_PROBE_GAP_NS	(100 * NSEC_PER_USEC)

static struct kmem_cache *cfq_pool;

static struct cfq_io_cq *icq_to_cic(struct io_cq *icq)
{
	return container_of(icq, struct cfq_io_cq, icq);
}

static struct cfq_queue *rq_cfqq(struct request *rq)
{
	return rq->elv.priv[0];
}

/*
 * While a request of ours is in the device, elv.priv[1] holds what its queue
 * was charged for it in advance, in ns, with bit 0 set, and bit 1 if it was sent
 * out of order.
 */
#define RQ_IN_DRIVER	1UL
#define RQ_FIRST	2UL

static bool rq_in_driver(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1] & RQ_IN_DRIVER;
}

static unsigned long rq_estimate_ns(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1] & ~(RQ_IN_DRIVER | RQ_FIRST);
}

static void rq_set_estimate_ns(struct request *rq, u64 ns)
{
	ns = min_t(u64, ns, NSEC_PER_SEC) & ~(u64)RQ_FIRST;
	rq->elv.priv[1] = (void *)((unsigned long)ns | RQ_IN_DRIVER);
}

static sector_t rq_end_sector(const struct request *rq)
{
	return blk_rq_pos(rq) + blk_rq_sectors(rq);
}

static struct cfq_queue *entity_to_cfqq(struct cfq_entity *entity)
{
	return container_of(entity, struct cfq_queue, entity);
}

/* What the device says of itself. */
static bool cfq_told_one_head(struct request_queue *q)
{
	return blk_queue_rot(q);
}

static struct cfq_driver_data *cfqd_dd(const struct cfq_data *cfqd)
{
	return &cfqd->cfqmd->dd;
}

/*
 * Queues: properties.
 */

/*
 * A new queue, of which nothing but seeks is known, is believed to be as the
 * others of its group, and if no more is known of these, to be seeky: a stream
 * shows what it is with its second request.  Else each of many random readers
 * would have the head for itself, and be waited for, until it has shown what it
 * is: three groups of 100 of them would get a seventh less from a disk
 * (bench/bench --only many100), and a group of weight 1 and 200 readers, beside
 * 8 and 4, 6.3 % instead of 7.7 (many200).
 */
static bool cfqq_seeky(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;

	if (!cfq_history_only_seeks(cfqq->seek_history, cfqq->seek_samples))
		return cfq_history_seeky(cfqq->seek_history);
	return cfq_history_only_seeks(cfqd->seek_history, cfqd->seek_samples) ||
	       cfq_history_seeky(cfqd->seek_history);
}

static bool cfqq_think_time_within(const struct cfq_queue *cfqq, u64 limit_ns)
{
	return cfq_ttime_within(cfqq->ttime_total_ns, cfqq->ttime_samples,
				limit_ns);
}

/* Is it worth giving this queue the head for a slice, and waiting for it? */
static bool cfqq_wants_slice(const struct cfq_queue *cfqq)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	return dd->one_head && cfqq->sync && cfqq->class != CFQ_CLASS_IDLE &&
	       dd->tun.slice_idle_ns && !cfqq_seeky(cfqq) &&
	       cfqq_think_time_within(cfqq, dd->tun.slice_idle_ns);
}

/* Length of the slice of @cfqq, shortened where many wait for theirs. */
static u64 cfqq_slice_ns(const struct cfq_queue *cfqq)
{
	const struct cfq_tunables *tun = &cfqd_dd(cfqq->cfqd)->tun;
	u64 slice_ns = cfq_prio_slice_ns(tun->slice_ns[cfqq->sync],
					 IOPRIO_PRIO_LEVEL(cfqq->ioprio));

	if (!tun->low_latency || !cfqq->sync)
		return slice_ns;
	return cfq_latency_slice_ns(slice_ns, tun->slice_ns[1],
				    cfqq->cfqd->nr_sync_busy,
				    tun->target_latency_ns,
				    2 * tun->slice_idle_ns);
}

static void cfqq_update_weight(struct cfq_queue *cfqq)
{
	const struct cfq_tunables *tun = &cfqd_dd(cfqq->cfqd)->tun;
	u64 slice_ns = cfq_prio_slice_ns(tun->slice_ns[cfqq->sync],
					 IOPRIO_PRIO_LEVEL(cfqq->ioprio));

	cfq_entity_set_weight(&cfqq->entity,
			      cfq_slice_weight(slice_ns, tun->slice_ns[1]));
}

static bool cfqq_on_tree(const struct cfq_queue *cfqq)
{
	return cfqq->entity.st;
}

static bool cfqq_is_active(const struct cfq_queue *cfqq)
{
	return cfqq->cfqd->active_cfqq == cfqq;
}

/*
 * How many requests of @cfqq may be in the device while others of the group
 * want it as well?  Writes that nobody waits for must not fill the device in
 * front of a reader, and an active queue should leave it soon when its slice
 * ends.
 */
static bool cfqq_may_dispatch(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;
	const struct cfq_tunables *tun = &cfqd_dd(cfqd)->tun;

	if (!cfqq->sync)
		return !cfqd->nr_sync_busy || cfqq->nr_in_driver <
		       cfq_async_depth(tun->slice_async_rq,
				       IOPRIO_PRIO_LEVEL(cfqq->ioprio));
	if (cfqq_is_active(cfqq) && cfqd->trees[cfqq->class].nr > 1)
		return cfqq->nr_in_driver < tun->quantum;
	return true;
}

/*
 * Queues: their requests.
 */

static void cfqq_pos_tree_update(struct cfq_queue *cfqq)
{
	struct rb_root *root = &cfqq->cfqd->pos_tree;
	struct rb_node **p = &root->rb_node, *parent = NULL;
	sector_t pos;

	if (cfqq->on_pos_tree) {
		rb_erase(&cfqq->pos_node, root);
		cfqq->on_pos_tree = false;
	}
	if (!cfqq->next_rq)
		return;

	pos = blk_rq_pos(cfqq->next_rq);
	while (*p) {
		struct cfq_queue *other;

		parent = *p;
		other = rb_entry(parent, struct cfq_queue, pos_node);
		p = pos < blk_rq_pos(other->next_rq) ? &parent->rb_left :
						       &parent->rb_right;
	}
	rb_link_node(&cfqq->pos_node, parent, p);
	rb_insert_color(&cfqq->pos_node, root);
	cfqq->on_pos_tree = true;
}

static void cfqq_set_next_rq(struct cfq_queue *cfqq, struct request *rq)
{
	cfqq->next_rq = rq;
	if (cfqq->sync && cfqd_dd(cfqq->cfqd)->one_head)
		cfqq_pos_tree_update(cfqq);
}

/* The better of two requests to send next; either may be NULL. */
static struct request *cfq_nearer_rq(const struct cfq_driver_data *dd,
				     struct request *a, struct request *b)
{
	u64 cost_a, cost_b;

	if (!a || !b)
		return a ?: b;

	cost_a = cfq_seek_cost(blk_rq_pos(a), dd->last_position,
			       dd->tun.back_seek_max_kb,
			       dd->tun.back_seek_penalty);
	cost_b = cfq_seek_cost(blk_rq_pos(b), dd->last_position,
			       dd->tun.back_seek_max_kb,
			       dd->tun.back_seek_penalty);
	return cost_b < cost_a ? b : a;
}

/* Put @rq on the lists of its queue, and in order of age on @fifo. */
static void cfqq_link_rq(struct cfq_queue *cfqq, struct request *rq,
			 struct list_head *fifo)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	elv_rb_add(&cfqq->sort_list, rq);
	list_add_tail(&rq->queuelist, fifo);
	cfqq->nr_queued++;
	cfqmd->last_cfqq = cfqq;
	WRITE_ONCE(cfqmd->nr_queued, cfqmd->nr_queued + 1);
	if (!cfqd->nr_queued++)
		cfq_group_became_ready(cfqd);
}

static void cfqq_unlink_rq(struct cfq_queue *cfqq, struct request *rq)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	struct request_queue *q = rq->q;

	if (cfqq->nr_queued == 1) {
		cfqq_set_next_rq(cfqq, NULL);
	} else if (cfqq->next_rq == rq) {
		struct rb_node *next = rb_next(&rq->rb_node);
		struct rb_node *prev = rb_prev(&rq->rb_node);

		if (!next)
			next = rb_first(&cfqq->sort_list);
		cfqq_set_next_rq(cfqq,
				 cfq_nearer_rq(&cfqmd->dd, rb_entry_rq(next),
					       prev ? rb_entry_rq(prev) : NULL));
	}
	list_del_init(&rq->queuelist);
	elv_rb_del(&cfqq->sort_list, rq);
	elv_rqhash_del(q, rq);
	if (q->last_merge == rq)
		q->last_merge = NULL;
	cfqq->nr_queued--;
	WRITE_ONCE(cfqmd->nr_queued, cfqmd->nr_queued - 1);
	if (!--cfqd->nr_queued)
		cfq_group_ran_dry(cfqd);
}

/*
 * Queues: busy and idle, lifetime.
 */

/* How far a queue may run ahead of the last one on its tree: a base slice. */
static u64 cfq_max_lead_ns(const struct cfq_driver_data *dd)
{
	return dd->tun.slice_ns[1];
}

/* A sync queue of that priority is on a tree now, or no longer. */
static void cfqd_count_level(struct cfq_data *cfqd, unsigned short ioprio,
			     bool on_tree)
{
	enum cfq_class class = cfq_ioprio_to_class(ioprio);
	unsigned int *nr = &cfqd->nr_at_level[class][IOPRIO_PRIO_LEVEL(ioprio)];

	if (on_tree && !(*nr)++)
		cfqd->nr_levels[class]++;
	else if (!on_tree && !--*nr)
		cfqd->nr_levels[class]--;
}

static void cfqq_count_busy(struct cfq_queue *cfqq, bool busy)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	if (!cfqq->sync)
		return;
	cfqd->nr_sync_busy += busy ? 1 : -1;
	cfqd_count_level(cfqd, cfqq->ioprio, busy);
}

static bool cfqd_has_queues(const struct cfq_data *cfqd)
{
	return cfqd->trees[CFQ_CLASS_BE].nr || cfqd->trees[CFQ_CLASS_RT].nr ||
	       cfqd->trees[CFQ_CLASS_IDLE].nr;
}

static void cfqq_add_busy(struct cfq_queue *cfqq, bool urgent, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	const struct cfq_driver_data *dd = cfqd_dd(cfqd);
	u64 credit_ns = 0;

	if (cfqq_on_tree(cfqq)) {
		list_del_init(&cfqq->idle_node);
		return;
	}
	/* Between one request and the next a task has not been away. */
	if (dd->one_head && cfqq->last_end_ns + dd->tun.slice_idle_ns > now_ns)
		credit_ns = cfq_max_lead_ns(dd);
	/* Of a sync queue it does not depend on the tunables. */
	if (!cfqq->sync)
		cfqq_update_weight(cfqq);
	cfq_st_add(&cfqd->trees[cfqq->class], &cfqq->entity, credit_ns);
	cfqq_count_busy(cfqq, true);
	cfq_group_became_busy(cfqd, urgent, now_ns);
}

/* Has it a request that may be sent, as far as what it has sent goes? */
static bool cfq_entity_sends(struct cfq_entity *entity)
{
	const struct cfq_queue *cfqq = entity_to_cfqq(entity);

	return cfqq->nr_queued && cfqq_may_dispatch(cfqq);
}

/* The queue most behind on @st that others have to wait for, if any. */
static struct cfq_entity *cfq_first_awaited(const struct cfq_data *cfqd,
					    struct cfq_service_tree *st,
					    u64 now_ns)
{
	return cfq_st_first_awaited(cfqd_dd(cfqd), st, now_ns,
				    cfq_entity_sends);
}

/* Is the device so busy that the order of what is sent matters? */
static bool cfq_order_matters(const struct cfq_driver_data *dd)
{
	return dd->one_head ||
	       dd->nr_in_driver >= cfq_useful_depth(dd->par.parallel);
}

/*
 * On a busy device without a head, is sync queue @cfqq so far ahead of others
 * that it has to wait?  @first is that of its tree.  It is only looked at where
 * levels differ: to hold a flood back makes a lone reader among its equals
 * faster, and costs an eighth of the device.  Where nobody is held back, a flood
 * of level 7 has half of the device beside one of level 0 (test_flash.sh).  And
 * it is not done for async queues, which are bounded in another way.
 */
static bool cfqq_outran_others(const struct cfq_queue *cfqq,
			       struct cfq_entity *first, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	if (dd->one_head || !cfqq->sync ||
	    cfqq->cfqd->nr_levels[cfqq->class] < 2 || !cfq_order_matters(dd))
		return false;
	while (first && !(entity_to_cfqq(first)->sync &&
			  cfq_entity_awaited(dd, first, now_ns,
					     cfq_entity_sends)))
		first = cfq_st_next(first);
	return first && cfq_entity_lead(&cfqq->entity, first) >
			(s64)cfq_max_lead_ns(dd) / CFQ_MIXED_LEAD_PART;
}

/*
 * Without a head: must @cfqq, which has a request queued, wait for others of its
 * group?
 */
static bool cfqq_must_wait(const struct cfq_queue *cfqq, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	struct cfq_service_tree *st = cfqq->cfqd->trees;
	struct cfq_entity *first;

	for (; st < cfqq->entity.st; st++)
		if (cfq_order_matters(dd) &&
		    cfq_first_awaited(cfqq->cfqd, st, now_ns))
			return true;
	first = cfq_first_awaited(cfqq->cfqd, st, now_ns);
	return first && cfqq_outran_others(cfqq, first, now_ns);
}

/* Has @cfqd a queue that others have to wait for? */
static bool cfq_data_awaited(struct cfq_data *cfqd, u64 now_ns)
{
	enum cfq_class class;

	for (class = 0; class < CFQ_NR_CLASSES; class++)
		if (cfq_first_awaited(cfqd, &cfqd->trees[class], now_ns))
			return true;
	return false;
}

/* @cfqq, which has nothing more to do, leaves its tree. */
static void cfqq_leave(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	list_del_init(&cfqq->idle_node);
	cfq_st_del(&cfqq->entity);
	cfqq_count_busy(cfqq, false);
	if (!cfqd_has_queues(cfqd))
		cfq_group_went_idle(cfqd, now_ns);
	else if (cfqd->nr_in_driver && !cfqd->nr_queued &&
		 !cfq_data_awaited(cfqd, now_ns))
		cfq_group_only_stuck(cfqd, now_ns);
}

/*
 * There is nothing left for @cfqq to do, if so.  On a disk it leaves its tree, as
 * whose next request is worth waiting for is active.  Elsewhere it stays for a
 * group_idle, and with it its group on those above: the task is expected back,
 * and need not be sorted in again.
 */
static void cfqq_check_idle(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	const struct cfq_driver_data *dd = &cfqmd->dd;

	if (!cfqq_on_tree(cfqq) || cfqq->nr_queued || cfqq->nr_in_driver ||
	    cfqq_is_active(cfqq))
		return;
	if (dd->one_head || !dd->tun.group_idle_ns || !cfqq->owned) {
		cfqq_leave(cfqq, now_ns);
		return;
	}
	cfqq->last_end_ns = now_ns;
	list_move_tail(&cfqq->idle_node, &cfqmd->idle_cfqqs);
	cfqmd->expected_until_ns = now_ns + dd->tun.group_idle_ns;
}

/* The queues that have been idle for so long leave their trees. */
static void cfq_end_idle(struct cfq_meta_data *cfqmd, u64 window_ns, u64 now_ns)
{
	struct cfq_queue *cfqq, *next;

	lockdep_assert_held(&cfqmd->lock);

	list_for_each_entry_safe(cfqq, next, &cfqmd->idle_cfqqs, idle_node) {
		if (cfqq->last_end_ns + window_ns > now_ns)
			return;
		cfqq_leave(cfqq, cfqq->last_end_ns);
	}
}

/* Charge @cfqq and its group; @spent_ns is what the device really spent. */
static void cfqq_charge(struct cfq_queue *cfqq, s64 ns, u64 spent_ns)
{
	cfq_entity_charge(&cfqq->entity, ns);
	if (cfqq_is_active(cfqq))
		cfqq->slice_used_ns += spent_ns;
	cfq_group_charge(cfqq->cfqd, ns, spent_ns);
}

/* The slice of the active queue is over. */
static void cfq_expire_active(struct cfq_data *cfqd, u64 now_ns,
			      enum cfq_end end)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	struct cfq_queue *cfqq = cfqd->active_cfqq;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (!cfqq)
		return;
	if (cfqq->idle_until_ns && !dd->nr_in_driver) {
		/* The device was kept idle for this queue. */
		u64 ns = cfq_charge_serial(dd, min(now_ns,
						   cfqq->idle_until_ns));

		cfqq_charge(cfqq, ns, ns);
		cfq_group_count(cfqd, CFQ_STAT_IDLE, ns);
		trace_cfq_charge(cfqq, ns, 0, CFQ_CHARGE_IDLE);
	}
	cfqq->idle_until_ns = 0;
	cfqd->active_cfqq = NULL;
	cfq_tell_slice_over(cfqq, end);
	cfqq_check_idle(cfqq, now_ns);
}

static void cfqq_put(struct cfq_queue *cfqq)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (--cfqq->ref)
		return;
	if (WARN_ON_ONCE(cfqq->nr_queued || cfqq->nr_in_driver))
		return;
	if (cfqq_is_active(cfqq))
		cfq_expire_active(cfqd, ktime_get_ns(), CFQ_END_LEFT);
	if (cfqq_on_tree(cfqq))
		cfqq_leave(cfqq, cfqq->last_end_ns);
	if (cfqd->cfqmd->last_cfqq == cfqq)
		cfqd->cfqmd->last_cfqq = NULL;
	cfq_queue_message(cfqq, "removed");
	kfree_rcu(cfqq, rcu);
	cfq_group_put(cfqd);
}

/*
 * The task or the async table that handed out @cfqq lets go of it; requests
 * may remain.  If others wait for the end of its slice, the timer sends them:
 * the caller may hold locks under which the queue cannot be run.
 */
static void cfqq_disown(struct cfq_queue *cfqq)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;

	cfqq->owned = false;
	if (cfqq_is_active(cfqq) && !cfqq->nr_queued) {
		cfq_expire_active(cfqq->cfqd, ktime_get_ns(), CFQ_END_LEFT);
		if (cfqmd->withheld)
			cfq_ask_at(&cfqmd->dd, 0);
	}
	cfqq_put(cfqq);
}

static void cfqq_init(struct cfq_queue *cfqq, struct cfq_data *cfqd, bool sync,
		      unsigned short ioprio)
{
	cfqq->cfqd = cfqd;
	cfqq->ref = 1;
	cfqq->owned = true;
	cfqq->sync = sync;
	cfqq->sort_list = RB_ROOT;
	INIT_LIST_HEAD(&cfqq->fifo);
	INIT_LIST_HEAD(&cfqq->idle_node);
	cfqq->class = cfq_ioprio_to_class(ioprio);
	cfqq->ioprio = ioprio;
	cfqq->cost_ns = cfqd_dd(cfqd)->mean_cost_ns;
	cfqq_update_weight(cfqq);
}

/* A new queue with one reference, which takes over one on @cfqd. */
static struct cfq_queue *cfqq_alloc(struct cfq_data *cfqd, bool sync,
				    unsigned short ioprio)
{
	struct cfq_queue *cfqq;

	cfqq = kmem_cache_alloc_node(cfq_pool,
				     GFP_NOWAIT | __GFP_ZERO | __GFP_NOWARN,
				     cfqd_dd(cfqd)->queue->node);
	if (!cfqq) {
		cfq_group_put(cfqd);
		return NULL;
	}
	cfqq_init(cfqq, cfqd, sync, ioprio);
	cfqq->pid = current->pid;
	cfq_queue_message(cfqq, "created");
	return cfqq;
}

/* The same class as ever, and maybe another level. */
static void cfqq_set_ioprio(struct cfq_queue *cfqq, unsigned short ioprio)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	if (cfqq_on_tree(cfqq) && cfqq->sync) {
		cfqd_count_level(cfqd, ioprio, true);
		cfqd_count_level(cfqd, cfqq->ioprio, false);
	}
	cfqq->ioprio = ioprio;
	cfqq_update_weight(cfqq);
}

/*
 * Urgent requests.  What holds metadata, the journal or swap space up holds up
 * others, of whatever class and group: who waits for a lock or a transaction does
 * not see whose request it is behind.  So these requests wait for no limit, no
 * line and no turn, and are sent before all others.  They are charged to whom
 * they are for, whose other requests wait the longer for it.  Who has nothing
 * but such requests would have all of the device, so who is in debt has none
 * that are urgent; but the kernel's threads, which work for all, always do.
 */
static bool cfq_opf_urgent(blk_opf_t opf)
{
	return opf & (REQ_META | REQ_PRIO | REQ_SWAP);
}

/*
 * Which queue a request belongs to.
 */

/*
 * The queue of @cfqd for @ioprio that belongs to no task, with a reference for
 * the caller.  Takes over a reference on @cfqd.
 */
static struct cfq_queue *cfqd_get_shared_cfqq(struct cfq_data *cfqd, bool sync,
					      unsigned short ioprio)
{
	struct cfq_queue **slot;

	slot = &cfqd->shared_cfqq[sync][cfq_ioprio_to_class(ioprio)]
				 [IOPRIO_PRIO_LEVEL(ioprio)];
	if (*slot) {
		cfq_group_put(cfqd);
	} else {
		*slot = cfqq_alloc(cfqd, sync, ioprio);
		if (!*slot)
			return NULL;
		(*slot)->shared = true;
	}
	(*slot)->ref++;
	return *slot;
}

/*
 * To which of the current task's queues does @bio go, and of which group?
 * What a task submits on behalf of another group is queued there, on a queue
 * that all who do so share.  Context: RCU read side.
 */
static enum cfq_slot cfq_bio_slot(struct bio *bio, struct cfq_cgroup **cfqc)
{
	bool behalf;

	*cfqc = cfq_bio_cgroup(bio, &behalf);
	if (!op_is_sync(bio->bi_opf))
		return CFQ_SLOT_ASYNC;
	return behalf ? CFQ_SLOT_BEHALF :
			CFQ_SLOT_SYNC + cfq_ioprio_to_class(bio->bi_ioprio);
}

/* What is in a slot.  Needs cfqmd->lock or RCU. */
static struct cfq_queue *cic_cfqq(const struct cfq_io_cq *cic,
				  const struct cfq_meta_data *cfqmd,
				  enum cfq_slot slot)
{
	return rcu_dereference_check(cic->cfqq[slot],
				     lockdep_is_held(&cfqmd->lock));
}

static void cic_put_cfqq(struct cfq_io_cq *cic,
			 const struct cfq_meta_data *cfqmd, enum cfq_slot slot)
{
	struct cfq_queue *cfqq = cic_cfqq(cic, cfqmd, slot);

	if (!cfqq)
		return;
	RCU_INIT_POINTER(cic->cfqq[slot], NULL);
	if (cfqq->shared)
		cfqq_put(cfqq);
	else
		cfqq_disown(cfqq);
}

/*
 * A new queue for a slot of @cic.  A task that moved to another group leaves its
 * old queues to the requests that are still on them: this is the only place
 * where that happens.
 */
static noinline struct cfq_queue *
cic_renew_cfqq(struct cfq_io_cq *cic, struct cfq_meta_data *cfqmd,
	       struct cfq_cgroup *cfqc, enum cfq_slot slot,
	       unsigned short ioprio)
{
	struct cfq_queue *cfqq = cic_cfqq(cic, cfqmd, slot);
	u64 old_group = cfqq ? cfq_group_id(cfqq->cfqd) : 0;
	struct cfq_data *cfqd = cfq_group_get(cfqmd, cfqc);
	enum cfq_slot other;

	if (old_group && old_group != cfq_group_id(cfqd))
		cfq_group_message(cfqd, "%s=%d moved here from group=%llu",
				  slot == CFQ_SLOT_ASYNC ? "async" : "sync",
				  current->pid, old_group);
	cic_put_cfqq(cic, cfqmd, slot);
	for (other = CFQ_SLOT_SYNC; slot >= CFQ_SLOT_SYNC &&
	     other < CFQ_NR_SLOTS; other++) {
		cfqq = cic_cfqq(cic, cfqmd, other);
		if (cfqq && !cfq_group_is(cfqq->cfqd, cfqc))
			cic_put_cfqq(cic, cfqmd, other);
	}
	cfqq = slot >= CFQ_SLOT_SYNC ? cfqq_alloc(cfqd, true, ioprio) :
		cfqd_get_shared_cfqq(cfqd, slot != CFQ_SLOT_ASYNC, ioprio);
	rcu_assign_pointer(cic->cfqq[slot], cfqq);
	return cfqq;
}

/* Is @cfqq, of one who shares the io_context of @cic, still in use? */
static bool cic_shares_cfqq(const struct cfq_io_cq *cic,
			    const struct cfq_queue *cfqq, u64 now_ns)
{
	return atomic_read(&cic->icq.ioc->active_ref) > 1 &&
	       (cfqq->nr_queued || cfqq->nr_in_driver ||
		cfqq->entity.sent_ns + NSEC_PER_SEC > now_ns);
}

/* So soon after a task's write was completed, a thread goes on because of it. */
#define CFQ_CAUSE_NS		NSEC_PER_MSEC

/*
 * For whom does a kernel thread write @rq to a journal?  One of its bios may tell.
 * Else it is for the task whose write, which it waited for, was completed just
 * now; and a thread that goes on does so for whom it began.
 */
static noinline enum cfq_slot
cfq_journal_slot(const struct cfq_io_cq *cic, const struct cfq_meta_data *cfqmd,
		 struct request *rq, struct cfq_cgroup **cfqc, u64 now_ns)
{
	const struct cfq_queue *cfqq = cic_cfqq(cic, cfqmd, CFQ_SLOT_BEHALF);
	struct cfq_cgroup *own = NULL, *cause = NULL;
	enum cfq_slot slot = CFQ_SLOT_SYNC;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		slot = cfq_bio_slot(bio, &own);
		if (slot == CFQ_SLOT_BEHALF) {
			*cfqc = own;
			return slot;
		}
	}
	if (cfqmd->sync_writer && cfqmd->sync_written_ns + CFQ_CAUSE_NS > now_ns)
		cause = cfq_group_cgroup(cfqmd->sync_writer);
	else if (cfqq && cfqq->entity.sent_ns + NSEC_PER_SEC > now_ns)
		cause = cfq_group_cgroup(cfqq->cfqd);
	if (!cause || cause == own)
		return slot;
	*cfqc = cause;
	return CFQ_SLOT_BEHALF;
}

/*
 * The queue for a request of the current task.  Tasks of several groups may share
 * an io_context: then its own queue is that of one group, and the others use
 * those that their groups have for requests on behalf of them.  Context: RCU
 * read side.
 */
static struct cfq_queue *cic_get_cfqq(struct cfq_io_cq *cic,
				      struct cfq_meta_data *cfqmd,
				      struct request *rq, u64 now_ns)
{
	unsigned short ioprio = cfq_effective_ioprio(req_get_ioprio(rq));
	struct cfq_cgroup *cfqc;
	enum cfq_slot slot = cfq_bio_slot(rq->bio, &cfqc);
	struct cfq_queue *cfqq;

	if (unlikely(cfq_opf_urgent(rq->cmd_flags)) &&
	    slot >= CFQ_SLOT_SYNC && op_is_write(req_op(rq)) &&
	    (current->flags & PF_KTHREAD))
		slot = cfq_journal_slot(cic, cfqmd, rq, &cfqc, now_ns);

	cfqq = cic_cfqq(cic, cfqmd, slot);
	if (slot >= CFQ_SLOT_SYNC && cfqq && !cfq_group_is(cfqq->cfqd, cfqc) &&
	    cic_shares_cfqq(cic, cfqq, now_ns)) {
		slot = CFQ_SLOT_BEHALF;
		cfqq = cic_cfqq(cic, cfqmd, slot);
	}
	if (likely(cfqq && cfq_group_is(cfqq->cfqd, cfqc))) {
		if (likely(cfqq->ioprio == ioprio))
			return cfqq;
		if (!cfqq->shared) {
			cfqq_set_ioprio(cfqq, ioprio);
			return cfqq;
		}
	}
	return cic_renew_cfqq(cic, cfqmd, cfqc, slot, ioprio);
}

static struct cfq_queue *cfq_get_queue(struct cfq_meta_data *cfqmd,
				       struct request *rq, u64 now_ns)
{
	struct cfq_queue *cfqq = NULL;

	if (rq->elv.icq) {
		rcu_read_lock();
		cfqq = cic_get_cfqq(icq_to_cic(rq->elv.icq), cfqmd, rq, now_ns);
		rcu_read_unlock();
	}
	return cfqq ?: &cfqmd->oom_cfqq;
}

/*
 * Request descriptors.
 */

static struct cfq_io_cq *cfq_lookup_cic(struct request_queue *q)
{
	struct io_cq *icq = NULL;

	if (current->io_context)
		icq = ioc_lookup_icq(q);
	return icq ? icq_to_cic(icq) : NULL;
}

/*
 * Places.  Where the requests of a group are limited (block/cfq-groups.c, 5), a
 * request has a place within the limit before it has a descriptor: otherwise
 * the limit could be exceeded by all who sleep for one.  The task gets the
 * place, sleeping until there is one, and keeps it on its cfq_io_cq, which it
 * may share with others.  Its next request takes it along in elv.priv[1] until
 * it is inserted, from when on the group of its queue holds it.
 *
 * A bio that must not wait is refused before there is a request, if that would
 * be past the limit (cfq_bio_merge()).  Of those that are not seen there, as
 * nothing merges with them, one at a time may be past it, with the first of all
 * descriptors.
 */

/* A place of a task on the cfq_io_cq that it uses. */
struct cfq_place {
	struct list_head	node;	/* on cic->places */
	struct task_struct	*task;	/* for comparison only */
	struct cfq_data		*cfqd;	/* owns a reference */
};

/*
 * The group that the last requests of @cic, which may be NULL, belonged to;
 * NULL if there were none.  Needs cfqmd->lock or RCU.
 */
static struct cfq_data *cfq_last_group(const struct cfq_io_cq *cic,
				       const struct cfq_meta_data *cfqmd,
				       bool sync)
{
	enum cfq_slot slot = sync ? CFQ_NR_SLOTS - 1 : CFQ_SLOT_ASYNC;
	const enum cfq_slot last = sync ? CFQ_SLOT_BEHALF : CFQ_SLOT_ASYNC;
	const struct cfq_queue *cfqq = NULL;

	for (; cic && !cfqq; slot--) {
		cfqq = cic_cfqq(cic, cfqmd, slot);
		if (slot == last)
			break;
	}
	return cfqq ? cfqq->cfqd : NULL;
}

/* May there be a limit for requests of the current task? */
static bool cfq_task_limited(const struct cfq_meta_data *cfqmd,
			     const struct cfq_io_cq *cic, bool sync)
{
	const struct cfq_data *cfqd;
	bool limited;

	if (likely(!cfq_groups_limited()))
		return false;

	rcu_read_lock();
	cfqd = cfq_last_group(cic, cfqmd, sync);
	limited = !cfqd || cfq_group_limits_current(cfqd);
	rcu_read_unlock();
	return limited;
}

/* Wait for a place and keep it for the next request of the current task. */
static void cfq_wait_for_place(struct request_queue *q)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	struct io_cq *icq = ioc_find_get_icq(q);
	struct cfq_place *place;

	if (!icq)
		return;
	/* Without memory the request exceeds the limit. */
	place = kmalloc_obj(*place, GFP_NOIO | __GFP_NOWARN);
	if (!place)
		goto put;
	place->task = current;

	spin_lock_irq(&cfqmd->lock);
	place->cfqd = cfq_group_get_place(cfqmd, true);
	if (place->cfqd) {
		list_add(&place->node, &icq_to_cic(icq)->places);
		place = NULL;
	}
	spin_unlock_irq(&cfqmd->lock);
	kfree(place);
put:
	put_io_context(icq->ioc);
}

/* The place that the current task has on @cic, NULL if it has none. */
static struct cfq_place *cic_own_place(struct cfq_io_cq *cic)
{
	struct cfq_place *place;

	list_for_each_entry(place, &cic->places, node)
		if (place->task == current)
			return place;
	return NULL;
}

/* Hand a place to @rq, which has its descriptor. */
static void cfq_place_request(struct request *rq, struct cfq_io_cq *cic)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_place *place;

	spin_lock_irq(&cfqmd->lock);
	place = cic_own_place(cic);
	if (place)
		list_del(&place->node);
	/* It was not asked for in time: without one it exceeds the limit. */
	rq->elv.priv[1] = place ? place->cfqd :
				  cfq_group_get_place(cfqmd, false);
	spin_unlock_irq(&cfqmd->lock);
	kfree(place);
}

/* The group of its queue holds @rq from now on, instead of its place. */
static void cfq_hold_request(struct request *rq)
{
	struct cfq_data *cfqd = rq_cfqq(rq)->cfqd;
	struct cfq_data *place = rq->elv.priv[1];

	rq->elv.priv[1] = NULL;
	if (place == cfqd) {
		cfq_group_put(place);
		return;
	}
	cfq_group_hold(cfqd);
	if (place) {
		cfq_group_release(place);
		cfq_group_put(place);
	}
}

/* @rq leaves its queue and is not done yet: it has its place again. */
static void cfq_unhold_request(struct request *rq, struct cfq_data *cfqd)
{
	cfqd->ref++;
	rq->elv.priv[1] = cfqd;
}

/* Would a request of the current task be past a limit? */
static bool cfq_past_limit(struct request_queue *q, bool sync)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;

	return cfq_groups_limited() &&
	       cfq_task_limited(cfqmd, cfq_lookup_cic(q), sync) &&
	       cfq_group_current_full(cfqmd);
}

/* Let those go on for whom there is a descriptor. */
static void cfq_admit_waiters(struct cfq_meta_data *cfqmd)
{
	const u64 now_ns = ktime_get_ns();
	struct cfq_in_line *waiter;
	struct cfq_data *cfqd;
	enum cfq_class class;

	lockdep_assert_held(&cfqmd->lock);

	while (cfqmd->nr_waiting) {
		cfqd = cfq_group_to_admit(cfqmd, now_ns);
		if (!cfqd)
			return;
		class = cfq_line_class(cfqd, now_ns);
		waiter = list_first_entry(&cfqd->line[class],
					  struct cfq_in_line, node);
		list_del(&waiter->node);
		cfqd->line_served_ns[class] = now_ns;
		cfqd->nr_in_own_line--;
		WRITE_ONCE(cfqmd->nr_waiting, cfqmd->nr_waiting - 1);
		cfqmd->nr_rt_waiting -= waiter->class == CFQ_CLASS_RT;
		WRITE_ONCE(cfqmd->nr_admitted, cfqmd->nr_admitted + 1);
		cfqd->nr_admitted++;
		cfqd->admitted_ns = now_ns;
		cfqmd->expected_until_ns =
			now_ns + cfqmd->dd.tun.group_idle_ns;
		if (!cfq_data_in_line(cfqd))
			cfq_group_line_ended(cfqd);
		/* Then it is gone. */
		complete(&waiter->admitted);
	}
}

/* An admitted task of @cfqd has a request queued, or will have none. */
static void cfq_end_admission(struct cfq_data *cfqd)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	WRITE_ONCE(cfqmd->nr_admitted, cfqmd->nr_admitted - 1);
	cfqd->nr_admitted--;
	if (!cfq_data_wants(cfqd) && !cfqd_has_queues(cfqd))
		cfq_group_went_idle(cfqd, ktime_get_ns());
	/* Should it not come to a request, nobody else would. */
	if (cfq_nr_held(cfqmd) < cfqmd->dd.queue->nr_requests / 2)
		cfq_admit_waiters(cfqmd);
}

static void cic_end_admission(struct cfq_io_cq *cic)
{
	struct cfq_data *cfqd = cic->admitted;

	if (likely(!cfqd))
		return;
	WRITE_ONCE(cic->admitted, NULL);
	cfq_end_admission(cfqd);
	cfq_group_put(cfqd);
}

static void cfq_wait_for_descriptor(struct cfq_data *cfqd, enum cfq_class class)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	struct cfq_in_line waiter = { .class = class };
	const bool first = !cfq_data_in_line(cfqd);

	lockdep_assert_held(&cfqmd->lock);

	init_completion(&waiter.admitted);
	list_add_tail(&waiter.node, &cfqd->line[class]);
	cfqd->nr_in_own_line++;
	WRITE_ONCE(cfqmd->nr_waiting, cfqmd->nr_waiting + 1);
	cfqmd->nr_rt_waiting += class == CFQ_CLASS_RT;
	if (first)
		cfq_group_line_began(cfqd);
	cfq_group_waits(cfqd, ktime_get_ns());
	spin_unlock_irq(&cfqmd->lock);
	wait_for_completion_io(&waiter.admitted);
	spin_lock_irq(&cfqmd->lock);
}

/*
 * The task goes in line with the group that its last request was of, which is
 * another than its own if it works for that one, as writeback does.
 * Return: false if it would have to wait, and must not.
 */
static bool cfq_admit_current(struct cfq_meta_data *cfqmd, bool sync,
			      bool nowait)
{
	enum cfq_class class = cfq_ioprio_to_class(get_current_ioprio());
	struct cfq_io_cq *cic = cfq_lookup_cic(cfqmd->dd.queue);
	struct cfq_data *cfqd;
	bool admitted;

	spin_lock_irq(&cfqmd->lock);
	cfqd = cfq_last_group(cic, cfqmd, sync);
	if (cfqd)
		cfqd->ref++;
	else
		cfqd = cfq_group_get_current(cfqmd);
	admitted = cfq_line_best(cfqd) > class && cfq_group_has_room(cfqd, class);
	if (!admitted && !nowait) {
		cfq_wait_for_descriptor(cfqd, class);
		admitted = true;
		/* Another task may share the cic. */
		if (cic && !cic->admitted) {
			WRITE_ONCE(cic->admitted, cfqd);
			cfqd->ref++;
		} else {
			cfq_end_admission(cfqd);
		}
	}
	cfq_group_put(cfqd);
	spin_unlock_irq(&cfqmd->lock);
	return admitted;
}

/* Are there so few descriptors left that it matters who has them? */
static bool cfq_descriptors_scarce(struct cfq_meta_data *cfqmd)
{
	return READ_ONCE(cfqmd->nr_waiting) ||
	       cfq_nr_held(cfqmd) >= cfqmd->dd.queue->nr_requests / 2;
}

/* How many descriptors may be in use for this one; waits until it is due. */
static noinline unsigned int cfq_due_depth(struct blk_mq_alloc_data *data,
					   bool sync, bool *limitedp)
{
	struct cfq_meta_data *cfqmd = data->q->elevator->elevator_data;
	const bool nowait = data->flags & BLK_MQ_REQ_NOWAIT;
	unsigned int depth = data->q->nr_requests;
	bool limited;

	if (!sync)
		depth = min(depth, data->q->async_depth);
	limited = cfq_groups_limited() &&
		cfq_task_limited(cfqmd, cfq_lookup_cic(data->q), sync);
	if (limited && !nowait)
		cfq_wait_for_place(data->q);
	/* As good as none: the first descriptor or an error. */
	if (limited && nowait && cfq_group_current_full(cfqmd))
		depth = 1;
	if (cfq_descriptors_scarce(cfqmd)) {
		limited = true;
		if (!cfq_admit_current(cfqmd, sync, nowait))
			depth = 1;
	}
	*limitedp = limited;
	return depth;
}

/* Called before a descriptor is allocated. */
static void cfq_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct cfq_meta_data *cfqmd = data->q->elevator->elevator_data;
	const bool sync = op_is_sync(opf);
	unsigned int depth;
	bool limited;

	/* Tried again, as a processor went away: it has its place. */
	if (data->shallow_depth || cfq_opf_urgent(opf))
		return;
	/* There are plenty. */
	if (likely(sync && !cfq_groups_limited() &&
		   !cfq_descriptors_scarce(cfqmd)))
		return;

	depth = cfq_due_depth(data, sync, &limited);
	/* Any depth, even of all, is for one request at a time. */
	if (limited || depth < data->q->nr_requests)
		data->shallow_depth = depth;
}

/* The number of descriptors of the queue was set. */
static void cfq_depth_updated(struct request_queue *q)
{
	/* A limit can be as low as that. */
	blk_mq_set_min_shallow_depth(q, 1);
}

/*
 * Insertion.
 */

/* Does the queued @rq continue another queued request, or lead up to one? */
static bool cfqq_rq_has_neighbour(struct request *rq)
{
	struct rb_node *prev = rb_prev(&rq->rb_node);
	struct rb_node *next = rb_next(&rq->rb_node);

	return (prev && rq_end_sector(rb_entry_rq(prev)) == blk_rq_pos(rq)) ||
	       (next && blk_rq_pos(rb_entry_rq(next)) == rq_end_sector(rq));
}

static void cfqq_add_seek(struct cfq_queue *cfqq, bool seek)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	cfqq->seek_history = cfqq->seek_history << 1 | seek;
	cfqq->seek_samples = min(cfqq->seek_samples + 1, CFQ_SEEK_HISTORY);
	cfqd->seek_history = cfqd->seek_history << 1 | seek;
	cfqd->seek_samples = min(cfqd->seek_samples + 1, CFQ_SEEK_HISTORY);
}

/* Learn from the new, queued @rq how the task thinks and how it moves. */
static void cfqq_update_statistics(struct cfq_queue *cfqq, struct request *rq,
				   u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	/* It is for slices, and for waiting, which is not done elsewhere. */
	if (!cfqq->sync || !dd->one_head)
		return;

	if (cfqq->nr_queued == 1 && !cfqq->nr_in_driver && cfqq->last_end_ns &&
	    now_ns > cfqq->last_end_ns) {
		u64 ns = min(now_ns - cfqq->last_end_ns,
			     2 * max(dd->tun.slice_idle_ns,
				     dd->tun.group_idle_ns));

		cfq_ttime_add(&cfqq->ttime_total_ns, &cfqq->ttime_samples, ns);
	}

	/* Readahead sends a stream's pieces in any order: not a seek. */
	if (cfqq->nr_queued > 1 && cfqq_rq_has_neighbour(rq)) {
		cfqq_add_seek(cfqq, false);
		cfqq->last_request_end = max(cfqq->last_request_end,
					     rq_end_sector(rq));
		return;
	}
	if (cfqq->last_request_end)
		cfqq_add_seek(cfqq, cfq_is_seek(cfqq->last_request_end,
						blk_rq_pos(rq)));
	cfqq->last_request_end = rq_end_sector(rq);
}

/* Is an urgent request for @cfqq really to be sent before all others? */
static noinline bool cfqq_jumps(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	u64 until_ns;

	/* Neither does who writes what others want to be rid of: swap. */
	if ((current->flags & PF_KTHREAD) || cfqq->shared)
		return true;
	if (cfq_entity_in_debt(&cfqq->entity, cfqd->trees, cfqq->class,
			       4 * cfq_max_lead_ns(cfqd_dd(cfqd)), now_ns) ||
	    cfq_group_in_debt(cfqd, now_ns))
		return false;
	until_ns = cfq_class_borrow(cfqd->trees, cfqq->class, cfqq->cost_ns,
				    now_ns);
	until_ns = max(until_ns, cfq_group_borrow(cfqd, cfqq->cost_ns, now_ns));
	cfqd->cfqmd->repay_until_ns = max(cfqd->cfqmd->repay_until_ns, until_ns);
	return true;
}

/* Should the request that just came to @cfqq end the active queue's slice? */
static bool cfqq_should_preempt(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;
	const struct cfq_queue *active = cfqd->active_cfqq;

	if (!active || active == cfqq)
		return false;
	if (cfqq->class != active->class)
		return cfqq->class < active->class;

	if (!cfqq->sync || !active->idle_until_ns)
		return false;
	/* As good as what we wait for. */
	if (!cfqq_wants_slice(active) && !cfqq_wants_slice(cfqq))
		return true;
	return cfq_is_close(blk_rq_pos(cfqq->next_rq),
			    cfqd_dd(cfqd)->last_position);
}

static void cfqq_insert(struct cfq_queue *cfqq, struct request *rq, bool urgent,
			u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);

	rq->fifo_time = now_ns + dd->tun.fifo_expire_ns[cfqq->sync];
	cfqq_link_rq(cfqq, rq, urgent ? &cfqd->cfqmd->urgent : &cfqq->fifo);
	cfqq_update_statistics(cfqq, rq, now_ns);
	cfqq_set_next_rq(cfqq, cfq_nearer_rq(dd, cfqq->next_rq, rq));
	cfqq_add_busy(cfqq, urgent, now_ns);
	if (!urgent && cfqq_should_preempt(cfqq)) {
		cfq_queue_message(cfqd->active_cfqq, "preempted by %s=%d",
				  cfqq->sync ? "sync" : "async", cfqq->pid);
		cfq_expire_active(cfqd, now_ns, CFQ_END_PREEMPTED);
	}
}

/*
 * Who has taken from better classes pays for it when nobody waits for him: where
 * the task goes back to user mode, without a lock.  So he is not in debt when
 * somebody does.
 */
struct cfq_repayment {
	struct callback_head	work;
	u64			until_ns;
};

/* For so long signals have to wait, but for deadly ones, and then for none. */
#define CFQ_REPAYMENT_NS		(2 * NSEC_PER_SEC)
#define CFQ_LONGEST_REPAYMENT_NS	(8 * NSEC_PER_SEC)

/* Return: false if a signal came first. */
static bool cfq_sleep_until(u64 until_ns, unsigned int state)
{
	ktime_t until = ns_to_ktime(until_ns);

	while (!(current->flags & PF_EXITING) &&
	       !signal_pending_state(state, current)) {
		set_current_state(state);
		if (!schedule_hrtimeout(&until, HRTIMER_MODE_ABS))
			return true;
	}
	return false;
}

static void cfq_repay(struct callback_head *work)
{
	struct cfq_repayment *repayment;
	u64 until_ns, now_ns = ktime_get_ns();

	repayment = container_of(work, struct cfq_repayment, work);
	until_ns = repayment->until_ns;
	kfree(repayment);
	if (cfq_sleep_until(min(until_ns, now_ns + CFQ_REPAYMENT_NS),
			    TASK_KILLABLE))
		cfq_sleep_until(until_ns, TASK_INTERRUPTIBLE);
	module_put(THIS_MODULE);
}

/* The current task, which has sent urgent requests, goes on after @until_ns. */
static noinline void cfq_repay_until(u64 until_ns, u64 now_ns)
{
	struct cfq_repayment *repayment;

	if (until_ns <= now_ns || (current->flags & (PF_KTHREAD |
						     PF_USER_WORKER |
						     PF_EXITING)))
		return;
	/* Without memory he remains in debt. */
	repayment = kmalloc_obj(*repayment, GFP_NOWAIT | __GFP_NOWARN);
	if (!repayment)
		return;
	init_task_work(&repayment->work, cfq_repay);
	repayment->until_ns = min(until_ns, now_ns + CFQ_LONGEST_REPAYMENT_NS);
	__module_get(THIS_MODULE);
	if (task_work_add(current, &repayment->work, TWA_RESUME)) {
		module_put(THIS_MODULE);
		kfree(repayment);
	}
}

static void cfq_insert_request(struct cfq_meta_data *cfqmd, struct request *rq,
			       blk_insert_t flags, u64 now_ns)
{
	struct request_queue *q = rq->q;
	struct cfq_queue *cfqq;
	bool urgent;

	lockdep_assert_held(&cfqmd->lock);

	/*
	 * Not scheduled: what was sent before and came back, data that had to
	 * wait for a flush, and what never was ours (on reserved tags).
	 */
	if ((flags & BLK_MQ_INSERT_AT_HEAD) ||
	    !(rq->rq_flags & RQF_USE_SCHED)) {
		trace_block_rq_insert(rq);
		if (flags & BLK_MQ_INSERT_AT_HEAD)
			list_add(&rq->queuelist, &cfqmd->dispatch);
		else
			list_add_tail(&rq->queuelist, &cfqmd->dispatch);
		return;
	}

	cfqq = cfq_get_queue(cfqmd, rq, now_ns);
	cfqq->ref++;
	rq->elv.priv[0] = cfqq;
	cfq_hold_request(rq);
	trace_block_rq_insert(rq);
	urgent = unlikely(cfq_opf_urgent(rq->cmd_flags)) &&
		 cfqq_jumps(cfqq, now_ns);
	cfqq_insert(cfqq, rq, urgent, now_ns);
	if (rq->elv.icq)
		cic_end_admission(icq_to_cic(rq->elv.icq));
	if (cfqmd->held &&
	    (urgent || (!cfq_group_must_wait(cfqq->cfqd, now_ns) &&
			!cfqq_must_wait(cfqq, now_ns))))
		WRITE_ONCE(cfqmd->held, false);
	if (rq_mergeable(rq)) {
		elv_rqhash_add(q, rq);
		if (!q->last_merge)
			q->last_merge = rq;
	}
}

/*
 * Somebody has told what the device is, for which it was emptied.  What was
 * learned of it is learned anew.
 */
static void cfq_set_one_head(struct cfq_meta_data *cfqmd, bool one_head,
			     u64 now_ns)
{
	struct cfq_driver_data *dd = &cfqmd->dd;

	cfq_end_idle(cfqmd, 0, now_ns);
	cfq_groups_end_turn(cfqmd, now_ns, CFQ_END_DRAIN);
	dd->one_head = one_head;
	dd->charged_until_ns = now_ns;
	memset(&dd->par, 0, sizeof(dd->par));
	dd->par.write_work = CFQ_WORK_PAGE;
}

static void cfq_insert_requests(struct blk_mq_hw_ctx *hctx,
				struct list_head *list, blk_insert_t flags)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;
	u64 now_ns = blk_time_get_ns();
	u64 repay_until_ns;
	struct request *rq;

	spin_lock_irq(&cfqmd->lock);
	cfq_end_idle(cfqmd, cfqmd->dd.tun.group_idle_ns, now_ns);
	if (unlikely(cfqmd->dd.one_head != cfq_told_one_head(hctx->queue)) &&
	    !cfqmd->nr_queued && !cfqmd->dd.nr_in_driver)
		cfq_set_one_head(cfqmd, !cfqmd->dd.one_head, now_ns);
	while (!list_empty(list)) {
		rq = list_first_entry(list, struct request, queuelist);
		list_del_init(&rq->queuelist);
		cfq_insert_request(cfqmd, rq, flags, now_ns);
	}
	repay_until_ns = cfqmd->repay_until_ns;
	if (unlikely(repay_until_ns))
		cfqmd->repay_until_ns = 0;
	spin_unlock_irq(&cfqmd->lock);

	if (unlikely(repay_until_ns))
		cfq_repay_until(repay_until_ns, now_ns);
}

/*
 * Merging.  Only within a queue: what one task reads is not put into the
 * request of another, which may be of another group or class.
 */

static bool cfq_allow_merge(struct request_queue *q, struct request *rq,
			    struct bio *bio)
{
	const struct cfq_queue *cfqq = rq_cfqq(rq);
	struct cfq_cgroup *cfqc;
	bool same_group, shared;

	if (!cfqq || !rq->elv.icq || cfqq->sync != op_is_sync(bio->bi_opf) ||
	    cfq_opf_urgent(rq->cmd_flags) != cfq_opf_urgent(bio->bi_opf))
		return false;

	rcu_read_lock();
	shared = cfq_bio_slot(bio, &cfqc) < CFQ_SLOT_SYNC;
	same_group = cfq_group_is(cfqq->cfqd, cfqc);
	rcu_read_unlock();
	if (!same_group || cfqq->shared != shared)
		return false;
	if (!shared)
		return rq->elv.icq->ioc == current->io_context &&
		       cfqq->class == cfq_ioprio_to_class(bio->bi_ioprio);
	return cfqq->ioprio == cfq_effective_ioprio(bio->bi_ioprio);
}

/* Called from blk_mq_sched_try_merge(), for a front merge. */
static int cfq_request_merge(struct request_queue *q, struct request **req,
			     struct bio *bio)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	struct cfq_io_cq *cic = cfqmd->merge_cic;
	struct cfq_cgroup *cfqc;
	struct cfq_queue *cfqq;
	struct request *rq;

	lockdep_assert_held(&cfqmd->lock);

	if (!cic)
		return ELEVATOR_NO_MERGE;
	rcu_read_lock();
	cfqq = cic_cfqq(cic, cfqmd, cfq_bio_slot(bio, &cfqc));
	rcu_read_unlock();
	if (!cfqq)
		return ELEVATOR_NO_MERGE;

	rq = elv_rb_find(&cfqq->sort_list, bio_end_sector(bio));
	if (!rq || !elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*req = rq;
	if (blk_discard_mergable(rq))
		return ELEVATOR_DISCARD_MERGE;
	return ELEVATOR_FRONT_MERGE;
}

static bool cfq_try_merge(struct request_queue *q, struct bio *bio,
			  unsigned int nr_segs)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	struct request *free = NULL;
	struct cfq_io_cq *cic;
	bool merged;

	if (!READ_ONCE(cfqmd->nr_queued))
		return false;

	cic = cfq_lookup_cic(q);
	spin_lock_irq(&cfqmd->lock);
	cfqmd->merge_cic = cic;
	merged = blk_mq_sched_try_merge(q, bio, nr_segs, &free);
	cfqmd->merge_cic = NULL;
	spin_unlock_irq(&cfqmd->lock);

	if (free)
		blk_mq_free_request(free);
	return merged;
}

/* Called for each bio that might be merged.  Return: whether it is done with. */
static bool cfq_bio_merge(struct request_queue *q, struct bio *bio,
			  unsigned int nr_segs)
{
	if (cfq_try_merge(q, bio, nr_segs))
		return true;
	if (!(bio->bi_opf & REQ_NOWAIT) || cfq_opf_urgent(bio->bi_opf) ||
	    !cfq_past_limit(q, op_is_sync(bio->bi_opf)))
		return false;
	bio_wouldblock_error(bio);
	return true;
}

/* A bio was added to @rq, at its end or at its front. */
static void cfq_request_merged(struct request_queue *q, struct request *rq,
			       enum elv_merge type)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);

	if (!cfqq)
		return;
	cfq_group_count(cfqq->cfqd, CFQ_STAT_MERGES, 1);
	if (type == ELEVATOR_BACK_MERGE) {
		/* This is where a stream will go on. */
		cfqq->last_request_end = rq_end_sector(rq);
	} else if (type == ELEVATOR_FRONT_MERGE) {
		/* It has a new first sector: sort it in again. */
		elv_rb_del(&cfqq->sort_list, rq);
		elv_rb_add(&cfqq->sort_list, rq);
		if (cfqq->next_rq == rq)
			cfqq_set_next_rq(cfqq, rq);
	}
}

/* @next was merged into @rq and will be freed; it may be on no queue yet. */
static void cfq_requests_merged(struct request_queue *q, struct request *rq,
				struct request *next)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);

	if (cfqq) {
		cfqq->last_request_end = max(cfqq->last_request_end,
					     rq_end_sector(rq));
		cfq_group_count(cfqq->cfqd, CFQ_STAT_MERGES, 1);
	}

	cfqq = rq_cfqq(next);
	if (!cfqq || RB_EMPTY_NODE(&next->rb_node))
		return;
	if (cfqq == rq_cfqq(rq) && !cfq_opf_urgent(rq->cmd_flags) &&
	    (cfq_opf_urgent(next->cmd_flags) ||
	     next->fifo_time < rq->fifo_time)) {
		list_move(&rq->queuelist, &next->queuelist);
		rq->fifo_time = next->fifo_time;
	}
	cfqq_unlink_rq(cfqq, next);
	cfqq_check_idle(cfqq, ktime_get_ns());
}

/*
 * Choosing a queue.
 */

/* A queue of the same class whose next request is near the head. */
static struct cfq_queue *cfq_close_cooperator(struct cfq_data *cfqd,
					      struct cfq_queue *cfqq)
{
	sector_t head = cfqd_dd(cfqd)->last_position;
	struct rb_node *node = cfqd->pos_tree.rb_node;
	struct cfq_queue *best = NULL;

	while (node) {
		struct cfq_queue *other = rb_entry(node, struct cfq_queue,
						   pos_node);
		sector_t pos = blk_rq_pos(other->next_rq);

		if (cfq_is_close(pos, head) && other->class == cfqq->class)
			best = other;
		node = pos < head ? node->rb_right : node->rb_left;
	}
	return best;
}

static void cfq_activate(struct cfq_data *cfqd, struct cfq_queue *cfqq)
{
	cfqd->active_cfqq = cfqq;
	cfqq->slice_used_ns = 0;
	cfqq->idle_until_ns = 0;
	cfqq->since_fifo_check = 0;
	cfq_tell_slice(cfqq);
}

static bool cfq_active_slice_over(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqd);
	const struct cfq_queue *cfqq = cfqd->active_cfqq;
	u64 used_ns = cfqq->slice_used_ns;

	if (cfqq->nr_in_driver && now_ns > dd->charged_until_ns)
		used_ns += now_ns - dd->charged_until_ns;
	return used_ns >= cfqq_slice_ns(cfqq);
}

/*
 * Ask the active queue.  Return: whether it decides, with the queue to be
 * served in *@cfqqp, or NULL to wait for it.
 */
static bool cfq_select_active(struct cfq_data *cfqd, u64 now_ns,
			      struct cfq_queue **cfqqp)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	struct cfq_queue *cfqq = cfqd->active_cfqq;
	struct cfq_queue *close;
	enum cfq_end end;

	*cfqqp = NULL;
	if (!cfqq)
		return false;

	if (cfqq->nr_queued) {
		/* It may only have been waited for, without a slice. */
		end = cfqq_wants_slice(cfqq) ? CFQ_END_USED : CFQ_END_SEEKY;
		if (end == CFQ_END_SEEKY || cfq_active_slice_over(cfqd, now_ns))
			goto expire;
		if (cfqq_may_dispatch(cfqq))
			*cfqqp = cfqq;
		return true;
	}

	end = cfqq->owned ? CFQ_END_DRAIN : CFQ_END_LEFT;
	if (end == CFQ_END_LEFT || cfq_must_empty(dd))
		goto expire;

	close = cfq_close_cooperator(cfqd, cfqq);
	if (close) {
		u64 used_ns = cfqq->slice_used_ns;

		cfq_expire_active(cfqd, now_ns, CFQ_END_CLOSE);
		cfq_activate(cfqd, close);
		close->slice_used_ns = used_ns;
		*cfqqp = close;
		return true;
	}
	if (cfqq->nr_in_driver &&
	    !cfq_entity_stuck(dd, &cfqq->entity, now_ns))
		return true;
	if (cfqq->idle_until_ns > now_ns) {
		cfq_ask_at(dd, cfqq->idle_until_ns);
		return true;
	}
	end = CFQ_END_IDLE;
expire:
	cfq_expire_active(cfqd, now_ns, end);
	return false;
}

/*
 * The oldest request of @cfqd of which the class, or that of its group, is
 * overdue, unless there is none that may be sent.
 */
static inline struct request *cfq_overdue_request(struct cfq_data *cfqd,
						  bool group_overdue,
						  u64 now_ns)
{
	struct cfq_entity *entity;

	if (!group_overdue && !cfq_data_shares_head(cfqd))
		now_ns -= CFQ_STREAM_WAIT_NS;
	entity = cfq_overdue_entity(cfqd->trees, group_overdue, now_ns,
				    cfq_entity_sends);
	return entity ? rq_entry_fifo(entity_to_cfqq(entity)->fifo.next) : NULL;
}

/* The queue to be served next, or NULL if none may be. */
static struct cfq_queue *cfq_select_queue(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqd);
	const s64 max_lead_ns = cfq_max_lead_ns(dd);
	struct cfq_queue *cfqq;
	enum cfq_class class;

	if (cfq_select_active(cfqd, now_ns, &cfqq))
		return cfqq;

	for (class = 0; class < CFQ_NR_CLASSES; class++) {
		struct cfq_entity *first, *entity;

		first = cfq_first_awaited(cfqd, &cfqd->trees[class], now_ns);
		for (entity = first; entity; entity = cfq_st_next(entity)) {
			if (dd->one_head &&
			    cfq_entity_lead(entity, first) > max_lead_ns)
				break;
			cfqq = entity_to_cfqq(entity);
			if (!cfqq->nr_queued || !cfqq_may_dispatch(cfqq))
				continue;
			/* A slice is for the group's own turn. */
			if (cfqq_wants_slice(cfqq) && !cfq_group_has_turn(cfqd))
				continue;
			if (cfqq_outran_others(cfqq, first, now_ns))
				break;
			cfq_st_leave_behind(first);
			if (!dd->one_head)
				cfq_st_forget_behind(entity, max_lead_ns /
						     CFQ_MIXED_DEBT_PART, NULL);
			if (cfqq_wants_slice(cfqq))
				cfq_activate(cfqd, cfqq);
			return cfqq;
		}
		if (first && cfq_order_matters(dd))
			break;
	}
	return NULL;
}

/*
 * Dispatch and completion.
 */

static struct request *cfqq_choose_request(struct cfq_queue *cfqq, u64 now_ns)
{
	const struct cfq_tunables *tun = &cfqd_dd(cfqq->cfqd)->tun;

	if (cfqq->nr_queued > 1 &&
	    cfqq->since_fifo_check % (u32)tun->quantum == 0) {
		struct request *oldest = rq_entry_fifo(cfqq->fifo.next);

		if (now_ns > oldest->fifo_time)
			return oldest;
	}
	return cfqq->next_rq;
}

/* Bytes that are read or written; discards and the like have none. */
static unsigned int rq_data_bytes(struct request *rq)
{
	return rq->bio && bio_has_data(rq->bio) ? blk_rq_bytes(rq) : 0;
}

/*
 * While a request is in a device without a head, fifo_time holds its work and,
 * above that, when it was sent.
 */
#define RQ_WORK_BITS	16

static void rq_set_sent(struct request *rq, unsigned int work, u64 now_ns)
{
	rq->fifo_time = now_ns << RQ_WORK_BITS | work;
}

static unsigned int rq_work(const struct request *rq)
{
	return rq->fifo_time & GENMASK(RQ_WORK_BITS - 1, 0);
}

static u64 rq_time_in_driver_ns(const struct request *rq, u64 now_ns)
{
	return ((now_ns << RQ_WORK_BITS) -
		(rq->fifo_time - rq_work(rq))) >> RQ_WORK_BITS;
}

/* Are there too few samples of what requests like @rq take by themselves? */
static bool cfq_sample_wanted(const struct cfq_parallelism *par,
			      struct request *rq)
{
	return par->page_samples[rq_data_dir(rq)] < CFQ_PAGE_SAMPLES &&
	       rq_data_bytes(rq);
}

/* Would a request that is sent now be seen by itself? */
static bool cfq_would_be_alone(const struct cfq_driver_data *dd)
{
	return cfq_alone(dd->nr_in_driver, dd->par.parallel);
}

/*
 * Must @rq wait until few are in the device, so that it is seen by itself?  That
 * costs a moment of the device's time, and only when cfq has just been selected.
 * But without it nobody would know what a write costs on a device that is
 * always full: a group of writers, due 62 % beside two of readers, would have
 * 89 % of it instead of 68 (bench/bench --only flash_wrr).
 */
static bool cfq_must_wait_for_sample(struct cfq_driver_data *dd,
				     struct request *rq, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	if (dd->one_head || !cfq_sample_wanted(par, rq) ||
	    cfq_would_be_alone(dd) || cfq_must_empty(dd))
		return false;
	if (!par->sample_until_ns)
		par->sample_until_ns = now_ns + CFQ_SAMPLE_WAIT_NS;
	if (par->sample_until_ns <= now_ns) {
		/* It takes too long, so what is known has to do. */
		par->page_samples[READ] = CFQ_PAGE_SAMPLES;
		par->page_samples[WRITE] = CFQ_PAGE_SAMPLES;
		return false;
	}
	par->drain = true;
	/* Should nothing be completed. */
	cfq_ask_at(dd, par->sample_until_ns);
	return true;
}

/* Is a request waiting for that? */
static bool cfq_waits_for_sample(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	if (par->drain)
		par->drain = par->sample_until_ns > now_ns &&
			     !cfq_would_be_alone(dd) && !cfq_must_empty(dd);
	return par->drain;
}

/* Watch @rq, of so much data, which is sent now. */
static void cfq_start_probe(struct cfq_driver_data *dd, struct request *rq,
			    unsigned int bytes, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	par->probe = rq;
	/* The time of a plug is that of its first request. */
	par->probe_sent_ns = current->plug ? ktime_get_ns() : now_ns;
	par->probe_bytes = bytes;
	par->probe_write = rq_data_dir(rq) == WRITE;
	par->probe_beside = dd->nr_in_driver;
	par->probe_alone = cfq_would_be_alone(dd);
}

/* Learn from @rq, of so much data, being sent how parallel the device is. */
static void cfq_learn_sent(struct cfq_driver_data *dd, struct request *rq,
			   unsigned int bytes, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;
	/* That of a plug may be earlier. */
	u64 elapsed_ns = now_ns - min(now_ns, par->window_start_ns);

	if (elapsed_ns >= CFQ_WORK_WINDOW_NS) {
		par->parallel = cfq_parallel_add(par->parallel, par->work_ns,
						 elapsed_ns);
		par->work_ns = 0;
		par->window_start_ns = now_ns;
	}
	if (!bytes)
		return;
	par->work_ns += par->service_ns[cfq_request_kind(rq_data_dir(rq) ==
							 WRITE, bytes)];
	if (unlikely(cfq_sample_wanted(par, rq)) ?
	    !par->probe || !par->probe_alone :
	    !par->probe && now_ns >= par->probe_sent_ns + CFQ_PROBE_GAP_NS)
		cfq_start_probe(dd, rq, bytes, now_ns);
}

static void cfq_learn_completed(struct cfq_driver_data *dd, struct request *rq,
				u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;
	const bool write = par->probe_write;
	unsigned int kind;
	u64 ns;

	if (par->probe != rq)
		return;
	par->probe = NULL;
	if (now_ns <= par->probe_sent_ns)
		return;
	ns = now_ns - par->probe_sent_ns;
	kind = cfq_request_kind(write, par->probe_bytes);
	cfq_service_add(&par->service_ns[kind], ns, par->probe_beside,
			par->parallel);
	if (!par->probe_alone)
		return;
	cfq_page_add(&par->page_ns[write], &par->page_samples[write], ns,
		     par->probe_bytes);
	par->sample_until_ns = 0;
	if (par->page_ns[READ] && par->page_ns[WRITE])
		par->write_work = cfq_write_work(par->page_ns[WRITE],
						 par->page_ns[READ]);
}

/* @rq is sent to a device without a head; nr_in_driver is that before it. */
static void cfq_parallel_sent(struct cfq_driver_data *dd, struct request *rq,
			      u64 now_ns)
{
	unsigned int bytes = rq_data_bytes(rq);
	unsigned int work = cfq_request_work(rq_data_dir(rq) == WRITE, bytes,
					     dd->par.write_work);

	cfq_learn_sent(dd, rq, bytes, now_ns);
	dd->work_in_driver += work;
	rq_set_sent(rq, work, now_ns);
}

/* @rq is back from there; the device time that it took, in ns. */
static u64 cfq_parallel_completed(struct cfq_driver_data *dd,
				  struct request *rq, u64 now_ns)
{
	const unsigned int work = rq_work(rq);
	u64 spent_ns = cfq_charge_part(dd, now_ns, work,
				       rq_time_in_driver_ns(rq, now_ns));

	dd->work_in_driver -= work;
	cfq_learn_completed(dd, rq, now_ns);
	return spent_ns;
}

static __always_inline void cfqq_dispatch(struct cfq_queue *cfqq,
					  struct request *rq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);

	/* Time in which the device was idle is charged if it was for us. */
	if (!dd->nr_in_driver) {
		if (cfqq_is_active(cfqq) && cfqq->idle_until_ns >= now_ns)
			cfq_group_count(cfqd, CFQ_STAT_IDLE,
					now_ns - dd->charged_until_ns);
		else if (now_ns > dd->charged_until_ns)
			dd->charged_until_ns = now_ns;
	} else if (dd->one_head && dd->sent_ns + cfq_stuck_ns(dd) <= now_ns &&
		   now_ns > dd->charged_until_ns) {
		/* All that is there is stuck. */
		dd->charged_until_ns = now_ns;
	}
	dd->sent_ns = now_ns;
	cfqq->idle_until_ns = 0;
	cfqq->entity.sent_ns = now_ns;
	if (unlikely(cfq_classes_differ(cfqd->trees)))
		cfqq->entity.st->due_ns = now_ns +
			cfq_class_wait_ns(dd, cfqq->cost_ns);
	if (cfqq->class == CFQ_CLASS_RT)
		cfqd->cfqmd->rt_until_ns = now_ns + NSEC_PER_SEC;

	dd->last_position = rq_end_sector(rq);
	cfqq_unlink_rq(cfqq, rq);

	if (!cfqq_is_active(cfqq))
		trace_cfq_select(cfqd, cfqq, &cfqq->entity, CFQ_CHOICE_REQUEST);
	cfqq->since_fifo_check++;
	if (!dd->one_head)
		cfq_parallel_sent(dd, rq, now_ns);
	WRITE_ONCE(dd->nr_in_driver, dd->nr_in_driver + 1);
	cfqd->nr_in_driver++;
	cfqq->nr_in_driver++;

	rq_set_estimate_ns(rq, cfqq->cost_ns);
	cfq_entity_charge(&cfqq->entity, rq_estimate_ns(rq));
	cfq_group_sent(cfqd, blk_rq_sectors(rq),
		       now_ns - min(now_ns, rq->start_time_ns),
		       rq_estimate_ns(rq), now_ns);
}

/*
 * A disk that puts requests in order may leave one that had to go first for last,
 * and for as long as it gets others.  So it gets none once that takes too long,
 * until it is served or seems to be lost.
 */
#define CFQ_FIRST_WAIT_NS	(50 * NSEC_PER_MSEC)

static bool cfq_waits_for_first(const struct cfq_driver_data *dd, u64 now_ns)
{
	return dd->nr_first_in_driver && dd->one_head &&
	       dd->first_since_ns + CFQ_FIRST_WAIT_NS <= now_ns &&
	       dd->first_since_ns + cfq_stuck_ns(dd) > now_ns;
}

static void cfq_count_first(struct cfq_driver_data *dd, int n, u64 now_ns)
{
	/* That of the next one, if there is another, begins with the last. */
	if (n < 0 || !dd->nr_first_in_driver)
		dd->first_since_ns = now_ns;
	dd->nr_first_in_driver += n;
}

/* @rq is sent out of order: it is urgent, or better classes kept it waiting. */
static noinline struct request *cfq_give_first(struct request *rq, u64 now_ns)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);

	cfqq_dispatch(cfqq, rq, now_ns);
	rq->elv.priv[1] = (void *)((unsigned long)rq->elv.priv[1] | RQ_FIRST);
	cfq_count_first(cfqd_dd(cfqq->cfqd), 1, now_ns);
	return rq;
}

/* The next request of @cfqq, which may send one, unless it is held back. */
static struct request *cfqq_give_request(struct cfq_queue *cfqq, u64 now_ns)
{
	struct request *rq = cfqq_choose_request(cfqq, now_ns);

	if (cfq_must_wait_for_sample(cfqd_dd(cfqq->cfqd), rq, now_ns))
		return NULL;
	cfqq_dispatch(cfqq, rq, now_ns);
	return rq;
}

/* Is all that is queued, and in the device, of @cfqq? */
static bool cfqq_alone(const struct cfq_queue *cfqq)
{
	const struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;

	return cfqq->nr_queued == cfqmd->nr_queued &&
	       cfqq->nr_in_driver == cfqmd->dd.nr_in_driver;
}

/*
 * The next request of all, or NULL if none may be sent now.  A queue that has a
 * device without a head for itself is often met there, and leaves nothing to
 * choose, which saves 140 instructions (bench/bench --only cost).
 */
static struct request *cfq_next_request(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_queue *cfqq = cfqmd->last_cfqq;
	struct request *rq = NULL;
	struct cfq_data *cfqd;

	if (!cfqmd->dd.one_head && cfqq && cfqq_alone(cfqq)) {
		if (cfq_group_must_wait(cfqq->cfqd, now_ns) ||
		    !cfqq_may_dispatch(cfqq))
			return NULL;
		return cfqq_give_request(cfqq, now_ns);
	}

	if (cfqmd->dd.one_head) {
		cfqd = cfq_group_overdue(cfqmd, now_ns);
		rq = cfqd ? cfq_overdue_request(cfqd, true, now_ns) : NULL;
		if (rq)
			return cfq_give_first(rq, now_ns);
	}

	cfqd = cfq_group_select(cfqmd, now_ns);
	while (cfqd) {
		rq = cfq_overdue_request(cfqd, false, now_ns);
		if (rq)
			return cfq_give_first(rq, now_ns);
		cfqq = cfq_select_queue(cfqd, now_ns);
		if (cfqq) {
			cfq_group_passes_others(cfqd, now_ns);
			rq = cfqq_give_request(cfqq, now_ns);
		}
		if (rq || cfqmd->dd.par.drain)
			break;
		cfqd = cfq_group_select_next(cfqd, now_ns);
	}
	return rq;
}

/*
 * Nothing more is to be sent now, or it is.  While a device without a head
 * works there is no use in asking before cfq_should_ask_again(), unless for
 * a queue that need not wait, or when a timer says so.  One is set in case
 * that what is waited for is stuck.
 */
static void cfq_set_withheld(struct cfq_meta_data *cfqmd, bool withheld)
{
	struct cfq_driver_data *dd = &cfqmd->dd;

	cfqmd->withheld = withheld;
	cfqmd->nr_since_withheld = 0;
	WRITE_ONCE(cfqmd->held, withheld && !dd->one_head && dd->nr_in_driver &&
		   !dd->par.drain);
	if ((cfqmd->held || (withheld && dd->one_head)) &&
	    !hrtimer_is_queued(&dd->idle_timer))
		cfq_ask_at(dd, ktime_get_ns() + cfq_stuck_ns(dd));
	/* No completion will tell that the time is over. */
	if (withheld && !dd->nr_in_driver &&
	    cfqmd->expected_until_ns > ktime_get_ns())
		cfq_ask_at(dd, cfqmd->expected_until_ns);
}

static struct request *cfq_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;
	struct request *rq = NULL;
	u64 now_ns;

	spin_lock_irq(&cfqmd->lock);
	if (!list_empty(&cfqmd->dispatch)) {
		rq = list_first_entry(&cfqmd->dispatch, struct request,
				      queuelist);
		list_del_init(&rq->queuelist);
		goto unlock;
	}
	if (!cfqmd->nr_queued)
		goto unlock;

	/* A disk is charged by it; elsewhere that of a plug is near enough. */
	now_ns = cfqmd->dd.one_head ? ktime_get_ns() : blk_time_get_ns();
	cfq_end_idle(cfqmd, cfq_must_empty(&cfqmd->dd) ? 0 :
		     cfqmd->dd.tun.group_idle_ns, now_ns);
	rq = list_first_entry_or_null(&cfqmd->urgent, struct request, queuelist);
	if (unlikely(rq))
		cfq_give_first(rq, now_ns);
	else if (!cfq_waits_for_sample(&cfqmd->dd, now_ns) &&
		 !cfq_waits_for_first(&cfqmd->dd, now_ns))
		rq = cfq_next_request(cfqmd, now_ns);
	if (rq)
		rq->rq_flags |= RQF_STARTED;
	else
		cfq_set_withheld(cfqmd, true);
unlock:
	spin_unlock_irq(&cfqmd->lock);
	return rq;
}

static bool cfq_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;

	return (READ_ONCE(cfqmd->nr_queued) && !READ_ONCE(cfqmd->held)) ||
	       !list_empty_careful(&cfqmd->dispatch);
}

/*
 * @cfqq, the first on its tree, is seeky.  If its next request is not waited
 * for, will the device be lost to others for longer than that would take?
 */
static bool cfqq_last_before_others(struct cfq_queue *cfqq)
{
	struct cfq_entity *next = cfq_st_next(&cfqq->entity);

	/* To another class or group, or to a sequential queue for a slice. */
	return cfqq->cfqd->trees[cfqq->class].nr == 1 ||
	       (next && cfqq_wants_slice(entity_to_cfqq(next)));
}

/*
 * @cfqq has nothing queued and nothing in the device: for how long should its
 * next request be waited for, in ns?
 */
static u64 cfqq_idle_window_ns(struct cfq_queue *cfqq, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	struct cfq_data *cfqd = cfqq->cfqd;
	enum cfq_class class;

	if (!dd->one_head || !cfqq->sync || !cfqq->owned ||
	    !cfq_group_has_turn(cfqd) || cfq_must_empty(dd))
		return 0;
	/* What is to be served before it must not wait for it. */
	for (class = 0; class < cfqq->class; class++)
		if (cfq_first_awaited(cfqd, &cfqd->trees[class], now_ns))
			return 0;
	if (cfqq_is_active(cfqq)) {
		if (cfqq_wants_slice(cfqq) &&
		    !cfq_active_slice_over(cfqd, now_ns))
			return dd->tun.slice_idle_ns;
	} else if (cfqd->active_cfqq) {
		return 0;
	}
	if (cfq_st_first(cfqq->entity.st) != &cfqq->entity)
		return 0;
	if (cfqq_wants_slice(cfqq) && !cfqq_is_active(cfqq))
		return dd->tun.slice_idle_ns;
	if (cfqq_last_before_others(cfqq) &&
	    cfqq_think_time_within(cfqq, dd->tun.group_idle_ns))
		return dd->tun.group_idle_ns;
	return 0;
}

/*
 * @cfqq has become empty, and so has the device of its requests.  After an @urgent
 * one there is no need to wait for the next, unless it interrupted a slice.
 */
static void cfqq_ran_dry(struct cfq_queue *cfqq, bool urgent, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	u64 window_ns = 0;

	if (!urgent || cfqq_is_active(cfqq))
		window_ns = cfqq_idle_window_ns(cfqq, now_ns);

	cfqq->last_end_ns = now_ns;
	if (window_ns) {
		if (!cfqd->active_cfqq)
			cfq_activate(cfqd, cfqq);
		cfqq->idle_until_ns = now_ns + window_ns;
	} else if (cfqq_is_active(cfqq)) {
		cfq_expire_active(cfqd, now_ns,
				  cfq_active_slice_over(cfqd, now_ns) ?
				  CFQ_END_USED : CFQ_END_EMPTY);
	} else {
		cfqq_check_idle(cfqq, now_ns);
	}
}

/* @rq is no longer in the device: settle what it cost. */
static void cfqq_completed(struct cfq_queue *cfqq, struct request *rq,
			   u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	s64 estimate_ns = rq_estimate_ns(rq);
	u64 spent_ns = dd->one_head ? cfq_charge_serial(dd, now_ns) :
				      cfq_parallel_completed(dd, rq, now_ns);

	WRITE_ONCE(dd->nr_in_driver, dd->nr_in_driver - 1);
	cfqd->nr_in_driver--;
	cfqq->nr_in_driver--;
	if (unlikely((unsigned long)rq->elv.priv[1] & RQ_FIRST))
		cfq_count_first(dd, -1, now_ns);
	rq->elv.priv[1] = NULL;

	if (op_is_write(req_op(rq)) && cfqq->sync && !cfqq->shared &&
	    !cfq_opf_urgent(rq->cmd_flags)) {
		cfqd->cfqmd->sync_writer = cfqd;
		cfqd->cfqmd->sync_written_ns = now_ns;
	}
	cfqq_charge(cfqq, spent_ns - estimate_ns, spent_ns);
	trace_cfq_charge(cfqq, spent_ns, estimate_ns, CFQ_CHARGE_REQUEST);
	cfq_average_add(&cfqq->cost_ns, spent_ns);
	cfq_average_add(&dd->mean_cost_ns, spent_ns);

	if (!cfqq->nr_queued && !cfqq->nr_in_driver)
		cfqq_ran_dry(cfqq, cfq_opf_urgent(rq->cmd_flags), now_ns);
}

/*
 * Requests were withheld when one was asked for last.  After a completion, is
 * it worth asking again?  A busy device without a head does not run out of
 * work, so there it is done for several completions at a time.  If it is done
 * for each, and after each insertion, the processor is the bottleneck, and
 * three groups that share flash get 18 % less from it (bench/bench --only
 * flash).
 */
static bool cfq_should_ask_again(struct cfq_meta_data *cfqmd)
{
	const struct cfq_driver_data *dd = &cfqmd->dd;

	if (dd->one_head ||
	    dd->nr_in_driver <= cfq_useful_depth(dd->par.parallel) / 2)
		return true;
	return ++cfqmd->nr_since_withheld > dd->nr_in_driver / 8;
}

/* Let go of @rq: it was completed, was never sent, or @came_back. */
static void cfq_release_request(struct request *rq, u64 now_ns, bool came_back)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_queue *cfqq = rq_cfqq(rq);
	unsigned long flags;
	bool kick;

	if (!cfqq)
		return;

	spin_lock_irqsave(&cfqmd->lock, flags);
	/* That says nothing of how long requests take. */
	if (came_back && cfqmd->dd.par.probe == rq)
		cfqmd->dd.par.probe = NULL;
	if (rq_in_driver(rq))
		cfqq_completed(cfqq, rq, now_ns);
	rq->elv.priv[0] = NULL;
	if (came_back)
		cfq_unhold_request(rq, cfqq->cfqd);
	else
		cfq_group_release(cfqq->cfqd);
	cfqq_put(cfqq);
	if (unlikely(cfqmd->nr_waiting))
		cfq_admit_waiters(cfqmd);
	kick = cfqmd->withheld && cfq_should_ask_again(cfqmd);
	if (kick)
		cfq_set_withheld(cfqmd, false);
	kick &= cfqmd->nr_queued != 0;
	spin_unlock_irqrestore(&cfqmd->lock, flags);

	if (kick)
		blk_mq_run_hw_queues(rq->q, true);
}

static void cfq_completed_request(struct request *rq, u64 now_ns)
{
	cfq_release_request(rq, now_ns, false);
}

static void cfq_requeue_request(struct request *rq)
{
	cfq_release_request(rq, ktime_get_ns(), true);
}

static void cfq_prepare_request(struct request *rq)
{
	struct cfq_io_cq *cic;

	rq->elv.icq = ioc_find_get_icq(rq->q);
	rq->elv.priv[0] = NULL;
	rq->elv.priv[1] = NULL;

	if (!rq->elv.icq)
		return;
	if (likely(!cfq_groups_limited()))
		return;
	cic = icq_to_cic(rq->elv.icq);
	if (!list_empty_careful(&cic->places) ||
	    cfq_task_limited(rq->q->elevator->elevator_data, cic,
			     rq_is_sync(rq)))
		cfq_place_request(rq, cic);
}

/*
 * @rq is on no queue: what was kept for it is left to others.  Its task waits
 * for none any more, unless @rq was sent before.
 */
static void cfq_give_up_request(struct request *rq)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	const bool was_sent = rq->rq_flags & RQF_STARTED;
	struct cfq_data *place = rq->elv.priv[1];
	struct cfq_io_cq *cic = NULL;
	unsigned long flags;

	if (rq->elv.icq && !was_sent)
		cic = icq_to_cic(rq->elv.icq);
	if (!place && likely(!cic || !READ_ONCE(cic->admitted)))
		return;

	spin_lock_irqsave(&cfqmd->lock, flags);
	if (place) {
		cfq_group_release(place);
		cfq_group_put(place);
	}
	if (cic)
		cic_end_admission(cic);
	spin_unlock_irqrestore(&cfqmd->lock, flags);
}

static void cfq_finish_request(struct request *rq)
{
	if (rq_cfqq(rq))
		cfq_release_request(rq, ktime_get_ns(), false);
	else
		cfq_give_up_request(rq);
	rq->elv.priv[1] = NULL;
	if (rq->elv.icq) {
		put_io_context(rq->elv.icq->ioc);
		rq->elv.icq = NULL;
	}
}

static enum hrtimer_restart cfq_idle_timer(struct hrtimer *timer)
{
	struct cfq_driver_data *dd = container_of(timer, struct cfq_driver_data,
						  idle_timer);
	struct cfq_meta_data *cfqmd = container_of(dd, struct cfq_meta_data, dd);

	WRITE_ONCE(cfqmd->held, false);
	blk_mq_run_hw_queues(dd->queue, true);
	return HRTIMER_NORESTART;
}

/*
 * For the group layer.
 */

/**
 * cfq_data_holds - should the device be kept for a group with nothing queued?
 * @cfqd: the group on the device
 * @now_ns: time
 *
 * Return: true while a request of its active queue is waited for.
 */
bool cfq_data_holds(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_queue *cfqq = cfqd->active_cfqq;

	return cfqq && cfqq->idle_until_ns > now_ns &&
	       !cfq_must_empty(cfqd_dd(cfqd));
}

/**
 * cfq_data_shares_head - may others send requests while it is a group's turn?
 * @cfqd: the group on the device
 *
 * Return: false if one of its tasks has a slice.
 */
bool cfq_data_shares_head(const struct cfq_data *cfqd)
{
	return !cfqd->active_cfqq || !cfqq_wants_slice(cfqd->active_cfqq);
}

/**
 * cfq_data_deactivate - the turn of a group is over
 * @cfqd: the group on the device
 * @now_ns: time
 */
void cfq_data_deactivate(struct cfq_data *cfqd, u64 now_ns)
{
	cfq_expire_active(cfqd, now_ns, CFQ_END_TURN);
}

/**
 * cfq_data_init - set up per-task CFQ of a group on a device
 * @cfqd: zeroed
 * @cfqmd: the device
 *
 * Context: any.
 */
void cfq_data_init(struct cfq_data *cfqd, struct cfq_meta_data *cfqmd)
{
	enum cfq_class class;

	cfqd->cfqmd = cfqmd;
	cfqd->ref = 1;
	cfqd->pos_tree = RB_ROOT;
	for (class = 0; class < CFQ_NR_CLASSES; class++) {
		INIT_LIST_HEAD(&cfqd->line[class]);
		cfq_st_init(&cfqd->trees[class]);
	}
}

/**
 * cfq_data_exit - no new request will come to this group on this device
 * @cfqd: the group on the device
 *
 * Gives up the queues that belong to nobody but the group; those that still
 * have requests last until these are gone.
 */
void cfq_data_exit(struct cfq_data *cfqd)
{
	struct cfq_queue **slot = &cfqd->shared_cfqq[0][0][0];
	struct cfq_queue **end = slot + sizeof(cfqd->shared_cfqq) / sizeof(*slot);

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; slot < end; slot++) {
		struct cfq_queue *cfqq = *slot;

		*slot = NULL;
		if (cfqq)
			cfqq_disown(cfqq);
	}
}

/*
 * Tasks and devices come and go.
 */

static void cfq_init_icq(struct io_cq *icq)
{
	INIT_LIST_HEAD(&icq_to_cic(icq)->places);
}

/* The task exits, or the scheduler does.  Holds the io_context lock. */
static void cfq_exit_icq(struct io_cq *icq)
{
	struct cfq_io_cq *cic = icq_to_cic(icq);
	struct cfq_meta_data *cfqmd = icq->q->elevator->elevator_data;
	enum cfq_slot slot;
	unsigned long flags;

	spin_lock_irqsave(&cfqmd->lock, flags);
	for (slot = 0; slot < CFQ_NR_SLOTS; slot++)
		cic_put_cfqq(cic, cfqmd, slot);
	cic_end_admission(cic);
	WARN_ON_ONCE(!list_empty(&cic->places));
	spin_unlock_irqrestore(&cfqmd->lock, flags);
}

static struct cfq_meta_data *cfq_alloc_meta_data(struct request_queue *q)
{
	struct cfq_meta_data *cfqmd;
	struct cfq_driver_data *dd;

	cfqmd = kzalloc_node(sizeof(*cfqmd), GFP_KERNEL, q->node);
	if (!cfqmd)
		return NULL;

	spin_lock_init(&cfqmd->lock);
	INIT_LIST_HEAD(&cfqmd->dispatch);
	INIT_LIST_HEAD(&cfqmd->urgent);
	INIT_LIST_HEAD(&cfqmd->idle_cfqqs);

	dd = &cfqmd->dd;
	dd->queue = q;
	dd->one_head = cfq_told_one_head(q);
	dd->mean_cost_ns = CFQ_COST_UNKNOWN_NS;
	dd->par.write_work = CFQ_WORK_PAGE;
	dd->tun = cfq_default_tunables;
	hrtimer_setup(&dd->idle_timer, cfq_idle_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	cfq_groups_init(cfqmd);
	cfqq_init(&cfqmd->oom_cfqq, &cfqmd->root, true,
		  cfq_effective_ioprio(0));
	cfqmd->oom_cfqq.owned = false;
	return cfqmd;
}

static int cfq_init_sched(struct request_queue *q, struct elevator_queue *eq)
{
	struct cfq_meta_data *cfqmd = cfq_alloc_meta_data(q);

	if (!cfqmd)
		return -ENOMEM;
	eq->elevator_data = cfqmd;
	q->elevator = eq;

	/* One hardware queue at a time asks for requests of the whole queue. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	/* Writeback throttling would second-guess the shares. */
	blk_queue_flag_set(QUEUE_FLAG_DISABLE_WBT_DEF, q);
	wbt_disable_default(q->disk);
	/* Some descriptors are always left to those who wait for an answer. */
	q->async_depth = max(q->nr_requests * 3 / 4, 1UL);
	cfq_depth_updated(q);
	return 0;
}

static void cfq_exit_sched(struct elevator_queue *eq)
{
	struct cfq_meta_data *cfqmd = eq->elevator_data;
	struct request_queue *q = cfqmd->dd.queue;

	spin_lock_irq(&cfqmd->lock);
	cfq_end_idle(cfqmd, 0, ktime_get_ns());
	spin_unlock_irq(&cfqmd->lock);
	cfq_groups_exit(cfqmd);
	/* What ends above may still have started it. */
	hrtimer_cancel(&cfqmd->dd.idle_timer);
	WARN_ON_ONCE(!list_empty(&cfqmd->dispatch) || cfqmd->nr_queued ||
		     cfqmd->dd.nr_in_driver);

	blk_queue_flag_clear(QUEUE_FLAG_DISABLE_WBT_DEF, q);
	wbt_enable_default(q->disk);
	/* cfq_task_limited() may look at the root group. */
	kfree_rcu_mightsleep(cfqmd);
}

/*
 * Tunables.  A value that is not a plain number is refused with -EINVAL, one
 * outside of its range with -ERANGE; the old setting stays.
 */

/* A value in sysfs is that of a member of struct cfq_tunables in a unit. */
struct cfq_tunable {
	size_t	offset;		/* of a u64 */
	u64	unit;
	u64	min;
	u64	max;
};

static u64 *cfq_tunable_value(struct cfq_meta_data *cfqmd,
			      const struct cfq_tunable *tunable)
{
	return (void *)&cfqmd->dd.tun + tunable->offset;
}

static ssize_t cfq_tunable_show(struct elevator_queue *e, char *page,
				const struct cfq_tunable *tunable)
{
	const u64 *value = cfq_tunable_value(e->elevator_data, tunable);

	return sysfs_emit(page, "%llu\n", div64_u64(*value, tunable->unit));
}

static ssize_t cfq_tunable_store(struct elevator_queue *e, const char *page,
				 size_t count,
				 const struct cfq_tunable *tunable)
{
	struct cfq_meta_data *cfqmd = e->elevator_data;
	u64 value;
	int ret;

	/* A NUL ends no number, and a whole page may be the first of several. */
	if (strlen(page) != count || count >= PAGE_SIZE)
		return -EINVAL;
	ret = cfq_parse(page, tunable->min, tunable->max, &value);
	if (ret)
		return ret;
	spin_lock_irq(&cfqmd->lock);
	/* Weights are looked at when a queue has something to do again. */
	cfq_end_idle(cfqmd, 0, ktime_get_ns());
	*cfq_tunable_value(cfqmd, tunable) = value * tunable->unit;
	spin_unlock_irq(&cfqmd->lock);
	return count;
}

#define CFQ_TUNABLE(name, member, _unit, _min, _max)			\
static const struct cfq_tunable cfq_##name = {				\
	.offset = offsetof(struct cfq_tunables, member),		\
	.unit = _unit,							\
	.min = _min,							\
	.max = _max,							\
};									\
									\
static ssize_t cfq_##name##_show(struct elevator_queue *e, char *page)	\
{									\
	return cfq_tunable_show(e, page, &cfq_##name);			\
}									\
									\
static ssize_t cfq_##name##_store(struct elevator_queue *e,		\
				  const char *page, size_t count)	\
{									\
	return cfq_tunable_store(e, page, count, &cfq_##name);		\
}

/* The longest time, in the units of a tunable and of its twin. */
#define CFQ_MAX_MS	(100 * MSEC_PER_SEC)
#define CFQ_MAX_US	(100 * USEC_PER_SEC)

CFQ_TUNABLE(quantum, quantum, 1, 1, 100000)
CFQ_TUNABLE(fifo_expire_sync, fifo_expire_ns[1], NSEC_PER_MSEC, 1, INT_MAX)
CFQ_TUNABLE(fifo_expire_async, fifo_expire_ns[0], NSEC_PER_MSEC, 1, INT_MAX)
CFQ_TUNABLE(back_seek_max, back_seek_max_kb, 1, 0, INT_MAX)
CFQ_TUNABLE(back_seek_penalty, back_seek_penalty, 1, 1, INT_MAX)
CFQ_TUNABLE(slice_sync, slice_ns[1], NSEC_PER_MSEC, 1, CFQ_MAX_MS)
CFQ_TUNABLE(slice_sync_us, slice_ns[1], NSEC_PER_USEC, 1, CFQ_MAX_US)
CFQ_TUNABLE(slice_async, slice_ns[0], NSEC_PER_MSEC, 1, CFQ_MAX_MS)
CFQ_TUNABLE(slice_async_us, slice_ns[0], NSEC_PER_USEC, 1, CFQ_MAX_US)
CFQ_TUNABLE(slice_async_rq, slice_async_rq, 1, 1, 100000)
CFQ_TUNABLE(slice_idle, slice_idle_ns, NSEC_PER_MSEC, 0, CFQ_MAX_MS)
CFQ_TUNABLE(slice_idle_us, slice_idle_ns, NSEC_PER_USEC, 0, CFQ_MAX_US)
CFQ_TUNABLE(group_idle, group_idle_ns, NSEC_PER_MSEC, 0, CFQ_MAX_MS)
CFQ_TUNABLE(group_idle_us, group_idle_ns, NSEC_PER_USEC, 0, CFQ_MAX_US)
CFQ_TUNABLE(target_latency, target_latency_ns, NSEC_PER_MSEC, 1, CFQ_MAX_MS)
CFQ_TUNABLE(target_latency_us, target_latency_ns, NSEC_PER_USEC, 1, CFQ_MAX_US)
CFQ_TUNABLE(low_latency, low_latency, 1, 0, 1)
#ifdef CONFIG_CFQ_CGROUP
CFQ_TUNABLE(group_slice, group_slice_ns, NSEC_PER_MSEC, 1, CFQ_MAX_MS)
CFQ_TUNABLE(group_slice_us, group_slice_ns, NSEC_PER_USEC, 1, CFQ_MAX_US)
#endif

#define CFQ_ATTR(name) \
	__ATTR(name, 0644, cfq_##name##_show, cfq_##name##_store)

static const struct elv_fs_entry cfq_attrs[] = {
	CFQ_ATTR(quantum),
	CFQ_ATTR(fifo_expire_sync),
	CFQ_ATTR(fifo_expire_async),
	CFQ_ATTR(back_seek_max),
	CFQ_ATTR(back_seek_penalty),
	CFQ_ATTR(slice_sync),
	CFQ_ATTR(slice_sync_us),
	CFQ_ATTR(slice_async),
	CFQ_ATTR(slice_async_us),
	CFQ_ATTR(slice_async_rq),
	CFQ_ATTR(slice_idle),
	CFQ_ATTR(slice_idle_us),
	CFQ_ATTR(group_idle),
	CFQ_ATTR(group_idle_us),
	CFQ_ATTR(target_latency),
	CFQ_ATTR(target_latency_us),
	CFQ_ATTR(low_latency),
#ifdef CONFIG_CFQ_CGROUP
	CFQ_ATTR(group_slice),
	CFQ_ATTR(group_slice_us),
#endif
	__ATTR_NULL
};

/*
 * debugfs: /sys/kernel/debug/block/DEV/sched/
 */

static const char * const cfq_class_names[CFQ_NR_CLASSES] = {
	[CFQ_CLASS_RT]		= "rt",
	[CFQ_CLASS_BE]		= "be",
	[CFQ_CLASS_IDLE]	= "idle",
};

static void cfqq_show(const struct cfq_queue *cfqq, struct seq_file *m)
{
	seq_printf(m,
		   "  queue pid %d %s class %s level %lu weight %u vdisktime %llu queued %u driver %u cost_us %llu%s%s%s%s\n",
		   cfqq->pid, cfqq->sync ? "sync" : "async",
		   cfq_class_names[cfqq->class],
		   (unsigned long)IOPRIO_PRIO_LEVEL(cfqq->ioprio),
		   cfqq->entity.weight, cfqq->entity.vdisktime,
		   cfqq->nr_queued, cfqq->nr_in_driver,
		   div_u64(cfqq->cost_ns, NSEC_PER_USEC),
		   cfqq->shared ? " shared" : "",
		   cfqq_seeky(cfqq) ? " seeky" : "",
		   cfqq_is_active(cfqq) ? " active" : "",
		   cfqq->idle_until_ns ? " idling" : "");
}

/**
 * cfq_data_show - print the trees of a group on a device
 * @cfqd: the group on the device
 * @m: where to
 */
void cfq_data_show(struct cfq_data *cfqd, struct seq_file *m)
{
	enum cfq_class class;

	for (class = 0; class < CFQ_NR_CLASSES; class++) {
		struct cfq_entity *entity;

		for (entity = cfq_st_first(&cfqd->trees[class]); entity;
		     entity = cfq_st_next(entity))
			cfqq_show(entity_to_cfqq(entity), m);
	}
}

#ifdef CONFIG_BLK_DEBUG_FS
static struct elevator_type iosched_cfq;

/*
 * The files outlive the scheduler by a moment when another one is selected, but
 * not while the elevator lock is held.
 */
static int cfq_show(struct request_queue *q, struct seq_file *m,
		    void (*show)(struct cfq_meta_data *, struct seq_file *))
{
	mutex_lock(&q->elevator_lock);
	if (q->elevator && q->elevator->type == &iosched_cfq) {
		struct cfq_meta_data *cfqmd = q->elevator->elevator_data;

		spin_lock_irq(&cfqmd->lock);
		cfq_end_idle(cfqmd, 0, ktime_get_ns());
		show(cfqmd, m);
		spin_unlock_irq(&cfqmd->lock);
	}
	mutex_unlock(&q->elevator_lock);
	return 0;
}

static int cfq_trees_show(void *data, struct seq_file *m)
{
	return cfq_show(data, m, cfq_groups_show);
}

static void cfq_driver_data_show(struct cfq_meta_data *cfqmd,
				 struct seq_file *m)
{
	const struct cfq_driver_data *dd = &cfqmd->dd;

	seq_printf(m,
		   "one_head %d\nqueued %u\ndriver %u\nlast_position %llu\nmean_cost_us %llu\nparallel %u.%02u\nwrite_work %u.%02u\nidle_timer %d\nwithheld %d\nwaiting %u\n",
		   dd->one_head, cfqmd->nr_queued, dd->nr_in_driver,
		   (u64)dd->last_position,
		   div_u64(dd->mean_cost_ns, NSEC_PER_USEC),
		   dd->par.parallel / CFQ_PARALLEL_ONE,
		   dd->par.parallel % CFQ_PARALLEL_ONE * 100 / CFQ_PARALLEL_ONE,
		   dd->par.write_work / CFQ_WORK_PAGE,
		   dd->par.write_work % CFQ_WORK_PAGE * 100 / CFQ_WORK_PAGE,
		   hrtimer_is_queued(&cfqmd->dd.idle_timer), cfqmd->withheld,
		   cfqmd->nr_waiting);
}

static int cfq_device_show(void *data, struct seq_file *m)
{
	return cfq_show(data, m, cfq_driver_data_show);
}

static const struct blk_mq_debugfs_attr cfq_queue_debugfs_attrs[] = {
	{"trees", 0400, cfq_trees_show},
	{"device", 0400, cfq_device_show},
	{},
};
#endif

static struct elevator_type iosched_cfq = {
	.ops = {
		.limit_depth		= cfq_limit_depth,
		.depth_updated		= cfq_depth_updated,
		.prepare_request	= cfq_prepare_request,
		.insert_requests	= cfq_insert_requests,
		.has_work		= cfq_has_work,
		.dispatch_request	= cfq_dispatch_request,
		.completed_request	= cfq_completed_request,
		.requeue_request	= cfq_requeue_request,
		.finish_request		= cfq_finish_request,
		.next_request		= elv_rb_latter_request,
		.former_request		= elv_rb_former_request,
		.allow_merge		= cfq_allow_merge,
		.bio_merge		= cfq_bio_merge,
		.request_merge		= cfq_request_merge,
		.request_merged		= cfq_request_merged,
		.requests_merged	= cfq_requests_merged,
		.init_icq		= cfq_init_icq,
		.exit_icq		= cfq_exit_icq,
		.init_sched		= cfq_init_sched,
		.exit_sched		= cfq_exit_sched,
	},
	.icq_size		= sizeof(struct cfq_io_cq),
	.icq_align		= __alignof__(struct cfq_io_cq),
#ifdef CONFIG_BLK_DEBUG_FS
	.queue_debugfs_attrs	= cfq_queue_debugfs_attrs,
#endif
	.elevator_attrs		= cfq_attrs,
	.elevator_name		= "cfq",
	.elevator_owner		= THIS_MODULE,
};
MODULE_ALIAS("cfq-iosched");

static int __init cfq_init(void)
{
	int ret;

	cfq_pool = KMEM_CACHE(cfq_queue, 0);
	if (!cfq_pool)
		return -ENOMEM;
	ret = cfq_groups_register();
	if (ret)
		goto err_pool;
	ret = elv_register(&iosched_cfq);
	if (ret)
		goto err_groups;
	return 0;

err_groups:
	cfq_groups_unregister();
err_pool:
	kmem_cache_destroy(cfq_pool);
	return ret;
}

static void __exit cfq_exit(void)
{
	elv_unregister(&iosched_cfq);
	cfq_groups_unregister();
	kmem_cache_destroy(cfq_pool);
}

module_init(cfq_init);
module_exit(cfq_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("CFQ I/O scheduler");
