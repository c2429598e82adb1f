import { createLog, createManager, createMetrics, createRecorder } from '@slipway/kube';
import type { Client, ControllerDef, WriteAttempt } from '@slipway/kube';

/** Controllers at work in this process. */
export interface Running {
  /** Their writes so far: `create Secret name`. */
  writes: readonly string[];
  /** Everything they have logged. */
  log(): string;
  stop(): Promise<void>;
}

/** From the n-th write on, none leaves: as if the process had been killed right before it. */
export function runControllers(
  client: Client,
  controllers: readonly ControllerDef[],
  dieBeforeWrite = Infinity,
): Running {
  const lines: string[] = [];
  const writes: string[] = [];
  const allowed = new Set<WriteAttempt>();
  const log = createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const manager = createManager({
    // A guard is asked twice about one write: when it is decided, and when its bytes leave.
    client: client.guarded((attempt) => {
      if (allowed.has(attempt)) return;
      if (writes.length + 1 >= dieBeforeWrite) throw new Error('the process is dead');
      allowed.add(attempt);
      writes.push(`${attempt.verb} ${attempt.resource.kind} ${attempt.name.name}`);
    }),
    controllers,
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics: createMetrics(),
    stopBoundMs: 0,
  });
  manager.start();
  return { writes, log: () => lines.join(''), stop: () => manager.stop() };
}
