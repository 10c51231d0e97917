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
 *    a disk there are none, but a few from its buffer; of several heads there are
 *    many.  What is sent back by the device, as aborted, does not count.
 *
 *    Where that cannot be, as reads do not take so long, nothing is counted.
 *
 * 2. Do turns and slices pay?  A device that says it is a disk gets them, and one
 *    that says it is flash and has one head, too.  If it has many, one stream at a
 *    time may leave most of them idle, and so may the requests of one group; of two
 *    heads it is still more than all at once (bench/bench --only arrays).  And what
 *    does one thing at a time need not have a head, as a volume whose rate is
 *    limited.  So both are tried, for a tenth of a second each, while streams
 *    compete for the device, or once it is known to have many: a duel.  The way in
 *    which streams, or all if there are none, read a sixteenth more three times
 *    running is taken.  For streams slices are worth half as much again, as without
 *    them a group that reads one request at a time leaves much of its share to
 *    others.  Duels show 1., too, where only one stream at a time is served.  So
 *    there are some until that is known, and now and then thereafter.
 *
 * All is under cfqmd->lock.
 */
#include "cfq-device.h"

/* How long it takes until all is completed that was sent in the other way. */
#define CFQ_DUEL_CHANGE_NS	(50 * NSEC_PER_MSEC)
#define CFQ_DUEL_NS		(100 * NSEC_PER_MSEC)
#define CFQ_DUELS_WON		3

/* After a duel that was lost the next one waits: twice as long each time, up to this. */
#define CFQ_DUEL_LONG_PAUSE_NS	(3200 * (u64)NSEC_PER_MSEC)

/* Who reads in sequence decides, if it is such a part of all that is read. */
#define CFQ_DUEL_STREAMS_PART	8

/* So long it is taken for granted that there is one head. */
#define CFQ_HEADS_VALID_NS	(12800 * (u64)NSEC_PER_MSEC)

/* A request counts as much as so many pages more, as it may have to seek. */
#define CFQ_DUEL_REQUEST_PAGES	16

/**
 * cfq_heads_forget - nothing is known of what a device is but what it says
 * @dd: the device
 * @now_ns: time
 */
void cfq_heads_forget(struct cfq_driver_data *dd, u64 now_ns)
{
	const bool told_one = cfq_told_one_head(dd->queue);

	dd->heads = (struct cfq_heads) {
		.told_one = told_one,
		.watched = told_one,
		.next_ns = told_one ? now_ns : U64_MAX,
		.pause_ns = told_one ? CFQ_DUEL_CHANGE_NS : CFQ_DUEL_LONG_PAUSE_NS,
	};
}

/**
 * cfq_heads_watch - is it worth looking at whether a device has a head?
 * @dd: the device, which says that it has none
 * @slow: a read was done no sooner than a head would do it
 */
void cfq_heads_watch(struct cfq_driver_data *dd, bool slow)
{
	struct cfq_heads *heads = &dd->heads;

	if (heads->told_one || heads->watched == slow)
		return;
	heads->watched = slow;
	heads->samples = 0;
	heads->soon = 0;
	heads->many = false;
	heads->next_ns = 0;
}

/**
 * cfq_heads_completed - learn from a read that was completed
 * @dd: the device
 * @done: the read
 * @stream: it is of one who would have slices
 */
void cfq_heads_completed(struct cfq_driver_data *dd,
			 const struct cfq_done *done, bool stream)
{
	struct cfq_heads *heads = &dd->heads;
	const unsigned int work = cfq_sent_work(done->sent);
	/* It may have been sent when that was not yet added to it. */
	const unsigned int pages = (work - min(work, dd->access_work)) /
				   CFQ_WORK_PAGE;
	u64 gap_ns = done->end_ns - min(done->end_ns, heads->completed_ns);

	heads->duel_pages[0] += pages + CFQ_DUEL_REQUEST_PAGES;
	if (stream)
		heads->duel_pages[1] += pages + CFQ_DUEL_REQUEST_PAGES;
	if (cfq_is_far(heads->position, done->position) &&
	    gap_ns < cfq_done_in_driver_ns(done)) {
		cfq_heads_add(&heads->samples, &heads->soon,
			      gap_ns < cfq_head_least_ns(pages));
		heads->many = cfq_heads_many(heads->samples, heads->soon,
					     heads->many);
		heads->sample_ns = done->end_ns;
	}
	heads->position = done->position;
	heads->completed_ns = done->end_ns;
}

/* Is it known that there is one head?  That there are many may not be known, either. */
static bool cfq_one_head_seen(const struct cfq_heads *heads)
{
	return heads->samples >= CFQ_HEADS_SAMPLES && !heads->many;
}

/* Until duels show that it is better otherwise. */
static void cfq_heads_take_turns(struct cfq_heads *heads)
{
	heads->mixed = false;
	heads->won = 0;
}

/* The next phase of a duel, or the pause before one, takes so long. */
static void cfq_duel_next(struct cfq_heads *heads, enum cfq_duel_phase phase,
			  u64 ns, u64 now_ns)
{
	heads->phase = phase;
	heads->duel_pages[0] = 0;
	heads->duel_pages[1] = 0;
	heads->phase_ns = now_ns;
	heads->next_ns = now_ns + ns;
}

/* Is the device used as if it had several heads, for now? */
static bool cfq_heads_mixed(const struct cfq_heads *heads)
{
	return heads->mixed != (heads->phase == CFQ_DUEL_CHANGE ||
				heads->phase == CFQ_DUEL_OTHER);
}

/* What was read in this phase, by @streams or by all, is worth so many pages a second. */
static u64 cfq_duel_rate(const struct cfq_heads *heads, bool streams, u64 now_ns)
{
	u64 rate = div64_u64(heads->duel_pages[streams] * NSEC_PER_SEC,
			     now_ns - heads->phase_ns);

	return streams && cfq_heads_mixed(heads) ? rate * 2 / 3 : rate;
}

static void cfq_duel_end(struct cfq_heads *heads, u64 now_ns)
{
	const bool streams = heads->duel_rate[1] >= heads->duel_rate[0] /
						    CFQ_DUEL_STREAMS_PART;
	u64 rate = cfq_duel_rate(heads, streams, now_ns);
	u64 before = heads->duel_rate[streams];
	u64 pause_ns = CFQ_DUEL_CHANGE_NS;

	/* What says that it has no head need not have many to have none. */
	if ((heads->many || !heads->told_one) &&
	    before && rate > before + before / 16) {
		heads->won++;
	} else {
		heads->won = 0;
		pause_ns = heads->pause_ns;
		heads->pause_ns = min(2 * pause_ns, CFQ_DUEL_LONG_PAUSE_NS);
	}
	if (heads->won == CFQ_DUELS_WON) {
		heads->won = 0;
		heads->mixed = !heads->mixed;
		heads->pause_ns = CFQ_DUEL_CHANGE_NS;
	}
	cfq_duel_next(heads, CFQ_DUEL_NONE, pause_ns, now_ns);
}

/*
 * Is it worth trying?  Not while there is one head for all that was seen lately, nor
 * without streams that compete, unless several heads have something to do.
 */
static bool cfq_duel_due(const struct cfq_driver_data *dd, u64 now_ns)
{
	const struct cfq_heads *heads = &dd->heads;

	if (heads->mixed || (heads->many && dd->nr_in_driver > 1))
		return dd->nr_in_driver > 1;
	if (heads->told_one && cfq_one_head_seen(heads) &&
	    heads->sample_ns + CFQ_HEADS_VALID_NS > now_ns)
		return false;
	return heads->competed_ns + CFQ_DUEL_NS > now_ns;
}

/* The device may have one head: what is to be done with it? */
static void cfq_duel(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;

	/* Nobody has asked in time, so it says nothing. */
	if (heads->phase != CFQ_DUEL_NONE &&
	    heads->next_ns + CFQ_DUEL_NS <= now_ns) {
		heads->won = 0;
		cfq_duel_next(heads, CFQ_DUEL_NONE, heads->pause_ns, now_ns);
		return;
	}
	switch (heads->phase) {
	case CFQ_DUEL_NONE:
		if (heads->told_one && cfq_one_head_seen(heads))
			cfq_heads_take_turns(heads);
		cfq_duel_next(heads, cfq_duel_due(dd, now_ns) ? CFQ_DUEL_SAME :
								CFQ_DUEL_NONE,
			      CFQ_DUEL_NS, now_ns);
		break;
	case CFQ_DUEL_SAME:
		heads->duel_rate[0] = cfq_duel_rate(heads, false, now_ns);
		heads->duel_rate[1] = cfq_duel_rate(heads, true, now_ns);
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
	if (heads->sample_ns + CFQ_HEADS_VALID_NS <= now_ns && !told_one)
		heads->samples = 0;
	if (!told_one && (!heads->watched || !cfq_one_head_seen(heads))) {
		cfq_heads_take_turns(heads);
		cfq_duel_next(heads, CFQ_DUEL_NONE, CFQ_DUEL_NS, now_ns);
		if (!heads->watched)
			heads->next_ns = U64_MAX;
		return false;
	}
	cfq_duel(dd, now_ns);
	return !cfq_heads_mixed(heads);
}
