// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes that share an io_context (CLONE_IO), each in a group of its own,
 * read 4 KB directly, so often, at places of their own: by turns or, with two of
 * these, at the same time.
 *
 *   share_io DEVICE ROUNDS CGROUP.PROCS CGROUP.PROCS TURNS
 *
 * Or one that reads now and then, so that the io_context is its group's, while the other
 * executes a command in its group, again and again.
 *
 *   share_io DEVICE COMMAND CGROUP.PROCS CGROUP.PROCS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE	4096

static void *buffer;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void read_page(int fd, long page)
{
	if (pread(fd, buffer, SIZE, page * SIZE) != SIZE)
		die("read");
}

static void enter(const char *procs)
{
	int fd = open(procs, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1)
		die(procs);
	close(fd);
}

/* Waits for its turn, reads, and gives the turn on. */
static void take_turns(int fd, const char *procs, long rounds, int from, int to)
{
	char turn;
	long i;

	enter(procs);
	for (i = 0; i < rounds; i++) {
		if (read(from, &turn, 1) != 1)
			die("turn");
		read_page(fd, random() % 50000);
		if (write(to, &turn, 1) != 1)
			die("turn");
	}
}

static void beside_command(int fd, char **argv)
{
	int status;
	long child;

	enter(argv[3]);
	for (;;) {
		read_page(fd, random() % 50000);
		child = syscall(SYS_clone, CLONE_IO | SIGCHLD, 0, 0, 0, 0);
		if (child < 0)
			die("clone");
		if (!child) {
			enter(argv[4]);
			/* It ends with this one */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/bin/sh", "sh", "-c", argv[2], (char *)NULL);
			die(argv[2]);
		}
		while (!waitpid(child, &status, WNOHANG)) {
			usleep(300000);
			read_page(fd, random() % 50000);
		}
	}
}

int main(int argc, char **argv)
{
	int there[2], back[2], status, fd;
	long rounds, child;

	if (argc != 5 && argc != 6) {
		fprintf(stderr,
			"usage: %s DEVICE ROUNDS|COMMAND CGROUP.PROCS CGROUP.PROCS [TURNS]\n",
			argv[0]);
		return 2;
	}
	rounds = atol(argv[2]);
	buffer = aligned_alloc(SIZE, SIZE);
	fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (fd < 0 || !buffer || pipe(there) || pipe(back))
		die(argv[1]);
	/* There has to be one to share */
	read_page(fd, 0);
	if (argc == 5)
		beside_command(fd, argv);
	child = syscall(SYS_clone, CLONE_IO | SIGCHLD, 0, 0, 0, 0);
	if (child < 0)
		die("clone");
	if (!child) {
		take_turns(fd, argv[4], rounds, there[0], back[1]);
		return 0;
	}
	if (write(back[1], "x", 1) != 1)
		die("turn");
	if (atoi(argv[5]) > 1 && write(there[1], "x", 1) != 1)
		die("turn");
	take_turns(fd, argv[3], rounds, back[0], there[1]);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	return 0;
}
