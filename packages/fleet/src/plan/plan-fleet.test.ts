import { type MachineConfiguration, stopRolloutsAnnotation, targetConfigAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import {
  customPool,
  decideSample,
  machineConfig,
  planSample,
  poolIn,
  type SampleFleet,
  withFile,
} from '../testing/sample-plan.ts';
import { poolOnStream, rhel10, rhel9, sampleStreams } from '../testing/sample-streams.ts';
import { toExitCode } from './fleet-plan.ts';

const CHRONY = '/etc/chrony.conf';
const PULL_SECRET = '/var/lib/kubelet/config.json';
const chrony = (text: string) => machineConfig('50-chrony', 'worker', withFile(CHRONY, text));
const settings = (spec: MachineConfiguration['spec'], annotations: Record<string, string> = {}) => ({
  metadata: { name: 'cluster', annotations },
  spec,
});
const workers = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `worker-${index}` }));
const broken = machineConfig('60-broken', 'worker', withFile('relative', ''));
const withContents = (path: string, contents: object) => ({
  config: { ignition: { version: '3.5.0' }, storage: { files: [{ path, contents }] } },
});
const fleet: SampleFleet = { machineConfigs: [chrony('pool a\n')], nodes: workers(3) };

describe('the outcome', () => {
  it.each<[string, Parameters<typeof planSample>, number]>([
    ['0 for what is there already', [fleet, { machineConfigs: [chrony('pool a\n')] }], 0],
    ['3 where machines reboot', [fleet, { machineConfigs: [chrony('pool b\n')] }], 3],
    [
      '2 where nothing is disrupted',
      [fleet, { machineConfigs: [machineConfig('60-pull', 'worker', withFile(PULL_SECRET, '{}'))] }],
      2,
    ],
    [
      '2 where the same bytes come from another MachineConfig',
      [fleet, { machineConfigs: [machineConfig('60-more', 'worker', withFile(CHRONY, 'pool a\n'))] }],
      2,
    ],
    [
      '2 where only the rollout changes',
      [fleet, { pools: [{ metadata: { name: 'worker' }, spec: { maxUnavailable: 2 } }] }],
      2,
    ],
    [
      '1 where a MachineConfig cannot be rendered',
      [fleet, { machineConfigs: [machineConfig('50-chrony', 'worker', withFile('relative', ''))] }],
      1,
    ],
    [
      '1 where a machine cannot become it',
      [fleet, { machineConfigs: [machineConfig('60-fips', 'worker', { fips: true })] }],
      1,
    ],
    [
      '3 for a pool without machines: what it would mean for one counts',
      [{ ...fleet, nodes: [] }, { machineConfigs: [chrony('pool b\n')] }],
      3,
    ],
  ])('is %s', async (_, [now, given], expected) => {
    expect(toExitCode(await planSample(now, given))).toBe(expected);
  });

  it('ignores a rollout that happens anyway', async () => {
    const moved = { ...fleet, nodes: [{ name: 'late', roles: ['worker'], pool: 'master' }, ...workers(2)] };
    const plan = await planSample(moved, { machineConfigs: [chrony('pool a\n')] });
    expect(poolIn(plan, 'worker').nodes.find(({ name }) => name === 'late')).toMatchObject({
      turn: 'update',
      isAffected: false,
    });
    expect(toExitCode(plan)).toBe(0);
  });
});

describe('a pool', () => {
  it('lists the changes and the MachineConfigs that cause them, before and after', async () => {
    const base = machineConfig('40-base', 'worker', withFile(CHRONY, 'pool base\n', { kernelArguments: ['quiet'] }));
    const plan = await planSample(
      { machineConfigs: [base], nodes: workers(1) },
      {
        machineConfigs: [
          machineConfig('50-chrony', 'worker', withFile(CHRONY, 'pool b\n', { kernelArguments: ['nosmt'] })),
        ],
      },
    );
    const { before, after, changes } = poolIn(plan, 'worker');
    expect(before).toMatch(/^rendered-worker-/);
    expect(after).not.toBe(before);
    expect(changes).toMatchObject([
      { noun: 'file', name: CHRONY, change: 'changed', from: ['50-chrony'], was: ['40-base'] },
      { noun: 'machine settings', fields: [{ name: 'kernelArguments', after: 'nosmt' }], from: ['50-chrony'], was: [] },
    ]);
    expect(poolIn(plan, 'master')).toMatchObject({ isAffected: false, changes: [] });
  });

  it('hides secrets', async () => {
    const secret = (text: string) => machineConfig('60-key', 'worker', withFile('/etc/pki/tls/private/a.key', text));
    const plan = await planSample({ machineConfigs: [secret('old-key')] }, { machineConfigs: [secret('new-key')] });
    expect(JSON.stringify(plan)).toContain('/etc/pki/tls/private/a.key');
    // A digest would reveal a secret that can be guessed.
    expect(JSON.stringify(poolIn(plan, 'worker').updates)).not.toMatch(/[0-9a-f]{64}/);
    expect(JSON.stringify(plan)).not.toMatch(/(?:old|new)(?:-|%2D)key/);
  });

  it('stays at its last good config if the new one cannot be rendered', async () => {
    const plan = await planSample(fleet, {
      machineConfigs: [machineConfig('50-chrony', 'worker', withFile('relative', ''))],
    });
    const { before, after } = poolIn(plan, 'worker');
    expect(after).toBe(before);
    expect(plan.problems).toMatchObject([
      { code: 'SLW_RENDER_INVALID', message: expect.stringContaining('MachineConfig 50-chrony') },
    ]);
  });

  it('is named in the problems that hold it back, each of which is reported once', async () => {
    const pools = [customPool('infra')];
    const plan = await planSample({ ...fleet, pools }, { machineConfigs: [chrony('x'), broken] });
    expect(plan.problems).toMatchObject([
      { message: expect.stringMatching(/^MachineConfigPools infra, worker: MachineConfig 60-broken, /) },
    ]);
    const alone = await planSample(fleet, { machineConfigs: [broken] });
    expect(alone.problems).toMatchObject([
      { message: expect.stringMatching(/^MachineConfigPool worker: MachineConfig/) },
    ]);
  });

  it('does not get contents that no machine can decompress', async () => {
    const contents = withContents('/etc/packed', { compression: 'gzip', source: 'data:,text' });
    const plan = await planSample(fleet, { machineConfigs: [machineConfig('60-packed', 'worker', contents)] });
    const { before, after } = poolIn(plan, 'worker');
    expect({ after, outcome: plan.outcome }).toEqual({ after: before, outcome: 'refused' });
    const reason =
      'MachineConfigPool worker: MachineConfig 60-packed, spec.config.storage.files[0].contents.compression: compression is gzip, but the data is not gzip';
    expect(plan.problems).toMatchObject([{ code: 'SLW_RENDER_CONTENTS', message: expect.stringContaining(reason) }]);
  });

  it('can leave contents that no machine can decompress', async () => {
    const packed = (contents: object) => machineConfig('60-packed', 'worker', withContents('/etc/packed', contents));
    const now = { ...fleet, machineConfigs: [packed({ compression: 'gzip', source: 'data:,text' })] };
    const plan = await planSample(now, { machineConfigs: [packed({ source: 'data:,text' })] });
    expect(plan.problems).toEqual([]);
    expect(poolIn(plan, 'worker').after).not.toBe(poolIn(plan, 'worker').before);
  });

  it('that is held reports why, and its machines stay', async () => {
    const plan = await planSample(fleet, {
      machineConfigs: [chrony('pool b\n')],
      pools: [
        { metadata: { name: 'worker', annotations: { [targetConfigAnnotation]: 'rendered-worker-old' } }, spec: {} },
      ],
    });
    const { after, newest } = poolIn(plan, 'worker');
    expect(after).toBe('rendered-worker-old');
    expect(newest).not.toBe(after);
    expect(plan.warnings.join()).toContain('MachineConfig rendered-worker-old does not exist');
  });

  it.each([
    ['paused', { pools: [{ metadata: { name: 'worker' }, spec: { paused: true } }] }],
    ['stopped', { settings: settings({}, { [stopRolloutsAnnotation]: 'freeze' }) }],
  ] as const)('that is %s reports that, and how the rollout would proceed', async (phase, more) => {
    const plan = await planSample(fleet, {
      machineConfigs: [chrony('pool b\n')],
      ...more,
      pools: 'pools' in more ? [...more.pools] : [],
    });
    const { rollout } = poolIn(plan, 'worker');
    expect(rollout.phase).toBe(phase);
    expect(rollout.summary).not.toBe('');
    expect(rollout.waves.map(({ nodes }) => nodes)).toEqual([['worker-0'], ['worker-1', 'worker-2']]);
  });
});

describe('a machine', () => {
  it('has the actions of its update, and the rule for each', async () => {
    const plan = await planSample(fleet, { machineConfigs: [chrony('pool b\n')] });
    expect(poolIn(plan, 'worker').updates).toMatchObject([
      {
        actions: [{ type: 'Reboot' }],
        needsDrain: true,
        causes: [{ item: { kind: 'file', name: CHRONY }, rule: 'nothing' }],
        nodes: ['worker-0', 'worker-1', 'worker-2'],
      },
    ]);
  });

  it('is planned with the disruption policy from the manifests', async () => {
    const policy = {
      files: [{ path: CHRONY, actions: [{ type: 'Restart' as const, restart: { serviceName: 'chronyd.service' } }] }],
    };
    const plan = await planSample(fleet, {
      machineConfigs: [chrony('pool b\n')],
      settings: settings({ nodeDisruptionPolicy: policy }),
    });
    expect(poolIn(plan, 'worker').updates).toMatchObject([
      { actions: [{ type: 'Restart', unit: 'chronyd.service' }], needsDrain: false },
    ]);
    expect(plan.outcome).toBe('no disruption');
  });

  it('moves to the pool that selects it, and is updated to its config', async () => {
    const nodes = [{ name: 'worker-0' }, { name: 'gpu-0', roles: ['worker', 'gpu'] }];
    const plan = await planSample(
      { ...fleet, nodes },
      {
        pools: [customPool('gpu')],
        machineConfigs: [machineConfig('70-gpu', 'gpu', withFile('/etc/gpu.conf', 'x\n'))],
      },
    );
    const gpu = poolIn(plan, 'gpu');
    expect(gpu).toMatchObject({ isNew: true, before: null, comparedWith: poolIn(plan, 'worker').before });
    expect(gpu.nodes).toMatchObject([{ name: 'gpu-0', movesFrom: 'worker', turn: 'update', isAffected: true }]);
    expect(gpu.changes).toMatchObject([{ name: '/etc/gpu.conf', change: 'added', from: ['70-gpu'] }]);
    expect(poolIn(plan, 'worker').nodes.map(({ name }) => name)).toEqual(['worker-0']);
  });

  it('that would be in two pools is a problem', async () => {
    const plan = await planSample(
      { ...fleet, pools: [customPool('gpu')], nodes: [{ name: 'both', roles: ['gpu', 'infra', 'worker'] }] },
      { pools: [customPool('infra')] },
    );
    expect(plan.problems).toMatchObject([
      { code: 'SLW_POOL_SEVERAL', message: expect.stringContaining('gpu and infra') },
    ]);
    expect(plan.outcome).toBe('refused');
  });

  it('that a user cordoned is skipped and takes a slot, so that none is left if there is only one', async () => {
    const nodes = [{ name: 'worker-0', cordoned: true }, { name: 'worker-1' }];
    const one = poolIn(await planSample({ ...fleet, nodes }, { machineConfigs: [chrony('pool b\n')] }), 'worker');
    expect(one.nodes[0]).toMatchObject({ turn: 'skipped', wave: null });
    expect(one.rollout).toMatchObject({ takenBy: ['worker-0'], waves: [] });
    const two = poolIn(
      await planSample(
        { ...fleet, nodes },
        {
          machineConfigs: [chrony('pool b\n')],
          pools: [{ metadata: { name: 'worker' }, spec: { maxUnavailable: 2 } }],
        },
      ),
      'worker',
    );
    expect(two.rollout.waves).toMatchObject([{ number: 1, nodes: ['worker-1'], atATime: 1 }]);
  });

  it('alone in its cluster is not drained, with a warning', async () => {
    const plan = await planSample({ ...fleet, nodes: workers(1) }, { machineConfigs: [chrony('pool b\n')] });
    expect(poolIn(plan, 'worker').nodes).toMatchObject([{ turn: 'update', drain: null }]);
    expect(plan.warnings.join()).toContain('single node');
  });
});

describe('waves', () => {
  it('are those of the policy, the canary first, by zone and age', async () => {
    const nodes = [
      { name: 'b-1', zone: 'b' },
      { name: 'a-2', zone: 'a' },
      { name: 'a-1', zone: 'a' },
      { name: 'b-0', zone: 'b' },
    ];
    const annotations = { 'slipway.dev/rollout-waves': '1,50%', 'slipway.dev/rollout-soak': '10m' };
    const plan = await planSample(
      { ...fleet, nodes },
      {
        machineConfigs: [chrony('pool b\n')],
        pools: [{ metadata: { name: 'worker', annotations }, spec: { maxUnavailable: '50%' } }],
      },
    );
    expect(poolIn(plan, 'worker').rollout.waves).toEqual([
      { number: 1, of: 3, nodes: ['a-2'], atATime: 1, soakSeconds: 600 },
      { number: 2, of: 3, nodes: ['a-1'], atATime: 1, soakSeconds: 600 },
      { number: 3, of: 3, nodes: ['b-1', 'b-0'], atATime: 2, soakSeconds: 600 },
    ]);
  });

  it('have the node that the controllers run on last', async () => {
    const given = { machineConfigs: [chrony('pool b\n')] };
    const plan = await planSample({ ...fleet, controllerNode: 'worker-0' }, given);
    const waves = poolIn(plan, 'worker').rollout.waves.map(({ nodes }) => nodes);
    expect(waves).toEqual([['worker-1'], ['worker-2', 'worker-0']]);
  });

  it('of masters are one machine at a time', async () => {
    const nodes = ['m-0', 'm-1', 'm-2'].map((name) => ({ name, roles: ['master'] }));
    const plan = await planSample(
      { nodes },
      {
        machineConfigs: [machineConfig('50-m', 'master', withFile('/etc/m', 'x'))],
        pools: [{ metadata: { name: 'master' }, spec: { maxUnavailable: 3 } }],
      },
    );
    expect(poolIn(plan, 'master').rollout.waves).toMatchObject([
      { nodes: ['m-0'], atATime: 1 },
      { nodes: ['m-1', 'm-2'], atATime: 1 },
    ]);
  });

  it('of 5,000 machines are planned within two seconds', async () => {
    // CPU time of this process: other processes may use the machine too.
    const began = process.cpuUsage();
    const plan = await planSample({ ...fleet, nodes: workers(5000) }, { machineConfigs: [chrony('pool b\n')] });
    expect(poolIn(plan, 'worker').rollout.waves.map(({ nodes }) => nodes.length)).toEqual([1, 4999]);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});

describe('what the controllers decide', () => {
  const OLD = 'rendered-worker-old';
  const old = { desired: OLD, current: OLD };
  const worker = { ...customPool('worker'), status: { configuration: { name: OLD } } };

  it.each<[string, string, SampleFleet]>([
    ['an update in progress', 'updating', { pools: [worker], nodes: [{ name: 'worker-0', ...old }] }],
    [
      'a halt because of a failed machine that was moved to another pool',
      'halted',
      {
        pools: [worker, customPool('infra')],
        nodes: [
          { name: 'worker-0', ...old },
          { name: 'moved', roles: ['infra', 'worker'], pool: 'worker', current: OLD, state: 'Degraded' },
        ],
      },
    ],
  ])('matches the plan: %s', async (_, phase, now) => {
    const { rollout, nodes } = poolIn(await planSample(now, {}), 'worker');
    const decision = (await decideSample(now)).pools.find(({ name }) => name === 'worker')?.decision;
    expect(decision?.phase).toBe(phase);
    expect({ phase: rollout.phase, summary: rollout.summary }).toEqual({ phase, summary: decision?.summary });
    expect(nodes.map(({ name, why }) => [name, why])).toEqual(
      [...(decision?.nodes ?? [])].map(([name, { why }]) => [name, why]),
    );
  });

  it('matches the plan while an arbiter is updating, although a master follows it', async () => {
    const now: SampleFleet = {
      pools: [customPool('arbiter')],
      nodes: [
        { name: 'arbiter-0', roles: ['arbiter'], current: 'rendered-arbiter-old', state: 'Working' },
        { name: 'master-0', roles: ['master'], desired: 'rendered-master-old' },
      ],
    };
    const { rollout } = poolIn(await planSample(now, {}), 'master');
    const decision = (await decideSample(now)).pools.find(({ name }) => name === 'master')?.decision;
    expect(decision?.give).toEqual([]);
    expect(rollout).toMatchObject({ summary: decision?.summary, takenBy: [] });
    expect(rollout.waves.map(({ nodes }) => nodes)).toEqual([['master-0']]);
  });
});

describe('OS image streams', () => {
  const poolWithStream = (name: string, stream: string) => ({
    metadata: { name },
    spec: { osImageStream: { name: stream } },
  });
  const streaming: SampleFleet = {
    ...fleet,
    pools: [poolOnStream('worker', { tracked: 'rhel-9' }), poolOnStream('infra', { tracked: 'rhel-9' })],
    nodes: [...workers(2), { name: 'infra-0', roles: ['infra', 'worker'] }],
    streams: sampleStreams(),
  };
  const osImageIn = (plan: Awaited<ReturnType<typeof planSample>>, pool: string) =>
    poolIn(plan, pool)
      .changes.flatMap(({ fields }) => fields)
      .find(({ name }) => name === 'osImageURL');

  it('change the images of a pool that requests another one, and reboot its machines', async () => {
    const plan = await planSample(streaming, { pools: [poolWithStream('infra', 'rhel-10')] });
    expect(plan.outcome).toBe('disruption');
    expect(osImageIn(plan, 'infra')).toMatchObject({ before: rhel9.osImage, after: rhel10.osImage });
    expect(poolIn(plan, 'infra').updates).toMatchObject([{ actions: [{ type: 'Reboot' }], nodes: ['infra-0'] }]);
    expect(poolIn(plan, 'worker').isAffected).toBe(false);
  });

  it('change a custom pool together with worker', async () => {
    const plan = await planSample(streaming, { pools: [poolWithStream('worker', 'rhel-10')] });
    expect(osImageIn(plan, 'infra')).toMatchObject({ after: rhel10.osImage });
  });

  it('refuse what the controllers would refuse', async () => {
    const plan = await planSample(streaming, { pools: [poolWithStream('worker', 'rhel-11')] });
    expect(plan).toMatchObject({ outcome: 'refused', problems: [{ code: 'SLW_STREAM_UNKNOWN' }] });
    const named = machineConfig('50-os', 'worker', { osImageURL: rhel9.osImage });
    const both = await planSample(streaming, { pools: [poolWithStream('worker', 'rhel-10')], machineConfigs: [named] });
    expect(both.problems).toMatchObject([{ code: 'SLW_RENDER_OS_STREAM' }]);
  });

  it('that do not exist are ignored', async () => {
    const { streams: _none, ...without } = streaming;
    const plan = await planSample(without, { pools: [poolWithStream('worker', 'rhel-10')] });
    expect({ outcome: plan.outcome, problems: plan.problems }).toEqual({ outcome: 'no disruption', problems: [] });
  });
});

describe('machines whose OS cannot have the config', () => {
  const debian = { name: 'Debian GNU/Linux 13 (trixie)', ability: 'none' } as const;
  const fedora = { name: 'Fedora CoreOS 42.20250721.3.0', ability: 'all' } as const;
  const settingsOf = (more: object) => ({
    machineConfigs: [machineConfig('60-os', 'worker', { config: { ignition: { version: '3.4.0' } }, ...more })],
  });
  const mixed: SampleFleet = {
    nodes: [
      { name: 'worker-0', os: debian },
      { name: 'worker-1', os: { name: 'Red Hat Enterprise Linux CoreOS 9.6', ability: 'all' } },
      { name: 'worker-2', os: debian },
      { name: 'worker-3', os: fedora },
    ],
  };

  it('refuse the plan, with the machines, the setting and what the OS lacks', async () => {
    const plan = await planSample(mixed, settingsOf({ kernelArguments: ['nosmt'] }));
    expect(plan.outcome).toBe('refused');
    expect(plan.problems).toMatchObject([
      {
        code: 'SLW_UPDATE_OS',
        message: expect.stringMatching(
          /^MachineConfigPool worker, machines worker-0, worker-2: MachineConfig 60-os, spec\.kernelArguments: Debian GNU\/Linux 13 \(trixie\) has neither rpm-ostree nor bootc/,
        ),
      },
    ]);
    expect(poolIn(plan, 'worker').updates).toMatchObject([
      { unsupported: [{ field: 'spec.kernelArguments', nodes: ['worker-0', 'worker-2'] }] },
    ]);
  });

  it('refuse FIPS mode, also for machines that would be installed again', async () => {
    const plan = await planSample(mixed, settingsOf({ fips: true }));
    const problems = plan.problems.map(({ code, message }) => `${code}: ${message}`);
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(/^SLW_UPDATE_IRRECONCILABLE: .* FIPS mode is fixed at installation/);
    expect(problems[1]).toMatch(/^SLW_UPDATE_OS: .*, machines worker-0, worker-2: .* Debian .* ignores this field/);
    expect(problems[2]).toMatch(/^SLW_UPDATE_OS: .*, machine worker-3: .* Fedora CoreOS .* ignores this field/);
  });

  it('are not held against a change that they already had, or that concerns only files', async () => {
    const before = settingsOf({ kernelArguments: ['nosmt'] });
    const files = { machineConfigs: [chrony('pool b\n')] };
    expect((await planSample({ ...mixed, ...before }, files)).outcome).toBe('disruption');
  });

  it('are not guessed: an unknown OS refuses nothing', async () => {
    const nodes = [{ name: 'worker-0', os: { name: 'Debian GNU/Linux 13 (trixie)' } }, { name: 'worker-1' }];
    expect((await planSample({ nodes }, settingsOf({ kernelArguments: ['nosmt'] }))).outcome).toBe('disruption');
  });
});

describe('a MachineConfig that no pool selects', () => {
  const typo = machineConfig('60-typo', 'workers', withFile('/etc/typo', ''));
  const warnings = async (now: SampleFleet, given: Parameters<typeof planSample>[1]): Promise<readonly string[]> =>
    (await planSample(now, given)).warnings;

  it('is a warning if the manifests contain it, even unchanged', async () => {
    const expected = [
      expect.stringMatching(/^MachineConfig 60-typo, .*Did you mean worker\? \[SLW_RENDER_UNSELECTED\]$/),
    ];
    expect(await warnings(fleet, { machineConfigs: [typo] })).toEqual(expected);
    expect(await warnings({ machineConfigs: [typo] }, { machineConfigs: [typo] })).toEqual(expected);
  });

  it('is a warning if the manifests take its pool away', async () => {
    const pool = customPool('workers');
    const elsewhere = customPool('workers', { machineConfigSelector: { matchLabels: { tier: 'x' } } });
    const now = { machineConfigs: [typo], pools: [pool] };
    expect(await warnings(now, { pools: [pool] })).toEqual([]);
    expect(await warnings(now, { pools: [elsewhere] })).toEqual([expect.stringContaining('MachineConfig 60-typo')]);
  });

  it('is none if it is nothing of these manifests', async () => {
    expect(await warnings({ machineConfigs: [typo] }, { machineConfigs: [chrony('a')] })).toEqual([]);
  });
});

describe('a change that no running machine can make', () => {
  const ignition = (more: object) => ({ config: { ignition: { version: '3.5.0' }, ...more } });
  const mount = (options: object) =>
    ignition({ storage: { filesystems: [{ device: '/dev/vdb', path: '/var/data', format: 'xfs', ...options }] } });
  const directory = machineConfig('60-dir', 'worker', ignition({ storage: { directories: [{ path: '/opt/x' }] } }));
  const user = machineConfig('60-user', 'worker', ignition({ passwd: { users: [{ name: 'ann' }] } }));

  it.each<[string, SampleFleet['machineConfigs'], SampleFleet['machineConfigs'], string]>([
    ['FIPS mode', [], [machineConfig('60-fips', 'worker', { fips: true })], 'MachineConfig 60-fips, spec.fips: '],
    ['a directory', [], [directory], 'MachineConfig 60-dir, spec.config.storage.directories[/opt/x]: '],
    ['a user', [], [user], 'MachineConfig 60-user, spec.config.passwd.users[ann]: '],
    [
      'what the MachineConfig no longer has',
      [user],
      [machineConfig('60-user', 'worker', {})],
      'MachineConfig 60-user, spec.config.passwd.users[ann]: ',
    ],
    [
      'a field that another MachineConfig overrides',
      [machineConfig('60-disk', 'worker', mount({ wipeFilesystem: true }))],
      [machineConfig('70-label', 'worker', mount({ label: 'data' }))],
      'MachineConfig 70-label, spec.config.storage.filesystems[/dev/vdb].label: ',
    ],
    [
      'an item of two MachineConfigs',
      [],
      [
        machineConfig('60-disk', 'worker', mount({})),
        machineConfig(
          '70-label',
          'worker',
          ignition({ storage: { filesystems: [{ device: '/dev/vdb', format: 'xfs', label: 'data' }] } }),
        ),
      ],
      'MachineConfigs 60-disk, 70-label, spec.config.storage.filesystems[/dev/vdb]: ',
    ],
  ])('names the MachineConfig that causes it: %s', async (_, before = [], after = [], expected) => {
    const { problems } = await planSample({ ...fleet, machineConfigs: before }, { machineConfigs: after });
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`MachineConfigPool worker: ${expected}`),
    ]);
  });
});
