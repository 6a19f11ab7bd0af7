# Sourced by the other scripts: finds a Python and keeps a virtual environment true to a lock file.
# Needs $root, the checkout's folder, and $self, the name to speak under.

say() { echo "$self: $*" >&2; }

python_is_good() {  # PYTHON: whether it runs, is new enough and can make environments
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# The system's own comes first: distributions build it with profiles of real programs, and a crawl by Debian's takes a
# fifth less CPU than by the same version built as it comes, which is what version managers install.
candidates="${PURLIEU_PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}"

find_python() {  # print the first good Python, or say what is missing and fail
    local python
    for python in $candidates; do
        if python_is_good "$python"; then
            echo "$python"
            return
        fi
    done
    say "no usable Python among: $candidates"
    say "Python 3.11 or later with its venv module is needed; python3 here is: $(python3 --version 2>&1 || true)"
    say "on Debian and Ubuntu: apt-get install python3 python3-venv; another place: PURLIEU_PYTHON=/path/to/python"
    return 2
}

venv_stamp() {  # LOCK: one line that changes when an environment must be made anew
    echo "$root" "$(cd "$root" && cksum "requirements/$1.txt" pyproject.toml hatch_build.py src/purlieu/page/_scan.c | tr '\n' ' ')"
}

venv_ready() {  # VENV LOCK: whether it stands and was made from the lock as it is now
    [[ -x $1/bin/python && -f $1/made-from-$2 && $(<"$1/made-from-$2") == "$(venv_stamp "$2")" ]]
}

make_venv() {  # VENV LOCK PYTHON: make or mend the environment from requirements/LOCK.txt, then add the project
    local venv=$1 lock=$2 python=$3 stamp
    stamp=$(venv_stamp "$lock")
    mkdir -p "$venv"
    {
        flock 9 2>/dev/null || true  # of two first uses at one time the second waits
        venv_ready "$venv" "$lock" && return
        say "installing requirements/$lock.txt into ${venv#"$PWD"/} (the first time takes about a minute)"
        rm -f "$venv"/made-from-*
        # A moved checkout or a removed Python leaves a shell of an environment behind.
        if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
            "$python" -m venv --clear "$venv"
        fi
        "$venv/bin/python" -m pip install -qq --disable-pip-version-check --progress-bar off \
            --require-hashes --no-deps -r "$root/requirements/$lock.txt"
        if [[ $lock != bench ]]; then
            "$venv/bin/python" -m pip install -qq --disable-pip-version-check --progress-bar off \
                --no-deps --no-build-isolation --editable "$root"
            # Where PYTHONDONTWRITEBYTECODE is set, each start would compile a hundred modules again: half a second.
            "$venv/bin/python" -m compileall -q "$root/src/purlieu"
        fi
        echo "$stamp" >"$venv/made-from-$lock"
        # What tests need holds all that a crawl needs.
        if [[ $lock == test ]]; then venv_stamp run >"$venv/made-from-run"; fi
    } 9<"$root/requirements/$lock.txt"
}

use_venv() {  # VENV LOCK [PYTHON]: make sure that the environment stands; costs a few milliseconds when it does
    venv_ready "$1" "$2" && return
    local python=${3:-}
    [[ -n $python ]] || python=$(find_python)
    make_venv "$1" "$2" "$python"
}
