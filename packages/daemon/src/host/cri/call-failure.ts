// Classifies a failed call: the runtime is down, the disk is full, or this image cannot be pulled.
import { DaemonError } from '../../errors.ts';
import type { RegistryCredential } from '../container-runtime.ts';
import { summarize } from '../run-command.ts';

const MAX_MESSAGE_CHARS = 600;

/** gRPC codes that mean no answer, or none of this interface. Answers have UNKNOWN, and rarely others. */
const NO_ANSWER: ReadonlySet<number> = new Set([
  1, // CANCELLED, not by the daemon: the runtime is stopping
  12, // UNIMPLEMENTED
  13, // INTERNAL: the connection broke, or the message is not of this interface
  14, // UNAVAILABLE: no process is listening
]);

const FULL = /no space left on device|disk quota exceeded/i;

/**
 * The runtime pulls an image once for all clients, and cancels it for all if the first one, such as the kubelet,
 * cancels.
 */
const CALLED_OFF = /context canceled/i;

const REMEDIATIONS: readonly (readonly [said: RegExp, wayOut: string])[] = [
  [
    /did not match|does not match/i,
    'The downloaded data does not match the digest. Push the image again, or check the mirrors and proxies in between.',
  ],
  [CALLED_OFF, 'Another client, such as the kubelet, cancelled its pull of the same image. The daemon retries.'],
  [
    /manifest unknown|name unknown|not ?found|blob unknown/i,
    'The registry has no image with this name and digest. Check the set, and whether the image was removed or is not mirrored yet.',
  ],
  [
    /unauthorized|authentication|denied|forbidden|invalid username/i,
    'Check the credentials for this registry in the machine’s pull secret, /var/lib/kubelet/config.json.',
  ],
  [
    /x509|certificate|server gave HTTP response/i,
    'Check that the machine trusts the registry’s certificate (/etc/containers/certs.d, or the trust store of the OS).',
  ],
  [/signature|policy/i, 'Check the image’s signature against /etc/containers/policy.json on the machine.'],
  [
    /no such host|refused|timeout|timed out|unreachable|no route|reset by peer|\bEOF\b|RegistryUnavailable|\b5\d\d\b|toomanyrequests/i,
    'Check that the machine can reach the registry or a mirror of it (/etc/containers/registries.conf).',
  ],
];

/** The called runtime, for messages. */
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
      `The disk ran full while ${image} was being pulled: ${words}. Free space on the machine, or remove images from its sets.`,
    );
  }
  if (NO_ANSWER.has(code) && !CALLED_OFF.test(said)) return noAnswer(`pull ${image}`, words, runtime);
  const [, wayOut] = REMEDIATIONS.find(([pattern]) => pattern.test(said)) ?? [];
  return new DaemonError(
    'SLW_PINNING_PULL',
    `${image} could not be pulled: ${words}. ${wayOut ?? `See the log of the container runtime on the machine: \`journalctl -u ${runtime.unit}\`.`}`,
  );
}

/** For calls that do not involve a registry: any failure means that the runtime does not work. */
export function runtimeFailure(what: string, { code, said }: CallFailure, runtime: CalledRuntime): DaemonError {
  if (code === DEADLINE_EXCEEDED) return noAnswer(what, 'it took too long', runtime);
  const words = sanitizeMessage(said, null);
  if (NO_ANSWER.has(code)) return noAnswer(what, words, runtime);
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime did not ${what}: ${words}. See \`journalctl -u ${runtime.unit}\` on the machine.`,
  );
}

const DEADLINE_EXCEEDED = 4;

function noAnswer(what: string, words: string, { name, unit, socket }: CalledRuntime): DaemonError {
  return new DaemonError(
    'SLW_PINNING_RUNTIME',
    `The container runtime at ${socket} did not respond when asked to ${what}: ${words}. Expected ${name} there. Check \`systemctl status ${unit}\` ` +
      'on the machine.',
  );
}

/**
 * One line, without credentials and signed URLs, and without parts that differ in every attempt, such as ports, so that
 * the same failure is not reported as new.
 */
function sanitizeMessage(said: string, credential: RegistryCredential | null): string {
  let words = said;
  for (const secret of listSecrets(credential)) words = words.replaceAll(secret, '…');
  for (const [pattern, instead] of REWORDED) words = words.replaceAll(pattern, instead);
  return summarize(words, MAX_MESSAGE_CHARS).replace(/\.$/, '') || 'it gave no reason';
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
