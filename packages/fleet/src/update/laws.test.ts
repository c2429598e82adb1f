import type { MachineConfig } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataUrl, file, ignition, readInput, machineConfig, renderOk } from '../render/testing/sample.ts';
import { planUpdate, computeRollback } from './plan-update.ts';
import type { NodeDisruptionPolicy } from './policy.ts';
import { apply, machineWith, seen } from './testing/sample-machine.ts';

type Spec = NonNullable<MachineConfig['spec']>;

const text = fc.constantFrom('', 'one\n', 'two\n', 'three\n');
const owners = fc.constantFrom({}, { user: { id: 1000 } }, { group: { name: 'wheel' } });
const modes = fc.constantFrom({}, { mode: 0o600 }, { mode: 0o755 });

// Some are parents of others: a file in one config may be a directory of files in the next.
const paths = fc.constantFrom(
  '/etc/a',
  '/etc/a/b',
  '/etc/a/b/c',
  '/etc/a-b',
  '/etc/systemd/system/x.service',
  '/opt/z',
);

const things = fc.uniqueArray(
  fc.record({
    path: paths,
    kind: fc.constantFrom('file', 'file', 'file', 'bare', 'directory', 'link'),
    text,
    owners,
    modes,
  }),
  { selector: ({ path }) => path, maxLength: 5 },
);

const units = fc.uniqueArray(
  fc.record(
    {
      name: fc.constantFrom('a.service', 'b.timer', 'echo@one.service', 'echo@two.service', 'x.service'),
      enabled: fc.boolean(),
      mask: fc.boolean(),
      contents: fc.constantFrom('', '[Unit]\n', '[Service]\nExecStart=/bin/true\n'),
      dropins: fc.constantFrom(
        [{ name: '10-a.conf', contents: '[Unit]\n' }],
        [{ name: '10-a.conf', contents: '' }],
        [],
      ),
    },
    { requiredKeys: ['name'] },
  ),
  { selector: ({ name }) => name, maxLength: 4 },
);

const core = fc.record(
  {
    sshAuthorizedKeys: fc.uniqueArray(fc.constantFrom('ssh-ed25519 A', 'ssh-ed25519 B', 'ssh-ed25519 C')),
    passwordHash: fc.constantFrom('$6$one', '$6$two', ''),
  },
  { requiredKeys: [] },
);

const specs: fc.Arbitrary<Spec> = fc.record({
  config: fc
    .record({ things, units, core: fc.option(core) })
    .filter(isPossible)
    .map((each) =>
      ignition({
        storage: buildStorage(each.things),
        systemd: { units: each.units },
        passwd: { users: each.core === null ? [] : [{ name: 'core', ...each.core }] },
      }),
    ),
  kernelArguments: fc.array(fc.constantFrom('nosmt', 'quiet', 'console=a', 'console=b', 'x y'), { maxLength: 5 }),
  kernelType: fc.constantFrom('', 'default', 'realtime'),
  extensions: fc.uniqueArray(fc.constantFrom('usbguard', 'ipsec', 'kerberos')),
  osImageURL: fc.constantFrom('', 'quay.io/os:1', 'quay.io/os:2'),
  baseOSExtensionsContainerImage: fc.constantFrom('', 'quay.io/ext:1'),
});

type Thing = typeof things extends fc.Arbitrary<(infer Each)[]> ? Each : never;

function buildStorage(all: readonly Thing[]): object {
  const of = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));
  return {
    files: of('file', 'bare').map(({ path, kind, text, owners, modes }) => {
      return Object.assign({ path }, owners, modes, kind === 'bare' ? {} : { contents: { source: dataUrl(text) } });
    }),
    directories: of('directory').map(({ path, owners, modes }) => Object.assign({ path }, owners, modes)),
    links: of('link').map(({ path }) => ({ path, target: '/dev/zero' })),
  };
}

/** Every parent is a directory, and nothing is duplicated in one config. */
function isPossible({ things, units }: { things: readonly Thing[]; units: readonly { name: string }[] }): boolean {
  const isAbove = (above: Thing, path: string) => above.kind !== 'directory' && path.startsWith(`${above.path}/`);
  if (things.some(({ path }) => things.some((other) => isAbove(other, path)))) return false;
  return !units.some(({ name }) => things.some(({ path }) => path.endsWith(`/${name}`)));
}

const update = (current: Spec, desired: Spec, policy?: NodeDisruptionPolicy) =>
  planUpdate({ current: { name: 'a', spec: current }, desired: { name: 'b', spec: desired }, policy });

/** Configs of which a running machine can move from the first to the second; other tests cover irreconcilable ones. */
const check = async (numRuns: number, property: (a: Spec, b: Spec) => Promise<void>) => {
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(specs, specs, async (a, b) => {
      const { irreconcilable, changes } = await update(a, b);
      fc.pre(irreconcilable.length === 0);
      if (changes.length > 0) tried += 1;
      await property(a, b);
    }),
    { numRuns },
  );
  expect(tried).toBeGreaterThan(numRuns / 2);
};

describe('for any two configs', () => {
  it('executing the plan turns a machine with the first into one with the second', async () => {
    await check(150, async (a, b) => {
      const [machine, wanted] = [await machineWith(a), await machineWith(b)];
      for (const change of (await update(a, b)).changes) await apply(machine, change, wanted);
      expect(seen(machine)).toEqual(seen(wanted));
    });
  });

  it('the rollback restores the first after any number of changes', async () => {
    await check(50, async (a, b) => {
      const plan = await update(a, b);
      const [old, wanted] = [await machineWith(a), await machineWith(b)];
      for (let done = 0; done <= plan.changes.length; done += 1) {
        const way = computeRollback(plan);
        // The complete rollback, or only that of the executed changes.
        for (const back of [way, way.slice(way.length - done)]) {
          const machine = structuredClone(old);
          for (const change of plan.changes.slice(0, done)) await apply(machine, change, wanted);
          for (const change of back) await apply(machine, change, old);
          expect(seen(machine)).toEqual(seen(old));
        }
      }
    });
  });

  it('the plan from a config to itself is empty, and so is the plan to its rendered form', async () => {
    await fc.assert(
      fc.asyncProperty(specs, async (spec) => {
        const { rendered } = await renderOk([machineConfig('a', spec)]);
        for (const desired of [structuredClone(spec), rendered.spec]) {
          expect(await update(spec, desired)).toMatchObject({ isEmpty: true, changes: [], actions: [], causes: [] });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('actions and causes do not depend on the order of items in the configs and the policy', async () => {
    await fc.assert(
      fc.asyncProperty(specs, specs, policies, async (a, b, policy) => {
        const plan = await update(a, b, policy);
        const { actions, causes } = await update(await turned(a), await turned(b), turnedPolicy(policy));
        expect({ actions, causes }).toEqual({ actions: plan.actions, causes: plan.causes });
      }),
      { numRuns: 150 },
    );
  });
});

const service = (name: string) => ({ serviceName: name });
const actions = fc.constantFrom<NonNullable<NodeDisruptionPolicy['files']>[number]['actions']>(
  [{ type: 'None' }],
  [{ type: 'Reboot' }],
  [{ type: 'Drain' }, { type: 'Restart', restart: service('b.service') }],
  [
    { type: 'Restart', restart: service('b.service') },
    { type: 'Restart', restart: service('a.service') },
    { type: 'DaemonReload' },
  ],
  [
    { type: 'Reload', reload: service('a.service') },
    { type: 'Restart', restart: service('c.service') },
  ],
);

const policies: fc.Arbitrary<NodeDisruptionPolicy> = fc.record({
  files: fc.uniqueArray(fc.record({ path: fc.constantFrom('/', '/etc', '/etc/', '/etc/a', '/opt/z'), actions }), {
    selector: ({ path }) => path,
  }),
  units: fc.uniqueArray(fc.record({ name: fc.constantFrom('a.service', 'b.timer'), actions }), {
    selector: ({ name }) => name,
  }),
  sshkey: fc.record({ actions }),
});

function turnedPolicy({ files = [], units = [], ...rest }: NodeDisruptionPolicy): NodeDisruptionPolicy {
  return { files: files.toReversed(), units: units.toReversed(), ...rest };
}

/** The same machine, with all unordered lists reversed. */
async function turned(spec: Spec): Promise<Spec> {
  const { storage = {}, systemd = {}, ...rest } = (await readInput(machineConfig('a', spec))).config;
  const { files = [], directories = [], links = [] } = storage;
  return {
    ...spec,
    extensions: spec.extensions?.toReversed() ?? [],
    config: {
      ...rest,
      storage: { files: files.toReversed(), directories: directories.toReversed(), links: links.toReversed() },
      systemd: { units: systemd.units?.toReversed() ?? [] },
    },
  };
}

describe('the machine that these tests use', () => {
  it('refuses a file below a file', async () => {
    const withFile = (path: string) => ({ config: ignition({ storage: { files: [file(path, 'x')] } }) });
    const { changes } = await update(withFile('/etc/a'), withFile('/etc/a/b'));
    const [machine, wanted] = [await machineWith(withFile('/etc/a')), await machineWith(withFile('/etc/a/b'))];
    const [, written] = changes;
    expect(written).toMatchObject({ path: '/etc/a/b', change: 'added' });
    await expect(written === undefined ? null : apply(machine, written, wanted)).rejects.toThrow('/etc/a');
  });
});
