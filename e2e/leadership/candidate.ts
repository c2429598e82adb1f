/**
 * One candidate for leadership: the real runtime, with a controller that writes its term into every ConfigMap of
 * its pair, over and over. It tells what it does on stdout, one JSON line each. `unfenced` writes past the fence:
 * what the same program would do without it.
 */
import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { configMaps } from '@slipway/api';
import { again, createClient, createLog, createTransport, KubeError, loadKubeconfig, parseKey } from '@slipway/kube';
import type { ControllerDef } from '@slipway/kube';
import { runControllers } from '@slipway/testing/run-controllers';

export interface CandidateOptions {
  kubeconfig: string;
  namespace: string;
  pair: string;
  identity: string;
  unfenced: boolean;
}

export type Report =
  | { type: 'leading'; term: number }
  | { type: 'standby' }
  | { type: 'decided'; key: string; term: number }
  | { type: 'written'; key: string }
  | { type: 'refused'; key: string; code: string };

// At once and whole: a line must not wait in a buffer while the process is frozen.
const sendReport = (report: Report): unknown => writeSync(1, `${JSON.stringify(report)}\n`);

const { kubeconfig, namespace, pair, identity, unfenced } = JSON.parse(process.argv[2] ?? '') as CandidateOptions;
const access = await loadKubeconfig([kubeconfig]);
const client = createClient(createTransport(access));
const log = createLog({ name: identity, level: 'error', pretty: false });

const writeTerm: ControllerDef = {
  name: 'write-term',
  reads: [{ resource: configMaps, namespace, labelSelector: `pair=${pair}` }],
  owns: [{ resource: configMaps }],
  workers: 2,
  async reconcile(key, context) {
    const seen = context.read(configMaps).get(key);
    const term = running.leadership?.term ?? -1;
    if (seen === undefined) return again(50);
    sendReport({ type: 'decided', key, term });
    // Between the decision and the write there is always some time, and a freeze likes to come then.
    await wait(Math.random() * 40);
    const sequence = Number(seen.data?.['sequence'] ?? 0) + 1;
    const body = { data: { term: String(term), writer: identity, sequence: String(sequence) } };
    const { resourceVersion } = seen.metadata;
    try {
      await (unfenced
        ? client.patch(configMaps, parseKey(key), { type: 'merge', body }, {})
        : context.client.patch(configMaps, parseKey(key), { type: 'merge', body }, { resourceVersion }));
    } catch (error) {
      sendReport({ type: 'refused', key, code: error instanceof KubeError ? error.code : String(error) });
      throw error;
    }
    sendReport({ type: 'written', key });
    return again(30);
  },
};

const running = runControllers(client, [writeTerm], {
  log,
  stopBoundMs: 20_000,
  election: {
    client: createClient(createTransport(access)),
    lease: { namespace, name: pair },
    identity,
    leaseMs: 1000,
    renewDeadlineMs: 700,
    retryMs: 150,
  },
});
const { leadership } = running;
leadership?.onChange((held) => sendReport(held ? { type: 'leading', term: leadership.term } : { type: 'standby' }));

// The test has gone: nobody is left to end this process.
process.stdin.on('end', () => process.exit()).resume();
