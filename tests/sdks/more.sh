# shellcheck shell=bash
# shellcheck disable=SC2154 # here, root and work are set by the sourcing script.
# Runs the SDK for Java and the replayed requests. Sourced by `run` after the common parts.

# The SDK for Java trusts the servers' certificates through a trust store. Its tests run in gateway mode, then those of
# items in direct mode, the SDK's default; DIRECT=1 runs all in direct mode only.
run_java() {
  need_java || return
  local store="$work/trust.p12" certificate="$work/ebb.pem" server status=0
  rm -f "$store"
  for server in "$EBB_ENDPOINT" "$EBB_SYSTEM_ENDPOINT"; do
    "$EBB_BIN" cert export --cosmos-addr "${server#http://}" "$certificate" >/dev/null || return 1
    keytool -importcert -noprompt -alias "$server" -file "$certificate" -keystore "$store" \
      -storetype PKCS12 -storepass changeit 2>/dev/null || return 1
  done
  export EBB_TRUST_STORE="$store"
  if [ "${DIRECT:-}" = 1 ]; then
    test_java_sdk
  else
    test_java_sdk || status=1
    DIRECT=1 test_java_sdk -Dtest='ItemsTest,QueriesTest,RandomPagesTest,ChangeFeedTest,TtlTest' || status=1
    return $status
  fi
}

test_java_sdk() { maven -B -ntp -q -f "$here/java/pom.xml" -Doutput.folder="$work/java" "$@" test; }

run_replay() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/outside" python3 "$here/replay/replay.py" -v
}
