// What a call that failed means: the runtime is not there, the disk is full, or this one image cannot be had.
import { DaemonError } from '../../errors.ts';
import type { RegistryCredential } from '../container-runtime.ts';
import { shorten } from '../run-command.ts';

const MAX_MESSAGE_CHARS = 600;

/** Codes of gRPC that mean: there was no answer, or none that this interface has. An answer has UNKNOWN, and few have others. */
const NO_ANSWER: ReadonlySet<number> = new Set([
  1, // CANCELLED, and not by us: the runtime goes down
  12, // UNIMPLEMENTED
  13, // INTERNAL: cut off in the middle, or no message of this interface
  14, // UNAVAILABLE: nobody listens
]);

const FULL = /no space left on device|disk quota exceeded/i;

/** The runtime pulls an image once for all who ask for it, and for none of them where the first, such as the kubelet, calls it off. */
const CALLED_OFF = /context canceled/i;

const REMEDIATIONS: readonly (readonly [said: RegExp, wayOut: string])[] = [
  [
    /did not match|does not match/i,
    'What came is not what the digest says: push the image again, or check the mirrors and proxies on the way.',
  ],
  [CALLED_OFF, 'Somebody else who pulled the same image called that off: it is tried again.'],
  [
    /manifest unknown|name unknown|not ?found|blob unknown/i,
    'The registry has no image of this name and digest: check the set, and whether the image was removed or is not mirrored yet.',
  ],
  [
    /unauthorized|authentication|denied|forbidden|invalid username/i,
    'Check the credentials for this registry in the pull secret of the machine, /var/lib/kubelet/config.json.',
  ],
  [
    /x509|certificate|server gave HTTP response/i,
    'Check that the machine trusts the certificate of the registry (/etc/containers/certs.d, or the trust of the OS).',
  ],
  [/signature|policy/i, 'Check the signature of the image against /etc/containers/policy.json of the machine.'],
  [
    /no such host|refused|timeout|timed out|unreachable|no route|reset by peer|\bEOF\b|RegistryUnavailable|\b5\d\d\b|toomanyrequests/i,
    'Check that the machine reaches the registry or a mirror of it (/etc/containers/registries.conf).',
  ],
];

/** For messages: who was called, and how it is looked after on the machine. */
export interface CalledRuntime {
  readonly name: string;
  /** For systemctl and journalctl. */
  readonly unit: string;
  readonly socket: string;
}

export interface CallFailure {
  readonly code: number;
  readonly said: string;
}

export function pullFailure(
  image: string,
  { code, said }: CallFailure,
  credential: RegistryCredential | null,
  runtime: CalledRuntime,
): DaemonError {
  const words = sanitizeMessage(said, credential);
  if (FULL.test(said)) {
    return new DaemonError(
      'SLW_PINNING_NO_SPACE',
      `The disk got full while ${image} was pulled: ${words}. Free space on the machine, or take images out of its sets.`,
    );
  }
  if (NO_ANSWER.has(code) && !CALLED_OFF.test(said)) return noAnswer(`pull ${image}`, words, runtime);
  const [, wayOut] = REMEDIATIONS.find(([pattern]) => pattern.test(said)) ?? [];
  return new DaemonError(
    'SLW_PINNING_PULL',
    `${image} could not be pulled: ${words}. ${wayOut ?? `The log of the container runtime on the machine says more: \`journalctl -u ${runtime.unit}\`.`}`,
  );
}

/** Of a call that has nothing to do with a registry: whatever comes back, the runtime does not do its work. */
export function runtimeFailure(what: string, { code, said }: CallFailure, runtime: CalledRuntime): DaemonError {
  if (code === DEADLINE_EXCEEDED) return noAnswer(what, 'it took too long', runtime);
  const words = sanitizeMessage(said, null);
  if (NO_ANSWER.has(code)) return noAnswer(what, words, runtime);
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime did not ${what}: ${words}. \`journalctl -u ${runtime.unit}\` on the machine says more.`,
  );
}

const DEADLINE_EXCEEDED = 4;

function noAnswer(what: string, words: string, { name, unit, socket }: CalledRuntime): DaemonError {
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime does not answer at ${socket}, to ${what}: ${words}. Expected ${name} there; \`systemctl status ${unit}\` on the ` +
      'machine says how it is.',
  );
}

/**
 * In one line; without what opens a registry, which are our credentials and what stands in addresses with a signature; and without
 * what is another one at every try, such as ports: who tells of it tells what is new.
 */
function sanitizeMessage(said: string, credential: RegistryCredential | null): string {
  let words = said;
  for (const secret of listSecrets(credential)) words = words.replaceAll(secret, '…');
  for (const [pattern, instead] of REWORDED) words = words.replaceAll(pattern, instead);
  return shorten(words, MAX_MESSAGE_CHARS).replace(/\.$/, '') || 'it said nothing';
}

const REWORDED: readonly (readonly [RegExp, string])[] = [
  [/^No connection established\. Last error: (?:Error: )?(.*)\. Resolution note: .*$/gs, '$1'],
  [/(https?:\/\/)[^\s/"@]*@/gi, '$1…@'],
  [/(https?:\/\/[^\s"?]*)\?[^\s"]*/gi, '$1?…'],
  [/(container_images_storage)\d+/g, '$1…'],
  [/(\b(?:read|write) (?:tcp|udp) )\S+?->/g, '$1'],
  [/[\s\p{Cc}]+/gu, ' '],
];

function listSecrets(credential: RegistryCredential | null): string[] {
  if (credential === null) return [];
  const { username, password } = credential;
  const pair = Buffer.from(`${username}:${password}`).toString('base64');
  return [pair, password, encodeURIComponent(password)].filter((secret) => secret !== '');
}
