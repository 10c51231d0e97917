// SPDX-License-Identifier: GPL-2.0
/*
 * Writes generated texts to a file, good ones and bad ones, the same in every
 * run, and judges each by rules of its own: the errno, or that it was taken,
 * and what the file reads after it.
 *
 *   bad_input [-n NUMBER] FILE tunable MIN MAX
 *   bad_input [-n NUMBER] FILE number MIN MAX
 *   bad_input [-n NUMBER] FILE class
 *   bad_input [-n NUMBER] FILE ioprio
 *   bad_input [-n NUMBER] FILE weights | weight_device | limits DEVICE...
 *   bad_input [-n NUMBER] FILE readonly
 *
 * DEVICE is MAJ:MIN, whether there is such a disk or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PAGE		4096
#define SETTINGS_MAX	64
#define FAILURES_MAX	20

enum form {
	TUNABLE, NUMBER, CLASS, IOPRIO, WEIGHTS, WEIGHT_DEVICE, LIMITS, READONLY,
};

static const char * const form_names[] = {
	"tunable", "number", "class", "ioprio", "weights", "weight_device",
	"limits", "readonly",
};

static enum form form;
static uint64_t min, max;
static char **devices;
static int nr_devices;

/* A text, which may have any bytes. */
struct text {
	char	data[4 * PAGE];
	size_t	len;
};

/*
 * The file as it should be.
 */

static uint64_t value;		/* or the one for all devices */
#define NO_LIMIT	UINT64_MAX

static struct {
	unsigned int	major, minor;
	uint64_t	value;
} settings[SETTINGS_MAX];
static int nr_settings;

static bool has_devices(void)
{
	return form == WEIGHTS || form == WEIGHT_DEVICE || form == LIMITS;
}

static int print_value(char *buf, uint64_t v)
{
	if (v == NO_LIMIT)
		return sprintf(buf, "max\n");
	return sprintf(buf, "%llu\n", (unsigned long long)v);
}

static void print_state(char *buf)
{
	*buf = '\0';
	if (form == WEIGHTS || form == LIMITS)
		buf += sprintf(buf, "default ");
	if (form != WEIGHT_DEVICE && form != READONLY)
		buf += print_value(buf, value);
	for (int i = 0; i < nr_settings; i++) {
		buf += sprintf(buf, "%u:%u ", settings[i].major,
			       settings[i].minor);
		buf += print_value(buf, settings[i].value);
	}
}

/*
 * The rules.
 */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What the kernel takes for blank at the ends: the last is one in Latin 1. */
static bool is_blank(char c)
{
	return c && strchr(" \t\n\v\f\r\xa0", c);
}

/* Compares numbers of any length, without a sign. */
static int compare(const char *a, uint64_t b)
{
	char digits[24];
	size_t len;

	while (*a == '0')
		a++;
	len = sprintf(digits, "%llu", (unsigned long long)b);
	if (!b)
		len = 0;
	if (strlen(a) != len)
		return strlen(a) > len ? 1 : -1;
	return len ? strcmp(a, digits) : 0;
}

/* A whole decimal number from @low to @high. */
static int number(const char *s, uint64_t low, uint64_t high, uint64_t *result)
{
	const char *digits = s + (*s == '-' || *s == '+');

	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return -EINVAL;
	if (*s == '-' || compare(digits, low) < 0 || compare(digits, high) > 0)
		return -ERANGE;
	*result = 0;
	while (*digits)
		*result = *result * 10 + (*digits++ - '0');
	return 0;
}

static int class(const char *s, uint64_t *result)
{
	static const struct {
		const char	*name;
		int		number;
	} names[] = {
		{ "realtime", 1 }, { "rt", 1 }, { "best-effort", 2 },
		{ "be", 2 }, { "idle", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(s, names[i].name)) {
			*result = names[i].number;
			return 0;
		}
	}
	return number(s, 1, 3, result);
}

/* Is there a whole disk of this number?  Asks sysfs. */
static bool is_disk(unsigned int major, unsigned int minor)
{
	char path[64];
	int len = sprintf(path, "/sys/dev/block/%u:%u", major, minor);

	if (access(path, F_OK))
		return false;
	sprintf(path + len, "/partition");
	return access(path, F_OK) != 0;
}

static int set_for_device(unsigned int major, unsigned int minor, bool remove,
			  uint64_t new)
{
	bool exists = is_disk(major, minor);
	int i;

	for (i = 0; i < nr_settings; i++)
		if (settings[i].major == major && settings[i].minor == minor)
			break;
	if (!exists && (i == nr_settings || !remove))
		return -ENODEV;
	if (remove) {
		if (i < nr_settings)
			memmove(&settings[i], &settings[i + 1],
				(--nr_settings - i) * sizeof(settings[0]));
		return 0;
	}
	if (i == SETTINGS_MAX) {
		fprintf(stderr, "too many devices\n");
		exit(2);
	}
	nr_settings += i == nr_settings;
	settings[i].major = major;
	settings[i].minor = minor;
	settings[i].value = new;
	return 0;
}

/* @value is for a device, or for all. */
static int device_value(const char *s, bool for_device, bool *remove,
			uint64_t *result)
{
	int ret;

	*remove = for_device && !strcmp(s, "default");
	if (*remove)
		return 0;
	if (form == LIMITS) {
		if (strcmp(s, "max"))
			return number(s, 1, INT_MAX, result);
		*result = NO_LIMIT;
		return 0;
	}
	if (!for_device && !strcmp(s, "default")) {
		*result = 100;
		return 0;
	}
	ret = number(s, !for_device, 10000, result);
	*remove = !ret && for_device && !*result;
	return ret;
}

static int device_line(char *s)
{
	char *rest = s + strcspn(s, " \t"), *minor_text;
	uint64_t major = 0, minor = 0, new;
	bool remove, nodev = false;
	int ret;

	if (strchr(s, '\n'))
		return -EINVAL;
	if (*rest) {
		*rest++ = '\0';
		rest += strspn(rest, " \t");
	} else {
		rest = s;
		s = "default";
	}
	if (!strcmp(s, "default")) {
		if (form == WEIGHT_DEVICE)
			return -EINVAL;
		ret = device_value(rest, false, &remove, &new);
		if (!ret)
			value = new;
		return ret;
	}

	minor_text = strchr(s, ':');
	if (!minor_text)
		return -EINVAL;
	*minor_text++ = '\0';
	if (!is_digit(*s) || !is_digit(*minor_text))
		return -EINVAL;
	ret = number(s, 0, 4095, &major);
	if (ret == -EINVAL)
		return ret;
	nodev |= ret;
	ret = number(minor_text, 0, 1048575, &minor);
	if (ret == -EINVAL)
		return ret;
	nodev |= ret;

	ret = device_value(rest, true, &remove, &new);
	if (ret)
		return ret;
	return nodev ? -ENODEV : set_for_device(major, minor, remove, new);
}

/* What should come of writing @text?  Brings the state up to date. */
static int judge(const struct text *text)
{
	static char buf[sizeof(text->data) + 1];
	size_t len = text->len;
	char *s = buf;
	uint64_t new;
	int ret;

	/* Writing nothing is no write. */
	if (!len)
		return 0;
	/* A control group's file takes no more than a page. */
	if (len > PAGE && form != TUNABLE)
		return -E2BIG;
	if (form == READONLY || memchr(text->data, '\0', len))
		return -EINVAL;
	memcpy(buf, text->data, len);
	buf[len] = '\0';

	if (form == TUNABLE) {
		if (len >= PAGE)
			return -EINVAL;
		if (s[len - 1] == '\n')
			s[len - 1] = '\0';
	} else {
		while (is_blank(*s))
			s++;
		len = strlen(s);
		while (len && is_blank(s[len - 1]))
			s[--len] = '\0';
	}

	if (has_devices())
		return device_line(s);
	if (form == CLASS)
		ret = class(s, &new);
	else
		ret = number(s, min, max, &new);
	if (!ret)
		value = new;
	return ret;
}

/*
 * The texts.
 */

static uint64_t seed = 0x853c49e6748fea9b;

/* Below @n. */
static unsigned int any(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

static bool one_in(unsigned int n)
{
	return !any(n);
}

static void add_bytes(struct text *t, const char *bytes, size_t len)
{
	if (len > sizeof(t->data) - t->len)
		len = sizeof(t->data) - t->len;
	memcpy(t->data + t->len, bytes, len);
	t->len += len;
}

static void add(struct text *t, const char *s)
{
	add_bytes(t, s, strlen(s));
}

static void add_number(struct text *t, uint64_t n)
{
	char digits[24];

	sprintf(digits, "%llu", (unsigned long long)n);
	add(t, digits);
}

static void add_repeated(struct text *t, char c, size_t times)
{
	while (times--)
		add_bytes(t, &c, 1);
}

static void add_blanks(struct text *t)
{
	static const char blanks[] = "    \t\t\t\n\v\f\r";

	for (int i = any(4); i > 0; i--)
		add_repeated(t, blanks[any(sizeof(blanks) - 1)], 1 + any(3));
}

static void add_good_number(struct text *t)
{
	uint64_t low = min, high = max;

	if (form == CLASS) {
		low = 1;
		high = 3;
	} else if (has_devices()) {
		low = 1;
		high = 10000;
	}
	switch (any(4)) {
	case 0:
		add_number(t, low);
		break;
	case 1:
		add_number(t, high);
		break;
	default:
		add_number(t, low + any(high - low + 1 ?: UINT_MAX));
	}
}

/* Numbers of all sizes. */
static void add_any_number(struct text *t)
{
	static const char * const numbers[] = {
		"0", "00", "1", "2147483647", "2147483648", "2147483649",
		"4294967295", "4294967296", "4294967297", "4294967396",
		"9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616",
		"18446744073709551617", "18446744073709551716",
		"340282366920938463463374607431768211456",
		"340282366920938463463374607431768211556",
	};
	static const char * const signs[] = { "-", "+", "--", "+-", "- " };

	if (one_in(3))
		add(t, signs[any(ARRAY_SIZE(signs))]);
	if (one_in(8))
		add_repeated(t, '0', any(30));
	switch (any(4)) {
	case 0:
		add(t, numbers[any(ARRAY_SIZE(numbers))]);
		break;
	case 1:
		add_number(t, min + any(5) - 2);
		break;
	case 2:
		add_number(t, max + any(5) - 2);
		break;
	default:
		for (int i = 1 + any(one_in(4) ? 60 : 8); i > 0; i--)
			add_repeated(t, '0' + any(10), 1);
	}
}

static void add_word(struct text *t)
{
	static const char * const words[] = {
		"realtime", "best-effort", "idle", "rt", "be", "none", "RT",
		"Idle", "realtim", "idler", "best effort", "default", "max",
		"Default", "maximum", "ma", "defaul", "infinity", "nan", "inf",
		"0x64", "0X1", "0b1", "0o7", "1e2", "1.0", "1,000", "1_000",
		"1k", "5M", "100%", "1/2", "\302\2405", "\xd9\xa1", "\"5\"",
		"'5'", "$((1))", "5;6", "weight=5", "\xff", "\x01", "5\x08",
		"\357\273\2775", "5\x7f", "%d", "%s%n", "NULL", "true",
	};

	add(t, words[any(ARRAY_SIZE(words))]);
}

static void add_value(struct text *t)
{
	switch (any(5)) {
	case 0:
		add_any_number(t);
		break;
	case 1:
		add_word(t);
		break;
	case 2:
		if (has_devices()) {
			add(t, one_in(2) ? "default" : "max");
			break;
		}
		add_good_number(t);
		break;
	default:
		add_good_number(t);
	}
}

static void add_device(struct text *t)
{
	static const char * const strange[] = {
		":", "8:", ":0", "8", "8:0:0", "8 0", "8.0", "8-0", "-8:0",
		"+8:0", "8:-0", "8:+0", "0x8:0", "8:0x0", "8:a", "a:b", "sda",
		"cfqd0", "/dev/cfqd0", "8::0", "8: 0", "8 :0", "08:00",
		"4096:0", "0:1048576", "4294967296:0", "0:4294967296",
		"18446744073709551616:0", "0:18446744073709551616",
		"99999999999999999999x:0", "0:99999999999999999999x",
		"default", "Default", "max", "all", "*", "0:0", "\xff:0",
	};

	switch (any(6)) {
	case 0:
		add(t, strange[any(ARRAY_SIZE(strange))]);
		break;
	case 1:
		add_number(t, any(300));
		add(t, ":");
		add_number(t, any(40));
		break;
	default:
		if (one_in(8))
			add_repeated(t, '0', 1 + any(5));
		add(t, devices[any(nr_devices)]);
	}
}

static void add_setting(struct text *t)
{
	static const char * const between[] = {
		" ", "\t", " \t  ", "", "\n", "\v", " \v", "\t\n", "\r", "=",
		",", ":", "\xa0",
	};

	if (has_devices() && any(8)) {
		if (one_in(5))
			add(t, "default");
		else
			add_device(t);
		add(t, one_in(2) ? " " : between[any(ARRAY_SIZE(between))]);
	}
	add_value(t);
}

/* Another byte, one less or one more, or one twice. */
static void mutate(struct text *t)
{
	static const char bytes[] = { '\0', ' ', '\n', ':', '-', '0', '\xff' };
	size_t at = t->len ? any(t->len) : 0;
	char byte = one_in(3) ? (char)any(256) : bytes[any(ARRAY_SIZE(bytes))];

	switch (any(3)) {
	case 0:
		if (t->len)
			t->data[at] = byte;
		break;
	case 1:
		if (t->len)
			memmove(t->data + at, t->data + at + 1, --t->len - at);
		break;
	default:
		if (t->len == sizeof(t->data))
			break;
		memmove(t->data + at + 1, t->data + at, t->len++ - at);
		t->data[at] = byte;
	}
}

/* About as long as a page, or longer. */
static void lengthen(struct text *t)
{
	static const size_t lengths[] = {
		PAGE - 1, PAGE, PAGE + 1, PAGE + 100, 2 * PAGE, 2 * PAGE + 1,
		3 * PAGE, 1000,
	};
	static const char fillers[] = { ' ', ' ', '0', '0', '\n', 'x', '\0' };
	size_t length = lengths[any(ARRAY_SIZE(lengths))], len = t->len;
	char filler = fillers[any(ARRAY_SIZE(fillers))];

	if (len >= length)
		return;
	if (one_in(2)) {
		memmove(t->data + length - len, t->data, len);
		memset(t->data, filler, length - len);
	} else {
		memset(t->data + len, filler, length - len);
	}
	t->len = length;
}

static void generate(struct text *t)
{
	t->len = 0;
	switch (any(20)) {
	case 0:
		/* Anything */
		for (int i = any(65); i > 0; i--)
			add_repeated(t, any(256), 1);
		return;
	case 1:
		add_setting(t);
		lengthen(t);
		return;
	case 2:
		/* Two */
		add_setting(t);
		add(t, one_in(2) ? "\n" : " ");
		add_setting(t);
		return;
	case 3:
		add_blanks(t);
		return;
	case 4:
		add_any_number(t);
		return;
	case 5:
	case 6:
	case 7:
		add_blanks(t);
		add_setting(t);
		add_blanks(t);
		return;
	case 8:
	case 9:
	case 10:
	case 11:
		add_setting(t);
		for (int i = 1 + any(2); i > 0; i--)
			mutate(t);
		return;
	default:
		add_setting(t);
		if (one_in(2))
			add(t, "\n");
	}
}

/*
 * Writing and comparing.
 */

static void print_bytes(const char *bytes, size_t len)
{
	putchar('\'');
	for (size_t i = 0; i < len && i < 60; i++) {
		unsigned char c = bytes[i];

		if (c < ' ' || c > '~' || c == '\\')
			printf("\\%03o", c);
		else
			putchar(c);
	}
	putchar('\'');
	if (len > 60)
		printf("... (%zu bytes)", len);
}

static const char *errno_name(int error)
{
	return error ? strerrorname_np(-error) : "0";
}

static int open_file(const char *file, int mode)
{
	int fd = open(file, mode);

	if (fd < 0) {
		perror(file);
		exit(2);
	}
	return fd;
}

static void read_file(int fd, char *buf, size_t size)
{
	ssize_t n, len = 0;

	while ((n = pread(fd, buf + len, size - 1 - len, len)) > 0)
		len += n;
	buf[len] = '\0';
}

/* Writes @text at once.  Return: 1 if it was taken in part. */
static int write_file(int fd, const struct text *text)
{
	ssize_t n = pwrite(fd, text->data, text->len, 0);

	if (n < 0)
		return -errno;
	return (size_t)n != text->len;
}

/* What the file has before the first write is where the rules begin. */
static void begin(int fd)
{
	char buf[PAGE], expected[PAGE];

	if (form == READONLY)
		return;
	read_file(fd, buf, sizeof(buf));
	value = strtoull(buf + strcspn(buf, "0123456789"), NULL, 10);
	if (form == LIMITS && strstr(buf, "max"))
		value = NO_LIMIT;
	print_state(expected);
	if (strcmp(buf, expected)) {
		fprintf(stderr, "it reads '%s' at first\n", buf);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static const int errors[] = { 0, -EINVAL, -ERANGE, -ENODEV, -E2BIG };
	unsigned int counts[ARRAY_SIZE(errors)] = { 0 };
	static char now[SETTINGS_MAX * 32], expected[SETTINGS_MAX * 32];
	unsigned int nr = 1000, failures = 0;
	static struct text text;
	const char *file;
	int in, out;
	size_t i;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		nr = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: see the source\n");
		return 2;
	}
	file = argv[1];
	for (i = 0; i < ARRAY_SIZE(form_names); i++)
		if (!strcmp(argv[2], form_names[i]))
			break;
	form = i;
	if (form == TUNABLE || form == NUMBER) {
		min = strtoull(argv[3], NULL, 10);
		max = strtoull(argv[4], NULL, 10);
	} else if (form == IOPRIO) {
		max = 7;
	} else if (has_devices()) {
		min = 1;
		max = form == LIMITS ? INT_MAX : 10000;
		devices = argv + 3;
		nr_devices = argc - 3;
	}

	in = open_file(file, O_RDONLY);
	out = open_file(file, O_WRONLY);
	begin(in);
	while (nr || nr_settings) {
		int should, did;

		if (nr) {
			nr--;
			generate(&text);
		} else {
			/* What is set for a device can always be removed. */
			text.len = sprintf(text.data, "%u:%u default",
					   settings[0].major,
					   settings[0].minor);
		}
		should = judge(&text);
		did = write_file(out, &text);
		read_file(in, now, sizeof(now));
		print_state(expected);
		for (i = 0; i < ARRAY_SIZE(errors); i++)
			counts[i] += should == errors[i];
		if (did == should && (form == READONLY || !strcmp(now, expected)))
			continue;
		if (++failures > FAILURES_MAX)
			break;
		printf("# ");
		print_bytes(text.data, text.len);
		printf(" gives %s, expected %s; reads ",
		       did > 0 ? "a part" : errno_name(did), errno_name(should));
		print_bytes(now, strlen(now));
		printf(", expected ");
		print_bytes(expected, strlen(expected));
		printf("\n");
		if (strcmp(now, expected))
			break;
	}
	printf("# %s: %u wrong;", strrchr(file, '/') + 1, failures);
	for (i = 0; i < ARRAY_SIZE(errors); i++)
		printf(" %s %u", errno_name(errors[i]), counts[i]);
	printf("\n");
	return failures != 0;
}
