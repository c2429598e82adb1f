// The verdicts of a real API server on the table of mistakes, for a user who may create these kinds and no more.
import { kinds } from '@slipway/api';
import type { Resource } from '@slipway/kube';
import { startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { grant } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiServer, connectTo } from './api-server.ts';
import { allCases } from './cases.ts';

const USER = 'mistake-maker';

let cluster: TestCluster;
let server: ApiServer;
beforeAll(async () => {
  cluster = await startTestCluster();
  const resources = kinds.map(({ group, kind, plural, namespaced }): Resource => ({
    group,
    version: 'v1',
    kind,
    plural,
    namespaced,
  }));
  await grant(cluster.admin, USER, resources, ['create']);
  server = await connectTo(await cluster.controlPlane.kubeconfigFor({ user: USER, groups: [], name: USER }));
  const correct = allCases.filter(({ id }) => id === 'ok-file');
  // Refused until the server knows the grant.
  await until(() => Promise.all(correct.map((each) => server.judge(each))));
}, 120_000);
afterAll(async () => {
  server.close();
  await cluster.stop();
});

it('the API server gives each mistake the verdict of server.txt', async () => {
  const lines: string[] = [];
  for (const mistake of allCases) lines.push(`${mistake.id}: ${await server.judge(mistake)}`);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('server.txt');
});
