// SPDX-License-Identifier: GPL-2.0
/*
 * Runs without an operating system: the guest of a machine "microvm" of QEMU, which keeps NR_READS
 * reads of 4 KB under way at random places of its first disk, for ever.
 *
 * A guest with Linux would do the same to the host, but would have to boot first, on an emulated
 * processor in an emulated machine.
 */

#include <stdalign.h>
#include <stdint.h>

#define NR_READS	8
#define READ_SIZE	4096
#define SECTOR_SIZE	512

/* Where the machine has its virtio devices, each with an interrupt */
#define VIRTIO_BASE	0xfeb00000
#define VIRTIO_STRIDE	0x200
#define VIRTIO_NR	8
#define VIRTIO_IRQ	5

/* The processor's own interrupt controller, which can pass on the interrupts of the old ones */
#define APIC_SPURIOUS	0xfee000f0
#define APIC_ENABLE	0x1ff
#define APIC_LINT0	0xfee00350
#define APIC_EXTERNAL	0x700

/* The registers that a disk has, offsets in bytes */
enum {
	DEVICE_ID = 0x08,
	GUEST_PAGE_SIZE = 0x28,
	QUEUE_SIZE = 0x38,
	QUEUE_ALIGN = 0x3c,
	QUEUE_PAGE = 0x40,
	QUEUE_NOTIFY = 0x50,
	IRQ_STATUS = 0x60,
	IRQ_ACK = 0x64,
	STATUS = 0x70,
	CAPACITY = 0x100,	/* sectors */
};

#define ID_OF_DISK	2
#define STATUS_READY	7	/* acknowledged, with a driver, which is ready */

/* A request is a header, where the data go, and where the status goes. */
#define PARTS		3
#define RING_SIZE	32	/* the power of two for PARTS * NR_READS */
#define PART_NEXT	1	/* flags of a part: there is another, the device writes it */
#define PART_WRITTEN	2

static alignas(4096) struct {
	struct {
		uint64_t address;
		uint32_t length;
		uint16_t flags, next;
	} parts[RING_SIZE];
	struct {
		uint16_t flags, index, ring[RING_SIZE];
	} sent;
	alignas(4096) struct {
		uint16_t flags, index;
		struct {
			uint32_t part, length;
		} ring[RING_SIZE];
	} done;
} queue;

static struct {
	uint32_t type, priority;
	uint64_t sector;
} headers[NR_READS];

static alignas(4096) uint8_t data[NR_READS][READ_SIZE];
static uint8_t results[NR_READS];

static const uint64_t segments[] = { 0, 0x00cf9b000000ffff, 0x00cf93000000ffff };
static struct {
	uint16_t offset_low, segment, type, offset_high;
} gates[0x30];

struct table {
	uint16_t limit, base_low, base_high;
};

static uint32_t disk;		/* its registers */

/* Where the firmware goes, by the note: 32 bits, no paging, any stack and segments */
asm(".pushsection .note.Xen, \"a\", @note\n"
	".long 4, 4, 18\n"
	".asciz \"Xen\"\n"
	".long start\n"
	".popsection\n"
	".pushsection .bss\n"
	".balign 16\n"
	".skip 4096\n"
	"stack:\n"
	".popsection\n"
	".globl start\n"
	"start:\n"
	"	mov $stack, %esp\n"
	"	call read_for_ever\n");

static void write_register(uint32_t address, uint32_t value)
{
	asm volatile("movl %0, (%1)" : : "r"(value), "r"(address) : "memory");
}

static void set(uint32_t offset, uint32_t value)
{
	write_register(disk + offset, value);
}

static uint32_t get(uint32_t offset)
{
	uint32_t value;

	asm volatile("movl (%1), %0" : "=r"(value) : "r"(disk + offset) : "memory");
	return value;
}

static void out(uint16_t port, uint8_t value)
{
	asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

/* All it is for is to end the processor's sleep. */
__attribute__((interrupt)) static void on_interrupt(void *frame)
{
	set(IRQ_ACK, get(IRQ_STATUS));
	out(0xa0, 0x20);
	out(0x20, 0x20);
}

static struct table table_of(const void *entries, uint16_t size)
{
	uint32_t base = (uint32_t)entries;
	struct table table = { size - 1, base, base >> 16 };

	return table;
}

/* Our own segments, and one of the 16 interrupts of the old controllers as vector 0x20 + irq */
static void set_up_interrupts(int irq)
{
	struct table gdt = table_of(segments, sizeof(segments));
	struct table idt = table_of(gates, sizeof(gates));
	uint32_t handler = (uint32_t)on_interrupt;
	uint16_t mask = ~(1 << irq | 1 << 2);
	int second;

	asm volatile("lgdt %0\n"
		     "ljmp $8, $1f\n"
		     "1:\n"
		     "mov %1, %%ds\n"
		     "mov %1, %%es\n"
		     "mov %1, %%ss\n" : : "m"(gdt), "r"(16) : "memory");
	gates[0x20 + irq].offset_low = handler;
	gates[0x20 + irq].segment = 8;
	gates[0x20 + irq].type = 0x8e00;
	gates[0x20 + irq].offset_high = handler >> 16;
	asm volatile("lidt %0" : : "m"(idt) : "memory");

	write_register(APIC_SPURIOUS, APIC_ENABLE);
	write_register(APIC_LINT0, APIC_EXTERNAL);
	for (second = 0; second < 2; second++) {
		uint16_t port = second ? 0xa0 : 0x20;

		out(port, 0x11);
		out(port + 1, 0x20 + 8 * second);
		out(port + 1, second ? 2 : 4);
		out(port + 1, 1);
		out(port + 1, mask >> 8 * second);
	}
}

static uint32_t any_number(void)
{
	static uint32_t state = 1;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static void send(uint32_t nr)
{
	uint32_t blocks = (uint64_t)get(CAPACITY) * SECTOR_SIZE / READ_SIZE;

	headers[nr].sector = any_number() % blocks * (READ_SIZE / SECTOR_SIZE);
	queue.sent.ring[queue.sent.index % RING_SIZE] = PARTS * nr;
	asm volatile("" : : : "memory");
	queue.sent.index++;
	set(QUEUE_NOTIFY, 0);
}

static void set_part(uint32_t part, const void *where, uint32_t length, uint16_t flags)
{
	queue.parts[part].address = (uint32_t)where;
	queue.parts[part].length = length;
	queue.parts[part].flags = flags;
	queue.parts[part].next = part + 1;
}

static void set_up_disk(void)
{
	uint32_t nr;

	set(GUEST_PAGE_SIZE, 4096);
	set(QUEUE_SIZE, RING_SIZE);
	set(QUEUE_ALIGN, 4096);
	set(QUEUE_PAGE, (uint32_t)&queue / 4096);
	for (nr = 0; nr < NR_READS; nr++) {
		set_part(PARTS * nr, &headers[nr], sizeof(headers[nr]), PART_NEXT);
		set_part(PARTS * nr + 1, data[nr], READ_SIZE, PART_NEXT | PART_WRITTEN);
		set_part(PARTS * nr + 2, &results[nr], 1, PART_WRITTEN);
	}
	set(STATUS, STATUS_READY);
}

void read_for_ever(void)
{
	uint16_t seen = 0;
	uint32_t nr;

	for (nr = 0; nr < VIRTIO_NR; nr++) {
		disk = VIRTIO_BASE + nr * VIRTIO_STRIDE;
		if (get(DEVICE_ID) == ID_OF_DISK)
			break;
	}
	set_up_interrupts(VIRTIO_IRQ + nr);
	set_up_disk();
	for (nr = 0; nr < NR_READS; nr++)
		send(nr);
	for (;;) {
		asm volatile("cli" : : : "memory");
		if (seen == queue.done.index) {
			asm volatile("sti; hlt" : : : "memory");
			continue;
		}
		send(queue.done.ring[seen++ % RING_SIZE].part / PARTS);
	}
}
