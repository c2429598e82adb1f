// A cluster with bare-metal hosts: a real API server, a real Ironic, a BMC emulator that really fetches ISOs, and between the
// controllers and Ironic somebody who can lie.
import { createHash } from 'node:crypto';
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, namespaces, secrets } from '@slipway/api';
import { createIronic, dataImagesController, type DataImagesOptions } from '@slipway/controllers';
import { type RealIronic, startRealIronic } from '@slipway/controllers/testing/real-ironic';
import type { Ironic } from '@slipway/fleet/hosts';
import type { Client, Stored } from '@slipway/kube';
import { startTestCluster } from '@slipway/testing/control-plane';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import {
  type FaultProxy,
  type FaultRule,
  type HistoryEntry,
  buildIso,
  type IsoServer,
  type RunningEmulator,
  type RunningIronic,
} from '@slipway/tools/ironic';
import { expect } from 'vitest';

export const METAL = 'metal';

/** Real times are minutes: nobody has those here, and the emulator answers at once. */
const times: NonNullable<DataImagesOptions['times']> = {
  pollMs: 150,
  settleMs: 2000,
  softOffMs: 8000,
  minuteMs: 250,
  lastEjectMs: 20_000,
  restMs: 1000,
  ironicMs: 300,
};

export interface SceneRunOptions {
  /** Puts something between the controllers and their client of Ironic. */
  readonly through?: (ironic: Ironic) => Ironic;
  readonly besideOperator?: boolean;
}

export interface SceneHostOptions {
  readonly online?: boolean;
  readonly password?: string;
  readonly finalizers?: string[];
  readonly annotations?: Record<string, string>;
}

export interface DataImageScene {
  readonly client: Client;
  /** Of the administrator. */
  readonly kubeconfig: string;
  /** Ironic and its surroundings, for who needs no hosts of the API. */
  readonly real: RealIronic;
  readonly ironic: RunningIronic;
  readonly bmc: RunningEmulator;
  readonly isos: IsoServer;
  readonly proxy: FaultProxy;
  /** Straight to Ironic, as somebody else. */
  readonly direct: Ironic;
  run(wish?: SceneRunOptions): Promise<RunningControllers>;
  /** A lie or a fault for one host. Call what is returned to end it. */
  lie(name: string, rule: FaultRule): Promise<() => void>;
  addHost(name: string, wish?: SceneHostOptions): Promise<void>;
  setPassword(name: string, password: string): Promise<void>;
  changeHost(name: string, body: object): Promise<void>;
  annotate(name: string, annotations: Record<string, string | null>): Promise<void>;
  host(name: string): Promise<Stored<BareMetalHost> | undefined>;
  hostWhen(name: string, wanted: object, timeout?: number): Promise<void>;
  deleteHost(name: string): Promise<void>;
  attach(name: string, url: string, immediate?: boolean): Promise<void>;
  changeUrl(name: string, url: string): Promise<void>;
  setImmediate(name: string): Promise<void>;
  image(name: string): Promise<Stored<DataImage> | undefined>;
  /** The condition Attached. */
  attachedWhen(name: string, wanted: object, timeout?: number): Promise<void>;
  annotateImage(name: string, annotations: Record<string, string | null>): Promise<void>;
  deleteImage(name: string): Promise<void>;
  /** Serves an ISO with these contents. */
  iso(name: string, contents?: string): { readonly url: string; readonly sha256: string };
  /** The hash of what is in the drive; null: nothing. */
  held(name: string): Promise<string | null>;
  power(name: string): Promise<'On' | 'Off'>;
  history(name: string): Promise<HistoryEntry[]>;
  /** What was done to the host after it was adopted: `On`, `off`, `insert`, `eject`, `insert failed`. */
  doneTo(name: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startDataImageScene(systems: readonly string[]): Promise<DataImageScene> {
  const [cluster, real] = await Promise.all([startTestCluster(), startRealIronic(systems)]);
  const { admin: client } = cluster;
  const { running: ironic, bmc, isos, proxy, ironic: direct } = real;
  const running: RunningControllers[] = [];
  await client.create(namespaces, { metadata: { name: METAL } });

  const named = (name: string) => ({ namespace: METAL, name });
  const patchHost = async (name: string, body: object) => {
    await client.patch(bareMetalHosts, named(name), { type: 'merge', body }, {});
  };

  const scene: DataImageScene = {
    client,
    kubeconfig: cluster.controlPlane.kubeconfig,
    real,
    ironic,
    bmc,
    isos,
    proxy,
    direct,
    async run({ through = (each: Ironic) => each, besideOperator = false }: SceneRunOptions = {}) {
      const connection = {
        url: proxy.url,
        auth: ironic,
        timeoutMs: 10_000,
        driveTimeoutMs: 10_000,
        conflictRetries: 1,
      };
      // The ISOs of the tests are on this machine.
      const hosts = { allowAddresses: ['127.0.0.0/8'] };
      const options = { ironic: () => through(createIronic(connection)), besideOperator, times, hosts };
      const started = runControllers(cluster.operator, [dataImagesController(options)]);
      running.push(started);
      return started;
    },
    async lie(name, rule) {
      const uuid = (await direct.node(`${METAL}~${name}`))?.uuid ?? 'none';
      return proxy.add((asked) =>
        asked.path.includes(uuid) || asked.path.includes(encodeURIComponent(`${METAL}~${name}`))
          ? rule(asked)
          : undefined,
      );
    },
    async addHost(
      name,
      { online = true, password = bmc.credentials.password, finalizers = [], annotations = {} } = {},
    ) {
      const credentialsName = `${name}-bmc`;
      await client.create(secrets, {
        metadata: named(credentialsName),
        stringData: { username: bmc.credentials.username, password },
      });
      const address = `redfish-virtualmedia+${bmc.url}${real.system(name).path}`;
      await client.create(bareMetalHosts, {
        metadata: { ...named(name), finalizers, annotations },
        spec: { online, externallyProvisioned: true, bmc: { address, credentialsName } },
      });
    },
    async setPassword(name, password) {
      const body = { stringData: { password } };
      await client.patch(secrets, named(`${name}-bmc`), { type: 'merge', body }, {});
    },
    changeHost: patchHost,
    annotate: (name, annotations) => patchHost(name, { metadata: { annotations } }),
    host: (name) => client.find(bareMetalHosts, named(name)),
    hostWhen: (name, wanted, timeout) =>
      until(async () => {
        expect((await scene.host(name))?.status).toMatchObject(wanted);
      }, timeout),
    deleteHost: (name) => client.delete(bareMetalHosts, named(name), {}),
    async attach(name, url, immediate = false) {
      await client.create(dataImages, { metadata: named(name), spec: { url, ...(immediate && { immediate }) } });
    },
    async changeUrl(name, url) {
      await client.patch(dataImages, named(name), { type: 'merge', body: { spec: { url } } }, {});
    },
    async setImmediate(name) {
      await client.patch(dataImages, named(name), { type: 'merge', body: { spec: { immediate: true } } }, {});
    },
    image: (name) => client.find(dataImages, named(name)),
    attachedWhen: (name, wanted, timeout) =>
      until(async () => {
        const conditions = (await scene.image(name))?.status?.conditions;
        expect(conditions?.find(({ type }) => type === 'Attached')).toMatchObject(wanted);
      }, timeout),
    async annotateImage(name, annotations) {
      await client.patch(dataImages, named(name), { type: 'merge', body: { metadata: { annotations } } }, {});
    },
    deleteImage: (name) => client.delete(dataImages, named(name), {}),
    iso(name, contents = name) {
      const bytes = buildIso(contents);
      return { url: isos.put(`${name}.iso`, bytes), sha256: createHash('sha256').update(bytes).digest('hex') };
    },
    held: async (name) => (await bmc.held(real.system(name)))?.sha256 ?? null,
    power: (name) => bmc.powerState(real.system(name)),
    history: (name) => bmc.history(real.system(name)),
    doneTo: async (name) => deliberate(await scene.history(name)),
    async stop() {
      for (const each of running) {
        each.kill();
        await each.stop();
      }
      await Promise.all([cluster.stop(), real[Symbol.asyncDispose]()]);
    },
  };
  return scene;
}

/** Adopting ejects what may be in a drive, and so does attaching before it inserts: ejects count once, and after a first deed. */
function deliberate(history: readonly HistoryEntry[]): string[] {
  const whole = history.map(({ what, value }) => (what === 'power' ? (value === 'On' ? 'On' : 'off') : what));
  const first = whole.findIndex((what) => what !== 'eject');
  if (first === -1) return [];
  return whole.slice(first).filter((what, at, all) => what !== 'eject' || all[at - 1] !== 'eject');
}

/** Whether something was in the drive at that time. */
export const insertedBefore = (history: readonly HistoryEntry[], time: number): boolean =>
  history.findLast(({ at, what }) => at <= time && (what === 'insert' || what === 'eject'))?.what === 'insert';
