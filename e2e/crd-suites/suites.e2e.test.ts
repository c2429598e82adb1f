import { join } from 'node:path';
import { startControlPlane, type ControlPlane } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectToCluster, type Cluster } from './cluster.ts';
import { runSuites, suiteLines, summary, type RunOptions } from './run-suites.ts';

// A control plane of its own: the suites are about CRDs alone, and elsewhere policies are in force.
let controlPlane: ControlPlane;
let cluster: Cluster;

beforeAll(async () => {
  controlPlane = await startControlPlane();
  cluster = await connectToCluster(controlPlane.kubeconfig);
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await controlPlane?.stop();
});

async function run(directory: string, options: RunOptions): Promise<{ cases: number; wrong: string[] }> {
  const results = await runSuites(directory, cluster, options);
  const cases = results.flatMap((result) => result.cases);
  console.log(`CRD suites in ${directory}: ${summary(cases)}`);
  return {
    cases: cases.length,
    wrong: results
      .filter((result) => result.cases.some(({ wrong }) => wrong))
      .flatMap((result) => suiteLines(result, false)),
  };
}

describe('on a real kube-apiserver our CRDs accept, refuse, default and drop', () => {
  it('as our own cases say, in our own words', { timeout: 300_000 }, async () => {
    const { cases, wrong } = await run(join(import.meta.dirname, 'cases'), { wording: 'exact' });
    expect(wrong).toStrictEqual([]);
    expect(cases).toBeGreaterThan(200);
  });

  // Suites of the same format that stand elsewhere: SLIPWAY_CRD_SUITES=DIRECTORY npm test -- crd-suites
  const elsewhere = process.env['SLIPWAY_CRD_SUITES'] ?? '';
  for (const directory of elsewhere === '' ? [] : [elsewhere]) {
    it(`as the suites in ${directory} say`, { timeout: 300_000 }, async () => {
      const { cases, wrong } = await run(directory, { wording: 'place' });
      expect(wrong).toStrictEqual([]);
      expect(cases).toBeGreaterThan(0);
    });
  }
});
