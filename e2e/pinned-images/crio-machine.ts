// One machine with a real CRI-O as the cluster sees it, and as somebody sees it who has logged in.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type MachineConfigNode, machineConfigNodes } from '@slipway/api';
import { createRealHost } from '@slipway/daemon';
import { type Client, createLog, type Informer, type Stored } from '@slipway/kube';
import { connect } from '@slipway/testing/control-plane';
import { until, type WaitBound } from '@slipway/testing/wait';
import type { RunningCrio } from '@slipway/tools/crio';
import type { Door } from '@slipway/tools/registry';
import { expect } from 'vitest';
import { startPinningDaemon } from './pinning-daemon.ts';

const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
const PULL_SECRET = '/var/lib/kubelet/config.json';

interface Account {
  readonly username: string;
  readonly password: string;
}

export interface CrioMachine {
  readonly name: string;
  readonly crio: RunningCrio;
  /** Its other way to the registry, which can be held shut. */
  readonly door: Door;
  /** The same image by that way. */
  behindDoor(image: string): string;
  readonly kubeconfig: string;
  /** The pull secret of the machine, by scope. */
  logIn(accounts: Readonly<Record<string, Account>>): Promise<void>;
  startDaemon(): Promise<void>;
  stopDaemon(): Promise<void>;
  /** So much time passes for its daemon, at once. */
  passes(ms: number): Promise<void>;
  /** What its daemon has told the cluster. */
  said(): ReportedPinStatus;
  /** Resolves once it has said this. */
  says(expected: object, bound?: WaitBound): Promise<ReportedPinStatus>;
  /** Resolves once it holds the present generation of exactly these sets, and has nothing else to say. */
  holds(sets: Readonly<Record<string, number>>, bound?: WaitBound): Promise<void>;
  /** Every time that it said it was Degraded. */
  complaints(): readonly string[];
  /** Asked from CRI-O, sorted. */
  images(): Promise<{ pinned: string[]; others: string[] }>;
  /** What the drop-in names; null: there is none. */
  dropIn(): Promise<string[] | null>;
  /** How often CRI-O was told to read its configuration again. */
  reloads(): number;
  log(): string;
  stop(): Promise<void>;
}

export interface ReportedPinStatus {
  readonly progressing: string;
  readonly progress: string;
  readonly degraded: string;
  readonly problem: string;
  /** By set: the generation that it holds (0: none), and why it does not hold the one it should. */
  readonly sets: Readonly<Record<string, { readonly wants: number; readonly has: number; readonly failure: string }>>;
}

export interface CrioMachineParts extends Pick<CrioMachine, 'name' | 'crio' | 'door' | 'kubeconfig'> {
  /** An administrator's. */
  readonly client: Client;
  readonly records: Informer<MachineConfigNode>;
}

export function makeCrioMachine({ name, crio, door, kubeconfig, client, records }: CrioMachineParts): CrioMachine {
  const complaints: string[] = [];
  const lines: string[] = [];
  let daemon: { stop(): Promise<void> } | undefined;
  let ahead = 0;
  let jumps = 0;
  let reloads = 0;
  records.onChange((change) => {
    if (change.type === 'deleted' || change.object.metadata.name !== name) return;
    const { degraded, problem } = parseStatus(change.object);
    if (degraded === 'True' && complaints.at(-1) !== problem) complaints.push(problem);
  });
  const readStatus = (): ReportedPinStatus => parseStatus(records.store.get(name));
  const waitForStatus = (expected: object, bound: WaitBound = 'rollout'): Promise<ReportedPinStatus> =>
    until(() => {
      const now = readStatus();
      expect(now).toMatchObject(expected);
      return now;
    }, bound);

  async function stopDaemon(): Promise<void> {
    await daemon?.stop();
    daemon = undefined;
  }

  return {
    name,
    crio,
    door,
    behindDoor: (image) => `${door.host}${image.slice(image.indexOf('/'))}`,
    kubeconfig,
    async logIn(accounts) {
      const auths = Object.entries(accounts).map(([scope, { username, password }]) => [
        scope,
        { auth: Buffer.from(`${username}:${password}`).toString('base64') },
      ]);
      const path = join(crio.root, PULL_SECRET);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, JSON.stringify({ auths: Object.fromEntries(auths) }), { mode: 0o600 });
    },
    async startDaemon() {
      const reload = async (): Promise<void> => {
        reloads += 1;
        await crio.reload();
      };
      const { root } = crio;
      daemon = await startPinningDaemon({
        host: await createRealHost({ root, containers: { reload } }),
        root,
        nodeName: name,
        client: await connect(kubeconfig),
        log: createLog({ level: 'info', pretty: false, write: (line) => lines.push(line) }),
        pinNow: () => performance.now() + ahead,
      });
    },
    stopDaemon,
    async passes(ms) {
      ahead += ms;
      jumps += 1;
      // Its timers are real ones: any change of its record makes it look at the clock.
      const body = { metadata: { annotations: { 'example.com/time-passed': String(jumps) } } };
      await client.patch(machineConfigNodes, { name }, { type: 'merge', body }, {});
    },
    said: readStatus,
    says: waitForStatus,
    async holds(sets, bound = 'rollout') {
      const all = Object.entries(sets).map(([set, generation]) => [
        set,
        { wants: generation, has: generation, failure: '' },
      ]);
      await until(() => {
        const { progressing, degraded, sets: held } = readStatus();
        expect({ progressing, degraded, held }).toEqual({
          progressing: 'False',
          degraded: 'False',
          held: Object.fromEntries(all),
        });
      }, bound);
    },
    complaints: () => complaints,
    async images() {
      const { images } = JSON.parse(await crio.crictl(['images', '-o', 'json'])) as Listed;
      const named = (isPinned: boolean): string[] =>
        images
          .filter(({ pinned }) => pinned === isPinned)
          .flatMap(({ repoDigests }) => repoDigests)
          .toSorted();
      return { pinned: named(true), others: named(false) };
    },
    async dropIn() {
      const text = await readFile(join(crio.root, DROP_IN), 'utf8').catch(() => null);
      return text === null ? null : [...text.matchAll(/^ {2}"(.*)",$/gm)].map(([, image = '']) => image);
    },
    reloads: () => reloads,
    log: () => lines.join(''),
    async stop() {
      await stopDaemon();
      await crio.stop();
      await door.close();
    },
  };
}

interface Listed {
  images: { repoDigests: string[]; pinned: boolean }[];
}

function parseStatus(record: Stored<MachineConfigNode> | undefined): ReportedPinStatus {
  const { conditions = [], pinnedImageSets = [] } = record?.status ?? {};
  const condition = (type: string) =>
    conditions.find((each) => each.type === `PinnedImageSets${type}`) ?? { status: '', message: '' };
  const { status: progressing, message: progress } = condition('Progressing');
  const { status: degraded, message: problem } = condition('Degraded');
  const sets = pinnedImageSets.map(({ name, desiredGeneration, currentGeneration, lastFailedGenerationError }) => [
    name,
    { wants: desiredGeneration, has: currentGeneration ?? 0, failure: lastFailedGenerationError ?? '' },
  ]);
  return { progressing, progress, degraded, problem, sets: Object.fromEntries(sets) };
}
