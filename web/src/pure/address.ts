// Addresses of the doors as clients reach them, and the strings that connect to them. Pure.

/** How a door is reached: `host:port`, and whether TLS alone is spoken there. */
export interface Reach {
  address: string;
  needsTls: boolean;
}

/** An address that means all interfaces is reached by the host that the page came from. */
export function reachable(address: string, pageHost: string): string {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isAny = host === '0.0.0.0' || host === '[::]' || host === '::' || host === '';
  return isAny && port !== '' ? `${pageHost}:${port}` : address;
}

export function mongoUri({ address, needsTls }: Reach, database = ''): string {
  return `mongodb://${address}/${database}?directConnection=true${needsTls ? '&tls=true' : ''}`;
}

export function endpoint(reach: Reach): string {
  return reach.needsTls ? secureEndpoint(reach) : `http://${reach.address}/`;
}

/** For clients that speak TLS alone. Their certificate names localhost. */
export function secureEndpoint({ address }: Reach): string {
  return `https://${address.replace(/^(127\.0\.0\.1|\[::1\]):/, 'localhost:')}/`;
}

export function connectionString(reach: Reach, key: string): string {
  return `AccountEndpoint=${endpoint(reach)};AccountKey=${key};`;
}
