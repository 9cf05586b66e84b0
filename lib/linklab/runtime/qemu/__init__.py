"""Labs in QEMU without an accelerator, for computers where user-mode Linux does not exist. Their kernel keeps the clock
of user-mode Linux, so the same requests give the same digits on every processor and under every system.

| file           | what it holds                                                                    |
| -------------- | -------------------------------------------------------------------------------- |
| `machine`      | the QEMU program, its command line, and the process that ends it                 |
| `gdb`          | GDB's remote protocol: read and write the memory of a stopped machine, go on      |
| `box`          | messages in the guest's memory, and the host's end of them                       |
| `guest`        | the guest's first process and its end of the messages                            |
| `folder`       | the lab's folder: what changed on one side since the other has seen it           |
| `root`         | the guest's files as an initramfs                                                |
| `snapshot`     | a machine that has booted, kept in the cache                                     |
| `transport`    | the way from `LabProcess` to such a lab                                          |
"""
