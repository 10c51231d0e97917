/* SPDX-License-Identifier: GPL-2.0 */
/* CFQ I/O scheduler: the device, see block/cfq-device.c.  Times are of CLOCK_MONOTONIC. */
#ifndef CFQ_DEVICE_H
#define CFQ_DEVICE_H

#include <linux/blk-mq.h>

#include "cfq-calc.h"

static inline bool cfq_told_one_head(struct request_queue *q)
{
	return blk_queue_rot(q);
}

/* The queue is about to be frozen: all requests must end. */
static inline bool cfq_must_empty(const struct cfq_driver_data *dd)
{
	return READ_ONCE(dd->queue->mq_freeze_depth) || blk_queue_dying(dd->queue);
}

/* What a page of CFQ_WORK_PAGE takes by itself; 0 if unknown. */
static inline u64 cfq_page_ns(const struct cfq_parallelism *par)
{
	return par->page_ns[READ] ?: par->page_ns[WRITE];
}

/*
 * So long others wait for a request of who has nothing else to send; then it
 * seems lost.  On flash sooner, but for twice what the work there takes.
 */
#define CFQ_STUCK_NS		(1000 * (u64)NSEC_PER_MSEC)
#define CFQ_STUCK_FLASH_NS	(100 * (u64)NSEC_PER_MSEC)

static inline u64 cfq_work_cost_ns(const struct cfq_driver_data *dd, unsigned int work)
{
	return div_u64(dd->spent_ns * work, dd->spent_work);
}

static inline u64 cfq_stuck_ns(const struct cfq_driver_data *dd)
{
	return dd->one_head || dd->access_work ? CFQ_STUCK_NS :
		min(CFQ_STUCK_NS, CFQ_STUCK_FLASH_NS +
				  2 * cfq_work_cost_ns(dd, dd->work_in_driver));
}

/* From one watched request to the next: often enough in a window. */
#define CFQ_PROBE_GAP_NS	(100 * NSEC_PER_USEC)

static inline bool cfq_probe_due(const struct cfq_parallelism *par, u64 now_ns)
{
	return !par->probe && now_ns >= par->probe_sent_ns + CFQ_PROBE_GAP_NS;
}

/* Ask for requests again at @ns, or before. */
static inline void cfq_ask_at(struct cfq_driver_data *dd, u64 ns)
{
	if (!hrtimer_is_queued(&dd->idle_timer) ||
	    ns < ktime_to_ns(hrtimer_get_expires(&dd->idle_timer)))
		hrtimer_start(&dd->idle_timer, ns_to_ktime(ns), HRTIMER_MODE_ABS);
}

/* One head: charge the time since the last completion, or since it was sent if idle. */
static inline u64 cfq_charge_serial(struct cfq_driver_data *dd, u64 now_ns)
{
	const u64 ns = now_ns - min(now_ns, dd->charged_until_ns);

	dd->charged_until_ns += ns;
	return ns;
}

/*
 * Several requests worked on together: charge, of the time that nobody has
 * spent yet, the part of @work in all, but no more than it was there.  What is
 * left builds up until each unit of work is charged what the device takes for one.
 */
static inline u64 cfq_charge_part(struct cfq_driver_data *dd, u64 now_ns,
				  unsigned int work, u64 in_driver_ns)
{
	u64 ns = now_ns - min(now_ns, dd->charged_until_ns);

	ns = min(div_u64(ns * work, dd->work_in_driver), in_driver_ns);
	dd->charged_until_ns += ns;
	return ns;
}

/* Is it to be decided anew how the device is used? */
static inline bool cfq_heads_ask(const struct cfq_driver_data *dd, u64 now_ns)
{
	return now_ns >= dd->heads.duel.next_ns ||
	       dd->heads.told_one != cfq_told_one_head(dd->queue);
}

void cfq_heads_forget(struct cfq_driver_data *dd, u64 now_ns);
void cfq_heads_watch(struct cfq_driver_data *dd, bool slow);
void cfq_heads_completed(struct cfq_driver_data *dd,
			 const struct cfq_done *done, bool stream);
bool cfq_heads_decide(struct cfq_driver_data *dd, u64 now_ns);
void cfq_device_forget(struct cfq_driver_data *dd, u64 now_ns);
void cfq_device_init(struct cfq_driver_data *dd, struct request_queue *q);
void cfq_device_set_one_head(struct cfq_driver_data *dd, bool one_head, u64 now_ns);
bool cfq_lacks_sample(struct cfq_driver_data *dd, struct request *rq, u64 now_ns);
u64 cfq_long_ns(const struct cfq_driver_data *dd, struct request *rq);
u64 cfq_device_sent(struct cfq_driver_data *dd, struct request *rq, u64 now_ns);
void cfq_learn_completed(struct cfq_driver_data *dd, const struct cfq_done *done);
void cfq_sizes_learn(struct cfq_driver_data *dd, u64 now_ns);
void cfq_sizes_look(struct cfq_driver_data *dd, u64 now_ns);
bool cfq_sizes_take(const struct cfq_driver_data *dd, struct request *rq, u64 now_ns);
bool cfq_sizes_end_trial(struct cfq_driver_data *dd, u64 now_ns);

/* With several heads, to get to the data is as much work as so many pages more. */
#define CFQ_ACCESS_WORK	(64 * CFQ_WORK_PAGE)

/*
 * In the device fifo_time holds, from bit 0: work, pages (up to so many), when
 * it was sent.
 */
#define RQ_PAGES_BITS	8
#define RQ_SENT_SHIFT	(CFQ_WORK_BITS + RQ_PAGES_BITS)
#define RQ_PAGES_MAX	((1U << RQ_PAGES_BITS) - 1)

static inline void rq_set_sent(struct request *rq, unsigned int work,
			       unsigned int pages, u64 now_ns)
{
	rq->fifo_time = now_ns << RQ_SENT_SHIFT | pages << CFQ_WORK_BITS | work;
}

static inline unsigned int cfq_sent_work(u64 sent)
{
	return sent & GENMASK(CFQ_WORK_BITS - 1, 0);
}

static inline unsigned int cfq_sent_pages(u64 sent)
{
	return sent >> CFQ_WORK_BITS & RQ_PAGES_MAX;
}

static inline u64 cfq_done_in_driver_ns(const struct cfq_done *done)
{
	return (done->end_ns - (done->sent >> RQ_SENT_SHIFT)) &
	       (U64_MAX >> RQ_SENT_SHIFT);
}

/* A device is busy if requests take so much longer than by themselves. */
#define CFQ_BUSY_TIMES		2

/* Requests of one size are counted at least so long, and so many. */
#define CFQ_SIZES_WINDOW_NS	(10 * NSEC_PER_MSEC)
#define CFQ_SIZES_LEAST		8

static inline void cfq_sizes_restart(struct cfq_sizes *sizes, u64 now_ns)
{
	sizes->done = 0;
	sizes->in_driver_ns = 0;
	sizes->start_ns = now_ns;
}

/*
 * With others up to such a part, of requests and of work, it is still of one size.  In
 * a trial: of the time, by what they take by themselves, as few are sent at all.
 */
#define CFQ_SIZES_PART		16
#define CFQ_TRIAL_OTHERS_PART	2

static inline bool cfq_op_has_data(blk_opf_t opf)
{
	const blk_opf_t op = opf & REQ_OP_MASK;

	return op == REQ_OP_READ || op == REQ_OP_WRITE || op == REQ_OP_ZONE_APPEND;
}

/* The reads or writes of an order; discards and flushes have none. */
static inline unsigned int cfq_rq_size(struct request *rq)
{
	return !cfq_op_has_data(rq->cmd_flags) ? CFQ_NR_SIZES :
	       op_is_write(rq->cmd_flags) * CFQ_NR_ORDERS +
	       cfq_size_order(cfq_pages(blk_rq_bytes(rq)));
}

/* @rq is sent; nr_in_driver is that before it. */
static inline void cfq_sizes_sent(struct cfq_driver_data *dd, struct request *rq,
				  unsigned int pages, unsigned int work)
{
	struct cfq_sizes *sizes = &dd->par.sizes;
	const unsigned int part = sizes->trial_depth ? CFQ_TRIAL_OTHERS_PART :
						       CFQ_SIZES_PART;
	const bool busy = dd->nr_in_driver >= CFQ_BUSY_TIMES;
	const unsigned int size = busy ? cfq_rq_size(rq) : CFQ_NR_SIZES;

	if (!busy || (size == CFQ_NR_SIZES && sizes->size == size)) {
		sizes->size = CFQ_NR_SIZES;
		sizes->sent = 0;
		return;
	}
	if (likely(size == sizes->size)) {
		sizes->sent++;
		sizes->pages += pages;
		sizes->work_sent += work;
	} else {
		sizes->others++;
		sizes->others_work += work;
	}
	if (sizes->others * part <= sizes->sent &&
	    sizes->others_work * CFQ_SIZES_PART <= sizes->work_sent)
		return;
	sizes->size = size;
	sizes->nr_before = dd->nr_in_driver + 1;
	sizes->since_ns = dd->sent_ns;
	sizes->sent = 1;
	sizes->pages = pages;
	sizes->work_sent = work;
	sizes->others = 0;
	sizes->others_work = 0;
	sizes->seen |= BIT(size);
}

/* What is sent takes so long by itself, on average; 0 if unknown. */
static inline u64 cfq_sizes_service_ns(const struct cfq_parallelism *par)
{
	const struct cfq_sizes *sizes = &par->sizes;
	const unsigned int order = sizes->size % CFQ_NR_ORDERS;

	return div_u64(par->service_ns[sizes->size / CFQ_NR_ORDERS][order] *
		       sizes->pages, sizes->sent) >> order;
}

/*
 * A trial begins with so many requests in the device.  If they come back sooner than
 * after so many times what one takes by itself, it gets twice as many, if there are;
 * but none that are slow, as others wait, once they show that the device is busy.
 */
#define CFQ_TRIAL_DEPTH		4U
#define CFQ_TRIAL_TIMES		6

static inline bool cfq_trial_deeper(const struct cfq_driver_data *dd, u64 now_ns)
{
	const struct cfq_sizes *sizes = &dd->par.sizes;
	const bool slow = sizes->start_ns + CFQ_SIZES_WINDOW_NS / 2 <= now_ns;

	return sizes->size == sizes->trial_size &&
	       2 * dd->nr_in_driver > sizes->trial_depth &&
	       sizes->in_driver_ns < (slow ? CFQ_BUSY_TIMES : CFQ_TRIAL_TIMES) *
				     sizes->done * cfq_sizes_service_ns(&dd->par);
}

static inline void cfq_sizes_completed(struct cfq_driver_data *dd, u64 in_driver_ns,
				       u64 now_ns)
{
	struct cfq_sizes *sizes = &dd->par.sizes;

	if (sizes->size == CFQ_NR_SIZES)
		return;
	if (sizes->nr_before) {
		if ((sizes->nr_before == 1 || now_ns - in_driver_ns <= sizes->since_ns) &&
		    !--sizes->nr_before)
			cfq_sizes_restart(sizes, now_ns);
		return;
	}
	sizes->done++;
	sizes->in_driver_ns += in_driver_ns;
	if (unlikely(sizes->trial_depth) && sizes->done >= CFQ_TRIAL_DEPTH &&
	    cfq_trial_deeper(dd, now_ns)) {
		sizes->trial_depth = 2 * dd->nr_in_driver;
		sizes->nr_before = dd->nr_in_driver;
		sizes->since_ns = now_ns;
		return;
	}
	if (sizes->done >= CFQ_SIZES_LEAST &&
	    sizes->start_ns + CFQ_SIZES_WINDOW_NS <= now_ns)
		cfq_sizes_learn(dd, now_ns);
}

/*
 * Count work that was done.  Of what took longer than a window only a part was in
 * it.  Return: whether it was the last in a window.
 */
static inline bool cfq_count_completed(struct cfq_parallelism *par, unsigned int work,
				       u64 in_driver_ns, u64 now_ns)
{
	u64 elapsed_ns = now_ns - min(now_ns, par->window_start_ns);
	u64 work_ns = div_u64(work * cfq_page_ns(par), CFQ_WORK_PAGE);

	if (unlikely(in_driver_ns > CFQ_WORK_WINDOW_NS))
		work_ns = mul_u64_u64_div_u64(work_ns, CFQ_WORK_WINDOW_NS, in_driver_ns);
	par->work_ns += work_ns;
	if (elapsed_ns < CFQ_WORK_WINDOW_NS)
		return false;
	par->parallel = cfq_parallel_add(par->parallel, par->work_ns, elapsed_ns);
	par->work_ns = 0;
	par->window_start_ns = now_ns;
	return true;
}

/*
 * The price of work is the mean of so much time that it took, or half of that: it
 * costs more while little is in the device, but all who share that pay the same.
 */
#define CFQ_PRICE_NS	((u64)NSEC_PER_SEC)

static inline void cfq_price_set(struct cfq_driver_data *dd, u64 page_ns)
{
	dd->spent_ns = page_ns;
	dd->spent_work = CFQ_WORK_PAGE;
}

static inline void cfq_price_add(struct cfq_driver_data *dd, u64 ns, unsigned int work)
{
	dd->spent_ns += ns;
	dd->spent_work += work;
	if (unlikely(dd->spent_ns >= CFQ_PRICE_NS || dd->spent_work > INT_MAX)) {
		dd->spent_ns /= 2;
		dd->spent_work = DIV_ROUND_UP(dd->spent_work, 2);
	}
}

/* Strict as processors come late, not as it has several heads? */
static inline bool cfq_cpus_late(const struct cfq_driver_data *dd)
{
	return dd->strict && !dd->access_work;
}

/* Pages that keep flash busy: more if processors come late. */
static inline unsigned int cfq_full_depth(const struct cfq_driver_data *dd)
{
	return cfq_useful_depth(dd->par.parallel) *
	       (cfq_cpus_late(dd) ? CFQ_STRICT_DEPTHS : 1);
}

/* Without a head: is all of the device busy? */
static inline bool cfq_device_busy(const struct cfq_driver_data *dd)
{
	return dd->pages_in_driver >= cfq_full_depth(dd) &&
	       dd->nr_in_driver >= dd->par.sizes.trial_depth;
}

/* Without a head: has a part of it nothing to do? */
static inline bool cfq_device_spares(const struct cfq_driver_data *dd)
{
	return dd->pages_in_driver < cfq_spare_depth(dd->par.parallel);
}

/* A trial ends after that, and does not begin if what it is for takes half of it. */
#define CFQ_TRIAL_NS		(150 * (u64)NSEC_PER_MSEC)

/* Are there too few samples of what such requests take by themselves? */
static inline bool cfq_sample_wanted(const struct cfq_parallelism *par,
				     const struct request *rq)
{
	return unlikely(par->page_samples[rq_data_dir(rq)] < CFQ_PAGE_SAMPLES);
}

/* The first one in a trial is a sample, too. */
static inline bool cfq_waits_for_sample(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;
	const u64 until_ns = par->sizes.trial_depth ? par->sizes.until_ns :
						      par->sample_until_ns;

	if (likely(!par->drain))
		return false;
	par->drain = until_ns > now_ns && !cfq_must_empty(dd) &&
		     !cfq_alone(dd->pages_in_driver, par->parallel);
	if (par->drain) {
		cfq_ask_at(dd, until_ns);
	} else {
		par->probe = NULL;
		par->probe_sent_ns = 0;
		if (par->sizes.trial_depth)
			par->sizes.until_ns = now_ns + CFQ_TRIAL_NS;
	}
	return par->drain;
}

/* Is the charge known only when it is done?  Without a head not that of data. */
static inline bool cfq_charges_completed(const struct cfq_driver_data *dd, blk_opf_t opf)
{
	return dd->one_head || dd->access_work || !cfq_op_has_data(opf);
}

/* Does order matter?  If it is busy or strict, or who waits for an equal goes first. */
static inline bool cfq_order_matters(const struct cfq_driver_data *dd)
{
	return dd->one_head || dd->strict || dd->held_for_equal || cfq_device_busy(dd);
}

/* The device time of what was completed. */
static inline u64 cfq_spent_ns(struct cfq_driver_data *dd, const struct cfq_done *done)
{
	const u64 ns = dd->one_head ? cfq_charge_serial(dd, done->end_ns) :
		cfq_charge_part(dd, done->end_ns, cfq_sent_work(done->sent),
				cfq_done_in_driver_ns(done));

	/* For longer a disk stood still. */
	return cfq_op_has_data(done->opf) ? min(ns, CFQ_STUCK_NS) : ns;
}

/* A request is back.  Return: the device time that it took. */
static inline u64 cfq_device_completed(struct cfq_driver_data *dd,
				       const struct cfq_done *done)
{
	const unsigned int work = cfq_sent_work(done->sent);
	const u64 in_driver_ns = cfq_done_in_driver_ns(done);
	const u64 now_ns = done->end_ns;
	const u64 spent_ns = cfq_spent_ns(dd, done);
	/* Of a discard it is by what others took. */
	const unsigned int done_work = cfq_op_has_data(done->opf) ? work : CFQ_WORK_PAGE;

	dd->work_in_driver -= work;
	dd->pages_in_driver -= cfq_sent_pages(done->sent);
	/* Some seem lost, or it is full: it is slow, but it works. */
	if (unlikely(dd->lost_work || dd->full_since_ns)) {
		if (dd->lost_since_ns + in_driver_ns >= now_ns)
			dd->lost_work -= min(dd->lost_work, work);
		dd->lost_work = min(dd->lost_work, dd->work_in_driver);
		if (dd->full_since_ns && dd->full_since_ns + in_driver_ns >= now_ns)
			dd->full_since_ns = now_ns;
	}
	if (dd->one_head)
		return spent_ns;
	if (!dd->heads.duel.of_turns)
		dd->heads.duel.done[0] += done_work;
	if (cfq_count_completed(&dd->par, dd->access_work ? CFQ_WORK_PAGE : done_work,
				in_driver_ns, now_ns))
		cfq_sizes_look(dd, now_ns);
	cfq_sizes_completed(dd, in_driver_ns, now_ns);
	/* Where a part was kept idle for the last one that tells no price. */
	if (!cfq_charges_completed(dd, done->opf) &&
	    !(dd->held_cfqq && dd->nr_in_driver == 1))
		cfq_price_add(dd, spent_ns, work);
	if (dd->par.probe == done->rq)
		cfq_learn_completed(dd, done);
	return spent_ns;
}

/*
 * A disk may leave for last what had to go first, as long as it gets others: after
 * this it gets only urgent ones until that is served or seems lost.
 */
#define CFQ_FIRST_WAIT_NS	(50 * NSEC_PER_MSEC)

static inline bool cfq_waits_for_first(const struct cfq_driver_data *dd, u64 now_ns)
{
	return dd->nr_first_in_driver && dd->one_head &&
	       dd->first_since_ns + CFQ_FIRST_WAIT_NS <= now_ns &&
	       dd->first_since_ns + cfq_stuck_ns(dd) > now_ns;
}

/* Must the next one wait, as the device is full?  Notes since when, and what is lost. */
static inline bool cfq_waits_for_data(struct cfq_driver_data *dd, u64 now_ns)
{
	if (dd->nr_in_driver > 1 &&
	    dd->work_in_driver >= dd->lost_work + dd->full_work +
				  dd->nr_in_driver * dd->access_work) {
		if (!dd->full_since_ns)
			dd->full_since_ns = now_ns;
		if (dd->full_since_ns + cfq_stuck_ns(dd) > now_ns)
			return true;
		dd->lost_work = dd->work_in_driver;
		dd->lost_since_ns = now_ns;
	}
	dd->full_since_ns = 0;
	return false;
}

#endif /* CFQ_DEVICE_H */
