import { machineConfigPools, machineConfigs } from '@slipway/api';
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import type { Client, Stored } from '@slipway/kube';
import { breakGlass, operator, startTestCluster } from '@slipway/testing/control-plane';
import { type RunningProcess, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { expect } from 'vitest';

/** A control plane of its own: the controllers act on every pool there is. */
export interface Fleet {
  controlPlane: ControlPlane;
  /** The administrator: a user, as far as our policies go. */
  admin: Client;
  /** Somebody in the group for emergencies. */
  breakGlass: Client;
  operatorKubeconfig: string;
  controller(...args: string[]): Promise<RunningProcess>;
  stop(): Promise<void>;
}

export const NAMESPACE = 'openshift-machine-config-operator';

export async function startFleet(): Promise<Fleet> {
  const cluster = await startTestCluster();
  const { controlPlane, admin } = cluster;
  const running: RunningProcess[] = [];
  const operatorKubeconfig = await controlPlane.kubeconfigFor(operator);
  return {
    controlPlane,
    operatorKubeconfig,
    admin,
    breakGlass: await cluster.clientFor(breakGlass),
    async controller(...args) {
      const started = startSlipway(
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
      await Promise.all(running.map((each) => each.stop()));
      await cluster.stop();
    },
  };
}

export const findPool = (client: Client, name: string): Promise<Stored<MachineConfigPool> | undefined> =>
  client.find(machineConfigPools, { name });

export const findCondition = (pool: MachineConfigPool | undefined, type: string) =>
  pool?.status?.conditions?.find((condition) => condition.type === type);

/** The rendered config that a pool points at, once it is made from a MachineConfig of this name and more holds. */
export async function renderedWith(
  client: Client,
  pool: string,
  source: string,
  holds: (rendered: Stored<MachineConfig>) => void = () => {},
): Promise<Stored<MachineConfig>> {
  return until(async () => {
    const configuration = (await findPool(client, pool))?.spec.configuration;
    expect(configuration?.source?.map(({ name }) => name)).toContain(source);
    const rendered = await client.get(machineConfigs, { name: configuration?.name ?? '' });
    holds(rendered);
    return rendered;
  });
}

/** Path → source of the contents of the files of a rendered config. */
export function readFiles({ spec }: MachineConfig): Record<string, string | undefined> {
  const config = spec?.config as { storage?: { files?: { path: string; contents?: { source?: string } }[] } };
  return Object.fromEntries((config.storage?.files ?? []).map((file) => [file.path, file.contents?.source]));
}
