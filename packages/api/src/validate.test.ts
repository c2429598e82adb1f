import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kind } from './kind.ts';
import { kinds } from './kinds.ts';
import { machineConfigPoolKind } from './machineconfiguration/machine-config-pool.ts';
import { machineConfigKind } from './machineconfiguration/machine-config.ts';
import { osImageStreamKind } from './machineconfiguration/os-image-stream.ts';
import { pinnedImageSetKind } from './machineconfiguration/pinned-image-set.ts';
import { bareMetalHostKind } from './metal3/bare-metal-host.ts';
import { machineConfigurationKind } from './operator/machine-configuration.ts';
import type { SchemaNode } from './schema.ts';
import { validate } from './validate.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const leaves: Record<string, fc.Arbitrary<unknown>> = {
  string: fc.oneof(fc.string(), fc.constantFrom('a.service', '4.18.2', 'registry.example.com/a@sha256:0', '/a/host/b')),
  integer: fc.integer({ min: -1, max: 5 }),
  number: fc.double(),
  boolean: fc.boolean(),
};

/** Values that match a schema, or nearly: they reach rules that random JSON never reaches. */
function almost(node: SchemaNode): fc.Arbitrary<unknown> {
  const fitting = (): fc.Arbitrary<unknown> => {
    if (node.enum !== undefined) return fc.constantFrom(...node.enum);
    if (node.type === 'array') return fc.array(almost(node.items ?? {}), { maxLength: 2 });
    if (node.type !== 'object') return leaves[node.type ?? ''] ?? fc.jsonValue();
    const properties = Object.entries(node.properties ?? {}).map(
      ([name, property]) => [name, almost(property)] as const,
    );
    return fc.record(Object.fromEntries(properties), { requiredKeys: [...(node.required ?? [])] });
  };
  return fc.oneof({ weight: 30, arbitrary: fitting() }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });
}

const digest = `sha256:${'0'.repeat(64)}`;

const buildPool = (fields: object) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'infra' },
  ...fields,
});

const buildStream = (version: string, fields: object, name = 'cluster') => ({
  apiVersion: `machineconfiguration.openshift.io/${version}`,
  kind: 'OSImageStream',
  metadata: { name },
  ...fields,
});

const buildConfiguration = (spec: object) => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  metadata: { name: 'cluster' },
  spec,
});

const buildPinnedImageSet = (...names: unknown[]) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'PinnedImageSet',
  metadata: { name: 'base' },
  spec: { pinnedImages: names.map((name) => ({ name })) },
});

describe('a valid object is returned as the server would store it', () => {
  it.each<[string, Kind, object, object]>([
    [
      'an unknown field is dropped',
      machineConfigPoolKind,
      buildPool({ spec: { paused: true, pause: true }, extra: 1 }),
      buildPool({ spec: { paused: true } }),
    ],
    [
      'a null is dropped unless the field is nullable',
      machineConfigKind,
      { ...buildPool({ spec: { fips: null, kernelArguments: null } }), kind: 'MachineConfig' },
      { ...buildPool({ spec: { kernelArguments: null } }), kind: 'MachineConfig' },
    ],
    [
      'defaults are filled in, in nested fields too',
      bareMetalHostKind,
      {
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BareMetalHost',
        metadata: { name: 'a', namespace: 'b' },
        spec: { online: true, raid: { softwareRAIDVolumes: [{ level: '1' }] } },
      },
      {
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BareMetalHost',
        metadata: { name: 'a', namespace: 'b' },
        spec: {
          online: true,
          raid: { softwareRAIDVolumes: [{ level: '1', rootVolume: false }] },
          automatedCleaningMode: 'metadata',
        },
      },
    ],
    [
      'a free-form field is kept unchanged',
      machineConfigKind,
      { ...buildPool({ spec: { config: { ignition: { version: '3.5.0', odd: null } } } }), kind: 'MachineConfig' },
      { ...buildPool({ spec: { config: { ignition: { version: '3.5.0', odd: null } } } }), kind: 'MachineConfig' },
    ],
    [
      'each version has its own schema',
      osImageStreamKind,
      buildStream('v1alpha1', { spec: {} }),
      buildStream('v1alpha1', { spec: {} }),
    ],
  ])('%s', (_, kind, given, stored) => {
    expect(validate(kind, given)).toStrictEqual({ ok: true, object: stored });
  });

  it('a label named __proto__ is an ordinary label', () => {
    const pool: unknown = JSON.parse(
      JSON.stringify(buildPool({ spec: { nodeSelector: { matchLabels: {} } } })).replace('{}', '{"__proto__":"x"}'),
    );
    const result = validate(machineConfigPoolKind, pool);
    expect(JSON.stringify(result)).toContain('"matchLabels":{"__proto__":"x"}');
  });

  it('the input is not modified', () => {
    const given = buildPool({ spec: { paused: null } });
    validate(machineConfigPoolKind, given);
    expect(given).toStrictEqual(buildPool({ spec: { paused: null } }));
  });
});

describe('an invalid object is rejected with the path of the problem', () => {
  it.each<[string, Kind, unknown, string, string]>([
    ['not an object', machineConfigPoolKind, [], '', 'must be an object of kind MachineConfigPool, not a list'],
    [
      'another API group',
      machineConfigPoolKind,
      { ...buildPool({ spec: {} }), apiVersion: 'v1' },
      'apiVersion',
      'must be machineconfiguration.openshift.io/v1, not "v1"',
    ],
    [
      'another kind',
      machineConfigPoolKind,
      { ...buildPool({ spec: {} }), kind: 'Pool' },
      'kind',
      'must be MachineConfigPool, not "Pool"',
    ],
    ['no name', machineConfigPoolKind, { ...buildPool({ spec: {} }), metadata: {} }, 'metadata.name', 'is required'],
    [
      'a name that YAML reads as a number',
      machineConfigPoolKind,
      { ...buildPool({ spec: {} }), metadata: { name: 98 } },
      'metadata.name',
      'must be a non-empty string, not 98; write it in quotes',
    ],
    [
      'no kind',
      machineConfigPoolKind,
      { ...buildPool({ spec: {} }), kind: undefined },
      'kind',
      'must be MachineConfigPool, but is missing',
    ],
    ['a missing field', machineConfigPoolKind, buildPool({}), 'spec', 'is required'],
    ['a null instead of an object', machineConfigPoolKind, buildPool({ spec: null }), 'spec', 'is required'],
    [
      'the wrong type',
      machineConfigPoolKind,
      buildPool({ spec: { paused: 'yes' } }),
      'spec.paused',
      'must be true or false, not "yes"',
    ],
    [
      'neither count nor percentage',
      machineConfigPoolKind,
      buildPool({ spec: { maxUnavailable: 1.5 } }),
      'spec.maxUnavailable',
      'must be a whole number or a string, not 1.5',
    ],
    [
      'a null in a list',
      machineConfigPoolKind,
      buildPool({ spec: { pinnedImageSets: [null] } }),
      'spec.pinnedImageSets[0]',
      'must be an object, not null',
    ],
    [
      'a string that is not one of the choices',
      machineConfigurationKind,
      buildConfiguration({ logLevel: 'Loud' }),
      'spec.logLevel',
      'must be one of "", "Normal", "Debug", "Trace", "TraceAll", not "Loud"',
    ],
    [
      'text that is too short',
      machineConfigPoolKind,
      buildPool({ spec: { osImageStream: { name: '' } } }),
      'spec.osImageStream.name',
      'must not be empty (at most 253 characters)',
    ],
    [
      'text against a pattern',
      machineConfigurationKind,
      buildConfiguration({ managementState: 'On' }),
      'spec.managementState',
      'must be one of Managed, Unmanaged, Force, Removed, not "On"',
    ],
    [
      'a number below its minimum',
      machineConfigPoolKind,
      buildPool({
        spec: {},
        status: {
          poolSynchronizersStatus: [
            {
              poolSynchronizerType: 'PinnedImageSets',
              machineCount: -1,
              updatedMachineCount: 0,
              readyMachineCount: 0,
              availableMachineCount: 0,
              unavailableMachineCount: 0,
            },
          ],
        },
      }),
      'status.poolSynchronizersStatus[0].machineCount',
      'must be at least 0, not -1',
    ],
    [
      'a number beyond 32 bits',
      machineConfigurationKind,
      buildConfiguration({ failedRevisionLimit: 2 ** 31 }),
      'spec.failedRevisionLimit',
      'must be a 32-bit integer, not 2147483648',
    ],
    [
      'an invalid time',
      machineConfigPoolKind,
      buildPool({ spec: {}, status: { conditions: [{ lastTransitionTime: 'yesterday' }] } }),
      'status.conditions[0].lastTransitionTime',
      'must be a time such as 2026-01-31T12:00:00Z, not "yesterday"',
    ],
    [
      'an empty list',
      pinnedImageSetKind,
      buildPinnedImageSet(),
      'spec.pinnedImages',
      'must have 1 to 500 entries, has 0',
    ],
    [
      'a duplicate entry of a list map',
      pinnedImageSetKind,
      buildPinnedImageSet(`a.example.com/b@${digest}`, `a.example.com/b@${digest}`),
      'spec.pinnedImages[1]',
      `repeats an earlier entry: "a.example.com/b@${digest.slice(0, 63)}…"; keep one`,
    ],
    [
      'a duplicate value in a set',
      machineConfigurationKind,
      buildConfiguration({ irreconcilableValidationOverrides: { storage: ['Raid', 'Raid'] } }),
      'spec.irreconcilableValidationOverrides.storage[1]',
      'repeats an earlier entry: "Raid"; keep one',
    ],
    [
      'an empty object',
      machineConfigurationKind,
      buildConfiguration({ irreconcilableValidationOverrides: {} }),
      'spec.irreconcilableValidationOverrides',
      'must have at least 1 field, has 0',
    ],
    [
      'a label that is not a string',
      machineConfigPoolKind,
      buildPool({ spec: { nodeSelector: { matchLabels: { 'example.com/a': 1 } } } }),
      'spec.nodeSelector.matchLabels["example.com/a"]',
      'must be a string, not 1; write it in quotes',
    ],
    [
      'a rule',
      pinnedImageSetKind,
      buildPinnedImageSet('registry.example.com/app:latest@sha256:x'),
      'spec.pinnedImages[0].name',
      "must name the image by digest: it must end with '@sha256:' and 64 lower case hexadecimal digits, not with a tag",
    ],
    [
      'a rule with a field path',
      machineConfigurationKind,
      buildConfiguration({ bootImageSkewEnforcement: { mode: 'Manual' } }),
      'spec.bootImageSkewEnforcement.manual',
      'manual is required when mode is Manual, and must be absent otherwise',
    ],
    [
      'a rule about the name',
      osImageStreamKind,
      buildStream('v1', { spec: { defaultStream: 'a' } }, 'mine'),
      '',
      "only one OSImageStream may exist, and its name must be 'cluster'",
    ],
    [
      'a field that v1 requires',
      osImageStreamKind,
      buildStream('v1', { spec: {} }),
      'spec.defaultStream',
      'is required',
    ],
  ])('%s', (_, kind, value, path, message) => {
    const result = validate(kind, value);
    expect(result.ok ? [] : result.problems).toContainEqual({ path, message });
  });

  it('entries that differ only in their last character are not duplicates', () => {
    const [first, second] = [`sha256:${'0'.repeat(63)}1`, `sha256:${'0'.repeat(63)}2`];
    expect(
      validate(pinnedImageSetKind, buildPinnedImageSet(`a.example.com/b@${first}`, `a.example.com/b@${second}`)).ok,
    ).toBe(true);
  });

  it('rules do not run on values that do not match the schema', () => {
    expect(validate(pinnedImageSetKind, buildPinnedImageSet(7))).toStrictEqual({
      ok: false,
      problems: [{ path: 'spec.pinnedImages[0].name', message: 'must be a string, not 7; write it in quotes' }],
    });
  });

  it('at most 50 problems are reported', () => {
    const result = validate(
      pinnedImageSetKind,
      buildPinnedImageSet(...Array.from({ length: 1000 }, (_, index) => index)),
    );
    expect(result.ok ? 0 : result.problems.length).toBe(50);
  });
});

describe('untrusted input', () => {
  const anyKind = fc.constantFrom(...kinds);

  it('never makes it throw', () => {
    fc.assert(
      fc.property(anyKind, fc.jsonValue(), fc.jsonValue(), (kind, spec, status) => {
        const apiVersion = `${kind.group}/${kind.versions[0].name}`;
        const result = validate(kind, { apiVersion, kind: kind.kind, metadata: { name: 'cluster' }, spec, status });
        expect(typeof result.ok).toBe('boolean');
      }),
    );
    fc.assert(
      fc.property(anyKind, fc.jsonValue(), (kind, value) => {
        expect(validate(kind, value).ok).toBe(false);
      }),
    );
  });

  it('that is valid stays valid and unchanged when validated again', () => {
    fc.assert(
      fc.property(
        anyKind.chain((kind) => fc.tuple(fc.constant(kind), almost(kind.versions[0].schema))),
        ([kind, fields]) => {
          const apiVersion = `${kind.group}/${kind.versions[0].name}`;
          const first = validate(kind, {
            ...(isRecord(fields) && fields),
            apiVersion,
            kind: kind.kind,
            metadata: { name: 'cluster' },
          });
          const second = first.ok ? validate(kind, first.object) : first;
          expect(second).toStrictEqual(first);
        },
      ),
      { numRuns: 300 },
    );
  });
});
