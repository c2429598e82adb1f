// Runs rpm-ostree, bootc and podman, and tries again what may pass: for a bound time, and only then fails.
import { type Backoff, backoffMs } from '@slipway/base/backoff';
import { systemClock } from '@slipway/base/clock';
import { DaemonError } from '../../errors.ts';
import { type Command, type Run, shorten } from '../run-command.ts';

export interface OSRetryPolicy {
  /** How long somebody else's change of the OS is waited for, and how often it is asked. */
  readonly busyForMs: number;
  readonly busyEveryMs: number;
  /** After each failure that a network may have made. */
  readonly network: Backoff;
  /** So many tries beside the first one. */
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
  /** For people: what was to be done, as in `The OS image cannot be pulled`. */
  readonly failing: string;
};

/** Resolves to stdout. Rejects with an OSFailure. */
export type OSRun = (command: OSCommand) => Promise<string>;

/** Nothing but asking takes longer than that, and a pull on a slow line may take as long. */
const LONG_MS = 60 * 60_000;

export function createOSRun(run: Run, retryPolicy: OSRetryPolicy): OSRun {
  return async (command) => {
    const giveUpAt = Date.now() + retryPolicy.busyForMs;
    let networkFailures = 0;
    for (;;) {
      const { status, stdout, stderr } = await run({ timeoutMs: LONG_MS, ...command });
      if (status === 0) return stdout;
      if (status === null) throw new OSFailure('unsupported', command.failing, `there is no ${command.program} here`);
      const failure = classifyFailure(stderr);
      if (failure === 'network') networkFailures += 1;
      const pause = pauseAfter(failure, retryPolicy, { giveUpAt, networkFailures });
      if (pause === undefined) throw new OSFailure(failure, command.failing, stderr);
      await systemClock.sleep(pause, command.signal);
    }
  };
}

/** Undefined: trying again does not help, or not any more. */
function pauseAfter(
  failure: OSFailureClass,
  { busyEveryMs, network, networkRetries }: OSRetryPolicy,
  { giveUpAt, networkFailures }: { readonly giveUpAt: number; readonly networkFailures: number },
): number | undefined {
  if (failure === 'busy') return Date.now() + busyEveryMs > giveUpAt ? undefined : busyEveryMs;
  if (failure === 'network' && networkFailures <= networkRetries) return backoffMs(network, networkFailures);
  return undefined;
}

// None of them tells its failures apart by exit status: only the text does.

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

/** The first that fits counts: a message often holds the whole chain of causes, so the particular stand before the general. */
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
  busy: 'Another change of the OS is under way on this machine; it is tried again when that is done. Who does that: `rpm-ostree status`.',
  network: 'The registry cannot be reached. It is tried again; check network, proxy and mirrors of this machine.',
  unauthorized: 'The registry does not let this machine in. Check the pull secret in /var/lib/kubelet/config.json.',
  'not found': 'There is no such image in the registry. Check osImageURL, and that the mirror has it.',
  'no space': 'Make room on the disk of this machine: it is tried again.',
  'bad image': 'This image is no OS image that this machine can boot. Check osImageURL.',
  policy: 'The policy of this machine does not let the image in. Check /etc/containers/policy.json.',
  packages: 'Check spec.extensions and spec.kernelType, and that the extensions image belongs to the OS image.',
  locked: 'Something on this machine keeps the OS from being changed; it has to be removed there.',
  unsupported:
    'This machine’s OS tool cannot do that. Its OS has to be another one, or the config must not ask for it.',
  unknown: 'This failure is not known to Slipway; what the program said stands here whole.',
};

const TRANSIENT: ReadonlySet<OSFailureClass> = new Set(['busy', 'network', 'no space']);
const MAX_TEXT_CHARS = 4096;

export class OSFailure extends DaemonError {
  readonly failure: OSFailureClass;
  /** Trying again, with nothing changed, may help. */
  readonly retry: boolean;

  constructor(failure: OSFailureClass, what: string, said: string) {
    super(
      'SLW_DAEMON_OS',
      `${what} (${failure}). ${REMEDIATIONS[failure]} It said: ${shorten(said, MAX_TEXT_CHARS) || 'nothing'}`,
    );
    this.failure = failure;
    this.retry = TRANSIENT.has(failure);
  }
}

export function classifyFailure(text: string): OSFailureClass {
  return RULES.find((rule) => rule.text.test(text))?.is ?? 'unknown';
}
