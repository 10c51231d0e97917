/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two-layer CFQ: what the per-task layer (block/cfq-iosched.c) and the group
 * layer (block/cfq-groups.c) share.
 *
 *   cfq_meta_data  one per request queue; owns the lock and the group tree
 *     cfq_data     one per (device, cgroup); owns the trees of its cfq_queues
 *       cfq_queue  one per task (sync) or per priority (shared); owns requests
 *
 * Both layers order what they serve on the same kind of service tree, by
 * virtual device time; the functions on that tree are below, and are pure but
 * for the tree they are given.
 */
#ifndef _LINUX_CFQ_IOSCHED_H
#define _LINUX_CFQ_IOSCHED_H

#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/iocontext.h>
#include <linux/math64.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct cfq_cgroup;
struct cgroup_subsys_state;
struct cfq_data;
struct cfq_meta_data;
struct cfq_queue;

/* Virtual time passes as fast as device time for an entity of this weight. */
#define CFQ_WEIGHT_DEFAULT	100

/* Classes in the order in which they are served. */
enum cfq_class {
	CFQ_CLASS_RT,
	CFQ_CLASS_BE,
	CFQ_CLASS_IDLE,
	CFQ_NR_CLASSES,
};

/**
 * struct cfq_service_tree - what competes for one share of time, least first
 * @rb: the entities, sorted by virtual time
 * @waiting: those that are not there, but count as if they were; sorted, too
 * @min_vdisktime: never goes back; where an entity that was away comes in
 * @nr: entities on the tree
 * @nr_waiting: those on @waiting
 * @total_weight: sum of the weights of both
 * @due_ns: from when on a request of it is sent in spite of better classes
 * @borrowed_until_ns: until when it pays for urgent requests ahead of better
 *	classes
 */
struct cfq_service_tree {
	struct rb_root_cached	rb;
	struct rb_root_cached	waiting;
	u64			min_vdisktime;
	unsigned int		nr;
	unsigned int		nr_waiting;
	unsigned int		total_weight;
	u64			due_ns;
	u64			borrowed_until_ns;
};

/**
 * struct cfq_entity - something that is served from a service tree
 * @rb_node: place in @st, or among those that wait
 * @st: the tree it is on, NULL while it has nothing to do and is not awaited
 * @vdisktime: device time received, in ns at weight CFQ_WEIGHT_DEFAULT
 * @sent_ns: when the last request of it was sent to the device
 * @weight: share among the entities of the same tree; never 0
 */
struct cfq_entity {
	struct rb_node		rb_node;
	struct cfq_service_tree	*st;
	u64			vdisktime;
	u64			sent_ns;
	unsigned int		weight;
};

/**
 * struct cfq_member - what shares the time of a group: its tasks, child groups
 * @entity: on a tree of @group while there is something to do
 * @group: where it competes; NULL for the root group, which competes nowhere
 * @class: which of the trees of @group
 * @left_vdisktime: what it had in each class when that was changed
 * @waiting: on no tree, for want of descriptors, but it counts there
 * @idle_since_ns: when it went off its tree; CFQ_NOT_IDLE if it only waits
 */
struct cfq_member {
	struct cfq_entity	entity;
	struct cfq_data		*group;
	enum cfq_class		class;
	u64			left_vdisktime[CFQ_NR_CLASSES];
	bool			waiting;
	u64			idle_since_ns;
};

/* What is counted of a group and all below it, for cfq.stat. */
enum cfq_stat {
	CFQ_STAT_TIME,		/* ns, of the device */
	CFQ_STAT_SECTORS,	/* of requests when they are sent */
	CFQ_STAT_REQUESTS,	/* sent */
	CFQ_STAT_WAIT,		/* ns, of requests until they are sent */
	CFQ_STAT_IDLE,		/* ns, that the device was kept idle */
	CFQ_STAT_MERGES,	/* into requests that were queued */
	CFQ_STAT_SLICES,
	CFQ_NR_STATS,
};

/* For what a group or a queue is chosen; see cfq_choice_names[]. */
enum cfq_choice {
	CFQ_CHOICE_TURN,	/* a group, to be the active one */
	CFQ_CHOICE_SLICE,	/* a queue, to be the active one */
	CFQ_CHOICE_REQUEST,	/* a queue, for one request */
	CFQ_NR_CHOICES,
};

/* For what device time is charged; see cfq_charge_names[]. */
enum cfq_charge {
	CFQ_CHARGE_REQUEST,	/* that was completed, and the wait for it */
	CFQ_CHARGE_IDLE,	/* waiting for a request that did not come */
	CFQ_NR_CHARGES,
};

/* Why the slice of a queue or the turn of a group ends; see cfq_end_names[]. */
enum cfq_end {
	CFQ_END_USED,		/* it had all of its time */
	CFQ_END_EMPTY,		/* nothing to send, and not worth waiting for */
	CFQ_END_IDLE,		/* what was waited for did not come */
	CFQ_END_SEEKY,		/* the queue is none that gets slices */
	CFQ_END_CLOSE,		/* another queue is nearer to the head */
	CFQ_END_PREEMPTED,	/* another one goes first, or may */
	CFQ_END_LEFT,		/* the task has ended or moved */
	CFQ_END_TURN,		/* of the queue: it is that of the group */
	CFQ_END_DRAIN,		/* the device is to be emptied */
	CFQ_NR_ENDS,
};

extern const char * const cfq_choice_names[CFQ_NR_CHOICES];
extern const char * const cfq_charge_names[CFQ_NR_CHARGES];
extern const char * const cfq_end_names[CFQ_NR_ENDS];

/* The settings in /sys/block/DEV/queue/iosched/. */
struct cfq_tunables {
	u64	quantum;		/* requests */
	u64	fifo_expire_ns[2];	/* [0] async, [1] sync */
	u64	back_seek_max_kb;
	u64	back_seek_penalty;	/* times */
	u64	slice_ns[2];		/* [0] async, [1] sync */
	u64	slice_async_rq;		/* requests */
	u64	slice_idle_ns;
	u64	group_idle_ns;
	u64	target_latency_ns;
	u64	group_slice_ns;
	u64	low_latency;		/* 0 or 1 */
};

/* Kinds of requests by direction and size, each of which takes about the same. */
#define CFQ_NR_KINDS	16

/* What was learned of a device that works on many requests at the same time. */
struct cfq_parallelism {
	u64		service_ns[CFQ_NR_KINDS]; /* of a request by itself */
	u64		work_ns;	/* sent in this window: their service_ns */
	u64		window_start_ns;
	unsigned int	parallel;	/* CFQ_PARALLEL_ONE is one */

	/* One request at a time is watched. */
	struct request	*probe;
	u64		probe_sent_ns;
	unsigned int	probe_bytes;	/* of data */
	unsigned int	probe_beside;	/* requests in the device before it */
	bool		probe_write;
	bool		probe_alone;	/* all but by itself */

	/* What reads [0] and writes [1] take by themselves, for a page. */
	u64		page_ns[2];
	unsigned int	page_samples[2];
	unsigned int	write_work;	/* of a page; see cfq_request_work() */
	u64		sample_until_ns; /* to be had; 0 if none was waited for */
	bool		drain;		/* nothing is sent, for a sample */
};

/* What exists once per device because the hardware does. */
struct cfq_driver_data {
	struct request_queue	*queue;
	/*
	 * The device has one head: it works on one request at a time, seeks
	 * cost, and waiting for the next nearby request can pay.
	 */
	bool			one_head;
	/* Requests sent, not completed; read locklessly by cfq_nr_held(). */
	unsigned int		nr_in_driver;
	sector_t		last_position;	/* end of the last one sent */
	unsigned int		nr_first_in_driver; /* sent out of order */
	u64			first_since_ns;	/* that one of those is waited for */

	/* Up to here the device's time, or as much, was charged to somebody. */
	u64			charged_until_ns;
	/* Without a head: the work of all requests sent, not completed. */
	unsigned int		work_in_driver;
	/* What a request costs on this device, for queues without a past. */
	u64			mean_cost_ns;
	u64			sent_ns;	/* when the last request was */
	struct cfq_parallelism	par;

	struct hrtimer		idle_timer;
	struct cfq_tunables	tun;
};

/*
 * struct cfq_queue: the requests of a task (sync) or of a priority (shared)
 *
 * All fields are protected by cfqmd->lock.  References are held by each
 * cfq_io_cq and the shared table that hand the queue out, and by every request
 * from insertion until it is freed.
 */
struct cfq_queue {
	struct rcu_head		rcu;		/* see cfq_io_cq */
	struct cfq_entity	entity;		/* on cfqd->trees[class] */
	struct cfq_data		*cfqd;		/* owns a reference on it */
	int			ref;
	pid_t			pid;		/* of the first task, for debugfs */

	struct rb_root		sort_list;	/* queued requests by sector */
	struct list_head	fifo;		/* queued requests by age */
	struct request		*next_rq;	/* nearest one to the head */
	struct rb_node		pos_node;	/* on cfqd->pos_tree */
	unsigned int		nr_queued;
	unsigned int		nr_in_driver;
	unsigned int		since_fifo_check; /* dispatches */

	enum cfq_class		class;
	unsigned short		ioprio;		/* as last seen in a request */
	struct list_head	idle_node;	/* on cfqmd->idle_cfqqs */
	bool			sync;
	bool			shared;		/* of a priority, not of a task */
	bool			owned;		/* more requests may come */
	bool			on_pos_tree;

	u64			cost_ns;	/* moving average, a request */
	u64			slice_used_ns;	/* while active */
	u64			idle_until_ns;	/* active, waiting for a request */

	/* Think time: moving sums, fixed point with 8 fractional bits. */
	u64			last_end_ns;
	u64			ttime_total_ns;
	unsigned int		ttime_samples;
	/* One bit a request, set if it was far from its predecessor. */
	u32			seek_history;
	unsigned int		seek_samples;	/* bits of it that count */
	sector_t		last_request_end;
};

/*
 * struct cfq_data: per-task CFQ of one group on one device
 *
 * All fields are protected by cfqmd->lock, @row_node in addition by the
 * group layer's own locks.  References are held by the grid (one, until the
 * cgroup or the scheduler goes away), by each cfq_queue and by the cfq_data of
 * each child group.
 */
struct cfq_data {
	struct cfq_meta_data	*cfqmd;
	int			ref;

	/* The per-task layer. */
	struct cfq_service_tree	trees[CFQ_NR_CLASSES];
	struct rb_root		pos_tree;	/* sync queues by next sector */
	struct cfq_queue	*active_cfqq;	/* has a slice to itself */
	/* Async ones, and sync ones for others than the tasks of the group. */
	struct cfq_queue	*shared_cfqq[2][CFQ_NR_CLASSES][IOPRIO_NR_LEVELS];
	unsigned int		nr_queued;	/* requests */
	unsigned int		nr_in_driver;	/* requests */
	unsigned int		nr_sync_busy;	/* sync queues on the trees */
	/* Those of each class and level, and how many levels have some. */
	unsigned int		nr_at_level[CFQ_NR_CLASSES][IOPRIO_NR_LEVELS];
	unsigned int		nr_levels[CFQ_NR_CLASSES];
	u32			seek_history;	/* of all its tasks together */
	unsigned int		seek_samples;
	/* Tasks that wait for a descriptor, and when one was let in last. */
	struct list_head	line[CFQ_NR_CLASSES];
	unsigned int		nr_in_own_line;
	u64			line_served_ns[CFQ_NR_CLASSES];
	unsigned int		nr_admitted;	/* from it, no request queued yet */
	u64			admitted_ns;	/* when the last one was */

#ifdef CONFIG_CFQ_CGROUP
	/* The group layer. */
	struct cfq_member	tasks;		/* among the child groups */
	struct cfq_member	self;		/* among the siblings */
	/* As what its tasks compete: &tasks, or &self if there was no child. */
	struct cfq_member	*leaf;
	struct cfq_service_tree	members[CFQ_NR_CLASSES];
	unsigned int		nr_ready;	/* members with a request queued */
	unsigned int		nr_in_line;	/* members with tasks in a line */
	unsigned int		nr_waiting_in_line; /* those that are waiting */
	struct cfq_cgroup	*cfqc;		/* NULL once removed */
	u64			cgroup_id;	/* also then */
	struct list_head	row_node;	/* on cfqc->row */
	struct list_head	column_node;	/* on cfqmd->column */
	struct rcu_head		rcu;		/* see cfq_group_limits_current() */
	u64			slice_used_ns;
	bool			slice_cut;	/* over before its time */
	u64			stats[CFQ_NR_STATS];
	unsigned int		nr_held;	/* requests, of those below too */
	unsigned int		max_held;	/* not to be exceeded */
	struct list_head	waiters;	/* none unless that is reached */
#endif
};

/**
 * struct cfq_meta_data - the scheduler of one device
 * @lock: protects everything of the device.  Taken with interrupts off,
 *	inside queue_lock and the io_context lock; the group layer's grid
 *	lock nests inside it.
 * @dd: what the hardware has once
 * @dispatch: requests that are not scheduled but sent first, in order
 * @urgent: requests that are queued, but sent before all others, in order
 * @repay_until_ns: what inserting requests makes the task pay; 0 between times
 * @sync_writer: group of the task of which the last sync write was completed
 * @sync_written_ns: when that was
 * @nr_queued: requests on any cfq_queue; read locklessly by has_work
 * @last_cfqq: the queue that got the last of them, NULL if that was freed
 * @idle_cfqqs: without requests, but on their trees for a group_idle; in order
 * @withheld: requests are queued but the last dispatch gave out none
 * @held: no request need be asked for; read locklessly by has_work
 * @nr_since_withheld: completions since then
 * @nr_waiting: tasks that wait for a descriptor; read locklessly
 * @nr_rt_waiting: those of them that are of the real time class
 * @nr_admitted: those that did and may go on, but have no request queued yet;
 *	read locklessly
 * @rt_until_ns: until when a task of the real time class may be back
 * @merge_cic: the submitter's, during a bio merge attempt
 * @oom_cfqq: used when no cfq_queue can be allocated
 * @root: the group of the root cgroup, or the only one
 * @expected_until_ns: until when somebody who just had something to do, or was
 *	given a descriptor, is expected to be back
 * @nr_busy_groups: groups whose tasks have something to do
 * @active_cfqd: the group whose tasks have the device, where groups take turns
 * @column: all cfq_data of this device, each after that of its parent
 */
struct cfq_meta_data {
	spinlock_t		lock;	/* of everything here, see above */
	struct cfq_driver_data	dd;
	struct list_head	dispatch;
	struct list_head	urgent;
	u64			repay_until_ns;
	struct cfq_data		*sync_writer;
	u64			sync_written_ns;
	unsigned int		nr_queued;
	struct cfq_queue	*last_cfqq;
	struct list_head	idle_cfqqs;
	bool			withheld;
	bool			held;
	unsigned int		nr_since_withheld;
	unsigned int		nr_waiting;
	unsigned int		nr_rt_waiting;
	unsigned int		nr_admitted;
	u64			rt_until_ns;
	struct cfq_io_cq	*merge_cic;
	struct cfq_queue	oom_cfqq;
	struct cfq_data		root;
	u64			expected_until_ns;
#ifdef CONFIG_CFQ_CGROUP
	unsigned int		nr_busy_groups;
	struct cfq_data		*active_cfqd;
	struct list_head	column;
#endif
};

/*
 * Service tree.  A virtual time is compared by its distance from another, so
 * wrapping does no harm.
 */

static inline void cfq_st_init(struct cfq_service_tree *st)
{
	*st = (struct cfq_service_tree) {
		.rb = RB_ROOT_CACHED,
		.waiting = RB_ROOT_CACHED,
	};
}

static inline struct cfq_entity *cfq_first_of(const struct rb_root_cached *root)
{
	return rb_entry_safe(rb_first_cached(root), struct cfq_entity, rb_node);
}

static inline struct cfq_entity *cfq_st_first(struct cfq_service_tree *st)
{
	return cfq_first_of(&st->rb);
}

static inline struct cfq_entity *cfq_st_next(struct cfq_entity *entity)
{
	return rb_entry_safe(rb_next(&entity->rb_node), struct cfq_entity,
			     rb_node);
}

/* How far @a is ahead of @b, in virtual ns; negative if behind. */
static inline s64 cfq_entity_lead(const struct cfq_entity *a,
				  const struct cfq_entity *b)
{
	return (s64)(a->vdisktime - b->vdisktime);
}

static inline bool cfq_entity_less(struct rb_node *a, const struct rb_node *b)
{
	return cfq_entity_lead(rb_entry(a, struct cfq_entity, rb_node),
			       rb_entry(b, struct cfq_entity, rb_node)) < 0;
}

/* Device time @ns in virtual time of an entity of weight @weight. */
static inline s64 cfq_vdisktime_delta(s64 ns, unsigned int weight)
{
	if (weight == CFQ_WEIGHT_DEFAULT)
		return ns;
	return div_s64(ns * CFQ_WEIGHT_DEFAULT, weight);
}

/*
 * Device time @ns in virtual time of a mean entity of @st, and of one more of
 * weight @weight if that is not 0: the same whatever the scale of the weights.
 */
static inline u64 cfq_st_mean_vdisktime(const struct cfq_service_tree *st,
					unsigned int weight, u64 ns)
{
	return div_u64(ns * CFQ_WEIGHT_DEFAULT *
		       (st->nr + st->nr_waiting + !!weight),
		       (st->total_weight + weight) ?: 1);
}

static inline void cfq_st_update_min(struct cfq_service_tree *st)
{
	struct cfq_entity *first = cfq_st_first(st);

	if (first && (s64)(first->vdisktime - st->min_vdisktime) > 0)
		st->min_vdisktime = first->vdisktime;
}

/**
 * cfq_st_add - an entity has something to do
 * @st: the tree it competes on
 * @entity: on no tree
 * @credit_ns: virtual time by which it may be behind; 0 after a real absence
 *
 * It comes in at the tree's minimum if it is behind that: absence earns no
 * credit.  If it is ahead it stays ahead: a short gap forgives no debt.
 */
static inline void cfq_st_add(struct cfq_service_tree *st,
			      struct cfq_entity *entity, u64 credit_ns)
{
	u64 floor = st->min_vdisktime - credit_ns;

	if ((s64)(entity->vdisktime - floor) < 0)
		entity->vdisktime = floor;
	rb_add_cached(&entity->rb_node, &st->rb, cfq_entity_less);
	entity->st = st;
	st->nr++;
	st->total_weight += entity->weight;
}

static inline void cfq_st_del(struct cfq_entity *entity)
{
	struct cfq_service_tree *st = entity->st;

	/* With the last one gone, its virtual time is where the tree stands. */
	if (st->nr == 1)
		cfq_st_update_min(st);
	rb_erase_cached(&entity->rb_node, &st->rb);
	entity->st = NULL;
	st->nr--;
	st->total_weight -= entity->weight;
	cfq_st_update_min(st);
}

/*
 * Move the virtual time of @entity, on a tree or not, by @delta.  The tree is
 * left alone where the order of neighbours stays as it is.
 */
static inline void cfq_entity_advance(struct cfq_entity *entity, s64 delta)
{
	struct cfq_service_tree *st = entity->st;
	struct rb_node *neighbour;

	entity->vdisktime += delta;
	if (!st)
		return;
	if (st->nr == 1) {
		cfq_st_update_min(st);
		return;
	}

	neighbour = delta >= 0 ? rb_next(&entity->rb_node) :
				 rb_prev(&entity->rb_node);
	if (neighbour) {
		struct cfq_entity *other = rb_entry(neighbour,
						    struct cfq_entity, rb_node);
		s64 lead = cfq_entity_lead(entity, other);

		if (delta >= 0 ? lead > 0 : lead < 0) {
			rb_erase_cached(&entity->rb_node, &st->rb);
			rb_add_cached(&entity->rb_node, &st->rb,
				      cfq_entity_less);
		}
	}
	cfq_st_update_min(st);
}

/* What is before @entity is stuck: it is away, which earns no credit. */
static inline void cfq_st_leave_behind(struct cfq_entity *entity)
{
	struct cfq_entity *first;

	while ((first = cfq_st_first(entity->st)) != entity)
		cfq_entity_advance(first, cfq_entity_lead(entity, first) + 1);
}

/* If the first on the tree is more than @lead_ns behind @entity, move it up. */
static inline bool cfq_st_forget_first(const struct cfq_entity *entity,
				       u64 lead_ns)
{
	struct cfq_entity *first = cfq_st_first(entity->st);
	s64 excess = cfq_entity_lead(entity, first) - (s64)lead_ns;

	if (excess <= 0)
		return false;
	cfq_entity_advance(first, excess);
	return true;
}

/*
 * @entity is served although some on its tree are further behind, as they have
 * nothing to do just now.  What they leave is not owed to them later, but for
 * @lead_ns to twice that of virtual time (so that this is done now and then).
 * They move, and not @entity, so that all others keep their places.  @owed, if
 * given, tells of whom it is owed all the same; it ends there.
 */
static inline void cfq_st_forget_behind(struct cfq_entity *entity, u64 lead_ns,
					bool (*owed)(struct cfq_entity *first))
{
	struct cfq_service_tree *st = entity->st;

	if (cfq_entity_lead(entity, cfq_st_first(st)) > 2 * (s64)lead_ns)
		while (!(owed && owed(cfq_st_first(st))) &&
		       cfq_st_forget_first(entity, lead_ns))
			;
}

/**
 * cfq_entity_charge - an entity has used device time
 * @entity: on a tree or not
 * @ns: device time; negative if it was charged too much before
 *
 * Weighted fair queueing: virtual time advances by time over weight.
 */
static inline void cfq_entity_charge(struct cfq_entity *entity, s64 ns)
{
	cfq_entity_advance(entity, cfq_vdisktime_delta(ns, entity->weight));
}

/* Change the weight of @entity; what it used so far stays as it was. */
static inline void cfq_entity_set_weight(struct cfq_entity *entity,
					 unsigned int weight)
{
	if (entity->st)
		entity->st->total_weight += weight - entity->weight;
	entity->weight = weight;
}

/**
 * cfq_entity_reweigh - change the weight of an entity as if it always had it
 * @st: the tree on which it competes
 * @entity: on that tree or on none
 * @weight: new weight
 *
 * By how much device time it is ahead of the tree stays, so the virtual time
 * by which it is ahead changes.  Otherwise an entity of small weight would
 * have to wait, after the change, for as long as it would have had to before.
 */
static inline void cfq_entity_reweigh(struct cfq_service_tree *st,
				      struct cfq_entity *entity,
				      unsigned int weight)
{
	s64 lead = entity->vdisktime - st->min_vdisktime;
	unsigned int old_weight = entity->weight;

	if (weight == old_weight)
		return;
	cfq_entity_set_weight(entity, weight);
	if (lead > 0)
		cfq_entity_advance(entity,
				   mul_u64_u32_div(lead, old_weight, weight) -
				   lead);
}

/*
 * Estimates of the device time of a request, by which both layers charge.
 * The time of everything is CLOCK_MONOTONIC in ns.
 */

/**
 * cfq_charge_serial - device time since the last completion
 * @dd: device
 * @now_ns: time of a completion, or of the end of an idle period
 *
 * With one head, what was completed now is what the head worked on since the
 * last completion, or since it was sent if the device was empty.
 *
 * Return: ns to be charged for the completed request.
 */
static inline u64 cfq_charge_serial(struct cfq_driver_data *dd, u64 now_ns)
{
	u64 ns = 0;

	if (now_ns > dd->charged_until_ns) {
		ns = now_ns - dd->charged_until_ns;
		dd->charged_until_ns = now_ns;
	}
	return ns;
}

/**
 * cfq_charge_part - the same, if several requests are worked on together
 * @dd: device
 * @now_ns: time of a completion
 * @work: of the completed request, as counted in work_in_driver until now
 * @in_driver_ns: since it was sent
 *
 * Of the time that nobody was charged yet, the part that the request's work
 * (cfq_request_work()) is of that of all in the device, but no more than the
 * request was there.  What is left builds up until that is, for each unit of
 * work, as much as the device takes for one; so requests are charged by their
 * work, whatever they waited for.
 *
 * Return: ns to be charged for the completed request.
 */
static inline u64 cfq_charge_part(struct cfq_driver_data *dd, u64 now_ns,
				  unsigned int work, u64 in_driver_ns)
{
	u64 ns = 0;

	if (now_ns > dd->charged_until_ns) {
		ns = min(div_u64((now_ns - dd->charged_until_ns) * work,
				 dd->work_in_driver), in_driver_ns);
		dd->charged_until_ns += ns;
	}
	return ns;
}

/* The queue is about to be frozen, and waits for all requests to end. */
static inline bool cfq_must_empty(const struct cfq_driver_data *dd)
{
	return READ_ONCE(dd->queue->mq_freeze_depth) ||
	       blk_queue_dying(dd->queue);
}

/*
 * The per-task layer, for the group layer.  All under cfqmd->lock; described
 * where they are defined.
 */
void cfq_data_init(struct cfq_data *cfqd, struct cfq_meta_data *cfqmd);
void cfq_data_exit(struct cfq_data *cfqd);
bool cfq_data_holds(const struct cfq_data *cfqd, u64 now_ns);
bool cfq_data_shares_head(const struct cfq_data *cfqd);
void cfq_data_deactivate(struct cfq_data *cfqd, u64 now_ns);
void cfq_data_show(struct cfq_data *cfqd, struct seq_file *m);

/*
 * Classes are served in strict order up to a bound: one that has to wait for
 * better ones has a request sent all the same so long after its last one, which
 * leaves a disk the rest of a second to serve it.  It costs the better ones a
 * hundredth of their time.  A stream would pay with a seek there and back, so its
 * slice is not interrupted before a second is over.  Where there is no head it
 * is done as often as takes one part in so many.
 */
#define CFQ_CLASS_WAIT_NS	(800 * (u64)NSEC_PER_MSEC)
#define CFQ_STREAM_WAIT_NS	(200 * (u64)NSEC_PER_MSEC)
#define CFQ_CLASS_WAIT_COSTS	250

/* How long a class may have to wait after a request that costs so much. */
static inline u64 cfq_class_wait_ns(const struct cfq_driver_data *dd,
				    u64 cost_ns)
{
	return dd->one_head ? CFQ_CLASS_WAIT_NS :
	       min(CFQ_CLASS_WAIT_NS, CFQ_CLASS_WAIT_COSTS * cost_ns);
}

/* Descriptors in use, or about to be; read locklessly it may be outdated. */
static inline unsigned int cfq_nr_held(const struct cfq_meta_data *cfqmd)
{
	return READ_ONCE(cfqmd->nr_queued) + READ_ONCE(cfqmd->dd.nr_in_driver) +
	       READ_ONCE(cfqmd->nr_admitted);
}

/*
 * A crowd of tasks would take all descriptors there are, and the requests of
 * others could not even be seen, let alone be scheduled.  So where they are
 * scarce, who wants one waits in line, a better class before others, and not
 * for a tag: who is woken up for a tag may find it taken by a task that did
 * not wait, again and again, and tags know nothing of groups and classes.
 * Descriptors that are not inserted yet are not counted, so there may be too
 * few at times; then there are still the tags to wait for.
 */
struct cfq_in_line {
	struct list_head	node;	/* on cfqd->line[class] */
	enum cfq_class		class;
	struct completion	admitted;
};

/* The best class of which tasks of @cfqd are in line, if there are any. */
static inline enum cfq_class cfq_line_best(const struct cfq_data *cfqd)
{
	enum cfq_class class = CFQ_CLASS_RT;

	while (class < CFQ_NR_CLASSES && list_empty(&cfqd->line[class]))
		class++;
	return class;
}

static inline bool cfq_data_in_line(const struct cfq_data *cfqd)
{
	return cfqd->nr_in_own_line;
}

/* Descriptors for tasks of @class: a few are kept for real time, if needed. */
static inline unsigned int cfq_descriptors_for(const struct cfq_meta_data *cfqmd,
					       enum cfq_class class)
{
	const unsigned int total = cfqmd->dd.queue->nr_requests;

	if (class == CFQ_CLASS_RT || !cfqmd->rt_until_ns ||
	    cfqmd->rt_until_ns <= ktime_get_ns())
		return total;
	return total - total / 16;
}

/*
 * The class whose turn it is in the line of @cfqd, which is not empty: the best
 * one, or one that it has kept waiting for too long.
 */
static inline enum cfq_class cfq_line_class(const struct cfq_data *cfqd,
					    u64 now_ns)
{
	const enum cfq_class best = cfq_line_best(cfqd);
	enum cfq_class class;

	for (class = best + 1; class < CFQ_NR_CLASSES; class++)
		if (!list_empty(&cfqd->line[class]) &&
		    cfqd->line_served_ns[class] + CFQ_CLASS_WAIT_NS <= now_ns)
			return class;
	return best;
}

static inline dev_t cfq_group_dev(const struct cfq_data *cfqd)
{
	return disk_devt(cfqd->cfqmd->dd.queue->disk);
}

/* Requests are queued, or sent and not yet completed. */
static inline bool cfq_data_busy(const struct cfq_data *cfqd)
{
	return cfqd->nr_queued || cfqd->nr_in_driver;
}

/* The same, or would be if there were descriptors for them. */
static inline bool cfq_data_wants(const struct cfq_data *cfqd)
{
	return cfq_data_busy(cfqd) || cfqd->nr_admitted ||
	       cfq_data_in_line(cfqd);
}

/*
 * For how long others wait for what is in the device, of somebody who has
 * nothing else to send: longer than nearly any request takes that is not lost.
 */
static inline u64 cfq_stuck_ns(const struct cfq_driver_data *dd)
{
	return (dd->one_head ? 1000 : 100) * NSEC_PER_MSEC;
}

/* Ask for requests again at @ns, if it is not done before. */
static inline void cfq_ask_at(struct cfq_driver_data *dd, u64 ns)
{
	if (!hrtimer_is_queued(&dd->idle_timer) ||
	    ns < ktime_to_ns(hrtimer_get_expires(&dd->idle_timer)))
		hrtimer_start(&dd->idle_timer, ns_to_ktime(ns),
			      HRTIMER_MODE_ABS);
}

/* Has a better class of @trees than @class something to do, or just had? */
static inline bool cfq_class_outranked(const struct cfq_service_tree *trees,
				       enum cfq_class class)
{
	while (class-- > 0)
		if (trees[class].nr || trees[class].nr_waiting)
			return true;
	return false;
}

/* May there be entities of more than one class? */
static inline bool cfq_classes_differ(const struct cfq_service_tree *trees)
{
	return trees[CFQ_CLASS_RT].nr || trees[CFQ_CLASS_IDLE].nr ||
	       trees[CFQ_CLASS_IDLE].nr_waiting;
}

/*
 * Has a class of @trees waited for better ones for so long?  It counts if it has
 * something to do or, if @in_line, only wants descriptors for it.
 */
static inline bool cfq_class_overdue(const struct cfq_service_tree *trees,
				     enum cfq_class class, bool in_line,
				     u64 now_ns)
{
	const struct cfq_service_tree *st = &trees[class];

	if (!st->nr && !(in_line && st->nr_waiting))
		return false;
	return st->due_ns <= now_ns &&
	       cfq_class_outranked(trees, class);
}

/*
 * Debt.  Urgent requests go before others, and are charged as all are.  Who is
 * ahead of its equals by more than @lead_ns and what it may borrow has none that
 * are urgent, but for those that the kernel sends for it.  What was taken from
 * better classes comes back at a hundredth of the device's time.  A task pays
 * for it where it holds no lock, so that is not where it ends: one operation
 * may need dozens of requests, and others wait for its last one.
 */
#define CFQ_BORROW_NS		(500 * NSEC_PER_MSEC)
#define CFQ_BORROW_CLASS_NS	(4 * CFQ_BORROW_NS)
#define CFQ_BORROW_COSTS	100

static inline bool cfq_entity_in_debt(const struct cfq_entity *entity,
				      const struct cfq_service_tree *trees,
				      enum cfq_class class, u64 lead_ns,
				      u64 now_ns)
{
	const struct cfq_service_tree *st = &trees[class];

	if (cfq_class_outranked(trees, class) &&
	    st->borrowed_until_ns >
	    now_ns + CFQ_BORROW_COSTS * CFQ_BORROW_CLASS_NS)
		return true;
	return st->nr > !!entity->st &&
	       (s64)(entity->vdisktime - st->min_vdisktime) > (s64)lead_ns +
	       cfq_vdisktime_delta(CFQ_BORROW_NS, entity->weight);
}

/*
 * An urgent request of @class that costs so much goes before better ones.
 * Return: when at least half of what may be borrowed is there again.
 */
static inline u64 cfq_class_borrow(struct cfq_service_tree *trees,
				   enum cfq_class class, u64 cost_ns,
				   u64 now_ns)
{
	const u64 half_ns = CFQ_BORROW_COSTS * CFQ_BORROW_NS / 2;
	struct cfq_service_tree *st = &trees[class];

	if (!cfq_class_outranked(trees, class))
		return 0;
	st->borrowed_until_ns = max(st->borrowed_until_ns, now_ns) +
				CFQ_BORROW_COSTS * cost_ns;
	return st->borrowed_until_ns - min(st->borrowed_until_ns, half_ns);
}

/* Did @entity, which has nothing queued, send nothing for so long? */
static inline bool cfq_entity_stuck(const struct cfq_driver_data *dd,
				    const struct cfq_entity *entity, u64 now_ns)
{
	return entity->sent_ns + cfq_stuck_ns(dd) <= now_ns;
}

/* Do others wait for it: is it @ready to send something, or not stuck? */
static __always_inline bool
cfq_entity_awaited(const struct cfq_driver_data *dd, struct cfq_entity *entity,
		   u64 now_ns, bool (*ready)(struct cfq_entity *entity))
{
	return ready(entity) || !cfq_entity_stuck(dd, entity, now_ns);
}

/* The one most behind on @st that others have to wait for, if any. */
static __always_inline struct cfq_entity *
cfq_st_first_awaited(const struct cfq_driver_data *dd,
		     struct cfq_service_tree *st, u64 now_ns,
		     bool (*ready)(struct cfq_entity *entity))
{
	struct cfq_entity *entity = cfq_st_first(st);

	while (entity && !cfq_entity_awaited(dd, entity, now_ns, ready))
		entity = cfq_st_next(entity);
	return entity;
}

/*
 * Who is @ready on one of @trees whose class has waited for better ones for too
 * long, or, if @any, on whichever.
 */
static __always_inline struct cfq_entity *
cfq_overdue_entity(struct cfq_service_tree *trees, bool any, u64 now_ns,
		   bool (*ready)(struct cfq_entity *entity))
{
	struct cfq_entity *entity;
	enum cfq_class class;

	if (likely(!any && !cfq_classes_differ(trees)))
		return NULL;
	for (class = 0; class < CFQ_NR_CLASSES; class++) {
		if (!any && !cfq_class_overdue(trees, class, false, now_ns))
			continue;
		entity = cfq_st_first(&trees[class]);
		while (entity && !ready(entity))
			entity = cfq_st_next(entity);
		if (entity)
			return entity;
	}
	return NULL;
}

/*
 * The group layer, for the per-task layer.  All but those that set up and
 * remove are called under cfqmd->lock; described in block/cfq-groups.c.
 */
#ifdef CONFIG_CFQ_CGROUP
int cfq_groups_register(void);
void cfq_groups_unregister(void);
void cfq_groups_init(struct cfq_meta_data *cfqmd);
void cfq_groups_exit(struct cfq_meta_data *cfqmd);
struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf);
struct cfq_data *cfq_group_get(struct cfq_meta_data *cfqmd,
			       struct cfq_cgroup *cfqc);
struct cfq_data *cfq_group_get_current(struct cfq_meta_data *cfqmd);
bool cfq_group_has_turn(const struct cfq_data *cfqd);
void cfq_group_put(struct cfq_data *cfqd);
bool cfq_group_has_room(struct cfq_data *cfqd, enum cfq_class class);
void cfq_group_line_began(struct cfq_data *cfqd);
void cfq_group_line_ended(struct cfq_data *cfqd);
struct cfq_data *cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns);
void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns);
bool cfq_group_in_debt(const struct cfq_data *cfqd, u64 now_ns);
u64 cfq_group_borrow(struct cfq_data *cfqd, u64 cost_ns, u64 now_ns);
void cfq_group_went_idle(struct cfq_data *cfqd, u64 now_ns);
void cfq_group_waits(struct cfq_data *cfqd, u64 now_ns);
void cfq_group_only_stuck(struct cfq_data *cfqd, u64 now_ns);
void cfq_group_became_ready(struct cfq_data *cfqd);
void cfq_group_ran_dry(struct cfq_data *cfqd);
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns);
void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n);
void cfq_group_sent(struct cfq_data *cfqd, u64 sectors, u64 wait_ns,
		    u64 cost_ns, u64 now_ns);
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd, u64 now_ns);
struct cfq_data *cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns);
struct cfq_data *cfq_group_select_next(struct cfq_data *cfqd, u64 now_ns);
void cfq_group_passes_others(struct cfq_data *cfqd, u64 now_ns);
bool cfq_group_must_wait(const struct cfq_data *cfqd, u64 now_ns);
void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns,
			 enum cfq_end end);
void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m);
struct cgroup_subsys_state *cfq_group_css(const struct cfq_data *cfqd);

/* Is @cfqd of @cfqc? */
static inline bool cfq_group_is(const struct cfq_data *cfqd,
				const struct cfq_cgroup *cfqc)
{
	return cfqd->cfqc == cfqc;
}

bool cfq_groups_limited(void);
bool cfq_group_limits_current(const struct cfq_data *cfqd);
bool cfq_group_current_full(struct cfq_meta_data *cfqmd);
struct cfq_data *cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait);
void cfq_group_hold(struct cfq_data *cfqd);
void cfq_group_release(struct cfq_data *cfqd);

/* The cgroup, NULL once it is removed. */
static inline struct cfq_cgroup *cfq_group_cgroup(const struct cfq_data *cfqd)
{
	return cfqd->cfqc;
}

/* The inode number of the cgroup's directory. */
static inline u64 cfq_group_id(const struct cfq_data *cfqd)
{
	return cfqd->cgroup_id;
}
#else
static inline int cfq_groups_register(void)
{
	return 0;
}

static inline void cfq_groups_unregister(void)
{
}

static inline void cfq_groups_init(struct cfq_meta_data *cfqmd)
{
	cfq_data_init(&cfqmd->root, cfqmd);
}

static inline void cfq_groups_exit(struct cfq_meta_data *cfqmd)
{
	spin_lock_irq(&cfqmd->lock);
	cfq_data_exit(&cfqmd->root);
	spin_unlock_irq(&cfqmd->lock);
}

static inline struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf)
{
	*behalf = false;
	return NULL;
}

static inline bool cfq_group_is(const struct cfq_data *cfqd,
				const struct cfq_cgroup *cfqc)
{
	return true;
}

static inline struct cfq_cgroup *cfq_group_cgroup(const struct cfq_data *cfqd)
{
	return NULL;
}

static inline struct cfq_data *
cfq_group_get_current(struct cfq_meta_data *cfqmd)
{
	return &cfqmd->root;
}

static inline struct cfq_data *cfq_group_get(struct cfq_meta_data *cfqmd,
					     struct cfq_cgroup *cfqc)
{
	return &cfqmd->root;
}

static inline bool cfq_group_has_turn(const struct cfq_data *cfqd)
{
	return true;
}

static inline void cfq_group_put(struct cfq_data *cfqd)
{
}

static inline bool cfq_group_has_room(struct cfq_data *cfqd,
				      enum cfq_class class)
{
	const unsigned int total = cfq_descriptors_for(cfqd->cfqmd, class);

	/* What the idle class queues may stay for long. */
	return cfq_nr_held(cfqd->cfqmd) <
	       (class == CFQ_CLASS_IDLE ? total - total / 8 : total);
}

static inline void cfq_group_line_began(struct cfq_data *cfqd)
{
}

static inline void cfq_group_line_ended(struct cfq_data *cfqd)
{
}

static inline struct cfq_data *
cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *root = &cfqmd->root;

	return cfq_group_has_room(root, cfq_line_best(root)) ?
		root : NULL;
}

static inline void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent,
					 u64 now_ns)
{
}

static inline bool cfq_group_in_debt(const struct cfq_data *cfqd, u64 now_ns)
{
	return false;
}

static inline u64 cfq_group_borrow(struct cfq_data *cfqd, u64 cost_ns,
				   u64 now_ns)
{
	return 0;
}

static inline void cfq_group_went_idle(struct cfq_data *cfqd, u64 now_ns)
{
}

static inline void cfq_group_waits(struct cfq_data *cfqd, u64 now_ns)
{
}

static inline void cfq_group_only_stuck(struct cfq_data *cfqd, u64 now_ns)
{
}

static inline void cfq_group_became_ready(struct cfq_data *cfqd)
{
}

static inline void cfq_group_ran_dry(struct cfq_data *cfqd)
{
}

static inline void cfq_group_charge(struct cfq_data *cfqd, s64 ns,
				    u64 spent_ns)
{
}

static inline void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat,
				   u64 n)
{
}

static inline void cfq_group_sent(struct cfq_data *cfqd, u64 sectors,
				  u64 wait_ns, u64 cost_ns, u64 now_ns)
{
}

static inline struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd,
						u64 now_ns)
{
	return &cfqmd->root;
}

static inline struct cfq_data *
cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	return NULL;
}

static inline bool cfq_group_must_wait(const struct cfq_data *cfqd, u64 now_ns)
{
	return false;
}

static inline void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns,
				       enum cfq_end end)
{
	cfq_data_deactivate(&cfqmd->root, now_ns);
}

static inline struct cfq_data *cfq_group_select_next(struct cfq_data *cfqd,
						     u64 now_ns)
{
	return NULL;
}

static inline void cfq_group_passes_others(struct cfq_data *cfqd, u64 now_ns)
{
}

static inline struct cgroup_subsys_state *
cfq_group_css(const struct cfq_data *cfqd)
{
	return NULL;
}

static inline u64 cfq_group_id(const struct cfq_data *cfqd)
{
	return 1;
}

static inline bool cfq_group_current_full(struct cfq_meta_data *cfqmd)
{
	return false;
}

static inline bool cfq_groups_limited(void)
{
	return false;
}

static inline bool cfq_group_limits_current(const struct cfq_data *cfqd)
{
	return false;
}

static inline struct cfq_data *
cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait)
{
	return NULL;
}

static inline void cfq_group_hold(struct cfq_data *cfqd)
{
}

static inline void cfq_group_release(struct cfq_data *cfqd)
{
}

static inline void cfq_groups_show(struct cfq_meta_data *cfqmd,
				   struct seq_file *m)
{
	cfq_data_show(&cfqmd->root, m);
}
#endif

#endif /* _LINUX_CFQ_IOSCHED_H */
