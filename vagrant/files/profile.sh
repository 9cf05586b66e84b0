# shellcheck shell=sh
# Linklab in this machine's shells; written by provision.sh --vm.
export LINKLAB_VENV=@VENV@
export PATH="@VENV@/bin:$PATH"
