// SPDX-License-Identifier: GPL-2.0
/*
 * So many steps, each at random, the same for the same seed: a text to a file of
 * a group, of the scheduler or of the queue; a group made or removed; a task
 * moved, or given another priority; the controller taken from groups or given to
 * them; a hierarchy mounted; another scheduler; the disk unplugged or some of its
 * requests lost.  Meanwhile tasks in these groups read and write.
 *
 *   fuzz_files SEED STEPS CGROUP DISK MODEL
 *
 * DISK is as in /sys/block, MODEL its directory in debugfs.  What was refused
 * must not have changed anything, what a file reads must be taken and change
 * nothing, and now and then every task has to go on, and to have read what it has
 * written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define BLOCK		4096
#define NR_TASKS	6
#define NR_GROUPS	12
#define SETTLE_S	30
#define SETTLE_STEPS	1000	/* from one time to the next */

static const char *cgroup, *disk, *model;
static char device[64];

static uint64_t seed;
static unsigned int step;
static bool failed;
static bool unified;	/* groups are those of version 2 */

struct task {
	pid_t		pid;
	uint64_t	done;	/* counts what it did; shared */
	bool		wrong;	/* it did not read what it had written */
};

static struct task *tasks;

static unsigned int any(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# step %u: ", step);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	failed = true;
}

/* Return: an errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return errno;
	ret = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return ret;
}

/* What a file reads, without the end of a single line; false if it cannot be. */
static bool get(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n, len = 0;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	close(fd);
	buf[len] = '\0';
	if (len && strchr(buf, '\n') == buf + len - 1)
		buf[len - 1] = '\0';
	return !n;
}

/*
 * Groups: the first is that in which all are, the others may be there or not, a
 * third of them below another, and one of these below that.
 */

static void group_path(unsigned int nr, char *path, size_t size)
{
	static const unsigned int above[NR_GROUPS + 1] = {
		[3] = 1, [6] = 2, [9] = 6, [12] = 7,
	};
	int len;

	if (!nr) {
		snprintf(path, size, "%s", cgroup);
		return;
	}
	group_path(above[nr], path, size);
	len = strlen(path);
	snprintf(path + len, size - len, "/f%u", nr);
}

static void change_group(void)
{
	char path[256];
	int ret;

	group_path(1 + any(NR_GROUPS), path, sizeof(path));
	ret = any(2) ? mkdir(path, 0755) : rmdir(path);
	if (ret && errno != EEXIST && errno != ENOENT && errno != EBUSY)
		complain("%s: %s", path, strerrorname_np(errno));
}

/* In version 2 no task can be where there are groups with files of ours below. */
static void move_task(void)
{
	char path[300], text[16];
	int ret;

	group_path(any(NR_GROUPS + 1), path, sizeof(path) - 20);
	strcat(path, "/cgroup.procs");
	sprintf(text, "%d", tasks[any(NR_TASKS)].pid);
	ret = put(path, text);
	if (ret && ret != ENOENT && ret != ENODEV &&
	    !(unified && (ret == EBUSY || ret == EOPNOTSUPP)))
		complain("%s: %s", path, strerrorname_np(ret));
}

/* Of version 2: files of ours come and go in the groups below. */
static void toggle_controller(void)
{
	char path[300];
	int ret;

	if (!unified)
		return;
	group_path(any(NR_GROUPS + 1), path, sizeof(path) - 30);
	strcat(path, "/cgroup.subtree_control");
	ret = put(path, any(3) ? "+cfq" : "-cfq");
	if (ret && ret != ENOENT && ret != ENODEV && ret != EBUSY &&
	    ret != EOPNOTSUPP)
		complain("%s: %s", path, strerrorname_np(ret));
}

/* The hierarchy once more, for a moment, or that of the other version. */
static void mount_groups(void)
{
	static const char where[] = "/tmp/fuzz-mount";
	char path[64], text[4096];
	int ret;

	mkdir(where, 0755);
	if (any(2))
		ret = mount("fuzz", where, "cgroup", 0, "cfq");
	else
		ret = mount("fuzz", where, "cgroup2", 0, NULL);
	if (ret)
		return;
	snprintf(path, sizeof(path), "%s/cfq.stat", where);
	get(path, text, sizeof(text));
	if (umount(where))
		complain("umount: %s", strerrorname_np(errno));
}

static void change_ioprio(void)
{
	const int class = any(4), level = any(8);

	if (syscall(SYS_ioprio_set, 1, tasks[any(NR_TASKS)].pid,
		    class << 13 | level) &&
	    !(class == 0 && level))
		complain("ioprio_set of %d, %d: %s", class, level,
			 strerrorname_np(errno));
}

/*
 * Files.
 */

static const char *any_text(void)
{
	static const char * const texts[] = {
		"0", "1", "2", "3", "4", "7", "8", "10", "20", "64", "100",
		"400", "1000", "10000", "10001", "100000", "2147483647",
		"4294967297", "99999999999999999999", "-1", "max", "default",
		"default 1", "default 3", "default 100", "default max", "idle",
		"be", "rt", "none", "x", " 5 ", "5\n", "5\n6", "1 2", "",
	};
	static char text[32];
	struct stat stat;

	if (any(3) || lstat(device, &stat))
		return texts[any(ARRAY_SIZE(texts))];
	snprintf(text, sizeof(text), "%u:%u %s", major(stat.st_rdev),
		 minor(stat.st_rdev), texts[any(ARRAY_SIZE(texts))]);
	return text;
}

/* One of those that @pattern matches. */
static bool any_file(const char *pattern, char *path, size_t size)
{
	glob_t found;
	bool any_found;

	any_found = !glob(pattern, 0, NULL, &found);
	if (any_found) {
		snprintf(path, size, "%s", found.gl_pathv[any(found.gl_pathc)]);
		globfree(&found);
	}
	return any_found;
}

static bool cfq_selected(void)
{
	char path[256], text[256];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", disk);
	return get(path, text, sizeof(text)) && strstr(text, "[cfq]");
}

/*
 * Of ours, for what others take is their business.
 * Return: whether the file is there, and is one that can be written to.
 */
static bool any_setting(char *path, size_t size)
{
	char pattern[300];

	if (any(2)) {
		if (!cfq_selected())
			return false;
		snprintf(pattern, sizeof(pattern),
			 "/sys/block/%s/queue/iosched/*", disk);
	} else {
		group_path(any(NR_GROUPS + 1), pattern, sizeof(pattern) - 10);
		strcat(pattern, "/cfq.*");
	}
	return any_file(pattern, path, size) && !strstr(path, "cfq.stat");
}

static void write_setting(void)
{
	char path[256], before[4096], after[4096];
	const char *text = any_text();
	int ret;

	if (!any_setting(path, sizeof(path)) ||
	    !get(path, before, sizeof(before)))
		return;
	ret = put(path, text);
	if (!get(path, after, sizeof(after)))
		return;
	if (ret && strcmp(before, after))
		complain("'%s' gives %s and changes %s from '%s' to '%s'", text,
			 strerrorname_np(ret), path, before, after);
}

static void write_what_is_there(void)
{
	char path[256], before[4096], after[4096];
	int ret;

	if (!any_setting(path, sizeof(path)) ||
	    !get(path, before, sizeof(before)) || !*before ||
	    strchr(before, '\n'))
		return;
	ret = put(path, before);
	if (ret == ENOENT || ret == ENODEV || !get(path, after, sizeof(after)))
		return;
	if (ret || strcmp(before, after))
		complain("'%s' gives %s, and %s reads '%s'", before,
			 ret ? strerrorname_np(ret) : "0", path, after);
}

static void read_file(void)
{
	static char text[65536];
	char pattern[300], path[256];

	if (any(2)) {
		snprintf(pattern, sizeof(pattern),
			 "/sys/kernel/debug/block/%s/sched/*", disk);
	} else {
		group_path(any(NR_GROUPS + 1), pattern, sizeof(pattern) - 10);
		strcat(pattern, "/cfq.*");
	}
	if (any_file(pattern, path, sizeof(path)))
		get(path, text, sizeof(text));
}

/* Of the queue, whose rules are not ours. */
static void change_queue(void)
{
	static const struct {
		const char	*file;
		const char	*texts[4];
	} changes[] = {
		{ "scheduler", { "cfq", "none", "mq-deadline", "bfq" } },
		{ "nr_requests", { "4", "8", "64", "256" } },
		{ "async_depth", { "1", "3", "32", "1000" } },
		{ "rotational", { "0", "1", "0", "1" } },
		{ "nomerges", { "0", "1", "2", "0" } },
		{ "rq_affinity", { "0", "1", "2", "1" } },
	};
	const unsigned int nr = any(ARRAY_SIZE(changes));
	char path[256];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/%s", disk,
		 changes[nr].file);
	put(path, changes[nr].texts[any(4)]);
}

static void order_model(const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", model, file);
	put(path, text);
}

static void select_cfq(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", disk);
	put(path, "cfq");
}

static void disturb_disk(void)
{
	switch (any(8)) {
	case 0:
		order_model("unplug", "1");
		usleep(any(20000));
		order_model("plug", "1");
		select_cfq();
		break;
	case 1:
		order_model("hang", "2");
		break;
	case 2:
		order_model("hang", "3 requeue");
		break;
	case 3:
		order_model("fail", "0 100000000 3");
		break;
	default:
		select_cfq();
	}
}

/*
 * Tasks.
 */

/* What one task has written at @block, the @nth time. */
static void fill(uint64_t *buf, unsigned int nr, off_t block, uint64_t nth)
{
	for (unsigned int i = 0; i < BLOCK / sizeof(*buf); i++)
		buf[i] = (uint64_t)nr << 56 ^ (uint64_t)block << 24 ^ nth ^
			 (uint64_t)i << 40;
}

/* Write and read back, if nothing is in the way.  Return: as from pwrite(). */
static ssize_t write_and_check(int fd, struct task *task, unsigned int nr,
			       off_t block, void *buf, void *expected)
{
	ssize_t n;

	fill(buf, nr, block, task->done);
	memcpy(expected, buf, BLOCK);
	n = pwrite(fd, buf, BLOCK, block * BLOCK);
	if (n != BLOCK || any(4))
		return n;
	n = pread(fd, buf, BLOCK, block * BLOCK);
	if (n == BLOCK && memcmp(buf, expected, BLOCK))
		__atomic_store_n(&task->wrong, true, __ATOMIC_RELAXED);
	return n;
}

static void run_task(struct task *task, unsigned int nr)
{
	const int how = nr % 3 ? O_DIRECT : 0;
	void *buf = aligned_alloc(BLOCK, BLOCK);
	void *expected = malloc(BLOCK);
	off_t block;
	ssize_t n;
	int fd = -1;

	seed += nr * 0x9e3779b97f4a7c15;
	if (!buf || !expected)
		die("memory");
	while (true) {
		/* It may be away */
		while (fd < 0 && (fd = open(device, O_RDWR | how)) < 0)
			usleep(10000);
		block = nr * 10000 + any(5000);
		if (nr & 1)
			n = write_and_check(fd, task, nr, block, buf, expected);
		else
			n = pread(fd, buf, BLOCK, block * BLOCK);
		if (nr == 3 && n == BLOCK && !any(16))
			n = fsync(fd) ? -1 : BLOCK;
		if (n == BLOCK) {
			__atomic_fetch_add(&task->done, 1, __ATOMIC_RELAXED);
			continue;
		}
		close(fd);
		fd = -1;
		usleep(1000);
	}
}

static void start_tasks(void)
{
	tasks = mmap(NULL, NR_TASKS * sizeof(*tasks), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tasks == MAP_FAILED)
		die("mmap");
	for (unsigned int nr = 0; nr < NR_TASKS; nr++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			run_task(&tasks[nr], nr);
		tasks[nr].pid = pid;
	}
}

static uint64_t done(unsigned int nr)
{
	return __atomic_load_n(&tasks[nr].done, __ATOMIC_RELAXED);
}

/* Each line of it with a # before, for who has to find out why. */
static void show(const char *path)
{
	static char text[65536];
	char *line;

	if (!get(path, text, sizeof(text)))
		return;
	printf("# %s:\n", path);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("#   %s\n", line);
}

static void show_stuck(unsigned int nr)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/%d/stack", tasks[nr].pid);
	show(path);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", tasks[nr].pid);
	show(path);
	snprintf(path, sizeof(path), "/sys/kernel/debug/block/%s/sched/trees",
		 disk);
	show(path);
	snprintf(path, sizeof(path), "/sys/kernel/debug/block/%s/sched/device",
		 disk);
	show(path);
	snprintf(path, sizeof(path), "/sys/block/%s/inflight", disk);
	show(path);
}

/*
 * How often has a task slept and gone on?  One that waits for much data to be
 * written, of a class that has little, does so for each part of it.
 */
static unsigned long times_slept(unsigned int nr)
{
	unsigned long times = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tasks[nr].pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &times) == 1)
			break;
	if (file)
		fclose(file);
	return times;
}

/* Nothing is in the way any more: does each task go on? */
static void settle(void)
{
	unsigned long slept[NR_TASKS];
	uint64_t before[NR_TASKS];
	unsigned int nr, left;
	char path[300];

	order_model("plug", "1");
	order_model("hang", "0");
	order_model("fail", "0 0 0");
	select_cfq();
	for (nr = 0; nr <= NR_GROUPS; nr++) {
		group_path(nr, path, sizeof(path) - 30);
		strcat(path, "/cfq.nr_group_requests");
		put(path, "max");
	}
	for (nr = 0; nr < NR_TASKS; nr++) {
		before[nr] = done(nr);
		slept[nr] = times_slept(nr);
	}
	for (nr = 0; nr < NR_TASKS; nr++)
		if (__atomic_load_n(&tasks[nr].wrong, __ATOMIC_RELAXED))
			complain("task %u has read other data than it wrote", nr);
	for (left = SETTLE_S * 10; left; left--) {
		for (nr = 0; nr < NR_TASKS; nr++)
			if (done(nr) == before[nr] &&
			    times_slept(nr) == slept[nr])
				break;
		if (nr == NR_TASKS)
			return;
		usleep(100000);
	}
	complain("task %u does not go on within %u s", nr, SETTLE_S);
	show_stuck(nr);
}

static const struct {
	unsigned int	parts;
	void		(*take)(void);
} steps[] = {
	{ 30, write_setting },
	{ 10, write_what_is_there },
	{ 20, move_task },
	{ 15, change_group },
	{ 10, read_file },
	{ 4, change_ioprio },
	{ 3, toggle_controller },
	{ 1, mount_groups },
	{ 3, change_queue },
	{ 1, disturb_disk },
};

static void take_step(void)
{
	unsigned int i, part, parts = 0;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		parts += steps[i].parts;
	part = any(parts);
	for (i = 0; part >= steps[i].parts; i++)
		part -= steps[i].parts;
	steps[i].take();
	/* Now and then requests have time to pile up, or to end. */
	if (!any(8))
		usleep(any(5000));
}

int main(int argc, char **argv)
{
	unsigned int nr, nr_steps;
	char path[300];

	if (argc != 6) {
		fprintf(stderr, "usage: %s SEED STEPS CGROUP DISK MODEL\n",
			argv[0]);
		return 2;
	}
	seed = 0x853c49e6748fea9b + strtoull(argv[1], NULL, 0);
	nr_steps = atoi(argv[2]);
	cgroup = argv[3];
	disk = argv[4];
	model = argv[5];
	snprintf(device, sizeof(device), "/dev/%s", disk);
	snprintf(path, sizeof(path), "%s/cgroup.controllers", cgroup);
	unified = !access(path, F_OK);
	start_tasks();
	for (step = 1; step <= nr_steps && !failed; step++) {
		take_step();
		if (!(step % SETTLE_STEPS))
			settle();
		if (nr_steps >= 5 && !(step % (nr_steps / 5)))
			printf("# %u steps\n", step);
		fflush(stdout);
	}
	settle();
	for (nr = 0; nr < NR_TASKS; nr++) {
		printf("# task %u: %llu requests\n", nr,
		       (unsigned long long)done(nr));
		kill(tasks[nr].pid, SIGKILL);
	}
	return failed;
}
