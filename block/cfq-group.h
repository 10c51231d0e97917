/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: for those who make the groups (block/cfq-cgroup.c or
 * block/cfq-blkcg.c), keep them (block/cfq-grid.c) and set them
 * (block/cfq-files.c, block/cfq-follow.c).
 */
#ifndef CFQ_GROUP_H
#define CFQ_GROUP_H

#include <linux/cgroup.h>

#include "cfq-layers.h"

/* How deep groups count: each is charged, and made under the device's lock. */
#define CFQ_MAX_DEPTH		64

/* Of requests, where they are not limited. */
#define CFQ_NO_LIMIT		UINT_MAX

/* What was set for a group on one device; 0 is not set. */
struct cfq_device_settings {
	struct list_head	node;		/* on cfqc->devices */
	dev_t			dev;		/* need not be there nor use cfq */
	unsigned int		weight;
	unsigned int		followed;	/* weight that it follows there */
	unsigned int		max_held;	/* requests */
};

/* A group of tasks. */
struct cfq_cgroup {
	struct list_head	row;		/* its cfqds: block/cfq-grid.c */
	unsigned int		weight;		/* 0: not set, so it follows */
	unsigned int		followed;	/* then, for all devices; or 0 */
	const char		*followed_file;	/* of somebody else, unless 0 */
	unsigned int		leaf_weight;	/* of its tasks beside child groups */
	unsigned int		class;
	unsigned int		max_held;	/* unless set for the device */
	struct list_head	devices;	/* settings for single ones */
	bool			offline;	/* removed, no cfqd may be added */
};

/* The weight for one device: set, or followed unless one is set for all; or 0. */
static inline unsigned int
cfqc_device_weight(const struct cfq_cgroup *cfqc,
		   const struct cfq_device_settings *settings)
{
	return settings->weight ?: cfqc->weight ? 0 : settings->followed;
}

/* The weight for all other devices; read locklessly it may be outdated. */
static inline unsigned int cfqc_weight(const struct cfq_cgroup *cfqc)
{
	return READ_ONCE(cfqc->weight) ?: READ_ONCE(cfqc->followed) ?: CFQ_WEIGHT_DEFAULT;
}

extern struct cgroup_subsys *const cfq_subsys;

struct cfq_cgroup *cfq_css_cgroup(struct cgroup_subsys_state *css);
struct cgroup_subsys_state *cfq_cgroup_css(struct cfq_cgroup *cfqc);
struct cfq_cgroup *cfq_root_cgroup(void);

/* Is there such a disk, and not only a part of one? */
bool cfq_disk_exists(dev_t dev);

/* In process context and without cfqmd->lock. */

void cfq_cgroup_init(struct cfq_cgroup *cfqc);
void cfq_cgroup_offline(struct cfq_cgroup *cfqc);
int cfq_cgroup_set(struct cfq_cgroup *cfqc, unsigned int *setting, unsigned int value);
int cfq_cgroup_set_for_device(struct cfq_cgroup *cfqc, dev_t dev, bool limit,
			      unsigned int value);
void cfq_cgroup_follow(struct cfq_cgroup *cfqc, unsigned int weight,
		       const char *file, struct list_head *devices);
void cfq_settings_free(struct list_head *devices);

int cfq_follow_init(void);
void cfq_follow_exit(void);
void cfq_follow_soon(bool all);

/* Held to walk rows and to read settings, see block/cfq-grid.c. */
extern struct mutex cfq_grid_mutex;

/* The control files of version 1 and 2; in another subsystem they have a prefix. */
#ifdef CONFIG_CFQ_CGROUP_IO
#define CFQ_FILE_PREFIX		"cfq."
#else
#define CFQ_FILE_PREFIX		""
#endif

extern struct cftype cfq_legacy_files[];
extern struct cftype cfq_files[];

#endif /* CFQ_GROUP_H */
