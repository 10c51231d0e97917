/* SPDX-License-Identifier: GPL-2.0 */
/* CFQ I/O scheduler: what the files of the per-task layer share. */
#ifndef CFQ_QUEUE_H
#define CFQ_QUEUE_H

#include <linux/cred.h>

#include "elevator.h"
#include "blk-mq.h"
#include "blk-mq-debugfs.h"

#include "cfq-layers.h"

/*
 * The queues of a task on a device: its own from CFQ_SLOT_SYNC on, one for each
 * class; before these the shared ones that it used last, or, of a journal's
 * thread, that for which it wrote.
 */
enum cfq_slot {
	CFQ_SLOT_ASYNC,
	CFQ_SLOT_BEHALF,	/* sync, for another group, or of who commits */
	CFQ_SLOT_SYNC,
	CFQ_NR_SLOTS = CFQ_SLOT_SYNC + CFQ_NR_CLASSES,
};

/* A task on a device.  It owns references on its queues, read under cfqmd->lock or RCU. */
struct cfq_io_cq {
	struct io_cq		icq;	/* must be first */
	struct cfq_queue __rcu	*cfqq[CFQ_NR_SLOTS];
	enum cfq_slot		sync_slot;	/* of the last sync request, or first flush */

	/* Flushes to come or in the device. */
	struct cfq_queue	*flush_cfqq;	/* charged for them, a reference; or NULL */
	unsigned int		nr_flushes;

	/* Places for requests without a descriptor, in one group. */
	struct cfq_data		*places;	/* owns a reference for each */
	unsigned int		nr_places;

	/* Those let in, of one group's line, whose next requests are not queued yet. */
	struct cfq_data		*admitted;	/* owns a reference for each */
	unsigned int		nr_admitted;
};

static inline struct cfq_io_cq *icq_to_cic(struct io_cq *icq)
{
	return container_of(icq, struct cfq_io_cq, icq);
}

static inline struct cfq_queue *rq_cfqq(struct request *rq)
{
	return rq->elv.priv[0];
}

/*
 * While a request is in the device (RQF_STARTED), elv.priv[1] holds what it was
 * charged in advance, in ns, and flags: sent out of order, and, from insertion on,
 * counted within limits.
 */
#define RQ_FIRST	1UL
#define RQ_HELD		2UL
#define RQ_FLAGS	(RQ_FIRST | RQ_HELD)

/* In flush.seq until the flush begins. */
#define RQ_TO_FLUSH	BIT(31)

static inline unsigned long cfq_charged_ns(unsigned long charged)
{
	return charged & ~RQ_FLAGS;
}

static inline unsigned long rq_set_charged(struct request *rq, u64 ns)
{
	const unsigned long charged = cfq_charged_ns(min_t(u64, ns, NSEC_PER_SEC));

	rq->elv.priv[1] = (void *)((unsigned long)rq->elv.priv[1] | charged);
	return charged;
}

static inline sector_t rq_end_sector(const struct request *rq)
{
	return blk_rq_pos(rq) + blk_rq_sectors(rq);
}

static inline struct cfq_queue *entity_to_cfqq(struct cfq_entity *entity)
{
	return container_of(entity, struct cfq_queue, entity);
}

static inline struct cfq_driver_data *cfqd_dd(const struct cfq_data *cfqd)
{
	return &cfqd->cfqmd->dd;
}

static inline struct cfq_meta_data *cic_cfqmd(const struct cfq_io_cq *cic)
{
	return cic->icq.q->elevator->elevator_data;
}

/* Needs cfqmd->lock or RCU. */
static inline struct cfq_queue *cic_cfqq(const struct cfq_io_cq *cic, enum cfq_slot slot)
{
	return rcu_dereference_check(cic->cfqq[slot],
				     lockdep_is_held(&cic_cfqmd(cic)->lock));
}

static inline bool cfqq_is_active(const struct cfq_queue *cfqq)
{
	return cfqq->cfqd->active_cfqq == cfqq;
}

/*
 * Urgent requests: for metadata, the journal or swap space, or what
 * cfq_task_holds_up() and cfq_bio_holds_up() find.  What holds them up holds up
 * others of whatever class and group, who wait for a lock or a transaction.  So
 * they wait for no limit, no line and no turn, and are sent before all others,
 * of which one goes now and then (cfq_other_request()).  What is only written
 * back goes first for half of the time, and few at once (cfq_urgent_request()).
 *
 * They are charged to whom they are for, whose other requests wait the longer.
 * As a task may send nothing else, there is debt (block/cfq-sched.h): in debt,
 * reads and swap are not urgent unless for others (rq_for_others()), and
 * writes, or reads with a transaction open, go as if written back.
 *
 * Their descriptors: cfq_set_urgent_depth().
 */
static inline bool cfq_opf_urgent(blk_opf_t opf)
{
	return opf & (REQ_META | REQ_PRIO | REQ_SWAP);
}

/*
 * Is it an urgent one that is only written back, swapped out, or of who is in
 * debt (cfqq_jumps())?  What a journal writes has REQ_IDLE.
 */
static inline bool cfq_opf_written_back(blk_opf_t opf)
{
	return (opf & REQ_BACKGROUND) || (op_is_write(opf) && !(opf & REQ_IDLE));
}

/*
 * Is it urgent without a mark: a read with a transaction open, or data that a
 * journal's thread writes before it commits?
 */
static inline bool cfq_task_holds_up(blk_opf_t opf)
{
	const unsigned int flags = PF_KTHREAD | PF_MEMALLOC_NOFS;

	if ((opf & REQ_OP_MASK) == REQ_OP_READ)
		return current->journal_info;
	/* A thread with a transaction open, as of an NFS server, is no journal's. */
	return (opf & REQ_OP_MASK) == REQ_OP_WRITE && op_is_sync(opf) &&
	       !current->journal_info &&
	       (current->flags & (flags | PF_WQ_WORKER)) == flags;
}

/*
 * Do others wait for an urgent request of this kernel thread?  Not for what it
 * reads as somebody else, as NFS and SMB servers do.
 */
static inline bool cfq_thread_holds_up(blk_opf_t opf)
{
	return (current->flags & PF_KTHREAD) &&
	       (op_is_write(opf) || current->journal_info ||
		current_cred() == current_real_cred());
}

/* The oldest request of @cfqq that is not urgent, or the next one. */
static inline struct request *cfqq_oldest_rq(struct cfq_queue *cfqq)
{
	struct request *rq = list_first_entry_or_null(&cfqq->fifo,
						      struct request, queuelist);

	return rq && rq->fifo_time <= cfqq->next_rq->fifo_time ? rq :
								 cfqq->next_rq;
}

static inline bool cfqq_on_tree(const struct cfq_queue *cfqq)
{
	return cfqq->entity.st;
}

/*
 * May @cfqq send one more?  Writes that nobody waits for must not fill the
 * device, and an active queue should leave it soon when its slice ends.
 */
static inline bool cfqq_may_dispatch(const struct cfq_queue *cfqq)
{
	const struct cfq_data *cfqd = cfqq->cfqd;
	const struct cfq_tunables *tun = &cfqd_dd(cfqd)->tun;

	if (!cfqq->sync)
		return !cfqd->nr_sync_busy || cfqq->nr_in_driver <
		       tun->slice_async_rq * (8 - IOPRIO_PRIO_LEVEL(cfqq->ioprio));
	return !cfqq_is_active(cfqq) || cfqq->entity.st->nr == 1 ||
	       cfqq->nr_in_driver < tun->quantum;
}

/* The better one to send next; either may be NULL. */
static inline struct request *cfq_nearer_rq(const struct cfq_driver_data *dd,
					    struct request *a, struct request *b)
{
	if (!a || !b)
		return a ?: b;
	return cfq_seek_cost(dd, blk_rq_pos(b)) <
	       cfq_seek_cost(dd, blk_rq_pos(a)) ? b : a;
}

/* Does @cfqq, on a disk, keep it busy for long? */
static inline bool cfqq_keeps_head(const struct cfq_queue *cfqq)
{
	return !cfqq->sync || cfqq_wants_slice(cfqq);
}

static inline bool cfq_entity_sends(struct cfq_entity *entity)
{
	const struct cfq_queue *cfqq = entity_to_cfqq(entity);

	return cfqq->nr_queued && cfqq_may_dispatch(cfqq);
}

static inline bool cfq_entity_in_driver(struct cfq_entity *entity)
{
	return entity->trees->queues ? entity_to_cfqq(entity)->nr_in_driver :
				       cfq_member_in_driver(entity);
}

/* block/cfq-queue.c */
bool cfqq_seeky(const struct cfq_queue *cfqq);
bool cfqq_worth_waiting(struct cfq_queue *cfqq);
void cfqq_count_favour(struct cfq_queue *cfqq, u64 spent_ns);
void cfqq_favour(struct cfq_queue *cfqq, u64 now_ns);
u64 cfqq_slice_ns(const struct cfq_queue *cfqq);
void cfqq_unlink_rq(struct cfq_queue *cfqq, struct request *rq);
void cfqq_add_busy(struct cfq_queue *cfqq, bool urgent, u64 now_ns);
void cic_begin_flush(struct cfq_io_cq *cic, u64 now_ns);
bool cfqq_outran_others(const struct cfq_queue *cfqq);
void cfqq_check_idle(struct cfq_queue *cfqq, u64 now_ns);
void cfqq_leave(struct cfq_queue *cfqq, u64 now_ns);
bool cfq_end_stuck(struct cfq_meta_data *cfqmd, u64 now_ns);
void cfqq_charge_idle(struct cfq_queue *cfqq, u64 ns);
void cfqq_init(struct cfq_queue *cfqq, struct cfq_data *cfqd, bool sync,
	       unsigned short ioprio);
void cfqq_put(struct cfq_queue *cfqq);
void cfqq_disown(struct cfq_queue *cfqq);
void cic_put_cfqq(struct cfq_io_cq *cic, enum cfq_slot slot);
struct cfq_queue *cic_renew_cfqq(struct cfq_io_cq *cic, struct cfq_cgroup *cfqc,
				 enum cfq_slot slot, unsigned short ioprio);
bool cic_shares_cfqq(const struct cfq_io_cq *cic, const struct cfq_queue *cfqq, u64 now_ns);
struct cfq_queue *cic_get_cfqq(struct cfq_io_cq *cic, struct request *rq, u64 now_ns);

/* Without a head: must @cfqq or its group wait for others? */
static inline bool cfqq_must_wait(const struct cfq_queue *cfqq)
{
	return cfq_group_must_wait(cfqq->cfqd) ||
	       (cfq_order_matters(cfqd_dd(cfqq->cfqd)) &&
		(cfq_first_better(&cfqq->cfqd->queues, cfqq->entity.class) ||
		 cfqq_outran_others(cfqq)));
}

/* The queue of the current task, and the group, for @bio.  Needs RCU. */
static inline enum cfq_slot cfq_bio_slot(struct bio *bio, struct cfq_cgroup **cfqc)
{
	bool behalf;

	*cfqc = cfq_bio_cgroup(bio, &behalf);
	if (!op_is_sync(bio->bi_opf))
		return CFQ_SLOT_ASYNC;
	return behalf ? CFQ_SLOT_BEHALF :
			CFQ_SLOT_SYNC + cfq_ioprio_to_class(bio->bi_ioprio);
}

/* Queues leave their trees if idle for a group_idle, or if the device must empty. */
static inline void cfq_end_idle(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqmd->dd;
	struct cfq_queue *cfqq, *next;

	lockdep_assert_held(&cfqmd->lock);

	list_for_each_entry_safe(cfqq, next, &cfqmd->idle_cfqqs, idle_node) {
		if (cfqq->last_end_ns + dd->tun.group_idle_ns > now_ns &&
		    !cfq_must_empty(dd))
			return;
		cfqq_leave(cfqq, cfqq->last_end_ns);
	}
}

/* block/cfq-iosched.c */
extern struct elevator_type iosched_cfq;
void cic_leave_flush(struct cfq_io_cq *cic, u64 now_ns);
void cfqq_charge(struct cfq_queue *cfqq, u64 spent_ns, u64 estimate_ns,
		 const char *reason);

/* block/cfq-tags.c */
struct cfq_io_cq *cfq_lookup_cic(struct request_queue *q);
struct cfq_io_cq *cfq_get_cic(struct request_queue *q);
void cfq_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data);
void cfq_depth_updated(struct request_queue *q);
struct cfq_queue *cic_last_sync(const struct cfq_io_cq *cic);
void cfq_prepare_request(struct request *rq);
void cfq_hold_request(struct request *rq);
void cfq_give_up_request(struct request *rq);
void cfq_end_admission(struct cfq_data *cfqd);
void cfq_admit_waiters(struct cfq_meta_data *cfqmd);
bool cfq_task_limited(struct request_queue *q, bool sync);

static inline void cic_end_admission(struct cfq_io_cq *cic)
{
	if (unlikely(cic->nr_admitted)) {
		WRITE_ONCE(cic->nr_admitted, cic->nr_admitted - 1);
		cfq_end_admission(cic->admitted);
	}
}

/* block/cfq-sysfs.c */
extern const struct cfq_tunables cfq_default_tunables;
extern const struct elv_fs_entry cfq_attrs[];
#ifdef CONFIG_BLK_DEBUG_FS
extern const struct blk_mq_debugfs_attr cfq_queue_debugfs_attrs[];
#endif

#endif /* CFQ_QUEUE_H */
