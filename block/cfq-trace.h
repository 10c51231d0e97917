/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CFQ tells those who listen: the tracepoints of <trace/events/cfq.h>, and
 * messages to blktrace.  Where nobody listens a tracepoint is jumped over; a
 * message is a look at one pointer, and there is none about a single request.
 */
#ifndef _CFQ_TRACE_H
#define _CFQ_TRACE_H

#include <linux/blktrace_api.h>

#include "cfq-layers.h"

#include <trace/events/cfq.h>

#define cfq_group_message(cfqd, fmt, ...)				\
do {									\
	const struct cfq_data *_cfqd __maybe_unused = (cfqd);		\
									\
	blk_add_cgroup_trace_msg(_cfqd->cfqmd->dd.queue,		\
				 cfq_group_css(_cfqd),			\
				 "cfq group=%llu " fmt,			\
				 _cfqd->cgroup_id, ##__VA_ARGS__);	\
} while (0)

#define cfq_queue_message(cfqq, fmt, ...)				\
do {									\
	const struct cfq_queue *_cfqq = (cfqq);				\
									\
	cfq_group_message(_cfqq->cfqd, "%s=%d " fmt,			\
			  _cfqq->sync ? "sync" : "async", _cfqq->pid,	\
			  ##__VA_ARGS__);				\
} while (0)

#endif /* _CFQ_TRACE_H */
