"""Labs in QEMU without an accelerator, for computers where user-mode Linux does not exist. Their kernel keeps the clock
of user-mode Linux, so the same requests give the same digits on every processor and under every system.

| file           | what it holds                                                                    |
| -------------- | -------------------------------------------------------------------------------- |
| `machine`      | the QEMU program and its command line; `qemu_supervisor` ends it                |
| `gdb`          | GDB's remote protocol: read and write the memory of a stopped machine, go on      |
| `host_box`     | the host's end of the messages in the guest's memory                             |
| `root`         | the guest's files as an initramfs                                                |
| `snapshot`     | a machine that has booted, kept in the cache                                     |
| `transport`    | the way from `LabProcess` to such a lab                                          |

What runs inside lies in `linklab.guest`: `qemu_agent`, `qemu_box`, `qemu_folder`.
"""
