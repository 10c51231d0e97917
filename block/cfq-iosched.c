// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the per-task layer.
 *
 * It shares out the time of the device.  Each task has a cfq_queue (cfqq) for
 * its synchronous requests of each class.  Asynchronous writes share one cfqq
 * per priority, and so do synchronous requests that tasks submit on behalf of
 * another group.  All cfqqs of one group on one device belong to a cfq_data
 * (cfqd), and this file only ever looks at one cfqd.  Which cfqd is served is
 * up to the group layer (block/cfq-groups.c); without it there is one per
 * device.
 *
 * This file follows a request: insertion, merging, dispatch, completion.
 * Queues are in block/cfq-queue.c, descriptors in block/cfq-tags.c, and what
 * both layers share in block/cfq-sched.h.
 *
 * 1. Time.  A request is charged the device time that it took
 *    (block/cfq-device.c).  A disk tells only at completion, so its queue is
 *    charged in advance what its requests used to cost, and then the
 *    difference: so the order is right with any number of requests in flight.
 *
 * 2. Order.  Each class (real time, best effort, idle) has a service tree,
 *    sorted by virtual time: time charged over weight.  The weight is the
 *    length of a slice of the priority: 40..180 for levels 7..0, two fifths of
 *    that if asynchronous.  The queue of least virtual time with a request
 *    queued is next.
 *
 *    On a disk, no queue gets further ahead of the one most behind than a base
 *    slice: else a few tasks with one request each would all be in the device
 *    at once, and priorities would decide nothing.  For the same reason a class
 *    waits while a better one has requests in flight, up to
 *    cfq_class_wait_ns().  Without a head a queue waits only while the device
 *    is busy (block/cfq-device.c, 2): for a better class and, if it is ahead by
 *    a smaller lead, for queues of another level.  While a part of it has nothing
 *    to do, and nothing is queued, what comes is not queued, either.
 *
 * 3. Slices.  On a disk a sequential synchronous queue whose turn comes becomes
 *    the active one, and has the head for itself for a slice.  When it runs dry
 *    we wait for its next request (slice_idle), if its think time says that it
 *    comes soon.  Seeky queues get no slices: the more of them are in the
 *    device at once, the better a disk can order them, and the charge keeps
 *    them fair.
 *
 *    Streams and asynchronous queues keep the head for long.  If a seeky queue
 *    that ran dry is the only one of its class, or due before one of these, we
 *    wait for it, too (group_idle), or for another one of its class: else a
 *    lower class, another group or a stream would get its time.  Of who
 *    commits is also what the journal's thread writes and flushes meanwhile, so
 *    he is waited for in between (cfq_journal_cfqq()).
 *    And what keeps the head for long sends nothing while a synchronous queue
 *    that is due before it has a request in the disk.
 *
 *    Waiting needs no timer while nobody else wants the device; a dispatch that
 *    finds other requests and must not send them arms it.
 *
 * 4. Preemption.  A better class that has something to do ends the slice.
 *    While the active queue idles, one with a request close to the head takes
 *    the rest of its slice (as two tasks that read one file in turns).  A task
 *    that exits gives up its slice, but if another one soon follows, as of a
 *    script, that is waited for and goes on in its place (cfqq_take_place()).
 *
 * 5. Choice within a queue.  The request nearest to the head, going up; one
 *    behind it counts back_seek_penalty times its distance, up to
 *    back_seek_max.  One older than its fifo_expire goes first; this is looked
 *    at when a slice begins and every quantum requests.  Without a head the
 *    oldest goes first.
 *
 * 6. Urgent requests, for metadata, the journal and swap space, go before
 *    others: cfq_opf_urgent().
 *
 * Flushes, and data that had to wait for one, do not pass through here.  On a
 * disk they are for others as a request of their task's last queue in the disk
 * (cic_begin_flush()), whose time is charged when they end (cic_end_flush()).
 */
#include <linux/blk-cgroup.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include <trace/events/block.h>

#include "blk.h"
#include "blk-mq-sched.h"
#include "blk-wbt.h"

#include "cfq-queue.h"
#define CREATE_TRACE_POINTS
#include <trace/events/cfq.h>

static bool cfqq_rq_has_neighbour(struct request *rq)
{
	struct request *prev = elv_rb_former_request(rq->q, rq);
	struct request *next = elv_rb_latter_request(rq->q, rq);

	return (prev && rq_end_sector(prev) == blk_rq_pos(rq)) ||
	       (next && blk_rq_pos(next) == rq_end_sector(rq));
}

static void cfqq_add_seek(struct cfq_queue *cfqq, bool seek)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	cfqq->seek_history = cfqq->seek_history << 1 | seek;
	cfqq->seek_samples = min(cfqq->seek_samples + 1, CFQ_SEEK_HISTORY);
	cfqd->seek_history = cfqd->seek_history << 1 | seek;
	cfqd->seek_samples = min(cfqd->seek_samples + 1, CFQ_SEEK_HISTORY);
}

/* Learn from the new @rq how the task thinks, and if it is not @urgent how it moves. */
static void cfqq_update_statistics(struct cfq_queue *cfqq, struct request *rq,
				   bool urgent, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	struct cfq_service_tree *st = cfq_entity_tree(&cfqq->entity);

	/* Only slices and waiting need that. */
	if (!cfqq->sync || (!dd->one_head && !dd->access_work))
		return;

	if (cfqq->nr_queued == 1 && !cfqq->nr_in_driver)
		cfq_add_think_time(&cfqq->think, &dd->tun, cfqq->last_end_ns, now_ns);
	cfq_add_think_time(&st->think, &dd->tun, st->empty_since_ns, now_ns);
	st->empty_since_ns = 0;
	if (urgent)
		return;

	/* Readahead sends a stream's pieces in any order: no seek. */
	if (cfqq->nr_queued > 1 && cfqq_rq_has_neighbour(rq)) {
		cfqq_add_seek(cfqq, false);
		cfqq->last_request_end = max(cfqq->last_request_end, rq_end_sector(rq));
		return;
	}
	if (cfqq->last_request_end)
		cfqq_add_seek(cfqq, abs_diff(blk_rq_pos(rq), cfqq->last_request_end) >
				    CFQ_SEEK_SECTORS);
	cfqq->last_request_end = rq_end_sector(rq);
}

/*
 * Is the urgent @rq for others than its owner?  Swap is only if a task, no thread,
 * of a group not in debt swaps out for another group: else who takes more and
 * more memory would have all of the device.
 */
static bool rq_for_others(struct request *rq, const struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *own;
	bool behalf;

	scoped_guard(rcu)
		cfq_bio_cgroup(rq->bio, &behalf);
	if (!(rq->cmd_flags & REQ_SWAP))
		return behalf || !cfqq->sync || cfq_thread_holds_up(rq->cmd_flags);
	if (!behalf || (current->flags & PF_KTHREAD))
		return false;
	own = cfq_group_of_current(cfqq->cfqd->cfqmd);
	return !cfq_in_debt(cfqd_dd(own), own->queues.above, now_ns);
}

/* For how long only deadly signals end a pause, and the longest pause. */
#define CFQ_REPAYMENT_NS		(2 * (u64)NSEC_PER_SEC)
#define CFQ_LONGEST_REPAYMENT_NS	(8 * (u64)NSEC_PER_SEC)

/* Is the urgent @rq of @cfqq really to be sent before all others? */
static noinline bool cfqq_jumps(struct cfq_queue *cfqq, struct request *rq, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	struct cfq_entity *entity;
	u64 until_ns = 0, pause_ns = 0;

	if (rq_for_others(rq, cfqq, now_ns))
		return true;
	if (cfq_in_debt(&cfqmd->dd, &cfqq->entity, now_ns)) {
		if ((!op_is_write(req_op(rq)) && !current->journal_info) ||
		    (rq->cmd_flags & REQ_SWAP))
			return false;
		/* All may wait for it, as for a journal: treat it as written back. */
		rq->cmd_flags |= REQ_BACKGROUND;
		until_ns = now_ns + CFQ_LONGEST_REPAYMENT_NS;
		pause_ns = cfq_pause_ns(cfqq->cost_ns, 1, 1);
	} else {
		for (entity = &cfqq->entity; entity; entity = cfq_above(entity))
			until_ns = max(until_ns,
				       cfq_entity_borrow(&cfqmd->dd, entity,
							 cfqq->cost_ns, now_ns,
							 &pause_ns));
	}
	if (until_ns > now_ns) {
		cfqmd->repay_until_ns = max(cfqmd->repay_until_ns, until_ns);
		cfqmd->repay_ns += pause_ns;
	}
	return true;
}

static void cfqq_insert(struct cfq_queue *cfqq, struct request *rq, bool urgent,
			u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	struct cfq_driver_data *dd = &cfqmd->dd;

	rq->fifo_time = now_ns;
	elv_rb_add(&cfqq->sort_list, rq);
	list_add_tail(&rq->queuelist, !urgent ? &cfqq->fifo :
		      &cfqmd->urgent[!cfq_opf_written_back(rq->cmd_flags)]);
	WRITE_ONCE(cfqq->nr_queued, cfqq->nr_queued + 1);
	cfqmd->last_cfqq = cfqq;
	WRITE_ONCE(cfqmd->nr_queued, cfqmd->nr_queued + 1);
	cfqmd->nr_before_flush += !!(rq->rq_flags & RQF_FLUSH_SEQ);
	if (!cfqd->nr_queued++)
		cfq_group_ready(cfqd, 1);
	cfqq_update_statistics(cfqq, rq, urgent, now_ns);
	if (dd->one_head || !cfqq->next_rq)
		cfqq->next_rq = cfq_nearer_rq(dd, cfqq->next_rq, rq);
	if (cfqq_on_tree(cfqq)) {
		list_del_init(&cfqq->idle_node);
		/* It may be there with urgent requests only. */
		if (dd->one_head)
			cfq_group_became_busy(cfqd, urgent, now_ns);
	} else {
		cfqq_add_busy(cfqq, urgent, now_ns);
	}
	if (dd->one_head)
		cfqq_favour(cfqq, now_ns);
}

/*
 * Who has borrowed (cfq_entity_borrow()) pays when nobody waits for him: on the
 * way back to user mode, where he holds no lock.
 */
struct cfq_repayment {
	struct callback_head	work;
	u64			until_ns;
	u64			borrowed_ns;
	u64			deaf_until_ns;
};

static bool cfq_sleep_until(u64 until_ns, unsigned int state)
{
	ktime_t until = ns_to_ktime(until_ns);

	while (!(current->flags & PF_EXITING) && !signal_pending_state(state, current)) {
		set_current_state(state);
		if (!schedule_hrtimeout(&until, HRTIMER_MODE_ABS))
			return true;
	}
	return false;
}

static void cfq_repay(struct callback_head *work)
{
	struct cfq_repayment *repayment = container_of(work, struct cfq_repayment, work);
	const u64 until_ns = min(repayment->until_ns,
				 ktime_get_ns() + repayment->borrowed_ns);

	/* In execve io_uring runs task work as well, with a mutex held. */
	if (!current->in_execve &&
	    cfq_sleep_until(min(until_ns, repayment->deaf_until_ns), TASK_KILLABLE))
		cfq_sleep_until(until_ns, TASK_INTERRUPTIBLE);
	kfree(repayment);
	module_put(THIS_MODULE);
}

/* The current task has sent urgent requests: it pauses later. */
static noinline void cfq_repay_later(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const u64 until_ns = cfqmd->repay_until_ns;
	const u64 borrowed_ns = cfqmd->repay_ns;
	struct cfq_repayment *repayment;

	cfqmd->repay_until_ns = 0;
	cfqmd->repay_ns = 0;
	/* Workers of io_uring hold no lock then, but its polling thread does. */
	if ((current->flags & (PF_KTHREAD | PF_EXITING)) ||
	    ((current->flags & PF_USER_WORKER) &&
	     !((current->flags & PF_IO_WORKER) && current->worker_private)))
		return;
	/* Without memory the debt remains. */
	repayment = kmalloc_obj(*repayment, GFP_NOWAIT | __GFP_NOMEMALLOC);
	if (!repayment)
		return;
	init_task_work(&repayment->work, cfq_repay);
	repayment->until_ns = min(until_ns, now_ns + CFQ_LONGEST_REPAYMENT_NS);
	repayment->borrowed_ns = borrowed_ns;
	repayment->deaf_until_ns = now_ns + CFQ_REPAYMENT_NS;
	__module_get(THIS_MODULE);
	if (task_work_add(current, &repayment->work, TWA_RESUME)) {
		module_put(THIS_MODULE);
		kfree(repayment);
	}
}

/*
 * Note whether requests are withheld.  While a device without a head works, or
 * idles for somebody, nobody needs to ask before cfq_should_ask_again(), but
 * for a queue that need not wait.  A timer asks in case what is waited for is
 * stuck or does not come.
 */
static void cfq_set_withheld(struct cfq_meta_data *cfqmd, bool withheld, u64 now_ns)
{
	struct cfq_driver_data *dd = &cfqmd->dd;

	WRITE_ONCE(cfqmd->withheld, withheld);
	cfqmd->nr_since_withheld = 0;
	WRITE_ONCE(cfqmd->nothing_to_send, withheld && !dd->one_head && !dd->par.drain &&
		   (dd->nr_in_driver ||
		    (dd->strict && cfqmd->expected_until_ns > now_ns)));
	if (cfqmd->nothing_to_send)
		smp_mb();	/* pairs with that in cfq_idle_timer() */
	if (!withheld)
		return;
	cfq_ask_at(dd, now_ns + cfq_stuck_ns(dd));
	/* No completion will tell that this is over. */
	if ((!dd->nr_in_driver || dd->strict) && cfqmd->expected_until_ns > now_ns)
		cfq_ask_at(dd, cfqmd->expected_until_ns);
}

/*
 * A request of @cfqq was queued.  If processors are short, who has others in
 * busy flash need not hurry, unless real time: the next completions make room.
 */
static void cfq_ask_for(struct cfq_queue *cfqq, bool urgent, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	struct cfq_driver_data *dd = &cfqmd->dd;

	if (dd->heads.cpus_busy && !urgent && cfqq->nr_in_driver &&
	    cfqq->entity.class != CFQ_CLASS_RT && cfq_device_busy(dd)) {
		if (!cfqmd->withheld && cfqq->nr_queued == cfqmd->nr_queued &&
		    list_empty(&cfqmd->urgent[0]) && list_empty(&cfqmd->urgent[1]))
			cfq_set_withheld(cfqmd, true, now_ns);
	} else if (cfqmd->nothing_to_send && (urgent || !cfqq_must_wait(cfqq))) {
		WRITE_ONCE(cfqmd->nothing_to_send, false);
	}
}

/*
 * On a device without a head groups are owed little of what they left to @cfqq,
 * but for a trial; CFQ_LINE_DEBT times that if tasks of theirs wait for descriptors.
 */
static void cfqq_passes_others(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	struct cfq_entity *entity;
	u64 lead_ns;

	if (dd->one_head || dd->par.sizes.until_ns > now_ns)
		return;
	for (entity = cfq_above(&cfqq->entity); entity; entity = cfq_above(entity)) {
		if (cfq_st_first(entity->st) == entity)
			continue;
		lead_ns = cfq_lead_ns(dd, entity, CFQ_MIXED_DEBT_PART);
		if (cfq_st_forget_behind(entity, lead_ns, cfq_member_held_back) ||
		    cfq_st_forget_behind(entity, CFQ_LINE_DEBT * lead_ns,
					 cfq_member_ready))
			dd->heads.passed_ns = now_ns;
	}
}

/*
 * Charge @cfqq all of @ns, unless it is favoured: then as if it weighed, at
 * level 4, an eighth more than all others, which leaves them nearly half.
 */
static inline void cfqq_charge_entity(struct cfq_queue *cfqq, s64 ns)
{
	unsigned int others;
	s64 due_ns = ns;

	if (unlikely(cfqq->cfqd->favoured_cfqq == cfqq) && cfqq_on_tree(cfqq) &&
	    cfqd_dd(cfqq->cfqd)->one_head) {
		others = cfqq->entity.st->total_weight - cfqq->entity.weight;
		others += others / 8;
		if (others > CFQ_WEIGHT_DEFAULT)
			due_ns = div_s64(ns * CFQ_WEIGHT_DEFAULT, others);
		cfqq->cfqd->favours_ns += ns - due_ns;
	}
	cfq_entity_charge(&cfqq->entity, due_ns);
}

/* Charge @cfqq and its group what the device spent, less the estimate charged before. */
void cfqq_charge(struct cfq_queue *cfqq, u64 spent_ns, u64 estimate_ns,
		 const char *reason)
{
	cfqq_charge_entity(cfqq, spent_ns - estimate_ns);
	if (cfqd_dd(cfqq->cfqd)->one_head)
		cfqq_count_favour(cfqq, spent_ns);
	if (cfqq_is_active(cfqq))
		cfqq->slice_used_ns += spent_ns;
	cfq_group_charge(cfqq->cfqd, spent_ns - estimate_ns, spent_ns);
	trace_cfq_charge(cfqq, spent_ns, estimate_ns, reason);
}

/*
 * A long request was held back, and @cfqq sends one to an empty device.  If
 * that is another queue, which was waited for, it is charged the idle time.
 */
static noinline void cfqq_end_hold(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	if (!dd->nr_in_driver && dd->held_cfqq != cfqq &&
	    cfqq->last_end_ns + dd->tun.group_idle_ns > now_ns) {
		dd->charged_until_ns = max(dd->charged_until_ns, cfqq->last_end_ns);
		cfqq_charge_idle(cfqq, cfq_charge_serial(dd, now_ns));
	}
	dd->held_cfqq = NULL;
	dd->held_for_equal = false;
}

/* @rq of @cfqq is sent, before it is counted as in the device. */
static __always_inline void cfqq_charge_sent(struct cfq_queue *cfqq,
					     struct request *rq, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	const bool known = !cfq_charges_completed(dd, rq->cmd_flags);
	const u64 waited_ns = now_ns - min(now_ns, rq->fifo_time);
	const u64 cost_ns = cfq_device_sent(dd, rq, now_ns);
	struct cfq_entity *entity;
	unsigned long charged_ns;

	if (!dd->one_head && !dd->access_work) {
		cfqq->cost_ns = cost_ns;
		cfq_average_add(&dd->mean_cost_ns, cost_ns);
	}
	charged_ns = rq_set_charged(rq, cfqq->cost_ns);
	if (known)
		trace_cfq_charge(cfqq, charged_ns, charged_ns, "request");
	cfqq_charge_entity(cfqq, charged_ns);
	for (entity = &cfqq->entity; entity; entity = cfq_above(entity)) {
		if (unlikely(cfq_classes_differ(entity->trees)))
			entity->st->due_ns = now_ns +
				cfq_class_wait_ns(dd, cfqq->cost_ns);
		if (entity != &cfqq->entity)
			cfq_entity_charge(entity, charged_ns);
	}
	cfq_group_sent(cfqq->cfqd, blk_rq_sectors(rq), waited_ns, known ? charged_ns : 0);
}

static noinline void cfqq_dispatch(struct cfq_queue *cfqq, struct request *rq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);

	/* Idle time of the device is charged to whom it was for. */
	if (unlikely(dd->held_cfqq))
		cfqq_end_hold(cfqq, now_ns);
	if (!dd->nr_in_driver && cfqq->idle_until_ns >= now_ns) {
		cfq_group_count(cfqd, CFQ_STAT_IDLE, now_ns - dd->charged_until_ns);
	} else if (!dd->nr_in_driver || (dd->one_head &&
		   dd->sent_ns + cfq_stuck_ns(dd) <= now_ns)) {
		/* It was for nobody, or all in the device is stuck. */
		dd->charged_until_ns = max(dd->charged_until_ns, now_ns);
	}
	/* The time of a plug may be before that of others. */
	dd->sent_ns = max(dd->sent_ns, now_ns);
	if (dd->one_head && cfqq_keeps_head(cfqq))
		cfqd->head_kept_ns = now_ns;
	cfqq->idle_until_ns = 0;
	cfqq->sent_ns = now_ns;
	cfqd->sent_ns = now_ns;
	if (cfqq->entity.class == CFQ_CLASS_RT)
		dd->rt_until_ns = now_ns + NSEC_PER_SEC;

	if (!cfqq_is_active(cfqq))
		trace_cfq_select(cfqd, cfqq, &cfqq->entity, "request");
	cfqq->since_fifo_check++;
	rq->rq_flags |= RQF_STARTED;
	cfqq_charge_sent(cfqq, rq, now_ns);
	WRITE_ONCE(dd->nr_in_driver, dd->nr_in_driver + 1);
	cfqd->nr_in_driver++;
	cfqq->nr_in_driver++;

	if (!cfqq->nr_queued) {
		/* It may have to wait for what is there now. */
		cfqq->lost_ns = now_ns + cfq_stuck_ns(dd);
		list_move_tail(&cfqq->idle_node, &cfqd->cfqmd->sent_cfqqs);
	}
}

/* @rq of @cfqq, where it was queued, is sent; what follows it is nearest to its end. */
static void cfqq_send_queued(struct cfq_queue *cfqq, struct request *rq, u64 now_ns)
{
	cfqd_dd(cfqq->cfqd)->last_position = rq_end_sector(rq);
	cfqq_unlink_rq(cfqq, rq);
	cfqq_dispatch(cfqq, rq, now_ns);
}

/* No request smaller than this takes long. */
#define CFQ_LONG_BYTES	(64U << 10)

/*
 * Flash has a part with nothing to do, and nothing is queued, so there is nothing to
 * choose from.  But now and then one goes the long way, to be watched.
 */
static __always_inline bool cfqq_sends_now(const struct cfq_queue *cfqq,
					   struct request *rq, u64 now_ns)
{
	const struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	const struct cfq_driver_data *dd = &cfqmd->dd;

	return !cfqmd->nr_queued && cfq_device_spares(dd) &&
	       !cfq_charges_completed(dd, rq->cmd_flags) && cfqq->sync &&
	       !dd->strict && !dd->held_cfqq && !dd->par.drain &&
	       !dd->par.sizes.trial_depth && blk_rq_bytes(rq) < CFQ_LONG_BYTES &&
	       !cfq_sample_wanted(&dd->par, rq) && !cfq_probe_due(&dd->par, now_ns) &&
	       !cfq_group_must_wait(cfqq->cfqd);
}

/* Send @rq without queueing it: cfq_dispatch_request() takes it from the list. */
static void cfqq_send_now(struct cfq_queue *cfqq, struct request *rq, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;

	rq->fifo_time = now_ns;
	list_add_tail(&rq->queuelist, &cfqmd->dispatch);
	cfqmd->other_sent_ns = now_ns;
	if (!cfqq_on_tree(cfqq))
		cfqq_add_busy(cfqq, false, now_ns);
	if (cfqq->nr_in_driver != cfqmd->dd.nr_in_driver)
		cfqq_passes_others(cfqq, now_ns);
	cfqmd->dd.last_position = rq_end_sector(rq);
	cfqq_dispatch(cfqq, rq, now_ns);
}

/* Is @rq, a read, for whom @before was, which the same task inserts with it? */
static bool rq_goes_with(struct request *rq, struct request *before)
{
	return before && req_op(rq) == REQ_OP_READ && rq->cmd_flags == before->cmd_flags &&
	       req_get_ioprio(rq) == req_get_ioprio(before) &&
	       bio_blkcg_css(rq->bio) == bio_blkcg_css(before->bio);
}

static inline void cfqq_count_async(struct cfq_queue *cfqq, int n)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	if (cfqq->sync)
		return;
	cfqd->nr_async += n;
	WRITE_ONCE(cfqd->cfqmd->nr_async, cfqd->cfqmd->nr_async + n);
}

static void cfq_insert_request(struct cfq_meta_data *cfqmd, struct request *rq,
			       struct request *before, struct cfq_io_cq *cic,
			       blk_insert_t flags, u64 now_ns)
{
	struct request_queue *q = rq->q;
	struct cfq_queue *cfqq = NULL;
	bool urgent;

	lockdep_assert_held(&cfqmd->lock);

	trace_block_rq_insert(rq);
	/* Not scheduled: came back, waited for a flush, or is on a reserved tag. */
	if ((flags & BLK_MQ_INSERT_AT_HEAD) || !(rq->rq_flags & RQF_USE_SCHED)) {
		if (flags & BLK_MQ_INSERT_AT_HEAD)
			list_add(&rq->queuelist, &cfqmd->dispatch);
		else
			list_add_tail(&rq->queuelist, &cfqmd->dispatch);
		return;
	}

	if (rq_goes_with(rq, before))
		cfqq = rq_cfqq(before);
	else if (likely(cic))
		cfqq = cic_get_cfqq(cic, rq, now_ns);
	if (unlikely(!cfqq))
		cfqq = &cfqmd->oom_cfqq;
	cfqq->ref++;
	cfqq_count_async(cfqq, 1);
	rq->elv.priv[0] = cfqq;
	if (unlikely(cfq_groups_limited()))
		cfq_hold_request(rq);
	urgent = unlikely(cfq_opf_urgent(rq->cmd_flags)) && cfqq_jumps(cfqq, rq, now_ns);
	/* Who goes on writing waits for no commit. */
	if (!urgent && cfqq->sync && op_is_write(req_op(rq)) &&
	    cfqmd->sync_writer == cfqq)
		cfqmd->sync_writer = NULL;
	if (!urgent && cfqq_sends_now(cfqq, rq, now_ns)) {
		cfqq_send_now(cfqq, rq, now_ns);
	} else {
		cfqq_insert(cfqq, rq, urgent, now_ns);
		cfq_ask_for(cfqq, urgent, now_ns);
		/* One task may go on where another began: see cfq_try_merge(). */
		if (cfqq->shared && rq_mergeable(rq))
			elv_rqhash_add(q, rq);
		if (!q->last_merge)
			q->last_merge = rq;
	}
	if (likely(cic))
		cic_end_admission(cic);
}

/* Decide anew what the device is (block/cfq-heads.c). */
static noinline void cfq_decide_heads(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const bool one_head = cfq_heads_decide(&cfqmd->dd, now_ns);

	WRITE_ONCE(cfqmd->nothing_to_send, false);
	if (one_head == cfqmd->dd.one_head)
		return;
	cfqmd->dd.held_cfqq = NULL;
	cfqmd->dd.held_for_equal = false;
	/* The time of a plug may be before the last completion. */
	cfq_end_idle(cfqmd, U64_MAX);
	cfq_groups_end_turn(cfqmd, now_ns, "drain");
	cfq_device_set_one_head(&cfqmd->dd, one_head, now_ns);
}

static void cfq_insert_requests(struct blk_mq_hw_ctx *hctx,
				struct list_head *list, blk_insert_t flags)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;
	struct cfq_io_cq *cic = NULL;
	u64 now_ns = blk_time_get_ns();
	struct request *rq, *next, *before = NULL;
	bool withheld;

	/* Who inserts is who submits, but for what came back or had to wait for a flush. */
	if (!(flags & BLK_MQ_INSERT_AT_HEAD))
		cic = cfq_get_cic(hctx->queue);
	guard(cfq_lock)(cfqmd);
	withheld = cfqmd->withheld;
	cfq_end_idle(cfqmd, now_ns);
	if (unlikely(cfq_heads_ask(&cfqmd->dd, now_ns)))
		cfq_decide_heads(cfqmd, now_ns);
	list_for_each_entry_safe(rq, next, list, queuelist) {
		list_del_init(&rq->queuelist);
		cfq_insert_request(cfqmd, rq, before, cic, flags, now_ns);
		before = rq;
	}
	if (unlikely(cfqmd->repay_ns))
		cfq_repay_later(cfqmd, now_ns);
	if (!withheld && cfqmd->withheld &&
	    unlikely(cfq_done_meanwhile(cfqmd) || !cfq_device_busy(&cfqmd->dd)))
		cfq_set_withheld(cfqmd, false, now_ns);
}

/* Merging, only within a queue: another may be of another group or class. */

static bool cfq_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	const struct cfq_queue *cfqq = rq_cfqq(rq);
	struct cfq_cgroup *cfqc;
	bool shared;

	if (cfqq->sync != op_is_sync(bio->bi_opf) ||
	    cfq_opf_urgent(rq->cmd_flags) != cfq_opf_urgent(bio->bi_opf))
		return false;
	/* @rq may be of who is in debt, and wait for its turn. */
	if (current->journal_info && bio_op(bio) == REQ_OP_READ)
		return false;

	guard(rcu)();
	shared = cfq_bio_slot(bio, &cfqc) < CFQ_SLOT_SYNC;
	if (cfqq->cfqd->cfqc != cfqc || cfqq->shared != shared)
		return false;
	if (!shared)
		return cfqq == cfqq->cfqd->cfqmd->merge_cfqq;
	return cfqq->ioprio == cfq_effective_ioprio(bio->bi_ioprio);
}

/* Requests of a queue are sorted by their ends, too, but for those that overlap. */
static int cfq_end_cmp(const void *key, const struct rb_node *node)
{
	const sector_t sector = *(const sector_t *)key;
	const sector_t end = rq_end_sector(rb_entry_rq(node));

	return sector < end ? -1 : sector > end;
}

/*
 * Find a request of the task's queue that @bio continues or leads up to,
 * without a hash.
 */
static int cfq_request_merge(struct request_queue *q, struct request **req,
			     struct bio *bio)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	const sector_t sector = bio->bi_iter.bi_sector;
	enum elv_merge how = ELEVATOR_BACK_MERGE;
	struct request *rq;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqmd->merge_cfqq)
		return ELEVATOR_NO_MERGE;
	rq = rb_entry_safe(rb_find(&sector, &cfqmd->merge_cfqq->sort_list,
				   cfq_end_cmp), struct request, rb_node);
	if (!rq || !elv_bio_merge_ok(rq, bio)) {
		how = ELEVATOR_FRONT_MERGE;
		rq = elv_rb_find(&cfqmd->merge_cfqq->sort_list, bio_end_sector(bio));
		if (!rq || !elv_bio_merge_ok(rq, bio))
			return ELEVATOR_NO_MERGE;
	}
	*req = rq;
	return blk_discard_mergable(rq) ? ELEVATOR_DISCARD_MERGE : how;
}

/*
 * The task may have used another shared queue last, so for those the hash is
 * asked as well.  If the lock is taken this is left out: plugs have merged.
 */
static noinline bool cfq_try_merge(struct request_queue *q, struct bio *bio,
				   unsigned int nr_segs)
{
	struct cfq_meta_data *cfqmd = q->elevator->elevator_data;
	struct cfq_io_cq *cic = cfq_lookup_cic(q);
	struct cfq_queue *cfqq = NULL;
	struct request *free = NULL;
	struct cfq_cgroup *cfqc;
	bool merged = false;
	enum cfq_slot slot;

	guard(rcu)();
	slot = cfq_bio_slot(bio, &cfqc);
	if (cic)
		cfqq = cic_cfqq(cic, slot);
	if ((slot < CFQ_SLOT_SYNC || (cfqq && READ_ONCE(cfqq->nr_queued))) &&
	    spin_trylock_irq(&cfqmd->lock)) {
		/* If it must wait for a descriptor, then in the right group's line. */
		if (slot < CFQ_SLOT_SYNC && cfqq && cfqq->cfqd->cfqc != cfqc)
			cfqq = cic_renew_cfqq(cic, cfqc, slot,
					      cfq_effective_ioprio(bio->bi_ioprio));
		cfqmd->merge_cfqq = cfqq;
		merged = blk_mq_sched_try_merge(q, bio, nr_segs, &free);
		cfqmd->merge_cfqq = NULL;
		spin_unlock_irq(&cfqmd->lock);
	}
	if (free)
		blk_mq_free_request(free);
	return merged;
}

/* No block of a file system is larger. */
#define CFQ_BLOCK_BYTES	SZ_64K

/*
 * Is @bio metadata that is not marked so: a block that a file system reads in
 * the page cache of its device?  Who needs it waits, maybe with more locked.  A
 * read of the device as a file locks the folio, not a buffer of it; a direct
 * read has no page there.
 */
static bool cfq_bio_holds_up(struct bio *bio)
{
	struct address_space *mapping;
	struct folio *folio;

	if (bio_op(bio) != REQ_OP_READ || bio_flagged(bio, BIO_PAGE_PINNED) ||
	    cfq_opf_urgent(bio->bi_opf) || (bio->bi_opf & REQ_IDLE) ||
	    !bio->bi_iter.bi_size || bio->bi_iter.bi_size > CFQ_BLOCK_BYTES)
		return false;
	folio = page_folio(bio_page(bio));
	if (likely(folio_test_locked(folio)))
		return false;
	/* A clone may be of a direct read to a page of a file that is being removed. */
	guard(rcu)();
	mapping = folio_mapping(folio);
	/* Swap space has no host. */
	return mapping && mapping->host && S_ISBLK(mapping->host->i_mode);
}

/* Called for each bio that might be merged.  Return: whether it is done with. */
static bool cfq_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs)
{
	const struct cfq_meta_data *cfqmd = q->elevator->elevator_data;

	/* Its completion shall not depend on who polls for it. */
	if (unlikely(bio->bi_opf & REQ_POLLED)) {
		bio_clear_polled(bio);
		/* Cached descriptors would be looked for as polled ones. */
		if (current->plug)
			current->plug->nr_ios = 1;
	}
	if (cfq_task_holds_up(bio->bi_opf) || cfq_bio_holds_up(bio))
		bio->bi_opf |= REQ_PRIO;
	if (READ_ONCE(cfqmd->nr_queued) && cfq_try_merge(q, bio, nr_segs))
		return true;
	if (!(bio->bi_opf & REQ_NOWAIT) || cfq_opf_urgent(bio->bi_opf) ||
	    !cfq_task_limited(q, op_is_sync(bio->bi_opf)) ||
	    !cfq_group_current_full(q->elevator->elevator_data))
		return false;
	bio_wouldblock_error(bio);
	return true;
}

static void cfq_request_merged(struct request_queue *q, struct request *rq,
			       enum elv_merge type)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);

	cfq_group_count(cfqq->cfqd, CFQ_STAT_MERGES, 1);
	if (type == ELEVATOR_BACK_MERGE && !cfq_opf_urgent(rq->cmd_flags)) {
		cfqq->last_request_end = rq_end_sector(rq);
	} else if (type == ELEVATOR_FRONT_MERGE) {
		elv_rb_del(&cfqq->sort_list, rq);
		elv_rb_add(&cfqq->sort_list, rq);
	}
}

static void cfq_requests_merged(struct request_queue *q, struct request *rq,
				struct request *next)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);

	if (cfqq->last_request_end)
		cfqq->last_request_end = max(cfqq->last_request_end, rq_end_sector(rq));
	cfq_group_count(cfqq->cfqd, CFQ_STAT_MERGES, 1);
	if (!cfq_opf_urgent(rq->cmd_flags) &&
	    (cfq_opf_urgent(next->cmd_flags) || next->fifo_time < rq->fifo_time)) {
		list_move(&rq->queuelist, &next->queuelist);
		rq->fifo_time = next->fifo_time;
	}
	cfqq_unlink_rq(cfqq, next);
}

static void cfq_activate(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_heads *heads = &cfqd_dd(cfqq->cfqd)->heads;

	/* It competes with the one that had the last slice. */
	if (cfqq_wants_slice(cfqq) && heads->stream != cfqq) {
		heads->stream = cfqq;
		heads->competed_ns = now_ns;
	}
	cfqq->ref++;
	cfqq->cfqd->active_cfqq = cfqq;
	cfqq->slice_start_ns = now_ns;
	cfqq->slice_used_ns = 0;
	cfqq->since_fifo_check = 0;
	trace_cfq_select(cfqq->cfqd, cfqq, &cfqq->entity, "slice");
}

/* So many queues, those most behind, are looked at for a close one. */
#define CFQ_COOPERATORS		16

/*
 * Give the rest of the slice of @active to a queue of its class near the head, no
 * more than a base slice ahead of it; or NULL.
 */
static struct cfq_queue *cfq_pass_slice(const struct cfq_queue *active, u64 now_ns)
{
	struct cfq_entity *entity = cfq_st_first(active->entity.st);
	const struct cfq_driver_data *dd = cfqd_dd(active->cfqd);
	const sector_t head = dd->last_position;

	for (int nr = 0; entity && nr < CFQ_COOPERATORS &&
	     cfq_entity_lead(entity, &active->entity) <= (s64)dd->tun.slice_ns[1];
	     entity = cfq_st_next(entity), nr++) {
		struct cfq_queue *cfqq = entity_to_cfqq(entity);

		if (cfqq->sync && cfqq->nr_queued &&
		    abs_diff(blk_rq_pos(cfqq->next_rq), head) <= CFQ_CLOSE_SECTORS) {
			cfq_expire_active(cfqq->cfqd, now_ns, "close");
			cfq_activate(cfqq, now_ns);
			cfqq->slice_used_ns = active->slice_used_ns;
			return cfqq;
		}
	}
	return NULL;
}

static bool cfq_active_slice_over(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_queue *cfqq = cfqd->active_cfqq;
	u64 since_ns = max(cfqd_dd(cfqd)->charged_until_ns, cfqq->slice_start_ns);
	u64 used_ns = cfqq->slice_used_ns;

	if (cfqq->nr_in_driver && now_ns > since_ns)
		used_ns += now_ns - since_ns;
	return used_ns >= cfqq_slice_ns(cfqq);
}

/* The active queue, if it may send; or NULL, to wait for it unless its slice ended. */
static struct cfq_queue *cfq_select_active(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_queue *cfqq = cfqd->active_cfqq, *close;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	const char *end = "preempted";

	if (cfq_first_better(&cfqd->queues, cfqq->entity.class))
		goto expire;

	if (cfqq->nr_queued) {
		/* It may have been waited for without a slice. */
		const bool slice = cfqq_wants_slice(cfqq);

		end = slice ? "used" : "seeky";
		if (!slice || cfq_active_slice_over(cfqd, now_ns))
			goto expire;
		return cfqq_may_dispatch(cfqq) ? cfqq : NULL;
	}

	end = "drain";
	if (cfq_must_empty(dd))
		goto expire;

	close = cfq_pass_slice(cfqq, now_ns);
	if (close || cfqq->nr_in_driver)
		return close;
	if (cfqq->idle_until_ns > now_ns &&
	    (cfqq_wants_slice(cfqq) || cfqq_worth_waiting(cfqq))) {
		cfq_ask_at(dd, cfqq->idle_until_ns);
		return NULL;
	}
	end = cfqq->owned ? "idle" : "left";
expire:
	cfq_expire_active(cfqd, now_ns, end);
	return NULL;
}

/* The oldest request of an overdue class of @cfqd, or of any if its group is overdue. */
static inline struct request *cfq_overdue_request(struct cfq_data *cfqd,
						  bool group_overdue, u64 now_ns)
{
	struct cfq_entity *entity = cfq_overdue_entity(&cfqd->queues, group_overdue,
						       now_ns, cfq_entity_sends);

	return entity ? cfqq_oldest_rq(entity_to_cfqq(entity)) : NULL;
}

/* Of what takes longer, the device may idle for a part to let somebody go first. */
#define CFQ_LONG_NS	(500 * NSEC_PER_USEC)
#define CFQ_HOLD_PART	8

/*
 * Hold the next request of @cfqq, if it takes long, for those due before it, or
 * before its groups, who have requests in the device, or had until just now.
 * But not for longer than a class may have to wait, nor once another queue of its
 * class in the group has had more: those waited for wait for that one anyway.
 */
static noinline bool cfqq_hold_large(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_entity *entity = &cfqq->entity, *due = NULL;
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	struct cfq_driver_data *dd = &cfqmd->dd;
	u64 long_ns, until_ns = 0;

	if (dd->one_head || cfq_must_empty(dd))
		return false;
	long_ns = cfq_long_ns(dd, cfqq->next_rq);
	if (long_ns < CFQ_LONG_NS ||
	    cfqq->cfqd->sent_ns + cfq_class_wait_ns(dd, long_ns) <= now_ns ||
	    cfq_entity_outrun(entity, cfq_lead_ns(dd, entity, CFQ_MIXED_LEAD_PART),
			      long_ns))
		return false;
	if (!list_empty(&cfqmd->idle_cfqqs))
		until_ns = list_last_entry(&cfqmd->idle_cfqqs, struct cfq_queue,
					   idle_node)->last_end_ns +
			   long_ns / CFQ_HOLD_PART;
	/* cfq_entity_in_driver() does not know it of a group with others below. */
	if (until_ns <= now_ns && !dd->nr_in_driver)
		return false;
	for (; entity; entity = cfq_above(entity)) {
		due = cfq_due_before(entity,
				     cfq_lead_ns(dd, entity, CFQ_MIXED_LEAD_PART),
				     long_ns, now_ns);
		if (due && (until_ns > now_ns || cfq_entity_in_driver(due)))
			break;
	}
	if (!entity)
		return false;
	dd->held_cfqq = cfqq;
	dd->held_for_equal |= due->st == entity->st;
	if (!dd->nr_in_driver)
		cfq_ask_at(dd, until_ns);
	return true;
}

/* Is @cfqq held for a trial of one size?  Real time is not, wherever it is. */
static noinline bool cfqq_hold_for_trial(const struct cfq_queue *cfqq, u64 now_ns)
{
	const struct cfq_entity *entity;

	for (entity = &cfqq->entity; entity; entity = cfq_above(entity))
		if (entity->class == CFQ_CLASS_RT)
			return false;
	return cfq_first_better(&cfqq->cfqd->queues, cfqq->entity.class) ||
	       !cfq_sizes_take(cfqd_dd(cfqq->cfqd), cfqq->next_rq, now_ns);
}

static inline bool cfqq_hold_long(struct cfq_queue *cfqq, u64 now_ns)
{
	if (unlikely(cfqd_dd(cfqq->cfqd)->par.sizes.trial_depth))
		return cfqq_hold_for_trial(cfqq, now_ns);
	return unlikely(blk_rq_bytes(cfqq->next_rq) >= CFQ_LONG_BYTES ||
			!cfq_op_has_data(cfqq->next_rq->cmd_flags)) &&
	       cfqq_hold_large(cfqq, now_ns);
}

static struct cfq_queue *cfq_select_queue(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	struct cfq_queue *cfqq;
	bool slice;

	if (cfqd->active_cfqq) {
		cfqq = cfq_select_active(cfqd, now_ns);
		if (cfqd->active_cfqq)
			return cfqq;
	}

	for (enum cfq_class class = 0; class < CFQ_NR_CLASSES; class++) {
		struct cfq_service_tree *st = &cfqd->queues.of[class];
		struct cfq_entity *entity;

		for (entity = cfq_st_first(st); entity; entity = cfq_st_next(entity)) {
			cfqq = entity_to_cfqq(entity);
			if (!cfq_entity_sends(entity) || cfqq_hold_long(cfqq, now_ns))
				continue;
			slice = cfqq_wants_slice(cfqq);
			/* A slice is only for the group's own turn. */
			if (slice && !cfq_group_has_turn(cfqd))
				continue;
			if (cfq_order_matters(dd) && cfqq_outran_others(cfqq))
				break;
			if (slice)
				cfq_activate(cfqq, now_ns);
			return cfqq;
		}
		if (st->nr && cfq_order_matters(dd))
			break;
	}
	return NULL;
}

/* @rq is sent out of order: it is urgent, or its class is overdue. */
static noinline struct request *cfq_give_first(struct request *rq, u64 now_ns)
{
	struct cfq_queue *cfqq = rq_cfqq(rq);
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;

	cfqq_send_queued(cfqq, rq, now_ns);
	rq->elv.priv[1] = (void *)((unsigned long)rq->elv.priv[1] | RQ_FIRST);
	if (!cfqmd->dd.nr_first_in_driver++)
		cfqmd->dd.first_since_ns = now_ns;
	cfqmd->nr_written_back += cfq_opf_written_back(rq->cmd_flags);
	return rq;
}

/* The next request of @cfqq, or NULL if a sample is waited for. */
static struct request *cfqq_give_request(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	struct request *rq = cfqq->next_rq;

	if (cfqq->nr_queued > 1 && cfqq->since_fifo_check % (u32)dd->tun.quantum == 0 &&
	    now_ns > cfqq_oldest_rq(cfqq)->fifo_time + dd->tun.fifo_expire_ns[cfqq->sync])
		rq = cfqq_oldest_rq(cfqq);
	if (!dd->one_head && cfq_sample_wanted(&dd->par, rq) &&
	    cfq_lacks_sample(dd, rq, now_ns))
		return NULL;
	cfqq_send_queued(cfqq, rq, now_ns);
	return rq;
}

/*
 * The next one in order, or NULL.  The short way is for a queue that has flash
 * to itself.
 */
static struct request *cfq_next_request(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_queue *cfqq = cfqmd->last_cfqq;
	struct request *rq = NULL;
	struct cfq_data *cfqd;

	cfqmd->dd.held_for_equal = false;
	if (!cfqmd->dd.one_head && cfqq && cfqq->nr_queued == cfqmd->nr_queued &&
	    cfqq->nr_in_driver == cfqmd->dd.nr_in_driver &&
	    !cfqq_must_wait(cfqq) && cfqq_may_dispatch(cfqq) &&
	    !cfqq_hold_long(cfqq, now_ns))
		return cfqq_give_request(cfqq, now_ns);

	if (cfqmd->dd.one_head) {
		cfqd = cfq_group_overdue(cfqmd, now_ns);
		rq = cfqd ? cfq_overdue_request(cfqd, true, now_ns) : NULL;
		if (rq)
			return cfq_give_first(rq, now_ns);
	}

	cfqd = NULL;
	while ((cfqd = cfq_group_select(cfqmd, cfqd, now_ns))) {
		rq = cfq_overdue_request(cfqd, false, now_ns);
		if (rq)
			return cfq_give_first(rq, now_ns);
		cfqq = cfq_select_queue(cfqd, now_ns);
		if (cfqq) {
			cfqq_passes_others(cfqq, now_ns);
			rq = cfqq_give_request(cfqq, now_ns);
		}
		if (rq || cfqmd->dd.par.drain)
			break;
	}
	return rq;
}

/*
 * The next urgent request.  What is only written back may have no end, and
 * maybe nobody waits for it: it goes first in every other period of 2^27 ns,
 * few at a time.
 */
#define CFQ_WRITTEN_BACK_SHIFT	27

static struct request *cfq_urgent_request(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const bool written_back = !list_empty(&cfqmd->urgent[0]) &&
				  !(now_ns >> CFQ_WRITTEN_BACK_SHIFT & 1) &&
				  cfqmd->nr_written_back < 2 * cfqmd->dd.tun.quantum;

	return list_first_entry_or_null(&cfqmd->urgent[!written_back], struct request,
					queuelist);
}

/*
 * Urgent requests may have no end: one in order goes between them as often as
 * costs an eighth of the time, or as a class waits.
 */
#define CFQ_OTHER_WAIT_COSTS	8

static noinline struct request *cfq_other_request(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const u64 wait_ns = min(CFQ_CLASS_WAIT_NS, CFQ_OTHER_WAIT_COSTS *
						   cfqmd->dd.mean_cost_ns);

	if (cfqmd->other_sent_ns + wait_ns > now_ns)
		return NULL;
	/* It may be an urgent one, too. */
	cfqmd->other_sent_ns = now_ns;
	return cfq_next_request(cfqmd, now_ns);
}

static struct request *cfq_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;
	struct request *rq;
	u64 now_ns;

	guard(cfq_lock)(cfqmd);
	rq = list_first_entry_or_null(&cfqmd->dispatch, struct request, queuelist);
	if (rq)
		list_del_init(&rq->queuelist);
	if (rq || !cfqmd->nr_queued)
		return rq;

choose:
	/* The time of a plug will do except for charging a disk. */
	now_ns = cfqmd->dd.one_head ? ktime_get_ns() : blk_time_get_ns();
	cfq_end_idle(cfqmd, now_ns);
	rq = cfq_urgent_request(cfqmd, now_ns);
	if (unlikely(rq)) {
		rq = cfq_other_request(cfqmd, now_ns) ?: cfq_give_first(rq, now_ns);
	} else if (!cfq_waits_for_sample(&cfqmd->dd, now_ns) &&
		   !cfq_waits_for_first(&cfqmd->dd, now_ns) &&
		   !cfq_waits_for_data(&cfqmd->dd, now_ns)) {
		do {
			rq = cfq_next_request(cfqmd, now_ns);
		} while (!rq && (cfq_sizes_end_trial(&cfqmd->dd, now_ns) ||
				 cfq_end_stuck(cfqmd, now_ns)));
		cfqmd->other_sent_ns = now_ns;
	}
	if (!rq) {
		cfq_set_withheld(cfqmd, true, now_ns);
		if (unlikely(cfq_done_meanwhile(cfqmd))) {
			cfq_set_withheld(cfqmd, false, now_ns);
			goto choose;
		}
	}
	return rq;
}

static bool cfq_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct cfq_meta_data *cfqmd = hctx->queue->elevator->elevator_data;

	return (READ_ONCE(cfqmd->nr_queued) &&
		(!READ_ONCE(cfqmd->nothing_to_send) || cfq_must_empty(&cfqmd->dd))) ||
	       !list_empty(&cfqmd->dispatch);
}

/* How long, in ns, does a disk wait for the next request of the empty @cfqq? */
static u64 cfqq_idle_window_ns(struct cfq_queue *cfqq, u64 now_ns)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	const bool active = cfqq_is_active(cfqq);
	struct cfq_data *cfqd = cfqq->cfqd;

	if (!cfqq->sync || !cfq_group_has_turn(cfqd) ||
	    cfq_must_empty(dd) || (cfqd->active_cfqq && !active) ||
	    cfq_first_better(&cfqd->queues, cfqq->entity.class))
		return 0;
	if (cfqq_wants_slice(cfqq) && (active ? !cfq_active_slice_over(cfqd, now_ns) :
			cfq_st_first(cfqq->entity.st) == &cfqq->entity))
		return dd->tun.slice_idle_ns;
	return cfqq_worth_waiting(cfqq) ? dd->tun.group_idle_ns : 0;
}

static void cfqq_ran_dry(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	u64 window_ns = 0;

	if (cfqd_dd(cfqd)->one_head && cfqq_on_tree(cfqq)) {
		if (cfqq->sync && cfqq->entity.st->nr == 1)
			cfqq->entity.st->empty_since_ns = now_ns;
		window_ns = cfqq_idle_window_ns(cfqq, now_ns);
	}

	cfqq->last_end_ns = now_ns;
	if (window_ns) {
		list_del_init(&cfqq->idle_node);
		if (!cfqd->active_cfqq)
			cfq_activate(cfqq, now_ns);
		cfqq->idle_until_ns = now_ns + window_ns;
	} else if (cfqq_is_active(cfqq)) {
		cfq_expire_active(cfqd, now_ns,
				  cfq_active_slice_over(cfqd, now_ns) ? "used" : "empty");
	} else {
		cfqq_check_idle(cfqq, now_ns);
	}
}

/* The longest that is charged, as a disk may stand still. */
#define CFQ_FLUSH_NS		(8 * (s64)CFQ_STUCK_NS)

/* So much less others may have taken than usual, by chance, as counts later. */
#define CFQ_FLUSH_LESS_NS	(100 * (s64)NSEC_PER_MSEC)

/*
 * A request was completed beside a flush, or first after it.  Return: how much
 * longer than usual it took since the flush came; less than 0 if it was shorter.
 */
static s64 cfq_taken_by_flush(struct cfq_driver_data *dd, const struct cfq_done *done,
			      s64 spent_ns, s64 cost_ns)
{
	const s64 since_ns = done->end_ns - min(done->end_ns, dd->flush_since_ns);
	const s64 ns = clamp(spent_ns - cost_ns, -since_ns, since_ns);

	dd->flushed = false;
	dd->flush_ns = clamp(dd->flush_ns + ns, -CFQ_FLUSH_LESS_NS, CFQ_FLUSH_NS);
	return ns;
}

static void cfqq_completed(struct cfq_queue *cfqq, const struct cfq_done *done)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_driver_data *dd = cfqd_dd(cfqd);
	s64 estimate_ns = cfq_charged_ns(done->charged);
	u64 spent_ns = cfq_device_completed(dd, done);

	WRITE_ONCE(dd->nr_in_driver, dd->nr_in_driver - 1);
	cfqd->nr_in_driver--;
	cfqq->nr_in_driver--;
	if (unlikely(done->charged & RQ_FIRST)) {
		dd->nr_first_in_driver--;
		if (done->end_ns - cfq_done_in_driver_ns(done) <= dd->first_since_ns)
			dd->first_since_ns = done->end_ns;
		cfqd->cfqmd->nr_written_back -= cfq_opf_written_back(done->opf);
	}

	if (op_is_write(done->opf) && cfqq->owned && !cfqq->shared &&
	    !cfq_opf_urgent(done->opf)) {
		cfqd->cfqmd->sync_writer = cfqq;
		cfqd->cfqmd->sync_written_ns = done->end_ns;
	}
	if (cfq_charges_completed(dd, done->opf)) {
		u64 learn_ns = spent_ns;

		if (unlikely(dd->nr_flushes || dd->flushed) && dd->one_head) {
			spent_ns -= cfq_taken_by_flush(dd, done, spent_ns, cfqq->cost_ns);
			/* Learn by and by what is always so; twice as long is not rare. */
			learn_ns = min(learn_ns, 2 * spent_ns);
		}
		cfqq_charge(cfqq, spent_ns, estimate_ns, "request");
		cfq_average_add(&cfqq->cost_ns, learn_ns);
		cfq_average_add(&dd->mean_cost_ns, learn_ns);
	} else if (unlikely(dd->held_cfqq) && !dd->nr_in_driver &&
		   spent_ns > estimate_ns) {
		/* A part of the device was kept idle for it. */
		cfqq_charge_idle(cfqq, spent_ns - estimate_ns);
	}

	if (!cfqq->nr_queued && !cfqq->nr_in_driver)
		cfqq_ran_dry(cfqq, done->end_ns);
}

/*
 * Is it worth asking for withheld requests after a completion?  A busy device
 * without a head does not run dry, so only once for several, or the processor
 * would be the bottleneck.  If processors are late all the same: once half of
 * what was there, and at least so many, came back.
 */
#define CFQ_STRICT_BATCH	4U

static bool cfq_should_ask_again(struct cfq_meta_data *cfqmd)
{
	const struct cfq_driver_data *dd = &cfqmd->dd;
	const unsigned int half = cfq_full_depth(dd) / 2;

	if (cfq_cpus_late(dd) && !dd->par.drain)
		return ++cfqmd->nr_since_withheld >=
		       max(dd->nr_in_driver, CFQ_STRICT_BATCH) &&
		       dd->pages_in_driver <= half;
	return dd->one_head || dd->pages_in_driver <= half ||
	       ++cfqmd->nr_since_withheld > dd->nr_in_driver / 8;
}

/* Charge what was completed, and drop its references. */
void cfq_take_done(struct cfq_meta_data *cfqmd)
{
	struct cfq_done *done, *next;
	struct llist_node *list;

	lockdep_assert_held(&cfqmd->lock);

	list = llist_del_all(&cfqmd->done);
	if (list && list->next)
		list = llist_reverse_order(list);
	llist_for_each_entry_safe(done, next, list, node) {
		struct cfq_queue *cfqq = done->cfqq;

		if (cfqmd->dd.heads.watched && (done->opf & REQ_OP_MASK) == REQ_OP_READ)
			cfq_heads_completed(&cfqmd->dd, done,
					    cfqmd->dd.heads.duel.of_turns &&
					    !cfqq_seeky(cfqq));
		cfqq_completed(cfqq, done);
		if (unlikely(done->charged & RQ_HELD))
			cfq_group_release(cfqq->cfqd);
		cfqq_count_async(cfqq, -1);
		cfqq_put(cfqq);
	}
}

/* Requests have ended.  Return: whether to run the queues, without the lock. */
static bool cfq_go_on(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	if (unlikely(cfqmd->nr_waiting))
		cfq_admit_waiters(cfqmd);
	if (!cfqmd->withheld)
		return false;
	if (!cfq_should_ask_again(cfqmd)) {
		const bool expected = cfqmd->expected_until_ns > now_ns;

		if (cfqmd->dd.strict && expected)
			cfq_ask_at(&cfqmd->dd, cfqmd->expected_until_ns);
		if (cfqmd->dd.nr_in_driver || expected)
			return false;
	}
	cfq_set_withheld(cfqmd, false, now_ns);
	return cfqmd->nr_queued;
}

static noinline void cfq_take_completed(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	bool kick;

	scoped_guard(cfq_lock_irqsave, cfqmd)
		kick = cfq_go_on(cfqmd, now_ns);
	if (kick)
		blk_mq_run_hw_queues(cfqmd->dd.queue, true);
}

static void rq_to_done(struct request *rq, struct cfq_done *done, u64 now_ns)
{
	done->cfqq = rq_cfqq(rq);
	done->rq = rq;
	done->end_ns = now_ns;
	done->sent = rq->fifo_time;
	done->charged = (unsigned long)rq->elv.priv[1];
	done->position = blk_rq_pos(rq);
	done->opf = rq->cmd_flags;
	rq->elv.priv[0] = NULL;
	rq->elv.priv[1] = NULL;
}

/* @rq was not completed: it @came_back, or was never sent. */
static void cfq_release_request(struct request *rq, bool came_back)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_data *cfqd = rq_cfqq(rq)->cfqd;
	struct cfq_done done;

	rq_to_done(rq, &done, ktime_get_ns());
	scoped_guard(cfq_lock_irqsave, cfqmd) {
		if (rq->rq_flags & RQF_STARTED) {
			/* Do not learn from it. */
			if (cfqmd->dd.par.probe == rq)
				cfqmd->dd.par.probe = NULL;
			cfqmd->dd.par.sizes.size = CFQ_NR_SIZES;
			cfqq_completed(done.cfqq, &done);
		}
		/* It keeps its place within limits. */
		if ((done.charged & RQ_HELD) && came_back)
			rq->elv.priv[1] = cfqd;
		else if (done.charged & RQ_HELD)
			cfq_group_release(cfqd);
		cfqq_count_async(done.cfqq, -1);
		cfqq_put(done.cfqq);
	}
	cfq_take_completed(cfqmd, done.end_ns);
}

/*
 * Leave @done to who takes the lock next.  Return: false if that cannot wait: a
 * head is charged by it, others wait for it, or its task or group has ended.
 */
static bool cfq_leave_done(struct cfq_meta_data *cfqmd, struct cfq_done *done)
{
	const struct cfq_queue *cfqq = done->cfqq;

	/* After this @done and @cfqq are anybody's. */
	guard(rcu)();
	/* A full barrier, as in cfq_done_meanwhile(). */
	llist_add(&done->node, &cfqmd->done);
	return !READ_ONCE(cfqmd->dd.one_head) && !READ_ONCE(cfqmd->withheld) &&
	       !READ_ONCE(cfqmd->nr_waiting) && !cfq_groups_limited() &&
	       READ_ONCE(cfqq->owned);
}

static void cfq_completed_request(struct request *rq, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_done here __uninitialized, *done = &here;

	if (!rq_cfqq(rq))
		return;
	if (likely((unsigned int)rq->internal_tag < cfqmd->nr_records))
		done = &cfqmd->records[rq->mq_hctx->queue_num *
				       cfqmd->record_stride + rq->internal_tag];
	rq_to_done(rq, done, now_ns);
	/* @here is looked at before it goes away. */
	if (!cfq_leave_done(cfqmd, done) || done == &here)
		cfq_take_completed(cfqmd, now_ns);
}

static void cfq_requeue_request(struct request *rq)
{
	if (rq_cfqq(rq))
		cfq_release_request(rq, true);
}

/* No flush of @cic is to come any more, or they are for another queue. */
void cic_leave_flush(struct cfq_io_cq *cic, u64 now_ns)
{
	struct cfq_queue *cfqq = cic->flush_cfqq;

	if (!cfqq)
		return;
	cic->flush_cfqq = NULL;
	cfqq->cfqd->nr_in_driver--;
	if (!--cfqq->nr_in_driver && !cfqq->nr_queued)
		cfqq_ran_dry(cfqq, now_ns);
	cfqq_put(cfqq);
}

/*
 * A request with a flush is done with, or was never sent.  A disk's time for it
 * is charged to the queue that its task used last: what was taken from others
 * meanwhile, or if there was nothing else to do, the time since it came or the
 * last completion; but no more than it was there.  Nobody tells of the flush
 * after data that a disk cannot write through its cache.
 */
static void cic_end_flush(struct cfq_io_cq *cic, struct request *rq, u64 now_ns)
{
	struct cfq_driver_data *dd = &cic_cfqmd(cic)->dd;
	u64 ns;

	if (dd->one_head && rq->flush.seq != RQ_TO_FLUSH) {
		if (!dd->nr_in_driver) {
			dd->charged_until_ns = max(dd->charged_until_ns, rq->fifo_time);
			dd->flush_ns = min_t(s64, dd->flush_ns + cfq_charge_serial(dd, now_ns),
					     CFQ_FLUSH_NS);
		}
		dd->flushed = dd->nr_in_driver;
		ns = clamp_t(s64, dd->flush_ns, 0, now_ns - min(now_ns, rq->fifo_time));
		dd->flush_ns -= ns;
		if (cic->flush_cfqq)
			cfqq_charge(cic->flush_cfqq, ns, 0, "flush");
	}
	if (!--cic->nr_flushes)
		cic_leave_flush(cic, now_ns);
}

static noinline void cfq_end_flush(struct request *rq)
{
	struct cfq_meta_data *cfqmd = rq->q->elevator->elevator_data;
	struct cfq_driver_data *dd = &cfqmd->dd;
	const u64 now_ns = ktime_get_ns();
	bool kick;

	scoped_guard(cfq_lock_irqsave, cfqmd) {
		WRITE_ONCE(dd->nr_flushes, dd->nr_flushes - !!dd->nr_flushes);
		if (rq->elv.icq)
			cic_end_flush(icq_to_cic(rq->elv.icq), rq, now_ns);
		kick = cfq_go_on(cfqmd, now_ns);
	}
	if (kick)
		blk_mq_run_hw_queues(rq->q, true);
}

static void cfq_finish_request(struct request *rq)
{
	/* Data with only a flush after it was a request as others. */
	if (unlikely(rq->flush.seq) && (rq->flush.seq == RQ_TO_FLUSH ||
					!(rq->rq_flags & RQF_STARTED)))
		cfq_end_flush(rq);
	if (rq_cfqq(rq))
		cfq_release_request(rq, false);
	else if (rq->elv.priv[1] || !(rq->rq_flags & RQF_STARTED))
		cfq_give_up_request(rq);
	if (rq->elv.icq)
		put_io_context(rq->elv.icq->ioc);
}

static enum hrtimer_restart cfq_idle_timer(struct hrtimer *timer)
{
	struct cfq_meta_data *cfqmd = container_of(timer, struct cfq_meta_data,
						   dd.idle_timer);

	/* Pairs with cfq_set_withheld(), which may still see it queued. */
	smp_mb();
	WRITE_ONCE(cfqmd->nothing_to_send, false);
	blk_mq_run_hw_queues(cfqmd->dd.queue, true);
	return HRTIMER_NORESTART;
}

/* Set up @cfqd, which is zeroed. */
void cfq_data_init(struct cfq_data *cfqd, struct cfq_meta_data *cfqmd)
{
	cfqd->cfqmd = cfqmd;
	cfqd->ref = 1;
	cfqd->queues.queues = true;
}

/* No new request will come to @cfqd: give up its shared queues. */
void cfq_data_exit(struct cfq_data *cfqd)
{
	struct cfq_queue **slot = &cfqd->shared_cfqq[0][0];
	struct cfq_queue **end = slot + sizeof(cfqd->shared_cfqq) / sizeof(*slot);

	lockdep_assert_held(&cfqd->cfqmd->lock);

	cfq_expire_active(cfqd, ktime_get_ns(), "left");
	for (; slot < end; slot++)
		if (*slot)
			cfqq_disown(*slot);
}

/* The task exits, or the scheduler does.  The io_context lock is held. */
static void cfq_exit_icq(struct io_cq *icq)
{
	struct cfq_io_cq *cic = icq_to_cic(icq);
	struct cfq_meta_data *cfqmd = cic_cfqmd(cic);

	guard(cfq_lock_irqsave)(cfqmd);
	for (enum cfq_slot slot = 0; slot < CFQ_NR_SLOTS; slot++)
		cic_put_cfqq(cic, slot);
	while (cic->nr_admitted)
		cic_end_admission(cic);
	WARN_ON_ONCE(cic->nr_places);
}

static int cfq_init_sched(struct request_queue *q, struct elevator_queue *eq)
{
	struct cfq_meta_data *cfqmd;

	cfqmd = kzalloc_node(sizeof(*cfqmd), GFP_KERNEL, q->node);
	if (!cfqmd)
		return -ENOMEM;

	spin_lock_init(&cfqmd->lock);
	INIT_LIST_HEAD(&cfqmd->dispatch);
	INIT_LIST_HEAD(&cfqmd->urgent[0]);
	INIT_LIST_HEAD(&cfqmd->urgent[1]);
	INIT_LIST_HEAD(&cfqmd->sent_cfqqs);
	INIT_LIST_HEAD(&cfqmd->idle_cfqqs);

	cfq_device_init(&cfqmd->dd, q);
	cfqmd->dd.tun = cfq_default_tunables;
	hrtimer_setup(&cfqmd->dd.idle_timer, cfq_idle_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	cfq_groups_init(cfqmd);
	cfqq_init(&cfqmd->oom_cfqq, &cfqmd->root, true, cfq_effective_ioprio(0));
	cfqmd->oom_cfqq.owned = false;
	eq->elevator_data = cfqmd;
	q->elevator = eq;

	/* One hardware queue at a time asks for requests of the whole queue. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	/* Writeback throttling would second-guess the shares. */
	blk_queue_flag_set(QUEUE_FLAG_DISABLE_WBT_DEF, q);
	wbt_disable_default(q->disk);
	/* Some descriptors are left to those who wait for an answer. */
	q->async_depth = max(cfq_all_descriptors(q) * 3 / 4, 1U);
	cfq_depth_updated(q);
	return 0;
}

static void cfq_exit_sched(struct elevator_queue *eq)
{
	struct cfq_meta_data *cfqmd = eq->elevator_data;
	struct request_queue *q = cfqmd->dd.queue;

	cfq_groups_exit(cfqmd);
	kvfree(cfqmd->records);
	/* What ends above may still have started it. */
	hrtimer_cancel(&cfqmd->dd.idle_timer);
	WARN_ON_ONCE(!list_empty(&cfqmd->dispatch) || cfqmd->nr_queued ||
		     cfqmd->dd.nr_in_driver);

	blk_queue_flag_clear(QUEUE_FLAG_DISABLE_WBT_DEF, q);
	wbt_enable_default(q->disk);
	/* cfq_task_limited() may look at the root group. */
	kfree_rcu_mightsleep(cfqmd);
}

struct elevator_type iosched_cfq = {
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
		.exit_icq		= cfq_exit_icq,
		.init_sched		= cfq_init_sched,
		.exit_sched		= cfq_exit_sched,
	},
	.icq_size		= sizeof(struct cfq_io_cq),
	.icq_align		= __alignof__(struct cfq_io_cq),
	.min_requests		= BLKDEV_DEFAULT_RQ, /* what waits cannot be scheduled */
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
	int ret = cfq_groups_register();

	if (ret)
		return ret;
	ret = elv_register(&iosched_cfq);
	if (ret)
		cfq_groups_unregister();
	return ret;
}

static void __exit cfq_exit(void)
{
	/* Who did module_put() at the end of cfq_repay() may still be in there. */
	synchronize_rcu_tasks();
	elv_unregister(&iosched_cfq);
	cfq_groups_unregister();
}

module_init(cfq_init);
module_exit(cfq_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("CFQ I/O scheduler");
