// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of CFQ's arithmetic (block/cfq-calc.h) and of the service tree
 * (block/cfq-sched.h) and the charge (block/cfq-device.h).
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include "cfq-layers.h"

/* Base slice in most tests. */
#define BASE_NS		(100 * NSEC_PER_MSEC)

static void cfq_test_prio_slice(struct kunit *test)
{
	static const unsigned int ms[] = { 180, 160, 140, 120, 100, 80, 60, 40 };
	unsigned int level;

	for (level = 0; level < ARRAY_SIZE(ms); level++) {
		u64 slice_ns = cfq_prio_slice_ns(BASE_NS, level);

		KUNIT_EXPECT_EQ(test, slice_ns, ms[level] * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cfq_slice_weight(slice_ns, BASE_NS),
				ms[level]);
	}
	/* A weight is never 0, however short the slice. */
	KUNIT_EXPECT_EQ(test, cfq_slice_weight(1, BASE_NS), 1U);
	KUNIT_EXPECT_EQ(test, cfq_prio_slice_ns(5, 7), 2ULL);
}

/* What a page costs does not depend on the order of large and small requests. */
static void cfq_test_price(struct kunit *test)
{
	const unsigned int page = CFQ_WORK_PAGE, large = 128 * page;
	static struct cfq_driver_data dd;

	/* A guess counts for little. */
	cfq_price_set(&dd, NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, cfq_work_cost_ns(&dd, 2 * page), 2ULL * NSEC_PER_USEC);
	/* One page takes 20 us in small requests, and 30 in large ones. */
	for (int i = 1; i <= 128 * 40; i++) {
		cfq_price_add(&dd, 20 * NSEC_PER_USEC, page);
		if (i % 128 == 0)
			cfq_price_add(&dd, 128 * 30 * NSEC_PER_USEC, large);
	}
	KUNIT_EXPECT_GT(test, cfq_work_cost_ns(&dd, page), 24ULL * NSEC_PER_USEC);
	KUNIT_EXPECT_LE(test, cfq_work_cost_ns(&dd, page), 25ULL * NSEC_PER_USEC);

	/* What was long ago is forgotten. */
	for (int i = 0; i < 20; i++)
		cfq_price_add(&dd, NSEC_PER_SEC, 1000 * page);
	KUNIT_EXPECT_GT(test, cfq_work_cost_ns(&dd, page), 990ULL * NSEC_PER_USEC);
	KUNIT_EXPECT_LT(test, dd.spent_ns, CFQ_PRICE_NS);
}

static void cfq_test_heads(struct kunit *test)
{
	struct cfq_heads heads = {};
	unsigned int i;

	/* Unknown, whatever the first few were. */
	for (i = 1; i < CFQ_HEADS_SAMPLES; i++)
		cfq_heads_add(&heads, true);
	KUNIT_EXPECT_FALSE(test, heads.many);
	cfq_heads_add(&heads, true);
	KUNIT_EXPECT_EQ(test, heads.soon, CFQ_HEADS_ALL);
	KUNIT_EXPECT_TRUE(test, heads.many);

	/* A single head, after many: in no more samples than are remembered five times. */
	for (i = 0; i < 5 * CFQ_HEADS_MEMORY; i++)
		cfq_heads_add(&heads, false);
	KUNIT_EXPECT_EQ(test, heads.samples, (unsigned int)CFQ_HEADS_MEMORY);
	KUNIT_EXPECT_FALSE(test, heads.many);

	/* One in 25 changes nothing. */
	for (i = 0; i < 1000; i++)
		cfq_heads_add(&heads, i % 25 == 0);
	KUNIT_EXPECT_FALSE(test, heads.many);
	heads.many = true;
	for (i = 0; i < 1000; i++)
		cfq_heads_add(&heads, i % 25 == 0);
	KUNIT_EXPECT_TRUE(test, heads.many);
}

static void cfq_test_latency_slice(struct kunit *test)
{
	struct cfq_tunables tun = {
		.slice_ns = { [1] = BASE_NS },
		.target_latency_ns = 300 * NSEC_PER_MSEC,
		.slice_idle_ns = 8 * NSEC_PER_MSEC,
	};

	/* Three queues fit. */
	KUNIT_EXPECT_EQ(test, cfq_latency_slice_ns(&tun, BASE_NS, 3), BASE_NS);
	/* Six get half. */
	KUNIT_EXPECT_EQ(test, cfq_latency_slice_ns(&tun, BASE_NS, 6), BASE_NS / 2);
	/* A hundred get the floor, in proportion to their slice. */
	KUNIT_EXPECT_EQ(test, cfq_latency_slice_ns(&tun, BASE_NS, 100),
			16 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cfq_latency_slice_ns(&tun, BASE_NS / 2, 100),
			8 * NSEC_PER_MSEC);
	/* A floor above the slice does not lengthen it. */
	tun.slice_idle_ns = BASE_NS;
	KUNIT_EXPECT_EQ(test, cfq_latency_slice_ns(&tun, BASE_NS, 100), BASE_NS);
}

static void cfq_test_group_prio(struct kunit *test)
{
	static const unsigned int weight[] = { 200, 175, 150, 125, 100, 75, 50,
					       25 };
	unsigned int prio;

	for (prio = 0; prio < ARRAY_SIZE(weight); prio++) {
		KUNIT_EXPECT_EQ(test, cfq_group_prio_to_weight(prio),
				weight[prio]);
		KUNIT_EXPECT_EQ(test, cfq_weight_to_group_prio(weight[prio]),
				prio);
	}
	KUNIT_EXPECT_EQ(test, cfq_weight_to_group_prio(1), 7U);
	KUNIT_EXPECT_EQ(test, cfq_weight_to_group_prio(10000), 0U);
}

static void cfq_test_share(struct kunit *test)
{
	u32 share;
	int i;

	/* The example in block/cfq-groups.c: 1/2 * 3/4 of 800. */
	share = cfq_share_of(CFQ_SHARE_ALL, 200, 400);
	share = cfq_share_of(share, 300, 400);
	KUNIT_EXPECT_EQ(test, div_u64(cfq_share_amount(8000, share), 10), 299ULL);

	/* Alone it is all, at any depth. */
	share = CFQ_SHARE_ALL;
	for (i = 0; i < 20; i++)
		share = cfq_share_of(share, 10000, 10000);
	KUNIT_EXPECT_EQ(test, cfq_share_amount(U64_MAX, share), U64_MAX);

	/* It becomes small but not nothing. */
	for (i = 0; i < 20; i++)
		share = cfq_share_of(share, 1, 10000);
	KUNIT_EXPECT_EQ(test, share, 1U);
	KUNIT_EXPECT_EQ(test, cfq_share_of(CFQ_SHARE_ALL, 1, U32_MAX), 1U);
}

static void cfq_test_turn(struct kunit *test)
{
	const u64 base_ns = 400 * NSEC_PER_MSEC;

	KUNIT_EXPECT_EQ(test, cfq_turn_ns(base_ns, 1, CFQ_SHARE_ALL),
			base_ns);
	KUNIT_EXPECT_EQ(test, cfq_turn_ns(base_ns, 0, CFQ_SHARE_ALL),
			base_ns);
	/* The example in block/cfq-groups.c. */
	KUNIT_EXPECT_EQ(test, div_u64(cfq_turn_ns(base_ns, 3,
						  cfq_share_of(CFQ_SHARE_ALL,
							       200, 325)),
				      NSEC_PER_MSEC), 738ULL);
	KUNIT_EXPECT_EQ(test, div_u64(cfq_turn_ns(base_ns, 3,
						  cfq_share_of(CFQ_SHARE_ALL,
							       25, 325)),
				      NSEC_PER_MSEC), 92ULL);
	/* One out of a thousand, with nearly everything. */
	KUNIT_EXPECT_EQ(test, cfq_turn_ns(base_ns, 1000, CFQ_SHARE_ALL),
			4 * base_ns);
}

static void cfq_test_descriptors_lent(struct kunit *test)
{
	/* 56 of 64. */
	KUNIT_EXPECT_TRUE(test, cfq_descriptors_lent(64, 55));
	KUNIT_EXPECT_FALSE(test, cfq_descriptors_lent(64, 56));
	/* Of few, all but one. */
	KUNIT_EXPECT_TRUE(test, cfq_descriptors_lent(4, 2));
	KUNIT_EXPECT_FALSE(test, cfq_descriptors_lent(4, 3));
	KUNIT_EXPECT_FALSE(test, cfq_descriptors_lent(1, 0));
}

static void cfq_test_ioprio(struct kunit *test)
{
	const unsigned short rt = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 2);
	const unsigned short idle = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 7);
	const unsigned short normal = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE,
							IOPRIO_BE_NORM);

	KUNIT_EXPECT_EQ(test, cfq_effective_ioprio(rt), rt);
	KUNIT_EXPECT_EQ(test, cfq_effective_ioprio(idle), idle);
	/* Nobody is more idle than others. */
	KUNIT_EXPECT_EQ(test, cfq_effective_ioprio(IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT),
			idle);
	KUNIT_EXPECT_EQ(test, cfq_effective_ioprio(0), normal);
	KUNIT_EXPECT_EQ(test, cfq_effective_ioprio(rt | (1 << IOPRIO_HINT_SHIFT)),
			rt);
	KUNIT_EXPECT_EQ(test, cfq_ioprio_to_class(rt), CFQ_CLASS_RT);
	KUNIT_EXPECT_EQ(test, cfq_ioprio_to_class(normal), CFQ_CLASS_BE);
	KUNIT_EXPECT_EQ(test, cfq_ioprio_to_class(idle), CFQ_CLASS_IDLE);
}

static void cfq_test_seek_history(struct kunit *test)
{
	/* A jump now and then is a stream. */
	KUNIT_EXPECT_FALSE(test, cfq_history_seeky(0x00010001, 32));
	KUNIT_EXPECT_FALSE(test, cfq_history_seeky(0x0000000f, 9));
	KUNIT_EXPECT_TRUE(test, cfq_history_seeky(0x0000001f, 9));

	/* Of few the greater part counts. */
	KUNIT_EXPECT_TRUE(test, cfq_history_seeky(0, 0));
	KUNIT_EXPECT_FALSE(test, cfq_history_seeky(0, 1));
	KUNIT_EXPECT_TRUE(test, cfq_history_seeky(0x6, 3));
	KUNIT_EXPECT_TRUE(test, cfq_history_seeky(0x6, 4));
	KUNIT_EXPECT_FALSE(test, cfq_history_seeky(0x6, 5));
}

static void cfq_test_seek_cost(struct kunit *test)
{
	static const struct cfq_driver_data dd = {
		.last_position = 1000000,
		.tun = { .back_seek_max_kb = 16 * 1024, .back_seek_penalty = 2 },
	};
	const sector_t head = dd.last_position;

	KUNIT_EXPECT_EQ(test, cfq_seek_cost(&dd, head + 100), 100ULL);
	KUNIT_EXPECT_EQ(test, cfq_seek_cost(&dd, head - 100), 200ULL);
	/* The limit is in KiB, two sectors each. */
	KUNIT_EXPECT_EQ(test, cfq_seek_cost(&dd, head - 32768), 65536ULL);
	KUNIT_EXPECT_GT(test, cfq_seek_cost(&dd, head - 32769),
			cfq_seek_cost(&dd, S64_MAX));
	/* Among those far behind the lowest sector comes first. */
	KUNIT_EXPECT_LT(test, cfq_seek_cost(&dd, 0), cfq_seek_cost(&dd, 1));
}

static void cfq_test_think_time(struct kunit *test)
{
	const u64 limit_ns = 8 * NSEC_PER_MSEC;
	const struct cfq_tunables tun = { .slice_idle_ns = limit_ns };
	struct cfq_think_time think = {};
	int i;

	/* Nothing known yet: hope. */
	KUNIT_EXPECT_TRUE(test, cfq_think_time_within(&think, limit_ns));
	cfq_add_think_time(&think, &tun, 0, 16 * NSEC_PER_MSEC);
	cfq_add_think_time(&think, &tun, 2, 1);
	KUNIT_EXPECT_EQ(test, think.samples, 0U);
	for (i = 0; i < 4; i++)
		cfq_add_think_time(&think, &tun, 1, NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, cfq_think_time_within(&think, limit_ns));
	for (i = 0; i < 16; i++)
		cfq_add_think_time(&think, &tun, 1, NSEC_PER_MSEC + 1);
	KUNIT_EXPECT_TRUE(test, cfq_think_time_within(&think, limit_ns));
}

static void cfq_test_parse(struct kunit *test)
{
	static const struct {
		const char *text;
		int ret;
		u64 value;
	} cases[] = {
		{ "3", 0, 3 }, { "7\n", 0, 7 }, { "+5", 0, 5 }, { "005", 0, 5 },
		{ "2", -ERANGE }, { "8", -ERANGE }, { "-5", -ERANGE },
		{ "18446744073709551621", -ERANGE },
		{ "-99999999999999999999", -ERANGE },
		{ "", -EINVAL }, { "\n", -EINVAL }, { "-", -EINVAL },
		{ "+-5", -EINVAL }, { " 5", -EINVAL }, { "5 ", -EINVAL },
		{ "5\n\n", -EINVAL }, { "0x5", -EINVAL }, { "-x", -EINVAL },
		{ "99999999999999999999x", -EINVAL },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 value = 0;
		int ret = cfq_parse(cases[i].text, 3, 7, &value);

		KUNIT_EXPECT_EQ_MSG(test, ret, cases[i].ret, "'%s'",
				    cases[i].text);
		if (!ret)
			KUNIT_EXPECT_EQ(test, value, cases[i].value);
	}
}

/*
 * Service tree.
 */

/* Serve the first entity @rounds times, 1 ms each; count in @served. */
static void cfq_test_serve(struct cfq_service_tree *st,
			   struct cfq_entity *entities, unsigned int *served,
			   unsigned int rounds)
{
	while (rounds--) {
		struct cfq_entity *first = cfq_st_first(st);

		served[first - entities]++;
		cfq_entity_charge(first, NSEC_PER_MSEC);
	}
}

static void cfq_test_tree_shares(struct kunit *test)
{
	struct cfq_entity e[3] = {
		{ .weight = 200 }, { .weight = 100 }, { .weight = 25 },
	};
	unsigned int served[3] = {};
	struct cfq_service_tree st = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(e); i++)
		cfq_st_add(&st, &e[i], 0);
	KUNIT_EXPECT_EQ(test, st.nr, 3U);
	KUNIT_EXPECT_EQ(test, st.total_weight, 325U);

	/* 8 : 4 : 1 */
	cfq_test_serve(&st, e, served, 1300);
	KUNIT_EXPECT_EQ(test, served[0], 800U);
	KUNIT_EXPECT_EQ(test, served[1], 400U);
	KUNIT_EXPECT_EQ(test, served[2], 100U);

	for (i = 0; i < ARRAY_SIZE(e); i++)
		cfq_st_del(&e[i]);
	KUNIT_EXPECT_EQ(test, st.nr, 0U);
	KUNIT_EXPECT_EQ(test, st.total_weight, 0U);
	KUNIT_EXPECT_NULL(test, cfq_st_first(&st));
}

static void cfq_test_tree_return(struct kunit *test)
{
	struct cfq_entity a = { .weight = 100 }, b = { .weight = 100 };
	struct cfq_service_tree st = {};

	cfq_st_add(&st, &a, 0);
	cfq_entity_charge(&a, NSEC_PER_SEC);

	/* No credit for having been away ... */
	cfq_st_add(&st, &b, 0);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&a, &b), 0LL);

	/* ... and no escape from what was used by a short absence. */
	cfq_entity_charge(&b, NSEC_PER_MSEC);
	cfq_st_del(&b);
	cfq_st_add(&st, &b, 0);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&b, &a), (s64)NSEC_PER_MSEC);

	/* What it was behind is kept up to the credit. */
	cfq_st_del(&a);
	cfq_entity_charge(&b, NSEC_PER_SEC);
	cfq_st_add(&st, &a, 1000);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&b, &a), 1000LL);

	/* The last one to go leaves the tree where it stood. */
	cfq_st_del(&b);
	cfq_st_del(&a);
	KUNIT_EXPECT_GE(test, st.min_vdisktime, (u64)NSEC_PER_SEC);
}

static void cfq_test_tree_correction(struct kunit *test)
{
	struct cfq_entity e[4];
	struct cfq_entity *entity, *last = NULL;
	struct cfq_service_tree st = {};
	u32 random = 1;
	u64 min = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(e); i++) {
		e[i] = (struct cfq_entity) { .weight = 50 * (i + 1) };
		cfq_st_add(&st, &e[i], 0);
	}
	/* Charges and corrections keep the order, the minimum only grows. */
	for (i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		cfq_entity_charge(&e[random >> 30], (random >> 8) % 1000 - 300);
		KUNIT_EXPECT_GE(test, st.min_vdisktime, min);
		min = st.min_vdisktime;
	}
	for (entity = cfq_st_first(&st); entity; entity = cfq_st_next(entity)) {
		if (last)
			KUNIT_EXPECT_GE(test, cfq_entity_lead(entity, last),
					0LL);
		last = entity;
	}
}

/* The same tree, slow and obviously right. */
#define MODEL_NR	8

struct cfq_model {
	u64		vdisktime[MODEL_NR];
	unsigned int	weight[MODEL_NR];
	bool		on[MODEL_NR];
	u64		min;
};

static int cfq_model_first(const struct cfq_model *model)
{
	int i, first = -1;

	for (i = 0; i < MODEL_NR; i++)
		if (model->on[i] && (first < 0 ||
				     model->vdisktime[i] < model->vdisktime[first]))
			first = i;
	return first;
}

/* Who comes in does not move it, as what he owes he owes to the next ones. */
static void cfq_model_update_min(struct cfq_model *model)
{
	int first = cfq_model_first(model);

	if (first >= 0)
		model->min = max(model->min, model->vdisktime[first]);
}

/* Of these some are ready and some not. */
static bool cfq_odd_weight(struct cfq_entity *entity)
{
	return entity->weight & 1;
}

static void cfq_model_forget(struct cfq_model *model, int served, u64 lead)
{
	u64 vdisktime = model->vdisktime[served];
	int i;

	for (i = 0; i < MODEL_NR; i++)
		if (model->on[i] && model->weight[i] & 1)
			vdisktime = min(vdisktime, model->vdisktime[i]);
	if (vdisktime <= model->vdisktime[cfq_model_first(model)] + 2 * lead)
		return;
	for (i = 0; i < MODEL_NR; i++)
		if (model->on[i])
			model->vdisktime[i] = max(model->vdisktime[i],
						  vdisktime - lead);
	cfq_model_update_min(model);
}

/* Is the tree what the model says? */
static void cfq_model_check(struct kunit *test, const struct cfq_model *model,
			    struct cfq_service_tree *st,
			    const struct cfq_entity *e)
{
	struct cfq_entity *entity, *last = NULL;
	unsigned int nr = 0, weight = 0;
	int i;

	for (i = 0; i < MODEL_NR; i++) {
		KUNIT_EXPECT_EQ(test, e[i].vdisktime, model->vdisktime[i]);
		KUNIT_EXPECT_EQ(test, !!e[i].st, model->on[i]);
		nr += model->on[i];
		weight += model->on[i] ? model->weight[i] : 0;
	}
	KUNIT_EXPECT_EQ(test, st->nr, nr);
	KUNIT_EXPECT_EQ(test, st->total_weight, weight);
	KUNIT_EXPECT_EQ(test, st->min_vdisktime, model->min);
	for (entity = cfq_st_first(st); entity; entity = cfq_st_next(entity)) {
		nr--;
		if (last)
			KUNIT_EXPECT_GE(test, cfq_entity_lead(entity, last), 0LL);
		last = entity;
	}
	KUNIT_EXPECT_EQ(test, nr, 0U);
}

static void cfq_test_tree_random(struct kunit *test)
{
	/* So far from 0 that nothing wraps. */
	const u64 start = 1ULL << 40;
	struct cfq_entity e[MODEL_NR] = {};
	struct cfq_model model = { .min = start };
	struct cfq_service_tree st = {};
	u32 random = 1;
	int step, i;

	st.min_vdisktime = start;
	for (i = 0; i < MODEL_NR; i++) {
		e[i].vdisktime = start;
		e[i].weight = 100;
		model.vdisktime[i] = start;
		model.weight[i] = 100;
	}
	for (step = 0; step < 10000; step++) {
		u64 amount;

		random = random * 1664525 + 1013904223;
		amount = (random >> 8) % 1000;
		i = (random >> 18) % MODEL_NR;
		switch (random >> 29) {
		case 0:
			if (model.on[i])
				break;
			cfq_st_add(&st, &e[i], amount);
			model.on[i] = true;
			model.vdisktime[i] = max(model.vdisktime[i],
						 model.min - amount);
			break;
		case 1:
			if (!model.on[i])
				break;
			cfq_st_del(&e[i]);
			/* The last one to go leaves the tree where it is. */
			if (st.nr == 0)
				cfq_model_update_min(&model);
			model.on[i] = false;
			cfq_model_update_min(&model);
			break;
		case 2:
			cfq_entity_set_weight(&e[i], amount + 1);
			model.weight[i] = amount + 1;
			break;
		case 3:
			if (!model.on[i])
				break;
			cfq_st_forget_behind(&e[i], amount, cfq_odd_weight);
			cfq_model_forget(&model, i, amount);
			break;
		default:
			/* Some of it may be given back. */
			cfq_entity_charge(&e[i], (s64)amount - 100);
			model.vdisktime[i] += div_s64(((s64)amount - 100) * 100,
						      model.weight[i]);
			if (model.on[i])
				cfq_model_update_min(&model);
			break;
		}
		cfq_model_check(test, &model, &st, e);
	}
}

static void cfq_test_tree_weight(struct kunit *test)
{
	struct cfq_entity e[2] = { { .weight = 100 }, { .weight = 100 } };
	unsigned int served[2] = {};
	struct cfq_service_tree st = {};

	cfq_st_add(&st, &e[0], 0);
	cfq_st_add(&st, &e[1], 0);
	cfq_test_serve(&st, e, served, 100);
	KUNIT_EXPECT_EQ(test, served[0], 50U);

	/* A change takes effect at once, on what is used from now on. */
	cfq_entity_set_weight(&e[0], 300);
	KUNIT_EXPECT_EQ(test, st.total_weight, 400U);
	cfq_test_serve(&st, e, served, 400);
	KUNIT_EXPECT_EQ(test, served[0], 350U);
}

static void cfq_test_tree_reweigh(struct kunit *test)
{
	struct cfq_entity e[2] = { { .weight = 1 }, { .weight = 100 } };
	struct cfq_service_tree st = {};

	cfq_st_add(&st, &e[0], 0);
	cfq_st_add(&st, &e[1], 0);
	/* At weight 1 it is 100 ms ahead, at weight 100 it is 1 ms. */
	cfq_entity_charge(&e[0], NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&e[0], &e[1]),
			100 * (s64)NSEC_PER_MSEC);
	cfq_entity_reweigh(&st, &e[0], 100);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&e[0], &e[1]),
			(s64)NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, st.total_weight, 200U);

	/* The order follows. */
	cfq_entity_charge(&e[1], 2 * NSEC_PER_MSEC);
	KUNIT_EXPECT_PTR_EQ(test, cfq_st_first(&st), &e[0]);
	cfq_entity_charge(&e[0], 2 * NSEC_PER_MSEC);
	cfq_entity_reweigh(&st, &e[0], 10000);
	KUNIT_EXPECT_PTR_EQ(test, cfq_st_first(&st), &e[1]);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&e[0], &e[1]),
			(s64)NSEC_PER_MSEC / 100);

	/* What is idle, or not ahead, is just given its weight. */
	cfq_st_del(&e[1]);
	cfq_entity_reweigh(&st, &e[0], 50);
	KUNIT_EXPECT_EQ(test, e[0].vdisktime, st.min_vdisktime);
	cfq_entity_reweigh(&st, &e[1], 50);
	KUNIT_EXPECT_EQ(test, e[1].weight, 50U);
	KUNIT_EXPECT_EQ(test, st.total_weight, 50U);
}

/* The same in device time, whatever the scale of the weights. */
static void cfq_test_tree_mean(struct kunit *test)
{
	struct cfq_entity a = { .weight = 300 }, b = { .weight = 100 };
	struct cfq_service_tree st = {};

	KUNIT_EXPECT_EQ(test, cfq_st_mean_vdisktime(&st, 0, 1000), 0ULL);
	KUNIT_EXPECT_EQ(test, cfq_st_mean_vdisktime(&st, 50, 1000), 2000ULL);
	cfq_st_add(&st, &a, 0);
	cfq_st_add(&st, &b, 0);
	KUNIT_EXPECT_EQ(test, cfq_st_mean_vdisktime(&st, 0, 1000), 500ULL);
	KUNIT_EXPECT_EQ(test, cfq_st_mean_vdisktime(&st, 200, 1000), 500ULL);
}

static void cfq_test_tree_forget(struct kunit *test)
{
	struct cfq_entity a = { .weight = 100 }, b = { .weight = 100 };
	struct cfq_entity c = { .weight = 100 }, d = { .weight = 100 };
	struct cfq_service_tree st = {};

	cfq_st_add(&st, &a, 0);
	cfq_st_add(&st, &b, 0);
	cfq_st_add(&st, &c, 0);
	cfq_st_add(&st, &d, 0);
	cfq_entity_charge(&b, 100);
	cfq_entity_charge(&c, 600);
	cfq_entity_charge(&d, 1000);
	/* Twice as much is still owed. */
	cfq_st_forget_behind(&d, 500, cfq_odd_weight);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &a), 1000LL);
	cfq_st_forget_behind(&d, 499, cfq_odd_weight);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &a), 499LL);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &b), 499LL);
	/* Who is not that far behind stays, and so does the order. */
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &c), 400LL);
	KUNIT_EXPECT_PTR_EQ(test, cfq_st_next(cfq_st_next(cfq_st_first(&st))), &c);
	KUNIT_EXPECT_EQ(test, st.min_vdisktime, 501ULL);
	KUNIT_EXPECT_EQ(test, d.vdisktime, 1000ULL);
	/* The first one leaves nobody behind. */
	cfq_st_forget_behind(cfq_st_first(&st), 0, cfq_odd_weight);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &a), 499LL);
	/* One that is ready stays, and who is behind it is owed as much more. */
	cfq_entity_set_weight(&b, 101);
	KUNIT_EXPECT_FALSE(test, cfq_st_forget_behind(&d, 0, cfq_odd_weight));
	cfq_entity_charge(&b, 101);
	KUNIT_EXPECT_TRUE(test, cfq_st_forget_behind(&d, 30, cfq_odd_weight));
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&d, &b), 399LL);
	KUNIT_EXPECT_EQ(test, cfq_entity_lead(&b, &a), 30LL);
}

static void cfq_test_tree_wrap(struct kunit *test)
{
	struct cfq_entity a = { .weight = 100 }, b = { .weight = 100 };
	struct cfq_service_tree st = {};

	st.min_vdisktime = U64_MAX - 10;
	a.vdisktime = U64_MAX - 5;
	b.vdisktime = U64_MAX - 10;
	cfq_st_add(&st, &a, 0);
	cfq_st_add(&st, &b, 0);
	KUNIT_EXPECT_PTR_EQ(test, cfq_st_first(&st), &b);
	cfq_entity_charge(&b, 20);
	KUNIT_EXPECT_PTR_EQ(test, cfq_st_first(&st), &a);
}

/*
 * Charge.
 */

/* A device of four servants of 80 us: what a request takes by itself. */
static void cfq_test_service(struct kunit *test)
{
	const unsigned int parallel = 4 * CFQ_PARALLEL_ONE;
	const u64 page_ns = 80 * NSEC_PER_USEC;
	u64 service_ns = 0;
	int i;

	KUNIT_EXPECT_EQ(test, cfq_size_order(1), 0U);
	KUNIT_EXPECT_EQ(test, cfq_size_order(127), 6U);
	KUNIT_EXPECT_EQ(test, cfq_size_order(UINT_MAX), CFQ_NR_ORDERS - 1);
	/* What may have waited says nothing. */
	cfq_service_add(&service_ns, 16 * page_ns, 1, 1, 63, parallel);
	KUNIT_EXPECT_EQ(test, service_ns, 0ULL);
	/* What had few beside it does, */
	cfq_service_add(&service_ns, 2 * page_ns, 1, 1, 2, parallel);
	KUNIT_EXPECT_EQ(test, service_ns, 2 * page_ns);
	/* at once if it was quicker, by and by if it was not, */
	cfq_service_add(&service_ns, page_ns / 2, 1, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, service_ns, page_ns / 2);
	for (i = 0; i < 100; i++)
		cfq_service_add(&service_ns, page_ns, 1, 1, 1, 0);
	KUNIT_EXPECT_GE(test, service_ns, page_ns - 8);
	/* and of a stall no more than four times of what is known, */
	cfq_service_add(&service_ns, NSEC_PER_SEC, 1, 1, 0, 0);
	KUNIT_EXPECT_LE(test, service_ns, page_ns * 11 / 8);
	/* and so does what was quicker, whatever was beside it. */
	cfq_service_add(&service_ns, page_ns / 2, 1, 1, 63, parallel);
	KUNIT_EXPECT_EQ(test, service_ns, page_ns / 2);

	/* Those of an order take as long for each page. */
	service_ns = 0;
	cfq_service_add(&service_ns, 24 * page_ns, 96, 96, 48, parallel);
	KUNIT_EXPECT_EQ(test, service_ns, 16 * page_ns);
	KUNIT_EXPECT_EQ(test, cfq_service_of(service_ns, 64), 16 * page_ns);
	KUNIT_EXPECT_EQ(test, cfq_service_of(service_ns, 127),
			16 * page_ns * 127 / 64);
	/* The last one has no bound. */
	service_ns = 0;
	cfq_service_add(&service_ns, 32 * page_ns, 128, 128, 0, parallel);
	KUNIT_EXPECT_EQ(test, cfq_service_of(service_ns, 1024), 256 * page_ns);
}

/* A device of four servants. */
static void cfq_test_parallelism(struct kunit *test)
{
	const u64 window_ns = CFQ_WORK_WINDOW_NS;
	const u64 work_ns = 4 * window_ns;
	unsigned int parallel = 0, i;

	parallel = cfq_parallel_add(parallel, work_ns, window_ns);
	KUNIT_EXPECT_EQ(test, parallel, 4 * CFQ_PARALLEL_ONE);
	KUNIT_EXPECT_EQ(test, cfq_useful_depth(parallel), 4U * CFQ_DEPTH_RATIO);
	KUNIT_EXPECT_EQ(test, cfq_spare_depth(parallel), 4U);
	/* A quiet moment is no reason to forget; half a second of it is. */
	parallel = cfq_parallel_add(parallel, 0, window_ns);
	KUNIT_EXPECT_EQ(test, parallel, 62U);
	for (i = 0; i < 25; i++)
		parallel = cfq_parallel_add(parallel, 0, window_ns);
	KUNIT_EXPECT_LT(test, parallel, 2 * CFQ_PARALLEL_ONE);
	/* There is always room for one. */
	KUNIT_EXPECT_EQ(test, cfq_useful_depth(0), 1U);
	KUNIT_EXPECT_EQ(test, cfq_spare_depth(0), 1U);
	/* What has a servant to spare keeps nobody from being busy. */
	for (parallel = 0; parallel < 64 * CFQ_PARALLEL_ONE; parallel++)
		KUNIT_EXPECT_LE(test, cfq_spare_depth(parallel),
				cfq_useful_depth(parallel));
}

/* What a request in the device keeps in a word. */
static void cfq_test_sent(struct kunit *test)
{
	struct request *rq = kunit_kzalloc(test, sizeof(*rq), GFP_KERNEL);
	struct cfq_done done = { .end_ns = 3ULL * NSEC_PER_SEC };

	KUNIT_ASSERT_NOT_NULL(test, rq);
	rq_set_sent(rq, CFQ_WORK_MAX, RQ_PAGES_MAX, 2ULL * NSEC_PER_SEC);
	done.sent = rq->fifo_time;
	KUNIT_EXPECT_EQ(test, cfq_sent_work(done.sent), CFQ_WORK_MAX);
	KUNIT_EXPECT_EQ(test, cfq_sent_pages(done.sent), RQ_PAGES_MAX);
	KUNIT_EXPECT_EQ(test, cfq_done_in_driver_ns(&done),
			(u64)NSEC_PER_SEC);
	rq_set_sent(rq, 8, 1, 2ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, cfq_sent_work(rq->fifo_time), 8U);
	KUNIT_EXPECT_EQ(test, cfq_sent_pages(rq->fifo_time), 1U);
}

/* Pages that are many for a moment, or long, are not many at the same time. */
static void cfq_test_completed(struct kunit *test)
{
	const u64 page_ns = 1600 * NSEC_PER_USEC;
	struct cfq_parallelism par = { .page_ns = { page_ns } };
	u64 now = NSEC_PER_SEC;
	int i;

	par.window_start_ns = now;
	/* Sent together, and done one after the other. */
	for (i = 0; i < 28; i++) {
		now += page_ns;
		cfq_count_completed(&par, CFQ_WORK_PAGE, page_ns, now);
	}
	KUNIT_EXPECT_EQ(test, par.parallel, CFQ_PARALLEL_ONE);
	for (i = 0; i < 5; i++) {
		now += 100 * page_ns;
		cfq_count_completed(&par, 100 * CFQ_WORK_PAGE,
				    100 * page_ns, now);
	}
	KUNIT_EXPECT_LE(test, par.parallel, CFQ_PARALLEL_ONE);
	/* Four at a time are, of one request or of several. */
	for (i = 0; i < 2 * 20; i++) {
		now += page_ns;
		cfq_count_completed(&par, 4 * CFQ_WORK_PAGE, page_ns, now);
	}
	KUNIT_EXPECT_GE(test, par.parallel, 4 * CFQ_PARALLEL_ONE - 1);
	KUNIT_EXPECT_LE(test, par.parallel, 4 * CFQ_PARALLEL_ONE + 1);
	for (i = 0; i < 4 * 20; i++) {
		now += page_ns / 4;
		cfq_count_completed(&par, CFQ_WORK_PAGE, page_ns, now);
	}
	KUNIT_EXPECT_GE(test, par.parallel, 4 * CFQ_PARALLEL_ONE - 1);
	KUNIT_EXPECT_LE(test, par.parallel, 4 * CFQ_PARALLEL_ONE + 1);
}

/* The work of each order, of which some take @ns each, or 0: unknown. */
static void cfq_expect_work(struct kunit *test, struct cfq_sizes *sizes, bool write,
			    const u64 *ns, const unsigned int *pages)
{
	memcpy(sizes->ns[write], ns, CFQ_NR_ORDERS * sizeof(*ns));
	cfq_sizes_set_work(sizes, 3 * CFQ_WORK_PAGE);
	for (unsigned int order = 0; order < CFQ_NR_ORDERS; order++)
		KUNIT_EXPECT_EQ_MSG(test, cfq_size_work(4096U << order, write, sizes),
				    CFQ_WORK_PAGE * pages[order], "order %u", order);
}

static void cfq_test_sizes(struct kunit *test)
{
	static const unsigned int by_pages[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	static struct cfq_sizes sizes;

	/* Nothing is known, or of one size; or it is about by pages, or more than that. */
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 0 }, by_pages);
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 0, 0, 500 }, by_pages);
	cfq_expect_work(test, &sizes, READ,
			(u64[CFQ_NR_ORDERS]) { 100, 0, 360, 0, 1300 }, by_pages);
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 100, 0, 800 },
			by_pages);

	/* Pages of 16 KiB inside: in between, and beyond, it is a line. */
	cfq_expect_work(test, &sizes, READ,
			(u64[CFQ_NR_ORDERS]) { 100, 0, 110, 0, 410 },
			(unsigned int[]) { 1, 1, 1, 2, 4, 8, 16, 32 });
	KUNIT_EXPECT_EQ(test, cfq_size_work(3 * 4096, READ, &sizes), CFQ_WORK_PAGE);
	KUNIT_EXPECT_EQ(test, cfq_size_work(24 * 4096, READ, &sizes), 6 * CFQ_WORK_PAGE);
	KUNIT_EXPECT_EQ(test, cfq_size_work(SZ_4M, READ, &sizes), 256 * CFQ_WORK_PAGE);
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 100, 0, 110 },
			(unsigned int[]) { 1, 1, 1, 2, 4, 8, 16, 32 });
	/* By requests. */
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 100, 0, 0, 0, 100 },
			(unsigned int[]) { 1, 1, 1, 1, 1, 1, 1, 1 });
	KUNIT_EXPECT_EQ(test, cfq_size_work(SZ_4M, READ, &sizes), CFQ_WORK_PAGE);
	/* The smallest one is not known. */
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 0, 0, 100, 0, 100 },
			(unsigned int[]) { 1, 2, 4, 4, 4, 4, 4, 4 });
	/* A larger one does not take less. */
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 100, 100, 200, 0, 100 },
			(unsigned int[]) { 1, 1, 2, 2, 2, 2, 2, 2 });
}

static void cfq_test_sizes_written(struct kunit *test)
{
	static struct cfq_sizes sizes;

	/* Nothing is known of writes: three times as much as reads, as said to be. */
	cfq_expect_work(test, &sizes, READ, (u64[CFQ_NR_ORDERS]) { 100, 100, 200, 0, 100 },
			(unsigned int[]) { 1, 1, 2, 2, 2, 2, 2, 2 });
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 0 },
			(unsigned int[]) { 3, 3, 6, 6, 6, 6, 6, 6 });
	/* Compared with reads, and what is not known as the one before, or the first. */
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 0, 500, 0, 0, 1200 },
			(unsigned int[]) { 5, 5, 10, 10, 12, 12, 12, 12 });
	/* Not less than a read, nor more than a larger one. */
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 500, 50, 0, 0, 900 },
			(unsigned int[]) { 1, 1, 2, 2, 9, 9, 9, 9 });
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 500, 0, 0, 0, 700 },
			(unsigned int[]) { 5, 5, 7, 7, 7, 7, 7, 7 });
	/* No read is known: the smallest write is as said. */
	memset(sizes.ns[READ], 0, sizeof(sizes.ns[READ]));
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 500, 0, 500, 0, 2000 },
			(unsigned int[]) { 3, 3, 3, 6, 12, 24, 48, 96 });
	/* It met a stall: none is nothing. */
	cfq_expect_work(test, &sizes, WRITE, (u64[CFQ_NR_ORDERS]) { 900, 0, 0, 0, 1 },
			(unsigned int[]) { 1, 1, 1, 1, 1, 1, 1, 1 });
}

/* How long one takes of a device of four servants, that are never all busy. */
static void cfq_test_sizes_add(struct kunit *test)
{
	u64 ns = 0;

	cfq_sizes_add(&ns, 26, 700, 80, 0);
	KUNIT_EXPECT_EQ(test, ns, 25ULL);
	/* One that has all of the device to itself says it all. */
	ns = 0;
	cfq_sizes_add(&ns, 80, 800, 80, 0);
	KUNIT_EXPECT_EQ(test, ns, 80ULL);
	/* As a part of what was known before, and no more than twice that. */
	cfq_sizes_add(&ns, 160, 800, 80, 1);
	KUNIT_EXPECT_EQ(test, ns, 120ULL);
	cfq_sizes_add(&ns, 60000, 800, 80, 3);
	KUNIT_EXPECT_EQ(test, ns, 150ULL);
	/* What is far less counts at once. */
	cfq_sizes_add(&ns, 100, 800, 80, 8);
	KUNIT_EXPECT_EQ(test, ns, 100ULL);
}

static void cfq_test_page(struct kunit *test)
{
	unsigned int samples = 0, i;
	u64 page_ns = 0;

	/* The first may have met with a stall. */
	cfq_page_add(&page_ns, &samples, 3000, 1);
	KUNIT_EXPECT_EQ(test, page_ns, 3000ULL);
	cfq_page_add(&page_ns, &samples, 80, 1);
	KUNIT_EXPECT_EQ(test, page_ns, 80ULL);
	cfq_page_add(&page_ns, &samples, 100, 1);
	KUNIT_EXPECT_EQ(test, page_ns, 80ULL);
	/* 16 pages, four by four. */
	cfq_page_add(&page_ns, &samples, 320, 16);
	KUNIT_EXPECT_EQ(test, page_ns, 80ULL);
	KUNIT_EXPECT_EQ(test, samples, CFQ_PAGE_SAMPLES);
	/* From then on an average. */
	for (i = 0; i < 100; i++)
		cfq_page_add(&page_ns, &samples, 160, 1);
	KUNIT_EXPECT_GE(test, page_ns, 150ULL);
	KUNIT_EXPECT_EQ(test, samples, CFQ_PAGE_SAMPLES);
	cfq_page_add(&page_ns, &samples, NSEC_PER_SEC, 1);
	KUNIT_EXPECT_LE(test, page_ns, 240ULL);
}

/* Where nothing is known of sizes, and a page that is written is @write_work. */
static unsigned int by_pages(unsigned int bytes, bool write, unsigned int write_work)
{
	static struct cfq_sizes unknown;

	cfq_sizes_set_work(&unknown, write_work);
	return cfq_size_work(bytes, write, &unknown);
}

static void cfq_test_request_work(struct kunit *test)
{
	const unsigned int page = CFQ_WORK_PAGE;

	KUNIT_EXPECT_EQ(test, by_pages(0, false, page), page);
	KUNIT_EXPECT_EQ(test, by_pages(4096, false, 5 * page), page);
	KUNIT_EXPECT_EQ(test, by_pages(4096, true, 5 * page), 5 * page);
	KUNIT_EXPECT_EQ(test, by_pages(4097, false, page), 2 * page);
	KUNIT_EXPECT_EQ(test, by_pages(SZ_128K, true, page), 32 * page);
	KUNIT_EXPECT_EQ(test, by_pages(UINT_MAX, true, page), CFQ_WORK_MAX);
	KUNIT_EXPECT_EQ(test, by_pages(SZ_4M, true, CFQ_WRITE_WORK_MAX),
			4 * by_pages(SZ_1M, true, CFQ_WRITE_WORK_MAX));

	KUNIT_EXPECT_EQ(test, cfq_write_work(400, 80), 5 * page);
	KUNIT_EXPECT_EQ(test, cfq_write_work(100, 80), page * 10 / 8);
	/* Into a cache; and what cannot be. */
	KUNIT_EXPECT_EQ(test, cfq_write_work(20, 80), page);
	KUNIT_EXPECT_EQ(test, cfq_write_work(NSEC_PER_SEC, 1),
			CFQ_WRITE_WORK_MAX);
	KUNIT_EXPECT_EQ(test, cfq_write_work(0, 0), page);
}

static void cfq_test_serial_charge(struct kunit *test)
{
	struct cfq_driver_data dd = { .charged_until_ns = 1000 };

	KUNIT_EXPECT_EQ(test, cfq_charge_serial(&dd, 1300), 300ULL);
	KUNIT_EXPECT_EQ(test, cfq_charge_serial(&dd, 1350), 50ULL);
	KUNIT_EXPECT_EQ(test, cfq_charge_serial(&dd, 1340), 0ULL);
	KUNIT_EXPECT_EQ(test, dd.charged_until_ns, 1350ULL);
}

/* Who comes first after a disk stood still has not spent all that time. */
static void cfq_test_still_charge(struct kunit *test)
{
	const u64 still_ns = 30 * (u64)NSEC_PER_SEC;
	struct cfq_driver_data dd = { .one_head = true };
	struct cfq_done done = { .end_ns = still_ns, .opf = REQ_OP_READ };

	KUNIT_EXPECT_EQ(test, cfq_spent_ns(&dd, &done), CFQ_STUCK_NS);
	done.end_ns += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, cfq_spent_ns(&dd, &done),
			(u64)NSEC_PER_MSEC);
	/* But who has a large part of it discarded. */
	done.end_ns += still_ns;
	done.opf = REQ_OP_DISCARD;
	KUNIT_EXPECT_EQ(test, cfq_spent_ns(&dd, &done), still_ns);
	/* What is appended to a zone is data. */
	done.end_ns += still_ns;
	done.opf = REQ_OP_ZONE_APPEND;
	KUNIT_EXPECT_EQ(test, cfq_spent_ns(&dd, &done), CFQ_STUCK_NS);
}

/* Requests of @work that come and go: what each kind is charged in the end. */
static void cfq_run_parts(struct cfq_driver_data *dd, u64 *now_ns, u64 step_ns,
			  const unsigned int *work, unsigned int nr, u64 *charged)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		*now_ns += step_ns * work[i];
		charged[work[i]] += cfq_charge_part(dd, *now_ns, work[i],
						    U64_MAX);
	}
}

/* When what waits for all that flash has seems lost. */
static void cfq_test_backlog(struct kunit *test)
{
	struct cfq_driver_data dd = { .work_in_driver = 100 * CFQ_WORK_PAGE };
	const u64 page_ns = 80 * NSEC_PER_USEC;

	cfq_price_set(&dd, page_ns);
	KUNIT_EXPECT_EQ(test, cfq_stuck_ns(&dd),
			CFQ_STUCK_FLASH_NS + 200 * page_ns);
	dd.work_in_driver = UINT_MAX;
	KUNIT_EXPECT_EQ(test, cfq_stuck_ns(&dd), CFQ_STUCK_NS);
}

static void cfq_test_part_charge(struct kunit *test)
{
	static const unsigned int mix[] = { 1, 5, 1, 1, 5, 1, 5, 1, 5, 5 };
	static struct cfq_driver_data dd;
	u64 now_ns = 1000, charged[6] = {};
	unsigned int i;

	dd.charged_until_ns = now_ns;
	/* One at a time is charged what it took, whatever its work. */
	dd.work_in_driver = 5;
	KUNIT_EXPECT_EQ(test, cfq_charge_part(&dd, 1300, 5, 300), 300ULL);
	dd.work_in_driver = 1;
	KUNIT_EXPECT_EQ(test, cfq_charge_part(&dd, 1400, 1, 100), 100ULL);
	KUNIT_EXPECT_EQ(test, cfq_charge_part(&dd, 1390, 1, 100), 0ULL);

	/* With many beside them, those of five times the work five times. */
	now_ns = 1400;
	dd.work_in_driver = 600;
	for (i = 0; i < 200; i++)
		cfq_run_parts(&dd, &now_ns, 100, mix, ARRAY_SIZE(mix), charged);
	memset(charged, 0, sizeof(charged));
	for (i = 0; i < 10; i++)
		cfq_run_parts(&dd, &now_ns, 100, mix, ARRAY_SIZE(mix), charged);
	KUNIT_EXPECT_GE(test, charged[1], 50 * 100 * 95 / 100ULL);
	KUNIT_EXPECT_LE(test, charged[1], 50 * 100 * 105 / 100ULL);
	KUNIT_EXPECT_GE(test, charged[5], 250 * 100 * 95 / 100ULL);
	KUNIT_EXPECT_LE(test, charged[5], 250 * 100 * 105 / 100ULL);

	/* The last one is charged all that was left, if it was there then. */
	dd.work_in_driver = 1;
	KUNIT_EXPECT_EQ(test, cfq_charge_part(&dd, now_ns + 10, 1, 5), 5ULL);
	cfq_charge_part(&dd, now_ns + 10, 1, U64_MAX);
	KUNIT_EXPECT_EQ(test, dd.charged_until_ns, now_ns + 10);
}

static void cfq_test_add(struct cfq_trees *trees, enum cfq_class class,
			 struct cfq_entity *entity)
{
	entity->trees = trees;
	entity->class = class;
	cfq_st_add(&trees->of[class], entity, 0);
}

/* A class that better ones keep waiting is overdue in the end, and they are not. */
static void cfq_test_class_overdue(struct kunit *test)
{
	struct cfq_trees trees = { .queues = true };
	struct cfq_entity be = { .weight = 100 }, idle = { .weight = 100 };
	const u64 now = NSEC_PER_SEC;

	cfq_test_add(&trees, CFQ_CLASS_IDLE, &idle);
	trees.of[CFQ_CLASS_IDLE].due_ns = now;
	/* Nobody keeps it waiting, not even who is just in line for it. */
	KUNIT_EXPECT_FALSE(test, cfq_class_overdue(&trees, CFQ_CLASS_IDLE, now));
	cfq_test_add(&trees, CFQ_CLASS_BE, &be);
	KUNIT_EXPECT_FALSE(test,
			   cfq_class_overdue(&trees, CFQ_CLASS_IDLE, now - 1));
	KUNIT_EXPECT_TRUE(test, cfq_class_overdue(&trees, CFQ_CLASS_IDLE, now));
	KUNIT_EXPECT_FALSE(test, cfq_class_overdue(&trees, CFQ_CLASS_BE, now));
	/* What is not there does not count. */
	cfq_st_del(&be);
	KUNIT_EXPECT_FALSE(test,
			   cfq_class_overdue(&trees, CFQ_CLASS_IDLE, now + 10));
	/* But for who waits for descriptors. */
	trees.of[CFQ_CLASS_BE].nr_waiting = 1;
	KUNIT_EXPECT_TRUE(test,
			  cfq_class_overdue(&trees, CFQ_CLASS_IDLE, now + 10));
}

static bool cfq_test_ready(struct cfq_entity *entity)
{
	return entity->weight == 100;
}

/* Where all have to wait, classes take turns. */
static void cfq_test_overdue_entity(struct kunit *test)
{
	struct cfq_entity rt = { .weight = 100 }, be = { .weight = 50 };
	struct cfq_entity idle = { .weight = 100 };
	struct cfq_trees trees = { .queues = true };
	const u64 now = NSEC_PER_SEC;

	cfq_test_add(&trees, CFQ_CLASS_RT, &rt);
	cfq_test_add(&trees, CFQ_CLASS_BE, &be);
	cfq_test_add(&trees, CFQ_CLASS_IDLE, &idle);
	trees.of[CFQ_CLASS_RT].due_ns = 10;
	trees.of[CFQ_CLASS_IDLE].due_ns = 9;
	KUNIT_EXPECT_PTR_EQ(test, &idle, cfq_overdue_entity(&trees, true, now,
							    cfq_test_ready));
	trees.of[CFQ_CLASS_IDLE].due_ns = 11;
	KUNIT_EXPECT_PTR_EQ(test, &rt, cfq_overdue_entity(&trees, true, now,
							  cfq_test_ready));
	/* It does not wait for those here. */
	KUNIT_EXPECT_PTR_EQ(test, &idle, cfq_overdue_entity(&trees, false, now,
							    cfq_test_ready));
	trees.of[CFQ_CLASS_IDLE].due_ns = now + 1;
	KUNIT_EXPECT_NULL(test, cfq_overdue_entity(&trees, false, now,
						   cfq_test_ready));
}

/* Who is due before whom? */
static void cfq_test_others_due(struct kunit *test)
{
	struct cfq_entity rt = { .weight = 100 }, behind = { .weight = 100 };
	struct cfq_entity ahead = { .weight = 100, .vdisktime = 1000 };
	struct cfq_trees trees = { .queues = true };

	cfq_test_add(&trees, CFQ_CLASS_BE, &ahead);
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&ahead, 0, 0, 0));
	behind.vdisktime = ahead.vdisktime;
	cfq_test_add(&trees, CFQ_CLASS_BE, &behind);
	cfq_entity_charge(&ahead, 1000);
	KUNIT_EXPECT_TRUE(test, cfq_due_before(&ahead, 999, 0, 0));
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&ahead, 1000, 0, 0));
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&behind, 0, 0, 0));
	/* A better class is, for as long as it may be, and a worse one never. */
	cfq_test_add(&trees, CFQ_CLASS_RT, &rt);
	trees.of[CFQ_CLASS_BE].due_ns = 10;
	KUNIT_EXPECT_TRUE(test, cfq_due_before(&behind, 1000, 0, 9));
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&behind, 1000, 0, 10));
	/* Nor once an equal has had so much more. */
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&behind, 999, 0, 9));
	KUNIT_EXPECT_TRUE(test, cfq_due_before(&behind, 999, 1, 9));
	KUNIT_EXPECT_FALSE(test, cfq_due_before(&rt, 0, 0, 0));
}

/* Urgent requests put a class in debt to better ones, or one ahead of equals. */
static void cfq_test_debt(struct kunit *test)
{
	static const struct cfq_driver_data dd = { .tun.slice_ns = { [1] = 3 } };
	struct cfq_trees trees = { .queues = true };
	struct cfq_entity be[2] = { { .weight = 100 }, { .weight = 100 } };
	struct cfq_entity idle = { .weight = 100 };
	const u64 now = NSEC_PER_SEC, cost = CFQ_BORROW_NS / 10;
	u64 until = 0, pause = 0;
	int i;

	cfq_test_add(&trees, CFQ_CLASS_IDLE, &idle);
	KUNIT_EXPECT_EQ(test, cfq_entity_borrow(&dd, &idle, cost, now, &pause), now);
	cfq_test_add(&trees, CFQ_CLASS_BE, &be[0]);
	for (i = 0; i < 41; i++) {
		KUNIT_EXPECT_FALSE(test, cfq_in_debt(&dd, &idle, now));
		until = cfq_entity_borrow(&dd, &idle, cost, now, &pause);
		/* From the second eighth on it is paid back. */
		KUNIT_EXPECT_EQ(test, until > now, i >= 5);
		/* In pauses that become longer. */
		KUNIT_EXPECT_EQ(test, pause, CFQ_BORROW_COSTS * cost *
				(1 + CFQ_BORROW_PAUSES * (i + 1) / 40));
	}
	KUNIT_EXPECT_TRUE(test, cfq_in_debt(&dd, &idle, now));
	KUNIT_EXPECT_FALSE(test, cfq_in_debt(&dd, &idle, until));

	/* Alone nobody is ahead. */
	cfq_entity_charge(&be[0], 1000);
	KUNIT_EXPECT_FALSE(test, cfq_in_debt(&dd, &be[0], now));
	cfq_test_add(&trees, CFQ_CLASS_BE, &be[1]);
	cfq_entity_charge(&be[0], 4 * 3 + CFQ_BORROW_NS);
	KUNIT_EXPECT_FALSE(test, cfq_in_debt(&dd, &be[0], now));
	cfq_entity_charge(&be[0], 1);
	KUNIT_EXPECT_TRUE(test, cfq_in_debt(&dd, &be[0], now));
	KUNIT_EXPECT_FALSE(test, cfq_in_debt(&dd, &be[1], now));
	/* The other has all of it meanwhile. */
	pause = 0;
	KUNIT_EXPECT_EQ(test, cfq_entity_borrow(&dd, &be[0], cost, now, &pause),
			now + CFQ_BORROW_NS + 1);
	KUNIT_EXPECT_EQ(test, pause, CFQ_BORROW_NS + 1);
	KUNIT_EXPECT_EQ(test, cfq_entity_borrow(&dd, &be[1], cost, now, &pause), now);
}

static struct kunit_case cfq_test_cases[] = {
	KUNIT_CASE(cfq_test_class_overdue),
	KUNIT_CASE(cfq_test_overdue_entity),
	KUNIT_CASE(cfq_test_debt),
	KUNIT_CASE(cfq_test_prio_slice),
	KUNIT_CASE(cfq_test_price),
	KUNIT_CASE(cfq_test_heads),
	KUNIT_CASE(cfq_test_latency_slice),
	KUNIT_CASE(cfq_test_group_prio),
	KUNIT_CASE(cfq_test_share),
	KUNIT_CASE(cfq_test_turn),
	KUNIT_CASE(cfq_test_descriptors_lent),
	KUNIT_CASE(cfq_test_ioprio),
	KUNIT_CASE(cfq_test_seek_history),
	KUNIT_CASE(cfq_test_seek_cost),
	KUNIT_CASE(cfq_test_think_time),
	KUNIT_CASE(cfq_test_parse),
	KUNIT_CASE(cfq_test_service),
	KUNIT_CASE(cfq_test_sent),
	KUNIT_CASE(cfq_test_parallelism),
	KUNIT_CASE(cfq_test_tree_shares),
	KUNIT_CASE(cfq_test_tree_return),
	KUNIT_CASE(cfq_test_tree_correction),
	KUNIT_CASE(cfq_test_tree_random),
	KUNIT_CASE(cfq_test_tree_weight),
	KUNIT_CASE(cfq_test_tree_reweigh),
	KUNIT_CASE(cfq_test_tree_mean),
	KUNIT_CASE(cfq_test_tree_forget),
	KUNIT_CASE(cfq_test_tree_wrap),
	KUNIT_CASE(cfq_test_request_work),
	KUNIT_CASE(cfq_test_sizes),
	KUNIT_CASE(cfq_test_sizes_written),
	KUNIT_CASE(cfq_test_sizes_add),
	KUNIT_CASE(cfq_test_page),
	KUNIT_CASE(cfq_test_completed),
	KUNIT_CASE(cfq_test_others_due),
	KUNIT_CASE(cfq_test_serial_charge),
	KUNIT_CASE(cfq_test_still_charge),
	KUNIT_CASE(cfq_test_part_charge),
	KUNIT_CASE(cfq_test_backlog),
	{}
};

static struct kunit_suite cfq_test_suite = {
	.name		= "cfq",
	.test_cases	= cfq_test_cases,
};

kunit_test_suite(cfq_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests for the CFQ I/O scheduler");
