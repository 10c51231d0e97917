// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that read a device, one request of 4 KB at a random place at a
 * time, each in a cgroup of its own. Says how many requests were done in the
 * given time, and how long the processor had nothing to do meanwhile. It is as
 * small as it can be, so that the time is the kernel's, and thousands fit into
 * memory.
 *
 *	crowd direct|buffered DEVICE MS PROCESSES CGROUPS EACH
 *
 * A direct read goes to the scheduler by itself and is sent by a kernel
 * thread; a buffered one (always of a page that is not in the cache yet, as
 * long as the memory lasts) comes in a plug, and the reader sends it.
 * CGROUPS is where the cgroups c0, c1, ... are, which are made if they are
 * missing, for EACH of so many; if it is empty the processes stay where they are.
 * With 0 ms each process reads once.
 *
 * For the idle time there is a process that counts whenever no other one wants
 * the processor, which has to be the only one. How fast it counts is seen
 * while the readers wait for the start. (The kernel's own account of short
 * spells of idleness is but a sample, taken by the timer tick.)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096
#define BLOCKS	(16 << 20)	/* 64 GB */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void enter_cgroup(const char *groups, long nr)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/c%ld", groups, nr);
	if (mkdir(path, 0755) && errno != EEXIST)
		die(path);
	strcat(path, "/cgroup.procs");
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die(path);
	close(fd);
}

static void reader(const char *device, int direct, long nr, int once,
		   volatile uint64_t *done, int start)
{
	static char buf[BLOCK] __attribute__((aligned(BLOCK)));
	uint64_t random = nr * 2654435761u + 1;
	int fd = open(device, O_RDONLY | (direct ? O_DIRECT : 0));
	char c;

	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		die(device);
	/* One for being there. The pipe ends when all may start. */
	++*done;
	if (read(start, &c, 1))
		die("pipe");
	do {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (pread(fd, buf, BLOCK, (off_t)(random >> 40) % BLOCKS * BLOCK) !=
		    BLOCK)
			die("pread");
		++*done;
	} while (!once);
	_exit(0);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void count_while_idle(volatile uint64_t *count)
{
	const struct sched_param param = { 0 };

	if (sched_setscheduler(0, SCHED_IDLE, &param))
		die("sched_setscheduler");
	for (;;)
		++*count;
}

/* How much is counted in a nanosecond if there is nothing else to do */
static double count_rate(const volatile uint64_t *count)
{
	uint64_t begin = now_ns(), before = *count;

	sleep(1);
	return (double)(*count - before) / (now_ns() - begin);
}

static uint64_t sum(volatile uint64_t *done, long nr)
{
	uint64_t total = 0;

	while (nr--)
		total += done[nr];
	return total;
}

int main(int argc, char **argv)
{
	uint64_t requests, begin, idle, duration;
	volatile uint64_t *done, *idle_count;
	double rate;
	long nr, each, i, ms;
	const char *device, *groups;
	int direct;
	int start[2];
	pid_t *pid, idler = 0;

	if (argc != 7) {
		fprintf(stderr,
			"usage: %s direct|buffered DEVICE MS PROCESSES CGROUPS EACH\n",
			argv[0]);
		return 2;
	}
	direct = !strcmp(argv[1], "direct");
	device = argv[2];
	ms = atol(argv[3]);
	nr = atol(argv[4]);
	groups = argv[5];
	each = atol(argv[6]);
	if (ms && sysconf(_SC_NPROCESSORS_ONLN) != 1) {
		fputs("idle time is counted on one processor only\n", stderr);
		return 2;
	}
	done = mmap(NULL, (nr + 1) * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	idle_count = &done[nr];
	pid = calloc(nr, sizeof(*pid));
	if (done == MAP_FAILED || !pid || pipe(start))
		die("setup");

	for (i = 0; i < nr; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i]) {
			close(start[1]);
			if (*groups)
				enter_cgroup(groups, i / each);
			reader(device, direct, i, !ms, &done[i], start[0]);
		}
	}
	while (sum(done, nr) < (uint64_t)nr) {
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return 1;
		usleep(10 * 1000);
	}
	/* What they left to do in the kernel shall be over. */
	sleep(2);
	if (ms) {
		idler = fork();
		if (idler < 0)
			die("fork");
		if (!idler) {
			close(start[1]);
			count_while_idle(idle_count);
		}
		usleep(100 * 1000);
		rate = count_rate(idle_count);
	}
	close(start[1]);

	if (ms) {
		usleep(200 * 1000);
		requests = sum(done, nr);
		begin = now_ns();
		idle = *idle_count;
		usleep(ms * 1000);
		requests = sum(done, nr) - requests;
		duration = now_ns() - begin;
		idle = *idle_count - idle;
		printf("requests %llu\nduration_ns %llu\nidle_ns %.0f\n",
		       (unsigned long long)requests,
		       (unsigned long long)duration, idle / rate);
		for (i = 0; i < nr; i++)
			kill(pid[i], SIGKILL);
		kill(idler, SIGKILL);
	}
	for (i = 0; i < nr; i++) {
		int status;

		if (waitpid(pid[i], &status, 0) < 0 ||
		    (!ms && status))
			return 1;
	}
	return 0;
}
