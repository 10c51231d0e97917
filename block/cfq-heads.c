// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: what the device is.
 *
 * A disk of a virtual machine, a RAID array or a volume of a SAN calls itself
 * rotational and may have many heads or none, and a disk behind a bridge may say
 * that it is flash.  So that is learned from what it does.
 *
 * 1. One head or more?  No single head gets far within a millisecond of what it
 *    did before.  Of reads that are completed far from the one before, and were in
 *    the device together with it, those are counted that come as soon as that.  Of
 *    a disk there are none, but some from its buffer (at most 1 % in any load of
 *    bench/bench); of two heads 3 to 30 %, of more up to 90 %.
 *
 *    Where that cannot be, as reads do not take so long, nothing is counted.
 *
 * 2. Do slices pay?  A device that says it is a disk gets slices.  If it has many
 *    heads, one stream at a time may leave most of them idle: eight give 2.5 times
 *    as much to six streams at once, but two give half (bench/bench --only arrays).
 *    So both are tried, for a tenth of a second each, while streams compete for
 *    the device: a duel.  The way in which a tenth more is read three times running
 *    is taken.  Duels show 1., too, where only one stream at a time is served.  So
 *    there are some until that is known, and now and then thereafter.
 *
 * All is under cfqmd->lock.
 */
#include "cfq-device.h"

/* Windows of a duel; in the first one, what was sent before is completed. */
#define CFQ_DUEL_CHANGE_NS	(20 * NSEC_PER_MSEC)
#define CFQ_DUEL_NS		(100 * NSEC_PER_MSEC)
#define CFQ_DUELS_WON		3

/* From one duel to the next it is twice as long each time, up to so much. */
#define CFQ_DUEL_LONG_PAUSE_NS	(3200 * NSEC_PER_MSEC)

/* So long there is no need to try whether there still is one head. */
#define CFQ_HEADS_VALID_NS	(12800 * NSEC_PER_MSEC)

/* A request counts as much as so many pages more, as it may have to seek. */
#define CFQ_DUEL_REQUEST_PAGES	16

/**
 * cfq_heads_completed - learn from a read that was completed
 * @dd: the device
 * @rq: the read
 * @now_ns: time
 */
void cfq_heads_completed(struct cfq_driver_data *dd, struct request *rq,
			 u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;
	const unsigned int work = rq_work(rq);
	/* It may have been sent when that was not yet added to it. */
	const unsigned int pages = (work - min(work, dd->access_work)) /
				   CFQ_WORK_PAGE;
	u64 gap_ns = now_ns - min(now_ns, heads->completed_ns);
	sector_t pos = blk_rq_pos(rq);

	heads->duel_pages += pages + CFQ_DUEL_REQUEST_PAGES;
	if (cfq_is_far(heads->position, pos) &&
	    gap_ns < rq_time_in_driver_ns(rq, now_ns)) {
		cfq_heads_add(&heads->samples, &heads->soon,
			      gap_ns < cfq_head_least_ns(pages));
		heads->many = cfq_heads_many(heads->samples, heads->soon,
					     heads->many);
		heads->sample_ns = now_ns;
	}
	heads->position = pos;
	heads->completed_ns = now_ns;
}

/* Is it known that there is one head?  That there are many may not be known, either. */
static bool cfq_one_head_seen(const struct cfq_heads *heads)
{
	return heads->samples >= CFQ_HEADS_SAMPLES && !heads->many;
}

/* The next phase of a duel, or the pause before one, takes so long. */
static void cfq_duel_next(struct cfq_heads *heads, enum cfq_duel_phase phase,
			  u64 ns, u64 now_ns)
{
	heads->phase = phase;
	heads->duel_pages = 0;
	heads->phase_ns = now_ns;
	heads->next_ns = now_ns + ns;
}

/* Pages a second that were read in this phase. */
static u64 cfq_duel_rate(const struct cfq_heads *heads, u64 now_ns)
{
	return div64_u64(heads->duel_pages * NSEC_PER_SEC,
			 now_ns - heads->phase_ns);
}

static void cfq_duel_end(struct cfq_heads *heads, u64 now_ns)
{
	u64 rate = cfq_duel_rate(heads, now_ns);
	u64 pause_ns = 0;

	if (heads->many && rate > heads->duel_rate + heads->duel_rate / 10) {
		heads->pause_ns = CFQ_DUEL_PAUSE_NS;
		heads->won++;
	} else {
		heads->won = 0;
		pause_ns = heads->pause_ns;
		heads->pause_ns = min(2 * pause_ns, CFQ_DUEL_LONG_PAUSE_NS);
	}
	if (heads->won == CFQ_DUELS_WON) {
		heads->won = 0;
		heads->mixed = !heads->mixed;
	}
	cfq_duel_next(heads, CFQ_DUEL_NONE, pause_ns, now_ns);
}

/*
 * Is it worth trying?  Not while there is one head for all that was seen lately, nor
 * without streams that compete.
 */
static bool cfq_duel_due(struct cfq_driver_data *dd, u64 now_ns)
{
	const struct cfq_heads *heads = &dd->heads;

	if (heads->mixed)
		return dd->nr_in_driver > 1;
	if (cfq_one_head_seen(heads) &&
	    heads->sample_ns + CFQ_HEADS_VALID_NS > now_ns)
		return false;
	return heads->competed_ns + CFQ_DUEL_NS > now_ns;
}

/* The device says that it has one head: what is to be done with it? */
static void cfq_duel(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;

	switch (heads->phase) {
	case CFQ_DUEL_NONE:
		if (cfq_one_head_seen(heads))
			heads->mixed = false;
		cfq_duel_next(heads, cfq_duel_due(dd, now_ns) ? CFQ_DUEL_SAME :
								CFQ_DUEL_NONE,
			      CFQ_DUEL_NS, now_ns);
		break;
	case CFQ_DUEL_SAME:
		heads->duel_rate = cfq_duel_rate(heads, now_ns);
		cfq_duel_next(heads, CFQ_DUEL_CHANGE, CFQ_DUEL_CHANGE_NS,
			      now_ns);
		break;
	case CFQ_DUEL_CHANGE:
		cfq_duel_next(heads, CFQ_DUEL_OTHER, CFQ_DUEL_NS, now_ns);
		break;
	case CFQ_DUEL_OTHER:
		cfq_duel_end(heads, now_ns);
		break;
	}
}

/**
 * cfq_heads_decide - is a device to be used as if it had one head?
 * @dd: the device
 * @now_ns: time, at or after what cfq_heads_ask() waits for
 *
 * Return: the answer, until cfq_heads_ask() is true again.
 */
bool cfq_heads_decide(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;
	bool told_one = cfq_told_one_head(dd->queue);

	if (told_one != heads->told_one) {
		cfq_device_forget(dd, now_ns);
		return told_one;
	}
	if (!told_one) {
		heads->next_ns = heads->watched ? now_ns + CFQ_DUEL_NS : U64_MAX;
		return cfq_one_head_seen(heads);
	}
	cfq_duel(dd, now_ns);
	return heads->mixed == (heads->phase == CFQ_DUEL_CHANGE ||
				heads->phase == CFQ_DUEL_OTHER);
}
