// Runs rpm-ostree, bootc and podman, and retries temporary failures for a limited time.
import { type Backoff, backoffMs } from '@slipway/base/backoff';
import { systemClock } from '@slipway/base/clock';
import { DaemonError } from '../../errors.ts';
import { type Command, type Run, summarize } from '../run-command.ts';

export interface OSRetryPolicy {
  /** How long to wait for an OS change of another client, and how often to check. */
  readonly busyForMs: number;
  readonly busyEveryMs: number;
  /** The backoff after failures that the network may have caused. */
  readonly network: Backoff;
  /** In addition to the first attempt. */
  readonly networkRetries: number;
}

export const DEFAULT_RETRY_POLICY: OSRetryPolicy = {
  busyForMs: 10 * 60_000,
  busyEveryMs: 5000,
  network: { firstMs: 5000, maxMs: 80_000 },
  networkRetries: 5,
};

export type OSCommand = Omit<Command, 'timeoutMs'> & {
  readonly timeoutMs?: number;
  /** Human-readable: the failed operation, for example `The OS image cannot be pulled`. */
  readonly failing: string;
};

/** Resolves to stdout. Rejects with an OSFailure, or with SLW_DAEMON_HOST if the program was stopped. */
export type OSRun = (command: OSCommand) => Promise<string>;

/** Every query is faster than this, but a pull over a slow line may take this long. */
const LONG_MS = 60 * 60_000;

export function createOSRun(run: Run, retryPolicy: OSRetryPolicy): OSRun {
  return async (command) => {
    const giveUpAt = Date.now() + retryPolicy.busyForMs;
    let networkFailures = 0;
    for (;;) {
      const { status, stdout, stderr } = await run({ timeoutMs: LONG_MS, ...command }).catch((error: unknown) => {
        throw toStopped(error, command);
      });
      if (status === 0) return stdout;
      if (status === null)
        throw new OSFailure('unsupported', command.failing, `this machine has no ${command.program}`);
      const failure = classifyFailure(stderr);
      if (failure === 'network') networkFailures += 1;
      const pause = pauseAfter(failure, retryPolicy, { giveUpAt, networkFailures });
      if (pause === undefined) throw new OSFailure(failure, command.failing, stderr);
      await systemClock.sleep(pause, command.signal);
    }
  };
}

/** A program that hangs, for example on a stalled download: the config is not the cause. */
function toStopped(error: unknown, { failing, signal }: OSCommand): unknown {
  if (!(error instanceof DaemonError) || signal?.aborted === true) return error;
  return new DaemonError(error.code, `${failing}. ${error.message}. The daemon retries`, { cause: error, retry: true });
}

/** Undefined: another attempt does not help, or the retries are used up. */
function pauseAfter(
  failure: OSFailureClass,
  { busyEveryMs, network, networkRetries }: OSRetryPolicy,
  { giveUpAt, networkFailures }: { readonly giveUpAt: number; readonly networkFailures: number },
): number | undefined {
  if (failure === 'busy') return Date.now() + busyEveryMs > giveUpAt ? undefined : busyEveryMs;
  if (failure === 'network' && networkFailures <= networkRetries) return backoffMs(network, networkFailures);
  return undefined;
}

// None of these tools distinguishes failures by exit status, only by text.

export type OSFailureClass =
  | 'busy'
  | 'network'
  | 'unauthorized'
  | 'not found'
  | 'no space'
  | 'bad image'
  | 'policy'
  | 'packages'
  | 'locked'
  | 'unsupported'
  | 'unknown';

interface FailureRule {
  readonly is: OSFailureClass;
  readonly text: RegExp;
}

/**
 * The first match counts: a message often contains the whole chain of causes, so specific rules come before general
 * ones.
 */
const RULES: readonly FailureRule[] = [
  { is: 'busy', text: /transaction in progress|reboot initiated, cannot start new transaction/i },
  { is: 'locked', text: /LockLayering=true|updates and deployments are driven by|not allowed for user/i },
  { is: 'locked', text: /must be executed as the root user/i },
  { is: 'no space', text: /min-free-space-(percent|size)|no space left on device|insufficient free space/i },
  { is: 'policy', text: /refusing usage|policy\.json|signature .*(required|missing)|rejected by policy/i },
  {
    is: 'unauthorized',
    text: /unauthorized|authentication required|invalid username\/password|resource is denied|denied: |403 forbidden/i,
  },
  { is: 'not found', text: /manifest unknown|name unknown|not found: manifest|image not known|no such image/i },
  {
    is: 'bad image',
    text: /does not have ostree\.bootable label|invalid (manifest|reference)|digest (mismatch|did not match)/i,
  },
  { is: 'bad image', text: /unsupported (media type|manifest)|no image found in (manifest|image index)/i },
  {
    is: 'network',
    text: /dial (tcp|udp)|lookup .* (no such host|server misbehaving)|i\/o timeout|TLS handshake timeout|connection (refused|reset)/i,
  },
  {
    is: 'network',
    text: /network is unreachable|no route to host|unexpected EOF|temporary failure|too many requests|50[0234] /,
  },
  { is: 'network', text: /context deadline exceeded|connection timed out/i },
  { is: 'packages', text: /packages not found|package\/capability|is already provided by|override already exists/i },
  {
    is: 'packages',
    text: /no overrides for package|package "[^"]*" not found|cannot be installed|could not depsolve/i,
  },
  {
    is: 'unsupported',
    text: /not booted via libostree|requires a booted host system|unknown option|unrecognized subcommand/i,
  },
  { is: 'unsupported', text: /local rpm-ostree modifications|unexpected argument/i },
];

const REMEDIATIONS: Readonly<Record<OSFailureClass, string>> = {
  busy: 'Another change of the OS is in progress on this machine. The daemon retries. See `rpm-ostree status` for the client.',
  network: 'The registry cannot be reached. The daemon retries. Check the network, proxy and mirrors of this machine.',
  unauthorized:
    'The registry rejects this machine’s credentials. Check the pull secret in /var/lib/kubelet/config.json.',
  'not found': 'The registry has no such image. Check osImageURL, and that the mirror has it.',
  'no space': 'Free space on this machine’s disk. The daemon retries.',
  'bad image': 'This image is not an OS image that this machine can boot. Check osImageURL.',
  policy: 'The policy of this machine rejects the image. Check /etc/containers/policy.json.',
  packages: 'Check spec.extensions and spec.kernelType, and that the extensions image matches the OS image.',
  locked: 'The OS of this machine is locked against changes. Remove the lock on the machine.',
  unsupported: 'The OS tool of this machine does not support this. Remove it from the config, or install another OS.',
  unknown: 'Slipway does not recognise this failure.',
};

const TRANSIENT: ReadonlySet<OSFailureClass> = new Set(['busy', 'network', 'no space']);

export class OSFailure extends DaemonError {
  readonly failure: OSFailureClass;

  /** `said`: the output of the program that failed, if there was one. */
  constructor(failure: OSFailureClass, what: string, said?: string) {
    const output = said === undefined ? '' : ` Output: ${summarize(said) || 'none'}`;
    const message = `${what} (${failure}). ${REMEDIATIONS[failure]}${output}`;
    super('SLW_DAEMON_OS', message, { retry: TRANSIENT.has(failure) });
    this.failure = failure;
  }
}

export function classifyFailure(text: string): OSFailureClass {
  return RULES.find((rule) => rule.text.test(text))?.is ?? 'unknown';
}
