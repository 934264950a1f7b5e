#!/bin/sh
# Gets what some tests need beyond Python: a Java 17 runtime (Spark), Chromium (the browser), and the servers that
# stores and exports are tested against. Without the right to install, or without apt-get, it says so; those tests are
# then skipped with the reason.
set -u
PATH="$PATH:/usr/sbin:/sbin"

has_java() { java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'; }
has_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1
has() { command -v "$1" >/dev/null 2>&1; }
has_postgres() { ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; }

missing=""
has_java || missing="openjdk-17-jre-headless|default-jre-headless"
has_chromium || missing="$missing chromium|chromium-browser"
has redis-server || missing="$missing redis-server"
has_postgres || missing="$missing postgresql"
has nginx || missing="$missing nginx-light|nginx"
has apache2 || missing="$missing apache2"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing, and not ours to install:$(echo " $missing" | sed 's/|[^ ]*//g'). Tests that need them will be skipped."
    exit 0
fi
echo "Installing $(echo "$missing" | sed 's/|[^ ]*//g') ..."
export DEBIAN_FRONTEND=noninteractive
# The servers are started by the tests that need them, each with settings of its own: none by its package.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && trap 'rm -f "$policy"' EXIT
fi
timeout 300 apt-get update -qq >/dev/null 2>&1
for choice in $missing; do # names of one package, the first that there is
    for package in $(echo "$choice" | tr '|' ' '); do
        timeout 900 apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 && continue 2
    done
    echo "Could not install any of: $choice. Tests that need it will be skipped."
done
exit 0
