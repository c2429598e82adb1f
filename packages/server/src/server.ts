import { systemClock } from '@slipway/base/clock';
import type { Health, Log, Metrics } from '@slipway/kube';
import { createAdmissionQueue, type AdmissionLimits } from './admission-queue.ts';
import { ServerError } from './errors.ts';
import { createHandler, type SendLimits } from './handler.ts';
import { type Address, createListener, type ListenLimits } from './listener.ts';
import { createServerMetrics } from './metrics.ts';
import { createPreparedAnswers } from './prepared-answers.ts';
import { createRefusalLog } from './refusal-log.ts';
import type { ServingCertificate, Source } from './source.ts';

export interface ServerLimits {
  listen: ListenLimits;
  gate: AdmissionLimits;
  send: SendLimits;
}

/** docs/server.md explains each limit; bench/server measures them. */
export const defaultLimits: ServerLimits = {
  listen: { connections: 2048, fullIdleMs: 5000, handshakeMs: 10_000, headMs: 10_000, headBytes: 8192 },
  gate: { active: 32, turnMs: 2000, late: 256, waiting: 2048, patienceMs: 8000 },
  send: { pieceBytes: 256 * 1024, stallMs: 10_000, totalMs: 120_000 },
};

export interface ServerOptions {
  source: Source;
  listen: Address;
  allowAnonymous: boolean;
  metrics: Metrics;
  log: Log;
  limits?: ServerLimits;
}

export interface MachineConfigServer {
  /** The address, once a certificate is available and the server listens; rejects if it cannot. */
  readonly listening: Promise<Address>;
  ready(): Health;
  /** Resolves when the responses match the current inputs. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** The machine config server on one source. It writes nothing; any number of replicas may run. */
export function startServer(options: ServerOptions): MachineConfigServer {
  const { source, log, limits = defaultLimits } = options;
  const metrics = createServerMetrics(options.metrics);
  const gate = createAdmissionQueue(limits.gate);
  const book = createPreparedAnswers(source, metrics, log);
  const refusals = createRefusalLog(log, systemClock);
  let inputs = source.read();
  const handler = createHandler({
    inputs: () => inputs,
    isBehind: () => source.isBehind(),
    allowAnonymous: options.allowAnonymous,
    book,
    gate,
    limits: limits.send,
    metrics,
    log,
    refusals,
  });
  const listener = createListener({ limits: limits.listen, metrics, log, refusals, handle: handler });
  metrics.observe(gate, () => listener.connections());
  const { promise: listening, resolve, reject } = Promise.withResolvers<Address>();

  function listen(): void {
    listener.listen(options.listen).then((address) => {
      log.info({ ...address, allowAnonymous: options.allowAnonymous }, 'serving machines');
      return resolve(address);
    }, reject);
  }

  let certificate: ServingCertificate | undefined;
  let certificateProblem: string | undefined;

  function takeCertificate(next: ServingCertificate | undefined): void {
    if (next === undefined || (next.cert === certificate?.cert && next.key === certificate.key)) return;
    try {
      listener.setCertificate(next);
    } catch (error) {
      certificateProblem = `the serving certificate cannot be used: ${error instanceof Error ? error.message : String(error)}`;
      log.error(
        { err: new ServerError('SLW_SERVER_CERTIFICATE', certificateProblem) },
        'keeping the previous certificate',
      );
      return;
    }
    certificateProblem = undefined;
    if (certificate === undefined) listen();
    else log.info('switched to the new serving certificate');
    certificate = next;
  }

  const warned = new Set<string>();

  function follow(): void {
    inputs = source.read();
    for (const problem of inputs.problems) if (!warned.has(problem)) log.warn({ problem }, 'unusable input');
    warned.clear();
    for (const problem of inputs.problems) warned.add(problem);
    book.update(inputs);
    takeCertificate(inputs.certificate);
  }

  follow();
  const unfollow = source.onChange(follow);

  return {
    listening,
    ready() {
      const problems = [...inputs.problems, ...(certificateProblem === undefined ? [] : [certificateProblem])];
      // A damaged input must not stop the server for machines that it can still answer.
      return { ok: certificate !== undefined && inputs.node !== undefined, problems };
    },
    settled: () => book.settled(),
    async stop() {
      unfollow();
      book.stop();
      await listener.close();
      refusals.stop();
    },
  };
}
