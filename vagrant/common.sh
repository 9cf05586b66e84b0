# shellcheck shell=bash
# What the installation's scripts share: how they speak. Sourced, never run.

say() { printf 'linklab: %s\n' "$*"; }

# One line on standard error, then the end.
fail() {
    printf 'linklab: %s\n' "$*" >&2
    exit 1
}

# mend LOG ADVICE FOLDER...: what to do about a program that could not fetch and unpack: to make room if its log or the
# disks of the folders (a full one may have kept no log) say so, else the advice.
mend() {
    local log=$1 advice=$2 folder free_kb
    shift 2
    if grep -qsE 'No space left on device|enough free space' "$log"; then
        printf 'the disk is full (df -h shows which): make room'
        return
    fi
    for folder in "$@"; do
        free_kb=$(df -Pk -- "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }') || true
        if [[ $free_kb =~ ^[0-9]+$ ]] && ((free_kb < 50 * 1024)); then
            printf 'the disk of %s is full (%d MB free): make room' "$folder" "$((free_kb / 1024))"
            return
        fi
    done
    printf '%s' "$advice"
}

# progress LOG TOTAL PATTERN LABEL: copies standard input to LOG and counts the lines that match PATTERN.
# A terminal gets one line that moves; a file or Vagrant's output gets a line now and then.
progress() {
    local log=$1 total=$2 pattern=$3 label=$4 line count=0
    while IFS= read -r line || [[ -n $line ]]; do
        printf '%s\n' "$line" >>"$log"
        [[ $line =~ $pattern ]] || continue
        count=$((count + 1))
        if [[ -t 1 ]]; then
            printf '\r  %s %d of %d ' "$label" "$count" "$total"
        elif ((count % 25 == 0)); then
            printf '  %s %d of %d\n' "$label" "$count" "$total"
        fi
    done
    if [[ -t 1 ]] && ((count > 0)); then printf '\n'; fi
}
