/** The Secrets, in our namespace, that the machine config server answers from. */
export const serverSecrets = {
  /** The CA: `tls.crt`, `tls.key`, `ca-bundle.crt` (what stubs trust), `cross-signed.crt`. */
  authority: 'machine-config-server-ca',
  /** What the server shows: `tls.crt` with its intermediates, `tls.key`. */
  serving: 'machine-config-server-tls',
  /** One key a pool: its provisioning tokens. */
  tokens: 'machine-config-server-tokens',
  /** What a joining kubelet starts with: `kubeconfig`, `ca.crt`. */
  kubeconfig: 'machine-config-server-kubeconfig',
} as const;
