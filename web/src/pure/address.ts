// Addresses of the APIs as clients reach them, and connection strings. Pure.

/** How an API is reached: `host:port`, and whether it requires TLS. */
export interface Reach {
  address: string;
  needsTls: boolean;
}

/** Replaces a wildcard host by the host that the page was loaded from. */
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

/** The https endpoint. Loopback becomes localhost, the name in the server's certificate. */
export function secureEndpoint({ address }: Reach): string {
  return `https://${address.replace(/^(127\.0\.0\.1|\[::1\]):/, 'localhost:')}/`;
}

export function connectionString(reach: Reach, key: string): string {
  return `AccountEndpoint=${endpoint(reach)};AccountKey=${key};`;
}
