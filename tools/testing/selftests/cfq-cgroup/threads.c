// SPDX-License-Identifier: GPL-2.0
/*
 * One process whose threads read at random, 4 KiB directly at a time, until it
 * is killed.
 *
 *   threads DEVICE NR { FILE FIRST_MB SIZE_MB }...
 *
 * NR threads for each FILE, the cgroup.threads of a group, which they enter, in
 * that part of DEVICE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK	4096
#define MB	(1024 * 1024 / BLOCK)	/* blocks */

static const char *device;

struct job {
	const char	*group;
	uint64_t	first;	/* blocks */
	uint64_t	size;
	uint64_t	seed;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *run(void *data)
{
	struct job *job = data;
	int fd = open(job->group, O_WRONLY);
	uint64_t block;
	void *buf;

	if (fd < 0 || write(fd, "0", 1) != 1)
		die(job->group);
	close(fd);
	fd = open(device, O_RDONLY | O_DIRECT);
	if (fd < 0 || posix_memalign(&buf, BLOCK, BLOCK))
		die(device);
	do {
		job->seed = job->seed * 6364136223846793005 + 1442695040888963407;
		block = job->first + (job->seed >> 33) % job->size;
	} while (pread(fd, buf, BLOCK, block * BLOCK) == BLOCK);
	die("read");
	return NULL;
}

int main(int argc, char **argv)
{
	int nr, seed = 1;

	if (argc < 6 || argc % 3) {
		fprintf(stderr, "usage: %s DEVICE NR { FILE FIRST_MB SIZE_MB }...\n",
			argv[0]);
		return 2;
	}
	device = argv[1];
	nr = atoi(argv[2]);
	for (argv += 3; *argv; argv += 3) {
		for (int i = 0; i < nr; i++) {
			struct job *job = malloc(sizeof(*job));
			pthread_t thread;

			if (!job)
				die("malloc");
			job->group = argv[0];
			job->first = atoll(argv[1]) * MB;
			job->size = atoll(argv[2]) * MB;
			job->seed = seed++;
			if (pthread_create(&thread, NULL, run, job))
				die("pthread_create");
		}
	}
	pause();
	return 0;
}
