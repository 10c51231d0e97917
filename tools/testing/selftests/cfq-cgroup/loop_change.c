// SPDX-License-Identifier: GPL-2.0
/*
 * A loop device changes its backing file so often, from one of two that are the
 * same to the other and back, while it is read: every block has to be theirs.
 *
 *   loop_change DEVICE FILE OTHER_FILE ROUNDS
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK		4096
#define READERS		2

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *contents(int fd, size_t *size)
{
	struct stat stat;
	char *buf;

	if (fstat(fd, &stat))
		die("fstat");
	*size = stat.st_size / BLOCK * BLOCK;
	buf = malloc(*size);
	if (!buf || pread(fd, buf, *size, 0) != (ssize_t)*size)
		die("read");
	return buf;
}

static void read_and_compare(const char *device, const char *expected,
			     size_t size)
{
	int fd = open(device, O_RDONLY | O_DIRECT);
	char *buf = aligned_alloc(BLOCK, BLOCK);

	if (fd < 0 || !buf)
		die(device);
	while (true) {
		off_t at = random() % (size / BLOCK) * BLOCK;

		if (pread(fd, buf, BLOCK, at) != BLOCK)
			die("read");
		if (memcmp(buf, expected + at, BLOCK)) {
			fprintf(stderr, "block at %ld is wrong\n", (long)at);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	struct loop_config config = {
		.block_size = BLOCK,
		.info.lo_flags = LO_FLAGS_READ_ONLY,
	};
	int device, files[2], rounds, status, i;
	pid_t readers[READERS];
	char *expected;
	size_t size;

	if (argc != 5) {
		fprintf(stderr, "usage: %s DEVICE FILE OTHER_FILE ROUNDS\n",
			argv[0]);
		return 2;
	}
	device = open(argv[1], O_RDONLY);
	files[0] = open(argv[2], O_RDONLY);
	files[1] = open(argv[3], O_RDONLY);
	if (device < 0 || files[0] < 0 || files[1] < 0)
		die("open");
	rounds = atoi(argv[4]);
	expected = contents(files[0], &size);
	config.fd = files[0];
	if (ioctl(device, LOOP_CONFIGURE, &config))
		die("LOOP_CONFIGURE");
	for (i = 0; i < READERS; i++) {
		readers[i] = fork();
		if (readers[i] < 0)
			die("fork");
		if (!readers[i])
			read_and_compare(argv[1], expected, size);
	}
	for (i = 1; i <= rounds; i++) {
		if (ioctl(device, LOOP_CHANGE_FD, files[i & 1]))
			die("LOOP_CHANGE_FD");
		usleep(5000);
	}
	for (i = 0; i < READERS; i++) {
		kill(readers[i], SIGKILL);
		/* Whoever has found something has ended before. */
		if (waitpid(readers[i], &status, 0) != readers[i] ||
		    !WIFSIGNALED(status))
			rounds = -1;
	}
	if (ioctl(device, LOOP_CLR_FD, 0))
		die("LOOP_CLR_FD");
	return rounds < 0;
}
