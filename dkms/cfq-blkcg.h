/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: groups of the io controller (cfq-blkcg.c), and the weights
 * they follow (cfq-follow.c).
 */
#ifndef CFQ_BLKCG_H
#define CFQ_BLKCG_H

#include <linux/cfq-iosched.h>

#include "blk-cgroup.h"
#include "cfq-group.h"

/* What the policy has in a group. */
struct cfq_blkcg {
	struct blkcg_policy_data cpd;
	struct cfq_cgroup	cfqc;
	struct cfq_followed	followed;
};

struct cfq_blkcg *css_to_cfq_blkcg(struct cgroup_subsys_state *css);

int cfq_follow_init(void);
void cfq_follow_exit(void);
void cfq_follow_new(void);

#endif /* CFQ_BLKCG_H */
