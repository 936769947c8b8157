#!/usr/bin/env bash
# Installs the Debian packages that building and testing Kina needs, if any is
# missing; does nothing, at once, when all are there.
set -euo pipefail

packages=(
  clang-22 libclang-rt-22-dev lld-22 liblld-22-dev llvm-22-dev llvm-22-tools
  libmlir-22-dev mlir-22-tools
  cmake ninja-build ccache
  libgtest-dev libz3-dev libzstd-dev zlib1g-dev
  python3-venv
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "error: these packages are missing and only root can install them: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}
apt_get update || { cat "$log" >&2; exit 1; }
if ! apt_get install -y --no-install-recommends "${missing[@]}"; then
  cat "$log" >&2
  echo "error: installing the packages failed" >&2
  for package in "${missing[@]}"; do
    if [ -z "$(apt-cache show "$package" 2>/dev/null)" ]; then
      echo "note: no package source of this machine offers $package;" \
           "Debian 12 has the packages named *-22 in bookworm-security" >&2
    fi
  done
  exit 1
fi
