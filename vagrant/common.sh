# shellcheck shell=bash
# What the installation's scripts share: how they speak. Sourced, never run.

say() { printf 'linklab: %s\n' "$*"; }

# One line on standard error, then the end.
fail() {
    printf 'linklab: %s\n' "$*" >&2
    exit 1
}

# progress LOG TOTAL PATTERN LABEL: copies standard input to LOG and counts the lines that match PATTERN.
# A terminal gets one line that moves; a file or Vagrant's output gets a line now and then. TOTAL 0: not known.
progress() {
    local log=$1 total=$2 pattern=$3 label=$4 line count=0 of=
    ((total == 0)) || of=" of $total"
    while IFS= read -r line || [[ -n $line ]]; do
        printf '%s\n' "$line" >>"$log"
        # pip says no word more for its longest stretch.
        if [[ $line == "Installing collected packages: "* ]] && ((count > 0)); then
            [[ ! -t 1 ]] || printf '\r'
            printf '  %d found; unpacking them\n' "$count"
        fi
        [[ $line =~ $pattern ]] || continue
        count=$((count + 1))
        if [[ -t 1 ]]; then
            printf '\r  %s %d%s ' "$label" "$count" "$of"
        elif ((count % 25 == 0)); then
            printf '  %s %d%s\n' "$label" "$count" "$of"
        fi
    done
    if [[ -t 1 ]] && ((count > 0)); then printf '\n'; fi
}
