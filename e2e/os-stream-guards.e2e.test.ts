// The guards of OS image streams on a real API server, and who tries to get past them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  daemonUser,
  DEFAULT_NAMESPACE,
  knownStreams,
  machineConfigPools,
  osImageStreams,
  osStreamAnnotation,
  osStreamImagesAnnotation,
  osStreamProblemAnnotation,
  streamStep,
} from '@slipway/api';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { operator } from '@slipway/testing/control-plane';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  annotate,
  requestStream,
  deleteAll,
  own,
  expectRefused,
  patchPool,
  patchStatus,
  specWith,
  startGuardedCluster,
  streamsName,
  tryNew,
  type GuardedCluster,
  type PoolFacts,
} from './os-stream-guards/cluster.ts';

const alpha: Resource = { ...osImageStreams, version: 'v1alpha1' };
const records = [osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation];

/** Some by the name of today and some by an older one, and one that we know nothing of. */
const available = ['rhel-9', 'rhel10-coreos', 'centos-9', 'stream-coreos', 'fedora-coreos', 'hardened'];
const spellings = knownStreams.flatMap(({ name, aliases }) => aliases.concat(name));

const EXISTS = 'pool-os-stream-exists';
const FORWARD = 'pool-os-stream-forward';
const RECORD = 'pool-os-stream-record';
const GUARDS = 'os-image-stream-guards';
const dryRun = { dryRun: true };

let cluster: GuardedCluster;
let admin: Client;
let controllers: Client;
const poolThat = (facts: PoolFacts): Promise<string> => cluster.poolThat(facts);

beforeAll(async () => {
  cluster = await startGuardedCluster();
  ({ admin, controllers } = cluster);
  await controllers.create(osImageStreams, { metadata: streamsName, spec: { defaultStream: 'rhel-9' } });
  const pool = await poolThat({ tracked: 'rhel-10' });
  await until(() => expectRefused(requestStream(admin, pool, 'rhel-9', dryRun), FORWARD));
  await until(() => expectRefused(annotate(admin, pool, { [osStreamAnnotation]: 'x' }, dryRun), RECORD));
}, 120_000);

afterAll(async () => cluster?.stop());

it('before the streams of the payload are known, a pool may ask for any', async () => {
  await expect(tryNew(admin, 'new', 'rhel-11')).resolves.toBeDefined();
  await expect(requestStream(admin, await poolThat({ asks: 'rhel-10' }), 'rhel-9')).resolves.toBeDefined();
});

describe('once they are known', () => {
  beforeAll(async () => {
    await cluster.setStreams(available);
    await until(() => expectRefused(tryNew(admin, 'new', 'rhel-11'), EXISTS));
  });

  describe('a pool', () => {
    it.each([...available, 'rhel9-coreos', 'rhel-10', 'centos-10'])('may ask for %s', async (stream) => {
      await expect(tryNew(admin, 'new', stream)).resolves.toBeDefined();
      await expect(requestStream(admin, await poolThat({}), stream)).resolves.toBeDefined();
    });

    it.each(['rhel-11', 'rhel-8', 'rhel9', 'hardened-9', 'minimal'])('may not ask for %s', async (stream) => {
      const formatRefusal = (pool: string) =>
        `pool ${pool} requests the OS image stream ${stream} in spec.osImageStream, which this cluster does not have. Set one of rhel-9, rhel10-coreos, centos-9, stream-coreos, fedora-coreos, hardened, or omit the field to keep the current stream`;
      await expectRefused(tryNew(admin, 'new', stream), EXISTS, formatRefusal('new'));
      const pool = await poolThat({ asks: 'rhel-9' });
      await expectRefused(requestStream(admin, pool, stream), EXISTS, formatRefusal(pool));
      await expectRefused(
        admin.apply(
          machineConfigPools,
          { metadata: { name: pool }, spec: specWith(stream) },
          {},
          { fieldManager: 'somebody', force: true },
        ),
        EXISTS,
      );
    });

    it('whose stream is gone can be changed in all else, and ask for no other that is not there', async () => {
      const pool = await poolThat({ asks: 'rhel-8', tracked: 'rhel-8', runs: 'rhel-8' });
      await patchPool(admin, pool, { spec: { paused: true }, metadata: { labels: { seen: 'yes' } } });
      await patchStatus(admin, pool, { status: { machineCount: 1 } });
      await expectRefused(requestStream(admin, pool, 'rhel-7'), EXISTS);
      await requestStream(admin, pool, null);
      await expectRefused(requestStream(admin, pool, 'rhel-8'), EXISTS);
      await expect(requestStream(admin, pool, 'rhel-9')).resolves.toMatchObject({
        spec: { osImageStream: { name: 'rhel-9' } },
      });
    });
  });

  describe('machines', () => {
    it.each([...spellings, 'hardened'])('on %s go where the table of streams says, and nowhere else', async (from) => {
      const pool = await poolThat({ tracked: from });
      const targets = [...spellings, 'hardened'];
      const reached: string[] = [];
      for (const to of targets) {
        const passed = await requestStream(admin, pool, to, dryRun).then(
          () => true,
          (error: unknown) => {
            if (!String(error).includes(FORWARD)) throw error;
            return false;
          },
        );
        if (passed) reached.push(to);
      }
      const allowed = targets.filter((to) => ['same', 'forward', 'unknown'].includes(streamStep(from, to)));
      expect(reached).toEqual(allowed);
    });

    it.each<[string, PoolFacts]>([
      ['the controllers have noted', { tracked: 'rhel-10', runs: 'rhel-9' }],
      ['the pool asked for', { asks: 'rhel-10', runs: 'rhel-9' }],
      ['all of them run', { runs: 'rhel-10' }],
      ['are under an older name', { tracked: 'rhel10-coreos' }],
    ])('do not go back from what %s', async (_, facts) => {
      const pool = await poolThat(facts);
      const from = facts.tracked ?? 'rhel-10';
      await expectRefused(
        requestStream(admin, pool, 'rhel-9'),
        FORWARD,
        `pool ${pool} is on the OS image stream ${from} and cannot move to rhel-9: machines cannot be downgraded to an older major version of their OS. Either keep spec.osImageStream at ${from} or omit it, or create a new pool with spec.osImageStream.name rhel-9 for new machines and move the workloads there`,
      );
      await expectRefused(requestStream(admin, pool, 'rhel9-coreos'), FORWARD);
    });

    it('do not go back by a detour over no stream at all', async () => {
      const pool = await poolThat({ asks: 'rhel-10', tracked: 'rhel-10' });
      await requestStream(admin, pool, null);
      await expectRefused(requestStream(admin, pool, 'rhel-9'), FORWARD);
      await expect(requestStream(admin, pool, 'rhel-10')).resolves.toBeDefined();
    });

    it('do not change family', async () => {
      const pool = await poolThat({ asks: 'rhel-9', tracked: 'rhel-9' });
      await expectRefused(
        requestStream(admin, pool, 'centos-10'),
        FORWARD,
        `pool ${pool} is on the OS image stream rhel-9 and cannot move to centos-10: machines cannot move from the family rhel to centos. Either keep spec.osImageStream at rhel-9 or omit it, or create a new pool with spec.osImageStream.name centos-10 for new machines and move the workloads there`,
      );
    });

    // What was asked for and never came about must be possible to correct.
    it.each<[string, PoolFacts]>([
      ['does not exist', { asks: 'rhel-11', tracked: 'rhel-9' }],
      ['does not exist, in a new pool', { asks: 'rhel-11' }],
      ['is of another family', { asks: 'centos-10', tracked: 'rhel-9' }],
      ['no machine was sent to yet', { asks: 'rhel-10', tracked: 'rhel-9' }],
    ])('stay where they are if their pool takes back a wish that %s', async (_, facts) => {
      await expect(requestStream(admin, await poolThat(facts), 'rhel-9')).resolves.toBeDefined();
    });

    it('of a new pool begin wherever they are told', async () => {
      await expect(tryNew(admin, 'worker', 'rhel-9')).resolves.toBeDefined();
    });
  });

  describe('what a pool is on', () => {
    it.each(records)('people do not write, change or remove: %s', async (name) => {
      const formatRefusal = (pool: string, rest: string) =>
        `only the controllers write the annotation ${name} of pool ${pool}. ${rest}. To change the stream, set spec.osImageStream`;
      const pool = await poolThat({});
      const onUpdate =
        'Do not change it: a file for kubectl replace must contain it unchanged, and a file for kubectl apply must not contain it. If an applied file contained it, remove it there and run kubectl apply set-last-applied -f FILE';
      await expectRefused(annotate(admin, pool, { [name]: 'rhel-9' }), RECORD, formatRefusal(pool, onUpdate));
      await expectRefused(
        tryNew(admin, 'new', undefined, { [name]: 'x' }),
        RECORD,
        formatRefusal('new', 'Omit it from a new pool'),
      );
      await annotate(controllers, pool, { [name]: 'rhel-10' });
      await expectRefused(annotate(admin, pool, { [name]: 'rhel-9' }), RECORD);
      await expectRefused(annotate(admin, pool, { [name]: '' }), RECORD);
      await expectRefused(annotate(admin, pool, { [name]: null }), RECORD);
      await expectRefused(patchPool(admin, pool, { metadata: { annotations: null } }), RECORD);
      // A request for the status leaves annotations as they are.
      await patchStatus(admin, pool, { metadata: { annotations: { [name]: 'rhel-9' } }, status: { machineCount: 1 } });
      const found = await admin.get(machineConfigPools, { name: pool });
      expect(found.metadata.annotations).toEqual({ [name]: 'rhel-10' });
    });

    it('is not in the way of other annotations', async () => {
      const pool = await poolThat({ tracked: 'rhel-9' });
      await annotate(admin, pool, { 'example.com/note': 'x', 'slipway.dev/rollout-waves': '1,100%' });
      await expect(annotate(admin, pool, { 'example.com/note': null })).resolves.toBeDefined();
    });

    describe('and kubectl', () => {
      const values = (value: string) => Object.fromEntries(records.map((each) => [each, value]));
      const buildManifest = (name: string, paused: boolean, annotations: Record<string, string> = {}) =>
        JSON.stringify({
          apiVersion: 'machineconfiguration.openshift.io/v1',
          kind: 'MachineConfigPool',
          metadata: { name, annotations },
          spec: { ...specWith('rhel-9'), paused },
        });
      const writePoolFile = async (text: string): Promise<string> => {
        const file = join(cluster.dataDir, 'pool.json');
        await writeFile(file, text);
        return file;
      };

      it('applies files without it, and with it as it stands', async () => {
        const { kubectl } = cluster;
        const name = await poolThat({});
        await kubectl('apply', '-f', await writePoolFile(buildManifest(name, false)));
        await annotate(controllers, name, values('x'));
        expect(await kubectl('apply', '-f', await writePoolFile(buildManifest(name, true)))).toContain('configured');
        const exported = async () => writePoolFile(await kubectl('get', 'mcp', name, '-o', 'json'));
        expect(await kubectl('replace', '-f', await exported())).toContain('replaced');
        expect(await kubectl('apply', '-f', await exported())).toContain('configured');
        const found = await admin.get(machineConfigPools, { name });
        expect(found.metadata.annotations).toMatchObject(values('x'));
      });

      it('takes it away by no file, and forgets that a file had it if it is told so', async () => {
        const { kubectl } = cluster;
        const name = await poolThat({});
        await annotate(controllers, name, values('x'));
        const withIt = await writePoolFile(buildManifest(name, true, values('x')));
        await kubectl('apply', '-f', withIt);
        await annotate(controllers, name, values('y'));
        await expect(kubectl('apply', '-f', withIt)).rejects.toThrow(RECORD);
        const without = await writePoolFile(buildManifest(name, false));
        await expect(kubectl('apply', '-f', without)).rejects.toThrow(RECORD);
        await expect(kubectl('replace', '-f', without)).rejects.toThrow(RECORD);
        await kubectl('apply', 'set-last-applied', '-f', without);
        expect(await kubectl('apply', '-f', without)).toContain('configured');
        const found = await admin.get(machineConfigPools, { name });
        expect(found).toMatchObject({ metadata: { annotations: values('y') }, spec: { paused: false } });
      });
    });
  });

  describe('the OSImageStream', () => {
    const words =
      'OSImageStream cluster cannot be deleted: pools take their OS from its streams, and its spec stores the default for new pools. To change the default, set spec.defaultStream. To stop using streams, turn off the feature gate OSStreams; a user in the group slipway:break-glass can then delete the object';

    it.each([osImageStreams, alpha])(
      'cannot be deleted through $version, alone or with all others',
      async (resource) => {
        await expectRefused(admin.delete(resource, streamsName, {}), GUARDS, words);
        await expectRefused(deleteAll(admin, resource), GUARDS, words);
        await expect(admin.get(resource, streamsName)).resolves.toBeDefined();
      },
    );

    it('gets no owner, whose absence would have it deleted', async () => {
      await expectRefused(own(admin, osImageStreams, streamsName), GUARDS, 'only the controllers change the owners');
    });

    it.each([osImageStreams, alpha])('can be given another default through $version', async (resource) => {
      for (const defaultStream of ['hardened', 'rhel-9']) {
        const body = { spec: { defaultStream } };
        await expect(
          admin.patch<KubeObject>(resource, streamsName, { type: 'merge', body }, {}),
        ).resolves.toMatchObject(body);
      }
    });
  });

  /** Everything that people may not do, without doing it. */
  const forbidden: [string, (client: Client, pool: string) => Promise<unknown>][] = [
    [EXISTS, (client, pool) => requestStream(client, pool, 'rhel-11', dryRun)],
    [FORWARD, (client, pool) => requestStream(client, pool, 'rhel-9', dryRun)],
    [RECORD, (client, pool) => annotate(client, pool, { [osStreamAnnotation]: 'x' }, dryRun)],
    [GUARDS, (client) => deleteAll(client, osImageStreams, dryRun)],
    [GUARDS, (client) => own(client, osImageStreams, streamsName, dryRun)],
  ];

  it.each([
    ['our controllers', operator.user, `system:serviceaccounts:${DEFAULT_NAMESPACE}`],
    ['garbage collection', 'system:serviceaccount:kube-system:generic-garbage-collector', 'system:serviceaccounts'],
    ['the end of a namespace', 'system:serviceaccount:kube-system:namespace-controller', 'system:serviceaccounts'],
    ['people in an emergency', 'somebody', 'slipway:break-glass'],
  ])('%s are not stopped', async (_, user, group) => {
    const client = await cluster.clientOf(user, group);
    const pool = await poolThat({ tracked: 'rhel-10' });
    for (const [, attempt] of forbidden) await expect(attempt(client, pool)).resolves.toBeDefined();
  });

  it.each([
    [
      'a daemon, whatever its permissions',
      daemonUser(DEFAULT_NAMESPACE),
      `system:serviceaccounts:${DEFAULT_NAMESPACE}`,
    ],
    [
      'another ServiceAccount of our namespace',
      `system:serviceaccount:${DEFAULT_NAMESPACE}:machine-config-server`,
      `system:serviceaccounts:${DEFAULT_NAMESPACE}`,
    ],
    [
      'a ServiceAccount of that name in another namespace',
      'system:serviceaccount:mine:machine-config-controller',
      'system:serviceaccounts:mine',
    ],
    ['who has a name like the break-glass group', 'slipway:break-glass', 'people'],
  ])('%s is stopped', async (_, user, group) => {
    const client = await cluster.clientOf(user, group);
    const pool = await poolThat({ tracked: 'rhel-10' });
    for (const [policy, attempt] of forbidden) await expectRefused(attempt(client, pool), policy);
  });

  it('as many streams with as long names as there can be are no way past', async () => {
    const long = Array.from(
      { length: 98 },
      (_, number) => `s${number}.${'x'.repeat(60)}.${'y'.repeat(63)}.${'z'.repeat(63)}.${'a'.repeat(50)}`,
    );
    const pool = await poolThat({ asks: 'rhel-10' });
    await cluster.setStreams([...long, 'rhel-9', 'rhel-10']);
    // Their names exceed the length limit of a message.
    const words =
      'spec.osImageStream.name must be an OS image stream of this cluster. List them with: kubectl get osimagestream cluster -o yaml';
    await until(() => expectRefused(tryNew(admin, 'new', `${'n'.repeat(63)}.x`), EXISTS, words));
    await expectRefused(requestStream(admin, pool, 'rhel-9'), FORWARD);
    await expect(tryNew(admin, 'new', long.at(-1))).resolves.toBeDefined();
    await cluster.setStreams(available);
    await until(() => tryNew(admin, 'new', 'hardened'));
  });

  it('and with the OSImageStream gone, as before the feature gate is on, controllers and people work', async () => {
    const pool = await poolThat({ asks: 'rhel-10', tracked: 'rhel-10', runs: 'rhel-10' });
    await controllers.delete(osImageStreams, streamsName, {});
    await until(() => requestStream(admin, pool, 'rhel-9', dryRun));
    for (const client of [admin, controllers]) {
      for (const stream of ['rhel-9', 'rhel-11', null]) {
        await expect(requestStream(client, pool, stream, dryRun)).resolves.toBeDefined();
      }
      await expect(tryNew(client, 'new', 'rhel-11')).resolves.toBeDefined();
      await expect(patchPool(client, pool, { spec: { paused: true } }, dryRun)).resolves.toBeDefined();
    }
    await expect(annotate(controllers, pool, { [osStreamAnnotation]: 'rhel-9' })).resolves.toBeDefined();
    await expect(
      admin.create(osImageStreams, { metadata: streamsName, spec: { defaultStream: 'rhel-9' } }, dryRun),
    ).resolves.toBeDefined();
  });
});
