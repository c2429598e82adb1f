import { createHash, randomBytes } from 'node:crypto';
import { machineConfigPools, remoteContentAnnotation, secrets } from '@slipway/api';
import { encodeDataUrl, gzip } from '@slipway/ignition';
import type { WriteAttempt } from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import { pool, untilClean } from './remote-content/cluster.ts';
import { endless, file, merging, redirectTo, setStage, withFiles } from './remote-content/stage.ts';
import { findCondition, readFiles, findPool, renderedWith } from './render/fleet.ts';

const stage = setStage();

const remoteFile = (path = '/good', more: object = {}) => withFiles(file('/etc/file', `${stage.web.url}${path}`, more));

describe('a web server that misbehaves', () => {
  const mebibyte = 1024 * 1024;
  const limits = { singleBytes: 4 * mebibyte, totalBytes: 8 * mebibyte, timeMs: 5000 };
  let sentMebibytes = 0;

  const misbehaviours: [string, string, RegExp, () => Promise<object> | object][] = [
    [
      'sends other contents than the hash says',
      'SLW_RESOLVE_HASH',
      /hash sha256-.*set verification\.hash to it/,
      () => {
        stage.web.serve('/bad', 'tampered');
        const hash = `sha256-${createHash('sha256').update('expected').digest('hex')}`;
        return remoteFile('/bad', { verification: { hash } });
      },
    ],
    [
      'redirects in circles',
      'SLW_RESOLVE_FETCH',
      /redirects more than 5 times, which is the limit/,
      () => {
        stage.web.serve('/bad', redirectTo('/back'));
        stage.web.serve('/back', redirectTo('/bad'));
        return remoteFile('/bad');
      },
    ],
    [
      'sends a body of 10 GB',
      'SLW_RESOLVE_FETCH',
      /larger than the limit of 4194304 bytes/,
      () => {
        sentMebibytes = 0;
        stage.web.serve(
          '/bad',
          endless(() => (sentMebibytes += 1)),
        );
        return remoteFile('/bad');
      },
    ],
    [
      'sends a gzip bomb',
      'SLW_RESOLVE_LIMIT',
      /gzip/,
      async () => {
        stage.web.serve('/bad', await gzip(new Uint8Array(64 * mebibyte)));
        return remoteFile('/bad', { compression: 'gzip' });
      },
    ],
    [
      'never answers',
      'SLW_RESOLVE_FETCH',
      /did not respond in time/,
      () => {
        stage.web.serve('/bad', () => undefined);
        return { ...remoteFile('/bad'), ignition: { version: '3.4.0', timeouts: { httpResponseHeaders: 1 } } };
      },
    ],
    [
      'stops in the middle of its answer',
      'SLW_RESOLVE_TIME',
      /limit of 5000 ms/,
      () => {
        stage.web.serve(
          '/bad',
          (_, response) => void response.writeHead(200, { 'content-length': '10' }).write('half'),
        );
        return remoteFile('/bad');
      },
    ],
    [
      'has a certificate of an unknown authority',
      'SLW_RESOLVE_FETCH',
      /not signed by a trusted CA/,
      // An API server is that to everybody who does not have its kubeconfig.
      () => withFiles(file('/etc/file', `${stage.cluster.controlPlane.url}/healthz`)),
    ],
    [
      'redirects to the metadata service of a cloud',
      'SLW_RESOLVE_FETCH',
      /169\.254\.169\.254 is not allowed/,
      () => {
        stage.web.serve('/bad', redirectTo('http://169.254.169.254/latest/meta-data/iam/security-credentials/'));
        return remoteFile('/bad');
      },
    ],
    [
      'gives a config that refers to itself',
      'SLW_RESOLVE_LOOP',
      /references itself/,
      () => {
        stage.web.serve('/bad', JSON.stringify(merging(`${stage.web.url}/bad`)));
        return merging(`${stage.web.url}/bad`);
      },
    ],
  ];

  it.each(sampleCases('misbehaviours', misbehaviours, 1 / 2))(
    'and %s degrades the pool, is reported, and nothing of it is stored',
    async (_, code, message, configOf) => {
      const config = await configOf();
      stage.run({ limits, render: true });
      const { client } = stage.cluster;
      await client.create(machineConfigPools, pool);
      const renderDegraded = async () => findCondition(await findPool(client, pool.metadata.name), 'RenderDegraded');
      const before = process.memoryUsage().rss;
      await stage.cluster.create('50-bad', config);
      // Meanwhile others are served.
      await stage.cluster.create('60-good', remoteFile());
      await stage.cluster.untilState('60-good', 'ready');
      const { problems, attempts, retryAt } = await stage.cluster.untilState('50-bad', 'failed');
      expect(problems).toEqual([
        { code, field: expect.stringMatching(/^spec\.config\./), message: expect.stringMatching(message) },
      ]);
      expect(problems[0]?.message).toContain('MachineConfig 50-bad, ');
      await until(async () => {
        const condition = await renderDegraded();
        expect(condition?.status).toBe('True');
        expect(condition?.message).toBe(`${problems[0]?.message} [${code}]`);
      });
      expect(attempts).toBe(1);
      expect(Date.parse(retryAt)).toBeGreaterThan(Date.now());
      expect(await stage.cluster.secretNames('chunk')).toHaveLength(1);
      expect(sentMebibytes).toBeLessThan(64);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * mebibyte);
      await until(async () => expect(await stage.cluster.reasons('50-bad')).toEqual(['RemoteContentFailed']));
      // An edit is tried at once, whenever the next attempt would have been.
      await stage.cluster.edit('50-bad', remoteFile());
      await stage.cluster.untilState('50-bad', 'ready');
      await until(async () => expect((await renderDegraded())?.status).toBe('False'));
      const rendered = await renderedWith(client, pool.metadata.name, '50-bad');
      expect(readFiles(rendered)['/etc/file']).toMatch(/^data:/);
      await client.delete(machineConfigPools, pool.metadata, {});
    },
  );

  it('is asked again by itself, and what it put right is taken', async () => {
    stage.run();
    stage.web.serve('/late', (_, response) => void response.writeHead(403).end());
    await stage.cluster.create('50-late', remoteFile('/late'));
    await stage.cluster.untilState('50-late', 'failed');
    stage.web.serve('/late', 'here');
    const index = await stage.cluster.index('50-late');
    // The half minute is over now.
    const body = { metadata: { annotations: { 'slipway.dev/retry-at': new Date().toISOString() } } };
    await stage.cluster.client.patch(secrets, index?.metadata ?? { name: '' }, { type: 'merge', body }, {});
    expect(await stage.cluster.load('50-late')).toEqual({ '/etc/file': 'data:,here' });
  });
});

describe('a controller that dies', () => {
  it('between any two of its writes leaves nothing that the next one does not put right', async () => {
    const body = randomBytes(900_000);
    stage.web.serve('/large', body);
    const config = remoteFile('/large');
    const digests = new Set<string>();
    let fatal = 1;
    for (let died = true; died; fatal += 1) {
      const writes = new Set<WriteAttempt>();
      stage.run({
        guard: (attempt) => {
          writes.add(attempt);
          if (writes.size >= fatal) throw new Error('the process has died');
        },
      });
      const name = `50-killed-${fatal}`;
      await stage.cluster.create(name, config);
      await until(async () => {
        const { metadata } = await stage.cluster.get(name);
        expect(writes.size >= fatal || metadata.annotations?.[remoteContentAnnotation] !== undefined).toBe(true);
      });
      died = writes.size >= fatal;
      await stage.restart();
      expect(await stage.cluster.load(name)).toEqual({ '/etc/file': encodeDataUrl(body) });
      digests.add((await stage.cluster.untilState(name, 'ready')).digest);
      await until(async () => {
        expect((await stage.cluster.get(name)).metadata.annotations).toHaveProperty([remoteContentAnnotation]);
      });
      expect(await stage.cluster.secretNames('chunk')).toHaveLength(2);
      expect(await stage.cluster.secretNames('index')).toHaveLength(1);
      await untilClean(stage.cluster);
      await stage.stopAll();
    }
    // Two chunks, the index, the annotation; and once nothing was in its way.
    expect(fatal).toBe(6);
    expect(digests.size).toBe(1);
  });
});
