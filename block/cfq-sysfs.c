// SPDX-License-Identifier: GPL-2.0
/* CFQ I/O scheduler: its tunables, in /sys/block/DEV/queue/iosched/, and debugfs. */
#include <linux/seq_file.h>

#include "cfq-queue.h"

/* Defaults of the tunables; ms unless said otherwise. */
const struct cfq_tunables cfq_default_tunables = {
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

/*
 * A value in sysfs: a member of struct cfq_tunables in a unit.  One that is no
 * plain number is refused with -EINVAL, one out of range with -ERANGE.
 */
struct cfq_tunable {
	size_t	offset;		/* of a u64 */
	u64	unit;
	u64	min;
	u64	max;
};

static ssize_t cfq_tunable_show(struct elevator_queue *e, char *page,
				const struct cfq_tunable *tunable)
{
	struct cfq_meta_data *cfqmd = e->elevator_data;
	const u64 *value = (void *)&cfqmd->dd.tun + tunable->offset;

	/* Rounded up: it can be written, and what is on is not read as off. */
	return sysfs_emit(page, "%llu\n",
			  DIV64_U64_ROUND_UP(*value, tunable->unit));
}

static ssize_t cfq_tunable_store(struct elevator_queue *e, const char *page,
				 size_t count,
				 const struct cfq_tunable *tunable)
{
	struct cfq_meta_data *cfqmd = e->elevator_data;
	u64 *old = (void *)&cfqmd->dd.tun + tunable->offset, value;
	int ret;

	/* A NUL ends no number, and a full page may be the first of several. */
	if (strlen(page) != count || count >= PAGE_SIZE)
		return -EINVAL;
	ret = cfq_parse(page, tunable->min, tunable->max, &value);
	if (ret)
		return ret;
	guard(cfq_lock)(cfqmd);
	/* Who idles does so by the old values. */
	cfq_end_idle(cfqmd, U64_MAX);
	*old = value * tunable->unit;
	return count;
}

#define CFQ_TUNABLE(name, member, unit, min, max)			\
static const struct cfq_tunable cfq_##name = {				\
	offsetof(struct cfq_tunables, member), unit, min, max		\
};									\
									\
static ssize_t name##_show(struct elevator_queue *e, char *page)	\
{									\
	return cfq_tunable_show(e, page, &cfq_##name);			\
}									\
									\
static ssize_t name##_store(struct elevator_queue *e,			\
			    const char *page, size_t count)		\
{									\
	return cfq_tunable_store(e, page, count, &cfq_##name);		\
}

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

const struct elv_fs_entry cfq_attrs[] = {
	__ATTR_RW(quantum), __ATTR_RW(low_latency), __ATTR_RW(slice_async_rq),
	__ATTR_RW(fifo_expire_sync), __ATTR_RW(fifo_expire_async),
	__ATTR_RW(back_seek_max), __ATTR_RW(back_seek_penalty),
	__ATTR_RW(slice_sync), __ATTR_RW(slice_sync_us),
	__ATTR_RW(slice_async), __ATTR_RW(slice_async_us),
	__ATTR_RW(slice_idle), __ATTR_RW(slice_idle_us),
	__ATTR_RW(group_idle), __ATTR_RW(group_idle_us),
	__ATTR_RW(target_latency), __ATTR_RW(target_latency_us),
#ifdef CONFIG_CFQ_CGROUP
	__ATTR_RW(group_slice), __ATTR_RW(group_slice_us),
#endif
	__ATTR_NULL
};

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
		   cfq_class_names[cfqq->entity.class],
		   (unsigned long)IOPRIO_PRIO_LEVEL(cfqq->ioprio),
		   cfqq->entity.weight, cfqq->entity.vdisktime,
		   cfqq->nr_queued, cfqq->nr_in_driver,
		   div_u64(cfqq->cost_ns, NSEC_PER_USEC),
		   cfqq->shared ? " shared" : "",
		   cfqq_seeky(cfqq) ? " seeky" : "",
		   cfqq_is_active(cfqq) ? " active" : "",
		   cfqq->idle_until_ns ? " idling" : "");
}

void cfq_data_show(struct cfq_data *cfqd, struct seq_file *m)
{
	struct cfq_entity *entity;
	enum cfq_class class;

	for (class = 0; class < CFQ_NR_CLASSES; class++)
		for (entity = cfq_st_first(&cfqd->queues.of[class]); entity;
		     entity = cfq_st_next(entity))
			cfqq_show(entity_to_cfqq(entity), m);
}

#ifdef CONFIG_BLK_DEBUG_FS

/*
 * The files outlive the scheduler by a moment when another one is selected, but
 * not while the elevator lock is held.
 */
static int cfq_show(struct request_queue *q, struct seq_file *m,
		    void (*show)(struct cfq_meta_data *, struct seq_file *))
{
	guard(mutex)(&q->elevator_lock);
	if (q->elevator && q->elevator->type == &iosched_cfq) {
		struct cfq_meta_data *cfqmd = q->elevator->elevator_data;

		guard(cfq_lock)(cfqmd);
		cfq_end_idle(cfqmd, ktime_get_ns());
		show(cfqmd, m);
	}
	return 0;
}

static int cfq_trees_show(void *data, struct seq_file *m)
{
	return cfq_show(data, m, cfq_groups_show);
}

static void cfq_driver_data_show(struct cfq_meta_data *cfqmd, struct seq_file *m)
{
	const struct cfq_driver_data *dd = &cfqmd->dd;
	const unsigned int work = cfq_size_work(SZ_64K, false, &dd->par.sizes);
	const unsigned int write = cfq_size_work(SZ_4K, true, &dd->par.sizes);

	seq_printf(m,
		   "one_head %d\nqueued %u\ndriver %u\nlast_position %llu\nmean_cost_us %llu\nparallel %u.%02u\nwrite_work %u.%02u\nread_64k_work %u.%02u\nidle_timer %d\nwithheld %d\nwaiting %u\n",
		   dd->one_head, cfqmd->nr_queued, dd->nr_in_driver,
		   (u64)dd->last_position,
		   div_u64(dd->mean_cost_ns, NSEC_PER_USEC),
		   dd->par.parallel / CFQ_PARALLEL_ONE,
		   dd->par.parallel % CFQ_PARALLEL_ONE * 100 / CFQ_PARALLEL_ONE,
		   write / CFQ_WORK_PAGE, write % CFQ_WORK_PAGE * 100 / CFQ_WORK_PAGE,
		   work / CFQ_WORK_PAGE, work % CFQ_WORK_PAGE * 100 / CFQ_WORK_PAGE,
		   hrtimer_is_queued(&cfqmd->dd.idle_timer), cfqmd->withheld,
		   cfqmd->nr_waiting);
	seq_printf(m, "far_reads %u\nsoon %u.%02u\nmixed %d\nstrict %d\n",
		   dd->heads.samples, dd->heads.soon / CFQ_HEADS_ALL,
		   dd->heads.soon % CFQ_HEADS_ALL * 100 / CFQ_HEADS_ALL,
		   dd->heads.duel.of_turns && dd->heads.duel.other, dd->strict);
}

static int cfq_device_show(void *data, struct seq_file *m)
{
	return cfq_show(data, m, cfq_driver_data_show);
}

const struct blk_mq_debugfs_attr cfq_queue_debugfs_attrs[] = {
	{"trees", 0400, cfq_trees_show},
	{"device", 0400, cfq_device_show},
	{},
};
#endif
