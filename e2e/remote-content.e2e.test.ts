import { machineConfigs, poolLabel, remoteContentAnnotation, secrets } from '@slipway/api';
import { loadSnapshot } from '@slipway/fleet/remote-content';
import { gzip } from '@slipway/ignition';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { NAMESPACE } from './remote-content/cluster.ts';
import { file, merging, setStage, withFiles } from './remote-content/stage.ts';

const stage = setStage();

const remoteFile = (path = '/good', more: object = {}) => withFiles(file('/etc/file', `${stage.web.url}${path}`, more));

/** Makes a config another one, with the same contents. */
const header = (round: number) => [{ name: 'X-Round', value: String(round) }];

/** A run has worked off all that was there before, once something that came later is done. */
async function untilIdle(name: string): Promise<void> {
  stage.web.serve(`/${name}`, name);
  await stage.cluster.create(name, remoteFile(`/${name}`));
  await stage.cluster.untilState(name, 'ready');
}

describe('remote content', () => {
  it('is stored with everything that merged configs bring, and is the content that was served', async () => {
    stage.web.serve('/motd', 'hello');
    stage.web.serve(
      '/base.ign',
      JSON.stringify({ ...merging(`${stage.web.url}/nested.ign`), passwd: { users: [{ name: 'core' }] } }),
    );
    stage.web.serve('/nested.ign', JSON.stringify(remoteFile('/motd')));
    stage.run();
    await stage.cluster.create('50-merged', merging(`${stage.web.url}/base.ign`));
    expect(await stage.cluster.load('50-merged')).toEqual({ '/etc/file': 'data:,hello' });
    await until(async () => {
      const { metadata } = await stage.cluster.get('50-merged');
      expect(metadata.annotations?.[remoteContentAnnotation]).toMatch(new RegExp(`^${metadata.uid}/1/-/[0-9a-f]{64}$`));
    });
    const [index] = await stage.cluster.secretNames('index');
    expect(await stage.cluster.client.get(secrets, { namespace: NAMESPACE, name: index ?? '' })).not.toHaveProperty(
      'data',
    );
  });

  it('is never fetched again by a restart, by the edit of another MachineConfig, or while its server is gone', async () => {
    stage.run();
    await stage.cluster.create('50-static', remoteFile());
    const before = await stage.cluster.untilState('50-static', 'ready');
    await stage.restart();
    await untilIdle('60-other');
    await stage.cluster.edit('60-other', remoteFile('/good'));
    await stage.cluster.untilState('60-other', 'ready');
    // Once for each of the three states.
    expect(stage.web.requests.length).toBe(3);
    await stage.web.stop();
    stage.web.serve('/good', 'changed');
    await stage.restart();
    await stage.cluster.create('70-dead', remoteFile());
    await stage.cluster.untilState('70-dead', 'failed');
    expect(await stage.cluster.state('50-static')).toEqual(before);
    expect(await stage.cluster.load('50-static')).toEqual({ '/etc/file': 'data:,good' });
    await stage.web.start();
  });

  it('is fetched again when its user asks for it, and a refresh that fails can be taken back', async () => {
    stage.run();
    await stage.cluster.create('50-refreshed', remoteFile());
    const first = await stage.cluster.untilState('50-refreshed', 'ready');
    stage.web.serve('/good', 'better');
    await stage.cluster.refresh('50-refreshed', 'monday');
    await until(async () => expect(await stage.cluster.load('50-refreshed')).toEqual({ '/etc/file': 'data:,better' }));
    const second = await stage.cluster.untilState('50-refreshed', 'ready');
    expect(second.digest).not.toBe(first.digest);
    await until(async () => expect(await stage.cluster.secretNames('chunk')).toHaveLength(1));
    await stage.web.stop();
    await stage.cluster.refresh('50-refreshed', 'tuesday');
    await stage.cluster.untilState('50-refreshed', 'failed');
    await stage.cluster.refresh('50-refreshed', 'monday');
    expect(await stage.cluster.untilState('50-refreshed', 'ready')).toEqual(second);
    expect(stage.web.requests.length).toBe(2);
    await stage.web.start();
  });

  it('shared by two MachineConfigs is stored once, and stays until the last of them is gone or without it', async () => {
    stage.run();
    await stage.cluster.create('50-one', remoteFile());
    await stage.cluster.create('50-two', remoteFile());
    const { digest } = await stage.cluster.untilState('50-one', 'ready');
    expect(await stage.cluster.untilState('50-two', 'ready')).toMatchObject({ digest });
    expect(await stage.cluster.secretNames('chunk')).toHaveLength(1);
    await stage.cluster.client.delete(machineConfigs, { name: '50-one' }, {});
    await until(async () => expect(await stage.cluster.secretNames('index')).toHaveLength(1));
    await untilIdle('60-later');
    expect(await stage.cluster.load('50-two')).toEqual({ '/etc/file': 'data:,good' });
    await stage.cluster.edit('50-two', withFiles(file('/etc/file', 'data:,own')));
    await until(async () => {
      expect(await stage.cluster.secretNames('chunk')).toHaveLength(1);
      expect((await stage.cluster.get('50-two')).metadata.annotations ?? {}).not.toHaveProperty([
        remoteContentAnnotation,
      ]);
    });
    expect(await stage.cluster.index('50-two')).toBeUndefined();
  });

  it('is lost by none of the MachineConfigs that share it, however they come and go', async () => {
    stage.web.serve('/other', 'other');
    stage.run();
    const names = ['50-a', '50-b', '50-c', '50-d'];
    for (const name of names) await stage.cluster.create(name, remoteFile());
    for (let round = 1; round <= 10; round += 1) {
      const edits = names.map((name, number) =>
        stage.cluster.edit(
          name,
          remoteFile((number + round) % 2 === 0 ? '/good' : '/other', { httpHeaders: header(round) }),
        ),
      );
      await Promise.all(edits);
      const [fastest = ''] = names;
      await stage.cluster.untilState(fastest, 'ready');
    }
    for (const [number, name] of names.entries()) {
      expect(await stage.cluster.load(name)).toEqual({ '/etc/file': number % 2 === 0 ? 'data:,good' : 'data:,other' });
      expect(await stage.cluster.reasons(name)).not.toContain('RemoteContentLost');
      expect(await stage.cluster.reasons(name)).not.toContain('RemoteContentRecovered');
    }
    await until(async () => expect(await stage.cluster.secretNames('chunk')).toHaveLength(2));
  });

  it('never shows in logs, events or annotations: no content, no header, no credential, no query', async () => {
    const secret = 'v3ryS3cret';
    const headers = { httpHeaders: [{ name: 'Authorization', value: `Bearer ${secret}` }] };
    const source = `${stage.web.url.replace('//', `//core:${secret}@`)}/private?token=${secret}`;
    stage.web.serve('/private', secret);
    const controller = stage.run();
    await stage.cluster.create('50-secret', withFiles(file('/etc/file', source, headers)));
    await stage.cluster.untilState('50-secret', 'ready');
    await stage.cluster.create('50-refused', withFiles(file('/etc/file', source.replace('private', 'gone'), headers)));
    await stage.cluster.untilState('50-refused', 'failed');
    const reasons = await until(async () => {
      const all = [...(await stage.cluster.events('50-secret')), ...(await stage.cluster.events('50-refused'))];
      expect(all).toHaveLength(2);
      return all;
    });
    expect(reasons.map(({ reason }) => reason)).toEqual(['RemoteContentFetched', 'RemoteContentFailed']);
    const indexes = [await stage.cluster.index('50-secret'), await stage.cluster.index('50-refused')];
    expect(`${controller.log()}${JSON.stringify([reasons, indexes])}`).not.toContain(secret);
  });
});

describe('a stored snapshot that somebody damaged', () => {
  const deleteSecret = (name: string): Promise<void> =>
    stage.cluster.client.delete(secrets, { namespace: NAMESPACE, name }, {});
  const chunk = async (): Promise<string> => (await stage.cluster.secretNames('chunk'))[0] ?? '';

  async function untilRemembered(name: string): Promise<void> {
    await until(async () =>
      expect((await stage.cluster.get(name)).metadata.annotations).toHaveProperty([remoteContentAnnotation]),
    );
  }

  it('is lost with its chunk, says so, and is not fetched again until its user asks for it', async () => {
    stage.run();
    await stage.cluster.create('50-lost', remoteFile());
    await stage.cluster.untilState('50-lost', 'ready');
    await untilRemembered('50-lost');
    stage.web.serve('/good', 'changed');
    await deleteSecret(await chunk());
    const { message } = await stage.cluster.untilState('50-lost', 'lost');
    expect(message).toMatch(/is missing.*slipway\.dev\/refresh-remote-content/);
    await until(async () => {
      expect(await stage.cluster.reasons('50-lost')).toContain('RemoteContentLost');
    });
    await stage.restart();
    await untilIdle('60-later');
    expect(await stage.cluster.state('50-lost')).toMatchObject({ state: 'lost' });
    expect(stage.web.requests.length).toBe(2);
    await stage.cluster.refresh('50-lost', 'now');
    await until(async () => expect(await stage.cluster.load('50-lost')).toEqual({ '/etc/file': 'data:,changed' }));
  });

  it('whose index alone is gone is found again by its chunks', async () => {
    stage.run();
    await stage.cluster.create('50-index', remoteFile());
    const before = await stage.cluster.untilState('50-index', 'ready');
    await untilRemembered('50-index');
    await deleteSecret((await stage.cluster.secretNames('index'))[0] ?? '');
    expect(await stage.cluster.untilState('50-index', 'ready')).toEqual(before);
    expect(stage.web.requests.length).toBe(1);
  });

  it('whose index was deleted together with its chunks is lost', async () => {
    const first = stage.run();
    await stage.cluster.create('50-all', remoteFile());
    await stage.cluster.untilState('50-all', 'ready');
    await untilRemembered('50-all');
    await first.stop();
    await deleteSecret((await stage.cluster.secretNames('index'))[0] ?? '');
    await deleteSecret(await chunk());
    await stage.restart();
    await stage.cluster.untilState('50-all', 'lost');
    expect(stage.web.requests.length).toBe(1);
  });

  it('is recovered from a rendered config, and only from the right contents', async () => {
    stage.run();
    await stage.cluster.create('50-rendered', remoteFile());
    const before = await stage.cluster.untilState('50-rendered', 'ready');
    await untilRemembered('50-rendered');
    const labels = { [poolLabel]: 'worker' };
    const rendered = (name: string, text: string) =>
      stage.cluster.client.create(machineConfigs, {
        metadata: { name: `rendered-worker-${name}`, labels },
        spec: { config: { ...withFiles(file('/etc/file', `data:,${text}`)) } },
      });
    await rendered('older', 'other');
    await rendered('newer', 'good');
    await deleteSecret(await chunk());
    await until(async () => {
      expect(await stage.cluster.reasons('50-rendered')).toContain('RemoteContentRecovered');
    });
    expect(await stage.cluster.untilState('50-rendered', 'ready')).toEqual(before);
    expect(await stage.cluster.load('50-rendered')).toEqual({ '/etc/file': 'data:,good' });
    expect(stage.web.requests.length).toBe(1);
  });

  it('is refused when it was replaced by something else, and put right by a refresh', async () => {
    const first = stage.run();
    await stage.cluster.create('50-forged', remoteFile());
    const state = await stage.cluster.untilState('50-forged', 'ready');
    await untilRemembered('50-forged');
    await first.stop();
    const name = await chunk();
    const { metadata } = await stage.cluster.client.get(secrets, { namespace: NAMESPACE, name });
    await deleteSecret(name);
    const { labels = {}, annotations = {} } = metadata;
    const data = { chunk: Buffer.from(await gzip(Buffer.from('{"forged":true}'))).toString('base64') };
    await stage.cluster.client.create(secrets, { metadata: { name, namespace: NAMESPACE, labels, annotations }, data });
    expect(await loadSnapshot(stage.cluster.client, NAMESPACE, state)).toMatchObject({
      ok: false,
      lost: true,
      message: expect.stringContaining('damaged'),
    });
    await stage.restart();
    await stage.cluster.refresh('50-forged', 'now');
    await until(async () => expect(await stage.cluster.load('50-forged')).toEqual({ '/etc/file': 'data:,good' }));
  });
});
