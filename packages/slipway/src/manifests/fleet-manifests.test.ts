import { describe, expect, it } from 'vitest';
import { parseDocuments } from './documents.ts';
import { collectManifests } from './fleet-manifests.ts';

const GROUP = 'machineconfiguration.openshift.io';
const machineConfig = (name: string, more: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfig',
  metadata: { name },
  ...more,
});
const pool = (name: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfigPool',
  metadata: { name },
  spec: {},
});
const osImages = (data: object, namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'machine-config-osimageurl', ...(namespace === undefined ? {} : { namespace }) },
  data,
});
const collect = (...values: unknown[]) =>
  collectManifests(parseDocuments('f.yaml', values.map((value) => JSON.stringify(value)).join('\n---\n')).documents);

const listProblems = (...values: unknown[]) => {
  const collected = collect(...values);
  return collected.ok ? [] : collected.problems.map(({ message }) => message);
};

describe('the manifests of a fleet', () => {
  it('are its MachineConfigs, pools and OS images; other objects are counted', () => {
    const collected = collect(
      machineConfig('99-a'),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      pool('worker'),
      { kind: 'MachineConfig', apiVersion: 'example.com/v1' },
      { a: 1 },
      'text',
      osImages({ baseOSContainerImage: 'os@sha256:1', baseOSExtensionsContainerImage: 'x@sha256:2' }),
    );
    expect(collected).toMatchObject({
      ok: true,
      manifests: {
        machineConfigs: [{ metadata: { name: '99-a' } }],
        pools: [{ metadata: { name: 'worker' } }],
        osImages: { osImageURL: 'os@sha256:1', baseOSExtensionsContainerImage: 'x@sha256:2' },
        ignored: new Map([
          ['Secret', 1],
          ['MachineConfig', 1],
          ['no kind', 2],
        ]),
      },
    });
  });

  it('include OS images only from the operator’s namespace', () => {
    const collected = collect(pool('worker'), osImages({ baseOSContainerImage: 'x' }, 'elsewhere'));
    expect(collected).toMatchObject({ ok: true, manifests: { osImages: undefined } });
  });

  it('may be a dump of a cluster, including fields that the API server set', () => {
    const metadata = {
      name: 'worker',
      uid: 'u',
      resourceVersion: '1',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }],
    };
    expect(collect({ ...pool('worker'), metadata, status: { machineCount: 3, conditions: [] } })).toMatchObject({
      ok: true,
    });
  });

  it.each<[string, unknown[], string[]]>([
    [
      'a field of the wrong type names file, line, object and field',
      [pool('worker'), machineConfig('99-a', { spec: { kernelArguments: 'nosmt' } })],
      ['f.yaml, line 3: MachineConfig 99-a, spec.kernelArguments: must be a list, not "nosmt"'],
    ],
    [
      'labels that are not strings',
      [machineConfig('99-a', { metadata: { name: '99-a', labels: { role: 5 } } })],
      ['f.yaml, line 1: MachineConfig 99-a, metadata.labels.role: must be a string, not 5; write it in quotes'],
    ],
    [
      'an object without a name',
      [{ ...machineConfig(''), metadata: {} }],
      ['f.yaml, line 1: MachineConfig, metadata.name: is required'],
    ],
    [
      'the same object twice',
      [machineConfig('99-a'), machineConfig('99-a')],
      ['f.yaml, line 3: MachineConfig 99-a is already in f.yaml, line 1; remove one of them'],
    ],
    [
      'an image that is not a string',
      [osImages({ baseOSContainerImage: 5 })],
      ['f.yaml, line 1: ConfigMap machine-config-osimageurl, data.baseOSContainerImage: must be an image in quotes'],
    ],
  ])('%s', (_, values, problems) => {
    expect(listProblems(...values)).toEqual(problems);
  });
});
