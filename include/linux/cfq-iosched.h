/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two-layer CFQ: what the per-task layer (block/cfq-iosched.c) and the group
 * layer (block/cfq-groups.c) share.
 *
 *   cfq_meta_data  one per request queue; owns the lock and the group tree
 *     cfq_data     one per (device, cgroup); owns the trees of its cfq_queues
 *       cfq_queue  one per task and class (sync), or per priority (shared);
 *                  owns requests
 *
 * How both order what they serve: block/cfq-sched.h.
 */
#ifndef _LINUX_CFQ_IOSCHED_H
#define _LINUX_CFQ_IOSCHED_H

#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

/* Virtual time passes as fast as device time for an entity of this weight. */
#define CFQ_WEIGHT_DEFAULT	100

/* Classes in the order in which they are served. */
enum cfq_class {
	CFQ_CLASS_RT,
	CFQ_CLASS_BE,
	CFQ_CLASS_IDLE,
	CFQ_NR_CLASSES,
};

/* Priorities: all that are idle are equal. */
#define CFQ_NR_SHARED	(CFQ_CLASS_IDLE * IOPRIO_NR_LEVELS + 1)

/* From when there is nothing until the next request: a mean, if there are samples. */
struct cfq_think_time {
	u64			total_ns;	/* see cfq_add_think_time() */
	unsigned int		samples;
};

/* What competes for one share of time, least first. */
struct cfq_service_tree {
	struct rb_root_cached	rb;		/* by virtual time */
	struct rb_root_cached	line;		/* members with tasks in line, too */
	u64			min_vdisktime;	/* where who was away comes in */
	u64			came_vdisktime;	/* where the last member did */
	unsigned int		nr;		/* on @rb */
	unsigned int		nr_waiting;	/* not there, but count as if they were */
	unsigned int		total_weight;	/* of both */
	u64			due_ns;		/* then it is sent before better classes */
	u64			empty_since_ns;	/* queues have nothing; 0 if they have */
	struct cfq_think_time	think;		/* until the next one has */
	u64			left_ns;	/* end of a request, of a task that is gone; or 0 */
	u64			left_vdisktime;	/* and its place */
	u64			borrowed_until_ns; /* pays for what was urgent */
};

/* What shares the time of a group: its queues, or its members. */
struct cfq_trees {
	struct cfq_service_tree	of[CFQ_NR_CLASSES];
	struct cfq_entity	*above;		/* one level up; NULL at the top */
	bool			queues;
};

/* Something that is served from a service tree. */
struct cfq_entity {
	struct rb_node		rb_node;	/* in @st */
	struct cfq_service_tree	*st;		/* NULL: nothing to do, not awaited */
	struct cfq_trees	*trees;		/* where it competes */
	enum cfq_class		class;
	unsigned int		weight;		/* never 0 where it competes */
	u64			borrowed_until_ns; /* as of its tree; of groups */
	u64			vdisktime;	/* ns received, at CFQ_WEIGHT_DEFAULT */
};

/* What shares the time of a group: its tasks, child groups. */
struct cfq_member {
	struct cfq_entity	entity;
	struct cfq_data		*group;		/* where it competes; NULL for the root */
	struct rb_node		line_node;	/* empty if no task of it is in line */
	u64			line_vdisktime;	/* when it was sorted there */
	bool			waiting;	/* on no tree, but it counts there */
	u64			idle_since_ns;	/* but for urgent requests; or CFQ_NOT_IDLE */
};

/* What is counted of a group and those below it, for cfq.stat. */
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

/* Orders of sizes of requests, each of which takes as long for each page. */
#define CFQ_NR_ORDERS	8U

/* Reads of each order, and writes. */
#define CFQ_NR_SIZES	(2 * CFQ_NR_ORDERS)

/* What each size takes of a busy device: block/cfq-device.c, 1. */
struct cfq_sizes {
	u64		ns[2][CFQ_NR_ORDERS + 1]; /* 1 << order pages; 0: unknown */
	unsigned int	work[2][CFQ_NR_ORDERS + 1];
	unsigned int	tries[CFQ_NR_SIZES];
	u64		again_ns[CFQ_NR_SIZES]; /* it is not tried before */

	/* What is sent is almost only of this size, or of none: CFQ_NR_SIZES. */
	unsigned int	size;
	u64		since_ns;
	unsigned int	nr_before;	/* to be completed before a window begins */
	unsigned int	sent;		/* about, of these, */
	unsigned int	pages;		/* that are so many, */
	unsigned int	work_sent;	/* and so much work, */
	unsigned int	others;		/* and of others */
	unsigned int	others_work;
	unsigned int	done;		/* completed in this window, */
	u64		in_driver_ns;	/* after so long in all */
	u64		start_ns;
	unsigned long	seen;		/* sizes; see cfq_sizes_look() */

	unsigned int	trial_depth;	/* 0: no trial; so many are in the device */
	unsigned int	trial_size;	/* only what is of it is sent */
	u64		until_ns;
};

/* What was learned of a device that works on many requests at the same time. */
struct cfq_parallelism {
	u64		service_ns[2][CFQ_NR_ORDERS]; /* the least by itself */
	u64		work_ns;	/* done in this window: each page by itself */
	u64		window_start_ns;
	unsigned int	parallel;	/* CFQ_PARALLEL_ONE is one */

	struct cfq_sizes sizes;

	struct request	*probe;		/* one at a time is watched */
	u64		probe_sent_ns;
	unsigned int	probe_bytes;	/* of data */
	unsigned int	probe_nr;	/* requests in the device before it */
	unsigned int	probe_beside;	/* pages of these */
	unsigned int	probe_work;	/* and their work */

	u64		page_ns[2];	/* that reads and writes take by themselves */
	unsigned int	page_samples[2];
	unsigned int	write_work;	/* of a page, by what they take by themselves */
	u64		sample_until_ns; /* to be had; 0 if none was waited for */
	bool		drain;		/* nothing is sent, for a sample */
};

/* Is another way of using the device better?  See block/cfq-heads.c. */
enum cfq_duel_phase {
	CFQ_DUEL_NONE,
	CFQ_DUEL_SAME,		/* measured as it is */
	CFQ_DUEL_CHANGE,	/* what is in the device was sent before */
	CFQ_DUEL_OTHER,		/* measured as it would be otherwise */
};

struct cfq_duel {
	bool		of_turns;	/* else of strictness */
	bool		other;		/* than at first: it is better */
	enum cfq_duel_phase phase;
	unsigned int	won;		/* running */
	u64		unit_ns;	/* of how long it takes */
	u64		phase_ns;
	u64		next_ns;	/* when something is to be decided */
	u64		again_ns;	/* not before that */
	u64		pause_ns;	/* to the next one, if it is lost */
	u64		done[2];	/* in this phase: by all, by whom it is for */
	u64		rate[2];	/* in the last one, for each second */
};

struct cfq_heads {
	bool		told_one;	/* it says: one head */
	bool		watched;	/* a read takes as long as a head needs */
	bool		many;		/* it has several, as far as is known */

	sector_t	position;	/* of the read that was completed last */
	u64		completed_ns;
	unsigned int	samples;	/* of far reads, see there */
	unsigned int	soon;		/* of these, of CFQ_HEADS_ALL, so soon */
	u64		sample_ns;	/* when the last one was */

	const void	*stream;	/* that had the last slice: to compare */
	u64		competed_ns;	/* when another one had one */
	u64		passed_ns;	/* when some had what others had left */
	bool		cpus_busy;	/* all of them, without a head */
	u64		idle_us;	/* of all processors */
	u64		idle_asked_ns;	/* when it was so much */
	struct cfq_duel	duel;
};

/* What exists once per device because the hardware does. */
struct cfq_driver_data {
	struct request_queue	*queue;
	/* Used as if it does one request at a time, seeks cost and waiting can pay. */
	bool			one_head;
	bool			strict;		/* who is ahead waits, though there is room */
	/* Whose long request was held back since one was sent; to compare. */
	const struct cfq_queue	*held_cfqq;
	bool			held_for_equal;	/* just now: so order matters */
	unsigned int		nr_in_driver;	/* sent, not completed; locklessly, too */
	unsigned int		pages_in_driver; /* of these; see rq_set_sent() */
	sector_t		last_position;	/* end of the last one sent */
	unsigned int		nr_first_in_driver; /* sent out of order */
	u64			first_since_ns;	/* that one of those is waited for */
	unsigned int		nr_flushes;	/* or to come; locklessly, too */
	u64			flush_since_ns;	/* when the last one came */
	s64			flush_ns;	/* what they took more than usual, not charged */
	bool			flushed;	/* one ended, none of others since */

	u64			charged_until_ns; /* time before this is spent */
	unsigned int		work_in_driver;	/* of all sent, not completed */
	unsigned int		access_work;	/* of each, beside that by size */
	unsigned int		full_work;	/* that fills it, beside access_work */
	unsigned int		lost_work;	/* of requests that seem lost */
	u64			lost_since_ns;
	u64			full_since_ns;	/* and gives nothing back */
	u64			mean_cost_ns;	/* of a request, about */
	u64			spent_ns;	/* lately without a head, */
	unsigned int		spent_work;	/* for so much: the price */
	u64			discard_ns;	/* what one takes, or the like */
	u64			rt_until_ns;	/* a real time task may be back */
	u64			sent_ns;	/* when the last request was */
	struct cfq_parallelism	par;
	struct cfq_heads	heads;

	struct hrtimer		idle_timer;
	struct cfq_tunables	tun;
};

/*
 * What a request leaves behind when it is completed, until somebody has the
 * lock: one for each descriptor, which may be in use again by then.  So long
 * the request counts as in the device, and holds its place within limits and a
 * reference on its queue.
 */
struct cfq_done {
	struct llist_node	node;		/* on cfqmd->done */
	struct cfq_queue	*cfqq;
	const struct request	*rq;		/* for comparison only */
	u64			end_ns;
	u64			sent;		/* see rq_set_sent() */
	unsigned long		charged;	/* see rq_set_charged() */
	sector_t		position;
	blk_opf_t		opf;
};

/*
 * The requests of a task (sync) or of a priority (shared), under cfqmd->lock.
 * A reference is held by each cfq_io_cq and shared table that hands the queue
 * out, by each task in line or that flushes, by each request until what it left
 * is looked at, and as the active one.  @owned and @nr_queued are read locklessly, too.
 */
struct cfq_queue {
	struct rcu_head		rcu;		/* see cfq_io_cq */
	struct cfq_entity	entity;		/* on one of cfqd->queues */
	struct cfq_data		*cfqd;		/* owns a reference on it */
	int			ref;
	pid_t			pid;		/* of the first task, for debugfs */

	struct rb_root		sort_list;	/* queued, by sector */
	struct list_head	fifo;		/* queued, not urgent, by age */
	struct request		*next_rq;	/* to be sent: nearest, or oldest */
	unsigned int		nr_queued;
	unsigned int		nr_in_driver;
	unsigned int		since_fifo_check; /* dispatches */

	unsigned short		ioprio;		/* as last seen in a request */
	struct list_head	idle_node;	/* on sent_cfqqs or idle_cfqqs */
	bool			sync;
	bool			shared;		/* of a priority, not of a task */
	bool			owned;		/* more requests may come */
	unsigned int		nr_in_line;	/* tasks, for a descriptor */

	u64			sent_ns;	/* when the last request was, or flush came */
	u64			lost_ns;	/* not waited for from then on: all is sent */
	u64			cost_ns;	/* of a request, about */
	u64			slice_start_ns;	/* while active */
	u64			slice_used_ns;
	u64			idle_until_ns;	/* active, waiting for a request */

	u64			served_ns;	/* less a part of its absence */

	u64			last_end_ns;
	struct cfq_think_time	think;		/* until its next request */
	u32			seek_history;	/* one bit a request: was it far? */
	unsigned int		seek_samples;	/* bits of it that count */
	sector_t		last_request_end;
};

/*
 * Per-task CFQ of one group on one device.  All is under cfqmd->lock, @row_node
 * also under the grid's locks; @cfqc, limits and what cfq.stat counts are read
 * under RCU, too.  References: the grid's one, until the cgroup or the
 * scheduler goes away, and one for each cfq_queue, cfq_data of a child group,
 * place within a limit, and task in line for a descriptor or just let in.
 */
struct cfq_data {
	struct cfq_meta_data	*cfqmd;
	int			ref;
	struct cfq_cgroup	*cfqc;		/* NULL once removed, or without */
	u64			cgroup_id;	/* also then; 1 is the root group */

	struct cfq_trees	queues;
	struct cfq_queue	*active_cfqq;	/* has a slice, or is waited for */
	/* Async, and sync for others than the tasks of the group. */
	struct cfq_queue	*shared_cfqq[2][CFQ_NR_SHARED];
	unsigned int		nr_queued;	/* requests */
	unsigned int		nr_in_driver;	/* and disk queues that flush, each as one */
	unsigned int		nr_async;	/* of both */
	unsigned int		nr_sync_busy;	/* sync queues on the trees */
	u32			seek_history;	/* of all its tasks together */
	unsigned int		seek_samples;
	struct cfq_queue	*favoured_cfqq;	/* new, see cfqq_favour() */
	s64			favours_ns;	/* not charged, or forgiven, for that */
	u64			head_kept_ns;	/* by streams or writeback */
	struct cfq_think_time	new_task;	/* until it comes, after one ended */
	u64			sent_ns;	/* when its last request was */
	/* Tasks without a descriptor: [0] async, [1] sync. */
	struct rb_root_cached	line[2][CFQ_NR_CLASSES];
	u64			line_served_ns[2][CFQ_NR_CLASSES]; /* one was let in */
	unsigned int		nr_admitted;	/* from it, no request queued yet */
	u64			admitted_ns;	/* when the last one was */

#ifdef CONFIG_CFQ_CGROUP
	struct cfq_member	tasks;		/* among the child groups */
	struct cfq_member	self;		/* among the siblings */
	struct cfq_trees	members;
	unsigned int		nr_ready;	/* members with a request queued */
	struct list_head	row_node;	/* on cfqc->row */
	struct list_head	column_node;	/* on cfqmd->column */
	struct rcu_head		rcu;		/* for who has not the lock */
	u64			turn_used_ns;
	bool			turn_cut;	/* over before its time */
	bool			turn_left;	/* the last one ended early, by itself */
	u64			stats[CFQ_NR_STATS];
	unsigned int		nr_held;	/* of those that came under a limit */
	unsigned int		max_held;	/* not to be exceeded */
	struct list_head	waiters;	/* none unless that is reached */
#endif
};

/*
 * The scheduler of one device.  @nr_queued, @nr_async, @withheld, @nothing_to_send,
 * @nr_waiting, @nr_admitted, @dd.one_head and whether @dispatch is empty are
 * read locklessly, too.
 */
struct cfq_meta_data {
	/*
	 * Protects all here, and is held in all calls unless said otherwise.
	 * Taken with interrupts off, inside queue_lock and the io_context lock;
	 * cfq_grid_lock nests inside it.
	 */
	spinlock_t		lock;
	struct cfq_driver_data	dd;
	struct llist_head	done;	/* completed since somebody had the lock */
	struct cfq_done		*records;	/* one a descriptor; NULL: no memory */
	unsigned int		nr_records;	/* for each hardware queue */
	unsigned int		record_stride;	/* as many, 0 if these share theirs */
	struct list_head	dispatch;	/* not queued, and sent first */
	struct list_head	urgent[2];	/* queued, before others; [0] written back */
	unsigned int		nr_written_back; /* sent out of order, in the device */
	u64			other_sent_ns;	/* when one was asked for in order */
	u64			repay_until_ns;	/* the task that inserts; 0 if none */
	u64			repay_ns;	/* no longer than that */
	struct cfq_queue	*sync_writer;	/* whose sync write was last completed */
	u64			sync_written_ns;
	unsigned int		nr_queued;	/* on any cfq_queue */
	unsigned int		nr_before_flush; /* queued data for which flushes wait */
	unsigned int		nr_async;	/* queued, or in the device */
	struct cfq_queue	*last_cfqq;	/* queued the last; NULL if it was freed */
	struct list_head	sent_cfqqs;	/* none queued, some in the device */
	struct list_head	idle_cfqqs;	/* none, on their trees: group_idle */
	bool			withheld;	/* no use in asking for a request now */
	bool			nothing_to_send; /* no need, either */
	unsigned int		nr_since_withheld; /* completions */
	unsigned int		nr_waiting;	/* tasks, for a descriptor */
	unsigned int		nr_admitted;	/* they may go on, nothing queued yet */
	struct cfq_queue	*merge_cfqq;	/* of a bio, while it is tried */
	struct cfq_queue	oom_cfqq;	/* if none can be allocated */
	struct cfq_data		root;		/* or the only one */
	u64			expected_until_ns; /* who had something to do may be back */
#ifdef CONFIG_CFQ_CGROUP
	unsigned int		nr_busy_groups;	/* their tasks have something to do */
	struct cfq_data		*active_cfqd;	/* whose turn it is */
	struct list_head	column;		/* all cfq_data, parents first; RCU */
#endif
};

#endif /* _LINUX_CFQ_IOSCHED_H */
