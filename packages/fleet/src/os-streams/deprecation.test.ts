import { describe, expect, it } from 'vitest';
import type { StreamLifecycle } from './available.ts';
import { decodeLifecycle, encodeLifecycle, lifecycleOfTag } from './lifecycle.ts';
import { poolDeprecation, type PoolOnStream, computeUpgradeable, stateOfStream } from './deprecation.ts';
import { sampleImages, sampleStreams, tracked } from './testing/sample.ts';

const on = (name: string, more: Partial<PoolOnStream> = {}): PoolOnStream => ({
  pool: 'worker',
  tracked: tracked(name),
  runs: name,
  ...more,
});
const both = ['rhel-10', 'rhel-9'];
const withLifecycle = (said: Partial<StreamLifecycle>) => sampleStreams(both, { lifecycle: { 'rhel-9': said } });

const release = {
  before: sampleStreams(both),
  N: withLifecycle({ state: 'deprecated', successor: 'rhel-10' }),
  'N+1': withLifecycle({ state: 'blocked', successor: 'rhel-10' }),
  'N+2': sampleStreams(['rhel-10']),
};

describe('from deprecation to removal', () => {
  it.each<[keyof typeof release, deprecated: string, reason: string, upgradeable: string]>([
    ['before', 'False', 'AsExpected', 'True'],
    ['N', 'True', 'StreamEndOfLife', 'True'],
    ['N+1', 'True', 'StreamEndOfLife', 'False'],
    ['N+2', 'True', 'StreamRemoved', 'False'],
  ])('release %s: OSStreamDeprecated %s, %s; Upgradeable %s', (name, deprecated, reason, upgradeable) => {
    for (const pool of [on('rhel-9'), on('rhel9-coreos')]) {
      expect(poolDeprecation(pool, release[name])).toMatchObject({ status: deprecated, reason });
      expect(computeUpgradeable([on('rhel-10', { pool: 'master' }), pool], release[name])).toMatchObject({
        status: upgradeable,
        reason: upgradeable === 'True' ? 'AsExpected' : 'DeprecatedOSStreamInUse',
      });
    }
  });

  it.each([
    ['before', 'supported'],
    ['N', 'deprecated'],
    ['N+1', 'blocked'],
    ['N+2', 'removed'],
  ] as const)('release %s: the stream is %s', (name, state) => {
    expect(stateOfStream('rhel-9', release[name])).toBe(state);
  });

  it.each(Object.entries(release))('release %s: a pool that has migrated reports nothing', (_, streams) => {
    const expected = { status: 'False', reason: 'AsExpected', message: '' };
    expect(poolDeprecation(on('rhel-10'), streams)).toEqual(expected);
    expect(computeUpgradeable([on('rhel-10')], streams)).toEqual({ status: 'True', reason: 'AsExpected', message: '' });
  });

  it.each(['N+1', 'N+2'] as const)(
    'release %s: a migrating pool blocks the upgrade until its last machine is updated',
    (name) => {
      const moving = on('rhel-10', { runs: 'rhel-9' });
      expect(poolDeprecation(moving, release[name])).toMatchObject({
        status: 'True',
        message: expect.stringContaining('It is moving to rhel-10: this clears once its last machine is updated'),
      });
      expect(computeUpgradeable([moving], release[name])).toMatchObject({
        status: 'False',
        message: expect.stringContaining('MachineConfigPool worker still has machines on the OS image stream rhel-9'),
      });
    },
  );

  it('a pool whose machines have no stream yet counts by its assigned one', () => {
    expect(poolDeprecation(on('rhel-9', { runs: null }), release.N)).toMatchObject({ status: 'True' });
  });
});

describe('the messages', () => {
  it('name pool, stream, meaning, successor, what to set, and the message of the release', () => {
    const said = withLifecycle({ state: 'deprecated', successor: 'rhel10-coreos', message: 'See the notes.' });
    expect(poolDeprecation(on('rhel-9'), said).message).toBe(
      'MachineConfigPool worker is on the OS image stream rhel-9, which is deprecated and will be removed in a future release. Set spec.osImageStream.name of MachineConfigPool worker to rhel-10. Message: See the notes.',
    );
  });

  it('of a removed stream state that the OS stays', () => {
    expect(poolDeprecation(on('rhel-9'), release['N+2']).message).toBe(
      'MachineConfigPool worker is on the OS image stream rhel-9, which is no longer in this release: the OS stays at its current version and gets no updates. Set spec.osImageStream.name of MachineConfigPool worker to rhel-10.',
    );
  });

  it('of a stream that a user marks as removed name the successor and what the user says', () => {
    const marked = sampleStreams(['rhel-10'], {
      lifecycle: { 'rhel-9': { state: 'removed', successor: 'rhel-10', message: 'No longer certified.' } },
    });
    expect(poolDeprecation(on('rhel-9'), marked)).toEqual({
      status: 'True',
      reason: 'StreamRemoved',
      message:
        'MachineConfigPool worker is on the OS image stream rhel-9, which is marked as removed: the OS stays at its current version and gets no updates. Set spec.osImageStream.name of MachineConfigPool worker to rhel-10. Message: No longer certified.',
    });
    expect(computeUpgradeable([on('rhel-9')], marked)).toMatchObject({ status: 'False' });
  });

  it('of an upgrade that waits name every pool', () => {
    const pools = [on('rhel-9'), on('rhel-9', { pool: 'infra' }), on('rhel-10', { pool: 'master' })];
    expect(computeUpgradeable(pools, release['N+1']).message).toBe(
      'Cannot upgrade: some machines run an OS that the next release does not ship. ' +
        'MachineConfigPool infra is on the OS image stream rhel-9, which is deprecated, and the cluster cannot be upgraded while it is used. Set spec.osImageStream.name of MachineConfigPool infra to rhel-10. ' +
        'MachineConfigPool worker is on the OS image stream rhel-9, which is deprecated, and the cluster cannot be upgraded while it is used. Set spec.osImageStream.name of MachineConfigPool worker to rhel-10.',
    );
  });

  it('of an upgrade that waits for many name the first', () => {
    const pools = Array.from({ length: 50 }, (_, index) => on('rhel-9', { pool: `pool-${index + 10}` }));
    const { message } = computeUpgradeable(pools, release['N+1']);
    expect(message).toMatch(/pool-19 .* And 40 more pools\.$/);
    expect(message).not.toContain('pool-20');
  });

  it.each<[string, string, string[], Record<string, Partial<StreamLifecycle>>, string]>([
    [
      'the successor that is not there: the next of the family',
      'rhel-9',
      both,
      { 'rhel-9': { successor: 'rhel-11' } },
      'to rhel-10.',
    ],
    [
      'the successor behind it: the next of the family',
      'rhel-9',
      [...both, 'centos-10'],
      { 'rhel-9': { successor: 'centos-10' } },
      'to rhel-10.',
    ],
    [
      'none: not one that ends too',
      'centos-9',
      ['centos-9', 'centos-10'],
      { 'centos-9': {}, 'centos-10': {} },
      'create new machines in a new pool.',
    ],
    [
      'none, of a stream without order: whatever lives',
      'vendor-1',
      ['vendor-1', 'rhel-9', 'rhel-10'],
      { 'vendor-1': {} },
      'to one of rhel-10, rhel-9.',
    ],
  ])('name the next step if the payload names %s', (_, name, available, lifecycle, text) => {
    expect(poolDeprecation(on(name), sampleStreams(available, { lifecycle })).message).toContain(text);
  });
});

describe('a pool that has nothing to end', () => {
  it('runs an OS of no known stream: it reports missing updates, and blocks no upgrade', () => {
    const pool = { pool: 'worker', tracked: { name: null, images: sampleImages('own') }, runs: null };
    expect(poolDeprecation(pool, release.N)).toMatchObject({
      status: 'False',
      reason: 'StreamUnknown',
      message: expect.stringContaining('Set spec.osImageStream.name of the pool to one of: rhel-10, rhel-9'),
    });
    expect(computeUpgradeable([pool], release.N)).toMatchObject({ status: 'True' });
  });

  it.each([
    ['is on no stream yet', { pool: 'worker', tracked: null, runs: null }, release.N],
    ['is in a cluster whose streams are not discovered yet', on('rhel-9'), null],
  ])('%s', (_, pool, streams) => {
    expect(poolDeprecation(pool, streams)).toEqual({ status: 'False', reason: 'AsExpected', message: '' });
    expect(computeUpgradeable([pool], streams)).toMatchObject({ status: 'True' });
  });
});

const STATE = 'io.openshift.os.stream-lifecycle';
const SUCCESSOR = 'io.openshift.os.stream-successor';
const MESSAGE = 'io.openshift.os.stream-message';
const bare = { successor: null, message: null };

describe('the lifecycle of a stream, from its tag', () => {
  it.each<[Record<string, string>, StreamLifecycle | null]>([
    [{}, null],
    [{ [STATE]: '' }, null],
    [{ [STATE]: 'deprecated' }, { state: 'deprecated', ...bare }],
    [{ [STATE]: 'blocked' }, { state: 'blocked', ...bare }],
    [
      { [STATE]: 'blocked', [SUCCESSOR]: 'rhel-10', [MESSAGE]: ' Ends in\n2027.\u0007 ' },
      { state: 'blocked', successor: 'rhel-10', message: 'Ends in 2027.' },
    ],
    // A successor of a stream that lives is no end.
    [{ [SUCCESSOR]: 'rhel-10', [MESSAGE]: 'soon' }, null],
  ])('%j is understood', (annotations, lifecycle) => {
    expect(lifecycleOfTag('rhel-coreos', annotations)).toEqual({ lifecycle, problems: [] });
  });

  it.each(['removed', 'Deprecated', 'deprecated ', 'x'.repeat(10_000)])(
    'a state that is not known is reported and not followed: %.20j',
    (said) => {
      const { lifecycle, problems } = lifecycleOfTag('rhel-coreos', { [STATE]: said });
      expect(lifecycle).toBeNull();
      expect(problems).toMatchObject([{ code: 'SLW_STREAM_LIFECYCLE' }]);
      expect(problems[0]?.message).toMatch(
        /^tag rhel-coreos of image-references, annotation io.openshift.os.stream-lifecycle: expected deprecated or blocked, found ".*"\. /,
      );
      expect(problems[0]?.message.length).toBeLessThan(400);
    },
  );

  it('a successor that is no name is reported; the rest counts', () => {
    const { lifecycle, problems } = lifecycleOfTag('rhel-coreos', { [STATE]: 'blocked', [SUCCESSOR]: 'RHEL 10' });
    expect(lifecycle).toEqual({ state: 'blocked', ...bare });
    expect(problems).toMatchObject([
      { message: expect.stringContaining('expected the name of a stream, found "RHEL 10"') },
    ]);
  });

  it('a message without end is cut', () => {
    const { lifecycle } = lifecycleOfTag('rhel-coreos', { [STATE]: 'blocked', [MESSAGE]: 'x'.repeat(10_000) });
    expect(lifecycle?.message).toHaveLength(300);
  });
});

describe('the lives of streams in the annotation of the OSImageStream', () => {
  const nine: StreamLifecycle = { state: 'blocked', successor: 'rhel-10', message: 'Ends in 2027.' };
  const vendor: StreamLifecycle = { state: 'deprecated', ...bare };

  it('survive a round trip, and are the same in any order', () => {
    const text = encodeLifecycle(
      new Map([
        ['vendor-1', vendor],
        ['rhel-9', nine],
      ]),
    );
    expect(text).toBe(
      encodeLifecycle(
        new Map([
          ['rhel-9', nine],
          ['vendor-1', vendor],
        ]),
      ),
    );
    expect(decodeLifecycle(text ?? '')).toEqual(
      new Map([
        ['rhel-9', nine],
        ['vendor-1', vendor],
      ]),
    );
  });

  it('need no annotation if all streams are supported', () => {
    expect(encodeLifecycle(new Map())).toBeNull();
    expect(decodeLifecycle(undefined)).toEqual(new Map());
  });

  it('of the maximum number of streams fit next to other annotations', () => {
    const long = { state: 'blocked', successor: 'a'.repeat(253), message: '€'.repeat(300) } as const;
    const all = new Map(Array.from({ length: 100 }, (_, index) => [`${index}`.padEnd(253, 'a'), long]));
    const text = encodeLifecycle(all) ?? '';
    expect(Buffer.byteLength(text)).toBeLessThan(200 * 1024);
    expect(decodeLifecycle(text)).toEqual(all);
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"rhel-9":1}',
    '{"rhel-9":{"state":"gone"}}',
    '{"RHEL 9":{"state":"blocked"}}',
  ])('that are invalid are ignored: %s', (text) => {
    expect(decodeLifecycle(text)).toEqual(new Map());
  });

  it('keep the valid entries', () => {
    const text = '{"rhel-9":{"state":"blocked","successor":"Not a name","message":7},"rhel-10":null}';
    expect(decodeLifecycle(text)).toEqual(new Map([['rhel-9', { state: 'blocked', ...bare }]]));
  });
});
