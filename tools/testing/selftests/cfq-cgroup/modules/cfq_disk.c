// SPDX-License-Identifier: GPL-2.0
/*
 * A modelled hard disk: a block device that takes as long as a disk would.
 *
 * A scheduler for disks must be judged on a disk, and the judge must be able
 * to say where the disk's time went. No real disk can. This one has one
 * actuator, or more, and tells how long it worked on which sectors (the files
 * "ranges" and "stat", see below). Everything follows from the clock and from
 * the requests; there is no randomness, so that in virtual time two runs are
 * the same to the nanosecond.
 *
 * The model
 *
 * Place. Sectors lie on @heads tracks a cylinder. There are 16 zones with the
 * same number of cylinders; the sectors on a track decrease linearly from
 * @outer_sectors_per_track to @inner_sectors_per_track. So an LBA has a
 * cylinder, a head, and an angle, which is a time in the revolution:
 *
 *   revolution = 60 s / rpm                             7200 rpm: 8.333 ms
 *   angle = (cylinder * cylinder turn + head * head_switch_us +
 *            sector / sectors per track * revolution) mod revolution
 *
 * Each track starts later in the revolution than the one before, by the time
 * that changing over takes (skew). So a stream runs on without losing a turn,
 * at the rate
 *
 *   heads * sectors per track * 512 bytes
 *   -----------------------------------------------------------------
 *   heads * revolution + (heads - 1) * head_switch_us + seek_track_us
 *
 * which is 75 MB/s outside and 40 MB/s inside.
 *
 * Seek. The arm accelerates over short distances and moves at its top speed
 * over long ones. Over d of D cylinders, with the published average taken as
 * the time for a third of the way:
 *
 *   d < D/3:  seek_track_us + b * (sqrt(d) - 1)
 *   else:     seek_avg_us + c * (d - D/3)
 *
 * b and c are such that the curve meets seek_avg_us at D/3 and seek_full_us
 * at D. Staying on the cylinder costs nothing, or a head switch.
 *
 * Rotation. Where the platter is follows from the clock: now mod revolution.
 * The head waits until the angle of the first sector comes by.
 *
 * Controller. A request needs @overhead_us before the arm starts. It is hidden
 * behind the request before it if the two are contiguous, or if the data are
 * in the buffer.
 *
 * Access time = overhead + seek + rotation, then the transfer. With the
 * defaults, 4 KB at random places in 18.75 GB take 0.2 + 4.7 + 4.2 ms: 110 a
 * second one at a time.
 *
 * Buffer. After a read the head reads on into the buffer, up to
 * @read_ahead_kb past what was asked for, until another access needs it. 16
 * such pieces are kept, the one unused for longest makes room. A read that
 * finds its data there takes the time of the bus (@bus_mb_s), or waits for
 * the read-ahead to get there. A write drops what it makes stale.
 *
 * NCQ. The disk takes @ncq_depth requests. When the head is free it goes to
 * the one with the shortest access time, except that one which has waited for
 * @age_bound_ms goes first. At depth 31 the example above gets some 200 a
 * second. Requests that lie far from the others wait, whatever the order in
 * which they were sent.
 *
 * Write cache (@write_cache=1). A write is done when the buffer has it; up to
 * half of the buffer in 64 pieces can wait there, and contiguous writes
 * become one piece. The head writes them, nearest first, when there is no read to do,
 * and along with the reads when a write finds no room, when a flush waits, and
 * when a piece has waited for ten times @age_bound_ms. REQ_FUA goes to the
 * platter.
 *
 * Account
 *
 * Each stretch of the head's time, from the end of the previous one or from
 * the arrival if the disk was idle, to the completion, counts for the range
 * of sectors that the request starts in. With the write cache, taking the
 * data in (in parallel to the head) and writing them count both.
 *
 * /sys/kernel/debug/cfq_disk/cfqdN/
 *   ranges  write "START NR" lines (sectors): count these apart; "reset":
 *           counts to 0; "clear": forget the ranges
 *   stat    totals; write "reset"
 *   fail    write "START NR COUNT": the next COUNT requests in there fail
 *   hang    write "COUNT": the next COUNT requests are never answered and end
 *           in a time-out; "COUNT requeue": the time-out sends them again
 *   unplug  write 1: gone, with all that is in it; with @lossy=1 the write
 *           cache's content is lost, too
 *   plug    write 1: back again, with its data; reads 1 if plugged
 *
 * Several actuators (@actuators), each with an equal part of the sectors, as
 * of disks that have two, or in stripes of @stripe_kb that go round, as of an
 * array, work in parallel. The parameters are those of each but for the
 * capacity, and none has a write cache.
 *
 * The default parameters are those of a WD2500JS: 250 GB, 7200 rpm, 8.9 ms
 * average and 21 ms full stroke, 8 MB, 300 MB/s. Other disks are other
 * parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/math.h>
#include <linux/math64.h>

#include "cfq_device.c"
#include "cfq_disk_model.h"

/* Writes that the cache can hold apart, as many as NCQ tags and some more. */
#define CFQ_DISK_CACHED		64
/* Actuators. */
#define CFQ_DISK_ARMS		16
/* The longest piece that writes in the cache grow to: 1 MB. */
#define CFQ_DISK_CACHED_SECTORS	2048
/* Nobody waits for what is in the cache: its age bound is so much longer. */
#define CFQ_DISK_CACHED_PATIENCE	10

static unsigned int capacity_mb = 238475;
module_param(capacity_mb, uint, 0444);
MODULE_PARM_DESC(capacity_mb, "capacity, MiB (default 238475: 250 GB)");

static unsigned int rpm = 7200;
module_param(rpm, uint, 0444);
MODULE_PARM_DESC(rpm, "revolutions a minute (default 7200)");

/* Three platters of the 80 GB kind. */
static unsigned int heads = 6;
module_param(heads, uint, 0444);
MODULE_PARM_DESC(heads, "tracks a cylinder (default 6)");

/* 75 MB/s; see the formula above. */
static unsigned int outer_sectors_per_track = 1420;
module_param(outer_sectors_per_track, uint, 0444);
MODULE_PARM_DESC(outer_sectors_per_track, "at the start of the disk (default 1420)");

/* Disks of this size end at somewhat more than half of the outer rate. */
static unsigned int inner_sectors_per_track = 747;
module_param(inner_sectors_per_track, uint, 0444);
MODULE_PARM_DESC(inner_sectors_per_track, "at the end of the disk (default 747)");

/*
 * 2 ms published for the arm alone, and 1 ms until the head has settled well
 * enough to trust it.
 */
static unsigned int seek_track_us = 3000;
module_param(seek_track_us, uint, 0444);
MODULE_PARM_DESC(seek_track_us, "seek to the next cylinder, us (default 3000)");

static unsigned int seek_avg_us = 8900;
module_param(seek_avg_us, uint, 0444);
MODULE_PARM_DESC(seek_avg_us, "seek over a third of the cylinders, us (default 8900)");

static unsigned int seek_full_us = 21000;
module_param(seek_full_us, uint, 0444);
MODULE_PARM_DESC(seek_full_us, "seek over all cylinders, us (default 21000)");

static unsigned int head_switch_us = 800;
module_param(head_switch_us, uint, 0444);
MODULE_PARM_DESC(head_switch_us, "change to another track of the cylinder, us (default 800)");

static unsigned int overhead_us = 200;
module_param(overhead_us, uint, 0444);
MODULE_PARM_DESC(overhead_us, "controller time for a request, us (default 200)");

static unsigned int bus_mb_s = 300;
module_param(bus_mb_s, uint, 0444);
MODULE_PARM_DESC(bus_mb_s, "rate between buffer and host, 10^6 bytes a second (default 300)");

/* As a disk with several, or an array of disks, has them. */
static unsigned int actuators = 1;
module_param(actuators, uint, 0444);
MODULE_PARM_DESC(actuators, "that work in parallel, each on its part (default 1)");

static unsigned int stripe_kb;
module_param(stripe_kb, uint, 0444);
MODULE_PARM_DESC(stripe_kb, "that lie together on an actuator, KiB; 0: all it has (default 0)");

static unsigned int ncq_depth = 31;
module_param(ncq_depth, uint, 0444);
MODULE_PARM_DESC(ncq_depth, "requests in the disk, 1 is without NCQ (default 31)");

/* Three times the mean wait at full depth: rare, but felt. */
static unsigned int age_bound_ms = 500;
module_param(age_bound_ms, uint, 0444);
MODULE_PARM_DESC(age_bound_ms, "wait after which a request goes first, ms (default 500)");

static unsigned int buffer_kb = 8192;
module_param(buffer_kb, uint, 0444);
MODULE_PARM_DESC(buffer_kb, "buffer, KiB (default 8192; 0 is none)");

static unsigned int read_ahead_kb = 256;
module_param(read_ahead_kb, uint, 0444);
MODULE_PARM_DESC(read_ahead_kb, "how far the disk reads on, KiB, at most 1/16 of the buffer (default 256)");

static bool write_cache;
module_param(write_cache, bool, 0444);
MODULE_PARM_DESC(write_cache, "complete writes when the buffer has them (default 0)");

static bool fua = true;
module_param(fua, bool, 0444);
MODULE_PARM_DESC(fua, "with a write cache, writes can pass it (default 1)");

static bool rotational = true;
module_param(rotational, bool, 0444);
MODULE_PARM_DESC(rotational, "tell the block layer that it rotates (default 1)");

/* How long a request waits at most for shorter accesses. */
static u64 disk_age_bound_ns;

/* The one geometry of all the disks. */
static struct cfq_disk_geometry disk_geometry;

/* A request, as the disk sees it. */
struct disk_cmd {
	struct cfq_cmd cmd;
	struct cfq_disk_op op;
};

/* An actuator, with what is on its sectors. */
struct disk_arm {
	struct cfq_device *dev;
	u32 nr;
	struct cfq_disk_state state;

	/* The head's work: requests, then what the write cache holds. */
	struct list_head requests;
	struct list_head dirty;
	struct cfq_disk_op *head_op;	/* NULL if there is nothing to do */
	bool head_destages;		/* @head_op is from @dirty */
	u64 head_start_ns;
	u64 head_done_ns;

	/* The interface's work, in order of arrival; first comes its current. */
	struct list_head bus;
	bool bus_busy;
	u64 bus_start_ns;
	u64 bus_done_ns;

	/* The write cache. */
	struct list_head clean;
	u32 cached_sectors;
	u64 destages;
	struct cfq_disk_op cached[CFQ_DISK_CACHED];
};

struct disk {
	struct cfq_device dev;
	struct disk_arm arm[CFQ_DISK_ARMS];
};

static struct disk *to_disk(struct cfq_device *dev)
{
	return container_of(dev, struct disk, dev);
}

static struct disk_cmd *to_disk_cmd(struct cfq_disk_op *op)
{
	return container_of(op, struct disk_cmd, op);
}

/* Places: in stripes, or as many for each actuator one after the other */

static u64 disk_stripe_sectors(void)
{
	return stripe_kb ? stripe_kb * 2 : disk_geometry.sectors;
}

static struct disk_arm *disk_arm_of(struct disk *disk, u64 lba)
{
	u32 nr;

	div_u64_rem(div64_u64(lba, disk_stripe_sectors()), actuators, &nr);
	return &disk->arm[nr];
}

/* Where on its actuator is that sector of the disk? */
static u64 disk_arm_lba(u64 lba)
{
	u64 in_stripe, stripe;

	stripe = div64_u64_rem(lba, disk_stripe_sectors(), &in_stripe);
	return div_u64(stripe, actuators) * disk_stripe_sectors() + in_stripe;
}

/* And back. */
static u64 disk_lba(const struct disk_arm *arm, u64 arm_lba)
{
	u64 in_stripe, stripe;

	stripe = div64_u64_rem(arm_lba, disk_stripe_sectors(), &in_stripe);
	return (stripe * actuators + arm->nr) * disk_stripe_sectors() +
	       in_stripe;
}

/* The write cache */

static u32 disk_cache_sectors(void)
{
	return write_cache ? buffer_kb : 0;	/* half of the buffer, in 512 */
}

static bool disk_cache_has_room(struct disk_arm *arm, u32 sectors)
{
	return !list_empty(&arm->clean) &&
	       arm->cached_sectors + sectors <= disk_cache_sectors();
}

static bool disk_op_contains(const struct cfq_disk_op *op, u64 lba, u32 sectors)
{
	return lba >= op->lba && lba + sectors <= op->lba + op->sectors;
}

/* The piece in the cache that holds all of these sectors. */
static struct cfq_disk_op *disk_cache_find(struct disk_arm *arm, u64 lba,
					   u32 sectors)
{
	struct cfq_disk_op *piece;

	list_for_each_entry(piece, &arm->dirty, list)
		if (disk_op_contains(piece, lba, sectors))
			return piece;
	return NULL;
}

static void disk_cache_add(struct disk_arm *arm, struct cfq_disk_op *op, u64 now)
{
	struct cfq_disk_op *piece;

	cfq_disk_forget(&arm->state, op->lba, op->sectors);
	if (disk_cache_find(arm, op->lba, op->sectors))
		return;

	arm->cached_sectors += op->sectors;
	if (!list_empty(&arm->dirty)) {
		piece = list_last_entry(&arm->dirty, struct cfq_disk_op, list);
		if (piece->lba + piece->sectors == op->lba &&
		    piece->sectors + op->sectors <= CFQ_DISK_CACHED_SECTORS &&
		    cfq_range_of(arm->dev, disk_lba(arm, piece->lba)) ==
		    cfq_range_of(arm->dev, disk_lba(arm, op->lba))) {
			piece->sectors += op->sectors;
			return;
		}
	}
	piece = list_first_entry(&arm->clean, struct cfq_disk_op, list);
	piece->lba = op->lba;
	piece->sectors = op->sectors;
	piece->place = op->place;
	piece->arrival_ns = now;
	list_move_tail(&piece->list, &arm->dirty);
}

/* The interface: what does not need the head, in parallel to it */

/* The cache is in the way of the interface's next work. */
static bool disk_bus_blocked(struct disk_arm *arm)
{
	struct disk_cmd *dc;

	if (arm->bus_busy || list_empty(&arm->bus))
		return false;
	dc = list_first_entry(&arm->bus, struct disk_cmd, op.list);
	switch (dc->cmd.op) {
	case REQ_OP_WRITE:
		return !disk_cache_has_room(arm, dc->op.sectors);
	case REQ_OP_FLUSH:
		return arm->cached_sectors;
	default:
		return false;
	}
}

static void disk_bus_start(struct disk_arm *arm, u64 now)
{
	struct disk_cmd *dc;

	if (arm->bus_busy || list_empty(&arm->bus) || disk_bus_blocked(arm))
		return;
	dc = list_first_entry(&arm->bus, struct disk_cmd, op.list);
	arm->bus_busy = true;
	arm->bus_start_ns = max(now, dc->op.arrival_ns);
	arm->bus_done_ns = max(now, dc->op.ready_ns);
	if (dc->cmd.op == REQ_OP_WRITE)
		arm->bus_done_ns += (u64)dc->op.sectors *
				     disk_geometry.sector_bus_ns;
}

static void disk_bus_done(struct disk_arm *arm)
{
	struct disk_cmd *dc;

	dc = list_first_entry(&arm->bus, struct disk_cmd, op.list);
	list_del(&dc->op.list);
	arm->bus_busy = false;
	if (dc->cmd.op == REQ_OP_WRITE)
		disk_cache_add(arm, &dc->op, arm->bus_done_ns);
	cfq_charge(arm->dev, dc->cmd.lba, arm->bus_start_ns,
		   arm->bus_done_ns);
	cfq_finish(arm->dev, &dc->cmd);
}

/* The head */

static bool disk_aged(const struct cfq_disk_op *op, u64 now)
{
	return op->arrival_ns + disk_age_bound_ns <= now;
}

static bool disk_cached_aged(const struct cfq_disk_op *piece, u64 now)
{
	return piece->arrival_ns +
	       CFQ_DISK_CACHED_PATIENCE * disk_age_bound_ns <= now;
}

/* Which of a request and a piece in the cache goes first? */
static bool disk_destage_first(struct disk_arm *arm, struct cfq_disk_op *request,
			       struct cfq_disk_op *piece, u64 now)
{
	if (disk_aged(request, now))
		return false;
	if (disk_cached_aged(piece, now))
		return true;
	return cfq_disk_access_ns(&arm->state, piece, now) <
	       cfq_disk_access_ns(&arm->state, request, now);
}

/* The cache's content competes with the requests, and does not only fill gaps. */
static bool disk_cache_presses(struct disk_arm *arm, u64 now)
{
	struct cfq_disk_op *oldest;

	oldest = list_first_entry_or_null(&arm->dirty, struct cfq_disk_op,
					  list);
	return oldest &&
	       (disk_bus_blocked(arm) || disk_cached_aged(oldest, now));
}

static void disk_head_start(struct disk_arm *arm, u64 now)
{
	struct cfq_disk_op *op, *piece = NULL;

	if (arm->head_op)
		return;

	op = cfq_disk_choose(&arm->state, &arm->requests, now,
			     disk_age_bound_ns);
	if (write_cache && (!op || disk_cache_presses(arm, now)))
		piece = cfq_disk_choose(&arm->state, &arm->dirty, now,
					CFQ_DISK_CACHED_PATIENCE *
					disk_age_bound_ns);
	arm->head_destages = piece &&
			      (!op || disk_destage_first(arm, op, piece, now));
	if (arm->head_destages)
		op = piece;
	if (!op)
		return;

	list_del(&op->list);
	arm->head_op = op;
	arm->head_start_ns = max(now, op->arrival_ns);
	arm->head_done_ns = cfq_disk_serve(&arm->state, op, now);
}

static void disk_head_done(struct disk_arm *arm)
{
	struct cfq_disk_op *op = arm->head_op;

	arm->head_op = NULL;
	cfq_charge(arm->dev, disk_lba(arm, op->lba), arm->head_start_ns,
		   arm->head_done_ns);
	if (op->write)
		cfq_store_settle(arm->dev, disk_lba(arm, op->lba), op->sectors);
	if (arm->head_destages) {
		arm->cached_sectors -= op->sectors;
		arm->destages++;
		list_add(&op->list, &arm->clean);
	} else {
		cfq_finish(arm->dev, &to_disk_cmd(op)->cmd);
	}
}

/* The model's side of struct cfq_model */

static u64 disk_arm_next_event(const struct disk_arm *arm)
{
	u64 next = CFQ_NEVER;

	if (arm->head_op)
		next = arm->head_done_ns;
	if (arm->bus_busy)
		next = min(next, arm->bus_done_ns);
	return next;
}

static struct disk_arm *disk_next_arm(struct disk *disk)
{
	struct disk_arm *arm, *next = &disk->arm[0];

	for (arm = next + 1; arm < disk->arm + actuators; arm++)
		if (disk_arm_next_event(arm) < disk_arm_next_event(next))
			next = arm;
	return next;
}

static u64 disk_next_event(struct cfq_device *dev)
{
	return disk_arm_next_event(disk_next_arm(to_disk(dev)));
}

static void disk_advance(struct cfq_device *dev, u64 now)
{
	struct disk_arm *arm;
	u64 event;

	for (;;) {
		arm = disk_next_arm(to_disk(dev));
		event = disk_arm_next_event(arm);
		if (event > now)
			break;
		if (arm->head_op && arm->head_done_ns == event)
			disk_head_done(arm);
		else
			disk_bus_done(arm);
		disk_bus_start(arm, event);
		disk_head_start(arm, event);
	}
}

static void disk_submit(struct cfq_device *dev, struct cfq_cmd *cmd, u64 now)
{
	struct disk_arm *arm = disk_arm_of(to_disk(dev), cmd->lba);
	struct disk_cmd *dc = container_of(cmd, struct disk_cmd, cmd);
	struct cfq_disk_op *op = &dc->op;
	bool bus;

	op->lba = disk_arm_lba(cmd->lba);
	op->sectors = cmd->sectors;
	op->write = cmd->op == REQ_OP_WRITE;
	op->buffered = false;
	op->arrival_ns = now;
	op->ready_ns = now + disk_geometry.overhead_ns;

	switch (cmd->op) {
	case REQ_OP_READ:
		bus = false;
		break;
	case REQ_OP_WRITE:
		bus = !cmd->fua && cmd->sectors <= disk_cache_sectors();
		break;
	default:
		bus = true;
		break;
	}
	if (cmd->op == REQ_OP_READ || cmd->op == REQ_OP_WRITE)
		op->place = cfq_disk_map(&disk_geometry, op->lba);

	if (bus) {
		list_add_tail(&op->list, &arm->bus);
		disk_bus_start(arm, now);
	} else {
		if (write_cache && !op->write)
			op->buffered = disk_cache_find(arm, op->lba,
						       op->sectors);
		list_add_tail(&op->list, &arm->requests);
	}
	disk_head_start(arm, now);
}

static void disk_arm_reset(struct disk_arm *arm)
{
	arm->state.geo = &disk_geometry;
	arm->state.stream = NULL;
	arm->head_op = NULL;
	arm->bus_busy = false;
	arm->cached_sectors = 0;
	INIT_LIST_HEAD(&arm->requests);
	INIT_LIST_HEAD(&arm->bus);
	INIT_LIST_HEAD(&arm->dirty);
	INIT_LIST_HEAD(&arm->clean);
	for (unsigned int i = 0; i < CFQ_DISK_CACHED; i++) {
		arm->cached[i].write = true;
		list_add_tail(&arm->cached[i].list, &arm->clean);
	}
}

static void disk_reset(struct cfq_device *dev)
{
	struct disk *disk = to_disk(dev);

	for (unsigned int i = 0; i < actuators; i++) {
		disk->arm[i].dev = dev;
		disk->arm[i].nr = i;
		disk_arm_reset(&disk->arm[i]);
	}
}

static void disk_show_stat(struct cfq_device *dev, struct seq_file *m)
{
	struct disk *disk = to_disk(dev);
	u64 seeks = 0, hits = 0, destages = 0;
	u32 cached_sectors = 0;

	for (unsigned int i = 0; i < actuators; i++) {
		seeks += disk->arm[i].state.seeks;
		hits += disk->arm[i].state.hits;
		destages += disk->arm[i].destages;
		cached_sectors += disk->arm[i].cached_sectors;
	}
	seq_printf(m, "seeks %llu\n", seeks);
	seq_printf(m, "buffer_hits %llu\n", hits);
	seq_printf(m, "destages %llu\n", destages);
	seq_printf(m, "cached_sectors %u\n", cached_sectors);
}

static void disk_reset_stat(struct cfq_device *dev)
{
	struct disk *disk = to_disk(dev);

	for (unsigned int i = 0; i < actuators; i++) {
		disk->arm[i].state.seeks = 0;
		disk->arm[i].state.hits = 0;
		disk->arm[i].destages = 0;
	}
}

static void disk_set_limits(struct queue_limits *lim)
{
	if (write_cache)
		lim->features |= BLK_FEAT_WRITE_CACHE | (fua ? BLK_FEAT_FUA : 0);
	if (rotational)
		lim->features |= BLK_FEAT_ROTATIONAL;
	/* No request is of two actuators. */
	if (actuators > 1)
		lim->chunk_sectors = min(disk_stripe_sectors(), U32_MAX);
}

static struct cfq_model disk_model __ro_after_init = {
	.disk_name	= "cfqd",
	.cmd_size	= sizeof(struct disk_cmd),
	.device_size	= sizeof(struct disk),
	.set_limits	= disk_set_limits,
	.submit		= disk_submit,
	.advance	= disk_advance,
	.next_event	= disk_next_event,
	.reset		= disk_reset,
	.show_stat	= disk_show_stat,
	.reset_stat	= disk_reset_stat,
};

static int __init disk_set_geometry(void)
{
	const struct cfq_limit limits[] = {
		/* Sectors of a zone are counted in 32 bits. */
		{ "capacity_mb", capacity_mb, 1, 8 << 20 },
		{ "rpm", rpm, 300, 100000 },
		{ "heads", heads, 1, 64 },
		{ "outer_sectors_per_track", outer_sectors_per_track, 8, 65536 },
		{ "inner_sectors_per_track", inner_sectors_per_track, 8,
		  outer_sectors_per_track },
		/* Seek and revolution are added in 32 bits. */
		{ "seek_full_us", seek_full_us, 0, 1000000 },
		{ "seek_avg_us", seek_avg_us, 0, seek_full_us },
		{ "seek_track_us", seek_track_us, 0, seek_avg_us },
		{ "head_switch_us", head_switch_us, 0, 100000 },
		{ "overhead_us", overhead_us, 0, 100000 },
		{ "bus_mb_s", bus_mb_s, 1, 100000 },
		{ "actuators", actuators, 1, CFQ_DISK_ARMS },
		{ "stripe_kb", stripe_kb, 0, 1 << 20 },
		{ "ncq_depth", ncq_depth, 1, 1024 },
		{ "age_bound_ms", age_bound_ms, 1, 3600 * 1000 },
		{ "buffer_kb", buffer_kb, 0, 1 << 20 },
		{ "read_ahead_kb", read_ahead_kb, 0,
		  buffer_kb / CFQ_DISK_SEGMENTS },
	};
	struct cfq_disk_geometry *geo = &disk_geometry;
	u64 sectors;
	u32 unit;
	int ret;

	ret = cfq_check_limits(limits, ARRAY_SIZE(limits));
	if (ret)
		return ret;

	/* A flush would be of all of them, and a stripe is to end in a page. */
	if ((write_cache && actuators > 1) || stripe_kb % 4) {
		pr_err("no write cache of several actuators, no stripe of %u KiB\n",
		       stripe_kb);
		return -EINVAL;
	}

	sectors = div_u64((u64)capacity_mb << (20 - SECTOR_SHIFT), actuators);
	unit = stripe_kb ? stripe_kb * 2 : 8;
	sectors = div_u64(sectors, unit) * unit;
	if (!sectors) {
		pr_err("no stripe of %u KiB fits\n", stripe_kb);
		return -EINVAL;
	}
	cfq_disk_layout(geo, sectors, heads,
			outer_sectors_per_track, inner_sectors_per_track);
	cfq_disk_timing(geo, rpm, head_switch_us * NSEC_PER_USEC,
			seek_track_us * NSEC_PER_USEC,
			seek_avg_us * NSEC_PER_USEC,
			seek_full_us * NSEC_PER_USEC);
	geo->sector_bus_ns = SECTOR_SIZE * 1000 / bus_mb_s;
	geo->segment_sectors = buffer_kb * 2 / CFQ_DISK_SEGMENTS;
	geo->read_ahead_sectors = read_ahead_kb * 2;
	geo->overhead_ns = overhead_us * NSEC_PER_USEC;
	disk_age_bound_ns = age_bound_ms * (u64)NSEC_PER_MSEC;

	disk_model.sectors = geo->sectors * actuators;
	disk_model.queue_depth = ncq_depth;
	return 0;
}

static int __init disk_init(void)
{
	int ret;

	ret = disk_set_geometry();
	if (ret)
		return ret;
	ret = cfq_add_devices(&disk_model);
	if (ret)
		return ret;
	pr_info("%u x %u MiB, %u cylinders, %u to %u kB/s\n", nr_devices,
		capacity_mb, disk_geometry.cylinders,
		cfq_disk_rate(&disk_geometry, 0),
		cfq_disk_rate(&disk_geometry, disk_geometry.sectors - 1));
	return 0;
}

static void __exit disk_exit(void)
{
	cfq_remove_devices();
}

module_init(disk_init);
module_exit(disk_exit);
MODULE_DESCRIPTION("Modelled hard disk that accounts for its time");
MODULE_LICENSE("GPL");
