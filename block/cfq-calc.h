/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ: the arithmetic behind its decisions.  Pure functions, apart from the
 * sums that they are handed.  block/cfq-kunit.c tests them.
 */
#ifndef _BLOCK_CFQ_CALC_H
#define _BLOCK_CFQ_CALC_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kstrtox.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/string.h>

#include <linux/cfq-iosched.h>

/* A step of more than this between two requests of a task is a seek. */
#define CFQ_SEEK_SECTORS	800
/* Requests whose seeks are known, and of them so many seeks make a queue seeky. */
#define CFQ_SEEK_HISTORY	32U
#define CFQ_SEEKY_BITS		4
#define CFQ_SEEK_FEW		(2 * CFQ_SEEKY_BITS)
/* So near to the head is as good as what was waited for: 4 MiB. */
#define CFQ_CLOSE_SECTORS	8192

/* Pages in the device for each that it can work on at the same time, */
#define CFQ_DEPTH_RATIO		2

/* times so many where processors come late. */
#define CFQ_STRICT_DEPTHS	4

/* A rider may be ahead on a disk by this part of a slice. */
#define CFQ_RIDE_LEAD_PART	4

/*
 * Without a head, the parts of a slice that one may be ahead: on a busy device,
 * and once others have left it the device (up to twice as much; it has to be
 * more), and so many times that if their tasks are in line for a descriptor.
 */
#define CFQ_MIXED_LEAD_PART	16
#define CFQ_MIXED_DEBT_PART	8
static_assert(CFQ_MIXED_DEBT_PART < CFQ_MIXED_LEAD_PART);
#define CFQ_LINE_DEBT		16

/* One sample of a think time weighs 256; it is believed from this sum on. */
#define CFQ_TTIME_VALID_SAMPLES	80

/*
 * No class set means best effort, level 4; a hint does not count.  All that are idle
 * are equal: level 7 by ionice, 0 by io.prio.class, any other by nice.
 */
static inline unsigned short cfq_effective_ioprio(unsigned short ioprio)
{
	const int class = IOPRIO_PRIO_CLASS(ioprio);

	if (class < IOPRIO_CLASS_RT || class > IOPRIO_CLASS_IDLE)
		return IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM);
	return IOPRIO_PRIO_VALUE(class, class == IOPRIO_CLASS_IDLE ?
				 IOPRIO_NR_LEVELS - 1 : IOPRIO_PRIO_LEVEL(ioprio));
}

static inline enum cfq_class cfq_ioprio_to_class(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(cfq_effective_ioprio(ioprio)) - IOPRIO_CLASS_RT;
}

/* A fifth of the base slice more or less for each level (0..7) from 4, as by ionice. */
static inline u64 cfq_prio_slice_ns(u64 base_ns, unsigned int level)
{
	return base_ns + div_s64((s64)base_ns * (4 - (int)level), 5);
}

static inline unsigned int cfq_slice_weight(u64 slice_ns, u64 base_ns)
{
	return clamp_t(u64, div64_u64(slice_ns * CFQ_WEIGHT_DEFAULT, base_ns),
		       1, UINT_MAX / CFQ_WEIGHT_DEFAULT);
}

/*
 * So that @nr base slices fit into target_latency, but not below twice slice_idle
 * for one of those.
 */
static inline u64 cfq_latency_slice_ns(const struct cfq_tunables *tun, u64 slice_ns,
				       unsigned int nr)
{
	const u64 round_ns = tun->slice_ns[1] * nr;
	const u64 most_ns = max(tun->target_latency_ns, 2 * tun->slice_idle_ns * nr);

	return round_ns <= most_ns ? slice_ns :
		mul_u64_u64_div_u64(slice_ns, most_ns, round_ns);
}

/* Of few samples the greater part counts; where nothing is known it seeks. */
static inline bool cfq_history_seeky(u32 history, unsigned int samples)
{
	const unsigned int seeks = hweight32(history);

	return samples <= CFQ_SEEK_FEW ? 2 * seeks >= samples : seeks > CFQ_SEEKY_BITS;
}

/*
 * From the head to @pos: the distance ahead, back_seek_penalty times that behind
 * up to back_seek_max; further back is worst, and best from the lowest sector, to
 * sweep again.
 */
static inline u64 cfq_seek_cost(const struct cfq_driver_data *dd, sector_t pos)
{
	const sector_t head = dd->last_position;

	if (pos >= head)
		return pos - head;
	if (head - pos <= dd->tun.back_seek_max_kb * 2)
		return (head - pos) * dd->tun.back_seek_penalty;
	return (1ULL << 63) + pos;
}

/* Moving average over about eight values. */
static inline void cfq_average_add(u64 *average, u64 value)
{
	*average = (7 * *average + value) >> 3;
}

/*
 * A single head takes a millisecond at least to get far, 64 MiB, and more for
 * much data: no disk has 512 MB/s.
 */
#define CFQ_FAR_SECTORS		(64U << (20 - SECTOR_SHIFT))

static inline u64 cfq_head_least_ns(unsigned int pages)
{
	return NSEC_PER_MSEC + (u64)pages * 8 * NSEC_PER_USEC;
}

/* A moving average over so many samples counts from the first few on. */
#define CFQ_HEADS_ALL		65536U
#define CFQ_HEADS_MEMORY	128
#define CFQ_HEADS_SAMPLES	32U

/* Many are said of more than 1/16, and until it is less than 1/64. */
static inline void cfq_heads_add(struct cfq_heads *heads, bool soon)
{
	heads->samples = min(heads->samples + 1, CFQ_HEADS_MEMORY);
	heads->soon += ((int)(soon * CFQ_HEADS_ALL) - (int)heads->soon) /
		       (int)heads->samples;
	heads->many = heads->samples >= CFQ_HEADS_SAMPLES &&
		      heads->soon > CFQ_HEADS_ALL / (heads->many ? 64 : 16);
}

/* How parallel is the device (block/cfq-device.c, 2)?  Measured so often. */
#define CFQ_WORK_WINDOW_NS	(20 * NSEC_PER_MSEC)
#define CFQ_PARALLEL_ONE	16U	/* fixed point */

/* Of 4 KiB, at least one. */
static inline unsigned int cfq_pages(unsigned int bytes)
{
	return max(bytes / 4096 + !!(bytes % 4096), 1U);
}

static inline unsigned int cfq_size_order(unsigned int pages)
{
	return min_t(unsigned int, ilog2(pages), CFQ_NR_ORDERS - 1);
}

/*
 * Learn what the least request of an order takes by itself from one of @pages,
 * of as much work as @own, that took @ns beside @beside.  With few of these it
 * is that, unless it met a stall; with many it may have waited, so it is that
 * or less.
 */
static inline void cfq_service_add(u64 *service_ns, u64 ns, unsigned int pages,
				   unsigned int own, unsigned int beside,
				   unsigned int parallel)
{
	const bool few = 2 * beside * CFQ_PARALLEL_ONE <=
			 max(parallel, (own + 1) * CFQ_PARALLEL_ONE);

	ns = div_u64(ns << cfq_size_order(pages), pages);
	if (ns < *service_ns || (few && !*service_ns))
		*service_ns = ns;
	else if (few)
		cfq_average_add(service_ns, min(ns, 4 * *service_ns));
}

static inline u64 cfq_service_of(u64 service_ns, unsigned int pages)
{
	return service_ns * pages >> cfq_size_order(pages);
}

/*
 * The work of a request.  A large one takes hardly longer by itself, as the
 * device works on its parts at once, but it is as much work.  So work goes by
 * pages of 4 KiB and by what a write takes compared with a read; and by what
 * requests of its size take of a busy device, where that is known.
 */
#define CFQ_WORK_PAGE		16U	/* fixed point: a page that is read */
#define CFQ_WRITE_WORK_MAX	(16 * CFQ_WORK_PAGE - 1)
/* A write of 4 MiB fits at that work for each page; it may be known to be more. */
#define CFQ_WORK_BITS		18
#define CFQ_WORK_MAX		((1U << CFQ_WORK_BITS) - 1)

/* Between orders it is a line.  No data is as a page. */
static inline unsigned int cfq_size_work(unsigned int bytes, bool write,
					 const struct cfq_sizes *sizes)
{
	const unsigned int *work = sizes->work[write];
	unsigned int pages, order;
	u64 more;

	if (likely(bytes <= 4096))
		return work[0];
	pages = cfq_pages(bytes);
	order = cfq_size_order(pages);
	work += order;
	more = (u64)(work[1] - work[0]) * (pages - (1U << order)) >> order;
	return min_t(u64, work[0] + more, CFQ_WORK_MAX);
}

/*
 * Learn what a request takes of a busy device that completed one every @ns, each
 * after @in_driver_ns, which is @service_ns by itself.  By chance parts of the
 * device had nothing to do: of @service_ns / @ns servants that n requests wait for
 * with equal chance, each is busy for n / (n + servants - 1) of the time if what
 * they take varies, and idles half as long if it does not.  What is known counts
 * for so many @tries, and bounds the new one; but what is far less counts at once,
 * as there was a stall before.
 */
static inline void cfq_sizes_add(u64 *size_ns, u64 ns, u64 in_driver_ns,
				 u64 service_ns, unsigned int tries)
{
	if (service_ns > ns)
		ns -= div64_u64(ns * (service_ns - ns), 2 * in_driver_ns);
	if (ns < *size_ns - *size_ns / 4 || !*size_ns)
		*size_ns = ns;
	else
		*size_ns = div_u64(*size_ns * tries + min(ns, 2 * *size_ns), tries + 1);
}

/*
 * Reads, from what is known of some orders: the smallest of these is as its pages,
 * the others are as that one before or in proportion to it if that is right within
 * an eighth; never less, or more than in proportion.  In between it is a line, and
 * beyond if that has got to 64 KiB; else in proportion.
 */
#define CFQ_SIZES_LINE_ORDER	4

static inline void cfq_sizes_set_read_work(unsigned int *of, const u64 *read_ns)
{
	unsigned int slope = CFQ_WORK_PAGE << 8, work = 0;
	int order, known = -1;

	for (order = 0; order <= CFQ_NR_ORDERS; order++) {
		if (known < 0) {
			work = CFQ_WORK_PAGE << order;
		} else if (!read_ns[order]) {
			work += known < CFQ_SIZES_LINE_ORDER ? work :
				slope << order >> 9;
		} else {
			const unsigned int before = of[known];
			const unsigned int most = before << (order - known);

			work = min(div64_u64(before * read_ns[order], read_ns[known]),
				   most);
			if (work < before + before / 8)
				work = before;
			else if (work >= most - most / 8)
				work = most;
			slope = ((work - before) << 8) / ((1U << order) - (1U << known));
			for (int i = known + 1; i < order; i++)
				of[i] = before +
					(slope * ((1U << i) - (1U << known)) >> 8);
		}
		if (read_ns[order])
			known = order;
		of[order] = work;
	}
}

static inline int cfq_first_known(const u64 *ns)
{
	int order = 0;

	while (order < CFQ_NR_ORDERS && !ns[order])
		order++;
	return order;
}

/*
 * Writes: what is known is compared with the smallest read of which it is; the rest
 * is in proportion to reads as the order before, or the first one known, or as
 * @write_work to CFQ_WORK_PAGE; but not more than a larger one.  What is faster than
 * a read went into a cache, and has yet to be done.
 */
static inline void cfq_sizes_set_work(struct cfq_sizes *sizes, unsigned int write_work)
{
	const int first_read = cfq_first_known(sizes->ns[READ]);
	const int first = cfq_first_known(sizes->ns[WRITE]);
	const unsigned int *read = sizes->work[READ];
	unsigned int *work = sizes->work[WRITE];
	u64 part = write_work, whole = CFQ_WORK_PAGE, unit, unit_ns;

	cfq_sizes_set_read_work(sizes->work[READ], sizes->ns[READ]);
	if (first_read < CFQ_NR_ORDERS) {
		unit = read[first_read];
		unit_ns = sizes->ns[READ][first_read];
	} else {
		unit = read[first] * write_work / CFQ_WORK_PAGE;
		unit_ns = sizes->ns[WRITE][first];
	}
	for (int order = 0; order <= CFQ_NR_ORDERS; order++) {
		const int known = max(order, first);

		if (sizes->ns[WRITE][known]) {
			part = div64_u64(sizes->ns[WRITE][known] * unit, unit_ns);
			whole = read[known];
			if (first_read < CFQ_NR_ORDERS)
				part = max(part, whole);
		}
		work[order] = clamp_t(u64,
				      div64_u64(read[order] * part + whole / 2, whole),
				      CFQ_WORK_PAGE, CFQ_WORK_MAX);
	}
	for (int order = CFQ_NR_ORDERS - 1; order >= 0; order--)
		work[order] = min(work[order], work[order + 1]);
}

/* Is a request beside @nr pages all but by itself? */
static inline bool cfq_alone(unsigned int nr, unsigned int parallel)
{
	return nr * 4 * CFQ_PARALLEL_ONE <= parallel;
}

/* So many samples of a request by itself are to be had. */
#define CFQ_PAGE_SAMPLES	4U

/*
 * Learn what a page takes from a request that took @ns by itself: all of that
 * if its pages were done at once, a part if one by one, so the middle is taken.
 * The first samples may have met a stall, so the shortest counts; no later one
 * counts for much more.
 */
static inline void cfq_page_add(u64 *page_ns, unsigned int *samples, u64 ns,
				unsigned int pages)
{
	ns = div_u64(ns, int_sqrt(pages));
	if (!*page_ns || (*samples < CFQ_PAGE_SAMPLES && ns < *page_ns))
		*page_ns = ns;
	else if (*samples >= CFQ_PAGE_SAMPLES)
		cfq_average_add(page_ns, min(ns, 4 * *page_ns));
	*samples = min(*samples + 1, CFQ_PAGE_SAMPLES);
}

/* The work of a page, written; as for cfq_sizes_set_work() no less than if read. */
static inline unsigned int cfq_write_work(u64 write_ns, u64 read_ns)
{
	return clamp_t(u64, div64_u64(write_ns * CFQ_WORK_PAGE, read_ns ?: 1),
		       CFQ_WORK_PAGE, CFQ_WRITE_WORK_MAX);
}

/*
 * It rises with a window and is forgotten over half a second: few requests do
 * not mean that the device could do no more.
 */
static inline unsigned int cfq_parallel_add(unsigned int parallel, u64 work_ns,
					    u64 elapsed_ns)
{
	unsigned int now = min_t(u64, UINT_MAX / 64,
				 div64_u64(work_ns * CFQ_PARALLEL_ONE, elapsed_ns));

	return now > parallel ? now : (31 * parallel + now) / 32;
}

/*
 * Pages that keep a device busy.  With r times as many as servants, and chance
 * to place them, each is busy for about r / (1 + r) of the time, and a page
 * waits for r others.
 */
static inline unsigned int cfq_useful_depth(unsigned int parallel)
{
	return max(parallel * CFQ_DEPTH_RATIO / CFQ_PARALLEL_ONE, 1U);
}

static inline unsigned int cfq_spare_depth(unsigned int parallel)
{
	return max(DIV_ROUND_CLOSEST(parallel, CFQ_PARALLEL_ONE), 1U);
}

/*
 * A request came; there was none @since_ns, unless that is 0.  Moving sums with 8
 * fractional bits, each sample a 1/8 part.
 */
static inline void cfq_add_think_time(struct cfq_think_time *think,
				      const struct cfq_tunables *tun,
				      u64 since_ns, u64 now_ns)
{
	const u64 most_ns = 2 * max(tun->slice_idle_ns, tun->group_idle_ns);

	if (!since_ns || now_ns <= since_ns)
		return;
	think->samples = (7 * think->samples + 256) / 8;
	think->total_ns = (7 * think->total_ns + 256 * min(now_ns - since_ns, most_ns)) >> 3;
}

/* Without enough samples, hope for it. */
static inline bool cfq_think_time_within(const struct cfq_think_time *think, u64 limit_ns)
{
	return think->samples < CFQ_TTIME_VALID_SAMPLES ||
	       div_u64(think->total_ns, think->samples) <= limit_ns;
}

/*
 * @text as a number from @min to @max: -EINVAL if it is no whole decimal number
 * (a sign and a newline at the end may be there), -ERANGE if out of range.
 */
static inline int cfq_parse(const char *text, u64 min, u64 max, u64 *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	const char *end = digits + strspn(digits, "0123456789");

	if (end == digits || (*end && strcmp(end, "\n")))
		return -EINVAL;
	if (*text == '-' || kstrtou64(text, 10, value))
		return -ERANGE;
	return *value < min || *value > max ? -ERANGE : 0;
}

/* 0 is the highest, 7 the lowest; back to the nearest. */
static inline unsigned int cfq_group_prio_to_weight(unsigned int prio)
{
	return CFQ_WEIGHT_DEFAULT / 4 * (8 - prio);
}

static inline unsigned int cfq_weight_to_group_prio(unsigned int weight)
{
	return 8 - clamp(DIV_ROUND_CLOSEST(weight, CFQ_WEIGHT_DEFAULT / 4), 1U, 8U);
}

/*
 * If @held out of @total descriptors are in use, may who has his part take one
 * more?  An eighth, and at least one, is left to others.
 */
static inline bool cfq_descriptors_lent(unsigned int total, unsigned int held)
{
	return held + max(total / 8, 1U) < total;
}

/* Shares, as fractions of 2^32 - 1, multiply down the tree of groups; none is nothing. */
#define CFQ_SHARE_ALL		U32_MAX

static inline u32 cfq_share_of(u32 share, unsigned int weight, unsigned int total)
{
	return max_t(u64, div_u64((u64)share * weight, total), 1);
}

static inline u64 cfq_share_amount(u64 amount, u32 share)
{
	return mul_u64_u64_div_u64(amount, share, CFQ_SHARE_ALL);
}

/* Nobody waits longer for the end of a turn. */
#define CFQ_TURN_MAX		4	/* times the base slice */

/* @base_ns on average over @nr busy groups, in proportion to @share. */
static inline u64 cfq_turn_ns(u64 base_ns, unsigned int nr, u32 share)
{
	return min(cfq_share_amount(base_ns * max(nr, 1U), share),
		   base_ns * CFQ_TURN_MAX);
}

#endif /* _BLOCK_CFQ_CALC_H */
