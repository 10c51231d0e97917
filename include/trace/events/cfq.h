/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two-layer CFQ decides.  A group is given by the id of its cgroup, which
 * is the inode number of its directory, a queue by the number of its task.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cfq

#if !defined(_TRACE_CFQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_CFQ_H

#include <linux/cfq-iosched.h>
#include <linux/tracepoint.h>

/* A queue is chosen, or without a queue a group; @entity is what it is there. */
TRACE_EVENT(cfq_select,
	    TP_PROTO(const struct cfq_data *cfqd, const struct cfq_queue *cfqq,
		     const struct cfq_entity *entity, const char *choice),
	    TP_ARGS(cfqd, cfqq, entity, choice),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u64, group)
			     __field(pid_t, pid)
			     __field(bool, sync)
			     __string(choice, choice)
			     __field(unsigned int, weight)
			     __field(u64, vdisktime)
			     __field(unsigned int, queued)),
	    TP_fast_assign(__entry->dev = cfq_group_dev(cfqd);
			   __entry->group = cfqd->cgroup_id;
			   __entry->pid = cfqq ? cfqq->pid : 0;
			   __entry->sync = !cfqq || cfqq->sync;
			   __assign_str(choice);
			   __entry->weight = entity->weight;
			   __entry->vdisktime = entity->vdisktime;
			   __entry->queued = cfqq ? cfqq->nr_queued : cfqd->nr_queued),
	    TP_printk("%u:%u group=%llu pid=%d sync=%d choice=%s weight=%u vdisktime=%llu queued=%u",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		      __entry->pid, __entry->sync, __get_str(choice),
		      __entry->weight, __entry->vdisktime, __entry->queued)
);

/* A queue and its group are charged device time. */
TRACE_EVENT(cfq_charge,
	    TP_PROTO(const struct cfq_queue *cfqq, u64 ns, u64 estimate_ns,
		     const char *reason),
	    TP_ARGS(cfqq, ns, estimate_ns, reason),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u64, group)
			     __field(pid_t, pid)
			     __field(bool, sync)
			     __field(u64, ns)
			     __field(u64, estimate_ns)
			     __string(reason, reason)),
	    TP_fast_assign(__entry->dev = cfq_group_dev(cfqq->cfqd);
			   __entry->group = cfqq->cfqd->cgroup_id;
			   __entry->pid = cfqq->pid;
			   __entry->sync = cfqq->sync;
			   __entry->ns = ns;
			   __entry->estimate_ns = estimate_ns;
			   __assign_str(reason)),
	    TP_printk("%u:%u group=%llu pid=%d sync=%d ns=%llu estimate_ns=%llu reason=%s",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		      __entry->pid, __entry->sync, __entry->ns,
		      __entry->estimate_ns, __get_str(reason))
);

/* The slice of a queue is over, or without a queue the turn of a group. */
TRACE_EVENT(cfq_expire,
	    TP_PROTO(const struct cfq_data *cfqd, const struct cfq_queue *cfqq,
		     u64 used_ns, const char *reason),
	    TP_ARGS(cfqd, cfqq, used_ns, reason),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u64, group)
			     __field(pid_t, pid)
			     __field(bool, sync)
			     __field(u64, used_ns)
			     __string(reason, reason)),
	    TP_fast_assign(__entry->dev = cfq_group_dev(cfqd);
			   __entry->group = cfqd->cgroup_id;
			   __entry->pid = cfqq ? cfqq->pid : 0;
			   __entry->sync = !cfqq || cfqq->sync;
			   __entry->used_ns = used_ns;
			   __assign_str(reason)),
	    TP_printk("%u:%u group=%llu pid=%d sync=%d used_ns=%llu reason=%s",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->group,
		      __entry->pid, __entry->sync, __entry->used_ns, __get_str(reason))
);

#endif /* _TRACE_CFQ_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
