/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ: the arithmetic behind its decisions.
 *
 * Pure functions over plain values, apart from the moving averages, which
 * update the sums they are handed.  block/cfq-kunit.c tests them.
 */
#ifndef _BLOCK_CFQ_CALC_H
#define _BLOCK_CFQ_CALC_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/ioprio.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include <linux/cfq-iosched.h>

/* A step of more than this between two requests of a task is a seek. */
#define CFQ_SEEK_SECTORS	800
/* Requests of which it is known whether they were seeks. */
#define CFQ_SEEK_HISTORY	32U
/* So many seeks among them make a queue seeky. */
#define CFQ_SEEKY_BITS		4
/* What is so near to the head is as good as what was waited for: 4 MiB. */
#define CFQ_CLOSE_SECTORS	8192

/* Pages in the device for each that it can work on at the same time. */
#define CFQ_DEPTH_RATIO		2

/* Times as many where processors come late, so that they need not hurry. */
#define CFQ_STRICT_DEPTHS	4

/* On a disk, the part of a slice that one who rides may be ahead of others. */
#define CFQ_RIDE_LEAD_PART	4

/*
 * Where there is no head, the parts of a slice that one may be ahead of others:
 * that much on a busy device; and that much, up to twice as much, once others
 * have left it the device.  The latter has to be more.
 */
#define CFQ_MIXED_LEAD_PART	16
#define CFQ_MIXED_DEBT_PART	8
static_assert(CFQ_MIXED_DEBT_PART < CFQ_MIXED_LEAD_PART);
/* So many times the latter, if tasks of theirs are in line for a descriptor. */
#define CFQ_LINE_DEBT		16

/* Think times: one sample weighs 256; a queue is believed from this sum on. */
#define CFQ_TTIME_VALID_SAMPLES	80

/* The priority that counts: no class set means best effort, level 4; no hint. */
static inline unsigned short cfq_effective_ioprio(unsigned short ioprio)
{
	const int class = IOPRIO_PRIO_CLASS(ioprio);

	if (class < IOPRIO_CLASS_RT || class > IOPRIO_CLASS_IDLE)
		return IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM);
	return IOPRIO_PRIO_VALUE(class, IOPRIO_PRIO_LEVEL(ioprio));
}

/* Those of ionice have the same order. */
static inline enum cfq_class cfq_ioprio_to_class(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(cfq_effective_ioprio(ioprio)) - IOPRIO_CLASS_RT;
}

/*
 * Slice of a priority level, 0..7: a fifth of the base slice more or less for
 * each level above or below 4.  The formula is the one ionice users know.
 */
static inline u64 cfq_prio_slice_ns(u64 base_ns, unsigned int level)
{
	return base_ns + div_s64((s64)base_ns * (4 - (int)level), 5);
}

/* Weight that a slice stands for, CFQ_WEIGHT_DEFAULT being @base_ns long. */
static inline unsigned int cfq_slice_weight(u64 slice_ns, u64 base_ns)
{
	u64 weight = div64_u64(slice_ns * CFQ_WEIGHT_DEFAULT, base_ns);

	return clamp_t(u64, weight, 1, UINT_MAX / CFQ_WEIGHT_DEFAULT);
}

/*
 * Shorten @slice_ns so that @nr queues with slices of @base_ns each all get
 * their turn within @target_ns, but not below @floor_ns at the base slice.
 */
static inline u64 cfq_latency_slice_ns(u64 slice_ns, u64 base_ns,
				       unsigned int nr, u64 target_ns,
				       u64 floor_ns)
{
	u64 round_ns = base_ns * nr;
	u64 low_ns;

	if (round_ns <= target_ns)
		return slice_ns;
	low_ns = min(slice_ns,
		     mul_u64_u64_div_u64(slice_ns, floor_ns, base_ns));
	return max(low_ns, mul_u64_u64_div_u64(slice_ns, target_ns, round_ns));
}

/* Seek history: one bit a request, set if it was far from the one before. */
static inline bool cfq_is_seek(sector_t last_end, sector_t pos)
{
	return abs_diff(pos, last_end) > CFQ_SEEK_SECTORS;
}

/* Are so many bits of it few?  Then more are to come before it is sure. */
static inline bool cfq_history_short(unsigned int samples)
{
	return samples <= 2 * CFQ_SEEKY_BITS;
}

/* Of few the greater part counts; where nothing is known, it may as well seek. */
static inline bool cfq_history_seeky(u32 history, unsigned int samples)
{
	const unsigned int seeks = hweight32(history);

	return cfq_history_short(samples) ? 2 * seeks >= samples :
					    seeks > CFQ_SEEKY_BITS;
}

static inline bool cfq_is_close(sector_t pos, sector_t head)
{
	return abs_diff(pos, head) <= CFQ_CLOSE_SECTORS;
}

/*
 * Cost of going from @head to @pos: the distance ahead; behind, up to
 * @back_max_kb, @penalty times the distance; further back costs more than any
 * distance ahead, and the less the lower the sector, so that the sweep starts
 * again at the bottom.
 */
static inline u64 cfq_seek_cost(sector_t pos, sector_t head,
				unsigned int back_max_kb, unsigned int penalty)
{
	if (pos >= head)
		return pos - head;
	if (head - pos <= (u64)back_max_kb * 2)
		return (head - pos) * penalty;
	return (1ULL << 63) + pos;
}

/* Moving average over about eight values. */
static inline void cfq_average_add(u64 *average, u64 value)
{
	*average = (7 * *average + value) >> 3;
}

/*
 * Has the device one head or more?  A single one that goes far, 64 MiB, takes a
 * millisecond at least, and more for much data: no disk has 512 MB/s.
 */
#define CFQ_FAR_SECTORS		(64U << (20 - SECTOR_SHIFT))

static inline bool cfq_is_far(sector_t a, sector_t b)
{
	return abs_diff(a, b) > CFQ_FAR_SECTORS;
}

static inline u64 cfq_head_least_ns(unsigned int pages)
{
	return NSEC_PER_MSEC + (u64)pages * 8 * NSEC_PER_USEC;
}

/* Moving average over so many samples; it counts from the first few on. */
#define CFQ_HEADS_ALL		65536U
#define CFQ_HEADS_MEMORY	128
#define CFQ_HEADS_SAMPLES	32U

static inline void cfq_heads_add(unsigned int *samples, unsigned int *average,
				 bool soon)
{
	*samples = min(*samples + 1, CFQ_HEADS_MEMORY);
	*average += ((int)(soon * CFQ_HEADS_ALL) - (int)*average) / (int)*samples;
}

/* Are there several?  Said of more than 1/16, and until it is less than 1/64. */
static inline bool cfq_heads_many(unsigned int samples, unsigned int soon,
				  bool many)
{
	return samples >= CFQ_HEADS_SAMPLES &&
	       soon > CFQ_HEADS_ALL / (many ? 64 : 16);
}

/* How parallel is the device?  See block/cfq-device.c, 2. */

/* So often is the rate measured. */
#define CFQ_WORK_WINDOW_NS	(20 * NSEC_PER_MSEC)
/* Fixed point: a parallelism of one. */
#define CFQ_PARALLEL_ONE	16U

/* Pages of 4 KiB of so much data, at least one. */
static inline unsigned int cfq_pages(unsigned int bytes)
{
	return max(bytes / 4096 + !!(bytes % 4096), 1U);
}

/* The order of so many, as far as it matters. */
static inline unsigned int cfq_size_order(unsigned int pages)
{
	return min_t(unsigned int, ilog2(pages), CFQ_NR_ORDERS - 1);
}

/*
 * What the least request of its order takes by itself, if one of so many pages, as
 * much work as @own, took @ns beside @beside of others.  With few of them, it is that,
 * unless it met with a stall.  With many it may have waited, so it is that or less.
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

/* What a request takes by itself, if it is known of the least of its order. */
static inline u64 cfq_service_of(u64 service_ns, unsigned int pages)
{
	return service_ns * pages >> cfq_size_order(pages);
}

/*
 * How much work is a request for a parallel device?  A large one takes hardly
 * longer by itself, as the device works on its parts at the same time; but it
 * is as much work as its parts.  So work goes by size, in pages of 4 KiB, and
 * what it is to get to the data, if that is known to be more than nothing.
 */
#define CFQ_WORK_PAGE		8U	/* fixed point: a page that is read */
#define CFQ_WRITE_WORK_MAX	(16 * CFQ_WORK_PAGE)
/* A write of 4 MiB fits that takes as long as that for each page. */
#define CFQ_WORK_BITS		18
#define CFQ_WORK_MAX		((1U << CFQ_WORK_BITS) - 1)

/*
 * The work of reading so much data; that of no data is as of a page, at first.  If to
 * get there is as much as @access, all is less by the same part, so a page is one.
 */
static inline u64 cfq_read_work(unsigned int bytes, unsigned int access)
{
	const u64 work = (u64)cfq_pages(bytes) * CFQ_WORK_PAGE;

	return likely(!access) ? work : div_u64((work + access) * CFQ_WORK_PAGE,
						access + CFQ_WORK_PAGE);
}

/* The work of a request that would be @read_work if it reads. */
static inline unsigned int cfq_request_work(bool write, u64 read_work,
					    unsigned int write_work)
{
	return min_t(u64, CFQ_WORK_MAX,
		     write ? read_work * write_work / CFQ_WORK_PAGE : read_work);
}

/*
 * What is it to get to the data?  While a device is busy with reads of different sizes,
 * the time for each is a straight line over its pages, a + b * pages, be they mixed as
 * they may, and a / b is what was asked for.  The line is that of least squares: b is
 * the covariance by the variance of the pages, and it goes through the means.  It is
 * known only if the sizes differ enough; what was known stays.
 */
#define CFQ_FIT_ONE		16384	/* fixed point: a page, */
#define CFQ_FIT_NS		16	/* and a ns: means are off by up to CFQ_FIT_MEMORY */
#define CFQ_FIT_READS		8U	/* at least, for a sample */
#define CFQ_FIT_SAMPLES		8U
#define CFQ_FIT_MEMORY		128U	/* samples */
#define CFQ_FIT_SPREAD		256	/* times that is the square of the mean */
/*
 * Less than that many pages may be because small reads leave parts of a device idle
 * that large ones use; with as many as that, size is as good as nothing.
 */
#define CFQ_ACCESS_MIN		(4 * CFQ_WORK_PAGE)
#define CFQ_ACCESS_MAX		(1024 * CFQ_WORK_PAGE)

/* In so much time so many reads were done, of so many pages. */
static inline void cfq_fit_add(struct cfq_fit *fit, u64 elapsed_ns,
			       unsigned int reads, unsigned int pages)
{
	const s64 more_pages = div_u64((u64)pages * CFQ_FIT_ONE, reads) - fit->pages;
	const s64 more_ns = div_u64(elapsed_ns * CFQ_FIT_NS, reads) - fit->ns;
	int samples;

	fit->samples = min(fit->samples + 1, CFQ_FIT_MEMORY);
	samples = fit->samples;
	fit->pages += div_s64(more_pages, samples);
	fit->ns += div_s64(more_ns, samples);
	/* Of each square a part goes to the mean. */
	fit->pages_var += div_s64(div_s64(more_pages * more_pages * (samples - 1),
					  samples) - fit->pages_var, samples);
	fit->cov += div_s64(div_s64(more_pages * more_ns * (samples - 1),
				    samples) - fit->cov, samples);
}

/* To get to the data is as much work as that; it was @access until now. */
static inline unsigned int cfq_fit_access(const struct cfq_fit *fit,
					  unsigned int access)
{
	s64 page_ns, work;

	if (fit->samples < CFQ_FIT_SAMPLES ||
	    fit->pages_var * CFQ_FIT_SPREAD < fit->pages * fit->pages)
		return access;
	page_ns = div64_s64(fit->cov * CFQ_FIT_ONE, fit->pages_var);
	if (page_ns <= 0)
		return CFQ_ACCESS_MAX;
	work = div64_s64(fit->ns * CFQ_FIT_ONE, page_ns) - fit->pages;
	work = min_t(s64, work / (CFQ_FIT_ONE / CFQ_WORK_PAGE), CFQ_ACCESS_MAX);
	return work < CFQ_ACCESS_MIN ? 0 : work;
}

/* Is a request beside @nr pages of others all but by itself? */
static inline bool cfq_alone(unsigned int nr, unsigned int parallel)
{
	return nr * 4 * CFQ_PARALLEL_ONE <= parallel;
}

/* Samples of what a request takes by itself that are waited for. */
#define CFQ_PAGE_SAMPLES	4U

/*
 * Learn what a page takes from a request that took @ns by itself: @ns if its
 * pages were worked on at the same time, a part of it if one after the other.
 * Which it was is not known, so the middle is taken; it does not matter if
 * reads and writes are of the same size.  The first samples may have met with a
 * stall, so the shortest counts; and no later one counts for much more.
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

/*
 * The work of a page that is written, if a write takes @write_ns by itself and
 * a read @read_ns.  It is that of a read at least: a write that is faster went
 * into a cache, and has yet to be done.
 */
static inline unsigned int cfq_write_work(u64 write_ns, u64 read_ns)
{
	return clamp_t(u64, div64_u64(write_ns * CFQ_WORK_PAGE, read_ns ?: 1),
		       CFQ_WORK_PAGE, CFQ_WRITE_WORK_MAX);
}

/*
 * The parallelism rises with what was seen in a window, and is forgotten over
 * half a second: few requests do not mean that the device could not do more.
 */
static inline unsigned int cfq_parallel_add(unsigned int parallel, u64 work_ns,
					    u64 elapsed_ns)
{
	unsigned int now = min_t(u64, UINT_MAX / 64,
				 div64_u64(work_ns * CFQ_PARALLEL_ONE,
					   elapsed_ns));

	return now > parallel ? now : (31 * parallel + now) / 32;
}

/*
 * Pages that keep a device of this parallelism busy, of whatever requests.  With r
 * times as many as there are servants, and a page's servant being chance, each
 * servant is busy for about r / (1 + r) of the time, and a page waits as long as r
 * others take.
 */
static inline unsigned int cfq_useful_depth(unsigned int parallel)
{
	return max(parallel * CFQ_DEPTH_RATIO / CFQ_PARALLEL_ONE, 1U);
}

/* With fewer pages than this a part of the device has nothing to do. */
static inline unsigned int cfq_spare_depth(unsigned int parallel)
{
	return max(DIV_ROUND_CLOSEST(parallel, CFQ_PARALLEL_ONE), 1U);
}

/* Think time: moving sums with 8 fractional bits, each sample a 1/8 part. */
static inline void cfq_ttime_add(u64 *total_ns, unsigned int *samples, u64 ns)
{
	*samples = (7 * *samples + 256) / 8;
	*total_ns = (7 * *total_ns + 256 * ns) >> 3;
}

/* Is the mean within @limit_ns?  Without enough samples, hope for it. */
static inline bool cfq_ttime_within(u64 total_ns, unsigned int samples,
				    u64 limit_ns)
{
	return samples < CFQ_TTIME_VALID_SAMPLES ||
	       div_u64(total_ns, samples) <= limit_ns;
}

/*
 * The number that @text is, which is to be @min to @max: -EINVAL if it is no
 * whole decimal number, however large, with a sign or without, -ERANGE if it is
 * one out of range.  A newline may follow.
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

/* A group priority, 0 (highest) .. 7, as a weight, and back to the nearest. */
static inline unsigned int cfq_group_prio_to_weight(unsigned int prio)
{
	return CFQ_WEIGHT_DEFAULT / 4 * (8 - prio);
}

static inline unsigned int cfq_weight_to_group_prio(unsigned int weight)
{
	return 8 - clamp(DIV_ROUND_CLOSEST(weight, CFQ_WEIGHT_DEFAULT / 4),
			 1U, 8U);
}

/*
 * If @held out of @total descriptors are in use, may those have one more who
 * have their part?  An eighth, and at least one, is left to the others.
 */
static inline bool cfq_descriptors_lent(unsigned int total, unsigned int held)
{
	return held + max(total / 8, 1U) < total;
}

/*
 * Shares of a device, as fractions of 2^32 - 1.  Shares multiply down the tree
 * of groups; none is so small that it is nothing.
 */
#define CFQ_SHARE_ALL		U32_MAX

/* The part of @share that belongs to @weight out of @total. */
static inline u32 cfq_share_of(u32 share, unsigned int weight,
			       unsigned int total)
{
	return max_t(u64, div_u64((u64)share * weight, total), 1);
}

/* What @share of @amount is, rounded down. */
static inline u64 cfq_share_amount(u64 amount, u32 share)
{
	return mul_u64_u64_div_u64(amount, share, CFQ_SHARE_ALL);
}

/* However large a share, nobody shall wait too long for the end of a turn. */
#define CFQ_TURN_MAX		4	/* times the base slice */

/*
 * Turn of a group among @nr busy ones: @base_ns on average, in proportion to
 * its share.
 */
static inline u64 cfq_turn_ns(u64 base_ns, unsigned int nr, u32 share)
{
	return min(cfq_share_amount(base_ns * max(nr, 1U), share),
		   base_ns * CFQ_TURN_MAX);
}

#endif /* _BLOCK_CFQ_CALC_H */
