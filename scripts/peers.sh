# shellcheck shell=bash
# Other servers of the kind, under the same load as ours. Sourced by scripts/bench, which has what is neither set nor used here.
# shellcheck disable=SC2034,SC2154

# peers_elsewhere NAME: what others of the kind needed when they were measured by the same method on another machine of this size, in autumn 2026.
peers_elsewhere() {
    local figures
    case $1 in
    relay) figures="beside the C relay, 100 / 200 / 400 calls: rtpengine 1.34 / 1.44 / 1.5, Asterisk 1.93 / 2.1 / overloaded, FreeSWITCH 2.2 / 2.0 / 2.9" ;;
    transcode) figures="a call-second: Asterisk 14-21 ms, FreeSWITCH 16-23 ms, rtpengine 26 ms" ;;
    setup) figures="50 / 200 calls/s: Kamailio + rtpengine 1.8 / 1.25 ms, Asterisk 3.9 / 2.8 ms, FreeSWITCH 9.6 / 7.6 ms" ;;
    message) figures="parsed and read, and a 200 written: pjsip 1.09 and 0.35 µs, sofia-sip 2.04 and 1.2 µs" ;;
    memory) figures="a call, which is two legs: rtpengine 20-110 kB, Asterisk 200-330 kB, FreeSWITCH 410-760 kB" ;;
    *) return ;;
    esac
    echo "others, elsewhere: $figures"
}

# start_kamailio: Kamailio that leads every call to the callee's port, with the sound through rtpengine in user space; sets `servers` and the ports.
start_kamailio() {
    sip_port=$(free_ports 5560 24) media_port=$(free_ports 24000 8000)
    trunk_port=$((sip_port + 2)) caller_port=$((sip_port + 4))
    local control=$((sip_port + 6))
    cat >"$work/kamailio.cfg" <<CFG
#!KAMAILIO
debug=0
log_stderror=yes
children=2
auto_aliases=no
disable_tcp=yes
listen=udp:127.0.0.1:$sip_port
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "siputils.so"
loadmodule "textops.so"
loadmodule "rtpengine.so"
modparam("rtpengine", "rtpengine_sock", "udp:127.0.0.1:$control")
request_route {
    if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
    if (has_totag()) {
        if (loose_route()) {
            if (is_method("BYE")) rtpengine_delete();
            t_relay();
        } else if (is_method("ACK") && t_check_trans()) {
            t_relay();
        } else if (!is_method("ACK")) {
            sl_send_reply("404", "Not here");
        }
        exit;
    }
    if (!is_method("INVITE")) { sl_send_reply("200", "OK"); exit; }
    record_route();
    rtpengine_offer("replace-origin ICE=remove");
    t_on_reply("ANSWER");
    t_on_failure("REFUSED");
    \$du = "sip:127.0.0.1:$trunk_port";
    t_relay();
}
onreply_route[ANSWER] { if (status=~"(183)|2[0-9][0-9]" && has_body("application/sdp")) rtpengine_answer("replace-origin ICE=remove"); }
failure_route[REFUSED] { rtpengine_delete(); }
CFG
    rtpengine --foreground --log-stderr --log-level=3 --table=-1 --interface=127.0.0.1 --listen-ng="127.0.0.1:$control" \
        --port-min="$media_port" --port-max=$((media_port + 7999)) --delete-delay=0 --pidfile="$work/rtpengine.pid" >"$work/rtpengine.log" 2>&1 &
    local media=$!
    wait_for 10 grep -q " 0100007F:$(printf %04X "$control") " /proc/net/udp || fail "rtpengine did not start: $(tail -3 "$work/rtpengine.log")"
    kamailio -DD -E -f "$work/kamailio.cfg" -P "$work/kamailio.pid" -Y "$work" -m 128 -M 8 >"$work/kamailio.log" 2>&1 &
    servers=($! "$media")
    wait_for 10 grep -q " 0100007F:$(printf %04X "$sip_port") " /proc/net/udp || fail "kamailio did not start: $(tail -3 "$work/kamailio.log")"
}

# Where Debian's unstable suite with an Asterisk lies: the stable one has none. `scripts/bench --asterisk` puts it there.
asterisk_root=$PWD/.build/asterisk

need_asterisk() {
    [ -x "$asterisk_root/usr/sbin/asterisk" ] && return 0
    need_packages debootstrap
    [ "$(id -u)" -eq 0 ] || fail "--asterisk needs root, for the folder that Asterisk runs in"
    say "installing Asterisk into .build/asterisk"
    rm -rf "$asterisk_root"
    debootstrap --variant=minbase --include=asterisk sid "$asterisk_root" >"$work/debootstrap.log" 2>&1 || fail "debootstrap: $(tail -3 "$work/debootstrap.log")"
}

# start_asterisk: Asterisk that leads every call to the callee's port, with the sound through itself; sets `servers` and the ports.
start_asterisk() {
    local folder=$asterisk_root/bench
    sip_port=$(free_ports 5560 24) media_port=$(free_ports 24000 8000)
    trunk_port=$((sip_port + 2)) caller_port=$((sip_port + 4))
    rm -rf "$folder"
    # As Debian has set it up, but for what these calls are about.
    cp -r "$asterisk_root/etc/asterisk" "$folder"
    mkdir -p "$folder"/{run,data,spool,log/cdr-csv,log/cdr-custom}
    rm -f "$folder"/extensions.{ael,lua}
    # It looks its own name up for every call.
    echo "127.0.0.1 localhost $(hostname)" >"$asterisk_root/etc/hosts"
    printf '%s\n' '[directories]' astetcdir=/bench astrundir=/bench/run astdbdir=/bench/data astspooldir=/bench/spool astlogdir=/bench/log >"$folder/asterisk.conf"
    cat >"$folder/pjsip.conf" <<CONF
[udp]
type=transport
protocol=udp
bind=127.0.0.1:$sip_port
[anonymous]
type=endpoint
context=bench
disallow=all
allow=ulaw,alaw
direct_media=no
[callee]
type=aor
contact=sip:127.0.0.1:$trunk_port
[callee]
type=endpoint
context=nowhere
aors=callee
disallow=all
allow=ulaw,alaw
direct_media=no
CONF
    # shellcheck disable=SC2016  # Asterisk's variable
    printf '[bench]\nexten => _X.,1,Dial(PJSIP/callee/sip:${EXTEN}@127.0.0.1:%s)\n' "$trunk_port" >"$folder/extensions.conf"
    printf '[general]\nrtpstart=%s\nrtpend=%s\n' "$media_port" $((media_port + 7999)) >"$folder/rtp.conf"
    chroot "$asterisk_root" asterisk -f -C /bench/asterisk.conf >"$work/asterisk.log" 2>&1 &
    servers=($!)
    wait_for 20 grep -q " 0100007F:$(printf %04X "$sip_port") " /proc/net/udp || fail "asterisk did not start: $(tail -5 "$work/asterisk.log" "$folder"/log/messages* 2>/dev/null)"
}

start_server() {
    case $1 in
    gateway) start_gateway; servers=("$gateway") ;;
    *) "start_$1" ;;
    esac
    # This runs in subshells, whose failure must not leave them behind.
    printf '%s\n' "${servers[@]}" >"$work/servers"
}

stop_server() {
    kill "${servers[@]}" 2>/dev/null || true
    wait "${servers[@]}" 2>/dev/null || true
    rm -f "$work/servers"
}

# tree PID...: these processes and their children.
tree() { for process in "$@"; do echo "$process" && cat "/proc/$process/task/$process/children"; done; }

# server_time: what the servers have used so far, in microseconds; server_memory: kilobytes of data that are theirs, shared pages by their share; not of program text, which processes of one program share.
server_time() { for process in $(tree "${servers[@]}"); do processor_time "$process"; done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }
server_memory() { for process in $(tree "${servers[@]}"); do awk '/^Pss_(Anon|Shmem):/ { print $2 }' "/proc/$process/smaps_rollup"; done | awk '{ sum += $1 } END { print sum }'; }

# loaded NAME SECONDS CALLS: CALLS calls with sound both ways by hookswitch load, through the server; prints "MICROSECONDS-A-PACKET BYTES-A-CALL".
loaded() {
    local seconds=$2 calls=$3 memory time since now
    start_server "$1"
    loads 5 5 1 --expect nothing >/dev/null   # what a server makes once and for all
    memory=$(server_memory)
    loads "$calls" 20 $((calls / 20 + seconds + 6)) --listen 0% >/dev/null &
    local tool=$!
    wait_for $((calls / 20 + 20)) grep -q "\"active\":$calls," "$work/load.lines" || fail "not all calls came up through $1: $(tail -3 "$work/load.log")"
    memory=$((($(server_memory) - memory) * 1024 / calls))
    time=$(server_time) since=$(date +%s%N)
    sleep "$seconds"
    now=$(date +%s%N) time=$(($(server_time) - time))
    # 50 packets a second from each end, each relayed once.
    awk -v time="$time" -v calls="$calls" -v span="$((now - since))" -v memory="$memory" 'BEGIN { print time / (100 * calls * span / 1e9), memory }'
    wait "$tool" || fail "calls through $1 were not good: $(grep -E '^(found|calls)' "$work/load.log")"
    stop_server
}

# loads COUNT RATE HOLD OPTIONS...: calls by hookswitch load, which plays both ends; prints the microseconds of processor time that it needed.
loads() {
    local count=$1 rate=$2 hold=$3 TIMEFORMAT='%U %S'
    shift 3
    : >"$work/load.log"
    : >"$work/load.lines"
    { time "$binaries/hookswitch" load "sip:2000@127.0.0.1:$sip_port" --both-ends --local "127.0.0.1:$trunk_port" --calls "$count" --rate "$rate" --talk-time "$hold" \
        --concurrent $((count + 10)) --slo 'failed<=0%' --stream "$work/load.lines" "$@" >"$work/load.log" 2>&1 || echo "exit code $?" >>"$work/load.log"; } 2>"$work/time"
    ! grep -qE '^SLO failed|^exit code [12]' "$work/load.log" || return 1
    awk '{ print ($1 + $2) * 1000000 }' "$work/time"
}

# set_up NAME RATE CALLS: microseconds of the server for one call of sipp's without media.
set_up() {
    local rate=$2 calls=$3 time
    start_server "$1"
    start_callee
    call 50 50 0 >/dev/null
    time=$(server_time)
    call "$calls" "$rate" 0 >/dev/null
    sleep 2   # what comes after the calls (timers) is theirs too
    awk -v time="$(($(server_time) - time))" -v calls="$calls" 'BEGIN { print time / calls }'
    kill "$callee" 2>/dev/null || true
    wait "$callee" 2>/dev/null || true
    stop_server
}

# generated RATE CALLS: "SIPP OURS", microseconds for a call without media, both ends of it, through our gateway.
generated() {
    local rate=$1 calls=$2 sipp ours before
    start_server gateway
    start_callee
    call 20 20 0 >/dev/null
    before=$(processor_time "$callee")
    sipp=$(call "$calls" "$rate" 0)
    sipp=$(awk -v one="$sipp" -v other="$(processor_time "$callee")" -v before="$before" -v calls="$calls" 'BEGIN { print (one + other - before) / calls }')
    kill "$callee" 2>/dev/null || true
    wait "$callee" 2>/dev/null || true
    ours=$(loads "$calls" "$rate" 0.1 --expect nothing) || fail "calls failed: $(tail -20 "$work/load.log")"
    echo "$sipp $(awk -v ours="$ours" -v calls="$calls" 'BEGIN { print ours / calls }')"
    stop_server
}

# gave_up WORDS LOAD: what another server could not carry is said and left out.
gave_up() {
    say "peers: $1 did not carry $2: left out"
    xargs -r kill <"$work/servers" 2>/dev/null || true
    rm -f "$work/servers"
}

# beside NAME WORDS: each figure of ours beside that of another server.
beside() {
    local name=$1 words=$2 calls rate other ours
    for calls in "${sizes[@]}"; do
        for _ in $(seq "$pairs"); do
            other=$(loaded "$name" "$seconds" "$calls") || { gave_up "$words" "$calls calls at a time" && continue 2; }
            ours=$(loaded gateway "$seconds" "$calls")
            echo "$other $ours"
        done >"$work/loaded"
        cut -d ' ' -f 1,3 "$work/loaded" | row "relayed packet, $calls calls by hookswitch load" µs "$words"
        cut -d ' ' -f 2,4 "$work/loaded" | row "memory of a call, $calls calls" bytes "$words"
    done
    for rate in "${rates[@]}"; do
        for _ in $(seq "$pairs"); do
            other=$(set_up "$name" "$rate" $((rate * spell))) || { gave_up "$words" "$rate calls a second" && continue 2; }
            ours=$(set_up gateway "$rate" $((rate * spell)))
            echo "$other $ours"
        done >"$work/set_up"
        row "set-up call, $rate calls/s by sipp" µs "$words" <"$work/set_up"
    done
}

measure_peers() {
    local pairs=3 seconds=10 sizes=(100 300) rates=(50 200) spell=8
    [ "$quick" = 0 ] || { sizes=(50) pairs=2 seconds=5 rates=(50) spell=3; }
    if command -v kamailio >/dev/null && command -v rtpengine >/dev/null; then
        beside kamailio "Kamailio + rtpengine"
    else
        say "peers: kamailio and rtpengine are not both installed (Debian: kamailio rtpengine-daemon): left out"
    fi
    [ "$asterisk" = 0 ] || need_asterisk
    if [ -x "$asterisk_root/usr/sbin/asterisk" ] && [ "$(id -u)" -eq 0 ]; then
        beside asterisk "$(chroot "$asterisk_root" asterisk -V | sed 's/^\(Asterisk [0-9.]*\).*/\1/')"
    else
        say "peers: no Asterisk in .build/asterisk (as root, --asterisk puts one there): left out"
    fi
    for _ in $(seq "$pairs"); do generated 50 $((50 * spell)); done | row "load generator, a call at 50 calls/s, both ends" µs sipp
}
