// first: tells the CLOSID under which its very first instructions run. Exits with it; with 99 where it changes meanwhile. To
// be pinned to CPU 1, whose IA32_PQR_ASSOC (0xC8F) it reads through the laboratory leaf of rdt_cpu.c.
#define READS 2000
  .globl _start
_start:
  mov $0x52445400, %eax
  mov $1, %ebx
  mov $3, %ecx
  mov $0xc8f, %edx
  cpuid
  mov %ecx, %r12d           // the high half of the register
  mov $READS, %r13d
again:
  mov $0x52445400, %eax
  mov $1, %ebx
  mov $3, %ecx
  mov $0xc8f, %edx
  cpuid
  cmp %ecx, %r12d
  jne changed
  dec %r13d
  jnz again
  mov %r12d, %edi
  jmp leave
changed:
  mov $99, %edi
leave:
  mov $60, %eax             // exit
  syscall
