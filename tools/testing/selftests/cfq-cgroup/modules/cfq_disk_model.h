/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mechanics of a hard disk with one actuator: arithmetic only.
 *
 * Nothing here knows of requests, timers or locks. Times are nanoseconds on
 * one clock, positions are sectors of 512 bytes (LBA). The overview in
 * cfq_disk.c explains the model and its numbers.
 */
#ifndef _CFQ_DISK_MODEL_H
#define _CFQ_DISK_MODEL_H

/* Enough steps for the media rate to look like a slope. */
#define CFQ_DISK_ZONES		16
/* Sequential streams that the buffer can follow at the same time. */
#define CFQ_DISK_SEGMENTS	16
/* Roots of distances are taken in 1/32, so that short seeks differ. */
#define CFQ_DISK_ROOT_ONE	32

/* Cylinders with the same number of sectors on each track. */
struct cfq_disk_zone {
	u64 lba;
	u32 cylinder;
	u32 track_sectors;
	u32 cylinder_sectors;
};

/* What does not change while the disk turns. */
struct cfq_disk_geometry {
	u64 sectors;
	u32 cylinders;
	u32 heads;
	u32 rev_ns;
	/* Turn between the starts of two tracks: what changing over costs. */
	u32 head_switch_ns;
	u32 seek_track_ns;
	/* Turn between the starts of two cylinders. */
	u32 cylinder_turn_ns;
	u32 seek_avg_ns;
	u32 seek_third;
	u64 seek_root_slope;	/* ns per 1/32 root of a cylinder, << 12 */
	u64 seek_line_slope;	/* ns per cylinder, << 16 */
	u32 sector_bus_ns;
	u32 segment_sectors;
	u32 read_ahead_sectors;
	/* The controller's part in an access that has not been planned. */
	u32 overhead_ns;
	struct cfq_disk_zone zone[CFQ_DISK_ZONES];
};

/* A sector's place. */
struct cfq_disk_place {
	u32 cylinder;
	u32 head;
	u32 sector;
	u32 track_sectors;
	/* Time in the revolution at which the sector comes by. */
	u32 angle_ns;
};

/* One thing for the head to do. */
struct cfq_disk_op {
	struct list_head list;
	u64 lba;
	u32 sectors;
	bool write;
	bool buffered;		/* found in the write cache */
	u64 arrival_ns;
	u64 ready_ns;		/* the controller has decoded it */
	struct cfq_disk_place place;
};

/* A piece of the disk that the buffer holds; empty if start == end. */
struct cfq_disk_segment {
	u64 start;
	u64 end;
	u64 used_ns;
};

/* Where the head is and what the buffer holds. */
struct cfq_disk_state {
	const struct cfq_disk_geometry *geo;
	u32 cylinder;
	u32 head;
	u64 next_lba;		/* what comes after the last access */
	/*
	 * Read-ahead into @stream, if not NULL: the head was at the start of
	 * @stream_lba at @stream_ns and reads on up to @stream_limit.
	 */
	struct cfq_disk_segment *stream;
	u64 stream_lba;
	u64 stream_ns;
	u64 stream_limit;
	struct cfq_disk_place stream_place;
	struct cfq_disk_segment segment[CFQ_DISK_SEGMENTS];
	u64 seeks;
	u64 hits;
};

/* Lay out the zones: @outer sectors on a track outside, @inner inside. */
static inline void cfq_disk_layout(struct cfq_disk_geometry *geo, u64 sectors,
				   u32 heads, u32 outer, u32 inner)
{
	u64 per_cylinder = 0, lba = 0;
	u32 zone_cylinders, i;

	for (i = 0; i < CFQ_DISK_ZONES; i++) {
		struct cfq_disk_zone *z = &geo->zone[i];

		z->track_sectors = outer - (outer - inner) * i /
				   (CFQ_DISK_ZONES - 1);
		z->cylinder_sectors = heads * z->track_sectors;
		per_cylinder += z->cylinder_sectors;
	}
	zone_cylinders = div64_u64(sectors + per_cylinder - 1, per_cylinder);
	for (i = 0; i < CFQ_DISK_ZONES; i++) {
		geo->zone[i].lba = lba;
		geo->zone[i].cylinder = i * zone_cylinders;
		lba += (u64)zone_cylinders * geo->zone[i].cylinder_sectors;
	}
	geo->sectors = sectors;
	geo->heads = heads;
	geo->cylinders = CFQ_DISK_ZONES * zone_cylinders;
}

/* The time base, and the seek curve through its three published points. */
static inline void cfq_disk_timing(struct cfq_disk_geometry *geo, u32 rpm,
				   u32 head_switch_ns, u32 track_ns,
				   u32 avg_ns, u32 full_ns)
{
	u32 roots;

	geo->rev_ns = div_u64(60ULL * NSEC_PER_SEC, rpm);
	geo->head_switch_ns = head_switch_ns;
	geo->seek_track_ns = track_ns;
	geo->cylinder_turn_ns = ((u64)(geo->heads - 1) * head_switch_ns +
				 track_ns) % geo->rev_ns;
	geo->seek_avg_ns = avg_ns;
	geo->seek_third = max(geo->cylinders / 3, 2U);
	roots = int_sqrt((unsigned long)geo->seek_third *
			 CFQ_DISK_ROOT_ONE * CFQ_DISK_ROOT_ONE);
	geo->seek_root_slope = div_u64((u64)(avg_ns - track_ns) << 12,
				       roots - CFQ_DISK_ROOT_ONE);
	geo->seek_line_slope = div_u64((u64)(full_ns - avg_ns) << 16,
				       geo->cylinders - 1 - geo->seek_third);
}

/* Time to move the arm over @distance cylinders and settle. */
static inline u32 cfq_disk_seek_ns(const struct cfq_disk_geometry *geo,
				   u32 distance)
{
	u32 roots;

	if (!distance)
		return 0;
	if (distance >= geo->seek_third)
		return geo->seek_avg_ns +
		       (((distance - geo->seek_third) *
			 geo->seek_line_slope) >> 16);
	roots = int_sqrt((unsigned long)distance *
			 CFQ_DISK_ROOT_ONE * CFQ_DISK_ROOT_ONE);
	return geo->seek_track_ns +
	       (((roots - CFQ_DISK_ROOT_ONE) * geo->seek_root_slope) >> 12);
}

static inline const struct cfq_disk_zone *
cfq_disk_zone_of(const struct cfq_disk_geometry *geo, u64 lba)
{
	const struct cfq_disk_zone *z = &geo->zone[CFQ_DISK_ZONES - 1];

	while (lba < z->lba)
		z--;
	return z;
}

/* Time in a revolution from the start of a track to its sector @sector. */
static inline u32 cfq_disk_turn_ns(const struct cfq_disk_geometry *geo,
				   u32 sector, u32 track_sectors)
{
	return div_u64((u64)sector * geo->rev_ns, track_sectors);
}

/* Find the place of @lba. */
static inline struct cfq_disk_place
cfq_disk_map(const struct cfq_disk_geometry *geo, u64 lba)
{
	const struct cfq_disk_zone *z = cfq_disk_zone_of(geo, lba);
	u32 offset = lba - z->lba;
	struct cfq_disk_place p;
	u64 turn;

	p.track_sectors = z->track_sectors;
	p.cylinder = offset / z->cylinder_sectors;
	offset -= p.cylinder * z->cylinder_sectors;
	p.cylinder += z->cylinder;
	p.head = offset / z->track_sectors;
	p.sector = offset - p.head * z->track_sectors;

	turn = (u64)p.cylinder * geo->cylinder_turn_ns +
	       p.head * geo->head_switch_ns +
	       cfq_disk_turn_ns(geo, p.sector, p.track_sectors);
	div_u64_rem(turn, geo->rev_ns, &p.angle_ns);
	return p;
}

/* The inverse of cfq_disk_map(). */
static inline u64 cfq_disk_lba(const struct cfq_disk_geometry *geo,
			       const struct cfq_disk_place *p)
{
	const struct cfq_disk_zone *z = &geo->zone[CFQ_DISK_ZONES - 1];

	while (p->cylinder < z->cylinder)
		z--;
	return z->lba +
	       (u64)(p->cylinder - z->cylinder) * z->cylinder_sectors +
	       p->head * z->track_sectors + p->sector;
}

/* Time from @now until @angle_ns comes under the head. */
static inline u32 cfq_disk_rotation_ns(const struct cfq_disk_geometry *geo,
				       u64 now, u32 angle_ns)
{
	u32 angle_now;

	div_u64_rem(now, geo->rev_ns, &angle_now);
	return angle_ns >= angle_now ? angle_ns - angle_now :
				       angle_ns + geo->rev_ns - angle_now;
}

/* What lies between the end of @p's track and the start of the next one. */
static inline u32 cfq_disk_next_track(const struct cfq_disk_geometry *geo,
				      struct cfq_disk_place *p)
{
	p->sector = 0;
	if (++p->head < geo->heads)
		return geo->head_switch_ns;
	p->head = 0;
	p->cylinder++;
	for (u32 i = 1; i < CFQ_DISK_ZONES; i++)
		if (p->cylinder == geo->zone[i].cylinder)
			p->track_sectors = geo->zone[i].track_sectors;
	return geo->seek_track_ns;
}

/*
 * Time for @sectors from @p on to pass under the head. Counted in turns of
 * each track and not by a rate, so that requests back to back meet their
 * sectors to the nanosecond.
 */
static inline u64 cfq_disk_transfer_ns(const struct cfq_disk_geometry *geo,
				       struct cfq_disk_place p, u32 sectors)
{
	u64 ns = 0;

	while (sectors > p.track_sectors - p.sector) {
		ns += geo->rev_ns -
		      cfq_disk_turn_ns(geo, p.sector, p.track_sectors);
		sectors -= p.track_sectors - p.sector;
		ns += cfq_disk_next_track(geo, &p);
	}
	return ns + cfq_disk_turn_ns(geo, p.sector + sectors, p.track_sectors) -
	       cfq_disk_turn_ns(geo, p.sector, p.track_sectors);
}

/* The disk's sustained rate at @lba, kB (1000 bytes) a second. */
static inline u32 cfq_disk_rate(const struct cfq_disk_geometry *geo, u64 lba)
{
	const struct cfq_disk_zone *z = cfq_disk_zone_of(geo, lba);
	u64 ns = (u64)geo->heads * geo->rev_ns +
		 (u64)(geo->heads - 1) * geo->head_switch_ns +
		 geo->seek_track_ns;

	return div64_u64((u64)z->cylinder_sectors * 512 * 1000 * 1000, ns);
}

/* Bring the read-ahead up to date. */
static inline void cfq_disk_read_on(struct cfq_disk_state *disk, u64 now)
{
	const struct cfq_disk_geometry *geo = disk->geo;
	struct cfq_disk_place *p = &disk->stream_place;
	struct cfq_disk_segment *s = disk->stream;
	u64 end;

	if (!s || now <= disk->stream_ns)
		return;

	/* Keep the base on the track that the head is on. */
	while (disk->stream_lba < disk->stream_limit) {
		u32 left = p->track_sectors - p->sector;
		struct cfq_disk_place next = *p;
		u64 ns = geo->rev_ns -
			 cfq_disk_turn_ns(geo, p->sector, p->track_sectors);

		ns += cfq_disk_next_track(geo, &next);
		if (disk->stream_ns + ns > now ||
		    disk->stream_lba + left >= disk->stream_limit)
			break;
		disk->stream_ns += ns;
		disk->stream_lba += left;
		*p = next;
	}
	end = disk->stream_lba +
	      min_t(u64, p->track_sectors - p->sector,
		    div_u64((now - disk->stream_ns) * p->track_sectors,
			    geo->rev_ns));
	s->end = max(s->end, min(end, disk->stream_limit));
	if (s->end - s->start > geo->segment_sectors)
		s->start = s->end - geo->segment_sectors;
	disk->cylinder = p->cylinder;
	disk->head = p->head;
}

/* When the read-ahead has passed @lba. */
static inline u64 cfq_disk_stream_at(const struct cfq_disk_state *disk, u64 lba)
{
	if (lba <= disk->stream_lba)
		return disk->stream_ns;
	return disk->stream_ns +
	       cfq_disk_transfer_ns(disk->geo, disk->stream_place,
				    lba - disk->stream_lba);
}

/* Whether the read-ahead, if nothing stops it, runs through @op. */
static inline bool cfq_disk_streams(const struct cfq_disk_state *disk,
				    const struct cfq_disk_op *op, u64 ready)
{
	const struct cfq_disk_segment *s = disk->stream;

	if (!s || op->lba < s->start || op->lba > disk->stream_limit)
		return false;
	return op->lba + op->sectors <= disk->stream_limit ||
	       cfq_disk_stream_at(disk, disk->stream_limit) >= ready;
}

/* The segment that holds the start of @op, if any. */
static inline struct cfq_disk_segment *
cfq_disk_buffered(struct cfq_disk_state *disk, const struct cfq_disk_op *op)
{
	struct cfq_disk_segment *s;

	for (s = disk->segment; s < disk->segment + CFQ_DISK_SEGMENTS; s++)
		if (op->lba < s->end && op->lba >= s->start)
			return s;
	return NULL;
}

/* Time to bring the head to @p's track, and then @p under it. */
static inline u64 cfq_disk_position_ns(const struct cfq_disk_state *disk,
				       const struct cfq_disk_place *p, u64 now)
{
	u32 distance = p->cylinder > disk->cylinder ?
		       p->cylinder - disk->cylinder :
		       disk->cylinder - p->cylinder;
	u32 ns;

	if (distance)
		ns = cfq_disk_seek_ns(disk->geo, distance);
	else
		ns = p->head == disk->head ? 0 : disk->geo->head_switch_ns;
	return ns + cfq_disk_rotation_ns(disk->geo, now + ns, p->angle_ns);
}

/*
 * When the arm can start for @lba. The controller prepares a request while
 * the one before is under way if this continues it; otherwise it decides
 * when the head is free.
 */
static inline u64 cfq_disk_start_ns(const struct cfq_disk_state *disk, u64 lba,
				    u64 ready, u64 now)
{
	if (lba == disk->next_lba)
		return ready;
	return max(ready, now + disk->geo->overhead_ns);
}

/*
 * Access time of @op: from @now until its first sector is there.
 * cfq_disk_read_on() has been called for @now.
 */
static inline u64 cfq_disk_access_ns(struct cfq_disk_state *disk,
				     const struct cfq_disk_op *op, u64 now)
{
	u64 ready = max(now, op->ready_ns);

	if (!op->write) {
		if (cfq_disk_streams(disk, op, ready))
			return max(ready, cfq_disk_stream_at(disk, op->lba)) -
			       now;
		if (op->buffered || cfq_disk_buffered(disk, op))
			return ready - now;
	}
	ready = cfq_disk_start_ns(disk, op->lba, ready, now);
	return ready - now + cfq_disk_position_ns(disk, &op->place, ready);
}

/*
 * Choose from @ops, in order of arrival: the shortest access time goes first,
 * except that nothing is passed over once it has waited for @age_bound_ns.
 */
static inline struct cfq_disk_op *
cfq_disk_choose(struct cfq_disk_state *disk, struct list_head *ops, u64 now,
		u64 age_bound_ns)
{
	struct cfq_disk_op *op, *best = NULL;
	u64 least = U64_MAX;

	op = list_first_entry_or_null(ops, struct cfq_disk_op, list);
	if (!op || list_is_singular(ops) ||
	    op->arrival_ns + age_bound_ns <= now)
		return op;

	cfq_disk_read_on(disk, now);
	list_for_each_entry(op, ops, list) {
		u64 ns = cfq_disk_access_ns(disk, op, now);

		if (ns < least) {
			least = ns;
			best = op;
		}
	}
	return best;
}

/* Read on from @lba, which is under the head at @now, into @s. */
static inline void cfq_disk_start_stream(struct cfq_disk_state *disk,
					 struct cfq_disk_segment *s, u64 lba,
					 u64 now)
{
	disk->stream = s;
	disk->stream_lba = lba;
	disk->stream_ns = now;
	disk->stream_place = cfq_disk_map(disk->geo, lba);
	disk->stream_limit = min(lba + disk->geo->read_ahead_sectors,
				 disk->geo->sectors);
}

/* @op comes from the buffer or from the stream that fills it. */
static inline u64 cfq_disk_serve_hit(struct cfq_disk_state *disk,
				     const struct cfq_disk_op *op,
				     struct cfq_disk_segment *s, u64 ready)
{
	const struct cfq_disk_geometry *geo = disk->geo;
	u64 end = op->lba + op->sectors;
	u64 done = ready + (u64)op->sectors * geo->sector_bus_ns;
	u64 limit = min(end + geo->read_ahead_sectors, geo->sectors);

	disk->hits++;
	s->used_ns = ready;
	if (s != disk->stream)
		return done;

	done = max(done, cfq_disk_stream_at(disk, end));
	if (limit > disk->stream_limit) {
		u64 stopped = cfq_disk_stream_at(disk, disk->stream_limit);

		/* It stands at its limit: wait for the sector to come round. */
		if (stopped < ready) {
			u64 lba = disk->stream_limit;
			u32 angle = cfq_disk_map(geo, lba).angle_ns;

			cfq_disk_start_stream(disk, s, lba, ready +
				cfq_disk_rotation_ns(geo, ready, angle));
		}
		disk->stream_limit = limit;
	}
	return done;
}

/* A write makes stale what the buffer holds of its sectors. */
static inline void cfq_disk_forget(struct cfq_disk_state *disk, u64 lba,
				   u32 sectors)
{
	struct cfq_disk_segment *s;

	for (s = disk->segment; s < disk->segment + CFQ_DISK_SEGMENTS; s++)
		if (lba < s->end && lba + sectors > s->start)
			s->start = s->end;
}

/*
 * Serve @op from @now on and say when it is done. The state is then that of
 * this later time: there is one head and it does one thing after the other.
 */
static inline u64 cfq_disk_serve(struct cfq_disk_state *disk,
				 const struct cfq_disk_op *op, u64 now)
{
	const struct cfq_disk_geometry *geo = disk->geo;
	u64 ready = max(now, op->ready_ns), end = op->lba + op->sectors;
	u64 from = op->lba, done;
	struct cfq_disk_place place = op->place;
	struct cfq_disk_segment *s = NULL;

	cfq_disk_read_on(disk, ready);
	if (!op->write) {
		if (cfq_disk_streams(disk, op, ready))
			return cfq_disk_serve_hit(disk, op, disk->stream,
						  ready);
		if (op->buffered) {
			disk->hits++;
			return ready + (u64)op->sectors * geo->sector_bus_ns;
		}
		s = cfq_disk_buffered(disk, op);
		if (s && end <= s->end)
			return cfq_disk_serve_hit(disk, op, s, ready);
		/* Part of it is there, go for the rest. */
		if (s) {
			from = s->end;
			place = cfq_disk_map(geo, from);
		}
	}

	ready = cfq_disk_start_ns(disk, from, ready, now);
	cfq_disk_read_on(disk, ready);
	disk->seeks += place.cylinder != disk->cylinder;
	done = ready + cfq_disk_position_ns(disk, &place, ready);
	done += cfq_disk_transfer_ns(geo, place, end - from);
	place = cfq_disk_map(geo, end - 1);
	disk->cylinder = place.cylinder;
	disk->head = place.head;
	disk->next_lba = end;
	disk->stream = NULL;

	if (op->write) {
		cfq_disk_forget(disk, op->lba, op->sectors);
		return done;
	}
	if (!geo->segment_sectors)
		return done;
	if (!s) {
		s = disk->segment;
		for (u32 i = 1; i < CFQ_DISK_SEGMENTS; i++)
			if (disk->segment[i].used_ns < s->used_ns)
				s = &disk->segment[i];
		s->start = op->lba;
	}
	s->end = end;
	if (s->end - s->start > geo->segment_sectors)
		s->start = s->end - geo->segment_sectors;
	s->used_ns = ready;
	if (end < geo->sectors && geo->read_ahead_sectors)
		cfq_disk_start_stream(disk, s, end, done);
	return done;
}

#endif /* _CFQ_DISK_MODEL_H */
