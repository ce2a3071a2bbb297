# shellcheck shell=bash
# What the scripts share. Source it from the repository's root.

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 3; }

# What a script exits with when this machine cannot do its work at all, and nothing is wrong with ours.
# shellcheck disable=SC2034  # by those that source this
readonly cannot_here=77

# need_packages NAME...: installs the Debian packages that are missing, and touches nothing when none is.
need_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null || fail "these Debian packages are missing, and there is no apt-get to install them: ${missing[*]}"
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "these packages are missing: ${missing[*]} (install them as root)"
        root=(sudo)
    fi
    say "installing ${missing[*]}"
    install_packages() {
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" >/dev/null
    }
    # The package lists of a fresh machine are empty or old.
    install_packages 2>/dev/null || { "${root[@]}" apt-get -qq update && install_packages; } || fail "could not install ${missing[*]}"
}

need_swift() {
    command -v swift >/dev/null || fail "no swift on the PATH: install the Swift 6.3 toolchain for Debian 12 from https://www.swift.org/install/linux"
}

# Where the toolchain's own tools are.
swift_tools() { dirname "$(readlink -f "$(command -v swift)")"; }

# Which ways through the code calls take, as scripts/profile counted; not in git: it is as old as the code that it was counted on.
readonly profile=.build-profile/calls.profdata

# choose_debug: what "swift build" is given for the debug build that tests run on, in debug. In CI debug information is of lines alone,
# which every backtrace has (the module SIP: 15.5 s of processor time to compile, and 18.0 with all of it). Elsewhere it is as a person's
# own build has it, so that neither rebuilds what the other made. Each script that builds for debugging asks this: SwiftPM builds everything
# anew where the flags are others.
choose_debug() {
    # shellcheck disable=SC2034  # by those that source this
    debug=()
    # shellcheck disable=SC2034  # by those that source this
    [ "${CI:-}" != true ] || debug=(-Xswiftc -gline-tables-only)
}

# choose_release: what "swift build" is given for a release build, in release (Docker/Dockerfile has the same). Linked statically: a tenth less processor
# time for a call than with the Swift runtime as shared libraries; with a tenth of ICU's data. Exclusive access is checked while the tests run, and not
# here.
# Laid out by what scripts/profile counted, where somebody has run it on this checkout.
choose_release() {
    python3 -B Sources/System/CUnicodeData/small_icu.py .build/small-icu
    release=(-c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked -Xcc "-I$PWD/.build/small-icu")
    [ -e "$profile" ] || return 0
    "$(swift_tools)/llvm-profdata" show "$profile" >/dev/null 2>&1 || fail "this toolchain cannot read $profile: run scripts/profile again, or delete it"
    # shellcheck disable=SC2034  # by those that source this
    release+=(-Xswiftc -Xfrontend -Xswiftc "-ir-profile-use=$PWD/$profile")
}

# build_release: builds hookswitch as it is shipped; its path in binary.
build_release() {
    need_build_packages
    need_swift
    say "building (release)"
    choose_release
    swift build "${release[@]}" --product hookswitch >&2
    # shellcheck disable=SC2034  # by those that source this
    binary=$(swift build -c release --show-bin-path)/hookswitch
}

# What the package links.
need_build_packages() { need_packages libssl-dev libopus-dev libsqlite3-dev libc-ares-dev libwslay-dev zlib1g-dev pkg-config; }

# choose_namespace: what runs a command in a network namespace of its own, in namespace; false where this machine permits none.
choose_namespace() {
    # shellcheck disable=SC2034  # by those that source this
    namespace=(unshare --net)
    [ "$(id -u)" -eq 0 ] || namespace+=(--map-root-user)
    "${namespace[@]}" true 2>/dev/null
}

# need_python FOLDER MODULES PACKAGE...: packages with fixed versions, in a Python environment of the project's own; nothing where the modules are there.
need_python() {
    local folder=$1 modules=$2
    shift 2
    "$folder/bin/python" -W ignore -c "import $modules" 2>/dev/null && return 0
    python3 -c 'import ensurepip' 2>/dev/null || need_packages python3 python3-venv
    say "installing $*"
    python3 -m venv "$folder" || fail "could not make a Python environment"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" || fail "could not install $*"
}

# need_python_clients: WebRTC, pjsip's telephone and a driver of browsers for the tests.
need_python_clients() { need_python .build/clients aiortc,pjsua2,selenium,axe_core_python aiortc==1.16.0 pjsua2-python==2.15.1.post1 selenium==4.51.0 axe-core-python==0.1.0; }

# need_sipjs: SIP.js, as a page of others has it, from a package that carries it. Nothing else of the package is used.
need_sipjs() {
    compgen -G '.build/clients/lib/python3*/site-packages/odoo/addons/voip_oca/static/lib/sip.js' >/dev/null && return 0
    say "installing SIP.js"
    .build/clients/bin/pip install --quiet --disable-pip-version-check --no-deps odoo-addon-voip-oca==19.0.1.0.2 || fail "could not install SIP.js"
}

# need_voice_agents: a public framework for voice agents, with a serializer of its own for streams.
need_voice_agents() { need_python .build/agents pipecat,websockets,fastapi 'pipecat-ai[websocket]==1.14.0'; }

# need_api_checkers: what reads the documents of the control interface; its Python in api_python.
need_api_checkers() {
    # shellcheck disable=SC2034  # by those that source this
    api_python=.build/api-check/bin/python
    need_python .build/api-check schemathesis,openapi_spec_validator,asyncapi3,websockets \
        schemathesis==4.32.5 openapi-spec-validator==0.9.0 asyncapi3==0.0.2 websockets==17.4
}

# need_chart_checkers: Helm as a library, and the schemas of Kubernetes; their Python in chart_python.
need_chart_checkers() {
    # shellcheck disable=SC2034  # by those that source this
    chart_python=.build/chart/bin/python
    need_python .build/chart helm_python,kubernetes_validate,yaml helm-python-sdk==0.2.2 kubernetes-validate==1.37.0 PyYAML==6.0.4
}
