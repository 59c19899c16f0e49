# shellcheck shell=bash
# shellcheck disable=SC2154 # here, root and work are set by the sourcing script.
# Runs the SDK for Java and the replayed requests. Sourced by `run` after the common parts.

# The SDK for Java uses https: it trusts the emulators' certificates through its own trust store.
run_java() {
  need_java || return
  local store="$work/trust.p12" certificate="$work/emulator.pem" server
  rm -f "$store"
  for server in "$EBB_ENDPOINT" "$EBB_SYSTEM_ENDPOINT"; do
    python3 -c 'import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1]).read())' \
      "$server/_explorer/emulator.pem" >"$certificate" || return 1
    keytool -importcert -noprompt -alias "$server" -file "$certificate" -keystore "$store" \
      -storetype PKCS12 -storepass changeit 2>/dev/null || return 1
  done
  EBB_TRUST_STORE="$store" maven -B -ntp -q -f "$here/java/pom.xml" -Doutput.folder="$work/java" test
}

run_replay() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/outside" python3 "$here/replay/replay.py" -v
}
