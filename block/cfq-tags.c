// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: who gets a descriptor.
 *
 * What waits for a descriptor cannot be scheduled, so cfq_limit_depth() decides
 * who may have one.  There a task may wait twice: for a place, if its group has
 * as many requests as it may have, and then in line, if few descriptors are
 * left and others come first.
 */
#include <linux/slab.h>

#include "blk.h"
#include "blk-mq-sched.h"

#include "cfq-queue.h"

/* NULL if the current task had no request there yet. */
struct cfq_io_cq *cfq_lookup_cic(struct request_queue *q)
{
	struct io_cq *icq = NULL;

	if (current->io_context)
		icq = ioc_lookup_icq(q);
	return icq ? icq_to_cic(icq) : NULL;
}

/* The same, and it has one from now on, unless for want of memory. */
struct cfq_io_cq *cfq_get_cic(struct request_queue *q)
{
	struct cfq_io_cq *cic = cfq_lookup_cic(q);
	struct io_cq *icq;

	if (likely(cic))
		return cic;
	icq = ioc_find_get_icq(q);
	if (!icq)
		return NULL;
	/* The task itself has another. */
	put_io_context(icq->ioc);
	return icq_to_cic(icq);
}

/*
 * Places.  Where a group is limited (block/cfq-group-tags.c, 2), a request has
 * a place before it has a descriptor: else all who sleep for one could exceed
 * the limit.  A task sleeps until its cfq_io_cq, which others may share, has a
 * place.  The next request there takes it along in elv.priv[1] until it is
 * inserted: then the group of its queue holds it.
 *
 * Who has a transaction open waits neither for a place nor in a line.  A bio
 * that must not wait is refused before there is a request (cfq_bio_merge()).
 * What is not seen there, as nothing merges with it, may be past the limit one
 * at a time, with the first of all descriptors.
 */

/* The queue of its last sync request, or of a first flush, or NULL.  Lock or RCU. */
struct cfq_queue *cic_last_sync(const struct cfq_io_cq *cic)
{
	return cic_cfqq(cic, max(READ_ONCE(cic->sync_slot), CFQ_SLOT_BEHALF));
}

/* The queue of the last requests of @cic; NULL if none, or no @cic.  Needs the same. */
static struct cfq_queue *cfq_last_cfqq(const struct cfq_io_cq *cic, bool sync)
{
	if (!cic)
		return NULL;
	return sync ? cic_last_sync(cic) : cic_cfqq(cic, CFQ_SLOT_ASYNC);
}

bool cfq_task_limited(struct request_queue *q, bool sync)
{
	const struct cfq_queue *cfqq;

	if (likely(!cfq_groups_limited()))
		return false;

	guard(rcu)();
	cfqq = cfq_last_cfqq(cfq_lookup_cic(q), sync);
	return !cfqq || cfq_group_limits_current(cfqq->cfqd);
}

/* Wait for a place, for the next request of the current task. */
static void cfq_wait_for_place(struct request_queue *q)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	struct cfq_io_cq *cic = cfq_get_cic(q);
	struct cfq_data *cfqd;

	if (!cic)
		return;
	guard(cfq_lock)(cfqmd);
	cfqd = cfq_group_get_place(cfqmd, true);
	if (!cfqd)
		return;
	if (cic->nr_places && cic->places != cfqd) {
		/* Who shares @cic has places elsewhere: it is there until queued. */
		cfq_group_release(cfqd);
		cfq_group_hold(cic->places, true);
	} else {
		cic->places = cfqd;
	}
	WRITE_ONCE(cic->nr_places, cic->nr_places + 1);
}

/*
 * Give @rq a place if there may be a limit: the one waited for, or, if it must
 * not wait, one that is there.
 */
static noinline void cfq_place_request(struct request *rq)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_io_cq *cic = cfq_lookup_cic(rq->q);

	if (!(cic && READ_ONCE(cic->nr_places)) &&
	    !((rq->cmd_flags & REQ_NOWAIT) && cfq_task_limited(rq->q, rq_is_sync(rq))))
		return;

	guard(cfq_lock)(cfqmd);
	if (cic && cic->nr_places) {
		WRITE_ONCE(cic->nr_places, cic->nr_places - 1);
		rq->elv.priv[1] = cic->places;
	} else {
		rq->elv.priv[1] = cfq_group_get_place(cfqmd, false);
	}
}

/*
 * Count @rq in the group of its queue, and give its place back.  Without one
 * only if there is room, as others above would have to wait for it.
 */
void cfq_hold_request(struct request *rq)
{
	struct cfq_data *cfqd = rq_cfqq(rq)->cfqd;
	struct cfq_data *place = rq->elv.priv[1];

	rq->elv.priv[1] = cfq_group_hold(cfqd, place) ? (void *)RQ_HELD : NULL;
	if (place)
		cfq_group_release(place);
}

/* Who has so many requests leaves as many others of so many descriptors. */
#define CFQ_KEPT_FROM		4U
#define CFQ_KEPT_OF		32

/* A part that is kept of all descriptors. */
#define CFQ_KEPT_FOR_RT		16

/*
 * How many may be in use, of those for sync or async requests, for @waiter to get
 * one; 0 if so many of all are that the rest is kept for others.
 */
unsigned int cfq_descriptors_for(const struct cfq_waiter *waiter)
{
	const struct cfq_meta_data *cfqmd = waiter->cfqd->cfqmd;
	const unsigned int all = cfq_all_descriptors(cfqmd->dd.queue);
	const struct cfq_queue *cfqq = waiter->cfqq;
	unsigned int most = all;

	if (!waiter->overdue) {
		if (waiter->sync && cfqq &&
		    cfqq->nr_queued + cfqq->nr_in_driver >= CFQ_KEPT_FROM)
			most -= all / CFQ_KEPT_OF * CFQ_KEPT_FROM;
		if (waiter->class != CFQ_CLASS_RT && cfqmd->dd.rt_until_ns &&
		    cfqmd->dd.rt_until_ns > ktime_get_ns())
			most -= all / CFQ_KEPT_FOR_RT;
	}
	if (cfq_nr_descriptors(cfqmd) >= most)
		return 0;
	return waiter->sync ? most : cfq_async_descriptors(cfqmd->dd.queue);
}

/*
 * In line who would be served first comes first, and in order among equals: by
 * the virtual time of a queue once what it has, or waits for, is served.
 */
static u64 cfq_line_vdisktime(const struct cfq_waiter *waiter)
{
	u64 vdisktime = waiter->cfqd->queues.of[waiter->class].min_vdisktime;
	const struct cfq_queue *cfqq = waiter->cfqq;

	if (cfqq)
		vdisktime += max((s64)(cfqq->entity.vdisktime - vdisktime), 0) +
			     cfq_vdisktime_delta((cfqq->nr_queued + cfqq->nr_in_line) *
						 cfqq->cost_ns, cfqq->entity.weight);
	return vdisktime;
}

static bool cfq_waiter_less(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(rb_entry(a, struct cfq_waiter, line_node)->vdisktime -
		     rb_entry(b, struct cfq_waiter, line_node)->vdisktime) < 0;
}

static bool cfq_class_waits(const struct cfq_data *cfqd, bool sync,
			    enum cfq_class class, u64 now_ns)
{
	return cfqd->line_served_ns[sync][class] + CFQ_CLASS_WAIT_NS <= now_ns;
}

/* The class whose turn it is in a line: the best, or one that waited for too long. */
static enum cfq_class cfq_line_class(const struct cfq_data *cfqd, bool sync, u64 now_ns)
{
	const enum cfq_class best = cfq_line_best(cfqd, sync);
	enum cfq_class class;

	for (class = best + 1; class < CFQ_NR_CLASSES; class++)
		if (!RB_EMPTY_ROOT(&cfqd->line[sync][class].rb_root) &&
		    cfq_class_waits(cfqd, sync, class, now_ns))
			return class;
	return best;
}

static bool cfq_waiter_due_before(struct cfq_waiter *a, struct cfq_waiter *b)
{
	if (a->overdue != b->overdue)
		return a->overdue;
	if (a->class != b->class)
		return a->class < b->class;
	return cfq_waiter_less(&a->line_node, &b->line_node);
}

/*
 * Who is next in the lines of @cfqd; NULL without a descriptor for him.  Where
 * none is left for async requests there may be one for others.
 */
struct cfq_waiter *cfq_line_due(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_waiter *waiter, *due = NULL;
	enum cfq_class class;
	int sync;

	for (sync = 0; sync < 2; sync++) {
		class = cfq_line_class(cfqd, sync, now_ns);
		if (class == CFQ_NR_CLASSES)
			continue;
		waiter = rb_entry(rb_first_cached(&cfqd->line[sync][class]),
				  struct cfq_waiter, line_node);
		waiter->overdue = cfq_class_waits(cfqd, sync, class, now_ns);
		if (cfq_group_has_room(waiter) &&
		    (!due || cfq_waiter_due_before(waiter, due)))
			due = waiter;
	}
	return due;
}

void cfq_admit_waiters(struct cfq_meta_data *cfqmd)
{
	const u64 now_ns = ktime_get_ns();
	struct cfq_waiter *waiter;
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	while (cfqmd->nr_waiting &&
	       cfq_nr_descriptors(cfqmd) < cfq_all_descriptors(cfqmd->dd.queue) &&
	       (waiter = cfq_group_to_admit(cfqmd, now_ns))) {
		cfqd = waiter->cfqd;
		rb_erase_cached(&waiter->line_node,
				&cfqd->line[waiter->sync][waiter->class]);
		cfqd->line_served_ns[waiter->sync][waiter->class] = now_ns;
		WRITE_ONCE(cfqmd->nr_waiting, cfqmd->nr_waiting - 1);
		WRITE_ONCE(cfqmd->nr_admitted, cfqmd->nr_admitted + 1);
		cfqd->nr_admitted++;
		cfqd->admitted_ns = now_ns;
		cfqmd->expected_until_ns = now_ns + cfqmd->dd.tun.group_idle_ns;
		if (cfq_line_best(cfqd, false) == CFQ_NR_CLASSES &&
		    cfq_line_best(cfqd, true) == CFQ_NR_CLASSES)
			cfq_group_line(cfqd, false);
		/* Then @waiter is gone. */
		complete(&waiter->go_on);
	}
}

/* A task that was admitted, and holds @cfqd, has a request queued, or will have none. */
void cfq_end_admission(struct cfq_data *cfqd)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	WRITE_ONCE(cfqmd->nr_admitted, cfqmd->nr_admitted - 1);
	cfqd->nr_admitted--;
	if (!cfq_trees_busy(&cfqd->queues))
		cfq_group_not_busy(cfqd, ktime_get_ns());
	/* Should no request come of it, nobody else would. */
	if (cfq_nr_descriptors(cfqmd) <= cfq_all_descriptors(cfqmd->dd.queue) / 2)
		cfq_admit_waiters(cfqmd);
	cfq_group_put(cfqd);
}

/*
 * Wait until another task, or a completion, lets this one go on, who can see
 * @waiter.  Drops cfqmd->lock, in process context with the device's queue entered.
 */
void cfq_wait(struct cfq_waiter *waiter)
	__must_hold(&waiter->cfqd->cfqmd->lock)
{
	struct cfq_meta_data *cfqmd = waiter->cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	init_completion(&waiter->go_on);
	if (unlikely(cfq_done_meanwhile(cfqmd)))
		cfq_admit_waiters(cfqmd);
	cfq_unlock(cfqmd);
	/* Sends what is plugged.  Never seems hung: blk_wait_io() is not for modules. */
	while (!wait_for_completion_io_timeout(&waiter->go_on, 2 * HZ))
		;
	cfq_lock(cfqmd);
}

/* Does somebody in line come before @waiter? */
static bool cfq_goes_before(struct cfq_waiter *waiter)
{
	struct rb_root_cached *line = &waiter->cfqd->line[waiter->sync][waiter->class];

	return cfq_line_best(waiter->cfqd, waiter->sync) < waiter->class ||
	       (rb_first_cached(line) &&
		!cfq_waiter_less(&waiter->line_node, rb_first_cached(line)));
}

/*
 * A task of @cfqq was in line @since_ns.  That was not thinking, or a stream would
 * not look like one; who reads here and there is not waited for while in line.
 */
static void cfqq_was_in_line(struct cfq_queue *cfqq, u64 since_ns)
{
	const u64 now_ns = ktime_get_ns();

	if (cfqq->sync && cfqq->last_end_ns && !cfqq_seeky(cfqq))
		cfqq->last_end_ns = min(cfqq->last_end_ns + now_ns - since_ns, now_ns);
	cfqq->nr_in_line--;
	cfqq_put(cfqq);
}

/*
 * Wait in the line of the group of the last request, for which e.g. writeback
 * works.  Return: false if the task would have to, and must not.
 */
static bool cfq_admit_current(struct cfq_meta_data *cfqmd, bool sync, bool nowait)
{
	struct cfq_io_cq *cic = cfq_get_cic(cfqmd->dd.queue);
	struct cfq_waiter waiter = { .sync = sync };
	const u64 now_ns = ktime_get_ns();
	struct cfq_queue *cfqq;
	struct cfq_data *cfqd;

	guard(cfq_lock)(cfqmd);
	cfqq = cfq_last_cfqq(cic, sync);
	cfqd = cfqq ? cfqq->cfqd : cfq_group_of_current(cfqmd);
	waiter.cfqq = cfqq;
	waiter.cfqd = cfqd;
	waiter.class = cfqq ? cfqq->entity.class :
			      cfq_ioprio_to_class(get_current_ioprio());
	waiter.vdisktime = cfq_line_vdisktime(&waiter);
	if (!cfq_goes_before(&waiter) && cfq_group_has_room(&waiter))
		return true;
	if (nowait)
		return false;

	cfqd->ref++;
	if (cfqq) {
		cfqq->ref++;
		cfqq->nr_in_line++;
	}
	WRITE_ONCE(cfqmd->nr_waiting, cfqmd->nr_waiting + 1);
	cfq_group_line(cfqd, true);
	if (!cfq_trees_busy(&cfqd->queues))
		cfq_group_not_busy(cfqd, now_ns);
	rb_add_cached(&waiter.line_node, &cfqd->line[sync][waiter.class],
		      cfq_waiter_less);
	cfq_wait(&waiter);
	if (cfqq)
		cfqq_was_in_line(cfqq, now_ns);
	/* Of those who share @cic some may have been in another group's line. */
	if (cic && (!cic->nr_admitted || cic->admitted == cfqd)) {
		cic->admitted = cfqd;
		WRITE_ONCE(cic->nr_admitted, cic->nr_admitted + 1);
	} else {
		cfq_end_admission(cfqd);
	}
	return true;
}

static bool cfq_descriptors_scarce(struct cfq_meta_data *cfqmd, bool sync)
{
	return READ_ONCE(cfqmd->nr_waiting) ||
	       cfq_nr_descriptors(cfqmd) >= cfq_all_descriptors(cfqmd->dd.queue) / 2 ||
	       (!sync && READ_ONCE(cfqmd->nr_async) >=
			 cfq_async_descriptors(cfqmd->dd.queue) / 2);
}

/* Takes cfqmd->lock. */
static bool cfq_current_in_debt(struct cfq_meta_data *cfqmd)
{
	const enum cfq_class class = cfq_ioprio_to_class(get_current_ioprio());
	const struct cfq_io_cq *cic = cfq_lookup_cic(cfqmd->dd.queue);
	struct cfq_entity newcomer = { .class = class, .weight = CFQ_WEIGHT_DEFAULT };
	const struct cfq_queue *cfqq;
	struct cfq_data *cfqd;

	guard(cfq_lock)(cfqmd);
	cfqd = cfq_group_of_current(cfqmd);
	newcomer.trees = &cfqd->queues;
	newcomer.vdisktime = cfq_entity_tree(&newcomer)->min_vdisktime;
	cfqq = cic ? cic_cfqq(cic, CFQ_SLOT_SYNC + class) : NULL;
	return cfq_in_debt(&cfqmd->dd, cfqq && cfqq->cfqd == cfqd ?
			   &cfqq->entity : &newcomer, ktime_get_ns());
}

/*
 * Sets how many descriptors may be in use for an urgent request, or one with a
 * transaction open, for whom all wait who need the journal: counted for all
 * hardware queues together, then each has its part.  Return: false if it is to
 * wait in line, as those in debt, who would have them until it is their turn.
 */
static noinline bool cfq_set_urgent_depth(struct blk_mq_alloc_data *data, blk_opf_t opf)
{
	const struct request_queue *q = data->q;
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	unsigned int most = cfq_all_descriptors(q) - max(cfq_all_descriptors(q) / 4, 1U);

	if (cfq_opf_urgent(opf) &&
	    ((opf & REQ_SWAP) || !op_is_sync(opf) ||
	     ((current->flags & PF_KTHREAD) && cfq_opf_written_back(opf)))) {
		most = cfq_async_descriptors(q);
	} else if (cfq_opf_urgent(opf) && cfq_thread_holds_up(opf)) {
		return true;
	} else if (!current->journal_info && !op_is_write(opf) &&
		   cfq_descriptors_scarce(cfqmd, true) && cfq_current_in_debt(cfqmd)) {
		return false;
	}
	if (!blk_mq_is_shared_tags(q->tag_set->flags) &&
	    cfq_nr_descriptors(cfqmd) >= most)
		most /= q->nr_hw_queues;
	data->shallow_depth = max(most, 1U);
	return true;
}

/* Waits for its turn; for urgent requests an eighth is left by async ones. */
static noinline void cfq_set_depth(struct blk_mq_alloc_data *data, blk_opf_t opf)
{
	struct cfq_meta_data *cfqmd = data->q->elevator->elevator_data;
	const bool nowait = data->flags & BLK_MQ_REQ_NOWAIT;
	const bool urgent = cfq_opf_urgent(opf);
	const bool sync = op_is_sync(opf);
	unsigned int depth = cfq_all_descriptors(data->q);
	bool limited;

	if (unlikely(urgent || current->journal_info) &&
	    cfq_set_urgent_depth(data, opf))
		return;
	if (!sync)
		depth -= depth / 8;
	limited = !urgent && cfq_task_limited(data->q, sync);
	if (limited && !nowait)
		cfq_wait_for_place(data->q);
	/* As good as none: the first descriptor or an error. */
	if (limited && nowait && cfq_group_current_full(cfqmd))
		depth = 1;
	if (cfq_descriptors_scarce(cfqmd, sync)) {
		limited = true;
		if (!cfq_admit_current(cfqmd, sync, nowait))
			depth = 1;
	}
	/* Any depth, even of all, takes one at a time. */
	if (limited || !sync)
		data->shallow_depth = depth;
}

/*
 * Called before a descriptor is allocated: waits until the task may have one,
 * if it may wait.
 */
void cfq_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct cfq_meta_data *cfqmd = data->q->elevator->elevator_data;

	/* It did not come to cfq_bio_merge(), and others, that do, shall not use its queue. */
	if (unlikely(opf & REQ_POLLED))
		data->nr_tags = 1;
	/* Tried again, as a processor went away: it has its place. */
	if (data->shallow_depth)
		return;
	/* If it was split, cfq_bio_merge() has seen the last part. */
	if (unlikely(!cfq_opf_urgent(opf) && cfq_task_holds_up(opf))) {
		opf |= REQ_PRIO;
		data->cmd_flags |= REQ_PRIO;
	}
	if (unlikely(!op_is_sync(opf) || cfq_opf_urgent(opf) || current->journal_info ||
		     cfq_groups_limited() || cfq_descriptors_scarce(cfqmd, true)))
		cfq_set_depth(data, opf);
}

/* Each of the @nr descriptors, of each hardware queue or all, has a struct cfq_done. */
static void cfq_set_records(struct request_queue *q, unsigned int nr)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	const bool shared = blk_mq_is_shared_tags(q->tag_set->flags);
	struct cfq_done *records;

	if (nr == cfqmd->nr_records)
		return;
	records = kvcalloc_node(shared ? nr : q->nr_hw_queues * nr,
				sizeof(*records), GFP_NOIO | __GFP_NOWARN, q->node);
	/* Those that are there still serve as many as before. */
	if (!records)
		return;
	cfq_lock(cfqmd);
	swap(cfqmd->records, records);
	cfqmd->nr_records = nr;
	cfqmd->record_stride = shared ? 0 : nr;
	cfq_unlock(cfqmd);
	kvfree(records);
}

/* The number of descriptors was set.  Process context; none of them is in use. */
void cfq_depth_updated(struct request_queue *q)
{
	/* A limit can be as low as that. */
	blk_mq_set_min_shallow_depth(q, 1);
	cfq_set_records(q, q->nr_requests);
}

/*
 * The task of @cic flushes a disk: if it has sent nothing else that is sync, or
 * not since it moved, it gets a queue to be charged.  Not so a kernel thread,
 * which does it for others.
 */
static void cic_flushes(struct cfq_io_cq *cic, struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const unsigned short ioprio = cfq_effective_ioprio(get_current_ioprio());
	const enum cfq_slot slot = CFQ_SLOT_SYNC + cfq_ioprio_to_class(ioprio);
	const struct cfq_queue *last;
	struct cfq_cgroup *cfqc;

	guard(rcu)();
	cfqc = cfq_current_cgroup();
	last = cic_last_sync(cic);
	if (!cfqmd->dd.one_head || (current->flags & PF_KTHREAD) ||
	    (last && (last->shared || last->cfqd->cfqc == cfqc ||
		      cic_shares_cfqq(cic, last, now_ns))))
		return;
	cic_renew_cfqq(cic, cfqc, slot, ioprio);
	WRITE_ONCE(cic->sync_slot, slot);
}

/* Whose @rq is has to be known before it is inserted, or without that. */
static noinline void cfq_prepare_owned(struct request *rq)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;

	rq->elv.icq = ioc_find_get_icq(rq->q);
	if (op_is_flush(rq->cmd_flags))
		rq->fifo_time = ktime_get_ns();
	if (!(rq->cmd_flags & REQ_PREFLUSH))
		return;
	rq->flush.seq = RQ_TO_FLUSH;
	guard(cfq_lock)(cfqmd);
	WRITE_ONCE(cfqmd->dd.nr_flushes, cfqmd->dd.nr_flushes + 1);
	cfqmd->dd.flush_since_ns = rq->fifo_time;
	/* It is counted there, and comes here again only when it is done. */
	if (rq->elv.icq) {
		cic_end_admission(icq_to_cic(rq->elv.icq));
		cic_flushes(icq_to_cic(rq->elv.icq), cfqmd, rq->fifo_time);
		cic_begin_flush(icq_to_cic(rq->elv.icq), rq->fifo_time);
	}
}

void cfq_prepare_request(struct request *rq)
{
	const struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;

	rq->elv.icq = NULL;
	rq->elv.priv[1] = NULL;
	rq->flush.seq = 0;
	if (unlikely(op_is_flush(rq->cmd_flags) || READ_ONCE(cfqmd->nr_admitted)))
		cfq_prepare_owned(rq);
	if (unlikely(cfq_groups_limited()))
		cfq_place_request(rq);
}

/* @rq, on no queue, is done with: give up what was kept for it.  Any context. */
void cfq_give_up_request(struct request *rq)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_data *place = rq->elv.priv[1];
	struct cfq_io_cq *cic = NULL;

	/* That of a flush has ended when it came. */
	if (rq->elv.icq && !(rq->rq_flags & RQF_STARTED) && !rq->flush.seq)
		cic = icq_to_cic(rq->elv.icq);
	if (!place && likely(!cic || !READ_ONCE(cic->nr_admitted)))
		return;

	guard(cfq_lock_irqsave)(cfqmd);
	if (place)
		cfq_group_release(place);
	if (cic)
		cic_end_admission(cic);
}
