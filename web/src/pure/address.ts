// Addresses of the doors as clients reach them, and the strings that connect to them. Pure.

/** An address that means all interfaces is reached by the host that the page came from. */
export function reachable(address: string, pageHost: string): string {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isAny = host === '0.0.0.0' || host === '[::]' || host === '::' || host === '';
  return isAny && port !== '' ? `${pageHost}:${port}` : address;
}

export function mongoUri(address: string, database = ''): string {
  return `mongodb://${address}/${database}?directConnection=true`;
}

export function endpoint(address: string): string {
  return `http://${address}/`;
}

/** For clients that speak TLS alone. Their certificate names localhost. */
export function secureEndpoint(address: string): string {
  return `https://${address.replace(/^(127\.0\.0\.1|\[::1\]):/, 'localhost:')}/`;
}

export function connectionString(address: string, key: string): string {
  return `AccountEndpoint=${endpoint(address)};AccountKey=${key};`;
}
