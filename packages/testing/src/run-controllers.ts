// Runs controllers in the process of a test, records their writes, and can kill them at any write.
import {
  type Client,
  type ControllerDef,
  createLog,
  createManager,
  createMetrics,
  createRecorder,
  type Gates,
  type Leadership,
  type Log,
  type ManagerOptions,
  type Metrics,
  type Recorder,
  type WriteAttempt,
  type WriteGuard,
} from '@slipway/kube';

export interface RunOptions {
  readonly gates?: Gates | undefined;
  /** Called before each write; throws to refuse it. */
  readonly guard?: WriteGuard | undefined;
  /** Called once for each write that is sent, with its text. */
  readonly onWrite?: ((write: string, attempt: WriteAttempt) => void) | undefined;
  /**
   * No write is sent from this one on, as if the process had been killed right before it: the first one with this text,
   * or the one with this number, counted from 1.
   */
  readonly killAtWrite?: string | number | undefined;
  /** By default the log is collected for `log()`. */
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
  readonly events?: Recorder | undefined;
  readonly election?: ManagerOptions['election'];
  /** How long `stop` waits for running reconciles; by default not at all. */
  readonly stopBoundMs?: number | undefined;
}

export interface RunningControllers {
  /** Their writes so far: `patch MachineConfigPool/status worker`, `create Secret namespace/name`. */
  readonly writes: readonly string[];
  readonly leadership: Leadership | undefined;
  /** Everything they have logged. */
  log(this: void): string;
  /** In the Prometheus text format. */
  metrics(this: void): Promise<string>;
  /** From now on no write is sent, as if the process were gone. */
  kill(this: void): void;
  stop(this: void): Promise<void>;
}

export function runControllers(
  client: Client,
  controllers: readonly ControllerDef[],
  options: RunOptions = {},
): RunningControllers {
  const { gates, guard, onWrite, killAtWrite, metrics = createMetrics(), election, stopBoundMs = 0 } = options;
  const lines: string[] = [];
  const log = options.log ?? createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const writes: string[] = [];
  let isKilled = false;
  let isDying = false;

  const asked = client.guarded((attempt) => {
    if (isKilled) throw new Error('the process is dead');
    guard?.(attempt);
  });
  const manager = createManager({
    // A write recorded before the fatal one is still sent.
    client: watchWrites(asked, (write, attempt) => {
      isDying ||= killAtWrite === write || killAtWrite === writes.length + 1;
      if (isDying) throw new Error('the process is dead');
      writes.push(write);
      onWrite?.(write, attempt);
    }),
    controllers,
    events: options.events ?? createRecorder(client, { component: 'slipway-test', log, metrics }),
    log,
    metrics,
    gates,
    election,
    stopBoundMs,
  });
  manager.start();
  return {
    writes,
    leadership: manager.leadership,
    log: () => lines.join(''),
    metrics: () => metrics.registry.metrics(),
    kill() {
      isKilled = true;
    },
    stop: () => manager.stop(),
  };
}

/** A client that calls `onWrite` once for each write that is sent. It may throw to refuse the write. */
export function watchWrites(client: Client, onWrite: (write: string, attempt: WriteAttempt) => void): Client {
  // A guard is called twice per write: when it is decided, and when its bytes are sent.
  const allowed = new WeakSet<WriteAttempt>();
  return client.guarded((attempt) => {
    if (allowed.has(attempt)) return;
    onWrite(describeWrite(attempt), attempt);
    allowed.add(attempt);
  });
}

export function describeWrite({ verb, resource, subresource, name }: WriteAttempt): string {
  const part = subresource === undefined ? '' : `/${subresource}`;
  const place = name.namespace === undefined ? '' : `${name.namespace}/`;
  return `${verb} ${resource.kind}${part} ${place}${name.name}`;
}
