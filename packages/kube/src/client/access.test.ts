import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { describe, expect, it } from 'vitest';
import { makeScratch } from '../testing/scratch.ts';
import { inCluster } from './access.ts';

const { cert } = await makeSelfSigned('ca');
const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

async function mount(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
}

describe('the pod’s service account', () => {
  it('uses the token, CA and namespace that the kubelet has mounted', async () => {
    await using scratch = await makeScratch();
    await mount(scratch.path, { token: 'abc\n', 'ca.crt': cert, namespace: 'here\n' });
    const access = await inCluster(env, scratch.path);
    expect(access).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'here' });
    expect(await access?.ca()).toBe(cert);
    expect(await access?.credentials.current()).toEqual({ token: 'abc' });
  });

  it('uses an IPv6 address if the cluster has one', async () => {
    await using scratch = await makeScratch();
    await mount(scratch.path, { token: 'abc', 'ca.crt': cert, namespace: 'here' });
    const access = await inCluster({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, scratch.path);
    expect(access?.server).toBe('https://[fd00::1]:443');
  });

  it.each<[string, NodeJS.ProcessEnv, Record<string, string>]>([
    ['outside a pod', {}, { token: 'abc' }],
    ['in a pod without a token', env, {}],
  ])('is absent %s', async (_, where, files) => {
    await using scratch = await makeScratch();
    await mount(scratch.path, files);
    expect(await inCluster(where, scratch.path)).toBeUndefined();
  });

  it('with a CA that is not PEM is reported in one line', async () => {
    await using scratch = await makeScratch();
    await mount(scratch.path, { token: 'abc', 'ca.crt': 'CA', namespace: 'here' });
    await expect(inCluster(env, scratch.path)).rejects.toMatchObject({
      code: 'SLW_KUBE_CONFIG_INVALID',
      message: expect.stringContaining('ca.crt: expected PEM certificates, found something else'),
    });
  });

  it('that is only partly mounted is reported in one line', async () => {
    await using scratch = await makeScratch();
    await mount(scratch.path, { token: 'abc', namespace: 'here' });
    await expect(inCluster(env, scratch.path)).rejects.toMatchObject({
      code: 'SLW_KUBE_CONFIG_INVALID',
      message: expect.stringContaining(`${join(scratch.path, 'ca.crt')} cannot be read`),
    });
  });
});
