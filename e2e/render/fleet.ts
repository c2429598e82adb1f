import { machineConfigPools, machineConfigs, roleLabel } from '@slipway/api';
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import { createClient, createTransport, loadKubeconfig, type Client, type Stored } from '@slipway/kube';
import type { ControlPlane, ControlPlaneOptions } from '@slipway/tools/controlplane';
import { expect, vi } from 'vitest';
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';
import { slipway, type SlipwayProcess } from '../slipway-process.ts';

/** A control plane of its own: the controllers act on every pool there is. */
export interface Fleet {
  controlPlane: ControlPlane;
  /** The administrator: a user, as far as our policies go. */
  admin: Client;
  /** Somebody in the group for emergencies. */
  breakGlass: Client;
  operatorKubeconfig: string;
  controller(...args: string[]): Promise<SlipwayProcess>;
  stop(): Promise<void>;
}

export const namespace = 'openshift-machine-config-operator';

export async function startFleet(options: Pick<ControlPlaneOptions, 'audit'> = {}): Promise<Fleet> {
  const controlPlane = await startInstalledControlPlane(options);
  const running: SlipwayProcess[] = [];
  const clients: Client[] = [];
  const clientFor = async (kubeconfig: string): Promise<Client> => {
    const client = createClient(createTransport(await loadKubeconfig([kubeconfig])));
    clients.push(client);
    return client;
  };
  const operatorKubeconfig = await controlPlane.kubeconfigFor(operator);
  return {
    controlPlane,
    operatorKubeconfig,
    admin: await clientFor(controlPlane.kubeconfig),
    breakGlass: await clientFor(
      await controlPlane.kubeconfigFor({
        user: 'on-call',
        groups: ['slipway:break-glass', 'system:masters'],
        name: 'on-call',
      }),
    ),
    async controller(...args) {
      const started = slipway(
        'controller',
        '--kubeconfig',
        operatorKubeconfig,
        '--no-leader-elect',
        '--probes',
        '127.0.0.1:0',
        ...args,
      );
      running.push(started);
      await started.saw(/controller started/);
      return started;
    },
    async stop() {
      for (const each of running) {
        each.child.kill('SIGTERM');
        await each.exit;
      }
      for (const client of clients) await client.transport.close();
      await controlPlane.stop();
    },
  };
}

export const machineConfig = (name: string, role: string, spec: MachineConfig['spec']): MachineConfig => ({
  metadata: { name, labels: { [roleLabel]: role } },
  ...(spec !== undefined && { spec }),
});

/** An Ignition config with one file. */
export const withFile = (path: string, text: string, more: object = {}): Record<string, unknown> => ({
  ignition: { version: '3.2.0' },
  storage: { files: [{ path, mode: 0o644, contents: { source: `data:,${encodeURIComponent(text)}` }, ...more }] },
});

/** A pool of one's own, for a role of its name, that builds on the workers' configuration. */
export const customPool = (name: string): MachineConfigPool => ({
  metadata: { name },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', name] }] },
    nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
  },
});

export const findPool = (client: Client, name: string): Promise<Stored<MachineConfigPool> | undefined> =>
  client.find(machineConfigPools, { name });

export const conditionOf = (pool: MachineConfigPool | undefined, type: string) =>
  pool?.status?.conditions?.find((condition) => condition.type === type);

/** The rendered config that a pool points at, once it is made from a MachineConfig of this name and more holds. */
export async function renderedWith(
  client: Client,
  pool: string,
  source: string,
  holds: (rendered: Stored<MachineConfig>) => void = () => {},
): Promise<Stored<MachineConfig>> {
  return vi.waitFor(
    async () => {
      const configuration = (await findPool(client, pool))?.spec.configuration;
      expect(configuration?.source?.map(({ name }) => name)).toContain(source);
      const rendered = await client.get(machineConfigs, { name: configuration?.name ?? '' });
      holds(rendered);
      return rendered;
    },
    { timeout: 20_000, interval: 50 },
  );
}

/** Path → source of the contents of the files of a rendered config. */
export function filesOf({ spec }: MachineConfig): Record<string, string | undefined> {
  const config = spec?.config as { storage?: { files?: { path: string; contents?: { source?: string } }[] } };
  return Object.fromEntries((config.storage?.files ?? []).map((file) => [file.path, file.contents?.source]));
}
