/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: the calls between the two layers, and what stands for the
 * group layer where it is not built.
 */
#ifndef CFQ_LAYERS_H
#define CFQ_LAYERS_H

#include "cfq-tags.h"

/* The per-task layer, for the group layer; described where they are defined. */
void cfq_data_init(struct cfq_data *cfqd, struct cfq_meta_data *cfqmd);
void cfq_data_exit(struct cfq_data *cfqd);
void cfq_expire_active(struct cfq_data *cfqd, u64 now_ns, const char *end);
bool cfqq_wants_slice(const struct cfq_queue *cfqq);
bool cfq_data_wants_head(struct cfq_data *cfqd);
void cfq_data_show(struct cfq_data *cfqd, struct seq_file *m);
void cfq_take_done(struct cfq_meta_data *cfqmd);

static inline bool cfq_data_idles(const struct cfq_data *cfqd, u64 now_ns)
{
	return cfqd->active_cfqq && cfqd->active_cfqq->idle_until_ns > now_ns;
}

/* Has a task of @cfqd a slice, so that nobody else may send anything? */
static inline bool cfq_data_keeps_head(const struct cfq_data *cfqd)
{
	return cfqd->active_cfqq && cfqq_wants_slice(cfqd->active_cfqq);
}

/* Take the lock, and charge what was completed since it was held. */
static inline void cfq_lock(struct cfq_meta_data *cfqmd)
	__acquires(&cfqmd->lock)
{
	spin_lock_irq(&cfqmd->lock);
	if (!llist_empty(&cfqmd->done))
		cfq_take_done(cfqmd);
}

/*
 * Who completes something from now on sees who waits.  Return: whether there
 * was something.
 */
static inline bool cfq_done_meanwhile(struct cfq_meta_data *cfqmd)
{
	/* Pairs with llist_add() in cfq_leave_done(). */
	smp_mb();
	if (likely(llist_empty(&cfqmd->done)))
		return false;
	cfq_take_done(cfqmd);
	return true;
}

static inline void cfq_unlock(struct cfq_meta_data *cfqmd)
	__releases(&cfqmd->lock)
{
	spin_unlock_irq(&cfqmd->lock);
}

/* sparse does not see where a guard ends. */
DEFINE_GUARD(cfq_lock, struct cfq_meta_data *,
	     ({ cfq_lock(_T); __release(&_T->lock); }), cfq_unlock(_T))

/* The same in any context. */
DEFINE_LOCK_GUARD_1(cfq_lock_irqsave, struct cfq_meta_data,
		    ({ spin_lock_irqsave(&_T->lock->lock, _T->flags);
		       __release(&_T->lock->lock);
		       cfq_take_done(_T->lock); }),
		    spin_unlock_irqrestore(&_T->lock->lock, _T->flags), unsigned long flags)

static inline dev_t cfq_group_dev(const struct cfq_data *cfqd)
{
	return disk_devt(cfqd->cfqmd->dd.queue->disk);
}

/* The group layer, for the per-task layer.  Set-up and removal are without cfqmd->lock. */
#ifdef CONFIG_CFQ_CGROUP
int cfq_groups_register(void);
void cfq_groups_unregister(void);
void cfq_groups_init(struct cfq_meta_data *cfqmd);
void cfq_groups_exit(struct cfq_meta_data *cfqmd);
struct cfq_cgroup *cfq_current_cgroup(void);
bool cfq_bio_told(struct bio *bio);
struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf);
struct cfq_data *cfq_group_of(struct cfq_meta_data *cfqmd, struct cfq_cgroup *cfqc);
void cfq_group_put(struct cfq_data *cfqd);
bool cfq_group_has_room(const struct cfq_waiter *waiter);
void cfq_group_line(struct cfq_data *cfqd, bool in_line);
struct cfq_waiter *cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns);
void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns);
void cfq_group_not_busy(struct cfq_data *cfqd, u64 now_ns);
void cfq_group_ready(struct cfq_data *cfqd, int n);
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns);
void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n);
void cfq_group_sent(struct cfq_data *cfqd, u64 sectors, u64 wait_ns, u64 spent_ns);
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd,
				  struct cfq_data *before, u64 now_ns);
struct cfq_data *cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns);
bool cfq_member_ready(struct cfq_entity *entity);
bool cfq_member_held_back(struct cfq_entity *entity);
bool cfq_member_in_driver(struct cfq_entity *entity);
bool cfq_group_must_wait(const struct cfq_data *cfqd);
void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns, const char *end);
void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m);

/* Was any group ever limited?  If not, a place need not be asked for. */
extern bool cfq_limit_was_set;

/* Any context. */
static inline bool cfq_groups_limited(void)
{
	return READ_ONCE(cfq_limit_was_set);
}

bool cfq_group_limits_current(const struct cfq_data *cfqd);
bool cfq_group_current_full(struct cfq_meta_data *cfqmd);
struct cfq_data *cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait);
bool cfq_group_hold(struct cfq_data *cfqd, bool anyway);
void cfq_group_release(struct cfq_data *cfqd);

/* May it wait for a task's next request, or is it another group's time? */
static inline bool cfq_group_has_turn(const struct cfq_data *cfqd)
{
	return cfqd->cfqmd->active_cfqd == cfqd;
}
#else
static inline int cfq_groups_register(void) { return 0; }
static inline void cfq_groups_unregister(void) { }

static inline void cfq_groups_init(struct cfq_meta_data *cfqmd)
{
	cfq_data_init(&cfqmd->root, cfqmd);
	cfqmd->root.cgroup_id = 1;
}

static inline void cfq_groups_exit(struct cfq_meta_data *cfqmd)
{
	guard(cfq_lock)(cfqmd);
	cfq_data_exit(&cfqmd->root);
}

static inline struct cfq_cgroup *cfq_current_cgroup(void) { return NULL; }

static inline bool cfq_bio_told(struct bio *bio) { return false; }

static inline struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf)
{
	*behalf = false;
	return NULL;
}

static inline struct cfq_data *
cfq_group_of(struct cfq_meta_data *cfqmd, struct cfq_cgroup *cfqc) { return &cfqmd->root; }
static inline bool cfq_group_has_turn(const struct cfq_data *cfqd) { return true; }
static inline void cfq_group_put(struct cfq_data *cfqd) { }

static inline bool cfq_group_has_room(const struct cfq_waiter *waiter)
{
	const unsigned int total = cfq_descriptors_for(waiter);

	/* What the idle class queues may stay for long. */
	return cfq_nr_in_use(waiter->cfqd->cfqmd, waiter->sync) <
	       (waiter->class == CFQ_CLASS_IDLE && !waiter->overdue ? total - total / 8 : total);
}

static inline void cfq_group_line(struct cfq_data *cfqd, bool in_line) { }

static inline struct cfq_waiter *
cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns)
{ return cfq_line_due(&cfqmd->root, now_ns); }
static inline void
cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns) { }
static inline void cfq_group_not_busy(struct cfq_data *cfqd, u64 now_ns) { }
static inline void cfq_group_ready(struct cfq_data *cfqd, int n) { }
static inline void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns) { }
static inline void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n) { }
static inline void cfq_group_sent(struct cfq_data *cfqd, u64 sectors,
				  u64 wait_ns, u64 spent_ns) { }
static inline struct cfq_data *
cfq_group_select(struct cfq_meta_data *cfqmd, struct cfq_data *before, u64 now_ns)
{ return before ? NULL : &cfqmd->root; }
static inline struct cfq_data *
cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns) { return NULL; }
static inline bool cfq_group_must_wait(const struct cfq_data *cfqd) { return false; }
static inline void
cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns, const char *end)
{ cfq_expire_active(&cfqmd->root, now_ns, "turn"); }
static inline bool cfq_member_ready(struct cfq_entity *e) { return false; }
static inline bool cfq_member_held_back(struct cfq_entity *e) { return false; }
static inline bool cfq_member_in_driver(struct cfq_entity *e) { return false; }
static inline bool cfq_groups_limited(void) { return false; }
static inline bool cfq_group_limits_current(const struct cfq_data *cfqd) { return false; }
static inline bool cfq_group_current_full(struct cfq_meta_data *cfqmd) { return false; }
static inline struct cfq_data *
cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait) { return NULL; }
static inline bool cfq_group_hold(struct cfq_data *cfqd, bool anyway) { return true; }
static inline void cfq_group_release(struct cfq_data *cfqd) { }

static inline void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m)
{ cfq_data_show(&cfqmd->root, m); }
#endif

static inline struct cfq_data *cfq_group_of_current(struct cfq_meta_data *cfqmd)
{
	guard(rcu)();
	return cfq_group_of(cfqmd, cfq_current_cgroup());
}

#endif /* CFQ_LAYERS_H */
