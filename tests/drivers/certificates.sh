# shellcheck shell=bash
# Certificates for logins. Sourced.

# make_certificates DIRECTORY: creates an authority in `ca.pem`; the server's `server.pem` and `server.key`; two
# clients, `ann.pem` and `eve.pem`, and `stranger.pem` of another authority, each with its key, and
# as `.p12` with the password `test`. The subject of each client is CN=<name>,OU=drivers,O=ebb.
make_certificates() {
  local to=$1 name
  if ! command -v openssl >/dev/null; then
    apt-get update -qq && apt-get install -y -qq openssl || return 1
  fi
  mkdir -p "$to" || return 1
  make_authority "$to/ca" && make_authority "$to/other" || return 1
  sign "$to/server" "$to/ca" "/CN=localhost" "subjectAltName=DNS:localhost,IP:127.0.0.1" || return 1
  for name in ann eve stranger; do
    sign "$to/$name" "$to/$([ $name = stranger ] && echo other || echo ca)" "/O=ebb/OU=drivers/CN=$name" \
      "extendedKeyUsage=clientAuth" || return 1
    openssl pkcs12 -export -in "$to/$name.pem" -inkey "$to/$name.key" -out "$to/$name.p12" -passout pass:test ||
      return 1
    cat "$to/$name.key" >>"$to/$name.pem"
  done
}

# make_authority NAME: creates a self-signed authority, NAME.pem and NAME.key.
make_authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=${1##*/} authority" \
    -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# sign NAME AUTHORITY SUBJECT EXTENSION: issues a certificate NAME.pem with its key NAME.key.
sign() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$3" -keyout "$1.key" -out "$1.request" \
    2>/dev/null &&
    openssl x509 -req -in "$1.request" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 30 \
      -extfile <(echo "$4") -out "$1.pem" 2>/dev/null
}
