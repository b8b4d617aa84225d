#!/usr/bin/env bash
# Prepare, on a machine without a GPU, all that a short training on a machine with one needs. That machine may have no
# network connection.
#
#   tools/gpu_day.sh prepare STORE FOLDER [POSITIONS]   the store (45 MB at most), the program and wheels for Python 3.12
#   tools/gpu_day.sh rehearse FOLDER [packaged-go]      the same commands on this CPU, for a minute, in a new environment
#
# Then copy FOLDER to the other machine, and run there, in FOLDER:
#
#   bash run.sh human OUT       9 minutes of human, 10 blocks of 128 filters; weights in OUT every minute
#   bash run.sh packaged OUT    the same from the packaged human, in its own size
#   bash run.sh packaged-go OUT the same from the packaged gohuman; FOLDER was prepared with a store of Go
#   bash run.sh gohuman OUT     9 minutes of gohuman, 10 blocks of 128 filters, from the same folder
#
# Variables: INSTALLED lists packages that the other machine has, so that they are not carried (default below).
# SECONDS_OF_TRAINING, BATCH, RATE (of the packaged networks), MIX, AVERAGE, DEVICE, PRECISION, COMPILE and PROFILE (any
# text; it slows a GPU) change run.sh. The learning rate falls in the second half of the time, by the clock. If the
# training has not begun after COMPILE_SECONDS, because torch still compiles, it starts again without compilation. OUT
# gets the newest weights and figures.json, and gpu.csv with the use of the GPU in each second.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
INSTALLED=${INSTALLED:-"torch numpy numba llvmlite scipy scikit-learn onnx matplotlib jinja2 pyarrow safetensors pillow pyyaml psutil
    lightning-utilities packaging fonttools contourpy kiwisolver pygments rich"}
PYTHON=${PYTHON:-python3.12}
LIMIT_MB=${LIMIT_MB:-45}

prepare() {
    local store=$1 folder=$2 positions=${3:-60000000}
    mkdir -p "$folder/src" "$folder/wheels"
    rm -rf "$folder/src/kibitz"
    if [ ! -f "$folder/store.tar.xz" ]; then
        rm -rf "$folder/small.store"
        python "$here/tools/thin_store.py" "$store" --into "$folder/small.store" --positions "$positions"
        local kept=small.store
        if [[ $(python -c "import sys; from kibitz.store.store import Store; print(Store(sys.argv[1]).game)" "$folder/small.store") == chess ]]; then
            python "$here/tools/pack_store.py" "$folder/small.store" --into "$folder/packed"
            kept=packed
        fi # a store of Go is carried as it is
        tar -C "$folder" -c $kept | xz -9e -T2 >"$folder/store.tar.xz.part"
        mv "$folder/store.tar.xz.part" "$folder/store.tar.xz"
        rm -rf "$folder/small.store" "$folder/packed"
    fi
    local size=$(($(stat -c %s "$folder/store.tar.xz") / 1000000))
    if [ "$size" -gt "$LIMIT_MB" ]; then
        rm "$folder/store.tar.xz"
        echo "error: the store takes $size MB (at most $LIMIT_MB). Give fewer POSITIONS (got $positions)." >&2
        exit 1
    fi
    program "$folder"
    cp "$here/tools/pack_store.py" "$here/tools/train_by_clock.py" "$folder"
    wheels "$folder"
    write_run "$folder"
    echo "$folder: store $size MB, program and wheels $(du -sm "$folder" | cut -f1) MB in all"
    echo "next: tools/gpu_day.sh rehearse $folder"
}

# The program as a folder of sources with its metadata: of the packaged networks only those that a training begins from.
program() {
    local folder=$1 version
    cp -r "$here/src/kibitz" "$folder/src/kibitz"
    rm -rf "$folder/src/kibitz/web/page"
    find "$folder/src" -name __pycache__ -prune -exec rm -rf {} +
    find "$folder/src/kibitz/networks" -mindepth 1 -maxdepth 1 ! -name human ! -name gohuman -exec rm -rf {} +
    find "$folder/src/kibitz/networks" -name model.onnx -delete
    sed -i '/^TRAINING = /s/"optuna", //' "$folder/src/kibitz/errors.py" # no search for settings there, so no wheels for it
    version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$here/src/kibitz/__init__.py")
    mkdir -p "$folder/src/kibitz-$version.dist-info"
    printf 'Metadata-Version: 2.1\nName: kibitz\nVersion: %s\n' "$version" >"$folder/src/kibitz-$version.dist-info/METADATA"
}

# Wheels for Python 3.12 of what kibitz needs and the other machine does not have, at the pinned versions.
wheels() {
    local folder=$1
    python - "$here" "$INSTALLED" >"$folder/requirements.txt" <<'PYTHON'
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement

THERE = {"python_version": "3.12", "python_full_version": "3.12.0", "sys_platform": "linux", "platform_system": "Linux",
         "os_name": "posix", "platform_machine": "x86_64", "extra": ""}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(texts):
    """The names of the packages among some requirements that are needed there."""
    found = map(Requirement, texts)
    return [normal(one.name) for one in found if one.marker is None or one.marker.evaluate(THERE)]


project = tomllib.loads(Path(sys.argv[1], "pyproject.toml").read_text())["project"]
pins = {}
for line in Path(sys.argv[1], "constraints.txt").read_text().splitlines():
    if "==" in line and not line.startswith("#"):
        name, _, version = line.partition("==")
        pins[normal(name.strip())] = version.split(";")[0].strip()
skipped = {normal(name) for name in sys.argv[2].split()} | {"onnxruntime", "uvicorn", "starlette", "optuna"}
queue = needed(project["dependencies"] + project["optional-dependencies"]["train"])
done = set()
while queue:
    name = queue.pop()
    if name in done or name in skipped:
        continue
    done.add(name)
    try:
        queue += needed(requires(name) or [])
    except PackageNotFoundError:
        pass
for name in sorted(done & pins.keys()):
    print(f"{name}=={pins[name]}")
PYTHON
    local platforms=() tag
    for tag in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1; do
        platforms+=(--platform "${tag}_x86_64")
    done
    local line
    while read -r line; do
        if ! python -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
            "${platforms[@]}" -d "$folder/wheels" "$line"; then
            # a package that is only there as sources: pure Python gives a wheel for every machine
            python -m pip wheel --quiet --no-deps -w "$folder/wheels" "$line" || echo "warning: no wheel of $line" >&2
        fi
    done <"$folder/requirements.txt"
}

write_run() {
    cat >"$1/run.sh" <<'RUN'
#!/usr/bin/env bash
# Train for some minutes, and copy the newest weights into OUT every minute: bash run.sh human|packaged|gohuman OUT
set -euo pipefail
cd "$(dirname "$0")"
what=$1
out=$2
mkdir -p "$out"
python=${RUN_PYTHON:-python3}
site=${SITE:-$PWD/site}
if [ ! -d "$site" ] && ls wheels/*.whl >/dev/null 2>&1; then
    "$python" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target "$site" wheels/*.whl
fi
export PYTHONPATH=$PWD/src:$site PYTHONUNBUFFERED=1
if [ ! -d small.store ]; then
    tar -xJf store.tar.xz
    [ -d small.store ] || "$python" pack_store.py packed --into small.store
fi
system=human
case $what in
human) options=(--blocks 10 --filters 128 --learning-rate 0.006) ;;
packaged) options=(--start-from human --blocks 6 --filters 64 --learning-rate "${RATE:-0.01}" --outcome-weight 0.5
    --mix "${MIX:-lichess+chess.com/blitz+rapid/1000-2200=0.4}") ;;
packaged-go) system=gohuman options=(--start-from gohuman --blocks 6 --filters 64 --learning-rate "${RATE:-0.006}"
    --known 0.5 --owners-weight 2) ;;
gohuman) system=gohuman options=(--blocks 10 --filters 128 --learning-rate 0.006) ;;
*) echo "error: the first word must be human, packaged, packaged-go or gohuman (got $what)." >&2 && exit 2 ;;
esac
[ "$system" = human ] && batch=${BATCH:-8192} || batch=${BATCH:-2048}
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=timestamp,utilization.gpu,memory.used --format=csv,noheader -l 1 >"$out/gpu.csv" &
    smi=$!
fi
copy() {
    for file in best.safetensors metrics.jsonl run.json seen.npy; do
        if [ -f "run-$what/$file" ]; then cp "run-$what/$file" "$out/$file.part" && mv "$out/$file.part" "$out/$file"; fi
    done
    newest=$(find "run-$what/snapshots" -name '*.safetensors' 2>/dev/null | sort | tail -1)
    if [ -n "$newest" ]; then cp "$newest" "$out/newest.part" && mv "$out/newest.part" "$out/newest.safetensors"; fi
}
(while sleep 60; do copy; done) &
copier=$!
trap 'kill $copier ${smi:-} ${trainer:-} 2>/dev/null || true' EXIT
train() { # train COMPILE: on or off
    rm -rf "run-$what"
    "$python" train_by_clock.py "${SECONDS_OF_TRAINING:-540}" "$system" small.store --run "run-$what" --recipe gpu \
        "${options[@]}" --batch "$batch" --iterations 10000000 --most-epochs 0 --cooldown 0.5 --patience 0 \
        --validate-every "${VALIDATE_EVERY:-1000}" --validate-positions 16384 --summary-every "${SUMMARY_EVERY:-100}" \
        --checkpoint-every "${CHECKPOINT_EVERY:-1000}" --average "${AVERAGE:-300}" --precision "${PRECISION:-bf16}" \
        --device "${DEVICE:-cuda}" --compile "$1" ${PROFILE:+--profile} --json \
        >"$out/figures.json" 2>"$out/log.txt" &
    trainer=$!
}
begun() { grep -q '"summary"' "run-$what/metrics.jsonl" 2>/dev/null; }
train "${COMPILE:-on}"
if [ "${COMPILE:-on}" = on ]; then
    for ((i = 0; i < ${COMPILE_SECONDS:-150}; i++)); do
        if begun || ! kill -0 $trainer 2>/dev/null; then break; fi
        sleep 1
    done
    if ! begun; then
        echo "compilation did not end in $i seconds: training without it"
        tail -3 "$out/log.txt"
        kill -9 $trainer 2>/dev/null || true
        train off
    fi
fi
result=0
wait $trainer || result=$?
copy
tail -3 "$out/log.txt"
tail -1 "$out/metrics.jsonl" || true
exit $result
RUN
    chmod +x "$1/run.sh"
}

# What will run there, in a new environment of Python 3.12 on this CPU. torch and the other packages of INSTALLED come
# from the package index here; nothing else does.
rehearse() {
    local folder=$1 what=${2:-packaged} env
    env=$(mktemp -d)
    command -v "$PYTHON" >/dev/null || { echo "error: no $PYTHON here. Install it, or set PYTHON." >&2; exit 1; }
    "$PYTHON" -m venv "$env/venv"
    # shellcheck disable=SC2086
    "$env/venv/bin/pip" install --quiet ${REHEARSAL_PIP:-} --constraint "$here/constraints.txt" $INSTALLED
    (cd "$folder" && rm -rf site small.store packed run-* && RUN_PYTHON=$env/venv/bin/python DEVICE=cpu PRECISION=auto COMPILE=off \
        SECONDS_OF_TRAINING=${SECONDS_OF_TRAINING:-60} BATCH=${BATCH:-64} VALIDATE_EVERY=${VALIDATE_EVERY:-10} \
        SUMMARY_EVERY=1 bash run.sh "$what" "$env/out")
    ls -l "$env/out"
    rm -rf "$folder"/site "$folder"/small.store "$folder"/packed "$folder"/run-*
    [ -s "$env/out/best.safetensors" ] || { echo "error: no weights came back" >&2; exit 1; }
    echo "rehearsed in $("$env/venv/bin/python" --version): weights came back"
    rm -rf "$env"
}

case ${1:-} in
prepare) shift && [ $# -ge 2 ] && prepare "$@" ;;
rehearse) shift && [ $# -ge 1 ] && rehearse "$@" ;;
*) sed -n '/^set /q; s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
