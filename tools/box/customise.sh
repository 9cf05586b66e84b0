#!/bin/sh
# mmdebstrap's last hook: makes a Vagrant box with Linklab of a plain Debian.
# usage: customise.sh ROOT KIT IMAGE (the kit's folder, owned by user 1000, and the lab image's)
set -eu
root=$1
kit=$2
image=$3

chroot "$root" useradd --shell /bin/bash --uid 1000 vagrant
mkdir -p "$root/home/vagrant/.cache/linklab/image"
cp -R "$image" "$root/home/vagrant/.cache/linklab/image/"
chroot "$root" chown -R vagrant:vagrant /home/vagrant
chroot "$root" systemctl --quiet enable systemd-networkd systemd-resolved ssh
# What comes by itself after the start would hold apt's lock or the boot up.
chroot "$root" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer systemd-networkd-wait-online.service

# The kit as /vagrant, and the way to the registries as this machine has it: its resolver and its certificates.
rm -f "$root/etc/resolv.conf"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/vagrant"
mount --bind "$kit" "$root/vagrant"
mount --bind /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
left() { umount "$root/vagrant" "$root/etc/ssl/certs/ca-certificates.crt"; }
trap left EXIT
venv=/home/vagrant/.local/share/linklab/venv
as_vagrant() {
    chroot "$root" env --unset=PIP_FIND_LINKS HOME=/home/vagrant PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 LINKLAB_VENV=$venv \
        setpriv --reuid=vagrant --regid=vagrant --init-groups "$@"
}
as_vagrant bash /vagrant/vagrant/provision.sh --vm
# Compiled by now, the first page comes sooner. Templates of programs are no Python, and stay as they are.
as_vagrant $venv/bin/python -m compileall -q $venv/lib || true

ln -sf /run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
rm -f "$root"/etc/ssh/ssh_host_* "$root/home/vagrant/.config/linklab/jupyter-token"
: >"$root/etc/machine-id"
