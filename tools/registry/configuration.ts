export interface RegistryConfiguration {
  directory: string;
  port: number;
  tls: boolean;
  auth: 'basic' | 'bearer' | 'none';
  /** The token service, for `bearer`. */
  tokens: TokenIssuer | undefined;
}

/** The issuer of tokens, as configured in the registry. */
export interface TokenIssuer {
  url: string;
  service: string;
  issuer: string;
}

/** The registry reads YAML, which includes JSON. Everything it writes stays in the directory. */
export function configure({ directory, port, tls, auth, tokens }: RegistryConfiguration): string {
  return JSON.stringify({
    version: '0.1',
    // One line of JSON for each request: see request-log.ts.
    log: { level: 'info', formatter: 'json', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: `${directory}/storage` },
      // Tests delete images.
      delete: { enabled: true },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: `127.0.0.1:${port}`,
      // Signs the state of uploads, which do not outlive this process.
      secret: 'of no use to anybody else',
      ...(tls ? { tls: { certificate: `${directory}/server.pem`, key: `${directory}/server.pem` } } : {}),
    },
    ...(auth === 'basic' ? { auth: { htpasswd: { realm: 'slipway', path: `${directory}/htpasswd` } } } : {}),
    ...(tokens === undefined
      ? {}
      : {
          auth: {
            token: {
              realm: tokens.url,
              service: tokens.service,
              issuer: tokens.issuer,
              rootcertbundle: `${directory}/authority.crt`,
            },
          },
        }),
  });
}
