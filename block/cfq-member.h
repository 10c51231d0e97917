/* SPDX-License-Identifier: GPL-2.0 */
/* CFQ I/O scheduler: members of a group, for the files of the group layer. */
#ifndef CFQ_MEMBER_H
#define CFQ_MEMBER_H

#include "cfq-layers.h"

static inline struct cfq_member *entity_to_member(struct cfq_entity *entity)
{
	return container_of(entity, struct cfq_member, entity);
}

/* As what do the tasks of @cfqd compete: as such or, without a child, as the group? */
static inline struct cfq_member *cfqd_leaf(const struct cfq_data *cfqd)
{
	return entity_to_member(cfqd->queues.above);
}

/* One without a group above the last. */
static inline struct cfq_member *member_above(const struct cfq_member *member)
{
	return &member->group->self;
}

static inline bool member_is_tasks(const struct cfq_member *member)
{
	return member == &member->group->tasks;
}

/* Whose tasks, or which child group? */
static inline struct cfq_data *member_cfqd(struct cfq_member *member)
{
	return member_is_tasks(member) ? member->group :
		container_of(member, struct cfq_data, self);
}

/* Is @member tasks, by themselves or as all that their group has? */
static inline bool member_is_leaf(struct cfq_member *member)
{
	return member == cfqd_leaf(member_cfqd(member));
}

/* To what do settings apply?  The root group competes with nobody: to its tasks. */
static inline struct cfq_member *cfqd_set_member(struct cfq_data *cfqd)
{
	return cfqd->self.group ? &cfqd->self : &cfqd->tasks;
}

static inline struct cfq_service_tree *member_tree(const struct cfq_member *member)
{
	return cfq_entity_tree(&member->entity);
}

/* Who has the turn: a rival of @member, or itself; NULL if it is of no rival. */
static inline struct cfq_member *member_with_turn(const struct cfq_member *member)
{
	struct cfq_data *active = member->group->cfqmd->active_cfqd;
	struct cfq_member *rival = active ? cfqd_leaf(active) : NULL;

	while (rival && rival->group != member->group)
		rival = rival->group ? member_above(rival) : NULL;
	return rival;
}

/* On its tree, or as it waits for descriptors. */
static inline bool member_counts(const struct cfq_member *member)
{
	return member->entity.st || member->waiting;
}

/* Does a task of it wait for a descriptor? */
static inline bool member_in_line(const struct cfq_member *member)
{
	return !RB_EMPTY_NODE(&member->line_node);
}

/* Weights of @member and its rivals, of no lower class. */
static inline unsigned int member_rivals_weight(const struct cfq_member *member)
{
	const struct cfq_trees *trees = &member->group->members;
	unsigned int total = member_counts(member) ? 0 : member->entity.weight;
	enum cfq_class class;

	for (class = 0; class <= member->entity.class; class++)
		total += trees->of[class].total_weight;
	return total;
}

/* Share of the tasks of @cfqd of the device, among what is busy. */
static inline u32 cfq_group_share(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;
	u32 share = CFQ_SHARE_ALL;

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member))
		share = cfq_share_of(share, member->entity.weight,
				     member_rivals_weight(member));
	return share;
}

/* Descriptors of the tasks of @cfqd, now or in a moment. */
static inline unsigned int cfqd_nr_descriptors(const struct cfq_data *cfqd)
{
	return cfqd->nr_queued + cfqd->nr_in_driver + cfqd->nr_admitted;
}

/* The next group in order of which @next finds something, after @cfqd if given. */
static __always_inline struct cfq_data *
cfq_next_leaf(struct cfq_meta_data *cfqmd, struct cfq_data *cfqd, u64 now_ns,
	      bool due, struct cfq_member *(*next)(struct cfq_data *group,
						   struct cfq_member *member,
						   u64 now_ns, bool due))
{
	struct cfq_member *member = cfqd ? cfqd_leaf(cfqd) : NULL;
	struct cfq_data *group = cfqd ? member->group : &cfqmd->root;

	while (group) {
		member = next(group, member, now_ns, due);
		if (member && member_is_leaf(member))
			return member_cfqd(member);
		if (member) {
			group = member_cfqd(member);
			member = NULL;
		} else {
			member = &group->self;
			group = member->group;
		}
	}
	return NULL;
}

/* block/cfq-groups.c */
void member_set_waiting(struct cfq_member *member, bool waiting);

/* block/cfq-group-tags.c */
void member_set_in_line(struct cfq_member *member, bool in_line);
void cfqd_admit(struct cfq_data *cfqd);

#endif /* CFQ_MEMBER_H */
