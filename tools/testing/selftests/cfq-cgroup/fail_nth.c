// SPDX-License-Identifier: GPL-2.0
/*
 * Does something again and again: first the first allocation of memory of it
 * fails, then the second, until none is left.  Each time it has to succeed or
 * to give ENOMEM, and to succeed when nothing fails.
 *
 *   fail_nth write FILE TEXT OTHER_TEXT   the other one without a failure,
 *                                         before each time
 *   fail_nth mkdir DIR
 *   fail_nth read DIR DEVICE LIMIT        4 KB directly, by a new task in a
 *                                         new group with this limit
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define SIZE		4096
#define MOST_FAILURES	400

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Of this task; asking must not need memory. */
static int fail_nth_fd(void)
{
	static pid_t pid;
	static int fd;

	if (pid != getpid())
		fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fd < 0)
		die("fail-nth");
	pid = getpid();
	return fd;
}

/* From now on, the @nth allocation of this task fails; 0 ends that. */
static void arm(int nth)
{
	char text[16];

	sprintf(text, "%d", nth);
	if (pwrite(fail_nth_fd(), text, strlen(text), 0) < 0)
		die("fail-nth");
}

/* Ends that.  Return: whether it has not come to pass. */
static int disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth_fd(), text, sizeof(text) - 1, 0) < 0)
		die("fail-nth");
	arm(0);
	return atoi(text) != 0;
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", dir, *name ? "/" : "", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

/*
 * What is done.  @nth is the allocation that fails, 0 for none.
 * Return: an errno; *@left is set if there was no such allocation.
 */

static int do_write(char **arg, int nth, int *left)
{
	int fd, ret;

	put(arg[0], "", arg[2]);
	fd = open(arg[0], O_WRONLY);
	if (fd < 0)
		die(arg[0]);
	arm(nth);
	ret = write(fd, arg[1], strlen(arg[1])) < 0 ? errno : 0;
	*left = disarm();
	close(fd);
	return ret;
}

static int do_mkdir(char **arg, int nth, int *left)
{
	int ret;

	arm(nth);
	ret = mkdir(arg[0], 0755) ? errno : 0;
	*left = disarm();
	if (!ret && rmdir(arg[0]))
		die(arg[0]);
	return ret;
}

static int read_page(char **arg, int nth, int *left)
{
	void *buffer = aligned_alloc(SIZE, SIZE);
	int fd = open(arg[1], O_RDONLY | O_DIRECT), ret;

	if (fd < 0 || !buffer)
		die(arg[1]);
	put(arg[0], "cgroup.procs", "0");
	/* It is there, whatever fails */
	memset(buffer, 1, SIZE);
	arm(nth);
	ret = pread(fd, buffer, SIZE, SIZE * (long)nth) == SIZE ? 0 : errno;
	*left = disarm();
	return ret;
}

static int do_read(char **arg, int nth, int *left)
{
	int status, answer[2] = { 0, 0 }, ends[2];
	pid_t child;

	if (mkdir(arg[0], 0755) || pipe(ends))
		die(arg[0]);
	put(arg[0], "cfq.nr_group_requests", arg[2]);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		answer[0] = read_page(arg, nth, &answer[1]);
		exit(write(ends[1], answer, sizeof(answer)) != sizeof(answer));
	}
	if (waitpid(child, &status, 0) != child || status ||
	    read(ends[0], answer, sizeof(answer)) != sizeof(answer))
		die("child");
	close(ends[0]);
	close(ends[1]);
	while (rmdir(arg[0]))
		if (errno != EBUSY)
			die(arg[0]);
	*left = answer[1];
	return answer[0];
}

static const struct deed {
	const char	*name;
	int		nr_args;
	int		(*run)(char **arg, int nth, int *left);
} deeds[] = {
	{ "write", 3, do_write },
	{ "mkdir", 1, do_mkdir },
	{ "read", 3, do_read },
};

static int fail_each(const struct deed *deed, char **arg)
{
	int nth, left = 0, errors = 0, ret;

	for (nth = 1; nth <= MOST_FAILURES; nth++) {
		ret = deed->run(arg, nth, &left);
		if (left)
			break;
		errors += ret != 0;
		if (ret && ret != ENOMEM) {
			printf("# allocation %d: %s\n", nth,
			       strerrorname_np(ret));
			return 1;
		}
		ret = deed->run(arg, 0, &left);
		if (ret) {
			printf("# after allocation %d: %s\n", nth,
			       strerrorname_np(ret));
			return 1;
		}
	}
	printf("# %s %s: %d allocations failed, with %d errors\n", deed->name,
	       arg[0], nth - 1, errors);
	return nth == 1;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++)
		if (argc > 1 && !strcmp(argv[1], deeds[i].name) &&
		    argc == 2 + deeds[i].nr_args)
			return fail_each(&deeds[i], argv + 2);
	fprintf(stderr, "usage: %s write|mkdir|read ARGUMENT...\n", argv[0]);
	return 2;
}
