// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the device: what a request costs, and how many keep it
 * busy.
 *
 * 1. Charge.  Nobody tells what device time a request took when several are in
 *    the device at once, so it is estimated (block/cfq-device.h):
 *
 *    One head: the time since the previous completion, as that is what the head
 *    did, but for flushes and for how long it stood still.
 *
 *    Flash: the work of the request times a price, when it is sent.  Work is
 *    the size in pages, times what a write takes compared with a read, or as
 *    said below.  The price is learned at completions: the time not yet spent
 *    is divided among all requests in the device by their work, and the one
 *    that is done has spent its part.  What has no data, as a discard, is
 *    charged that part when it is done.
 *
 *    4 KiB may take as long as 16, or as any size (a volume of which the number
 *    of requests a second is limited).  While the device is busy with reads or
 *    with writes of one order of sizes, their rate tells what one takes.  Where
 *    sizes are mixed that may never be so: then those of one are sent alone, a
 *    trial: the first when little else is in the device, to see what it takes by
 *    itself, then more at a time until they wait for each other.
 *
 *    Several heads that say they are one: that part, when it is done.
 *
 * 2. Depth.  Without a head, how many pages keep the device busy is learned.
 *    What a page takes by itself is known from requests that had few beside
 *    them; times the rate of completions it is the number worked on at the same
 *    time (Little's law).  Twice as many keep it busy, and both layers bound by
 *    that who is ahead.  What writes and reads take by themselves also tells
 *    what a write costs, until their rates are known; the first few of each wait
 *    until the device has hardly anything else to do.
 *
 * Bounds beside that: cfqq_hold_large(), cfq_waits_for_first(), cfq_waits_for_data().
 */
#include "cfq-device.h"

/* Costs until there is experience: of a request, and of a page without a head. */
#define CFQ_COST_UNKNOWN_NS	(2 * NSEC_PER_MSEC)
#define CFQ_PAGE_UNKNOWN_NS	(50 * NSEC_PER_USEC)

/*
 * Time in which a sample of a request by itself must be had, or never: a USB stick
 * may take a third of a second for one.
 */
#define CFQ_SAMPLE_WAIT_NS	(400 * NSEC_PER_MSEC)

/*
 * What is sent next waits for all in the device, which gains of many requests,
 * but not of much data.  So a disk gets no more than this, others four times
 * that, flash what it does in CFQ_FULL_NS if that is more, and any of them two
 * requests.  Lost ones do not count.
 */
#define CFQ_DISK_WORK		(512 * CFQ_WORK_PAGE)
#define CFQ_FULL_NS		(50 * (u64)NSEC_PER_MSEC)

static void cfq_set_full_work(struct cfq_driver_data *dd)
{
	const struct cfq_parallelism *par = &dd->par;
	u64 work = 4 * CFQ_DISK_WORK;

	if (!dd->access_work && par->page_ns[READ])
		work = max(work, div64_u64(CFQ_FULL_NS * CFQ_WORK_PAGE *
					   (par->parallel / CFQ_PARALLEL_ONE),
					   par->page_ns[READ]));
	dd->full_work = dd->one_head ? CFQ_DISK_WORK : min(work, UINT_MAX);
}

/* Use @dd as if it had @one_head, or not. */
void cfq_device_set_one_head(struct cfq_driver_data *dd, bool one_head, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	WRITE_ONCE(dd->one_head, one_head);
	dd->charged_until_ns = max(dd->charged_until_ns, now_ns);
	dd->lost_work = 0;
	dd->full_since_ns = 0;
	dd->access_work = dd->heads.told_one && !one_head ? CFQ_ACCESS_WORK : 0;
	cfq_set_full_work(dd);
	par->probe = NULL;
	par->drain = false;
	par->sample_until_ns = 0;
	par->work_ns = 0;
	par->window_start_ns = now_ns;
	par->sizes = (struct cfq_sizes) { .size = CFQ_NR_SIZES };
	cfq_sizes_set_work(&par->sizes, par->write_work);
}

/* What was learned was of another device, or of none; it is used as before. */
void cfq_device_forget(struct cfq_driver_data *dd, u64 now_ns)
{
	cfq_price_set(dd, CFQ_PAGE_UNKNOWN_NS);
	dd->discard_ns = 0;
	dd->par = (struct cfq_parallelism) { .write_work = CFQ_WORK_PAGE };
	cfq_heads_forget(dd, now_ns);
	cfq_device_set_one_head(dd, dd->one_head, now_ns);
}

/* @dd is all zeroes. */
void cfq_device_init(struct cfq_driver_data *dd, struct request_queue *q)
{
	dd->queue = q;
	dd->one_head = cfq_told_one_head(q);
	dd->mean_cost_ns = CFQ_COST_UNKNOWN_NS;
	cfq_device_forget(dd, 0);
}

/* Discards and the like have none. */
static unsigned int rq_data_bytes(struct request *rq)
{
	return cfq_op_has_data(rq->cmd_flags) ? blk_rq_bytes(rq) : 0;
}

/* Pages the device may work on at once; of a request an array goes for with one head. */
static unsigned int cfq_parallel_pages(const struct cfq_driver_data *dd,
				       unsigned int bytes)
{
	return dd->access_work ? 1 :
		min_t(u64, RQ_PAGES_MAX,
		      cfq_size_work(bytes, false, &dd->par.sizes) / CFQ_WORK_PAGE);
}

/*
 * The work of @rq without a head.  Of a discard: what is done in the time that
 * those before it took, and no more than a quarter of what fills the device.
 */
static __always_inline unsigned int
cfq_rq_work(const struct cfq_driver_data *dd, struct request *rq, unsigned int bytes)
{
	unsigned int work = cfq_size_work(bytes, rq_data_dir(rq), &dd->par.sizes);

	if (unlikely(!bytes) && !dd->one_head)
		work = clamp(div64_u64(dd->discard_ns * CFQ_WORK_PAGE,
				       cfq_work_cost_ns(dd, CFQ_WORK_PAGE) + 1),
			     CFQ_WORK_PAGE, max(CFQ_DISK_WORK, dd->full_work / 4));
	return min(dd->access_work + work, CFQ_WORK_MAX);
}

/*
 * What does @rq take by itself, without a head, or of a busy device if that is more,
 * as of one with a cache or a limited rate?  0 if unknown, or without data.
 */
static u64 cfq_rq_service_ns(const struct cfq_driver_data *dd, struct request *rq,
			     unsigned int bytes)
{
	const unsigned int pages = cfq_pages(bytes), order = cfq_size_order(pages);
	const bool write = rq_data_dir(rq);

	return bytes ? cfq_service_of(max(dd->par.service_ns[write][order],
					  dd->par.sizes.ns[write][order]), pages) : 0;
}

/*
 * A sample like @rq is wanted: must it wait until few are in the device?  That
 * costs a moment, only when cfq has just been selected; but without it nobody
 * would know what a write costs on a device that is always full.
 */
bool cfq_lacks_sample(struct cfq_driver_data *dd, struct request *rq, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	if (!rq_data_bytes(rq) || cfq_must_empty(dd) ||
	    cfq_alone(dd->pages_in_driver, par->parallel))
		return false;
	if (!par->sample_until_ns)
		par->sample_until_ns = now_ns + CFQ_SAMPLE_WAIT_NS;
	if (par->sample_until_ns <= now_ns) {
		/* What is known has to do. */
		par->page_samples[READ] = CFQ_PAGE_SAMPLES;
		par->page_samples[WRITE] = CFQ_PAGE_SAMPLES;
		return false;
	}
	par->drain = true;
	cfq_ask_at(dd, par->sample_until_ns);
	return true;
}

/*
 * For how long, in ns, will @rq keep flash busy?  0 if not all of it, or hardly
 * longer than a page.  A discard may take as long as those before it.
 */
u64 cfq_long_ns(const struct cfq_driver_data *dd, struct request *rq)
{
	const unsigned int bytes = rq_data_bytes(rq);
	u64 ns;

	if (dd->access_work ||
	    (bytes && cfq_parallel_pages(dd, bytes) < cfq_full_depth(dd)))
		return 0;
	ns = bytes ? min_not_zero(cfq_rq_service_ns(dd, rq, bytes),
				  cfq_work_cost_ns(dd, cfq_rq_work(dd, rq, bytes))) :
		     dd->discard_ns;
	return ns < 2 * cfq_page_ns(&dd->par) ? 0 : ns;
}

static noinline void cfq_start_probe(struct cfq_driver_data *dd, struct request *rq,
				     unsigned int bytes, u64 now_ns)
{
	struct cfq_parallelism *par = &dd->par;

	par->probe = rq;
	/* The time of a plug is that of its first request. */
	par->probe_sent_ns = current->plug ? ktime_get_ns() : now_ns;
	par->probe_bytes = bytes;
	par->probe_nr = dd->nr_in_driver;
	par->probe_beside = dd->pages_in_driver;
	par->probe_work = dd->work_in_driver;
}

/*
 * What does a write cost, where its rate is not known?  Compare those of one size;
 * else what the smallest do of what the device can work on at the same time.
 */
static void cfq_set_write_work(struct cfq_parallelism *par)
{
	const u64 *reads = par->service_ns[READ], *writes = par->service_ns[WRITE];
	int read = cfq_first_known(reads), write = cfq_first_known(writes);
	const int busy = cfq_first_known(par->sizes.ns[READ]);
	u64 most = par->parallel;
	unsigned int work;

	for (int order = max(read, write); order < CFQ_NR_ORDERS; order++)
		if (reads[order] && writes[order]) {
			read = order;
			write = order;
			break;
		}
	if (!par->page_ns[READ] || !par->page_ns[WRITE] ||
	    read == CFQ_NR_ORDERS || write == CFQ_NR_ORDERS)
		return;
	/* One of these by itself, and one after the other of a busy device. */
	if (busy < CFQ_NR_ORDERS)
		most = div64_u64(reads[busy] * CFQ_PARALLEL_ONE << busy,
				 par->sizes.ns[READ][busy]);
	most = max(most, CFQ_PARALLEL_ONE);
	work = cfq_write_work(writes[write] * min(most, CFQ_PARALLEL_ONE << write) >> write,
			      reads[read] * min(most, CFQ_PARALLEL_ONE << read) >> read);
	if (work != par->write_work)
		cfq_sizes_set_work(&par->sizes, work);
	par->write_work = work;
}

void cfq_learn_completed(struct cfq_driver_data *dd, const struct cfq_done *done)
{
	struct cfq_parallelism *par = &dd->par;
	const bool write = op_is_write(done->opf);
	const unsigned int pages = cfq_pages(par->probe_bytes);
	const unsigned int own = cfq_sent_pages(done->sent);
	u64 ns;

	par->probe = NULL;
	if (done->end_ns <= par->probe_sent_ns)
		return;
	ns = done->end_ns - par->probe_sent_ns;
	if (!par->probe_bytes) {
		ns -= min(ns, cfq_work_cost_ns(dd, par->probe_work));
		cfq_average_add(&dd->discard_ns,
				min(ns, !dd->discard_ns ? CFQ_STUCK_NS :
				    max(4 * dd->discard_ns, NSEC_PER_MSEC)));
		return;
	}
	cfq_service_add(&par->service_ns[write][cfq_size_order(pages)], ns, pages, own,
			par->probe_beside, par->parallel);
	if (!write)
		cfq_heads_watch(dd, ns > (par->probe_nr + 1) * cfq_head_least_ns(pages));
	if (!cfq_alone(par->probe_beside, par->parallel))
		return;
	cfq_page_add(&par->page_ns[write], &par->page_samples[write], ns, own);
	par->sample_until_ns = 0;
	cfq_set_write_work(par);
}

/* From one trial of a size to the next: that, and doubled so often. */
#define CFQ_SIZES_SOON_NS	(250 * (u64)NSEC_PER_MSEC)
#define CFQ_SIZES_TRIES		8U

/* @size is tried again, whether it was known or not, more seldom each time. */
static void cfq_sizes_tried(struct cfq_sizes *sizes, unsigned int size, u64 now_ns)
{
	sizes->tries[size] = min(sizes->tries[size] + 1, CFQ_SIZES_TRIES);
	sizes->again_ns[size] = now_ns + (CFQ_SIZES_SOON_NS << sizes->tries[size]);
	if (!sizes->trial_depth || size != sizes->trial_size)
		return;
	sizes->trial_depth = 0;
	/* For as long as it was, who was held is owed all of it: cfqq_passes_others(). */
	sizes->until_ns = now_ns + CFQ_TRIAL_NS -
			  min(CFQ_TRIAL_NS, sizes->until_ns - min(now_ns, sizes->until_ns));
}

/* @rq is sent; nr_in_driver is that before it.  Return: its cost without a head. */
u64 cfq_device_sent(struct cfq_driver_data *dd, struct request *rq, u64 now_ns)
{
	unsigned int bytes = rq_data_bytes(rq);
	unsigned int work = cfq_rq_work(dd, rq, bytes);
	unsigned int pages = bytes && (dd->access_work || rq_data_dir(rq) == WRITE) ?
			     cfq_parallel_pages(dd, bytes) :
			     min(work / CFQ_WORK_PAGE, RQ_PAGES_MAX);
	struct cfq_parallelism *par = &dd->par;

	if (!dd->one_head) {
		cfq_sizes_sent(dd, rq, cfq_pages(bytes), work);
		if (bytes && cfq_sample_wanted(par, rq) ?
		    !par->probe || !cfq_alone(par->probe_beside, par->parallel) :
		    cfq_probe_due(par, now_ns))
			cfq_start_probe(dd, rq, bytes, now_ns);
	}
	dd->work_in_driver += work;
	dd->pages_in_driver += pages;
	rq_set_sent(rq, work, pages, now_ns);
	return dd->one_head ? 0 : cfq_work_cost_ns(dd, work);
}

/* Does the rate of requests tell nothing of what they take? */
static bool cfq_sizes_blind(const struct cfq_driver_data *dd)
{
	return dd->nr_flushes || dd->heads.cpus_busy || dd->heads.duel.of_turns;
}

/* A window with one size is over: was the device busy? */
void cfq_sizes_learn(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_sizes *sizes = &dd->par.sizes;
	const unsigned int size = sizes->size, order = size % CFQ_NR_ORDERS;
	const bool write = size >= CFQ_NR_ORDERS;
	const u64 in_driver_ns = div_u64(sizes->in_driver_ns, sizes->done);
	const u64 service_ns = dd->par.service_ns[write][order];
	u64 ns, busy_ns = CFQ_BUSY_TIMES * cfq_sizes_service_ns(&dd->par);
	unsigned int work;

	/* In a trial three quarters are enough: all were sent that there are. */
	if (sizes->trial_depth)
		busy_ns -= busy_ns / 4;
	if (service_ns && !cfq_sizes_blind(dd) && in_driver_ns >= busy_ns) {
		/* What was completed are a few others, too. */
		ns = div_u64((now_ns - sizes->start_ns) * (sizes->sent + sizes->others),
			     sizes->done);
		ns = div_u64(ns << order, sizes->pages);
		ns = div_u64(ns * sizes->work_sent,
			     sizes->work_sent + sizes->others_work);
		cfq_sizes_add(&sizes->ns[write][order], ns, in_driver_ns, service_ns,
			      sizes->tries[size]);
		if (sizes->again_ns[size] <= now_ns)
			cfq_sizes_tried(sizes, size, now_ns);
		work = sizes->work[write][order];
		cfq_set_write_work(&dd->par);
		cfq_sizes_set_work(sizes, dd->par.write_work);
		/* The cost of a page so far was for other sizes. */
		if (abs_diff(work, sizes->work[write][order]) > work / 8)
			cfq_price_set(dd, cfq_work_cost_ns(dd, CFQ_WORK_PAGE));
	} else if (sizes->trial_depth && size == sizes->trial_size) {
		cfq_sizes_tried(sizes, size, now_ns);
	}
	if (sizes->sent >= 2 * CFQ_SIZES_PART) {
		sizes->sent /= 2;
		sizes->pages /= 2;
		sizes->work_sent /= 2;
		sizes->others /= 2;
		sizes->others_work /= 2;
	}
	cfq_sizes_restart(sizes, now_ns);
}

/* Of what was sent in a window, is one size to be had by itself? */
void cfq_sizes_look(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_sizes *sizes = &dd->par.sizes;
	const unsigned long seen = sizes->seen & GENMASK(CFQ_NR_SIZES - 1, 0);
	unsigned int size;

	cfq_set_full_work(dd);
	sizes->seen = 0;
	if (sizes->trial_depth && sizes->until_ns <= now_ns)
		cfq_sizes_tried(sizes, sizes->trial_size, now_ns);
	if (sizes->trial_depth || !(seen & (seen - 1)) || cfq_sizes_blind(dd) ||
	    dd->strict || dd->rt_until_ns > now_ns || dd->lost_work)
		return;
	for_each_set_bit(size, &seen, CFQ_NR_SIZES) {
		const bool write = size >= CFQ_NR_ORDERS;
		const unsigned int work = sizes->work[write][size % CFQ_NR_ORDERS];

		if (sizes->again_ns[size] > now_ns ||
		    CFQ_SIZES_LEAST * cfq_work_cost_ns(dd, work) > CFQ_TRIAL_NS / 2)
			continue;
		/* What was sent before it tells nothing of it. */
		sizes->size = CFQ_NR_SIZES;
		sizes->sent = 0;
		sizes->trial_size = size;
		sizes->trial_depth = CFQ_TRIAL_DEPTH;
		/* With what is in the device, about twice as long as that takes. */
		sizes->until_ns = now_ns + min(CFQ_TRIAL_NS, CFQ_SIZES_WINDOW_NS +
				  2 * cfq_work_cost_ns(dd, dd->work_in_driver));
		dd->par.drain = true;
		return;
	}
}

/*
 * May @rq be sent in a trial?  A few others may: of little work and little time, as
 * far as is known.
 */
bool cfq_sizes_take(const struct cfq_driver_data *dd, struct request *rq, u64 now_ns)
{
	const struct cfq_sizes *sizes = &dd->par.sizes;
	const unsigned int size = cfq_rq_size(rq), others = sizes->others + 1;
	const unsigned int bytes = rq_data_bytes(rq);
	const unsigned int work = sizes->others_work + cfq_rq_work(dd, rq, bytes);
	const u64 service_ns = cfq_rq_service_ns(dd, rq, bytes);

	if (size == sizes->trial_size)
		return true;
	return sizes->size == sizes->trial_size &&
	       others * CFQ_TRIAL_OTHERS_PART <= sizes->sent &&
	       work * CFQ_SIZES_PART <= sizes->work_sent && service_ns &&
	       sizes->since_ns + others * service_ns * CFQ_SIZES_PART <= now_ns;
}

/* Nothing may be sent: end a trial that leaves the device idle.  Return: whether. */
bool cfq_sizes_end_trial(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_sizes *sizes = &dd->par.sizes;

	if (!sizes->trial_depth)
		return false;
	if (dd->nr_in_driver >= CFQ_BUSY_TIMES && sizes->until_ns > now_ns &&
	    !cfq_must_empty(dd)) {
		cfq_ask_at(dd, sizes->until_ns);
		return false;
	}
	cfq_sizes_tried(sizes, sizes->trial_size, now_ns);
	return true;
}
