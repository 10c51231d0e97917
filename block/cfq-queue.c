// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the queues of tasks: their requests, when they are busy,
 * and to which one a request goes.
 */
#include <linux/slab.h>

#include "blk.h"
#include "cfq-queue.h"
#include <trace/events/cfq.h>

/*
 * Does @cfqq read here and there?  Until more than a few seeks are known it is
 * taken to be as its group, and without any to be seeky: a stream shows itself
 * with its second request, but each of many random readers would be waited for.
 */
bool cfqq_seeky(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;

	return cfq_history_seeky(cfqq->seek_history, cfqq->seek_samples) &&
	       (cfqq->seek_samples > CFQ_SEEK_FEW ||
		cfq_history_seeky(cfqd->seek_history, cfqd->seek_samples));
}

/*
 * Is it worth giving @cfqq the head of a disk for itself, and waiting for it?  Not
 * if it had only urgent requests.
 */
bool cfqq_wants_slice(const struct cfq_queue *cfqq)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	return dd->one_head && cfqq->sync && cfqq->owned && dd->tun.slice_idle_ns &&
	       cfqq->last_request_end && cfqq->entity.class != CFQ_CLASS_IDLE &&
	       !cfqq_seeky(cfqq) &&
	       cfq_think_time_within(&cfqq->think, dd->tun.slice_idle_ns);
}

/*
 * Is @cfqq waited for without a slice?  If it is next, would have a request soon,
 * and another class or group got its time, or one that keeps the head.  Alone in
 * its class, another may have one sooner, as of tasks that take turns by a lock,
 * or to commit.  If its task is gone: a new one, as of a script, and only while
 * somebody else wants the disk.
 */
bool cfqq_worth_waiting(struct cfq_queue *cfqq)
{
	struct cfq_entity *next = cfq_st_next(&cfqq->entity);
	struct cfq_service_tree *st = cfqq->entity.st;
	const struct cfq_think_time *think = st->nr == 1 ? &st->think :
		cfqq->owned ? &cfqq->think : &cfqq->cfqd->new_task;

	return (cfqq->owned || cfqq->cfqd->cfqmd->nr_queued) &&
	       cfq_st_first(st) == &cfqq->entity &&
	       (!next || cfqq_keeps_head(entity_to_cfqq(next))) &&
	       cfq_think_time_within(think, cfqd_dd(cfqq->cfqd)->tun.group_idle_ns);
}

/* Is the first queue of @cfqd one that keeps the head? */
bool cfq_data_wants_head(struct cfq_data *cfqd)
{
	struct cfq_entity *first = cfq_first_better(&cfqd->queues, CFQ_NR_CLASSES);

	return first && cfqq_keeps_head(entity_to_cfqq(first));
}

/* Shorter where many wait for theirs; who is not of its class does not count. */
u64 cfqq_slice_ns(const struct cfq_queue *cfqq)
{
	const struct cfq_tunables *tun = &cfqd_dd(cfqq->cfqd)->tun;
	u64 slice_ns = cfq_prio_slice_ns(tun->slice_ns[cfqq->sync],
					 IOPRIO_PRIO_LEVEL(cfqq->ioprio));

	return !tun->low_latency || !cfqq->sync ? slice_ns :
	       cfq_latency_slice_ns(tun, slice_ns,
				    min(cfqq->cfqd->nr_sync_busy,
					cfq_entity_tree(&cfqq->entity)->nr));
}

static void cfqq_update_weight(struct cfq_queue *cfqq)
{
	const struct cfq_tunables *tun = &cfqd_dd(cfqq->cfqd)->tun;
	u64 slice_ns = cfq_prio_slice_ns(tun->slice_ns[cfqq->sync],
					 IOPRIO_PRIO_LEVEL(cfqq->ioprio));

	cfq_entity_set_weight(&cfqq->entity,
			      cfq_slice_weight(slice_ns, tun->slice_ns[1]));
}

/*
 * Favour.  A program that starts reads here and there, one request after the
 * other, and its part of a disk is small beside many streams.  So with
 * low_latency one queue at a time that is neither a stream nor old has the
 * larger half of its group's time, from its first request on, as beside very
 * many streams the wait for a few would be long: a new queue is no stream until
 * its second request follows the first.  All that is paid from a budget of the
 * group, which fills up by a part of what all others have: there is nothing in
 * it for who forks or pauses, and other groups do not notice.
 */
#define CFQ_FAVOURS_NS		(3 * (s64)NSEC_PER_SEC)
#define CFQ_FAVOURS_PART	16

static bool cfqq_favourable(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;

	return cfqd_dd(cfqd)->tun.low_latency && cfqd->favours_ns < CFQ_FAVOURS_NS &&
	       cfqq->served_ns < CFQ_FAVOURS_NS && cfqq->sync && !cfqq->shared &&
	       (cfq_history_seeky(cfqq->seek_history, cfqq->seek_samples) ||
		!cfqq_wants_slice(cfqq)) &&
	       !cfq_class_outranked(&cfqd->queues, cfqq->entity.class);
}

/*
 * @cfqq, on its tree, of a disk, has a request: favour it, if it is worth it, while
 * others keep the head for long.  Among seeky ones it would leave the disk nothing
 * to put in order.  It is due at once then; who is more than a base slice ahead,
 * as in debt, is not favoured.
 */
void cfqq_favour(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	const u64 idle_ns = cfqd_dd(cfqd)->tun.slice_idle_ns;
	const struct cfq_queue *other = cfqd->favoured_cfqq;
	s64 ahead, ahead_ns;

	if (cfqd->head_kept_ns + NSEC_PER_SEC <= now_ns) {
		cfqd->favoured_cfqq = NULL;
		return;
	}
	if (other && cfqq_favourable(other) &&
	    (cfqq_on_tree(other) || other->last_end_ns + idle_ns > now_ns))
		return;
	if (!cfqq_favourable(cfqq))
		return;
	ahead = max((s64)(cfqq->entity.vdisktime - cfqq->entity.st->min_vdisktime), 0);
	ahead_ns = div_s64(ahead * cfqq->entity.weight, CFQ_WEIGHT_DEFAULT);
	if (ahead_ns > (s64)cfqd_dd(cfqd)->tun.slice_ns[1])
		return;
	cfqd->favoured_cfqq = cfqq;
	cfqd->favours_ns += ahead_ns;
	cfq_entity_advance(&cfqq->entity, -ahead);
}

void cfqq_count_favour(struct cfq_queue *cfqq, u64 spent_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	cfqq->served_ns += spent_ns;
	if (cfqd->favoured_cfqq != cfqq)
		cfqd->favours_ns = max(cfqd->favours_ns -
				       (s64)(spent_ns / CFQ_FAVOURS_PART), 0LL);
	else if (!cfqq_favourable(cfqq))
		cfqd->favoured_cfqq = NULL;
}

/* What @cfqq sends after @rq: the nearest, or the oldest. */
static struct request *cfqq_rq_after(const struct cfq_queue *cfqq, struct request *rq)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	/* What is urgent is not there. */
	if (!dd->one_head && !list_empty(&cfqq->fifo))
		return rq_entry_fifo(cfqq->fifo.next);
	return cfq_nearer_rq(dd, elv_rb_latter_request(rq->q, rq) ?:
			     rb_entry_rq(rb_first(&cfqq->sort_list)),
			     elv_rb_former_request(rq->q, rq));
}

void cfqq_unlink_rq(struct cfq_queue *cfqq, struct request *rq)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct request_queue *q = rq->q;

	list_del_init(&rq->queuelist);
	if (cfqq->next_rq == rq)
		cfqq->next_rq = cfqq->nr_queued > 1 ? cfqq_rq_after(cfqq, rq) : NULL;
	elv_rb_del(&cfqq->sort_list, rq);
	/* Of a shared queue, or something was merged to its end. */
	if (ELV_ON_HASH(rq))
		elv_rqhash_del(q, rq);
	if (q->last_merge == rq)
		q->last_merge = NULL;
	WRITE_ONCE(cfqq->nr_queued, cfqq->nr_queued - 1);
	WRITE_ONCE(cfqd->cfqmd->nr_queued, cfqd->cfqmd->nr_queued - 1);
	cfqd->cfqmd->nr_before_flush -= !!(rq->rq_flags & RQF_FLUSH_SEQ);
	if (!--cfqd->nr_queued)
		cfq_group_ready(cfqd, -1);
}

/* Waiting for @cfqq, if somebody does, is over. */
static void cfqq_end_wait(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);

	if (cfqq->idle_until_ns && !dd->nr_in_driver)
		cfqq_charge_idle(cfqq,
				 cfq_charge_serial(dd, min(now_ns, cfqq->idle_until_ns)));
	cfqq->idle_until_ns = 0;
}

/* A new queue may take the place of @cfqq, whose task is gone, or of one further ahead. */
static void cfqq_note_left(const struct cfq_queue *cfqq)
{
	struct cfq_service_tree *st = cfq_entity_tree(&cfqq->entity);
	const s64 lead = cfqq->entity.vdisktime - st->min_vdisktime;

	/* On flash one may be ahead of its equals by any time. */
	if (!cfqd_dd(cfqq->cfqd)->one_head || !cfqq->sync || !cfqq->sent_ns)
		return;
	st->left_ns = max(st->left_ns, cfqq->last_end_ns);
	if ((s64)(st->left_vdisktime - st->min_vdisktime) <= max(lead, 0LL))
		st->left_vdisktime = cfqq->entity.vdisktime;
}

/*
 * @cfqq, of a disk, is new.  Of tasks that come one after another, as those of a
 * script, each takes the place of the one before; but a slice ahead at most, so
 * that it can still be favoured.
 */
static void cfqq_take_place(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_service_tree *st = cfq_entity_tree(&cfqq->entity);
	struct cfq_data *cfqd = cfqq->cfqd;
	const struct cfq_tunables *tun = &cfqd_dd(cfqd)->tun;
	const u64 slice_ns = min(cfqq_slice_ns(cfqq), tun->slice_ns[1]);
	struct cfq_queue *active = cfqd->active_cfqq;
	s64 lead;

	if (active && active->entity.st == st && !active->owned && active->idle_until_ns) {
		cfqq_end_wait(active, now_ns);
		cfqq_note_left(active);
	}
	cfq_add_think_time(&cfqd->new_task, tun, st->left_ns, now_ns);
	cfqq->last_end_ns = st->left_ns;
	lead = st->left_vdisktime - st->min_vdisktime;
	cfqq->entity.vdisktime = st->min_vdisktime +
				 min(lead, cfq_vdisktime_delta(slice_ns, cfqq->entity.weight));
	st->left_ns = 0;
}

/* @cfqq, on no tree, has a request; an @urgent one needs no turn. */
void cfqq_add_busy(struct cfq_queue *cfqq, bool urgent, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;
	struct cfq_service_tree *st = cfq_entity_tree(&cfqq->entity);
	const struct cfq_driver_data *dd = cfqd_dd(cfqd);
	s64 credit_ns = 0;
	u64 away_ns;

	if (dd->one_head && cfqq->sync && !cfqq->shared && !cfqq->sent_ns)
		cfqq_take_place(cfqq, now_ns);
	/* The time of a plug may be before its last request's end. */
	away_ns = now_ns - min(now_ns, cfqq->last_end_ns);
	/*
	 * A new queue comes in a request later (block/cfq-sched.h).  On a disk one
	 * that was away, or whose place it takes, gets up to a slice back, a full one
	 * only if it was just now, and is as good as new after a while.
	 */
	if (dd->one_head && away_ns < dd->tun.slice_idle_ns) {
		credit_ns = dd->tun.slice_ns[1];
	} else if (!cfqq->sent_ns) {
		credit_ns = -min_t(s64, cfqq->cost_ns, dd->tun.slice_ns[1]);
	} else if (dd->one_head) {
		credit_ns = cfqq_slice_ns(cfqq);
		cfqq->served_ns -= min(cfqq->served_ns, away_ns / CFQ_FAVOURS_PART);
	}
	cfq_st_add(st, &cfqq->entity, credit_ns);
	cfqd->nr_sync_busy += cfqq->sync;
	cfq_group_became_busy(cfqd, urgent, now_ns);
}

/*
 * A flush of @cic is to come.  To others it is as a request of its last queue in the
 * disk: they wait for it, or do not, and what comes after it is waited for.  Not so
 * if a thread wrote for that long ago.
 */
void cic_begin_flush(struct cfq_io_cq *cic, u64 now_ns)
{
	struct cfq_queue *cfqq = cic_last_sync(cic);
	const struct cfq_tunables *tun;
	struct cfq_service_tree *st;
	struct cfq_data *cfqd;

	cic->nr_flushes++;
	if (!cfqq || cfqq == cic->flush_cfqq || !cfqd_dd(cfqq->cfqd)->one_head ||
	    ((current->flags & PF_KTHREAD) && cfqq == cic_cfqq(cic, CFQ_SLOT_BEHALF) &&
	     (!cfqq->owned || cfqq->sent_ns + NSEC_PER_SEC <= now_ns)))
		return;
	cic_leave_flush(cic, now_ns);
	cfqd = cfqq->cfqd;
	tun = &cfqd_dd(cfqd)->tun;
	st = cfq_entity_tree(&cfqq->entity);
	cfqq_end_wait(cfqq, now_ns);
	if (!cfqq->nr_queued && !cfqq->nr_in_driver)
		cfq_add_think_time(&cfqq->think, tun, cfqq->last_end_ns, now_ns);
	cfq_add_think_time(&st->think, tun, st->empty_since_ns, now_ns);
	st->empty_since_ns = 0;
	if (!cfqq_on_tree(cfqq))
		cfqq_add_busy(cfqq, true, now_ns);
	if (!cfqq->nr_queued) {
		cfqq->lost_ns = now_ns + cfq_stuck_ns(cfqd_dd(cfqd));
		list_move_tail(&cfqq->idle_node, &cfqd->cfqmd->sent_cfqqs);
	}
	cfqq->sent_ns = now_ns;
	cfqq->nr_in_driver++;
	cfqd->nr_in_driver++;
	cfqq->ref++;
	cic->flush_cfqq = cfqq;
}

/*
 * Must @cfqq wait for others, where order matters?  On a disk if it is a slice
 * ahead, or ahead at all and keeps the head: who is behind is in the disk, and
 * due next.  Elsewhere only for another level: to hold a flood back for a lone
 * reader costs some of the device.  Async queues are bounded in another way.
 */
bool cfqq_outran_others(const struct cfq_queue *cfqq)
{
	const struct cfq_driver_data *dd = cfqd_dd(cfqq->cfqd);
	const struct cfq_entity *own = &cfqq->entity;
	struct cfq_entity *first = cfq_st_first(own->st);

	if (dd->one_head)
		return cfq_entity_lead(own, first) > dd->tun.slice_ns[1] ||
		       (first != own && entity_to_cfqq(first)->sync &&
			cfqq_keeps_head(cfqq));
	return cfqq->sync && entity_to_cfqq(first)->sync &&
	       first->weight != own->weight &&
	       cfq_entity_lead(own, first) > cfq_lead_ns(dd, own, CFQ_MIXED_LEAD_PART);
}

/* It has had nothing to do since @now_ns. */
void cfqq_leave(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	list_del_init(&cfqq->idle_node);
	cfq_st_del(&cfqq->entity);
	if (!cfqq->owned && cfqq != &cfqd->cfqmd->oom_cfqq)
		cfqq_note_left(cfqq);
	cfqd->nr_sync_busy -= cfqq->sync;
	if (!cfq_trees_busy(&cfqd->queues))
		cfq_group_not_busy(cfqd, now_ns);
}

/*
 * Stop waiting for what hangs in the device: also for a flush, if it waits for data
 * that is queued.  Return: whether something did.
 */
bool cfq_end_stuck(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_queue *cfqq;
	bool ended = false;

	lockdep_assert_held(&cfqmd->lock);

	while ((cfqq = list_first_entry_or_null(&cfqmd->sent_cfqqs,
						struct cfq_queue, idle_node)) &&
	       (cfqq->lost_ns <= now_ns ||
		(cfqmd->nr_before_flush && !cfqmd->dd.nr_in_driver))) {
		if (cfqq_is_active(cfqq))
			cfq_expire_active(cfqq->cfqd, now_ns, "idle");
		cfqq_leave(cfqq, now_ns);
		ended = true;
	}
	return ended;
}

/* If @cfqq has nothing to do it leaves its tree, now or in a moment. */
void cfqq_check_idle(struct cfq_queue *cfqq, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	const struct cfq_driver_data *dd = &cfqmd->dd;

	if (!cfqq_on_tree(cfqq) || cfqq->nr_queued || cfqq->nr_in_driver)
		return;
	if (dd->one_head || !dd->tun.group_idle_ns || !cfqq->owned) {
		cfqq_leave(cfqq, now_ns);
		return;
	}
	list_move_tail(&cfqq->idle_node, &cfqmd->idle_cfqqs);
	cfqmd->expected_until_ns = max(cfqmd->expected_until_ns,
				       now_ns + dd->tun.group_idle_ns);
}

/* The device, or a part of it, was kept idle for @cfqq. */
void cfqq_charge_idle(struct cfq_queue *cfqq, u64 ns)
{
	cfqq_charge(cfqq, ns, 0, "idle");
	cfq_group_count(cfqq->cfqd, CFQ_STAT_IDLE, ns);
}

/* End the slice of @cfqd, if there is one; @end says why. */
void cfq_expire_active(struct cfq_data *cfqd, u64 now_ns, const char *end)
{
	struct cfq_queue *cfqq = cfqd->active_cfqq;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (!cfqq)
		return;
	cfqq_end_wait(cfqq, now_ns);
	cfqd->active_cfqq = NULL;
	trace_cfq_expire(cfqd, cfqq, cfqq->slice_used_ns, end);
	cfqq_check_idle(cfqq, now_ns);
	cfqq_put(cfqq);
}

static noinline void cfqq_free(struct cfq_queue *cfqq)
{
	struct cfq_data *cfqd = cfqq->cfqd;

	if (WARN_ON_ONCE(cfqq->nr_queued || cfqq->nr_in_driver || cfqq_is_active(cfqq)))
		return;
	if (cfqq_on_tree(cfqq))
		cfqq_leave(cfqq, cfqq->last_end_ns);
	if (cfqd->favoured_cfqq == cfqq)
		cfqd->favoured_cfqq = NULL;
	if (cfqd->cfqmd->last_cfqq == cfqq)
		cfqd->cfqmd->last_cfqq = NULL;
	kfree_rcu(cfqq, rcu);
	cfq_group_put(cfqd);
}

/* RCU frees it, and who has the lock is a reader: it may be looked at until then. */
void cfqq_put(struct cfq_queue *cfqq)
{
	lockdep_assert_held(&cfqq->cfqd->cfqmd->lock);

	if (!--cfqq->ref)
		cfqq_free(cfqq);
}

/*
 * Who handed out @cfqq lets go of it; requests may remain.  A timer sends what
 * waits for it, as the caller may hold locks.
 */
void cfqq_disown(struct cfq_queue *cfqq)
{
	struct cfq_meta_data *cfqmd = cfqq->cfqd->cfqmd;
	bool waited_for = cfqmd->dd.strict;

	WRITE_ONCE(cfqq->owned, false);
	if (cfqmd->sync_writer == cfqq)
		cfqmd->sync_writer = NULL;
	if (!cfqq_on_tree(cfqq))
		cfqq_note_left(cfqq);
	if (cfqq->nr_in_driver)
		cfq_done_meanwhile(cfqmd);
	if (cfqq_is_active(cfqq) && !cfqq->nr_queued && !cfqq_worth_waiting(cfqq)) {
		cfq_expire_active(cfqq->cfqd, ktime_get_ns(), "left");
		waited_for = true;
	}
	if (waited_for && cfqmd->withheld)
		cfq_ask_at(&cfqmd->dd, 0);
	cfqq_put(cfqq);
}

/* @cfqq is all zeroes; @ioprio is an effective one. */
void cfqq_init(struct cfq_queue *cfqq, struct cfq_data *cfqd, bool sync,
	       unsigned short ioprio)
{
	cfqq->cfqd = cfqd;
	cfqq->ref = 1;
	cfqq->owned = true;
	cfqq->sync = sync;
	INIT_LIST_HEAD(&cfqq->fifo);
	INIT_LIST_HEAD(&cfqq->idle_node);
	cfqq->entity.trees = &cfqd->queues;
	cfqq->entity.class = cfq_ioprio_to_class(ioprio);
	cfqq->ioprio = ioprio;
	cfqq->cost_ns = cfqd_dd(cfqd)->mean_cost_ns;
	cfqq_update_weight(cfqq);
}

static struct cfq_queue *cfqq_alloc(struct cfq_data *cfqd, bool sync,
				    unsigned short ioprio)
{
	struct cfq_queue *cfqq;

	cfqq = kzalloc_node(sizeof(*cfqq), GFP_NOWAIT, cfqd_dd(cfqd)->queue->node);
	if (!cfqq)
		return NULL;
	cfqd->ref++;
	cfqq_init(cfqq, cfqd, sync, ioprio);
	cfqq->pid = current->pid;
	return cfqq;
}

/* The shared queue of @cfqd, with a reference. */
static struct cfq_queue *cfqd_get_shared_cfqq(struct cfq_data *cfqd, bool sync,
					      unsigned short ioprio)
{
	const unsigned int nr = cfq_ioprio_to_class(ioprio) * IOPRIO_NR_LEVELS +
				IOPRIO_PRIO_LEVEL(ioprio);
	struct cfq_queue **slot = &cfqd->shared_cfqq[sync][min(nr, CFQ_NR_SHARED - 1U)];

	if (!*slot) {
		*slot = cfqq_alloc(cfqd, sync, ioprio);
		if (!*slot)
			return NULL;
		(*slot)->shared = true;
	}
	cfqq_update_weight(*slot);
	(*slot)->ref++;
	return *slot;
}

void cic_put_cfqq(struct cfq_io_cq *cic, enum cfq_slot slot)
{
	struct cfq_queue *cfqq = cic_cfqq(cic, slot);

	if (!cfqq)
		return;
	RCU_INIT_POINTER(cic->cfqq[slot], NULL);
	if (slot < CFQ_SLOT_SYNC)
		cfqq_put(cfqq);
	else
		cfqq_disown(cfqq);
}

/*
 * A new queue of @cfqc, without a reference, or NULL: the task moved there or
 * works for it, and leaves its old queues to their requests.  Needs RCU.
 */
struct cfq_queue *cic_renew_cfqq(struct cfq_io_cq *cic, struct cfq_cgroup *cfqc,
				 enum cfq_slot slot, unsigned short ioprio)
{
	struct cfq_data *cfqd = cfq_group_of(cic_cfqmd(cic), cfqc);
	struct cfq_queue *cfqq;
	enum cfq_slot other;

	cic_put_cfqq(cic, slot);
	for (other = CFQ_SLOT_SYNC; slot >= CFQ_SLOT_SYNC &&
	     other < CFQ_NR_SLOTS; other++) {
		cfqq = cic_cfqq(cic, other);
		if (cfqq && cfqq->cfqd->cfqc != cfqc)
			cic_put_cfqq(cic, other);
	}
	cfqq = slot >= CFQ_SLOT_SYNC ? cfqq_alloc(cfqd, true, ioprio) :
		cfqd_get_shared_cfqq(cfqd, slot != CFQ_SLOT_ASYNC, ioprio);
	rcu_assign_pointer(cic->cfqq[slot], cfqq);
	return cfqq;
}

/* Does another task that shares the io_context still use @cfqq? */
bool cic_shares_cfqq(const struct cfq_io_cq *cic, const struct cfq_queue *cfqq, u64 now_ns)
{
	return atomic_read(&cic->icq.ioc->active_ref) > 1 &&
	       (cfqq->nr_queued || cfqq->nr_in_driver ||
		cfqq->sent_ns + NSEC_PER_SEC > now_ns);
}

/* A thread that sends so soon after a task's write does it for this one. */
#define CFQ_CAUSE_NS		NSEC_PER_MSEC

/*
 * For whose queue does a kernel thread write @rq to a journal?  On a disk, unless it
 * is told, for that whose write was just completed, and which has sent none since:
 * the memory of a block of inodes is of who was the first to read it.  Without a
 * head, where there may be one all the time, only if memory does not tell.  Else
 * for which it began.  Return: NULL if it is told, with @slot and @cfqc, or its own.
 */
static noinline struct cfq_queue *
cfq_journal_cfqq(struct cfq_io_cq *cic, struct request *rq, enum cfq_slot *slot,
		 struct cfq_cgroup **cfqc, u64 now_ns)
{
	struct cfq_queue *last = cic_cfqq(cic, CFQ_SLOT_BEHALF), *cause;
	const struct cfq_meta_data *cfqmd = cic_cfqmd(cic);
	struct bio *bio;

	cause = cfqmd->sync_written_ns + CFQ_CAUSE_NS > now_ns ? cfqmd->sync_writer : NULL;
	if (!cause || !cfqmd->dd.one_head || cfq_opf_written_back(rq->cmd_flags) ||
	    cfq_bio_told(rq->bio)) {
		__rq_for_each_bio(bio, rq) {
			*slot = cfq_bio_slot(bio, cfqc);
			if (*slot == CFQ_SLOT_BEHALF)
				return NULL;
		}
	}
	if (!cause && last && last->owned && last->sent_ns + NSEC_PER_SEC > now_ns)
		cause = last;
	if (!cause || (IS_ENABLED(CONFIG_CFQ_CGROUP) && !cause->cfqd->cfqc))
		return NULL;
	if (cause != last) {
		cic_put_cfqq(cic, CFQ_SLOT_BEHALF);
		cause->ref++;
		rcu_assign_pointer(cic->cfqq[CFQ_SLOT_BEHALF], cause);
	}
	WRITE_ONCE(cic->sync_slot, CFQ_SLOT_BEHALF);
	return cause;
}

/*
 * The queue for @rq of the current task, without a reference, or NULL.  If
 * tasks of several groups share an io_context, its own queue is that of one of
 * them, and the others use the shared ones of their groups.
 */
struct cfq_queue *cic_get_cfqq(struct cfq_io_cq *cic, struct request *rq, u64 now_ns)
{
	unsigned short ioprio = cfq_effective_ioprio(req_get_ioprio(rq));
	struct cfq_cgroup *cfqc;
	struct cfq_queue *cfqq;
	enum cfq_slot slot;

	guard(rcu)();
	slot = cfq_bio_slot(rq->bio, &cfqc);
	if (unlikely(cfq_opf_urgent(rq->cmd_flags)) &&
	    slot != CFQ_SLOT_ASYNC && op_is_write(req_op(rq)) &&
	    (current->flags & PF_KTHREAD)) {
		cfqq = cfq_journal_cfqq(cic, rq, &slot, &cfqc, now_ns);
		if (cfqq)
			return cfqq;
	}

	cfqq = cic_cfqq(cic, slot);
	if (slot >= CFQ_SLOT_SYNC && cfqq && cfqq->cfqd->cfqc != cfqc &&
	    cic_shares_cfqq(cic, cfqq, now_ns)) {
		slot = CFQ_SLOT_BEHALF;
		cfqq = cic_cfqq(cic, slot);
	}
	if (slot >= CFQ_SLOT_BEHALF)
		WRITE_ONCE(cic->sync_slot, slot);
	if (unlikely(!cfqq || cfqq->cfqd->cfqc != cfqc ||
		     (cfqq->shared ? cfqq->ioprio != ioprio : slot < CFQ_SLOT_SYNC)))
		return cic_renew_cfqq(cic, cfqc, slot, ioprio);
	/* That of async queues depends on the tunables. */
	if (unlikely(cfqq->ioprio != ioprio || slot == CFQ_SLOT_ASYNC)) {
		cfqq->ioprio = ioprio;
		cfqq_update_weight(cfqq);
	}
	return cfqq;
}
