import { createLog, createMetrics, type Metrics } from '@slipway/kube';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { createManualClock } from '@slipway/testing/manual-clock';
import { createAdmissionQueue, type AdmissionLimits } from '../admission-queue.ts';
import { createHandler, type SendLimits } from '../handler.ts';
import { createListener } from '../listener.ts';
import { createServerMetrics } from '../metrics.ts';
import { createRefusalLog } from '../refusal-log.ts';
import { defaultLimits } from '../server.ts';

/** More than a connection on this machine buffers; not a config that could be rendered. */
const large = Buffer.alloc(24_000_000, 'x');

export interface LargeAnswers extends AsyncDisposable {
  port: number;
  metrics: Metrics;
  lines: string[];
}

/** The real listener, queue and handler, with one response that no connection buffers whole. */
export async function serveLargeAnswers(limits: {
  gate?: Partial<AdmissionLimits>;
  send?: Partial<SendLimits>;
}): Promise<LargeAnswers> {
  const lines: string[] = [];
  const log = createLog({ pretty: false, write: (line) => lines.push(line) });
  const registry = createMetrics();
  const metrics = createServerMetrics(registry);
  const refusals = createRefusalLog(log, createManualClock());
  const gate = createAdmissionQueue({ ...defaultLimits.gate, ...limits.gate });
  const answer = Promise.resolve({ ok: true, plain: large, gzip: large } as const);
  const handler = createHandler({
    inputs: () => ({ pools: new Map([['worker', 'rendered']]), tokens: new Map() }),
    isBehind: () => false,
    allowAnonymous: true,
    book: {
      find: () => ({ rendered: 'rendered', answerIn: () => answer, size: () => large.length }),
      update: () => {},
      settled: async () => {},
      stop: () => {},
    },
    gate,
    limits: { ...defaultLimits.send, ...limits.send },
    metrics,
    log,
    refusals,
  });
  const listener = createListener({ limits: defaultLimits.listen, metrics, log, refusals, handle: handler });
  metrics.observe(gate, () => listener.connections());
  listener.setCertificate(await makeSelfSigned('large'));
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  return { port, metrics: registry, lines, [Symbol.asyncDispose]: () => listener.close() };
}
