// What to hide of a config from readers of diffs, explanations, plans and reports: whole files by path and mode, and
// secrets in everything else by content.
import { HIDDEN, maskSecrets } from '@slipway/base/masking';
import type { DiffOptions } from '@slipway/ignition';

export interface Masking {
  /** Shows secrets too, on explicit request. Default: false. */
  readonly showSecrets?: boolean;
}

/** Files that contain secrets whatever their mode is. */
const SECRET_PATHS: ReadonlySet<string> = new Set([
  '/etc/chrony.keys',
  '/etc/gshadow',
  '/etc/ignition-machine-config-encapsulated.json',
  '/etc/ignition-machine-config-encapsulated.json.bak',
  '/etc/machine-config-daemon/currentconfig',
  '/etc/ostree/auth.json',
  '/etc/ppp/chap-secrets',
  '/etc/ppp/pap-secrets',
  '/etc/shadow',
  '/var/lib/kubelet/config.json',
]);

/** Directories whose files are all secret. */
const SECRET_DIRECTORIES: readonly string[] = [
  '/etc/NetworkManager/system-connections/',
  '/etc/credstore/',
  '/etc/credstore.encrypted/',
  '/etc/pki/tls/private/',
  '/etc/ssl/private/',
  '/etc/wireguard/',
  '/root/.ssh/id_',
];

/** By file name. Certificates end in .pem too, so there the name must contain "key". */
const SECRET_NAMES: readonly RegExp[] = [
  /^ssh_host_\w+_key$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:keys?|keyring|keytab|p12|pfx|jks|secrets?)$/,
  /^(?:authkey|secrets|passwd-s3fs|sasl_passwd|tokens\.csv)$/,
  /key.*\.pem$/,
  /^(?:.*\.)?kubeconfig$/,
  /^(?:bootstrap-)?kubelet\.conf$/,
  /^pull-?secret/,
  /^\.?dockerc(?:onfigjson|fg)$/,
  /^auth\.json$/,
  /^\.(?:google_authenticator|netrc|pgpass|git-credentials|pypirc|vault-token|my\.cnf)$/,
  /^\.?htpasswd/,
  /^wpa_supplicant.*\.conf$/,
];

const GROUP_AND_OTHERS = 0o077;

/** Whether the contents of a file are secret: its mode denies group and others all access, or its path is a known one. */
export function isSecretFile(path: string, mode: number | undefined): boolean {
  if (mode !== undefined && (mode & GROUP_AND_OTHERS) === 0) return true;
  if (SECRET_PATHS.has(path) || SECRET_DIRECTORIES.some((directory) => path.startsWith(directory))) return true;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return SECRET_NAMES.some((pattern) => pattern.test(name));
}

/** Fields of an Ignition config that are always secret; `value` is that of an HTTP header. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['passwordHash', 'value']);

/** The value of a field, masked if it is secret. `field` is its name or its path. */
export function maskField(field: string, value: string, masking: Masking = {}): string {
  if (masking.showSecrets === true) return value;
  const name = /\w+$/.exec(field)?.[0] ?? '';
  return SECRET_FIELDS.has(name) ? HIDDEN : maskSecrets(value);
}

/** The contents of a file, a unit or a drop-in for a reader. */
export const maskContents = (text: string, { showSecrets = false }: Masking = {}): string =>
  showSecrets ? text : maskSecrets(text);

/** For `diffConfigs`. */
export function maskedDiff(masking: Masking = {}): DiffOptions {
  return { showSecrets: masking.showSecrets ?? false, isSecretFile, maskText: maskSecrets };
}
