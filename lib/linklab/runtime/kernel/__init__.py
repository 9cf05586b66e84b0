"""The lab's own kernels: user-mode Linux with virtual time, and one for QEMU. Both come compiled (`config`)."""
