// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: what the device is.
 *
 * A disk of a virtual machine, a RAID array or a SAN volume calls itself
 * rotational and may have many heads or none, and a disk behind a bridge may
 * say that it is flash.  So that is learned from what it does.
 *
 * 1. One head or more?  No single head gets far within a millisecond.  Of reads
 *    that are completed far from the one before, and were in the device
 *    together with it, those are counted that come as soon as that.  Where it
 *    says that it is flash also one by itself, if it took no longer.  A disk has
 *    a few from its buffer; several heads have many.  What a device sends back,
 *    as aborted, does not count, and nothing does where reads do not take so
 *    long.
 *
 * 2. Do turns and slices pay?  Whoever says it is a disk gets them, and flash
 *    that has one head.  But with many heads one stream at a time, or one
 *    group, may leave most of them idle; and what does one thing at a time, as
 *    a volume of limited rate, need not have a head.  So both ways are tried,
 *    for a tenth of a second each, while streams compete, or once many heads
 *    are known: a duel.  The way in which streams, or all if there are none,
 *    read a sixteenth more three times running is taken.  For streams slices
 *    are worth half as much again: without them a group that reads one request
 *    at a time leaves much of its share to others.  Duels show 1., too, where
 *    one stream at a time is served, so there is one now and then.  Without
 *    turns who is ahead waits as in 3.: streams of one request each leave heads
 *    idle, and each would take all it can.
 *
 * 3. Strict or not?  Without a head, who is ahead waits only while the device
 *    has enough to do.  Where processors are slower than the device it never
 *    has, and each group gets what they do for it.  If who is ahead waits all
 *    the same (strict), others do more if they lacked a processor; else the
 *    device is idle.  Only a duel tells.  Strictness wins if the processors
 *    have no time left and the device does hardly less; one lost duel ends it,
 *    and there is one as soon as less is done.
 */
#include <linux/kernel_stat.h>
#include <linux/tick.h>

#include "cfq-device.h"

/*
 * A duel measures for two of these, twice, with one between for what was sent
 * the other way; and so long it is to the next one if it was won.
 */
#define CFQ_DUEL_UNIT_NS	(50 * NSEC_PER_MSEC)
#define CFQ_DUEL_FLASH_UNIT_NS	(20 * NSEC_PER_MSEC)
#define CFQ_DUELS_WON		3

/* What makes a duel worth while happened no longer ago than this. */
#define CFQ_DUEL_REASON_NS	(100 * NSEC_PER_MSEC)

/* The pause after a lost duel is twice as long each time, up to this. */
#define CFQ_DUEL_LONG_PAUSE_NS	(3200 * (u64)NSEC_PER_MSEC)

/* Streams decide if they read such a part of all. */
#define CFQ_DUEL_STREAMS_PART	8

/* So long it is taken for granted that there is one head. */
#define CFQ_HEADS_VALID_NS	(12800 * (u64)NSEC_PER_MSEC)

/* A request counts as much as so many pages more, as it may have to seek. */
#define CFQ_DUEL_REQUEST_PAGES	16

static void cfq_duel_init(struct cfq_heads *heads, bool of_turns, u64 now_ns)
{
	heads->duel = (struct cfq_duel) {
		.of_turns = of_turns,
		.unit_ns = of_turns ? CFQ_DUEL_UNIT_NS : CFQ_DUEL_FLASH_UNIT_NS,
		.next_ns = now_ns,
		.pause_ns = heads->told_one ? CFQ_DUEL_UNIT_NS : CFQ_DUEL_LONG_PAUSE_NS,
	};
}

void cfq_heads_forget(struct cfq_driver_data *dd, u64 now_ns)
{
	const bool told_one = cfq_told_one_head(dd->queue);

	dd->heads = (struct cfq_heads) { .told_one = told_one, .watched = told_one };
	dd->strict = false;
	cfq_duel_init(&dd->heads, told_one, now_ns);
}

/* A device that says it has no head may have one if a read was as @slow as with one. */
void cfq_heads_watch(struct cfq_driver_data *dd, bool slow)
{
	struct cfq_heads *heads = &dd->heads;

	if (heads->told_one || heads->watched == slow)
		return;
	heads->watched = slow;
	heads->samples = 0;
	heads->soon = 0;
}

/* Learn from a read; if a duel is of turns, of a @stream if it would get slices. */
void cfq_heads_completed(struct cfq_driver_data *dd,
			 const struct cfq_done *done, bool stream)
{
	struct cfq_heads *heads = &dd->heads;
	const unsigned int work = cfq_sent_work(done->sent);
	/* access_work may have come after it was sent. */
	const unsigned int pages = max((work - min(work, dd->access_work)) /
				       CFQ_WORK_PAGE, cfq_sent_pages(done->sent));
	const u64 in_driver_ns = cfq_done_in_driver_ns(done);
	const u64 gap_ns = done->end_ns - min(done->end_ns, heads->completed_ns);
	const bool soon = min(gap_ns, in_driver_ns) < cfq_head_least_ns(pages);

	if (heads->duel.of_turns)
		heads->duel.done[0] += pages + CFQ_DUEL_REQUEST_PAGES;
	if (stream)
		heads->duel.done[1] += pages + CFQ_DUEL_REQUEST_PAGES;
	if (abs_diff(heads->position, done->position) > CFQ_FAR_SECTORS &&
	    (gap_ns < in_driver_ns || (soon && !heads->told_one))) {
		cfq_heads_add(heads, soon);
		heads->sample_ns = done->end_ns;
	}
	heads->position = done->position;
	heads->completed_ns = done->end_ns;
}

/* Is one head known?  If not, many need not be, either. */
static bool cfq_one_head_seen(const struct cfq_heads *heads)
{
	return heads->samples >= CFQ_HEADS_SAMPLES && !heads->many;
}

/* What was done in this phase, in a second: by all, or by those whom it is for. */
static u64 cfq_duel_rate(const struct cfq_duel *duel, int whose, u64 now_ns)
{
	return mul_u64_u64_div_u64(duel->done[whose], NSEC_PER_SEC,
				   now_ns - duel->phase_ns);
}

static bool cfq_turns_duel_won(const struct cfq_heads *heads, u64 now_ns)
{
	const struct cfq_duel *duel = &heads->duel;
	const bool streams = duel->rate[1] >= duel->rate[0] / CFQ_DUEL_STREAMS_PART;
	u64 rate = cfq_duel_rate(duel, streams, now_ns);
	u64 before = duel->rate[streams];
	u64 *without = duel->other ? &before : &rate;

	/* Turns are worth half as much again to streams. */
	if (streams)
		*without = div_u64(*without * 2, 3);
	/* Flash need not have many heads to have none. */
	return (heads->many || !heads->told_one) && before && rate > before + before / 16;
}

/*
 * Were all processors busy?  Of very many some are not, and to ask them all
 * would take long under the lock.
 */
#define CFQ_FEW_CPUS	64

static void cfq_watch_processors(struct cfq_heads *heads, u64 now_ns)
{
	const u64 elapsed_us = div_u64(now_ns - heads->idle_asked_ns, NSEC_PER_USEC);
	bool known = true;
	u64 idle_us = 0;
	int cpu;

	heads->cpus_busy = false;
	if (num_online_cpus() > CFQ_FEW_CPUS)
		return;
	for_each_online_cpu(cpu) {
		const u64 us = get_cpu_idle_time_us(cpu, NULL);

		/* Some do not count it. */
		known &= us != U64_MAX;
		idle_us += us + get_cpu_iowait_time_us(cpu, NULL);
	}
	heads->cpus_busy = known && idle_us - heads->idle_us < elapsed_us / 16;
	heads->idle_us = idle_us;
	heads->idle_asked_ns = now_ns;
}

/* With fewer pages a second it is not faster than a processor. */
#define CFQ_STRICT_LEAST_PAGES	1000

/* An eighth less may be done, or hardly less if processors are idle. */
static bool cfq_strict_pays(const struct cfq_heads *heads, u64 now_ns)
{
	const struct cfq_duel *duel = &heads->duel;
	u64 open = duel->rate[0], strict = cfq_duel_rate(duel, 0, now_ns);

	if (duel->other)
		swap(open, strict);
	return open >= CFQ_STRICT_LEAST_PAGES * CFQ_WORK_PAGE &&
	       strict >= open - div_u64(open, heads->cpus_busy ? 8 : 32);
}

/*
 * Both ways are measured: the other one has won or lost.  So many in a row decide,
 * but against strictness one.
 */
static void cfq_duel_end(struct cfq_heads *heads, u64 now_ns)
{
	struct cfq_duel *duel = &heads->duel;
	const bool won = duel->of_turns ? cfq_turns_duel_won(heads, now_ns) :
			 cfq_strict_pays(heads, now_ns) != duel->other;
	const u64 pause_ns = won ? duel->unit_ns : duel->pause_ns;

	duel->won = won ? duel->won + 1 : 0;
	if (!won)
		duel->pause_ns = min(2 * pause_ns, CFQ_DUEL_LONG_PAUSE_NS);
	if (duel->won == CFQ_DUELS_WON || (duel->won && duel->other && !duel->of_turns)) {
		duel->won = 0;
		duel->other = !duel->other;
		duel->pause_ns = duel->unit_ns;
	}
	duel->again_ns = now_ns + pause_ns;
}

/* The next phase, if there is a duel or one is @due. */
static void cfq_duel_go_on(struct cfq_heads *heads, bool due, u64 now_ns)
{
	enum cfq_duel_phase phase = CFQ_DUEL_NONE;
	struct cfq_duel *duel = &heads->duel;

	if (duel->phase == CFQ_DUEL_NONE) {
		if (due && duel->again_ns <= now_ns)
			phase = CFQ_DUEL_SAME;
	} else if (duel->next_ns + 2 * duel->unit_ns <= now_ns) {
		/* Nobody asked in time, so it says nothing. */
		duel->won = 0;
		/* Strictness is right only as long as it is known to be. */
		duel->other &= duel->of_turns;
		duel->again_ns = now_ns + duel->pause_ns;
	} else if (duel->phase == CFQ_DUEL_OTHER) {
		cfq_duel_end(heads, now_ns);
	} else {
		if (duel->phase == CFQ_DUEL_SAME) {
			duel->rate[0] = cfq_duel_rate(duel, 0, now_ns);
			duel->rate[1] = cfq_duel_rate(duel, 1, now_ns);
		}
		phase = duel->phase + 1;
	}
	duel->phase = phase;
	memset(duel->done, 0, sizeof(duel->done));
	duel->phase_ns = now_ns;
	duel->next_ns = now_ns + duel->unit_ns;
	/* To measure takes two. */
	if (phase == CFQ_DUEL_SAME || phase == CFQ_DUEL_OTHER)
		duel->next_ns += duel->unit_ns;
}

/*
 * Is a duel of turns worth it?  Not if one head was seen lately, nor without
 * streams that compete or several heads with something to do.
 */
static bool cfq_turns_duel_due(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;
	const bool one_head = heads->told_one && cfq_one_head_seen(heads);

	heads->cpus_busy = false;
	if (one_head && heads->duel.phase == CFQ_DUEL_NONE) {
		heads->duel.other = false;
		heads->duel.won = 0;
	}
	if (heads->duel.other || (heads->many && dd->nr_in_driver > 1))
		return dd->nr_in_driver > 1;
	return heads->competed_ns + CFQ_DUEL_REASON_NS > now_ns &&
	       !(one_head && heads->sample_ns + CFQ_HEADS_VALID_NS > now_ns);
}

/* No head: must who is ahead wait even if the device has room? */
static bool cfq_strict_duel_due(struct cfq_heads *heads, u64 now_ns)
{
	cfq_watch_processors(heads, now_ns);
	if (!heads->duel.other)
		return heads->cpus_busy && heads->passed_ns + CFQ_DUEL_REASON_NS > now_ns;
	/* At once if less is done than when it was measured last. */
	if (!heads->cpus_busy ||
	    cfq_duel_rate(&heads->duel, 0, now_ns) < heads->duel.rate[0] * 3 / 4)
		heads->duel.again_ns = now_ns;
	return true;
}

/* Use @dd as if it had one head, until cfq_heads_ask()?  Sets strict, too. */
bool cfq_heads_decide(struct cfq_driver_data *dd, u64 now_ns)
{
	struct cfq_heads *heads = &dd->heads;
	bool told_one = cfq_told_one_head(dd->queue);
	bool may_have_one, other;

	if (told_one != heads->told_one) {
		cfq_device_forget(dd, now_ns);
		return told_one;
	}
	if (heads->sample_ns + CFQ_HEADS_VALID_NS <= now_ns && !told_one)
		heads->samples = 0;
	may_have_one = told_one || cfq_one_head_seen(heads);
	if (heads->duel.of_turns != may_have_one)
		cfq_duel_init(heads, may_have_one, now_ns);
	cfq_duel_go_on(heads, may_have_one ? cfq_turns_duel_due(dd, now_ns) :
					     cfq_strict_duel_due(heads, now_ns), now_ns);
	/* A duel uses the device the other way for a while. */
	other = heads->duel.other != (heads->duel.phase >= CFQ_DUEL_CHANGE);
	dd->strict = other && (told_one || !may_have_one);
	return may_have_one && !other;
}
