// SPDX-License-Identifier: GPL-2.0
/* The arithmetic of the modelled disk, on the disk that is the default. */

#include <kunit/test.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "cfq_disk_model.h"

#define SECTORS		488396800ULL
#define HEADS		6
#define REV_NS		8333333
#define MS		1000000U
#define AGE_BOUND_NS	(500ULL * MS)

struct fixture {
	struct cfq_disk_geometry geo;
	struct cfq_disk_state disk;
	struct list_head ops;
};

static int setup(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct cfq_disk_geometry *geo;

	if (!f)
		return -ENOMEM;
	geo = &f->geo;
	cfq_disk_layout(geo, SECTORS, HEADS, 1420, 747);
	cfq_disk_timing(geo, 7200, 800 * 1000, 3 * MS, 8900 * 1000, 21 * MS);
	geo->sector_bus_ns = 1706;
	geo->segment_sectors = 1024;
	geo->read_ahead_sectors = 512;
	geo->overhead_ns = 200 * 1000;
	f->disk.geo = geo;
	INIT_LIST_HEAD(&f->ops);
	test->priv = f;
	return 0;
}

/* An operation on @lba that arrived at @ns and is in the list. */
static struct cfq_disk_op *add_op(struct kunit *test, u64 lba, u32 sectors,
				  bool write, u64 ns)
{
	struct fixture *f = test->priv;
	struct cfq_disk_op *op = kunit_kzalloc(test, sizeof(*op), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, op);
	op->lba = lba;
	op->sectors = sectors;
	op->write = write;
	op->arrival_ns = ns;
	op->ready_ns = ns + f->geo.overhead_ns;
	op->place = cfq_disk_map(&f->geo, lba);
	list_add_tail(&op->list, &f->ops);
	return op;
}

static struct cfq_disk_op *choose(struct fixture *f, u64 now)
{
	return cfq_disk_choose(&f->disk, &f->ops, now, AGE_BOUND_NS);
}

/* The curve passes through its three points, rises, and has no step. */
static void seek_curve(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;
	u32 d, last = 0;

	KUNIT_EXPECT_EQ(test, cfq_disk_seek_ns(geo, 0), 0);
	KUNIT_EXPECT_EQ(test, cfq_disk_seek_ns(geo, 1), 3 * MS);
	KUNIT_EXPECT_EQ(test, cfq_disk_seek_ns(geo, geo->seek_third),
			8900 * 1000);
	d = cfq_disk_seek_ns(geo, geo->cylinders - 1);
	KUNIT_EXPECT_LE(test, d, 21 * MS);
	KUNIT_EXPECT_GE(test, d, 21 * MS - 1000);

	for (d = 1; d < geo->cylinders; d++) {
		u32 ns = cfq_disk_seek_ns(geo, d);

		if (ns < last || (last && ns - last > 20 * 1000)) {
			KUNIT_FAIL(test, "%u cylinders: %u ns after %u ns",
				   d, ns, last);
			break;
		}
		last = ns;
	}
}

static void rotation(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;
	u64 now = 1000ULL * REV_NS;

	KUNIT_EXPECT_EQ(test, geo->rev_ns, REV_NS);
	KUNIT_EXPECT_EQ(test, cfq_disk_rotation_ns(geo, now, 0), 0);
	KUNIT_EXPECT_EQ(test, cfq_disk_rotation_ns(geo, now, 5), 5);
	KUNIT_EXPECT_EQ(test, cfq_disk_rotation_ns(geo, now + 5, 5), 0);
	/* Just missed. */
	KUNIT_EXPECT_EQ(test, cfq_disk_rotation_ns(geo, now + 6, 5),
			REV_NS - 1);
}

/* Each sector has one place and each place one sector, also at the edges. */
static void mapping(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;

	for (u32 i = 0; i < CFQ_DISK_ZONES; i++) {
		const struct cfq_disk_zone *z = &geo->zone[i];

		for (u64 lba = z->lba > 4000 ? z->lba - 4000 : 0;
		     lba < z->lba + 20000; lba++) {
			struct cfq_disk_place p = cfq_disk_map(geo, lba);

			if (cfq_disk_lba(geo, &p) != lba ||
			    p.head >= HEADS || p.sector >= p.track_sectors ||
			    p.cylinder >= geo->cylinders ||
			    p.angle_ns >= geo->rev_ns) {
				KUNIT_FAIL(test, "zone %u: lba %llu", i, lba);
				return;
			}
		}
		KUNIT_EXPECT_EQ(test, cfq_disk_map(geo, z->lba).cylinder,
				z->cylinder);
	}
	KUNIT_EXPECT_EQ(test, geo->zone[0].track_sectors, 1420);
	KUNIT_EXPECT_EQ(test, geo->zone[CFQ_DISK_ZONES - 1].track_sectors, 747);
	KUNIT_EXPECT_LT(test, cfq_disk_map(geo, SECTORS - 1).cylinder,
			geo->cylinders);
}

static void transfer(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;
	struct cfq_disk_place p = cfq_disk_map(geo, 0);

	/* A track is a revolution, the next one starts after the switch. */
	KUNIT_EXPECT_EQ(test, cfq_disk_transfer_ns(geo, p, 1420), REV_NS);
	KUNIT_EXPECT_EQ(test, cfq_disk_transfer_ns(geo, p, 2 * 1420),
			2 * REV_NS + 800 * 1000);
	/* A cylinder, and then the first track of the next one. */
	KUNIT_EXPECT_EQ(test, cfq_disk_transfer_ns(geo, p, 7 * 1420),
			7 * REV_NS + 5 * 800 * 1000 + 3 * MS);

	/* Inner tracks hold less. */
	p = cfq_disk_map(geo, geo->zone[CFQ_DISK_ZONES - 1].lba);
	KUNIT_EXPECT_EQ(test, cfq_disk_transfer_ns(geo, p, 747), REV_NS);

	KUNIT_EXPECT_EQ(test, cfq_disk_rate(geo, 0) / 1000, 76);
	KUNIT_EXPECT_EQ(test, cfq_disk_rate(geo, SECTORS - 1) / 1000, 40);
}

/* Writes back to back go over tracks, cylinders and zones without a wait. */
static void contiguous_writes(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;
	u64 first = geo->zone[1].lba - 10 * 8192, lba = first;
	struct cfq_disk_op *op;
	u64 now = 0, begin;

	op = add_op(test, lba, 256, true, 0);
	now = cfq_disk_serve(&f->disk, op, now);
	begin = now;
	for (u32 i = 1; i < 2000; i++) {
		op->lba += 256;
		op->place = cfq_disk_map(geo, op->lba);
		now = cfq_disk_serve(&f->disk, op, now);
	}
	KUNIT_EXPECT_EQ(test, now - begin,
			cfq_disk_transfer_ns(geo, cfq_disk_map(geo, first + 256),
					     1999 * 256));
}

/* A reader that takes its time between requests still gets the media rate. */
static void read_ahead(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct cfq_disk_geometry *geo = &f->geo;
	struct cfq_disk_op *op = add_op(test, 0, 256, false, 0);
	u64 now = 0, begin, ideal;

	now = cfq_disk_serve(&f->disk, op, now);
	begin = now;
	for (u32 i = 1; i < 2000; i++) {
		now += 100 * 1000;
		op->lba += 256;
		op->arrival_ns = now;
		op->ready_ns = now + geo->overhead_ns;
		op->place = cfq_disk_map(geo, op->lba);
		now = cfq_disk_serve(&f->disk, op, now);
	}
	ideal = cfq_disk_transfer_ns(geo, cfq_disk_map(geo, 256), 1999 * 256);
	KUNIT_EXPECT_EQ(test, f->disk.hits, 1999);
	KUNIT_EXPECT_GE(test, now - begin, ideal);
	KUNIT_EXPECT_LE(test, now - begin, ideal + MS);

	/* The buffer has the last request, at the rate of the bus. */
	op->arrival_ns = now;
	op->ready_ns = now + geo->overhead_ns;
	KUNIT_EXPECT_EQ(test, cfq_disk_serve(&f->disk, op, now),
			op->ready_ns + 256ULL * geo->sector_bus_ns);

	/* Not any more after it has been written. */
	op->write = true;
	now = cfq_disk_serve(&f->disk, op, op->ready_ns);
	op->write = false;
	KUNIT_EXPECT_GT(test, cfq_disk_access_ns(&f->disk, op, now),
			MS);
}

/* Of many, the one with the shortest access is chosen. */
static void shortest_access_first(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct cfq_disk_op *op, *best;
	u64 now = 12345678, least;
	u64 lba = 1;

	for (u32 i = 0; i < 31; i++) {
		/* Any sequence that spreads them over the disk will do. */
		lba = (lba * 6364136223846793005ULL + 1442695040888963407ULL);
		add_op(test, (lba >> 32) % (SECTORS - 8), 8, i % 2, now);
	}
	best = choose(f, now);
	least = cfq_disk_access_ns(&f->disk, best, now);
	list_for_each_entry(op, &f->ops, list)
		KUNIT_EXPECT_GE(test, cfq_disk_access_ns(&f->disk, op, now),
				least);

	/* It takes as long as it was expected to. */
	KUNIT_EXPECT_EQ(test, cfq_disk_serve(&f->disk, best, now),
			now + least + cfq_disk_transfer_ns(&f->geo, best->place,
							   8));
}

/* A near sector that has just passed is farther than one on the next track. */
static void rotation_counts(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct cfq_disk_op *passed, *ahead;
	u64 now = 10ULL * REV_NS + REV_NS / 2;

	f->disk.next_lba = SECTORS;
	passed = add_op(test, 1420 / 2, 8, true, now);
	ahead = add_op(test, 1420 + 1420 * 3 / 4, 8, true, now);
	KUNIT_EXPECT_PTR_EQ(test, choose(f, now), ahead);
	KUNIT_EXPECT_GT(test, cfq_disk_access_ns(&f->disk, passed, now),
			REV_NS * 9 / 10);
}

static void age_bound(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct cfq_disk_op *far, *near;
	u64 now = 1000ULL * MS;

	far = add_op(test, SECTORS - 8, 8, false, now);
	near = add_op(test, 8, 8, false, now);
	now += AGE_BOUND_NS - 1;
	KUNIT_EXPECT_PTR_EQ(test, choose(f, now), near);
	now++;
	KUNIT_EXPECT_PTR_EQ(test, choose(f, now), far);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(seek_curve),
	KUNIT_CASE(rotation),
	KUNIT_CASE(mapping),
	KUNIT_CASE(transfer),
	KUNIT_CASE(contiguous_writes),
	KUNIT_CASE(read_ahead),
	KUNIT_CASE(shortest_access_first),
	KUNIT_CASE(rotation_counts),
	KUNIT_CASE(age_bound),
	{}
};

static struct kunit_suite suite = {
	.name		= "cfq_disk",
	.init		= setup,
	.test_cases	= cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("Unit tests of the modelled hard disk");
MODULE_LICENSE("GPL");
