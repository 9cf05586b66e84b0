#!/bin/sh
# mmdebstrap's last hook: makes a Vagrant box of a plain Debian. usage: customise.sh ROOT OVERLAY CONSOLE
set -eu
root=$1
overlay=$2
console=$3

cp -R "$overlay/." "$root/"
chroot "$root" useradd --create-home --shell /bin/bash --uid 1000 vagrant
chroot "$root" chown -R vagrant:vagrant /home/vagrant
chmod 700 "$root/home/vagrant/.ssh"
chmod 600 "$root/home/vagrant/.ssh/authorized_keys"
chmod 440 "$root/etc/sudoers.d/vagrant"
chroot "$root" update-ca-certificates
ln -sf /run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
chroot "$root" systemctl enable systemd-networkd systemd-resolved ssh "serial-getty@$console"
# What comes by itself after the start would hold apt's lock or the boot up.
chroot "$root" systemctl mask apt-daily.timer apt-daily-upgrade.timer systemd-networkd-wait-online.service
# Only what this one machine needs: the whole set takes an emulated processor a minute to unpack.
for module in virtio_pci virtio_blk virtio_net ext4 crc32c_generic; do
    echo "$module" >>"$root/etc/initramfs-tools/modules"
done
chroot "$root" update-initramfs -u
