import { gunzipSync } from 'node:zlib';
import type { MachineConfig } from '@slipway/api';
import { hasErrors, parse, SPEC_VERSIONS, validate } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { prepareAnswers } from './prepared-answers.ts';

const node = { kubeconfig: 'kind: Config\n', caBundle: 'CA\n' };
const name = `rendered-worker-${'0'.repeat(32)}`;
const machineConfig = (config: object = {}): MachineConfig => ({
  metadata: { name },
  spec: { config: { ignition: { version: '3.5.0' }, ...config } },
});
const file = { path: '/etc/motd', contents: { source: 'data:,hi' } };

describe('prepared answers', () => {
  it.each(SPEC_VERSIONS)('contain the config in %s, plain and compressed', async (version) => {
    const answers = await prepareAnswers(machineConfig({ storage: { files: [file] } }), node);
    const answer = await answers.answerIn(version);
    if (!answer.ok) throw new Error(answer.message);
    const { config } = parse(answer.plain);
    expect(config?.ignition.version).toBe(version);
    expect(config === null || hasErrors(validate(config))).toBe(false);
    expect(config?.storage?.files?.map(({ path }) => path)).toEqual([
      '/etc/motd',
      '/etc/machine-config-daemon/node-annotations.json',
      '/etc/kubernetes/kubeconfig',
      '/etc/kubernetes/ca.crt',
      '/etc/ignition-machine-config-encapsulated.json',
    ]);
    expect(gunzipSync(answer.gzip)).toEqual(answer.plain);
  });

  it('are prepared once, however many clients request them', async () => {
    const answers = await prepareAnswers(machineConfig(), node);
    const before = answers.size();
    const asked = await Promise.all([answers.answerIn('3.1.0'), answers.answerIn('3.1.0'), answers.answerIn('3.1.0')]);
    expect(new Set(asked).size).toBe(1);
    const [answer] = asked;
    if (!answer.ok) throw new Error(answer.message);
    expect(answers.size() - before).toBe(answer.plain.length + answer.gzip.length);
  });

  it('name the field that an older version cannot express, and still serve the newer ones', async () => {
    const answers = await prepareAnswers(machineConfig({ kernelArguments: { shouldExist: ['quiet'] } }), node);
    expect(await answers.answerIn('3.2.0')).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /^MachineConfig rendered-worker-0+ cannot be expressed in spec 3\.2\.0: kernelArguments/,
      ),
    });
    expect(await answers.answerIn('3.3.0')).toMatchObject({ ok: true });
  });

  it('cannot be prepared for a config that conflicts with the files of a node', async () => {
    const links = [{ path: '/etc/kubernetes', target: '/var/kubernetes' }];
    await expect(prepareAnswers(machineConfig({ storage: { links } }), node)).rejects.toMatchObject({
      code: 'SLW_SERVER_PREPARE',
      message: expect.stringContaining('/etc/kubernetes'),
    });
  });

  it('are equal for equal inputs', async () => {
    const [a, b] = await Promise.all([prepareAnswers(machineConfig(), node), prepareAnswers(machineConfig(), node)]);
    expect(await a.answerIn('3.5.0')).toEqual(await b.answerIn('3.5.0'));
  });
});
