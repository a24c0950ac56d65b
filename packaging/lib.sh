# Shared by packaging/run and packaging/test: install what is missing, build, say what happens.
# Sourced, never run. Every step that can fail ends with a sentence on standard error.

SW_SOURCE="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SW_CACHE="${STAGEWRIGHT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/stagewright}"
SW_PRESET="${STAGEWRIGHT_PRESET:-release}"
SW_BUILD="$SW_SOURCE/build/$SW_PRESET"
SW_LOGS="$SW_BUILD/logs"

say() { printf '%s\n' "stagewright: $*" >&2; }
fail() { printf '%s\n' "stagewright: $*" >&2; exit 1; }

# logged NAME SENTENCE COMMAND…: runs the command with its output in a log; on failure shows the log's end.
logged() {
    local log="$SW_LOGS/$1.log" sentence="$2" started
    shift 2
    mkdir -p "$SW_LOGS" || fail "cannot create the log folder $SW_LOGS; check the permissions of the clone"
    started=$(date +%s)
    say "$sentence (log: $log)"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "failed: $sentence. The lines above are the end of $log"
    fi
    say "  done in $(($(date +%s) - started)) s"
}

# need_disk FOLDER MIB: refuses before anything is written when the disk cannot hold it.
need_disk() {
    local folder="$1" free
    mkdir -p "$folder" || fail "cannot create $folder; check its permissions"
    free=$(df -Pm "$folder" | awk 'NR==2 {print $4}')
    [ "${free:-0}" -ge "$2" ] || fail "$folder has ${free:-0} MiB free, $2 MiB are needed; free some space or set STAGEWRIGHT_CACHE to a larger disk"
}

has_nvidia_gpu() { [ -e /dev/nvidiactl ] || [ -e /proc/driver/nvidia/version ]; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else fail "packages are missing and neither root nor sudo is available: run as root once, or install the packages of packaging/debian-packages.txt"; fi
}

list_entries() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

ensure_debian_packages() {
    local missing=() package
    command -v dpkg-query >/dev/null || { say "not a Debian system: the packages of packaging/debian-packages.txt are taken for installed"; return; }
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk '$1=="installed" {print $2}')
    for package in $(list_entries "$SW_SOURCE/packaging/debian-packages.txt"); do
        grep -qxF "$package" <<<"$installed" || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    need_disk /var 1500
    logged apt-update "reading the package lists" as_root apt-get update -qq
    logged apt-install "installing ${#missing[@]} Debian packages" \
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# The wheels go into one folder named by what they are, so that a second clone shares them and a new version gets a new folder.
ensure_wheels() {
    local kind=base wheels stamp
    has_nvidia_gpu && kind=cuda
    stamp=$(list_entries "$SW_SOURCE/packaging/wheels.txt" | cksum | cut -d' ' -f1)
    SW_WHEELS="$SW_CACHE/wheels-$kind-$stamp"
    if [ ! -e "$SW_WHEELS/.complete" ]; then
        need_disk "$SW_CACHE" "$([ $kind = cuda ] && echo 9000 || echo 3000)"
        local partial="$SW_WHEELS.partial.$$"
        rm -rf "$partial"
        wheels=$(list_entries "$SW_SOURCE/packaging/wheels.txt" | awk '$1=="base" {print $2}')
        # shellcheck disable=SC2086  # one word a wheel is meant
        logged wheels "installing the wheels $(echo $wheels) into $SW_WHEELS" \
            python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action=ignore --target "$partial" $wheels
        if [ $kind = cuda ]; then
            wheels=$(list_entries "$SW_SOURCE/packaging/wheels.txt" | awk '$1=="cuda" {print $2}')
            # shellcheck disable=SC2086
            logged wheels-cuda "installing what $(echo $wheels) needs on an NVIDIA GPU" \
                python3 -m pip install --quiet --no-compile --disable-pip-version-check --root-user-action=ignore --upgrade --target "$partial" $wheels
        fi
        touch "$partial/.complete"
        mv -T "$partial" "$SW_WHEELS" 2>/dev/null || { [ -e "$SW_WHEELS/.complete" ] && rm -rf "$partial"; } \
            || fail "cannot move the installed wheels to $SW_WHEELS; remove that folder and try again"
    fi
    export STAGEWRIGHT_WHEELS="$SW_WHEELS"
}

configure() {
    [ -e "$SW_BUILD/build.ninja" ] && grep -qsF "STAGEWRIGHT_WHEELS:PATH=$SW_WHEELS" "$SW_BUILD/CMakeCache.txt" && return 0
    need_disk "$SW_SOURCE" 3000
    logged configure "configuring the $SW_PRESET build" \
        cmake --preset "$SW_PRESET" -S "$SW_SOURCE" "-DSTAGEWRIGHT_WHEELS:PATH=$SW_WHEELS"
}

# build TARGET…: nothing to do costs a fraction of a second.
build() { logged build "building $SW_PRESET" cmake --build "$SW_BUILD" --target "$@"; }

prepare() {
    [ -w "$SW_SOURCE" ] || fail "$SW_SOURCE is not writable; the build folder lives inside the clone"
    ensure_debian_packages
    ensure_wheels
    configure
    build "$@"
}
